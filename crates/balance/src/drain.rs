//! How a service goes out of service: until when, and how fast its flows come to an end.
//!
//! Owns the bookkeeping of one service. Who is given flows meanwhile is in `vserver`, what follows at
//! the end in `engine::drain`.
//!
//! Invariant: the counts are of whole steps of [`STEP`] since the beginning, the newest
//! [`STEPS`] of them; a step that has passed without an event is zero.

use std::time::Duration;

use crate::{DrainStatus, Instant};

/// How a service is disabled.
///
/// With neither it is OUT OF SERVICE at once, with both by whichever comes first.
///
/// Source: NetScaler docs, "Graceful shutdown of services".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Leave {
    /// How long it goes out of service at most; `None` is for as long as it takes.
    pub delay: Option<Duration>,
    /// Whether it is OUT OF SERVICE as soon as its last flow has ended.
    pub graceful: bool,
}

impl Leave {
    /// Without waiting for anything.
    pub const AT_ONCE: Self = Self {
        delay: None,
        graceful: false,
    };
}

/// A service on its way out.
#[derive(Clone, Debug)]
pub(crate) struct Drain {
    graceful: bool,
    /// When it is over, whatever flows there are.
    pub(crate) deadline: Option<Instant>,
    since: Instant,
    /// The newest step that has been counted in.
    step: u64,
    ended: [u64; STEPS],
    begun: [u64; STEPS],
}

impl Drain {
    /// Begins one for a service with so many flows; `None` if it is over at once.
    pub(crate) fn begin(leave: Leave, active: u64, now: Instant) -> Option<Self> {
        let Leave { delay, graceful } = leave;
        let waits = if graceful {
            active > 0
        } else {
            delay.is_some()
        };
        (waits && delay != Some(Duration::ZERO)).then(|| Self {
            graceful,
            deadline: delay.map(|delay| now + delay),
            since: now,
            step: 0,
            ended: [0; STEPS],
            begun: [0; STEPS],
        })
    }

    /// Counts a flow that a client which sticks to the service has begun.
    pub(crate) fn note_begin(&mut self, now: Instant) {
        let place = self.place(now);
        self.begun[place] += 1;
    }

    /// Counts a flow that has ended; returns whether it was what the service has waited for.
    pub(crate) fn note_end(&mut self, active: u64, now: Instant) -> bool {
        let place = self.place(now);
        self.ended[place] += 1;
        self.graceful && active == 0
    }

    /// Shows it, for a service with so many flows.
    pub(crate) fn status(&self, active: u64, now: Instant) -> DrainStatus {
        let mut own = self.clone();
        own.place(now);
        DrainStatus {
            graceful: own.graceful,
            deadline: own.deadline,
            since: own.since,
            last_flow: own.forecast(active, now),
        }
    }

    /// Returns when the last of so many flows ends if their number goes on falling as over the last
    /// steps; `None` if it does not fall.
    ///
    /// `left / ((ended - begun) / span)`, rounded up to a nanosecond. The span is at least a second, so
    /// that what ends at the very beginning does not look like a rate without bounds.
    fn forecast(&self, active: u64, now: Instant) -> Option<Instant> {
        let [ended, begun] = [self.ended, self.begun].map(|counts| counts.iter().sum::<u64>());
        let fallen = ended.checked_sub(begun).filter(|fallen| *fallen > 0)?;
        let first = self.step.saturating_sub(STEPS as u64 - 1);
        let from = self.since + Duration::from_nanos(nanos(STEP).saturating_mul(first));
        let span = nanos(now.duration_since(from).max(SHORTEST_SPAN));
        let length = (u128::from(active) * u128::from(span)).div_ceil(u128::from(fallen));
        let length = u64::try_from(length).unwrap_or(u64::MAX);
        Some(now + Duration::from_nanos(length))
    }

    /// Moves on to the step of `now`; returns the place of its counts.
    fn place(&mut self, now: Instant) -> usize {
        let step = nanos(now.duration_since(self.since)) / nanos(STEP);
        let passed = step.saturating_sub(self.step).min(STEPS as u64);
        for back in 0..passed {
            let place = index(step - back);
            self.ended[place] = 0;
            self.begun[place] = 0;
        }
        self.step = self.step.max(step);
        index(self.step)
    }
}

