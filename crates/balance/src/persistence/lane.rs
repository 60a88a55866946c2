//! The entries that stick to one service or virtual server, in the order of their use.
//!
//! Owns the ends of that list; the links are in the entries. Because all entries of a table live
//! equally long after their use, the oldest is the first to go, whatever the time-out is set to: no
//! other order is needed. A whole list can be forgotten in one step.

use std::num::NonZeroU32;

use super::store::{EntryId, Store};
use super::{StickTo, TableKey};
use crate::{Instant, VserverId};

/// The number of a lane, from 1 on. Used again once the lane is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LaneId(NonZeroU32);

/// The entries of one table that stick to the same.
#[derive(Debug)]
pub(super) struct Lane {
    /// None once it is forgotten: what is left in it is nobody's.
    pub(super) table: Option<TableKey>,
    pub(super) to: StickTo,
    /// The binding through which the lane was begun, if it is that of a service.
    pub(super) binding: u64,
    /// When it wants to be looked at: not later than its oldest entry goes. None if it was empty
    /// when it was looked at last.
    pub(super) noted: Option<Instant>,
    oldest: Option<EntryId>,
    newest: Option<EntryId>,
    len: u32,
}

impl LaneId {
    /// Returns the id with an index, from 0 on.
    pub(super) fn from_index(index: usize) -> Self {
        let number = u32::try_from(index + 1).ok().and_then(NonZeroU32::new);
        Self(number.expect("there is a lane per binding at most, far fewer than 2^32"))
    }

    /// Returns the index, from 0 on.
    pub(super) fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

impl Lane {
    /// Makes an empty lane.
    pub(super) fn new(table: TableKey, to: StickTo, binding: u64) -> Self {
        Self {
            table: Some(table),
            to,
            binding,
            noted: None,
            oldest: None,
            newest: None,
            len: 0,
        }
    }

    /// Returns the number of entries.
    pub(super) fn len(&self) -> u32 {
        self.len
    }

    /// Returns the entry whose last use is longest ago.
    pub(super) fn oldest(&self) -> Option<EntryId> {
        self.oldest
    }

    /// Puts an entry that is in no lane at the new end, as used at `now` by `vserver`.
    pub(super) fn push(
        &mut self,
        own: LaneId,
        store: &mut Store,
        id: EntryId,
        vserver: VserverId,
        now: Instant,
    ) {
        let entry = store.at_mut(id);
        entry.lane = Some(own);
        entry.used = now;
        entry.vserver = vserver;
        entry.older = self.newest;
        entry.newer = None;
        match self.newest {
            Some(newest) => store.at_mut(newest).newer = Some(id),
            None => self.oldest = Some(id),
        }
        self.newest = Some(id);
        self.len += 1;
    }

    /// Takes an entry out.
    pub(super) fn unlink(&mut self, store: &mut Store, id: EntryId) {
        let entry = store.at_mut(id);
        entry.lane = None;
        let (older, newer) = (entry.older, entry.newer);
        match older {
            Some(older) => store.at_mut(older).newer = newer,
            None => self.oldest = newer,
        }
        match newer {
            Some(newer) => store.at_mut(newer).older = older,
            None => self.newest = older,
        }
        self.len -= 1;
    }
}
