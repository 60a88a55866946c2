//! Random operations: what holds after each of them, and that two engines never differ.

mod drains;
mod ops;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use proptest::sample::Index;
use sluice_balance::{
    BindingStatus, Change, Counters, Engine, FlowKey, Instant, Leave, Method, Output, Protocol,
    RampStatus, Refusal, Reservation, ServiceId, ServiceSettings, SlowStart, Snapshot, State,
    Token, VserverId, VserverSettings,
};

use ops::{Op, op};

use crate::rig::{bind, flow, service, vserver};

/// A flow that is open, and the binding it came through.
struct Flow {
    reservation: Reservation,
    binding: u64,
    progress: Progress,
}

/// Where the first exchange of a flow is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    Quiet,
    Asked(Instant),
    Answered,
}

/// What the test knows of a virtual server: settings, and service and number of each binding.
struct Front {
    settings: VserverSettings,
    bound: Vec<(ServiceId, u64)>,
}

/// An engine and a plain model of the objects and flows in it.
#[derive(Default)]
struct World {
    engine: Engine,
    now: Instant,
    /// The latest `now` there was.
    latest: Instant,
    made: u32,
    bindings_made: u64,
    services: BTreeMap<ServiceId, ServiceSettings>,
    vservers: BTreeMap<VserverId, Front>,
    counters: BTreeMap<ServiceId, Arc<Counters>>,
    flows: Vec<Flow>,
    hits: BTreeMap<ServiceId, u64>,
    states: BTreeMap<ServiceId, State>,
    drains: drains::Drains,
    front_states: BTreeMap<VserverId, State>,
    /// Everything the engine answered or asked for.
    trace: Vec<String>,
}

/// Picks a key, if there is one.
fn pick<K: Copy, T>(map: &BTreeMap<K, T>, index: &Index) -> Option<K> {
    (!map.is_empty()).then(|| *map.keys().nth(index.index(map.len())).unwrap())
}

impl World {
    /// Takes a step; one that makes no sense now does nothing.
    fn step(&mut self, op: &Op) {
        self.try_step(op);
        self.drains.pass(self.latest);
        self.take_outputs();
    }

