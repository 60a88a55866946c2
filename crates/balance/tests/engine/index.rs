//! Many services: the index finds the service that a scan finds, at every choice.
//!
//! The engine itself compares the two ([`Engine::check_index`]); here is what happens in between, on
//! three virtual servers that share services, so that each changes the loads under the others'
//! indexes. A second engine, left to itself, has to choose the same.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use proptest::sample::Index;
use sluice_balance::{
    Bind, Change, CloseReason, Counters, Engine, Instant, Method, Order, Refusal, Reservation,
    ServiceId, ServiceSettings, SlowStart, Token, TokenRange, VserverId, VserverSettings, Weight,
};

use crate::rig::{flow, service, vserver};

/// Virtual servers: each binds all services, in an order of its own.
const FRONTS: u32 = 3;

#[derive(Clone, Debug)]
enum Op {
    /// So many choices one after the other, with services left out that failed the flow.
    Select(u32, usize, Vec<Index>),
    /// The oldest flows end, or any.
    Close(usize, CloseReason),
    CloseAny(Index, CloseReason),
    Unused(Index),
    Ask(Index),
    Answer(Index),
    More(Index),
    Done(Index),
    Traffic(Index, u64, u64),
    Clock(u64),
    /// Monitors measure and report something else of each service, or of one.
    Reports(u64),
    Report(Index, Option<u64>),
    Set(Index, bool, Option<u32>, Option<u32>),
    Weight(u32, Index, u64, Option<u64>),
    Toggle(u32, Index),
    Method(u32, Method),
    SlowStart(u32, u32),
}

fn method() -> impl Strategy<Value = Method> {
    prop::sample::select(vec![
        Method::RoundRobin,
        Method::LeastConnection,
        Method::LeastBandwidth,
        Method::LeastPackets,
        Method::LeastResponseTime,
        Method::LeastMonitorTime,
        Method::CustomLoad,
        Method::Token(TokenRange::FIRST_BYTE),
        Method::SrcIpSrcPortHash,
    ])
}

fn reason() -> impl Strategy<Value = CloseReason> {
    prop::sample::select(vec![
        CloseReason::Finished,
        CloseReason::Finished,
        CloseReason::ConnectFailed,
        CloseReason::ServiceReset,
        CloseReason::ServiceClosed,
        CloseReason::ClientReset,
    ])
}

fn op() -> impl Strategy<Value = Op> {
    let one = any::<Index>;
    let front = || 0..FRONTS;
    let tried = prop_oneof![3 => Just(vec![]), 1 => prop::collection::vec(one(), 1..4)];
    let few = prop_oneof![9 => 1..20_usize, 1 => 100..300_usize];
    let clients = prop_oneof![3 => Just(None), 2 => (0..4_u32).prop_map(Some)];
    let kbit_per_s = prop_oneof![4 => Just(None), 1 => (1..40_u32).prop_map(Some)];
    let order = prop_oneof![3 => Just(None), 1 => (1..3_u64).prop_map(Some)];
    let weight = prop_oneof![Just(1_u64), 1..=100_u64];
    let step = prop_oneof![4 => 0..30_u64, 2 => 200..2_000_u64, 1 => 5_000..20_000_u64];
    prop_oneof![
        12 => (front(), few, tried).prop_map(|(v, count, tried)| Op::Select(v, count, tried)),
        4 => (1..60_usize, reason()).prop_map(|(count, reason)| Op::Close(count, reason)),
        4 => (one(), reason()).prop_map(|(flow, reason)| Op::CloseAny(flow, reason)),
        1 => one().prop_map(Op::Unused),
        4 => one().prop_map(Op::Ask),
        4 => one().prop_map(Op::Answer),
        2 => one().prop_map(Op::More),
        3 => one().prop_map(Op::Done),
        6 => (one(), 0..5_000_u64, 0..5_000_u64).prop_map(|(s, down, up)| Op::Traffic(s, down, up)),
        6 => step.prop_map(Op::Clock),
        2 => any::<u64>().prop_map(Op::Reports),
        4 => (one(), prop::option::weighted(0.9, 0..50_u64)).prop_map(|(s, n)| Op::Report(s, n)),
        2 => (one(), prop::bool::weighted(0.7), clients, kbit_per_s)
            .prop_map(|(s, enabled, clients, rate)| Op::Set(s, enabled, clients, rate)),
        1 => (front(), one(), weight, order)
            .prop_map(|(v, s, weight, order)| Op::Weight(v, s, weight, order)),
        1 => (front(), one()).prop_map(|(v, s)| Op::Toggle(v, s)),
        1 => (front(), method()).prop_map(|(v, method)| Op::Method(v, method)),
        1 => (front(), prop_oneof![3 => Just(0_u32), 1 => 1..40_u32])
            .prop_map(|(v, rate)| Op::SlowStart(v, rate)),
    ]
}

