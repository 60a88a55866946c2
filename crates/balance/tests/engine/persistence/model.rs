//! A naive reference of persistence: one list of entries, looked through from one end to the other.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use sluice_balance::{
    FlowKey, GroupId, Instant, Leave, Persistence, PersistenceKey, PersistenceKind, Refusal,
    ServiceId, SkipPersistence, VserverId,
};

/// What the reference knows of a service.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) address: SocketAddr,
    pub(super) enabled: bool,
    /// Whether it goes out of service: gracefully or not, and until when at most.
    pub(super) leaving: Option<(bool, Option<Instant>)>,
    pub(super) limit: Option<u32>,
    pub(super) active: u32,
}

/// What the reference knows of a virtual server.
#[derive(Clone, Debug)]
pub(super) struct Front {
    pub(super) persistence: Option<Persistence>,
    pub(super) bound: Vec<ServiceId>,
}

/// Where an entry belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Home {
    Own(VserverId),
    Shared(GroupId),
}

/// One entry: where, who, to which service, used when and through whom.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) home: Home,
    pub(super) key: PersistenceKey,
    pub(super) service: ServiceId,
    pub(super) used: Instant,
    pub(super) vserver: VserverId,
}

/// What must become of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    Sticks(ServiceId),
    Method {
        among: Vec<ServiceId>,
        keeps_entry: bool,
    },
    Refused(Refusal),
}

#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    pub(super) services: BTreeMap<ServiceId, Member>,
    pub(super) fronts: BTreeMap<VserverId, Front>,
    pub(super) entries: Vec<Known>,
    /// The settings that each table was given last.
    pub(super) settings: BTreeMap<Home, Persistence>,
    pub(super) limit: usize,
    pub(super) overflows: u64,
}

impl Model {
    pub(super) fn home(&self, id: VserverId) -> Option<Home> {
        let persistence = self.fronts.get(&id)?.persistence?;
        Some(persistence.group.map_or(Home::Own(id), Home::Shared))
    }

    /// Says what must become of a flow.
    pub(super) fn expect(&self, id: VserverId, flow: &FlowKey, tried: &[ServiceId]) -> Expected {
        let front = &self.fronts[&id];
        let skip = front.persistence.map(|p| p.skip);
        let is_any = |is: fn(&Member) -> bool| front.bound.iter().any(|s| is(&self.services[s]));
        if !is_any(|service| service.enabled) {
            let lingers = is_any(|service| service.leaving.is_some());
            return match self.heir(id, flow, tried).filter(|_| lingers) {
                Some((service, true)) => Expected::Sticks(service),
                Some((_, false)) if skip == Some(SkipPersistence::None) => {
                    Expected::Refused(Refusal::Full)
                }
                Some((_, false)) | None => Expected::Refused(Refusal::Down),
            };
        }
        let mut keeps_entry = false;
        match self.heir(id, flow, tried) {
            Some((service, true)) => return Expected::Sticks(service),
            Some((_, false)) if skip == Some(SkipPersistence::None) => {
                return Expected::Refused(Refusal::Full);
            }
            Some((_, false)) => keeps_entry = skip == Some(SkipPersistence::Bypass),
            None => {}
        }
        let mut among = front.bound.clone();
        among.retain(|s| self.services[s].enabled && !tried.contains(s) && self.has_room(*s));
        if among.is_empty() {
            return Expected::Refused(Refusal::Full);
        }
        Expected::Method { among, keeps_entry }
    }

    /// Returns the usable service for who sticks to one, and whether it has room.
    fn heir(
        &self,
        id: VserverId,
        flow: &FlowKey,
        tried: &[ServiceId],
    ) -> Option<(ServiceId, bool)> {
        let entry = &self.entries[self.entry(id, flow)?];
        let bound = self.fronts[&id].bound.iter().copied();
        let trofs = self.fronts[&id].persistence.is_some_and(|own| own.trofs);
        let usable = bound.filter(|s| self.is_usable(*s, trofs) && !tried.contains(s));
        let mut able: Vec<_> = match entry.home {
            Home::Own(_) => usable.filter(|s| *s == entry.service).collect(),
            Home::Shared(_) => {
                let server = self.services[&entry.service].address.ip();
                usable
                    .filter(|s| self.services[s].address.ip() == server)
                    .collect()
            }
        };
        let port = self.services[&entry.service].address.port();
        // Stable sorts, the least important first.
        able.sort_by_key(|s| self.services[s].address.port() != port);
        able.sort_by_key(|s| !self.services[s].enabled);
        able.sort_by_key(|s| *s != entry.service);
        able.sort_by_key(|s| !self.has_room(*s));
        let best = *able.first()?;
        Some((best, self.has_room(best)))
    }

