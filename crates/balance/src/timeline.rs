//! When samples were taken: one ring of instants, shared by all objects that are sampled together.
//!
//! Owns the cadence (a fixed grid) and the answer to "which sample is the newest that is at least
//! `span` old". The sampled values lie with the objects, in rings of the same length, so that an
//! object costs memory for its numbers only.
//!
//! Invariant: at most one sample lies in a cell of the grid. The first and the last of
//! `span / step + 2` samples therefore lie more than `span` apart, and a ring of that length always
//! still holds the sample that is asked for.

use std::time::Duration;

use crate::Instant;

/// The instants of the last `SLOTS` samples, a grid cell apart.
///
/// ```text
///   samples   |    |    |    |    |    |    |    |    |
///             ^base         (step)                    ^newest   now
///             |<------------- span or a little more ----------->|
/// ```
///
/// The base is the newest sample that is at least `span` old. With samples on time it is less than
/// one step older than `span`; after a gap (nobody called, or called late) it is older by the gap
/// at most. So a difference against the base never misses what happened within `span`; it may
/// include what happened up to one step, or the gap, before.
#[derive(Debug)]
pub(crate) struct Timeline<const SLOTS: usize> {
    step: Duration,
    span: Duration,
    /// The left edge of the grid's first cell; the first sample lies there.
    origin: Option<Instant>,
    /// The left edge of the next cell that has no sample yet.
    due: Instant,
    times: [Instant; SLOTS],
    /// Samples ever taken; the newest is number `taken - 1`.
    taken: u64,
    /// The number of the base; none while no sample is old enough.
    base: Option<u64>,
}

impl<const SLOTS: usize> Timeline<SLOTS> {
    /// Makes a timeline without samples; the first [`Self::tick`] starts the grid.
    pub(crate) fn new(step: Duration, span: Duration) -> Self {
        debug_assert!(SLOTS as u128 >= span.as_nanos().div_ceil(step.as_nanos()) + 2);
        Self {
            step,
            span,
            origin: None,
            due: Instant::default(),
            times: [Instant::default(); SLOTS],
            taken: 0,
            base: None,
        }
    }

    /// Takes a sample if one is due, and returns the slot into which every object has to write.
    pub(crate) fn tick(&mut self, now: Instant) -> Option<usize> {
        let origin = *self.origin.get_or_insert(now);
        if self.taken > 0 && now < self.due {
            return None;
        }
        let step = self.step.as_nanos();
        let cell = now.duration_since(origin).as_nanos() / step;
        let due = u128::from(origin.as_nanos()) + (cell + 1) * step;
        self.due = Instant::from_nanos(u64::try_from(due).unwrap_or(u64::MAX));
        let slot = Self::slot(self.taken);
        self.times[slot] = now;
        self.taken += 1;
        Some(slot)
    }

    /// Moves the base to the newest sample that is at least `span` old at `now`.
    ///
    /// Has to follow every `tick`, which may have overwritten the former base.
    pub(crate) fn settle(&mut self, now: Instant) {
        let mut next = self.base.map_or(0, |base| base + 1);
        while next < self.taken {
            if now.duration_since(self.times[Self::slot(next)]) < self.span {
                break;
            }
            self.base = Some(next);
            next += 1;
        }
    }

    /// Returns the slot of the base.
    ///
    /// While no sample is old enough, the ring is not full, and this is a slot that nobody has
    /// written: it holds what an object's ring was filled with when the object was added.
    pub(crate) fn base_slot(&self) -> usize {
        Self::slot(self.base.unwrap_or(self.taken))
    }

    /// Returns the time between the base and `now`; `span` while no sample is old enough.
    pub(crate) fn base_age(&self, now: Instant) -> Duration {
        self.base.map_or(self.span, |base| {
            now.duration_since(self.times[Self::slot(base)])
        })
    }

