//! A small test bench: one engine, its clock, one virtual server and its services by number.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use sluice_balance::{
    Backup, Bind, Change, CloseReason, Counters, Engine, Fingers, FlowKey, HashAlgorithm,
    HashSettings, Instant, Leave, Method, Orders, Output, PassiveSettings, Percent, Protocol,
    Refusal, Reservation, Selection, ServiceId, ServiceSettings, ServiceStatus, SlowStart,
    VserverId, VserverSettings, VserverStatus, Weight,
};

/// The virtual server of most tests.
pub(crate) const V: VserverId = VserverId(1);

/// Returns every way to choose by a hash; the tables are of three points for each unit of weight.
pub(crate) fn hash_algorithms() -> [HashAlgorithm; 3] {
    let fingers = Fingers::new(3).unwrap();
    [
        HashAlgorithm::Default,
        HashAlgorithm::Prac(fingers),
        HashAlgorithm::Jarh(fingers),
    ]
}

/// Nobody is watched by connections.
pub(crate) fn unwatched() -> PassiveSettings {
    PassiveSettings {
        enabled: false,
        ..PassiveSettings::default()
    }
}

/// An engine with its clock and the reservations that are out.
pub(crate) struct Rig {
    pub(crate) engine: Engine,
    pub(crate) now: Instant,
    counters: BTreeMap<u32, Arc<Counters>>,
    held: Vec<Reservation>,
}

impl Rig {
    /// Makes an engine with nothing in it, at time zero, that leaves connections out of who is UP.
    pub(crate) fn empty() -> Self {
        let mut engine = Engine::new();
        engine.apply(&Change::SetPassive(unwatched()), Instant::default());
        engine.check_index();
        Self {
            engine,
            now: Instant::default(),
            counters: BTreeMap::new(),
            held: Vec::new(),
        }
    }

    /// Makes `V` with services 1, 2, ... of these weights, all enabled; outputs are drained.
    pub(crate) fn new(method: Method, weights: &[u64]) -> Self {
        let mut rig = Self::empty();
        rig.apply(Change::AddVserver(V, vserver(method)));
        for (number, &weight) in (1..).zip(weights) {
            rig.add_service(number);
            rig.bind(number, weight);
        }
        rig.outputs();
        rig
    }

    pub(crate) fn apply(&mut self, change: Change) {
        self.engine.apply(&change, self.now);
    }

    /// Adds a TCP service and learns its counters through a virtual server of its own.
    pub(crate) fn add_service(&mut self, number: u32) {
        self.apply(Change::AddService(ServiceId(number), service()));
        let selection = self.open_elsewhere(number);
        self.counters.insert(number, selection.service_counters);
        self.engine.handle_unused(selection.reservation, self.now);
    }

    /// Opens a flow to a service through a virtual server that then goes away.
    pub(crate) fn open_elsewhere(&mut self, number: u32) -> Selection {
        let other = VserverId(1000 + number);
        self.apply(Change::AddVserver(other, vserver(Method::RoundRobin)));
        self.apply(Change::Bind(bind(other, number, 1)));
        let selection = self.engine.select(other, &flow(), &[], self.now).unwrap();
        self.apply(Change::RemoveVserver(other));
        self.outputs();
        selection
    }

    /// Opens flows that no choice of `V` has made, and keeps them.
    pub(crate) fn set_active(&mut self, number: u32, flows: u64) {
        for _ in 0..flows {
            let selection = self.open_elsewhere(number);
            self.held.push(selection.reservation);
        }
    }

    pub(crate) fn bind(&mut self, number: u32, weight: u64) {
        self.apply(Change::Bind(bind(V, number, weight)));
    }

    pub(crate) fn unbind(&mut self, number: u32) {
        self.apply(Change::Unbind(V, ServiceId(number)));
    }

    /// Changes the settings of a service, starting from those of [`service`].
    pub(crate) fn set(&mut self, number: u32, change: impl FnOnce(&mut ServiceSettings)) {
        let mut settings = service();
        change(&mut settings);
        self.apply(Change::SetService(ServiceId(number), settings));
    }

    pub(crate) fn enable(&mut self, number: u32, enabled: bool) {
        self.set(number, |settings| settings.enabled = enabled);
    }

    /// Disables a service; the delay is in milliseconds.
    pub(crate) fn disable(&mut self, number: u32, delay: Option<u64>, graceful: bool) {
        let delay = delay.map(Duration::from_millis);
        let leave = Leave { delay, graceful };
        self.apply(Change::DisableService(ServiceId(number), leave));
    }

    pub(crate) fn set_method(&mut self, method: Method) {
        self.apply(Change::SetVserver(V, vserver(method)));
    }

    /// Chooses for a flow of `V` and keeps it open.
    pub(crate) fn pick(&mut self) -> u32 {
        self.try_pick(&[]).unwrap()
    }

    /// Chooses `count` times.
    pub(crate) fn picks(&mut self, count: usize) -> Vec<u32> {
        (0..count).map(|_| self.pick()).collect()
    }

    pub(crate) fn try_pick(&mut self, tried: &[u32]) -> Result<u32, Refusal> {
        let tried: Vec<_> = tried.iter().copied().map(ServiceId).collect();
        let selection = self.engine.select(V, &flow(), &tried, self.now)?;
        let number = selection.reservation.service().0;
        self.held.push(selection.reservation);
        Ok(number)
    }

