//! Who calls the services, and how many calls or actions are lost.
//!
//! Closed loop: each client calls again as soon as its call has ended. Open loop: calls come at a rate,
//! whatever happens to earlier ones. State which in any claim: a method that shines in one can fail in
//! the other.

use std::time::Duration;

use super::cluster::{Cluster, Setup, TIME_LIMIT};

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Calls, or actions.
    pub all: u64,
    /// Those that failed.
    pub lost: u64,
    /// How long it took.
    pub time: Duration,
}

impl Tally {
    fn count(&mut self, lost: bool) {
        self.all += 1;
        self.lost += u64::from(lost);
    }

    /// Returns the share that failed.
    pub fn lost_share(&self) -> f64 {
        self.lost as f64 / self.all as f64
    }

    /// Returns how many a second succeeded.
    pub fn good_rate(&self) -> f64 {
        (self.all - self.lost) as f64 / self.time.as_secs_f64()
    }
}

/// Lets `clients` call in a closed loop; counts `calls` of their calls.
pub fn closed_loop(setup: Setup, clients: usize, calls: u64, seed: u64) -> Tally {
    let mut cluster = Cluster::new(setup, seed);
    warm_up(&mut cluster, clients);
    let (start, mut tally) = (cluster.now(), Tally::default());
    while tally.all < calls {
        let ended = cluster.end_next().expect("clients call for ever");
        tally.count(ended.lost);
        cluster.call(ended.caller);
    }
    tally.time = cluster.now().duration_since(start);
    tally
}

/// Lets `rate` calls a second arrive at random moments (a Poisson process); counts `calls` of them, in
/// the order in which they end.
pub fn open_loop(setup: Setup, rate: f64, calls: u64, seed: u64) -> Tally {
    let mut cluster = Cluster::new(setup, seed);
    let begin = cluster.now() + WARM_UP;
    let mut arrival = cluster.now();
    let mut tally = Tally::default();
    while tally.all < calls {
        arrival = arrival + gap(&mut cluster, rate);
        while tally.all < calls && cluster.next_end().is_some_and(|end| end <= arrival) {
            let ended = cluster.end_next().expect("it was seen");
            if cluster.now() >= begin {
                tally.count(ended.lost);
            }
        }
        if tally.all < calls {
            cluster.run_to(arrival);
            cluster.call(0);
        }
    }
    tally.time = cluster.now().duration_since(begin);
    tally
}

/// Returns a time between two arrivals: exponential, with mean `1 / rate`.
fn gap(cluster: &mut Cluster, rate: f64) -> Duration {
    let chance = (cluster.random.number() >> 11) as f64 / (1_u64 << 53) as f64;
    Duration::from_secs_f64(-(1.0 - chance).ln() / rate)
}

/// Who makes the calls of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callers {
    /// Far more users than calls under way: who calls next is drawn from all who wait, so the calls of
    /// one action are far apart, and independent as the formulas suppose.
    Many,
    /// Each client makes the calls of its action one right after the other.
    Same,
}

/// Counts `actions`, each of `k` calls of which none may fail; `clients` calls are under way at a time.
/// An action ends with its first failure.
pub fn actions(
    setup: Setup,
    clients: usize,
    k: u32,
    actions: u64,
    callers: Callers,
    seed: u64,
) -> Tally {
    let mut cluster = Cluster::new(setup, seed);
    let waiting = match callers {
        Callers::Many => clients * USERS_PER_CALL,
        Callers::Same => 0,
    };
    let mut pool: Vec<_> = (clients..clients + waiting).collect();
    let mut users = vec![User::default(); clients + waiting];
    warm_up(&mut cluster, clients);
    let (start, mut tally, mut begun) = (cluster.now(), Tally::default(), 0);
    while tally.all < actions {
        let ended = cluster.end_next().expect("clients call for ever");
        let user = &mut users[ended.caller];
        user.done += 1;
        if ended.lost || user.done == k {
            if user.counted {
                tally.count(ended.lost);
            }
            *user = User::default();
        }
        pool.push(ended.caller);
        let drawn = cluster.random.below(pool.len() as u64) as usize;
        let next = pool.swap_remove(drawn);
        if users[next].done == 0 && begun < actions {
            users[next].counted = true;
            begun += 1;
        }
        cluster.call(next);
    }
    tally.time = cluster.now().duration_since(start);
    tally
}

#[derive(Clone, Copy, Default)]
struct User {
    done: u32,
    /// Whether the action began among those that count.
    counted: bool,
}

/// Lets clients begin at random moments within the first time limit, so that those which hang do not give
/// up all at once for ever after, and runs until the start is forgotten.
fn warm_up(cluster: &mut Cluster, clients: usize) {
    let begin = cluster.now();
    let mut starts: Vec<_> = (0..clients)
        .map(|client| (begin + cluster.random_time(TIME_LIMIT), client))
        .collect();
    starts.sort_unstable();
    let mut starts = starts.into_iter().peekable();
    loop {
        let end = cluster.next_end();
        let start = starts.peek().map(|(start, _)| *start);
        if let Some(start) = start.filter(|start| end.is_none_or(|end| *start < end)) {
            cluster.run_to(start);
            let (_, client) = starts.next().expect("it was seen");
            cluster.call(client);
        } else if end.is_some_and(|end| end <= begin + WARM_UP) {
            let call = cluster.end_next().expect("it was seen");
            cluster.call(call.caller);
        } else {
            return cluster.run_to(begin + WARM_UP);
        }
    }
}

const WARM_UP: Duration = Duration::from_secs(5);

const USERS_PER_CALL: usize = 50;
