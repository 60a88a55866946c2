//! The slow start of one bound service: its limit, its credit, and when it ends.
//!
//! A service is new on a virtual server from a bind, an enable or a DOWN to UP on until its ramp
//! ends. A ramp knows its own clock and nothing of other ramps; the rules that all of a virtual
//! server share come in as [`Terms`].
//!
//! ```text
//!   limit                          +-----  rate * (1 + steps)
//!     |                   +--------+
//!     |          +--------+                 at the end of each interval: over, or one step more
//!     | +--------+
//!     +-+--------+--------+--------+-----> time
//!       since    interval
//! ```
//!
//! The credit grows with the limit (by time, or by what existing services get), starts at one
//! request, stays below two, and pays one for each request; without one the service is held back.
//!
//! A ramp is over at the end of the first interval in which its limit was not below a full share
//! and, for a method that compares a number, some choice found the service not below the lowest
//! existing one. An interval without a request has a full share of nothing.
//!
//! Nothing here needs a timer: [`Ramp::advance`] goes through all intervals that have passed, to
//! the same end whether it is called once or often.
//!
//! Source: own choice of rules that give the tables of NetScaler docs, "Gradually stepping up the
//! load on a new service".

mod credit;

use std::time::Duration;

use crate::{Instant, RampStatus, RampUnit, SlowStart};

use credit::{Credit, ONE};

/// What the ramps of one virtual server have in common at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// The settings; the rate is not zero.
    pub(crate) slow_start: SlowStart,
    /// Whether the method compares a number.
    pub(crate) compares_load: bool,
    /// The weights of all services that are UP, new or not.
    pub(crate) usable_weight: u64,
    /// The weights of those among them that are not new.
    pub(crate) existing_weight: u64,
    /// Choices the virtual server ever made.
    pub(crate) choices: u64,
}

/// The ramp of one bound service.
#[derive(Clone, Debug)]
pub(crate) struct Ramp {
    since: Instant,
    /// Steps made so far.
    steps: u64,
    credit: Credit,
    /// Up to when the credit has grown.
    grown: Instant,
    chosen: u64,
    total: Requests,
    interval: Interval,
}

/// The interval under way; under a manual limit it has no end.
#[derive(Clone, Debug)]
struct Interval {
    start: Instant,
    requests: Requests,
    /// Whether some choice found the service not below the lowest existing one.
    is_level: bool,
}

/// Requests of the virtual server from some moment on.
#[derive(Clone, Debug)]
struct Requests {
    count: u64,
    /// The choice before the first of them.
    after: u64,
}

impl Ramp {
    /// Starts the ramp of a service that becomes new after so many choices of its virtual server.
    pub(crate) fn new(choices: u64, now: Instant) -> Self {
        Self {
            since: now,
            steps: 0,
            credit: Credit::new(),
            grown: now,
            chosen: 0,
            total: Requests::after(choices),
            interval: Interval::new(choices, now),
        }
    }

    /// Whether the service has to be left out of a choice.
    pub(crate) fn holds_back(&self) -> bool {
        !self.credit.has_one()
    }

    /// Moves on to `now`; returns when the ramp ended, if it has.
    pub(crate) fn advance(&mut self, weight: u64, terms: &Terms, now: Instant) -> Option<Instant> {
        let length = terms.slow_start.interval;
        let passed = match length.as_nanos() {
            0 => 0,
            nanos => now.duration_since(self.interval.start).as_nanos() / nanos,
        };
        if let Some(idle) = passed.checked_sub(1) {
            let end = self.interval.start + length;
            self.grow(terms, end);
            if self.is_over(weight, terms) {
                return Some(end);
            }
            self.step(terms, end);
            // A call comes with each request, so nothing happened in the intervals after the first;
            // without a choice nobody was found level in them.
            let end = self.expected_end(weight, terms, 0);
            if end <= now && !terms.compares_load {
                return Some(end);
            }
            self.skip(idle, terms);
        }
        self.grow(terms, now);
        None
    }

    /// Takes new settings; [`Self::advance`] has gone through the time before them.
    ///
    /// A rate counts at once, for all steps made. A new interval begins now, with the steps made so
    /// far; but a manual limit is the rate itself, and another unit counts from its first step, so
    /// that no change but a higher rate lifts the limit at once.
    pub(crate) fn retune(&mut self, old: &SlowStart, new: &Terms, now: Instant) {
        let SlowStart { unit, interval, .. } = new.slow_start;
        if (unit, interval) == (old.unit, old.interval) {
            return;
        }
        if unit != old.unit || interval.is_zero() {
            self.steps = 0;
        }
        self.credit.bound();
        self.interval = Interval::new(new.choices, now);
    }

    /// Notes that a choice found the service not below the lowest existing one.
    pub(crate) fn note_level(&mut self) {
        self.interval.is_level = true;
    }

    /// Counts a request of the virtual server.
    pub(crate) fn count_request(&mut self) {
        self.total.count += 1;
        self.interval.requests.count += 1;
    }

    /// Earns its part of a request that an existing service gets.
    pub(crate) fn earn(&mut self, weight: u64, terms: &Terms) {
        match terms.slow_start.unit {
            RampUnit::PerSecond => {}
            RampUnit::Percent => {
                let (share, of) = self.earning(weight, terms);
                self.credit.earn(share, of);
            }
        }
    }

    /// Pays for a request; returns what has to be given to [`Self::return_unused`] with it.
    pub(crate) fn pay(&mut self) -> u32 {
        self.chosen += 1;
        self.credit.pay()
    }