    fn try_step(&mut self, op: &Op) -> Option<()> {
        match op {
            Op::AddService => self.add_service(),
            Op::RemoveService(s) => self.remove_service(pick(&self.services, s)?),
            Op::SetService(s, enabled, flush, limit) => {
                self.set_service(pick(&self.services, s)?, *enabled, *flush, *limit);
            }
            Op::Disable(s, leave) => self.disable(pick(&self.services, s)?, *leave),
            Op::AddVserver => self.add_vserver(),
            Op::RemoveVserver(v) => {
                let id = pick(&self.vservers, v)?;
                self.vservers.remove(&id);
                self.front_states.remove(&id);
                self.apply(&Change::RemoveVserver(id));
            }
            Op::SetVserver(v, enabled, method) => {
                self.set_vserver(pick(&self.vservers, v)?, *enabled, *method);
            }
            Op::Bind(v, s, weight) => {
                self.bind(pick(&self.vservers, v)?, pick(&self.services, s)?, *weight);
            }
            Op::Unbind(v, s) => {
                let id = pick(&self.vservers, v)?;
                self.unbind(id, self.bound(id, s)?);
            }
            Op::SetWeight(v, s, weight) => {
                let id = pick(&self.vservers, v)?;
                let service = self.bound(id, s)?;
                self.apply(&Change::SetWeight(bind(id, service.0, *weight)));
            }
            Op::Select(v, tried) => {
                let tried: Vec<_> = tried
                    .iter()
                    .filter_map(|s| pick(&self.services, s))
                    .collect();
                self.select(pick(&self.vservers, v)?, &tried);
            }
            Op::Close(flow, reason) => {
                let flow = self.take_flow(flow)?;
                let id = flow.reservation.service();
                self.engine
                    .handle_close(flow.reservation, *reason, self.now);
                self.drains.end_flow(id, self.active(id));
            }
            Op::Unused(flow) => {
                let flow = self.take_flow(flow)?;
                let id = flow.reservation.service();
                if let Some(hits) = self.hits.get_mut(&id) {
                    *hits -= 1;
                }
                self.engine.handle_unused(flow.reservation, self.now);
                self.drains.end_flow(id, self.active(id));
            }
            Op::Ask(flow) => {
                let index = flow.index(self.flows.len().max(1));
                let flow = self.flows.get_mut(index)?;
                self.engine.handle_client_data(&flow.reservation, self.now);
                if flow.progress == Progress::Quiet {
                    flow.progress = Progress::Asked(self.latest);
                }
            }
            Op::Answer(flow) => {
                let index = flow.index(self.flows.len().max(1));
                let flow = self.flows.get_mut(index)?;
                self.engine.handle_first_answer(&flow.reservation, self.now);
                flow.progress = Progress::Answered;
            }
            Op::Report(s, value) => {
                let id = pick(&self.services, s)?;
                let time = value.map(Duration::from_millis);
                self.engine.handle_load(id, *value, self.now);
                self.engine.handle_monitor_response(id, time, self.now);
            }
            Op::SetHash(v, algorithm, use_port) => {
                let id = pick(&self.vservers, v)?;
                let front = self.vservers.get_mut(&id)?;
                front.settings.hash.algorithm = *algorithm;
                front.settings.hash.use_port = *use_port;
                let change = Change::SetVserver(id, front.settings.clone());
                self.apply(&change);
            }
            Op::Traffic(s, down, up) => {
                let counters = &self.counters[&pick(&self.counters, s)?];
                counters.add_in(*down, 1);
                counters.add_out(*up, 2);
            }
            Op::SetSlowStart(v, rate, unit, seconds) => {
                let id = pick(&self.vservers, v)?;
                let settings = &mut self.vservers.get_mut(&id).unwrap().settings;
                settings.slow_start = SlowStart {
                    rate: *rate,
                    unit: *unit,
                    interval: Duration::from_secs(*seconds),
                };
                let change = Change::SetVserver(id, settings.clone());
                self.apply(&change);
            }
            Op::Booted => {
                self.engine.handle_booted(self.now);
                let shown = self.engine.snapshot(self.now).vservers;
                let mut bindings = shown.iter().flat_map(|row| &row.bindings);
                assert!(bindings.all(|binding| binding.ramp.is_none()));
            }
            Op::Clock(ms) => {
                let length = Duration::from_millis(ms.unsigned_abs());
                self.now = if *ms < 0 {
                    self.now - length
                } else {
                    self.now + length
                };
                self.latest = self.latest.max(self.now);
                self.engine.handle_timeout(self.now);
            }
        }
        Some(())
    }

    fn apply(&mut self, change: &Change) {
        self.engine.apply(change, self.now);
        self.take_outputs();
    }

    fn take_outputs(&mut self) {
        while let Some(output) = self.engine.poll_output() {
            match output {
                Output::ServiceState(id, state, _) => {
                    assert_ne!(self.states.insert(id, state), Some(state));
                }
                Output::VserverState(id, state, _) => {
                    assert_ne!(self.front_states.insert(id, state), Some(state));
                }
                Output::OpenListener { .. }
                | Output::CloseListener(_)
                | Output::CloseFlows(_)
                | Output::MoveFlows(_)
                | Output::StartProbe { .. }
                | Output::CancelProbe(_)
                | Output::PersistenceFull { .. } => {}
            }
            self.trace.push(format!("{output:?}"));
        }
    }

    fn add_service(&mut self) {
        self.made += 1;
        let id = ServiceId(self.made);
        let protocol = if self.made.is_multiple_of(3) {
            Protocol::Udp
        } else {
            Protocol::Tcp
        };
        let settings = ServiceSettings {
            protocol,
            ..service()
        };
        self.apply(&Change::AddService(id, settings.clone()));
        self.services.insert(id, settings);
        self.states.insert(id, State::Up);
        self.hits.insert(id, 0);
    }

    fn add_vserver(&mut self) {
        self.made += 1;
        let id = VserverId(self.made);
        let settings = vserver(Method::RoundRobin);
        self.apply(&Change::AddVserver(id, settings.clone()));
        let bound = Vec::new();
        self.vservers.insert(id, Front { settings, bound });
        self.front_states.insert(id, State::Down);
    }

    fn set_service(&mut self, id: ServiceId, enabled: bool, flush: bool, limit: Option<u32>) {
        let settings = self.services.get_mut(&id).unwrap();
        settings.enabled = enabled;
        settings.flush_on_down = flush;
        settings.max_client = limit;
        if enabled {
            self.drains.cancel(id);
        }
        let change = Change::SetService(id, settings.clone());
        self.apply(&change);
    }

