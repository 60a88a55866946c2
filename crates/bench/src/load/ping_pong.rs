//! Requests over open connections: on each, one at a time, as fast as they are answered or at a rate.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use super::poll::{Interest, Poll};
use super::sample::{Sample, Times};
use super::{Period, connect_and_prime};

/// How to ask.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) connections: usize,
    /// Bytes of a request, and of its answer.
    pub(crate) size: usize,
    pub(crate) seconds: f64,
    /// Requests per second over all connections; `None` is as fast as they are answered.
    pub(crate) rate: Option<u64>,
}

/// One connection.
struct Asker {
    stream: TcpStream,
    /// When the request that is under way was due.
    asked: Option<Instant>,
    received: usize,
}

/// Runs the plan.
///
/// # Errors
/// When a connection cannot be made or is lost.
pub(crate) fn run(address: SocketAddr, plan: &Plan) -> io::Result<Sample> {
    let mut poll = Poll::new()?;
    let mut askers = Vec::with_capacity(plan.connections);
    for number in 0..plan.connections {
        let stream = connect_and_prime(address)?;
        poll.add(&stream, number as u64, Interest::Read)?;
        askers.push(Asker {
            stream,
            asked: None,
            received: 0,
        });
    }
    let request = vec![b'p'; plan.size];
    let mut buffer = vec![0; 65_536];
    let mut times = Times::new();
    let mut sample = Sample::default();
    let period = Period::begin(plan.seconds);
    let mut pace = plan.rate.map(|rate| Pace::new(period.start, rate));
    if pace.is_none() {
        for asker in &mut askers {
            asker.ask(&request, Instant::now())?;
        }
    }
    while Instant::now() < period.until {
        if let Some(pace) = &mut pace {
            pace.ask_due(&mut askers, &request, &mut sample)?;
        }
        let limit = pace.as_ref().map_or(Duration::from_millis(50), Pace::limit);
        for ready in poll.wait(limit)? {
            let asker = &mut askers[usize::try_from(ready.number).expect("an asker's number")];
            let Some(time) = asker.receive(&mut buffer, plan.size)? else {
                continue;
            };
            sample.operations += 1;
            let now = Instant::now();
            if period.counts(now) {
                times.add(time);
            }
            if pace.is_none() {
                asker.ask(&request, now)?;
            }
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "counts of a few seconds")]
    let answered = times.count() as f64;
    sample.rate = answered / period.seconds();
    sample.p50_us = times.quantile_us(0.5);
    sample.p99_us = times.quantile_us(0.99);
    Ok(sample)
}

impl Asker {
    fn ask(&mut self, request: &[u8], due: Instant) -> io::Result<()> {
        self.asked = Some(due);
        self.stream.write_all(request)
    }

    /// Takes what has come; returns the time of the answer when it is whole.
    fn receive(&mut self, buffer: &mut [u8], size: usize) -> io::Result<Option<Duration>> {
        let read = match self.stream.read(buffer) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Err(error) => return Err(error),
        };
        self.received += read;
        if self.received < size {
            return Ok(None);
        }
        self.received = 0;
        Ok(self.asked.take().map(|asked| asked.elapsed()))
    }
}

/// Requests at a fixed rate: a late one counts from when it was due.
struct Pace {
    start: Instant,
    rate: u64,
    next: u64,
}

impl Pace {
    fn new(start: Instant, rate: u64) -> Self {
        Self {
            start,
            rate,
            next: 0,
        }
    }

    fn due(&self) -> Instant {
        self.start + Duration::from_nanos(self.next.saturating_mul(1_000_000_000) / self.rate)
    }

    /// Sends the requests that are due; one whose connection still waits for an answer is an error.
    fn ask_due(
        &mut self,
        askers: &mut [Asker],
        request: &[u8],
        sample: &mut Sample,
    ) -> io::Result<()> {
        let now = Instant::now();
        while self.due() <= now {
            let due = self.due();
            let count = askers.len() as u64;
            let number = usize::try_from(self.next % count).expect("less than their number");
            let asker = &mut askers[number];
            if asker.asked.is_none() {
                asker.ask(request, due)?;
            } else {
                sample.errors += 1;
            }
            self.next += 1;
        }
        Ok(())
    }

    /// Returns how long to wait: not at all if less than a millisecond is left.
    fn limit(&self) -> Duration {
        let left = self.due().saturating_duration_since(Instant::now());
        if left < Duration::from_millis(1) {
            Duration::ZERO
        } else {
            left
        }
    }
}
