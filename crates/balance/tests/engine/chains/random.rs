//! Random operations on a few virtual servers that are each other's backups, against a model that
//! works everything out anew for each question.

mod model;

use proptest::prelude::*;
use sluice_balance::{
    Change, CloseReason, Engine, FlowKey, Instant, Order, Percent, PersistenceTimeout, RampUnit,
    Reservation, ServiceId, SlowStart, Spillover, SpilloverAction, SpilloverMethod, VserverId,
};
use std::time::Duration;

use crate::rig;
use model::Model;

const VSERVERS: u32 = 4;
const SERVICES: u32 = 5;

#[derive(Clone, Debug)]
enum Op {
    /// Binds, with an order or none, or unbinds.
    Toggle(u32, u32, u64, u64),
    Weigh(u32, u32, u64, u64),
    Service(u32, bool, Option<u32>, Option<u32>),
    Vserver(u32, bool, u64),
    Orders(u32, u32, bool),
    /// Any later virtual server, or none: no circle can come of it.
    Backup(u32, u32, bool),
    Spillover(u32, Option<(SpilloverMethod, bool, u64)>),
    SlowStart(u32, u32),
    Enable(u32),
    Select(u32, u8, u32),
    Close(usize),
    Unused(usize),
    Traffic(usize, u64),
    Seconds(u64),
}

fn op() -> impl Strategy<Value = Op> {
    let vserver = || 1..=VSERVERS;
    let service = || 1..=SERVICES;
    let order = || prop_oneof![Just(0_u64), 1..=3_u64];
    let weight = || 1..=4_u64;
    let limit = prop::option::weighted(0.4, 0..4_u32);
    let kbit = prop::option::weighted(0.2, 0..4_u32);
    let method = prop_oneof![
        (0..4_u32).prop_map(SpilloverMethod::Connections),
        Just(SpilloverMethod::DynamicConnections),
        (0..4_u32).prop_map(SpilloverMethod::Bandwidth),
        (0..=100_u64).prop_map(|part| SpilloverMethod::Health(Percent::new(part).unwrap())),
    ];
    let minutes = prop_oneof![Just(0_u64), 2..=4_u64];
    let spillover = prop::option::weighted(0.8, (method, any::<bool>(), minutes));
    prop_oneof![
        4 => (vserver(), service(), weight(), order()).prop_map(|(v, s, w, o)| Op::Toggle(v, s, w, o)),
        2 => (vserver(), service(), weight(), order()).prop_map(|(v, s, w, o)| Op::Weigh(v, s, w, o)),
        5 => (service(), prop::bool::weighted(0.7), limit, kbit)
            .prop_map(|(s, enabled, limit, kbit)| Op::Service(s, enabled, limit, kbit)),
        2 => (vserver(), prop::bool::weighted(0.8), prop_oneof![Just(0_u64), 0..=100_u64])
            .prop_map(|(v, enabled, threshold)| Op::Vserver(v, enabled, threshold)),
        1 => (vserver(), 0..4_u32, any::<bool>()).prop_map(|(v, n, down)| Op::Orders(v, n, down)),
        3 => (vserver(), 1..=VSERVERS + 1, any::<bool>()).prop_map(|(v, b, stays)| Op::Backup(v, b, stays)),
        3 => (vserver(), spillover).prop_map(|(v, spillover)| Op::Spillover(v, spillover)),
        1 => (vserver(), 0..3_u32).prop_map(|(v, rate)| Op::SlowStart(v, rate)),
        1 => vserver().prop_map(Op::Enable),
        16 => (vserver(), 0..3_u8, prop_oneof![3 => Just(0_u32), 1 => 0..32_u32])
            .prop_map(|(v, host, tried)| Op::Select(v, host, tried)),
        5 => any::<prop::sample::Index>().prop_map(|flow| Op::Close(flow.index(64))),
        1 => any::<prop::sample::Index>().prop_map(|flow| Op::Unused(flow.index(64))),
        4 => (0..64_usize, 0..400_u64).prop_map(|(flow, bytes)| Op::Traffic(flow, bytes)),
        3 => prop_oneof![1..3_u64, 1..3_u64, 50..130_u64].prop_map(Op::Seconds),
    ]
}

