//! Which flows wait for the first byte of an answer, and since when.
//!
//! Owns one entry for each flow, from its choice to its end, and the order in which the flows of a service
//! began to wait. All is found in one step: where a flow is, by its slot; the oldest that waits, and
//! the oldest since the service last gave a sign of life, by what [`Waiting`] keeps for the service.
//!
//! ```text
//!   Quiet --- client data ---> Asked --- first answer ---> Answered
//!     |                        ^  |                           ^
//!     |                        +--+ the client goes on: it waits from then on
//!     +------------- first answer (the service speaks first) -+
//! ```
//!
//! Invariants: a service's line has its flows that are `Asked`, in the order of their `since`; a flow's
//! line is always that of one service. A slot is used again after its flow has ended.

use crate::{Instant, VserverId};

/// The place of a flow's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FlowSlot(u32);

/// Where a flow is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Nobody has said anything, since the choice.
    Quiet(Instant),
    /// The client waits for an answer, since it last sent something that was told.
    Asked(Instant),
    /// The service has answered.
    Answered,
}

/// The line of one service.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    oldest: Option<(FlowSlot, Instant)>,
    newest: Option<FlowSlot>,
    /// The oldest that began to wait after the last sign of life.
    unheard: Option<(FlowSlot, Instant)>,
    /// The oldest whose silence has not been looked at; see [`Flows::pass_over`].
    unseen: Option<(FlowSlot, Instant)>,
}

/// A flow that has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    /// Where it was; waiting since its client's first byte.
    pub(crate) progress: Progress,
    /// Whether its silence was counted as a failure.
    pub(crate) is_counted: bool,
    /// Whether it was answered before, and then client data was not.
    pub(crate) is_unanswered: bool,
    /// Whether its service had nothing more to do with it.
    pub(crate) is_done: bool,
}

impl Waiting {
    /// Returns since when the oldest flow waits.
    #[inline]
    pub(crate) fn oldest(&self) -> Option<Instant> {
        self.oldest.map(|(_, since)| since)
    }

    /// Returns since when the oldest waits of those that the service has not answered anybody since.
    #[inline]
    pub(crate) fn unheard(&self) -> Option<Instant> {
        self.unheard.map(|(_, since)| since)
    }

    /// Returns the oldest flow whose silence has not been looked at, and since when it waits.
    pub(crate) fn unseen(&self) -> Option<(FlowSlot, Instant)> {
        self.unseen
    }

    /// Notes a sign of life: who waits now no longer says anything about the service.
    pub(crate) fn hear(&mut self) {
        self.unheard = None;
    }
}

/// The entries of all flows.
#[derive(Debug, Default)]
pub(crate) struct Flows {
    entries: Vec<Entry>,
    free: Vec<FlowSlot>,
}

#[derive(Debug)]
struct Entry {
    progress: Progress,
    /// Neighbours in the line of the service.
    older: Option<FlowSlot>,
    newer: Option<FlowSlot>,
    /// When the client first sent something.
    asked: Instant,
    /// Who serves it.
    vserver: VserverId,
    is_counted: bool,
    is_unanswered: bool,
    is_done: bool,
}

impl Flows {
    /// Makes the entry of a flow that has been given a service by a virtual server.
    pub(crate) fn open(&mut self, vserver: VserverId, now: Instant) -> FlowSlot {
        let entry = Entry {
            asked: now,
            vserver,
            is_counted: false,
            is_unanswered: false,
            is_done: false,
            progress: Progress::Quiet(now),
            older: None,
            newer: None,
        };
        if let Some(slot) = self.free.pop() {
            *self.at(slot) = entry;
            return slot;
        }
        let slot = u32::try_from(self.entries.len()).expect("there are fewer than 2^32 flows");
        self.entries.push(entry);
        FlowSlot(slot)
    }

    /// Puts a flow at the end of the line; returns whether this was its first client data.
    pub(crate) fn ask(&mut self, slot: FlowSlot, line: &mut Waiting, now: Instant) -> bool {
        let entry = self.at(slot);
        let Progress::Quiet(_) = entry.progress else {
            return false;
        };
        entry.asked = now;
        self.link(slot, line, now);
        true
    }

