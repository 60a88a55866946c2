//! Each method against a reference that is written differently and slowly.
//!
//! The reference keeps a log of all traffic instead of samples of counters, the name of the service
//! chosen last instead of a position, and the rest of a pass instead of quotas by position. It
//! multiplies each load by the weights of all others instead of comparing two at a time.

mod exchange;
mod ramp;
mod reference;

use std::time::Duration;

use proptest::prelude::*;
use sluice_balance::{Change, CloseReason, Method, RampUnit, ServiceId, SlowStart};

use crate::rig::{Rig, V, bind, vserver};

use ramp::Rule;
use reference::{Member, Reference, compares};

/// Services of a case; each is bound or not.
const SERVICES: u32 = 5;

#[derive(Clone, Debug)]
enum Op {
    Pick {
        tried: u32,
    },
    Close {
        service: u32,
        reason: CloseReason,
    },
    Ask {
        flow: usize,
    },
    Answer {
        flow: usize,
    },
    Traffic {
        service: u32,
        bytes: u64,
    },
    Packets {
        service: u32,
        count: u64,
    },
    Step {
        ms: u64,
    },
    Enable {
        service: u32,
        enabled: bool,
    },
    MaxClient {
        service: u32,
        limit: Option<u32>,
    },
    Toggle {
        service: u32,
        weight: u64,
    },
    Weight {
        service: u32,
        weight: u64,
    },
    SlowStart {
        rate: u64,
        unit: RampUnit,
        seconds: u64,
    },
    StartupFactor {
        factor: u32,
    },
    Monitor {
        service: u32,
        ms: Option<u64>,
    },
    Report {
        service: u32,
        load: Option<u64>,
    },
}

fn op() -> impl Strategy<Value = Op> {
    let service = || 1..=SERVICES;
    let weight = || prop_oneof![Just(1_u64), 1..=4_u64, 1..=100_u64];
    let rate = prop_oneof![1 => Just(0_u64), 3 => 1..=50_u64];
    let unit = prop::sample::select(vec![RampUnit::PerSecond, RampUnit::Percent]);
    let step = prop_oneof![0..=40_u64, 200..=300_u64, 1_000..=20_000_u64];
    prop_oneof![
        12 => prop_oneof![3 => Just(0), 1 => 0..=31_u32].prop_map(|tried| Op::Pick { tried }),
        3 => (service(), reason()).prop_map(|(service, reason)| Op::Close { service, reason }),
        3 => (0..8_usize).prop_map(|flow| Op::Ask { flow }),
        1 => (0..8_usize).prop_map(|flow| Op::Answer { flow }),
        6 => (service(), 0..=6_u64).prop_map(|(service, bytes)| Op::Traffic { service, bytes }),
        3 => (service(), 0..=6_u64).prop_map(|(service, count)| Op::Packets { service, count }),
        4 => step.prop_map(|ms| Op::Step { ms }),
        1 => (service(), any::<bool>())
            .prop_map(|(service, enabled)| Op::Enable { service, enabled }),
        1 => (service(), prop::option::of(0..=4_u32))
            .prop_map(|(service, limit)| Op::MaxClient { service, limit }),
        2 => (service(), weight()).prop_map(|(service, weight)| Op::Toggle { service, weight }),
        1 => (service(), weight()).prop_map(|(service, weight)| Op::Weight { service, weight }),
        1 => (rate, unit, 0..=3_u64)
            .prop_map(|(rate, unit, seconds)| Op::SlowStart { rate, unit, seconds }),
        1 => (0..=3_u32).prop_map(|factor| Op::StartupFactor { factor }),
        2 => (service(), prop::option::weighted(0.8, 0..=5_u64))
            .prop_map(|(service, ms)| Op::Monitor { service, ms }),
        4 => (service(), prop::option::weighted(0.95, 0..=5_u64))
            .prop_map(|(service, load)| Op::Report { service, load }),
    ]
}