fn index(step: u64) -> usize {
    (step % STEPS as u64) as usize
}

fn nanos(length: Duration) -> u64 {
    u64::try_from(length.as_nanos()).unwrap_or(u64::MAX)
}

/// The forecast looks at the last 50 to 60 s: long enough for connections that end seldom, short
/// enough to follow a change within a minute.
const STEPS: usize = 6;
const STEP: Duration = Duration::from_secs(10);
const SHORTEST_SPAN: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: u64) -> Instant {
        Instant::from_nanos(seconds * 1_000_000_000)
    }

    fn leave(delay: Option<u64>, graceful: bool) -> Leave {
        Leave {
            delay: delay.map(Duration::from_secs),
            graceful,
        }
    }

    #[test]
    fn waits_for_what_it_is_told_to_wait_for() {
        let begins = |leave, active| Drain::begin(leave, active, at(5)).map(|own| own.deadline);
        for (delay, graceful, with_flows, without) in [
            (None, false, None, None),
            (Some(60), false, Some(Some(at(65))), Some(Some(at(65)))),
            (None, true, Some(None), None),
            (Some(60), true, Some(Some(at(65))), None),
            (Some(0), false, None, None),
            (Some(0), true, None, None),
        ] {
            let leave = leave(delay, graceful);
            assert_eq!(begins(leave, 1), with_flows, "{leave:?}");
            assert_eq!(begins(leave, 0), without, "{leave:?}");
        }
    }

    #[test]
    fn only_a_graceful_one_ends_with_the_last_flow() {
        for (graceful, expected) in [(true, [false, true]), (false, [false, false])] {
            let mut drain = Drain::begin(leave(Some(60), graceful), 2, at(0)).unwrap();
            let seen = [1, 0].map(|active| drain.note_end(active, at(1)));
            assert_eq!(seen, expected);
        }
    }

    #[test]
    fn forecast_is_what_is_left_over_the_rate_at_which_it_falls() {
        let mut drain = Drain::begin(leave(None, true), 100, at(100)).unwrap();
        let shown = |drain: &Drain, active, now| drain.status(active, at(now)).last_flow;
        assert_eq!(shown(&drain, 100, 100), None);
        for active in (90..100).rev() {
            drain.note_end(active, at(105));
        }
        // 10 in 5 s, and 90 are left.
        assert_eq!(shown(&drain, 90, 105), Some(at(150)));
        // 10 in 20 s.
        assert_eq!(shown(&drain, 90, 120), Some(at(300)));
        for _ in 0..4 {
            drain.note_begin(at(120));
        }
        // 6 in 20 s, rounded up.
        let exact = Instant::from_nanos(120_000_000_000 + 94 * 20_000_000_000 / 6 + 1);
        assert_eq!(shown(&drain, 94, 120), Some(exact));
        for _ in 0..6 {
            drain.note_begin(at(121));
        }
        assert_eq!(shown(&drain, 100, 121), None, "as many come as go");
    }

    #[test]
    fn forecast_forgets_what_is_a_minute_old() {
        let mut drain = Drain::begin(leave(None, true), 10, at(0)).unwrap();
        for active in [9, 8, 7] {
            drain.note_end(active, at(9));
        }
        let shown = |drain: &Drain, now| drain.status(7, at(now)).last_flow;
        // 3 in 59 s; then the step in which they ended is over.
        assert_eq!(
            shown(&drain, 59),
            Some(at(59) + Duration::from_nanos(137_666_666_667))
        );
        assert_eq!(shown(&drain, 60), None);
        assert_eq!(shown(&drain, 600), None);
        drain.note_end(6, at(601));
        // 1 in the 51 s from 550 s on.
        assert_eq!(drain.status(6, at(601)).last_flow, Some(at(601 + 6 * 51)));
    }

    #[test]
    fn what_ends_at_once_is_a_rate_over_a_second() {
        let mut drain = Drain::begin(leave(None, true), 3, at(7)).unwrap();
        drain.note_end(2, at(7));
        assert_eq!(drain.status(2, at(7)).last_flow, Some(at(9)));
    }
}