/// A flow that is open.
struct Flow {
    reservation: Reservation,
    is_first: bool,
    counters: [std::sync::Arc<sluice_balance::Counters>; 2],
}

/// An engine and the model side by side.
struct World {
    engine: Engine,
    model: Model,
    flows: Vec<Flow>,
}

impl World {
    fn new() -> Self {
        let mut world = Self {
            engine: Engine::new(),
            model: Model::default(),
            flows: Vec::new(),
        };
        world.engine.check_index();
        for number in 1..=SERVICES {
            let service = rig::service();
            world.apply(&Change::AddService(ServiceId(number), service.clone()));
            world.model.services.insert(number, service);
        }
        for number in 1..=VSERVERS {
            let vserver = rig::vserver(sluice_balance::Method::RoundRobin);
            world.apply(&Change::AddVserver(VserverId(number), vserver.clone()));
            world.model.add_vserver(number, vserver);
        }
        world
    }

    fn now(&self) -> Instant {
        rig::at(1_000 * self.model.second)
    }

    fn apply(&mut self, change: &Change) {
        self.engine.apply(change, self.now());
        while self.engine.poll_output().is_some() {}
    }

    fn set_vserver(&mut self, number: u32) {
        let settings = self.model.vservers[&number].settings.clone();
        self.apply(&Change::SetVserver(VserverId(number), settings));
    }

    fn step(&mut self, op: &Op) {
        match *op {
            Op::Toggle(v, s, weight, order) => self.toggle(v, s, weight, order),
            Op::Weigh(v, s, weight, order) => {
                if self.model.bound(v, s).is_some() {
                    self.apply(&Change::SetWeight(bind(v, s, weight, order)));
                    self.model.weigh(bind(v, s, weight, order));
                }
            }
            Op::Service(s, enabled, max_client, max_bandwidth) => {
                let settings = self.model.services.get_mut(&s).unwrap();
                settings.enabled = enabled;
                settings.max_client = max_client;
                settings.max_bandwidth = max_bandwidth;
                let change = Change::SetService(ServiceId(s), settings.clone());
                self.apply(&change);
            }
            Op::Vserver(v, enabled, threshold) => {
                self.model.set(v, |settings| {
                    settings.enabled = enabled;
                    settings.health_threshold = Percent::new(threshold).unwrap();
                });
                self.set_vserver(v);
            }
            Op::Orders(v, threshold, descending) => {
                self.model.set(v, |settings| {
                    settings.orders.threshold = threshold;
                    settings.orders.descending = descending;
                });
                self.set_vserver(v);
            }
            Op::Backup(v, backup, stays) => {
                let later = (backup > v && backup <= VSERVERS).then_some(VserverId(backup));
                self.model.set(v, |settings| {
                    settings.backup.vserver = later;
                    settings.backup.disable_primary_on_down = stays;
                });
                self.set_vserver(v);
            }
            Op::Spillover(v, spillover) => {
                let spillover = spillover.map(|(method, accepts, minutes)| Spillover {
                    method,
                    persistence: PersistenceTimeout::new(minutes).ok(),
                    action: if accepts {
                        SpilloverAction::Accept
                    } else {
                        SpilloverAction::Drop
                    },
                });
                self.model
                    .set(v, |settings| settings.backup.spillover = spillover);
                self.set_vserver(v);
            }
            Op::SlowStart(v, rate) => {
                self.model.set(v, |settings| {
                    settings.slow_start = SlowStart {
                        rate,
                        unit: RampUnit::PerSecond,
                        interval: Duration::from_secs(2),
                    };
                });
                self.set_vserver(v);
            }
            Op::Enable(v) => {
                self.model.vservers.get_mut(&v).unwrap().is_held_down = false;
                self.apply(&Change::EnableVserver(VserverId(v)));
            }
            Op::Select(v, host, tried) => self.select(v, host, tried),
            Op::Close(index) => {
                if let Some(flow) = self.take(index) {
                    self.model.close(&flow.reservation);
                    let now = self.now();
                    self.engine
                        .handle_close(flow.reservation, CloseReason::Finished, now);
                }
            }
            Op::Unused(index) => {
                if let Some(flow) = self.take(index) {
                    self.model.take_back(&flow.reservation, flow.is_first);
                    let now = self.now();
                    self.engine.handle_unused(flow.reservation, now);
                }
            }
            Op::Traffic(index, bytes) => {
                if let Some(flow) = self.flows.get(index) {
                    for counters in &flow.counters {
                        counters.add_in(bytes, 1);
                        counters.add_out(bytes / 2, 1);
                    }
                    self.model.flowed(&flow.reservation, bytes + bytes / 2);
                }
            }
            Op::Seconds(seconds) => {
                for _ in 0..seconds {
                    self.model.second += 1;
                    let now = self.now();
                    self.engine.handle_timeout(now);
                }
            }
        }
        self.model.update_states();
    }