fn reason() -> impl Strategy<Value = CloseReason> {
    prop::sample::select(vec![
        CloseReason::Finished,
        CloseReason::Finished,
        CloseReason::ClientReset,
        CloseReason::ConnectFailed,
        CloseReason::ServiceClosed,
        CloseReason::ServiceReset,
        CloseReason::Local,
    ])
}

/// The engine and the reference side by side.
struct Bench {
    method: Method,
    rig: Rig,
    reference: Reference,
}

impl Bench {
    fn new(method: Method) -> Self {
        let mut rig = Rig::new(method, &[]);
        let mut reference = Reference::default();
        reference.compares = compares(method);
        for service in 1..=SERVICES {
            rig.add_service(service);
            reference.sample();
            reference.members.insert(service, Member::default());
        }
        for (service, weight) in [(1, 1), (2, 2), (3, 3)] {
            rig.bind(service, weight);
            reference.bind(service, weight);
        }
        Self {
            method,
            rig,
            reference,
        }
    }

    fn step(&mut self, op: &Op) {
        let (rig, reference) = (&mut self.rig, &mut self.reference);
        match *op {
            Op::Pick { tried } => {
                let listed: Vec<_> = (1..=SERVICES)
                    .filter(|s| tried & (1 << (s - 1)) != 0)
                    .collect();
                assert_eq!(rig.try_pick(&listed), reference.pick(self.method, tried));
            }
            Op::Close { service, reason } => {
                if reference.close(service, reason) {
                    rig.close(service, reason);
                }
            }
            Op::Ask { flow } => {
                if reference.ask(flow) {
                    rig.ask(flow);
                }
            }
            Op::Answer { flow } => {
                if reference.answer(flow) {
                    rig.answer(flow);
                }
            }
            Op::Traffic { service, bytes } => {
                rig.traffic(service, bytes, bytes);
                reference.log.push((service, 2 * bytes, 2 * bytes.min(1)));
                if bytes > 0 {
                    reference.hear(service);
                }
            }
            Op::Packets { service, count } => {
                rig.packets(service, count);
                reference.log.push((service, 0, count));
            }
            Op::Step { ms } => {
                reference.pass_time(ms, self.method);
                rig.jump_to(reference.now);
                rig.engine.handle_timeout(rig.now);
                reference.sample();
            }
            Op::Enable { service, enabled } => {
                let member = reference.members.get_mut(&service).unwrap();
                let was_disabled = std::mem::replace(&mut member.disabled, !enabled);
                match (was_disabled, enabled) {
                    (true, true) => {
                        reference.forgive(service);
                        reference.start_ramp(service);
                        if reference.is_bound(service) {
                            reference.start_up();
                        }
                    }
                    (_, false) => drop(reference.ramps.remove(&service)),
                    (false, true) => {}
                }
                self.configure(service);
            }
            Op::MaxClient { service, limit } => {
                reference.members.get_mut(&service).unwrap().limit = limit;
                self.configure(service);
            }
            Op::Toggle { service, weight } => self.toggle(service, weight),
            Op::Weight { service, weight } => self.set_weight(service, weight),
            Op::SlowStart {
                rate,
                unit,
                seconds,
            } => self.set_slow_start(rate, unit, seconds),
            Op::Monitor { service, ms } => {
                let time = ms.map(Duration::from_millis);
                rig.engine
                    .handle_monitor_response(ServiceId(service), time, rig.now);
                reference.sample();
                reference.members.get_mut(&service).unwrap().time_ms = ms;
            }
            Op::Report { service, load } => {
                rig.engine.handle_load(ServiceId(service), load, rig.now);
                reference.sample();
                reference.members.get_mut(&service).unwrap().load = load;
            }
            Op::StartupFactor { factor } => {
                rig.apply(Change::SetStartupFactor(factor));
                reference.sample();
                if std::mem::replace(&mut reference.factor, factor.into()) != factor.into() {
                    reference.start_up();
                }
            }
        }
    }

    fn configure(&mut self, service: u32) {
        let Member {
            disabled, limit, ..
        } = self.reference.members[&service];
        self.rig.set(service, |settings| {
            settings.enabled = !disabled;
            settings.max_client = limit;
        });
        self.reference.sample();
    }