    /// Lets a flow in the line wait from now on: its client goes on sending. What an answer takes is
    /// still measured from its first byte.
    pub(crate) fn renew(&mut self, slot: FlowSlot, line: &mut Waiting, now: Instant) {
        if let Progress::Asked(_) = self.at(slot).progress {
            self.unlink(slot, line);
            self.link(slot, line, now);
        }
    }

    fn link(&mut self, slot: FlowSlot, line: &mut Waiting, now: Instant) {
        let entry = self.at(slot);
        entry.progress = Progress::Asked(now);
        entry.older = line.newest;
        match line.newest {
            Some(newest) => self.at(newest).newer = Some(slot),
            None => line.oldest = Some((slot, now)),
        }
        line.newest = Some(slot);
        line.unheard.get_or_insert((slot, now));
        line.unseen.get_or_insert((slot, now));
    }

    /// Notes a flow's first answer; returns since when it was waited for, the first time.
    pub(crate) fn answer(&mut self, slot: FlowSlot, line: &mut Waiting) -> Option<Instant> {
        let since = match self.at(slot).progress {
            Progress::Quiet(since) => since,
            Progress::Asked(_) => {
                self.unlink(slot, line);
                self.at(slot).asked
            }
            Progress::Answered => return None,
        };
        self.at(slot).progress = Progress::Answered;
        Some(since)
    }

    /// Drops the entry of a flow that ends; returns where it was. The line is absent if the service is
    /// gone, and the rest of its line with it.
    pub(crate) fn close(&mut self, slot: FlowSlot, line: Option<&mut Waiting>) -> Ended {
        let Entry {
            mut progress,
            asked,
            is_counted,
            is_unanswered,
            is_done,
            ..
        } = *self.at(slot);
        if let Progress::Asked(_) = progress {
            if let Some(line) = line {
                self.unlink(slot, line);
            }
            progress = Progress::Asked(asked);
        }
        self.free.push(slot);
        Ended {
            progress,
            is_counted,
            is_unanswered,
            is_done,
        }
    }

    /// Looks at the silence of the oldest flow that it has not been looked at of; returns who serves it.
    pub(crate) fn pass_over(&mut self, line: &mut Waiting) -> Option<VserverId> {
        let (slot, _) = line.unseen?;
        let Entry { newer, vserver, .. } = *self.at(slot);
        line.unseen = newer.map(|newer| (newer, self.since(newer)));
        Some(vserver)
    }

    /// Returns where a flow is.
    pub(crate) fn progress(&self, slot: FlowSlot) -> Progress {
        self.entries[slot.0 as usize].progress
    }

    /// Notes that a flow which was answered has client data that is not.
    pub(crate) fn mark_unanswered(&mut self, slot: FlowSlot) {
        self.at(slot).is_unanswered = true;
    }

    /// Notes that the service of a flow has nothing more to do with it; returns whether that is new.
    pub(crate) fn mark_done(&mut self, slot: FlowSlot) -> bool {
        !std::mem::replace(&mut self.at(slot).is_done, true)
    }

    /// Whether the silence of a flow was counted as a failure.
    pub(crate) fn is_counted(&self, slot: FlowSlot) -> bool {
        self.entries[slot.0 as usize].is_counted
    }

    /// Notes that the silence of a flow was counted as a failure.
    pub(crate) fn mark_counted(&mut self, slot: FlowSlot) {
        self.at(slot).is_counted = true;
    }

    fn unlink(&mut self, slot: FlowSlot, line: &mut Waiting) {
        let entry = self.at(slot);
        let (older, newer) = (entry.older.take(), entry.newer.take());
        let follower = newer.map(|newer| (newer, self.since(newer)));
        match older {
            Some(older) => self.at(older).newer = newer,
            None => line.oldest = follower,
        }
        match newer {
            Some(newer) => self.at(newer).older = older,
            None => line.newest = older,
        }
        for first in [&mut line.unheard, &mut line.unseen] {
            if first.is_some_and(|(first, _)| first == slot) {
                *first = follower;
            }
        }
    }

    fn since(&mut self, slot: FlowSlot) -> Instant {
        match self.at(slot).progress {
            Progress::Quiet(since) | Progress::Asked(since) => since,
            Progress::Answered => Instant::default(),
        }
    }

    fn at(&mut self, slot: FlowSlot) -> &mut Entry {
        &mut self.entries[slot.0 as usize]
    }
}