    /// Takes note of a flow that was given to a service.
    pub(super) fn given(
        &mut self,
        id: VserverId,
        flow: &FlowKey,
        service: ServiceId,
        keeps_service: bool,
        now: Instant,
    ) {
        let Some(home) = self.home(id) else {
            return;
        };
        match self.entry(id, flow) {
            Some(index) => {
                let entry = &mut self.entries[index];
                entry.used = now;
                entry.vserver = id;
                if !keeps_service {
                    entry.service = service;
                }
            }
            None if self.entries.len() >= self.limit => self.overflows += 1,
            None => self.entries.push(Known {
                home,
                key: key(flow.src.ip(), flow.dst.ip(), &self.settings[&home]),
                service,
                used: now,
                vserver: id,
            }),
        }
    }

    /// Takes other settings of a virtual server.
    pub(super) fn set(&mut self, id: VserverId, persistence: Option<Persistence>) {
        let former = self.home(id);
        self.fronts.get_mut(&id).unwrap().persistence = persistence;
        let home = self.home(id);
        if let (Some(home), Some(persistence)) = (home, persistence) {
            let before = self.settings.insert(home, persistence);
            let differs =
                |old: Persistence| (old.kind, old.mask) != (persistence.kind, persistence.mask);
            if before.is_some_and(differs) {
                self.entries.retain(|entry| entry.home != home);
            }
        }
        if former != home {
            self.forget_homeless();
        }
    }

    /// Drops entries whose service nobody binds who uses their table.
    pub(super) fn forget_homeless(&mut self) {
        let mut users: Vec<(Home, ServiceId)> = Vec::new();
        for (id, front) in &self.fronts {
            let home = self.home(*id);
            users.extend(
                home.into_iter()
                    .flat_map(|h| front.bound.iter().map(move |s| (h, *s))),
            );
        }
        self.entries
            .retain(|entry| users.contains(&(entry.home, entry.service)));
        let homes: Vec<_> = self.fronts.keys().filter_map(|id| self.home(*id)).collect();
        self.settings.retain(|home, _| homes.contains(home));
    }

    /// Disables a service.
    pub(super) fn disable(&mut self, id: ServiceId, leave: Leave, now: Instant) {
        let service = self.services.get_mut(&id).unwrap();
        let is_out = !service.enabled && service.leaving.is_none();
        let waits = if leave.graceful {
            service.active > 0
        } else {
            leave.delay.is_some()
        };
        service.enabled = false;
        let end = leave.delay.map(|delay| now + delay);
        service.leaving = (waits && !is_out).then_some((leave.graceful, end));
    }

    /// Takes the end of a flow.
    pub(super) fn close(&mut self, id: ServiceId) {
        let service = self.services.get_mut(&id).unwrap();
        service.active -= 1;
        let is_over = |(graceful, _)| graceful && service.active == 0;
        service.leaving = service.leaving.filter(|leaving| !is_over(*leaving));
    }

    /// Drops entries that have ended, and takes out of service whose time has come.
    pub(super) fn pass(&mut self, now: Instant) {
        for service in self.services.values_mut() {
            let is_over = |end: Option<Instant>| end.is_some_and(|end| end <= now);
            service.leaving = service.leaving.filter(|(_, end)| !is_over(*end));
        }
        let settings = &self.settings;
        self.entries
            .retain(|e| e.used + settings[&e.home].timeout.duration() > now);
    }

    fn entry(&self, id: VserverId, flow: &FlowKey) -> Option<usize> {
        let home = self.home(id)?;
        let key = key(flow.src.ip(), flow.dst.ip(), &self.settings[&home]);
        let is_it = |entry: &Known| entry.home == home && entry.key == key;
        self.entries.iter().position(is_it)
    }

    fn is_usable(&self, id: ServiceId, trofs: bool) -> bool {
        let service = &self.services[&id];
        service.enabled || trofs && service.leaving.is_some()
    }

    fn has_room(&self, id: ServiceId) -> bool {
        let service = &self.services[&id];
        service.limit.is_none_or(|limit| service.active < limit)
    }
}

/// Returns the key of a flow.
pub(super) fn key(src: IpAddr, dst: IpAddr, settings: &Persistence) -> PersistenceKey {
    let [src, dst] = [src, dst].map(|address| settings.mask.apply(address));
    let (src, dst) = match settings.kind {
        PersistenceKind::SourceIp => (Some(src), None),
        PersistenceKind::DestIp => (None, Some(dst)),
        PersistenceKind::SrcIpDestIp => (Some(src), Some(dst)),
    };
    PersistenceKey { src, dst }
}
