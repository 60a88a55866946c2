//! A bench with several virtual servers and services, all by number, that remembers settings and
//! the flows that are open.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};

use sluice_balance::{
    Backup, Change, CloseReason, Engine, FlowKey, Instant, Method, Output, Refusal, Reservation,
    Selection, ServiceId, ServiceSettings, ServiceStatus, State, VserverId, VserverSettings,
    VserverStatus,
};

use crate::rig;

pub(super) struct Bench {
    pub(super) engine: Engine,
    pub(super) now: Instant,
    vservers: BTreeMap<u32, VserverSettings>,
    services: BTreeMap<u32, ServiceSettings>,
    held: Vec<Reservation>,
}

/// Who serves a flow: virtual server and service.
pub(super) type Place = (u32, u32);

impl Bench {
    /// Makes a ROUNDROBIN virtual server per list, with services of these numbers and weight 1. Each
    /// has the next one as its backup; outputs are drained.
    pub(super) fn chain(members: &[&[u32]]) -> Self {
        let mut engine = Engine::new();
        engine.check_index();
        let mut bench = Self {
            engine,
            now: Instant::default(),
            vservers: BTreeMap::new(),
            services: BTreeMap::new(),
            held: Vec::new(),
        };
        let last = u32::try_from(members.len()).unwrap();
        for (number, members) in (1..).zip(members) {
            let mut settings = rig::vserver(Method::RoundRobin);
            settings.backup.vserver = (number < last).then(|| VserverId(number + 1));
            bench.apply(Change::AddVserver(VserverId(number), settings.clone()));
            bench.vservers.insert(number, settings);
            for &service in *members {
                bench.bind(number, service, 1);
            }
        }
        bench.outputs();
        bench
    }

    pub(super) fn apply(&mut self, change: Change) {
        self.engine.apply(&change, self.now);
    }

    /// Binds a service, which it adds if need be.
    pub(super) fn bind(&mut self, vserver: u32, service: u32, weight: u64) {
        let bind = rig::bind(VserverId(vserver), service, weight);
        self.add_service(service);
        self.apply(Change::Bind(bind));
    }

    fn add_service(&mut self, number: u32) {
        if !self.services.contains_key(&number) {
            let mut settings = rig::service();
            let port = u16::try_from(8000 + number).unwrap();
            settings.address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
            self.apply(Change::AddService(ServiceId(number), settings.clone()));
            self.services.insert(number, settings);
        }
    }

    pub(super) fn set(&mut self, vserver: u32, change: impl FnOnce(&mut VserverSettings)) {
        let settings = self.vservers.get_mut(&vserver).unwrap();
        change(settings);
        let change = Change::SetVserver(VserverId(vserver), settings.clone());
        self.apply(change);
    }

    pub(super) fn set_backup(&mut self, vserver: u32, change: impl FnOnce(&mut Backup)) {
        self.set(vserver, |settings| change(&mut settings.backup));
    }

    pub(super) fn set_service(&mut self, service: u32, change: impl FnOnce(&mut ServiceSettings)) {
        let settings = self.services.get_mut(&service).unwrap();
        change(settings);
        let change = Change::SetService(ServiceId(service), settings.clone());
        self.apply(change);
    }

    pub(super) fn max_client(&mut self, service: u32, limit: u32) {
        self.set_service(service, |settings| settings.max_client = Some(limit));
    }

    /// Enables or disables services.
    pub(super) fn enable(&mut self, services: &[u32], enabled: bool) {
        for &service in services {
            self.set_service(service, |settings| settings.enabled = enabled);
        }
    }

    pub(super) fn select(
        &mut self,
        vserver: u32,
        tried: &[u32],
        host: u8,
    ) -> Result<Selection, Refusal> {
        let flow = FlowKey {
            src: SocketAddr::from(([10, 0, 0, host], 40_000)),
            ..rig::flow()
        };
        let tried: Vec<_> = tried.iter().copied().map(ServiceId).collect();
        let vserver = VserverId(vserver);
        self.engine.select(vserver, &flow, &tried, self.now)
    }

    /// Opens a flow of a client to virtual server 1 and keeps it.
    pub(super) fn open(&mut self, host: u8) -> Result<Place, Refusal> {
        let selection = self.select(1, &[], host)?;
        Ok(self.keep(selection.reservation))
    }

    /// Opens a flow to virtual server 1 and keeps it.
    pub(super) fn pick(&mut self) -> Result<Place, Refusal> {
        self.open(1)
    }

    /// Opens so many flows to virtual server 1, which all are given a place, and keeps them.
    pub(super) fn picks(&mut self, count: usize) -> Vec<Place> {
        (0..count).map(|_| self.pick().unwrap()).collect()
    }

    pub(super) fn keep(&mut self, reservation: Reservation) -> Place {
        let place = (reservation.vserver().0, reservation.service().0);
        self.held.push(reservation);
        place
    }

    /// Ends the oldest open flow of a place.
    pub(super) fn close(&mut self, place: Place) {
        let is_wanted = |held: &Reservation| (held.vserver().0, held.service().0) == place;
        let index = self.held.iter().position(is_wanted).unwrap();
        let reservation = self.held.remove(index);
        self.engine
            .handle_close(reservation, CloseReason::Finished, self.now);
    }

    pub(super) fn jump_to(&mut self, ms: u64) {
        self.now = rig::at(ms);
    }

    /// Moves the clock and keeps every deadline of the engine on the way.
    pub(super) fn run_to(&mut self, ms: u64) {
        let end = rig::at(ms);
        while let Some(due) = self.engine.poll_timeout().filter(|due| *due <= end) {
            self.engine.handle_timeout(due);
        }
        self.now = end;
    }

    pub(super) fn vserver(&mut self, number: u32) -> VserverStatus {
        let status = self.engine.vserver_status(VserverId(number), self.now);
        status.unwrap()
    }

    pub(super) fn service(&mut self, number: u32) -> ServiceStatus {
        let status = self.engine.service_status(ServiceId(number), self.now);
        status.unwrap()
    }

    /// Returns own and effective state.
    pub(super) fn states(&mut self, number: u32) -> (State, State) {
        let shown = self.vserver(number);
        (shown.state, shown.effective)
    }

    pub(super) fn outputs(&mut self) -> Vec<Output> {
        std::iter::from_fn(|| self.engine.poll_output()).collect()
    }
}