    fn toggle(&mut self, v: u32, s: u32, weight: u64, order: u64) {
        if self.model.bound(v, s).is_some() {
            self.apply(&Change::Unbind(VserverId(v), ServiceId(s)));
            self.model.unbind(v, s);
        } else {
            self.apply(&Change::Bind(bind(v, s, weight, order)));
            self.model.bind(bind(v, s, weight, order));
        }
    }

    fn take(&mut self, index: usize) -> Option<Flow> {
        (index < self.flows.len()).then(|| self.flows.swap_remove(index))
    }

    fn select(&mut self, v: u32, host: u8, tried: u32) {
        let tried: Vec<_> = (1..=SERVICES)
            .filter(|s| tried & (1 << (s - 1)) != 0)
            .collect();
        let flow = FlowKey {
            src: ([10, 0, 0, host], 40_000).into(),
            ..rig::flow()
        };
        let listed: Vec<_> = tried.iter().copied().map(ServiceId).collect();
        let expected = self.model.serve(v, host, &tried);
        let now = self.now();
        match (
            self.engine.select(VserverId(v), &flow, &listed, now),
            expected,
        ) {
            (Ok(chosen), Ok(expected)) => {
                let reservation = chosen.reservation;
                assert_eq!(reservation.vserver().0, expected.by);
                assert_eq!(reservation.dialled().0, v);
                assert_eq!(reservation.diversion(), expected.diversion);
                let service = reservation.service().0;
                assert!(
                    expected.able.contains(&service),
                    "{service} of {expected:?}"
                );
                let is_first = self.model.serves(&reservation, host, &tried);
                self.flows.push(Flow {
                    reservation,
                    is_first,
                    counters: [chosen.service_counters, chosen.vserver_counters],
                });
            }
            (chosen, expected) => {
                let chosen = chosen.map(|chosen| chosen.reservation.vserver().0);
                assert_eq!(chosen, expected.map(|expected| expected.by));
                self.model.vservers.get_mut(&v).unwrap().refused += 1;
            }
        }
    }

    fn check(&mut self) {
        let shown = self.engine.snapshot(self.now());
        for row in &shown.vservers {
            let known = &self.model.vservers[&row.id.0];
            assert_eq!(row.state, known.state, "{:?}", row.id);
            assert_eq!(row.is_held_down, known.is_held_down, "{:?}", row.id);
            assert_eq!(
                row.effective,
                self.model.effective(row.id.0),
                "{:?}",
                row.id
            );
            assert_eq!(
                row.is_spilling,
                self.model.is_spilling(row.id.0),
                "{:?}",
                row.id
            );
            let counts = [row.hits, row.active, row.refused];
            assert_eq!(
                counts,
                [known.hits, known.active, known.refused],
                "{:?}",
                row.id
            );
            let passed_on = [row.down_backup_hits, row.spillover_hits];
            assert_eq!(passed_on, known.passed_on, "{:?}", row.id);
            for (binding, known) in row.bindings.iter().zip(&known.bindings) {
                assert_eq!(
                    (binding.service, binding.order),
                    (known.service, known.order)
                );
            }
        }
    }
}

fn bind(vserver: u32, service: u32, weight: u64, order: u64) -> sluice_balance::Bind {
    let order = Order::new(order).ok();
    sluice_balance::Bind {
        order,
        ..rig::bind(VserverId(vserver), service, weight)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn flow_is_served_by_the_first_that_can_and_refused_only_if_nobody_can(
        ops in prop::collection::vec(op(), 1..250)
    ) {
        let mut world = World::new();
        for op in &ops {
            world.step(op);
            world.check();
        }
    }
}
