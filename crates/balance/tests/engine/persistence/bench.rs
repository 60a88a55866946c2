//! One engine whose clients stick to services: clients come by address, rows are told in short.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use sluice_balance::{
    AddressMask, Change, ChosenBy, CloseReason, FlowKey, Method, Output, Persistence,
    PersistenceCursor, PersistenceFilter, PersistenceKind, PersistenceRow, PersistenceTimeout,
    Refusal, Reservation, ServiceId, SkipPersistence, VserverId, VserverSettings,
};

use crate::rig::{Rig, V, service, vserver};

/// By the client's address, for two minutes.
pub(super) fn by_source() -> Persistence {
    Persistence {
        kind: PersistenceKind::SourceIp,
        mask: AddressMask::ALL,
        timeout: PersistenceTimeout::DEFAULT,
        skip: SkipPersistence::None,
        trofs: true,
        group: None,
    }
}

pub(super) fn minutes(count: u64) -> PersistenceTimeout {
    PersistenceTimeout::new(count).unwrap()
}

/// A ROUNDROBIN virtual server with this persistence.
pub(super) fn sticky(persistence: Persistence) -> VserverSettings {
    VserverSettings {
        persistence: Some(persistence),
        ..vserver(Method::RoundRobin)
    }
}

pub(super) fn flow(src: &str, dst: &str) -> FlowKey {
    let address = |ip: &str| SocketAddr::new(ip.parse::<IpAddr>().unwrap(), 4000);
    FlowKey {
        src: address(src),
        dst: address(dst),
        token: None,
    }
}

pub(super) const DST: &str = "10.9.9.9";

/// A rig whose virtual server `V` has persistence.
pub(super) struct Bench {
    pub(super) rig: Rig,
}

impl Bench {
    /// Makes `V` with services 1 to `count`.
    pub(super) fn new(count: usize, persistence: Persistence) -> Self {
        let mut rig = Rig::new(Method::RoundRobin, &vec![1; count]);
        rig.apply(Change::SetVserver(V, sticky(persistence)));
        Self { rig }
    }

    pub(super) fn set(&mut self, persistence: Persistence) {
        self.rig.apply(Change::SetVserver(V, sticky(persistence)));
    }

    /// Moves the clock to a second, with every deadline on the way.
    pub(super) fn run_to_s(&mut self, seconds: u64) {
        self.rig.run_to(seconds * 1000);
    }

    pub(super) fn open(
        &mut self,
        vserver: VserverId,
        flow: &FlowKey,
        tried: &[u32],
    ) -> Result<(Reservation, ChosenBy), Refusal> {
        let tried: Vec<_> = tried.iter().copied().map(ServiceId).collect();
        let now = self.rig.now;
        let selection = self.rig.engine.select(vserver, flow, &tried, now)?;
        Ok((selection.reservation, selection.rule))
    }

    pub(super) fn close(&mut self, reservation: Reservation) {
        let now = self.rig.now;
        self.rig
            .engine
            .handle_close(reservation, CloseReason::Finished, now);
    }

    /// A client comes to `V` and is gone at once; returns its service.
    pub(super) fn come(&mut self, src: &str) -> u32 {
        self.come_to(V, src).0
    }

    /// A client comes and is gone at once; returns its service and what decided.
    pub(super) fn come_to(&mut self, vserver: VserverId, src: &str) -> (u32, ChosenBy) {
        let (reservation, rule) = self.open(vserver, &flow(src, DST), &[]).unwrap();
        let number = reservation.service().0;
        self.close(reservation);
        (number, rule)
    }

    /// Lists everything that the filter lets through, part by part.
    pub(super) fn rows_of(&mut self, filter: &PersistenceFilter) -> Vec<PersistenceRow> {
        let mut rows = Vec::new();
        let mut from = Some(PersistenceCursor::default());
        while let Some(cursor) = from {
            let now = self.rig.now;
            let page = self.rig.engine.persistence_rows(filter, cursor, now);
            rows.extend(page.rows);
            from = page.next;
        }
        rows
    }

    pub(super) fn rows(&mut self) -> Vec<PersistenceRow> {
        self.rows_of(&PersistenceFilter::default())
    }

    /// Lists client, service and remaining milliseconds of SOURCEIP entries.
    pub(super) fn told(&mut self) -> Vec<(String, u32, u128)> {
        let tell = |row: &PersistenceRow| {
            let src = row.key.src.unwrap().to_string();
            (src, row.service.0, row.remaining.as_millis())
        };
        self.rows().iter().map(tell).collect()
    }

    /// Returns how long the only entry lives.
    pub(super) fn remaining(&mut self) -> Option<Duration> {
        let rows = self.rows();
        assert!(rows.len() < 2, "{rows:?}");
        rows.first().map(|row| row.remaining)
    }

    /// Returns entries and overflows of `V`.
    pub(super) fn counts(&mut self) -> (u64, u64) {
        let shown = self.rig.vserver().persistence.unwrap();
        (shown.entries, shown.overflows)
    }

    /// Adds a service at an address, not bound to anything.
    pub(super) fn add_service_at(&mut self, number: u32, address: &str) {
        let settings = sluice_balance::ServiceSettings {
            address: address.parse().unwrap(),
            ..service()
        };
        self.rig
            .apply(Change::AddService(ServiceId(number), settings));
    }

    /// Drains the outputs and returns those about the limit.
    pub(super) fn reports(&mut self) -> Vec<Output> {
        let mut outputs = self.rig.outputs();
        outputs.retain(|output| matches!(output, Output::PersistenceFull { .. }));
        outputs
    }
}