struct Front {
    settings: VserverSettings,
    bound: Vec<u32>,
}

struct World {
    engine: Engine,
    now: Instant,
    services: Vec<ServiceSettings>,
    counters: Vec<Option<Arc<Counters>>>,
    fronts: Vec<Front>,
    flows: VecDeque<Reservation>,
    chosen: Vec<Result<ServiceId, Refusal>>,
}

impl World {
    fn new(mut engine: Engine, services: u32, methods: [Method; FRONTS as usize]) -> Self {
        let now = Instant::default();
        let settings = |number: u32| ServiceSettings {
            address: SocketAddr::from((Ipv4Addr::from(number), 80)),
            ..service()
        };
        let all: Vec<_> = (0..services).map(settings).collect();
        for (number, settings) in (0..).zip(&all) {
            engine.apply(
                &Change::AddService(ServiceId(number), settings.clone()),
                now,
            );
        }
        let mut world = Self {
            engine,
            now,
            counters: all.iter().map(|_| None).collect(),
            services: all,
            fronts: Vec::new(),
            flows: VecDeque::new(),
            chosen: Vec::new(),
        };
        for (number, method) in (0..).zip(methods) {
            let settings = vserver(method);
            world.apply(&Change::AddVserver(VserverId(number), settings.clone()));
            let bound = Vec::new();
            world.fronts.push(Front { settings, bound });
            for step in 0..services {
                // The first one in the order of numbers, the others from the middle on.
                let service = (step + number * services / 3) % services;
                world.bind(number, service, 1 + u64::from(service % 3));
            }
        }
        world
    }

    fn apply(&mut self, change: &Change) {
        self.engine.apply(change, self.now);
        while self.engine.poll_output().is_some() {}
    }

    fn bind(&mut self, vserver: u32, service: u32, weight: u64) {
        self.fronts[vserver as usize].bound.push(service);
        self.apply(&Change::Bind(named(vserver, service, weight, None)));
    }

    fn set(&mut self, vserver: u32, change: impl FnOnce(&mut VserverSettings)) {
        let settings = &mut self.fronts[vserver as usize].settings;
        change(settings);
        let change = Change::SetVserver(VserverId(vserver), settings.clone());
        self.apply(&change);
    }

