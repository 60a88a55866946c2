//! Clients that call one after the other and give up after a second.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use super::TIME_LIMIT;
use super::services::{ANSWER, REQUEST};
use crate::random::Random;

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Calls that ended in time.
    pub calls: u64,
    /// Those that were not answered.
    pub lost: u64,
    /// What those took together that were.
    pub good_time: Duration,
    /// What those took together that were not.
    pub lost_time: Duration,
    /// How long it went on.
    pub length: Duration,
}

impl Tally {
    /// Returns the share of calls that failed; none without calls.
    pub fn lost_share(&self) -> Option<f64> {
        (self.calls > 0).then(|| self.lost as f64 / self.calls as f64)
    }

    /// Returns what a good call took on average.
    pub fn good_call(&self) -> Duration {
        mean(self.good_time, self.calls - self.lost)
    }

    /// Returns what a lost call took on average.
    pub fn lost_call(&self) -> Duration {
        mean(self.lost_time, self.lost)
    }

    /// Returns how many calls a second were answered.
    pub fn good_rate(&self) -> f64 {
        (self.calls - self.lost) as f64 / self.length.as_secs_f64()
    }

    fn count(&mut self, answered: bool, time: Duration) {
        self.calls += 1;
        if answered {
            self.good_time += time;
        } else {
            self.lost += 1;
            self.lost_time += time;
        }
    }
}

/// Lets `clients` call `address` in a closed loop. They begin at moments within the first time limit that
/// follow from the seed, so that those which wait in vain do not all give up at once for ever after.
///
/// # Panics
/// When a thread cannot be started.
pub fn call(address: SocketAddr, clients: usize, length: Duration, seed: u64) -> Tally {
    let mut random = Random::new(seed);
    let limit = u64::try_from(TIME_LIMIT.as_nanos()).expect("it is a second");
    let begin = Instant::now();
    let end = begin + length;
    let threads: Vec<_> = (0..clients)
        .map(|_| begin + Duration::from_nanos(random.below(limit)))
        .map(|start| thread::spawn(move || run(address, start, end)))
        .collect();
    let mut all = Tally {
        length,
        ..Tally::default()
    };
    for thread in threads {
        let one = thread.join().expect("clients do not panic");
        all.calls += one.calls;
        all.lost += one.lost;
        all.good_time += one.good_time;
        all.lost_time += one.lost_time;
    }
    all
}

fn run(address: SocketAddr, start: Instant, end: Instant) -> Tally {
    thread::sleep(start.saturating_duration_since(Instant::now()));
    let mut tally = Tally::default();
    loop {
        let begin = Instant::now();
        let answered = one(address, begin + TIME_LIMIT);
        let now = Instant::now();
        // What is under way at the end is nobody's.
        if now >= end {
            return tally;
        }
        tally.count(answered, now.duration_since(begin));
    }
}

/// Makes one call; returns whether the whole answer came in time.
fn one(address: SocketAddr, deadline: Instant) -> bool {
    exchange(address, deadline).unwrap_or(false)
}

fn exchange(address: SocketAddr, deadline: Instant) -> std::io::Result<bool> {
    let left = || {
        let left = deadline.saturating_duration_since(Instant::now());
        Some(left).filter(|left| !left.is_zero())
    };
    let late = || std::io::Error::from(ErrorKind::TimedOut);
    let mut stream = TcpStream::connect_timeout(&address, left().ok_or_else(late)?)?;
    stream.write_all(REQUEST)?;
    let mut buffer = [0; 2 * ANSWER];
    let mut came = 0;
    loop {
        stream.set_read_timeout(Some(left().ok_or_else(late)?))?;
        match stream.read(&mut buffer[came..])? {
            0 => return Ok(came == ANSWER),
            bytes => came += bytes,
        }
    }
}

fn mean(total: Duration, count: u64) -> Duration {
    let nanos = total.as_nanos().checked_div(u128::from(count)).unwrap_or(0);
    Duration::from_nanos(u64::try_from(nanos).expect("a mean is below its total"))
}
