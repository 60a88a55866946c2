//! When entries go: the order of the lanes' ends, the bounded sweep, what was forgotten as a whole.
//!
//! A lane is noted with a time that is not later than its oldest entry ends. A use moves an entry
//! within its lane and leaves the note alone: it is put right when its time comes, so that a use
//! costs nothing here.

use std::time::Duration;

use super::Tables;
use super::lane::LaneId;
use crate::Instant;

impl Tables {
    /// Does what is due: frees places, and notes that a shortage is over.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        self.sweep(now);
        if self.store.len() < self.limit - self.limit / 8 {
            self.is_reported = false;
        }
    }

    /// Frees the places of entries that have ended, as many as one call may, before they are counted.
    pub(crate) fn sweep(&mut self, now: Instant) {
        let is_done = (0..SWEEP).any(|_| !self.free_one(now));
        self.swept = if is_done { now } else { Instant::default() };
    }

    /// Returns when [`Self::handle_timeout`] wants to be called, which is not more than once a second
    /// unless it has left something over.
    pub(crate) fn due(&self, now: Instant) -> Option<Instant> {
        if !self.forgotten.is_empty() {
            return Some(now);
        }
        let (first, _) = self.deadlines.first()?;
        Some((*first).max(self.swept + SWEEP_INTERVAL))
    }

    /// Whether one more entry may be made. One that has ended takes no room away, unless the limit was
    /// lowered far below what there was, for the moment that it takes to free the rest.
    pub(super) fn has_room(&mut self, now: Instant) -> bool {
        for _ in 0..SWEEP {
            if self.store.len() < self.limit {
                return true;
            }
            if !self.free_one(now) {
                return false;
            }
        }
        false
    }

    /// Makes a lane, which its table no longer has, nobody's; returns how many entries it has.
    pub(super) fn forget(&mut self, id: LaneId) -> u64 {
        let lane = &mut self.lanes[id.index()];
        lane.table = None;
        if let Some(noted) = lane.noted.take() {
            self.deadlines.remove(&(noted, id));
        }
        let entries = u64::from(lane.len());
        self.waste += entries;
        self.forgotten.push_back(id);
        entries
    }

    /// Notes when a lane wants to be looked at: exactly when its oldest entry ends.
    pub(super) fn note(&mut self, id: LaneId) {
        let end = self.end_of_oldest(id);
        let lane = &mut self.lanes[id.index()];
        if let Some(noted) = std::mem::replace(&mut lane.noted, end) {
            self.deadlines.remove(&(noted, id));
        }
        if let Some(end) = end {
            self.deadlines.insert((end, id));
        }
    }

    /// Returns when the oldest entry of a lane that has a table ends.
    fn end_of_oldest(&self, id: LaneId) -> Option<Instant> {
        let lane = self.lane(id);
        let table = &self.tables[&lane.table?];
        Some(table.end(self.store.at(lane.oldest()?).used))
    }

    /// Frees one place, or looks at a lane again that has been used since; false when nothing is due.
    fn free_one(&mut self, now: Instant) -> bool {
        if let Some(&lane) = self.forgotten.front() {
            match self.lane(lane).oldest() {
                Some(oldest) => {
                    self.remove(oldest);
                    self.waste -= 1;
                }
                None => {
                    self.forgotten.pop_front();
                    self.free_lanes.push(lane);
                }
            }
            return true;
        }
        let Some(&(noted, lane)) = self.deadlines.first() else {
            return false;
        };
        if noted > now {
            return false;
        }
        if self.end_of_oldest(lane).is_some_and(|end| end <= now) {
            let oldest = self.lane(lane).oldest().expect("it has an end");
            self.remove(oldest);
        }
        self.note(lane);
        true
    }
}

/// Entries freed per call: some 0.2 ms at most while everything else waits.
const SWEEP: u32 = 1024;

/// Entries that have ended wait for others to be freed with them, for as long as that is not seen.
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);
