//! Persistence: which service a client sticks to.
//!
//! Owns all entries of all virtual servers, their bound, and when they go. The method is asked only
//! for a client without an entry that can be honoured; what that means for a flow is with the
//! virtual server (`vserver::sticky`).
//!
//! # The rules
//!
//! - An entry lives for the time-out after its last use. A use is a new flow that was given a
//!   service: a connection, or a UDP session. Open flows keep no entry alive.
//! - An entry goes with its service's last binding among the virtual servers that use the table, or
//!   with the table. A service that is DOWN or disabled keeps its entries: a client that comes back
//!   after it still finds it, one that comes in between is given another and sticks to that.
//! - A connect failure is taken like DOWN: the client sticks to the service that the flow is given
//!   next.
//! - Virtual servers of a group share one table. An entry names one service; another virtual server
//!   honours it with its own service on the same server (the same IP address; if several, those that
//!   can take the flow first, the service itself first, then one with the same port, then bind order).
//!   If it has none, the method chooses and the entry moves, so that the members come together on a
//!   server that both have.
//! - There are never more entries than the limit, in all tables together. At the limit those that
//!   exist go on working; who has none is balanced without one and counted, and the operator is told
//!   once, and again only after the number has fallen an eighth below. Nothing is evicted, since that
//!   would let a stream of new addresses throw out everyone who is sticky.
//!
//! # Time
//!
//! Whoever looks at an entry compares it with the time itself, so that one which has ended is gone to
//! the nanosecond. Its place is freed within about a second by [`Tables::sweep`], at most
//! 1,024 entries a call; [`Tables::due`] is now while more are waiting. What is forgotten as a
//! whole (a removed virtual server, an unbound service, `clear`) takes one step for the caller, and
//! its places are freed the same way.
//!
//! Invariants: each entry is in one lane; the lanes of a table are all that name it; a lane that is
//! not empty is in `deadlines`, not later than its oldest entry ends, or among the forgotten.

mod expiry;
mod key;
mod lane;
mod rows;
mod settings;
mod store;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

pub use self::key::PersistenceKey;
pub use self::rows::{PersistenceCursor, PersistenceFilter, PersistencePage, PersistenceRow};
pub use self::settings::{
    AddressMask, GroupId, MaskError, Persistence, PersistenceKind, PersistenceTimeout,
    SkipPersistence, TimeoutError,
};

use self::key::Key;
use self::lane::{Lane, LaneId};
use self::store::{Entry, EntryId, Store};
use crate::{FlowKey, Instant, ServiceId, VserverId};

/// Names a table: that of a virtual server, or that of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TableKey {
    Vserver(VserverId),
    Group(GroupId),
    /// That of the clients that keep to whom they were first served by, after a spillover of this
    /// virtual server.
    Spillover(VserverId),
}

/// What a client sticks to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StickTo {
    Service(ServiceId),
    /// One of a chain of backups, whichever service it then chooses.
    Vserver(VserverId),
}

/// Which tables an operator means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    All,
    Table(TableKey),
}

/// The entry of a client, if it was looked for and is there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    /// What it sticks to.
    pub(crate) to: StickTo,
    /// A binding of that service, if it is one, perhaps of another virtual server of the group.
    pub(crate) binding: u64,
    entry: EntryId,
}

/// The state of persistence as a whole at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PersistenceTotals {
    /// Entries of all virtual servers and groups, those of spillovers included.
    pub entries: u64,
    /// The most entries there may be.
    pub limit: u64,
    /// Flows ever balanced without an entry because of the limit.
    pub overflows: u64,
}

/// The persistence of one virtual server at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PersistenceStatus {
    /// Entries of its table, which it may share with others of its group.
    pub entries: u64,
    /// The most entries that all tables together may have.
    pub limit: u64,
    /// Flows ever balanced without an entry in this table because of the limit.
    pub overflows: u64,
}

/// The entries of all virtual servers.
#[derive(Debug)]
pub(crate) struct Tables {
    store: Store,
    lanes: Vec<Lane>,
    free_lanes: Vec<LaneId>,
    tables: BTreeMap<TableKey, Table>,
    /// Tables ever made.
    made: u64,
    /// When to look at which lane.
    deadlines: BTreeSet<(Instant, LaneId)>,
    /// Lanes of no table, whose entries are still to be freed.
    forgotten: VecDeque<LaneId>,
    /// Entries in forgotten lanes.
    waste: u64,
    /// When nothing was left to free.
    swept: Instant,
    limit: u32,
    overflows: u64,
    /// Whether the operator knows that the limit is reached.
    is_reported: bool,
    seed: u64,
}

