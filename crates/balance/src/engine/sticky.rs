//! Persistence as the engine sees it: entries that follow choices and configuration, what is shown
//! and cleared.

use super::Engine;
use crate::persistence::{Held, Scope, StickTo, TableKey, Tables};
use crate::services::Services;
use crate::vserver::{Binding, Vserver};
use crate::{
    FlowKey, Instant, Output, PersistenceCursor, PersistenceFilter, PersistenceKey,
    PersistencePage, PersistenceTotals, Reservation, VserverId,
};

impl Engine {
    /// Shows the persistence entries, a part at a time, so that no flow waits for a long listing.
    ///
    /// An entry that lives from the first part to the last is shown exactly once, whatever comes and
    /// goes in between. The order is that of places in memory: the same for the same inputs, but of no
    /// other meaning.
    pub fn persistence_rows(
        &mut self,
        filter: &PersistenceFilter,
        from: PersistenceCursor,
        now: Instant,
    ) -> PersistencePage {
        let now = self.advance(now);
        match self.scope(filter.vserver) {
            Some(scope) => self.persistence.page(filter, scope, from, now),
            None => PersistencePage::default(),
        }
    }

    /// Forgets persistence entries; returns how many there were.
    ///
    /// Those of the table that a virtual server uses, which its group shares, or of all tables; all of
    /// them, or those of one client, given with the addresses that the table looks at. Open flows
    /// go on.
    pub fn clear_persistence(
        &mut self,
        vserver: Option<VserverId>,
        key: Option<&PersistenceKey>,
        now: Instant,
    ) -> u64 {
        let now = self.advance(now);
        self.persistence.sweep(now);
        match (self.scope(vserver), key) {
            (None, _) => 0,
            (Some(scope), None) => self.persistence.clear(scope),
            (Some(scope), Some(key)) => self.persistence.clear_key(scope, key, now),
        }
    }

    /// Shows how many persistence entries there are and may be.
    pub fn persistence_totals(&mut self, now: Instant) -> PersistenceTotals {
        let now = self.advance(now);
        self.persistence.sweep(now);
        self.persistence.totals()
    }

    /// Notes in the table that the place of `reservation` was given: to the entry of the client that
    /// is `kept`, or else to one that goes to the service.
    pub(super) fn note_entry(
        &mut self,
        table: TableKey,
        flow: &FlowKey,
        kept: Option<Held>,
        reservation: &Reservation,
        now: Instant,
    ) {
        let vserver = reservation.vserver;
        if let Some(held) = kept {
            return self.persistence.renew(held, vserver, now);
        }
        let service = StickTo::Service(reservation.service);
        self.stick(table, flow, (service, reservation.binding), vserver, now);
    }

    /// Makes the client of a flow of `vserver` stick to something.
    pub(super) fn stick(
        &mut self,
        table: TableKey,
        flow: &FlowKey,
        to: (StickTo, u64),
        vserver: VserverId,
        now: Instant,
    ) {
        if self.persistence.stick(table, flow, to, vserver, now) {
            let limit = self.persistence.totals().limit;
            let full = Output::PersistenceFull { limit, at: now };
            self.outputs.push_back(full);
        }
    }

    /// Takes the persistence of a virtual server into effect that used the table `former` before.
    pub(super) fn set_persistence(
        &mut self,
        id: VserverId,
        former: Option<TableKey>,
        now: Instant,
    ) {
        self.join_persistence(id, now);
        let vserver = &self.vservers[&id];
        if let Some(former) = former
            && vserver.table(id) != Some(former)
        {
            let tables = &mut self.persistence;
            leave_table(tables, id, former, &vserver.bindings, &self.services);
        }
    }

    /// Takes the persistence of a virtual server into effect.
    pub(super) fn join_persistence(&mut self, id: VserverId, now: Instant) {
        let settings = &self.vservers[&id].settings;
        if let Some(own) = &settings.persistence {
            self.persistence.join(TableKey::of(id, own), id, own, now);
        }
    }

    /// Takes a virtual server that is gone away from its table.
    pub(super) fn drop_persistence(&mut self, id: VserverId, vserver: &Vserver) {
        if let Some(table) = vserver.table(id) {
            let tables = &mut self.persistence;
            leave_table(tables, id, table, &vserver.bindings, &self.services);
        }
    }

    /// Returns which tables an operator means; none if the virtual server has none.
    fn scope(&self, vserver: Option<VserverId>) -> Option<Scope> {
        let Some(id) = vserver else {
            return Some(Scope::All);
        };
        self.vservers.get(&id)?.table(id).map(Scope::Table)
    }
}

/// Takes a virtual server away from a table, with the entries of what nobody else there binds.
fn leave_table(
    tables: &mut Tables,
    id: VserverId,
    table: TableKey,
    bindings: &[Binding],
    services: &Services,
) {
    tables.leave(id, table);
    for binding in bindings {
        let bound_by = &services.at(binding.slot).bound_by;
        tables.unbind(table, binding.service, bound_by);
    }
}
