//! What the formulas say.
//!
//! `m` services, of which the fraction `p` is faulty; a good call takes `s`, a call to a faulty service
//! `t`; `q = s / t`. An action needs `k` calls.
//!
//! Minimum concurrency keeps the same number of calls under way, `n`, on all services. By Little's law a
//! good service then ends `n / s` calls a second and a faulty one `n / t`, so the share of calls that fail
//! is `p / t` over `(1 - p) / s + p / t`: multiplied by `s`, it is `p q / ((1 - p) + p q)`. The number of
//! services cancels.

/// Returns how likely an action succeeds of whose calls each does with chance `call`.
pub fn action(call: f64, k: u32) -> f64 {
    (0..k).fold(1.0, |chance, _| chance * call)
}

/// Returns the share of calls that fail under minimum concurrency, with many clients.
pub fn minimum_concurrency(p: f64, q: f64) -> f64 {
    p * q / ((1.0 - p) + p * q)
}

/// Returns the same with `clients` in a closed loop, over `services` of which one is faulty.
///
/// Ties let the faulty one fill up to `ceil(clients / services)` calls. A single client finds all idle:
/// its turns go round.
pub fn few_clients(clients: usize, services: usize, q: f64) -> f64 {
    if clients == 1 {
        return 1.0 / services as f64;
    }
    let stuck = clients.div_ceil(services) as f64;
    stuck * q / ((clients as f64 - stuck) + stuck * q)
}

/// Returns how likely an action succeeds under minimum concurrency if a client makes its calls one right
/// after the other, and ends the action with the first failure.
///
/// Each place on a service that a call leaves is the only one free, so the same client takes it again and
/// stays for ever: on a good service it ends an action every `k s`, on a faulty one every `t`.
pub fn same_client(p: f64, q: f64, k: u32) -> f64 {
    let good = (1.0 - p) / f64::from(k);
    good / (good + p * q)
}

/// Returns which share of calls fails under minimum concurrency in an open loop at `rate` a second, while
/// the services are mostly idle and one of `services` keeps each call for a second.
///
/// Between two choices of the faulty one lie the `n` calls of that second, `rate` on average, and those
/// before its turn. A turn goes to the first idle service after the one chosen last. During that second it
/// goes round the other `m - 1`, so `n` calls leave `(m - 1) - n mod (m - 1)` of them before the faulty
/// one; none if the round is just complete, all if nobody called. With `n` large that is `(m - 2) / 2` on
/// average, and the share is `1 / (rate + m / 2)`; here it is exact for arrivals at random (Poisson).
pub fn light_load(rate: f64, services: usize) -> f64 {
    let others = services - 1;
    let mut chance = (-rate).exp();
    let mut before = chance * others as f64;
    for n in 1..=(10.0 * rate) as usize + 20 {
        chance *= rate / n as f64;
        before += chance * ((others - n % others) % others) as f64;
    }
    1.0 / (rate + before + 1.0)
}