    /// Takes back the service's own request number `choice`, if it belongs to this ramp.
    pub(crate) fn return_unused(&mut self, choice: u64, paid: u32) {
        if choice > self.total.after {
            self.chosen -= 1;
            self.credit.pay_back(paid);
        }
    }

    /// Takes back request number `choice` of the virtual server; `existing` says whether an
    /// existing service got it.
    pub(crate) fn uncount(&mut self, choice: u64, existing: bool, weight: u64, terms: &Terms) {
        if self.total.uncount(choice) && existing && terms.slow_start.unit == RampUnit::Percent {
            let (share, of) = self.earning(weight, terms);
            self.credit.lose(share, of);
        }
        self.interval.requests.uncount(choice);
    }

    /// Shows the ramp; `per_second` is the request rate of the virtual server.
    pub(crate) fn status(&self, weight: u64, terms: &Terms, per_second: u64) -> RampStatus {
        let SlowStart { unit, interval, .. } = terms.slow_start;
        let is_automatic = !interval.is_zero();
        RampStatus {
            unit,
            limit: u64::try_from(self.limit(terms)).unwrap_or(u64::MAX),
            chosen: self.chosen,
            requests: self.total.count,
            since: self.since,
            next_step: is_automatic.then(|| self.interval.start + interval),
            end: is_automatic.then(|| self.expected_end(weight, terms, per_second)),
        }
    }

    fn limit(&self, terms: &Terms) -> u128 {
        u128::from(terms.slow_start.rate) * (u128::from(self.steps) + 1)
    }

    /// Lets the credit grow with the time up to `now`, at the limit of now.
    fn grow(&mut self, terms: &Terms, now: Instant) {
        let nanos = now.duration_since(self.grown).as_nanos();
        self.grow_by(terms, self.limit(terms).saturating_mul(nanos), now);
    }

    fn grow_by(&mut self, terms: &Terms, parts: u128, now: Instant) {
        match terms.slow_start.unit {
            RampUnit::PerSecond => self.credit.grow(parts),
            RampUnit::Percent => {}
        }
        self.grown = now;
    }

    /// Whether the interval under way is the last one.
    fn is_over(&self, weight: u64, terms: &Terms) -> bool {
        (self.interval.is_level || !terms.compares_load) && self.is_full_share(weight, terms)
    }

    /// Whether the limit is not below a full share of the interval's requests.
    ///
    /// `limit * interval >= requests * weight / usable` with both sides multiplied by `usable`, the
    /// interval in nanoseconds.
    fn is_full_share(&self, weight: u64, terms: &Terms) -> bool {
        let limit = self.limit(terms);
        match terms.slow_start.unit {
            RampUnit::Percent => limit >= PERCENT,
            RampUnit::PerSecond => {
                let time = terms.slow_start.interval.as_nanos();
                let allowed = limit.saturating_mul(time);
                let share = u128::from(self.interval.requests.count) * u128::from(weight);
                allowed.saturating_mul(u128::from(terms.usable_weight)) >= share * ONE
            }
        }
    }

    fn step(&mut self, terms: &Terms, now: Instant) {
        self.steps = self.steps.saturating_add(1);
        self.interval = Interval::new(terms.choices, now);
    }

    /// Goes through so many intervals without a request, none of which is the last one.
    fn skip(&mut self, idle: u128, terms: &Terms) {
        let Some(steps) = idle.checked_sub(1) else {
            return;
        };
        let nanos = idle.saturating_mul(terms.slow_start.interval.as_nanos());
        let end = self.interval.start + nanoseconds(nanos);
        let first = self.limit(terms);
        let steps = u64::try_from(steps).unwrap_or(u64::MAX);
        self.steps = self.steps.saturating_add(steps);
        // The limits form an arithmetic series: twice their sum is the ends times the count.
        let ends = first.saturating_add(self.limit(terms));
        self.grow_by(terms, ends.saturating_mul(nanos) / 2, end);
        self.step(terms, end);
    }

    /// Returns, as a fraction, what a request of an existing service earns.
    fn earning(&self, weight: u64, terms: &Terms) -> (u128, u128) {
        let share = self.limit(terms).saturating_mul(u128::from(weight));
        (share, PERCENT * u128::from(terms.existing_weight.max(1)))
    }

    /// Returns the end of the first interval whose limit is a full share under a steady load.
    fn expected_end(&self, weight: u64, terms: &Terms, per_second: u64) -> Instant {
        let rate = u128::from(terms.slow_start.rate);
        let times_rate = match terms.slow_start.unit {
            RampUnit::Percent => PERCENT.div_ceil(rate),
            RampUnit::PerSecond => {
                let requests = u128::from(per_second) * u128::from(weight);
                requests.div_ceil(rate * u128::from(terms.usable_weight.max(1)))
            }
        };
        let to_come = times_rate.saturating_sub(u128::from(self.steps)).max(1);
        let nanos = to_come.saturating_mul(terms.slow_start.interval.as_nanos());
        self.interval.start + nanoseconds(nanos)
    }
}

impl Interval {
    fn new(choices: u64, start: Instant) -> Self {
        Self {
            start,
            requests: Requests::after(choices),
            is_level: false,
        }
    }
}

impl Requests {
    fn after(choice: u64) -> Self {
        Self {
            count: 0,
            after: choice,
        }
    }

    /// Takes back request number `choice`; returns whether it was one of these.
    fn uncount(&mut self, choice: u64) -> bool {
        let is_one = choice > self.after;
        self.count -= u64::from(is_one);
        is_one
    }
}

fn nanoseconds(nanos: u128) -> Duration {
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

/// A full share, in percent of what an existing service gets.
const PERCENT: u128 = 100;