    fn step(&mut self, op: &Op) -> Option<()> {
        match op {
            Op::Select(v, count, tried) => {
                let services = self.services.len();
                let pick = |index: &Index| ServiceId(index.index(services) as u32);
                let tried: Vec<_> = tried.iter().map(pick).collect();
                (0..*count).for_each(|_| self.select(VserverId(*v), &tried));
            }
            Op::Close(count, reason) => {
                for _ in 0..*count {
                    let flow = self.flows.pop_front()?;
                    self.engine.handle_close(flow, *reason, self.now);
                }
            }
            Op::CloseAny(index, reason) => {
                let flow = self.take(index)?;
                self.engine.handle_close(flow, *reason, self.now);
            }
            Op::Unused(index) => {
                let flow = self.take(index)?;
                self.engine.handle_unused(flow, self.now);
            }
            Op::Ask(index) => {
                let flow = self.flows.get(index.index(self.flows.len().max(1)))?;
                self.engine.handle_client_data(flow, self.now);
            }
            Op::Answer(index) => {
                let flow = self.flows.get(index.index(self.flows.len().max(1)))?;
                self.engine.handle_first_answer(flow, self.now);
            }
            Op::More(index) => {
                let flow = self.flows.get(index.index(self.flows.len().max(1)))?;
                self.engine.handle_more_client_data(flow, self.now);
            }
            Op::Done(index) => {
                let flow = self.flows.get(index.index(self.flows.len().max(1)))?;
                self.engine.handle_service_done(flow);
            }
            Op::Traffic(s, down, up) => {
                let counters = self.counters[s.index(self.counters.len())].as_ref()?;
                counters.add_in(*down, 1);
                counters.add_out(*up, 2);
            }
            Op::Clock(ms) => self.now = self.now + Duration::from_millis(*ms),
            Op::Reports(seed) => {
                for number in 0..self.services.len() as u64 {
                    let value = number.wrapping_mul(seed | 1) >> 58;
                    self.report(number as u32, Some(value));
                }
            }
            Op::Report(s, value) => self.report(s.index(self.services.len()) as u32, *value),
            Op::Set(s, enabled, clients, kbit_per_s) => {
                let number = s.index(self.services.len());
                let settings = &mut self.services[number];
                settings.enabled = *enabled;
                settings.max_client = *clients;
                settings.max_bandwidth = *kbit_per_s;
                let id = ServiceId(number as u32);
                let change = Change::SetService(id, settings.clone());
                self.apply(&change);
            }
            Op::Weight(v, s, weight, order) => {
                let bound = &self.fronts[*v as usize].bound;
                let service = *bound.get(s.index(bound.len().max(1)))?;
                let order = order.and_then(|order| Order::new(order).ok());
                self.apply(&Change::SetWeight(named(*v, service, *weight, order)));
            }
            Op::Toggle(v, s) => {
                let service = s.index(self.services.len()) as u32;
                let bound = &mut self.fronts[*v as usize].bound;
                match bound.iter().position(|bound| *bound == service) {
                    Some(position) => {
                        bound.remove(position);
                        self.apply(&Change::Unbind(VserverId(*v), ServiceId(service)));
                    }
                    None => self.bind(*v, service, 2),
                }
            }
            Op::Method(v, method) => self.set(*v, |settings| settings.method = *method),
            Op::SlowStart(v, rate) => self.set(*v, |settings| {
                settings.slow_start = SlowStart {
                    rate: *rate,
                    interval: Duration::from_secs(1),
                    ..SlowStart::default()
                };
            }),
        }
        Some(())
    }

    /// Hands in a load, and as many milliseconds as a response time.
    fn report(&mut self, service: u32, value: Option<u64>) {
        let id = ServiceId(service);
        let time = value.map(Duration::from_millis);
        self.engine.handle_load(id, value, self.now);
        self.engine.handle_monitor_response(id, time, self.now);
    }

    fn take(&mut self, index: &Index) -> Option<Reservation> {
        self.flows.remove(index.index(self.flows.len().max(1)))
    }

    fn select(&mut self, vserver: VserverId, tried: &[ServiceId]) {
        let number = self.chosen.len() as u16;
        let mut flow = flow();
        flow.src.set_port(number);
        let has_token = number.is_multiple_of(2);
        flow.token = has_token.then(|| Token::of(&number.to_be_bytes()));
        let chosen = self.engine.select(vserver, &flow, tried, self.now);
        self.chosen.push(chosen.map(|selection| {
            let service = selection.reservation.service();
            self.counters[service.0 as usize] = Some(selection.service_counters);
            self.flows.push_back(selection.reservation);
            service
        }));
    }
}

fn named(vserver: u32, service: u32, weight: u64, order: Option<Order>) -> Bind {
    Bind {
        vserver: VserverId(vserver),
        service: ServiceId(service),
        weight: Weight::new(weight).unwrap(),
        order,
    }
}

/// Takes the steps with an engine that compares each choice with a scan, and with one that does not;
/// both have to choose the same.
fn run(services: u32, methods: [Method; FRONTS as usize], ops: &[Op]) {
    let [checked, plain] = [true, false].map(|is_checked| {
        let mut engine = Engine::new();
        if is_checked {
            engine.check_index();
        }
        let mut world = World::new(engine, services, methods);
        for op in ops {
            world.step(op);
        }
        world.chosen
    });
    assert_eq!(checked, plain);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn few_services_of_three_virtual_servers_are_found_as_by_a_scan(
        services in 1..12_u32,
        methods in [method(), method(), method()],
        ops in prop::collection::vec(op(), 1..200),
    ) {
        run(services, methods, &ops);
    }

    #[test]
    fn hundreds_of_services_are_found_as_by_a_scan(
        services in prop::sample::select(vec![100_u32, 128, 500]),
        methods in [method(), method(), method()],
        ops in prop::collection::vec(op(), 1..120),
    ) {
        run(services, methods, &ops);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn thousands_of_services_are_found_as_by_a_scan(
        methods in [method(), method(), method()],
        ops in prop::collection::vec(op(), 60..90),
    ) {
        run(5_000, methods, &ops);
    }
}