    /// Returns slot and age of the newest sample that is at least `span` old, which is not longer
    /// than the timeline's own; while there is none, an unwritten slot as in [`Self::base_slot`].
    pub(crate) fn newest_before(&self, now: Instant, span: Duration) -> (usize, Duration) {
        let mut number = self.taken;
        while number > self.base.map_or(0, |base| base + 1) {
            number -= 1;
            let age = now.duration_since(self.times[Self::slot(number)]);
            if age >= span {
                return (Self::slot(number), age);
            }
        }
        let age = self.base.map_or(span, |_| self.base_age(now));
        (self.base_slot(), age)
    }

    /// Returns when the next sample is due.
    pub(crate) fn due(&self) -> Instant {
        self.due
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "the remainder is below SLOTS, which is a usize"
    )]
    fn slot(number: u64) -> usize {
        (number % SLOTS as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: Duration = Duration::from_millis(250);
    const SPAN: Duration = Duration::from_secs(1);

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    fn timeline() -> Timeline<6> {
        Timeline::new(STEP, SPAN)
    }

    #[test]
    fn samples_stay_on_the_grid_of_the_first() {
        let mut line = timeline();
        let taken: Vec<_> = [100, 101, 349, 350, 599, 999, 1099, 1100]
            .into_iter()
            .map(|ms| (ms, line.tick(at(ms)), line.due()))
            .collect();
        assert_eq!(
            taken,
            [
                (100, Some(0), at(350)),
                (101, None, at(350)),
                (349, None, at(350)),
                (350, Some(1), at(600)),
                (599, None, at(600)),
                (999, Some(2), at(1100)),
                (1099, None, at(1100)),
                (1100, Some(3), at(1350)),
            ]
        );
    }

    #[test]
    fn base_is_the_newest_sample_that_is_old_enough() {
        let mut line = timeline();
        for ms in [0, 250, 500, 750] {
            line.tick(at(ms));
            line.settle(at(ms));
        }
        line.settle(at(999));
        assert_eq!((line.base_slot(), line.base_age(at(999))), (4, SPAN));
        line.settle(at(1000));
        assert_eq!((line.base_slot(), line.base_age(at(1000))), (0, SPAN));
        line.settle(at(1249));
        assert_eq!(line.base_slot(), 0);
        line.settle(at(1250));
        assert_eq!(line.base_slot(), 1);
    }

    #[test]
    fn newest_sample_of_a_shorter_span_is_found_in_a_ring_that_is_full_or_not() {
        let half = Duration::from_millis(500);
        let mut line = timeline();
        assert_eq!(line.newest_before(at(0), half), (0, half));
        for ms in (0..3_000).step_by(250) {
            line.tick(at(ms));
            line.settle(at(ms));
            let found = line.newest_before(at(ms + 100), half);
            let expected = match ms.checked_sub(500) {
                None => (line.base_slot(), half),
                Some(old) => (
                    usize::try_from(old / 250 % 6).unwrap(),
                    Duration::from_millis(600),
                ),
            };
            assert_eq!(found, expected, "at {ms} ms");
        }
        // Nobody called for long: the newest sample is far older than the span.
        line.settle(at(9_000));
        let age = Duration::from_millis(6_250);
        assert_eq!(line.newest_before(at(9_000), half), (5, age));
    }

    #[test]
    fn full_ring_still_holds_the_base_with_the_worst_spacing() {
        // The end of a cell, then the start of the following one: as close as two samples can be.
        let spacing = |cell: u64| cell * 250 + if cell % 2 == 1 { 249 } else { 0 };
        let mut line = timeline();
        let mut taken = Vec::new();
        for ms in (0..40).map(spacing) {
            assert!(line.tick(at(ms)).is_some());
            taken.push(ms);
            line.settle(at(ms));
            let expected = taken.iter().rev().find(|old| ms - **old >= 1000);
            let age = expected.map_or(SPAN, |old| Duration::from_millis(ms - old));
            assert_eq!(line.base_age(at(ms)), age, "at {ms} ms");
        }
    }

    #[test]
    fn long_silence_takes_one_sample_and_makes_it_the_newest() {
        let mut line = timeline();
        line.tick(at(0));
        line.settle(at(0));
        assert_eq!(line.tick(at(60_000)), Some(1));
        line.settle(at(60_000));
        assert_eq!((line.base_slot(), line.due()), (0, at(60_250)));
    }
}