    fn toggle(&mut self, service: u32, weight: u64) {
        if self
            .reference
            .bound
            .iter()
            .any(|(bound, _)| *bound == service)
        {
            self.rig.unbind(service);
            self.reference.unbind(service);
        } else {
            self.rig.bind(service, weight);
            self.reference.bind(service, weight);
        }
        self.reference.sample();
    }

    fn set_weight(&mut self, service: u32, weight: u64) {
        let mut bound = self.reference.bound.iter_mut();
        if let Some(entry) = bound.find(|(bound, _)| *bound == service) {
            entry.1 = weight;
            self.rig.apply(Change::SetWeight(bind(V, service, weight)));
            self.reference.sample();
        }
    }

    fn set_slow_start(&mut self, rate: u64, unit: RampUnit, seconds: u64) {
        let mut settings = vserver(self.method);
        settings.slow_start = SlowStart {
            rate: u32::try_from(rate).unwrap(),
            unit,
            interval: Duration::from_secs(seconds),
        };
        self.rig.apply(Change::SetVserver(V, settings));
        self.reference.sample();
        self.reference.set_rule(Rule {
            rate,
            unit,
            interval_ms: 1_000 * seconds,
        });
    }

    fn compare(&mut self) {
        self.reference.sample();
        let shown = self.rig.engine.snapshot(self.rig.now);
        for row in shown.services {
            let ServiceId(service) = row.id;
            let window = (row.window_bytes, row.window_packets);
            assert_eq!(window, self.reference.window(service), "service {service}");
            assert_eq!(row.active, self.reference.active(service));
            let failures = self.reference.recent_failures(service);
            assert_eq!(row.recent_failures, failures, "service {service}");
            let is_silent = self.reference.is_silent(service);
            assert_eq!(row.stands_behind, is_silent, "service {service}");
        }
        let left = shown.vservers[0].startup.map_or(0, |startup| startup.left);
        assert_eq!(left, self.reference.in_turn);
        let rule = self.reference.rule;
        for row in &shown.vservers[0].bindings {
            let ramp = row
                .ramp
                .map(|ramp| (ramp.limit, ramp.chosen, ramp.requests));
            let expected = self.reference.ramps.get(&row.service.0);
            let expected = expected.map(|r| (r.limit(rule), r.chosen, r.requests_in_all));
            assert_eq!(ramp, expected, "{:?}", row.service);
        }
    }
}

fn run(method: Method, ops: &[Op]) {
    let mut bench = Bench::new(method);
    for op in ops {
        bench.step(op);
    }
    bench.compare();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn round_robin_is_as_the_reference(ops in prop::collection::vec(op(), 1..150)) {
        run(Method::RoundRobin, &ops);
    }

    #[test]
    fn least_connection_is_as_the_reference(ops in prop::collection::vec(op(), 1..150)) {
        run(Method::LeastConnection, &ops);
    }

    #[test]
    fn least_bandwidth_is_as_the_reference(ops in prop::collection::vec(op(), 1..150)) {
        run(Method::LeastBandwidth, &ops);
    }

    #[test]
    fn least_packets_is_as_the_reference(ops in prop::collection::vec(op(), 1..150)) {
        run(Method::LeastPackets, &ops);
    }

    #[test]
    fn least_request_is_as_the_reference(ops in prop::collection::vec(op(), 1..150)) {
        run(Method::LeastRequest, &ops);
    }

    #[test]
    fn least_monitor_time_is_as_the_reference(ops in prop::collection::vec(op(), 1..150)) {
        run(Method::LeastMonitorTime, &ops);
    }

    #[test]
    fn custom_load_is_as_the_reference(ops in prop::collection::vec(op(), 1..150)) {
        run(Method::CustomLoad, &ops);
    }

    #[test]
    fn random_is_as_the_reference(ops in prop::collection::vec(op(), 1..150)) {
        run(Method::Random, &ops);
    }
}