    fn disable(&mut self, id: ServiceId, leave: Leave) {
        let active = self.active(id);
        let settings = self.services.get_mut(&id).unwrap();
        let is_out = !std::mem::take(&mut settings.enabled) && !self.drains.has(id);
        self.drains
            .disable(id, leave, (is_out, active), self.latest);
        self.apply(&Change::DisableService(id, leave));
    }

    fn set_vserver(&mut self, id: VserverId, enabled: bool, method: Method) {
        let settings = &mut self.vservers.get_mut(&id).unwrap().settings;
        settings.enabled = enabled;
        settings.method = method;
        let change = Change::SetVserver(id, settings.clone());
        self.apply(&change);
    }

    fn bind(&mut self, id: VserverId, service: ServiceId, weight: u64) {
        let bound = &mut self.vservers.get_mut(&id).unwrap().bound;
        if bound.iter().all(|(other, _)| *other != service) {
            self.bindings_made += 1;
            bound.push((service, self.bindings_made));
            self.apply(&Change::Bind(bind(id, service.0, weight)));
        }
    }

    fn remove_service(&mut self, id: ServiceId) {
        let binds_it = |front: &Front| front.bound.iter().any(|(service, _)| *service == id);
        let fronts = self.vservers.iter().filter(|(_, front)| binds_it(front));
        let fronts: Vec<_> = fronts.map(|(vserver, _)| *vserver).collect();
        for vserver in fronts {
            self.unbind(vserver, id);
        }
        self.services.remove(&id);
        self.drains.cancel(id);
        self.states.remove(&id);
        self.hits.remove(&id);
        self.counters.remove(&id);
        self.apply(&Change::RemoveService(id));
    }

    fn unbind(&mut self, vserver: VserverId, service: ServiceId) {
        let front = self.vservers.get_mut(&vserver).unwrap();
        front.bound.retain(|(bound, _)| *bound != service);
        self.apply(&Change::Unbind(vserver, service));
    }

    fn bound(&self, vserver: VserverId, index: &Index) -> Option<ServiceId> {
        let bound = &self.vservers[&vserver].bound;
        (!bound.is_empty()).then(|| bound[index.index(bound.len())].0)
    }

    fn take_flow(&mut self, index: &Index) -> Option<Flow> {
        let len = self.flows.len();
        (len > 0).then(|| self.flows.swap_remove(index.index(len)))
    }

    fn active(&self, id: ServiceId) -> u64 {
        let of_service = self
            .flows
            .iter()
            .filter(|flow| flow.reservation.service() == id);
        of_service.count() as u64
    }

    fn longest_wait(&self, id: ServiceId) -> Option<Duration> {
        let of_service = self
            .flows
            .iter()
            .filter(|flow| flow.reservation.service() == id);
        let waits = of_service.filter_map(|flow| match flow.progress {
            Progress::Asked(since) => Some(self.latest.duration_since(since)),
            Progress::Quiet | Progress::Answered => None,
        });
        waits.max()
    }

    /// Returns a flow that differs from the last one in what methods look at.
    fn next_flow(&self) -> FlowKey {
        let number = self.trace.len() as u16;
        let mut flow = flow();
        flow.src.set_port(number);
        flow.dst
            .set_ip(std::net::Ipv4Addr::from(u32::from(number)).into());
        flow.token = (!number.is_multiple_of(3)).then(|| Token::of(&number.to_be_bytes()));
        flow
    }

    /// Returns who could take a flow, or why nobody can. A slow start is no reason.
    fn candidates(&self, id: VserverId, tried: &[ServiceId]) -> Result<Vec<ServiceId>, Refusal> {
        let front = &self.vservers[&id];
        if !front.settings.enabled {
            return Err(Refusal::OutOfService);
        }
        let mut able: Vec<_> = front.bound.iter().map(|(service, _)| *service).collect();
        able.retain(|service| self.services[service].enabled);
        if able.is_empty() {
            return Err(Refusal::Down);
        }
        able.retain(|service| {
            let limit = self.services[service].max_client;
            !tried.contains(service)
                && limit.is_none_or(|limit| self.active(*service) < u64::from(limit))
        });
        if able.is_empty() {
            Err(Refusal::Full)
        } else {
            Ok(able)
        }
    }

