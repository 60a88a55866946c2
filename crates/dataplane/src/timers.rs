//! The timers of a worker: at most one for each of its flows.
//!
//! Owns when which flow is to be looked at, not why. Arming is lazy: a deadline that moves away (every
//! byte moves the idle limit) leaves the timer where it is; when it fires, the flow says when it wants
//! the next one. So traffic costs no timer work, and a flow costs one insertion and one removal.

use std::collections::BTreeSet;

use sluice_balance::Instant;

/// Deadlines in order. The key is the flow's index.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    queue: BTreeSet<(Instant, usize)>,
}

/// The timer of one flow, kept with the flow.
#[derive(Debug, Default)]
pub(crate) struct Timer(Option<Instant>);

impl Timers {
    /// Makes `key` fire at `at` or before.
    pub(crate) fn arm(&mut self, timer: &mut Timer, key: usize, at: Instant) {
        match timer.0 {
            Some(armed) if armed <= at => return,
            Some(armed) => {
                self.queue.remove(&(armed, key));
            }
            None => {}
        }
        self.queue.insert((at, key));
        timer.0 = Some(at);
    }

    /// Makes `key` not fire.
    pub(crate) fn disarm(&mut self, timer: &mut Timer, key: usize) {
        if let Some(armed) = timer.0.take() {
            self.queue.remove(&(armed, key));
        }
    }

    /// Returns when the next one fires.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.queue.first().map(|(at, _)| *at)
    }

    /// Takes the next one that is due at `now`; the caller marks its timer with [`Timer::fired`].
    pub(crate) fn pop_due(&mut self, now: Instant) -> Option<usize> {
        let (at, _) = self.queue.first()?;
        if *at > now {
            return None;
        }
        self.queue.pop_first().map(|(_, key)| key)
    }
}

impl Timer {
    /// Notes that the timer has fired.
    pub(crate) fn fired(&mut self) {
        self.0 = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::from_nanos(seconds * 1_000_000_000)
    }

    #[test]
    fn later_deadline_waits_for_the_earlier_one_to_fire() {
        let (mut timers, mut timer) = (Timers::default(), Timer::default());
        timers.arm(&mut timer, 7, at(5));
        timers.arm(&mut timer, 7, at(9));
        assert_eq!(timers.next(), Some(at(5)));
        assert_eq!(timers.pop_due(at(4)), None);
        assert_eq!(timers.pop_due(at(5)), Some(7));
        timer.fired();
        timers.arm(&mut timer, 7, at(9));
        assert_eq!(timers.next(), Some(at(9)));
    }

    #[test]
    fn earlier_deadline_replaces_the_later_one() {
        let (mut timers, mut timer) = (Timers::default(), Timer::default());
        timers.arm(&mut timer, 7, at(5));
        timers.arm(&mut timer, 7, at(2));
        assert_eq!(timers.pop_due(at(9)), Some(7));
        assert_eq!(timers.pop_due(at(9)), None);
    }

    #[test]
    fn disarmed_timer_leaves_nothing_behind() {
        let (mut timers, mut timer) = (Timers::default(), Timer::default());
        timers.arm(&mut timer, 7, at(5));
        timers.disarm(&mut timer, 7);
        assert_eq!(timers.next(), None);
    }

    #[test]
    fn due_timers_fire_in_the_order_of_their_deadlines() {
        let mut timers = Timers::default();
        let mut each: [Timer; 3] = Default::default();
        for (key, seconds) in [(0, 3), (1, 1), (2, 2)] {
            timers.arm(&mut each[key], key, at(seconds));
        }
        let fired: Vec<_> = std::iter::from_fn(|| timers.pop_due(at(2))).collect();
        assert_eq!(fired, [1, 2]);
        assert_eq!(timers.next(), Some(at(3)));
    }
}