    /// Takes the oldest open flow of a service out of the bench.
    pub(crate) fn take(&mut self, number: u32) -> Reservation {
        let is_wanted = |held: &Reservation| held.service() == ServiceId(number);
        let index = self.held.iter().position(is_wanted).unwrap();
        self.held.remove(index)
    }

    pub(crate) fn close(&mut self, number: u32, reason: CloseReason) {
        let reservation = self.take(number);
        self.engine.handle_close(reservation, reason, self.now);
    }

    /// Reports the first client data of an open flow, by its place in the order of opening.
    pub(crate) fn ask(&mut self, flow: usize) {
        self.engine.handle_client_data(&self.held[flow], self.now);
    }

    /// Reports the first answer to an open flow.
    pub(crate) fn answer(&mut self, flow: usize) {
        self.engine.handle_first_answer(&self.held[flow], self.now);
    }

    /// Ends a flow that the bench does not keep.
    pub(crate) fn close_selection(&mut self, selection: Selection, reason: CloseReason) {
        self.engine
            .handle_close(selection.reservation, reason, self.now);
    }

    /// Ends an open flow, by its place in the order of opening.
    pub(crate) fn end(&mut self, flow: usize, reason: CloseReason) {
        let reservation = self.held.remove(flow);
        self.engine.handle_close(reservation, reason, self.now);
    }

    /// Ends the flow that was opened last.
    pub(crate) fn end_last(&mut self, reason: CloseReason) {
        self.end(self.held.len() - 1, reason);
    }

    /// Moves bytes towards (`down`) and from (`up`) a service, each in one packet if any.
    pub(crate) fn traffic(&self, number: u32, down: u64, up: u64) {
        let counters = &self.counters[&number];
        counters.add_in(down, down.min(1));
        counters.add_out(up, up.min(1));
    }

    /// Moves packets without a byte.
    pub(crate) fn packets(&self, number: u32, count: u64) {
        self.counters[&number].add_in(0, count);
    }

    /// Moves the clock without a call into the engine.
    pub(crate) fn jump_to(&mut self, ms: u64) {
        self.now = at(ms);
    }

    /// Moves the clock and keeps every deadline of the engine on the way.
    pub(crate) fn run_to(&mut self, ms: u64) {
        while let Some(due) = self.engine.poll_timeout().filter(|due| *due <= at(ms)) {
            self.engine.handle_timeout(due);
        }
        self.now = at(ms);
    }

    pub(crate) fn service(&mut self, number: u32) -> ServiceStatus {
        let status = self.engine.service_status(ServiceId(number), self.now);
        status.unwrap()
    }

    pub(crate) fn vserver(&mut self) -> VserverStatus {
        self.engine.vserver_status(V, self.now).unwrap()
    }

    /// Returns `N` in bytes of services 1 to `count`.
    pub(crate) fn window_bytes(&mut self, count: u32) -> Vec<u64> {
        (1..=count)
            .map(|number| self.service(number).window_bytes)
            .collect()
    }

    /// Drains what the engine wants done.
    pub(crate) fn outputs(&mut self) -> Vec<Output> {
        std::iter::from_fn(|| self.engine.poll_output()).collect()
    }
}

/// Returns every way to leave, with delays of up to a minute.
pub(crate) fn leave() -> impl Strategy<Value = Leave> {
    let delay = prop::option::weighted(0.7, prop_oneof![Just(0_u64), 1..60_000_u64]);
    (delay, any::<bool>()).prop_map(|(delay, graceful)| Leave {
        delay: delay.map(Duration::from_millis),
        graceful,
    })
}

/// An enabled TCP service without limits.
pub(crate) fn service() -> ServiceSettings {
    ServiceSettings {
        protocol: Protocol::Tcp,
        address: SocketAddr::from((Ipv4Addr::LOCALHOST, 80)),
        enabled: true,
        max_client: None,
        max_bandwidth: None,
        hash_id: None,
        health_monitor: true,
        monitor_threshold: 0,
        is_one_way: false,
        idle: None,
        flush_on_down: false,
    }
}

/// An enabled TCP virtual server that is not addressable.
pub(crate) fn vserver(method: Method) -> VserverSettings {
    VserverSettings {
        protocol: Protocol::Tcp,
        listen: None,
        enabled: true,
        method,
        hash: HashSettings::default(),
        idle: None,
        flush_on_down: false,
        health_threshold: Percent::ZERO,
        backup: Backup::default(),
        orders: Orders::default(),
        slow_start: SlowStart::default(),
        persistence: None,
    }
}

pub(crate) fn bind(vserver: VserverId, number: u32, weight: u64) -> Bind {
    Bind {
        vserver,
        service: ServiceId(number),
        weight: Weight::new(weight).unwrap(),
        order: None,
    }
}

pub(crate) fn flow() -> FlowKey {
    FlowKey {
        src: SocketAddr::from((Ipv4Addr::LOCALHOST, 40_000)),
        dst: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
        token: None,
    }
}

pub(crate) fn at(ms: u64) -> Instant {
    Instant::default() + Duration::from_millis(ms)
}