    fn select(&mut self, id: VserverId, tried: &[ServiceId]) {
        let expected = self.candidates(id, tried);
        match self.engine.select(id, &self.next_flow(), tried, self.now) {
            Ok(chosen) => {
                let service = chosen.reservation.service();
                assert!(
                    expected.unwrap().contains(&service),
                    "{service:?} was chosen"
                );
                self.counters.insert(service, chosen.service_counters);
                *self.hits.get_mut(&service).unwrap() += 1;
                let mut bound = self.vservers[&id].bound.iter();
                let binding = bound.find(|(bound, _)| *bound == service).unwrap().1;
                self.flows.push(Flow {
                    reservation: chosen.reservation,
                    binding,
                    progress: Progress::Quiet,
                });
                self.trace.push(format!("{service:?}"));
            }
            Err(refusal) => {
                assert_eq!(expected, Err(refusal));
                self.trace.push(format!("{refusal:?}"));
            }
        }
    }

    /// Compares what the engine shows with the model, and returns it.
    fn check(&mut self) -> Snapshot {
        let shown = self.engine.snapshot(self.now);
        let ids: Vec<_> = shown.services.iter().map(|row| row.id).collect();
        assert_eq!(ids, self.services.keys().copied().collect::<Vec<_>>());
        for row in &shown.services {
            assert_eq!(row.active, self.active(row.id));
            assert_eq!(row.longest_wait, self.longest_wait(row.id));
            assert_eq!(row.hits, self.hits[&row.id]);
            assert_eq!(row.state, self.states[&row.id]);
            assert_eq!(row.state == State::Up, self.services[&row.id].enabled);
            self.drains.check(row);
            assert!(row.window_bytes <= row.bytes_in + row.bytes_out);
            assert!(row.window_packets <= row.packets_in + row.packets_out);
        }
        for row in &shown.vservers {
            let front = &self.vservers[&row.id];
            let flows = self
                .flows
                .iter()
                .filter(|flow| flow.reservation.vserver() == row.id);
            assert_eq!(row.active, flows.count() as u64);
            assert_eq!(row.state, self.front_states[&row.id]);
            assert_eq!(row.bindings.len(), front.bound.len());
            for (binding, (service, number)) in row.bindings.iter().zip(&front.bound) {
                let flows = self.flows.iter().filter(|flow| flow.binding == *number);
                let expected = (*service, flows.count() as u64);
                assert_eq!((binding.service, binding.active), expected);
                if let Some(ramp) = &binding.ramp {
                    check_ramp(ramp, binding, &front.settings.slow_start);
                }
            }
        }
        shown
    }
}

/// A ramp shows nothing that its settings and its binding rule out.
fn check_ramp(ramp: &RampStatus, binding: &BindingStatus, slow_start: &SlowStart) {
    assert_eq!(binding.state, State::Up);
    assert_eq!(ramp.unit, slow_start.unit);
    let steps = ramp.limit / u64::from(slow_start.rate);
    assert_eq!(ramp.limit, steps * u64::from(slow_start.rate));
    let is_manual = slow_start.interval.is_zero();
    assert!(steps == 1 || steps > 1 && !is_manual);
    assert_eq!(
        (ramp.next_step.is_none(), ramp.end.is_none()),
        (is_manual, is_manual)
    );
    assert!(ramp.end >= ramp.next_step);
    assert!(ramp.chosen <= ramp.requests && ramp.chosen <= binding.hits);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn counts_and_states_hold_after_every_operation(ops in prop::collection::vec(op(), 1..200)) {
        let mut world = World::default();
        world.engine.check_index();
        for op in &ops {
            world.step(op);
            world.check();
        }
    }

    #[test]
    fn same_inputs_give_the_same_outputs(ops in prop::collection::vec(op(), 1..200)) {
        // Whether services are found by the index is no difference either.
        let [first, second] = [true, false].map(|indexed| {
            let mut world = World::default();
            if indexed {
                world.engine.check_index();
            }
            for op in &ops {
                world.step(op);
            }
            let shown = world.check();
            (world.trace, shown, world.engine.poll_timeout())
        });
        prop_assert_eq!(first, second);
    }
}
