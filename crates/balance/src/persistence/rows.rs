//! What is shown of the entries, a page at a time, and what an operator may clear.

use std::time::Duration;

use super::key::Key;
use super::store::{Entry, EntryId};
use super::{PersistenceKey, PersistenceKind, Scope, StickTo, Tables};
use crate::{Instant, ServiceId, VserverId};

/// Which entries to show; a `None` matches all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PersistenceFilter {
    /// Only those of the table that this virtual server uses, which may be that of its group.
    pub vserver: Option<VserverId>,
    /// Only those that stick to this service.
    pub service: Option<ServiceId>,
    /// Only that of this client, given with the addresses that its table looks at, masked or not.
    pub key: Option<PersistenceKey>,
}

/// One entry at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PersistenceRow {
    /// The virtual server that used it last, one of those that share the table.
    pub vserver: VserverId,
    /// What the key is made of.
    pub kind: PersistenceKind,
    /// The client.
    pub key: PersistenceKey,
    /// The service it sticks to.
    pub service: ServiceId,
    /// How long it lives from now on if it is not used.
    pub remaining: Duration,
}

/// Where to go on with a listing. The default is the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PersistenceCursor(u32);

/// A part of a listing. It may be without rows and still not be the last one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PersistencePage {
    /// The entries, in the order of their places, which never change while they live.
    pub rows: Vec<PersistenceRow>,
    /// Where to go on; none after the last part.
    pub next: Option<PersistenceCursor>,
}

impl Tables {
    /// Returns the part of a listing that begins at `from`; `scope` is what the filter's virtual server
    /// means.
    pub(crate) fn page(
        &self,
        filter: &PersistenceFilter,
        scope: Scope,
        from: PersistenceCursor,
        now: Instant,
    ) -> PersistencePage {
        let is_wanted = |row: &PersistenceRow| filter.service.is_none_or(|id| id == row.service);
        if let Some(key) = &filter.key {
            let found = self.with_key(key, scope);
            let rows = found.filter_map(|id| self.row(self.store.at(id), now));
            return PersistencePage {
                rows: rows.filter(is_wanted).collect(),
                next: None,
            };
        }
        let mut places = self.store.places(from.0);
        let looked_at = places.by_ref().take(PAGE);
        let rows = looked_at.filter(|entry| {
            let table = entry.lane.and_then(|id| self.lane(id).table);
            table.is_some_and(|table| scope.includes(table))
        });
        let rows = rows.filter_map(|entry| self.row(entry, now));
        let rows = rows.filter(is_wanted).collect();
        let page = u32::try_from(PAGE).expect("a page is short");
        let next = places.next().map(|_| PersistenceCursor(from.0 + page));
        PersistencePage { rows, next }
    }

    /// Forgets the entries of a table, or of all; returns how many there were.
    pub(crate) fn clear(&mut self, scope: Scope) -> u64 {
        let keys = self.tables.keys().copied();
        let keys: Vec<_> = keys.filter(|key| scope.includes(*key)).collect();
        keys.into_iter().map(|key| self.forget_all(key)).sum()
    }

    /// Forgets one client in a table, or in all; returns how many entries there were.
    pub(crate) fn clear_key(&mut self, scope: Scope, key: &PersistenceKey, now: Instant) -> u64 {
        let found: Vec<_> = self.with_key(key, scope).collect();
        let mut cleared = 0;
        for id in found {
            cleared += u64::from(self.row(self.store.at(id), now).is_some());
            self.remove(id);
        }
        cleared
    }

    /// Finds the entries of a client, one per table at most.
    fn with_key(&self, key: &PersistenceKey, scope: Scope) -> impl Iterator<Item = EntryId> {
        let tables = self.tables.iter();
        let tables = tables.filter(move |(own, _)| scope.includes(**own));
        tables.filter_map(move |(own, table)| {
            let key = Key::of_shown(key, &table.settings)?;
            self.lookup(*own, table, &key)
        })
    }

    /// Shows an entry; none if the place is free, the entry gone, or no service what it names.
    fn row(&self, entry: &Entry, now: Instant) -> Option<PersistenceRow> {
        let lane = self.lane(entry.lane?);
        let table = &self.tables[&lane.table?];
        let StickTo::Service(service) = lane.to else {
            return None;
        };
        let (settings, end) = (&table.settings, table.end(entry.used));
        (end > now).then(|| PersistenceRow {
            vserver: entry.vserver,
            kind: settings.kind,
            key: entry.key.shown(settings.kind),
            service,
            remaining: end.duration_since(now),
        })
    }
}

/// Places looked at per part of a listing, so that no flow waits longer than some 0.1 ms for one.
const PAGE: usize = 1024;