/// One table.
#[derive(Debug)]
struct Table {
    settings: Persistence,
    members: BTreeSet<VserverId>,
    lanes: BTreeMap<StickTo, LaneId>,
    /// Entries used up to then ended under an earlier time-out; a longer one brings none back.
    ended: Option<Instant>,
    /// Tells its keys from those of other tables.
    salt: u64,
    overflows: u64,
}

impl TableKey {
    /// Returns which table a virtual server uses.
    pub(crate) fn of(vserver: VserverId, settings: &Persistence) -> Self {
        settings.group.map_or(Self::Vserver(vserver), Self::Group)
    }
}

impl Scope {
    fn includes(self, table: TableKey) -> bool {
        match self {
            Self::All => true,
            Self::Table(own) => own == table,
        }
    }
}

impl Tables {
    /// Makes tables without entries; `seed` keys the hash.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            store: Store::new(),
            lanes: Vec::new(),
            free_lanes: Vec::new(),
            tables: BTreeMap::new(),
            made: 0,
            deadlines: BTreeSet::new(),
            forgotten: VecDeque::new(),
            waste: 0,
            swept: Instant::default(),
            limit: DEFAULT_PERSISTENCE_LIMIT,
            overflows: 0,
            is_reported: false,
            seed,
        }
    }

    /// Takes the settings of a virtual server for a table into effect, new ones or other ones.
    pub(crate) fn join(
        &mut self,
        key: TableKey,
        vserver: VserverId,
        settings: &Persistence,
        now: Instant,
    ) {
        if !self.tables.contains_key(&key) {
            self.made += 1;
            let table = Table::new(*settings, self.made);
            self.tables.insert(key, table);
        }
        let table = self.tables.get_mut(&key).expect(MEMBER);
        table.members.insert(vserver);
        let former = std::mem::replace(&mut table.settings, *settings);
        if (former.kind, former.mask) != (settings.kind, settings.mask) {
            self.forget_all(key);
        } else if former.timeout != settings.timeout {
            table.end_before(now, former.timeout.duration());
            let lanes: Vec<_> = table.lanes.values().copied().collect();
            for lane in lanes {
                self.note(lane);
            }
        }
    }

    /// Takes a virtual server away from its table, which goes with the last one.
    ///
    /// What only it bound is then still to be told with [`Self::unbind`].
    pub(crate) fn leave(&mut self, vserver: VserverId, key: TableKey) {
        let table = self.tables.get_mut(&key).expect(MEMBER);
        table.members.remove(&vserver);
        if table.members.is_empty() {
            self.forget_all(key);
            self.tables.remove(&key);
        }
    }

    /// Forgets who sticks to a service, unless a virtual server that uses the table still binds it.
    pub(crate) fn unbind(&mut self, key: TableKey, service: ServiceId, bound_by: &[VserverId]) {
        let Some(table) = self.tables.get_mut(&key) else {
            return;
        };
        if !bound_by.iter().any(|other| table.members.contains(other))
            && let Some(lane) = table.lanes.remove(&StickTo::Service(service))
        {
            self.forget(lane);
        }
    }

    /// Returns the entry of a client, whether it has ended or not.
    fn lookup(&self, own: TableKey, table: &Table, key: &Key) -> Option<EntryId> {
        let is_own = |entry: &Entry| {
            let lane = entry.lane.map(|id| self.lane(id));
            lane.is_some_and(|lane| lane.table == Some(own))
        };
        let hash = key.hash(self.seed, table.salt);
        self.store.find(hash, key, is_own)
    }

    /// Returns what the client of a flow sticks to.
    pub(crate) fn find(&self, key: TableKey, flow: &FlowKey, now: Instant) -> Option<Held> {
        let table = &self.tables[&key];
        let id = self.lookup(key, table, &Key::of_flow(flow, &table.settings))?;
        let entry = self.store.at(id);
        let lane = self.lane(entry.lane?);
        (table.end(entry.used) > now).then_some(Held {
            to: lane.to,
            binding: lane.binding,
            entry: id,
        })
    }

    /// Notes a use of an entry that stays with its service.
    pub(crate) fn renew(&mut self, held: Held, vserver: VserverId, now: Instant) {
        let lane = self.store.at(held.entry).lane.expect(IN_LANE);
        self.link(held.entry, lane, vserver, now);
    }

    /// Makes the client of a flow stick to a service or a virtual server, whether it has an entry or not.
    ///
    /// Returns whether the operator has to be told that the limit is reached.
    pub(crate) fn stick(
        &mut self,
        key: TableKey,
        flow: &FlowKey,
        (to, binding): (StickTo, u64),
        vserver: VserverId,
        now: Instant,
    ) -> bool {
        let table = &self.tables[&key];
        let client = Key::of_flow(flow, &table.settings);
        let salt = table.salt;
        let mut former = self.lookup(key, table, &client);
        if let Some(id) = former
            && table.end(self.store.at(id).used) <= now
        {
            self.remove(id);
            former = None;
        }
        let id = match former {
            Some(id) => id,
            None if !self.has_room(now) => {
                self.tables.get_mut(&key).expect(MEMBER).overflows += 1;
                self.overflows += 1;
                return !std::mem::replace(&mut self.is_reported, true);
            }
            None => {
                let entry = Entry::new(client, vserver, now);
                self.store.add(client.hash(self.seed, salt), entry)
            }
        };
        let lane = self.lane_of(key, to, binding);
        self.link(id, lane, vserver, now);
        false
    }

    /// Takes another limit.
    ///
    /// If there are more entries now, they stay and no new ones are made.
    pub(crate) fn set_limit(&mut self, limit: u32) {
        self.limit = limit;
        self.is_reported = false;
    }

    /// Shows the table of a virtual server.
    pub(crate) fn status(&self, key: TableKey) -> PersistenceStatus {
        let table = &self.tables[&key];
        let lanes = table.lanes.values();
        PersistenceStatus {
            entries: lanes.map(|id| u64::from(self.lane(*id).len())).sum(),
            limit: u64::from(self.limit),
            overflows: table.overflows,
        }
    }

    /// Shows all tables together.
    pub(crate) fn totals(&self) -> PersistenceTotals {
        PersistenceTotals {
            entries: u64::from(self.store.len()) - self.waste,
            limit: u64::from(self.limit),
            overflows: self.overflows,
        }
    }

    /// Forgets the entries of a table; returns how many there were.
    fn forget_all(&mut self, key: TableKey) -> u64 {
        let Some(table) = self.tables.get_mut(&key) else {
            return 0;
        };
        let lanes = std::mem::take(&mut table.lanes);
        lanes.into_values().map(|lane| self.forget(lane)).sum()
    }

    fn remove(&mut self, id: EntryId) {
        let lane = self.store.at(id).lane.expect(IN_LANE);
        self.lanes[lane.index()].unlink(&mut self.store, id);
        self.store.remove(id);
    }

    /// Puts an entry, from wherever it is, at the new end of a lane.
    fn link(&mut self, id: EntryId, lane: LaneId, vserver: VserverId, now: Instant) {
        if let Some(former) = self.store.at(id).lane {
            self.lanes[former.index()].unlink(&mut self.store, id);
        }
        self.lanes[lane.index()].push(lane, &mut self.store, id, vserver, now);
        if self.lane(lane).noted.is_none() {
            self.note(lane);
        }
    }

    /// Returns the lane of what clients stick to, which it makes if need be.
    fn lane_of(&mut self, key: TableKey, to: StickTo, binding: u64) -> LaneId {
        let table = self.tables.get_mut(&key).expect(MEMBER);
        *table.lanes.entry(to).or_insert_with(|| {
            let lane = Lane::new(key, to, binding);
            match self.free_lanes.pop() {
                Some(id) => {
                    self.lanes[id.index()] = lane;
                    id
                }
                None => {
                    self.lanes.push(lane);
                    LaneId::from_index(self.lanes.len() - 1)
                }
            }
        })
    }

    fn lane(&self, id: LaneId) -> &Lane {
        &self.lanes[id.index()]
    }
}

impl Table {
    fn new(settings: Persistence, salt: u64) -> Self {
        Self {
            settings,
            members: BTreeSet::new(),
            lanes: BTreeMap::new(),
            ended: None,
            salt,
            overflows: 0,
        }
    }

    /// Returns when an entry ends that was used last at `used`.
    fn end(&self, used: Instant) -> Instant {
        if self.ended.is_some_and(|ended| used <= ended) {
            return Instant::default();
        }
        used + self.settings.timeout.duration()
    }

    /// Notes which entries have ended at `now` under a time-out that is about to change.
    fn end_before(&mut self, now: Instant, timeout: Duration) {
        if Instant::default() + timeout <= now {
            self.ended = self.ended.max(Some(now - timeout));
        }
    }
}

/// The most entries, unless the operator says otherwise: what appliances in the field have, and
/// 10 MiB.
pub const DEFAULT_PERSISTENCE_LIMIT: u32 = 150_000;

const MEMBER: &str = "the table of a virtual server exists as long as it is a member";

const IN_LANE: &str = "an entry is in a lane until it is removed";
