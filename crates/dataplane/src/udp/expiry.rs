//! When sessions may have run out: one lazy deadline each, soonest first.
//!
//! A datagram does not move its session's deadline; the deadline is checked against the last
//! activity when it comes up, and set again if it was early. So a datagram costs nothing here, and
//! a session costs one heap operation per idle limit. Knows no clock and no session.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use sluice_balance::Instant;

/// A session by its place in the worker's table and its serial number, since places are reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Handle {
    /// The place.
    pub(super) index: usize,
    /// The serial number.
    pub(super) serial: u64,
}

/// The deadlines of one worker's sessions, and of some that have ended before theirs.
#[derive(Debug, Default)]
pub(super) struct Expiry {
    heap: BinaryHeap<Reverse<(Instant, Handle)>>,
}

impl Expiry {
    /// Sets the one deadline of a session.
    pub(super) fn set(&mut self, at: Instant, handle: Handle) {
        self.heap.push(Reverse((at, handle)));
    }

    /// Returns the soonest deadline.
    pub(super) fn next(&self) -> Option<Instant> {
        self.heap.peek().map(|Reverse((at, _))| *at)
    }

    /// Takes out a session whose deadline has come, the earliest one first.
    pub(super) fn pop_due(&mut self, now: Instant) -> Option<Handle> {
        if self.next()? > now {
            return None;
        }
        self.heap.pop().map(|Reverse((_, handle))| handle)
    }

    /// Forgets ended sessions once they outnumber the `alive` ones.
    ///
    /// Keeps the heap within twice the sessions, at a constant cost per session ended.
    pub(super) fn shrink(&mut self, alive: usize, is_alive: impl Fn(Handle) -> bool) {
        if self.heap.len() > 2 * alive + SLACK {
            self.heap.retain(|Reverse((_, handle))| is_alive(*handle));
        }
    }

    /// Returns how many deadlines are set.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.heap.len()
    }
}

/// Below this many, ended sessions are not worth a pass.
const SLACK: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: u64) -> Instant {
        Instant::from_nanos(seconds * 1_000_000_000)
    }

    const fn handle(index: usize) -> Handle {
        Handle {
            index,
            serial: index as u64 + 100,
        }
    }

    #[test]
    fn deadlines_come_up_in_their_order_and_not_before_their_time() {
        let mut expiry = Expiry::default();
        for (seconds, index) in [(7, 0), (3, 1), (5, 2)] {
            expiry.set(at(seconds), handle(index));
        }
        assert_eq!(expiry.next(), Some(at(3)));
        assert_eq!(
            expiry.pop_due(Instant::from_nanos(at(3).as_nanos() - 1)),
            None
        );
        assert_eq!(expiry.pop_due(at(3)), Some(handle(1)));
        assert_eq!(expiry.pop_due(at(4)), None);
        assert_eq!(expiry.pop_due(at(9)), Some(handle(2)));
        assert_eq!(expiry.pop_due(at(9)), Some(handle(0)));
        assert_eq!((expiry.pop_due(at(9)), expiry.next()), (None, None));
    }

    #[test]
    fn ended_sessions_do_not_pile_up() {
        let mut expiry = Expiry::default();
        for index in 0..10_000 {
            expiry.set(at(60), handle(index));
            // All but the last have ended.
            expiry.shrink(1, |alive| alive.index == index);
            assert!(expiry.len() <= 2 + SLACK);
        }
        assert_eq!(
            std::iter::from_fn(|| expiry.pop_due(at(60))).last(),
            Some(handle(9_999))
        );
    }
}
