//! Each method against a reference that is written differently and slowly.
//!
//! The reference keeps a log of all traffic instead of samples of counters, the name of the service
//! chosen last instead of a position, and the rest of a pass instead of quotas by position. It
//! multiplies each load by the weights of all others instead of comparing two at a time.

use std::collections::BTreeMap;

use proptest::prelude::*;
use sluice_balance::{Change, CloseReason, Method, Refusal, ServiceId};

use crate::rig::{Rig, V, bind};

/// Services of a case; each is bound or not.
const SERVICES: u32 = 5;

#[derive(Clone, Debug)]
enum Op {
    Pick { tried: u32 },
    Close { service: u32 },
    Traffic { service: u32, bytes: u64 },
    Packets { service: u32, count: u64 },
    Step { ms: u64 },
    Enable { service: u32, enabled: bool },
    MaxClient { service: u32, limit: Option<u32> },
    Toggle { service: u32, weight: u64 },
    Weight { service: u32, weight: u64 },
}

fn op() -> impl Strategy<Value = Op> {
    let service = || 1..=SERVICES;
    let weight = || prop_oneof![Just(1_u64), 1..=4_u64, 1..=100_u64];
    let step = prop_oneof![0..=40_u64, 200..=300_u64, 1_000..=20_000_u64];
    prop_oneof![
        12 => prop_oneof![3 => Just(0), 1 => 0..=31_u32].prop_map(|tried| Op::Pick { tried }),
        3 => service().prop_map(|service| Op::Close { service }),
        6 => (service(), 0..=6_u64).prop_map(|(service, bytes)| Op::Traffic { service, bytes }),
        3 => (service(), 0..=6_u64).prop_map(|(service, count)| Op::Packets { service, count }),
        4 => step.prop_map(|ms| Op::Step { ms }),
        1 => (service(), any::<bool>())
            .prop_map(|(service, enabled)| Op::Enable { service, enabled }),
        1 => (service(), prop::option::of(0..=4_u32))
            .prop_map(|(service, limit)| Op::MaxClient { service, limit }),
        2 => (service(), weight()).prop_map(|(service, weight)| Op::Toggle { service, weight }),
        1 => (service(), weight()).prop_map(|(service, weight)| Op::Weight { service, weight }),
    ]
}

/// What the reference knows of a service, bound or not.
#[derive(Default)]
struct Member {
    disabled: bool,
    limit: Option<u32>,
    active: u64,
}

#[derive(Default)]
struct Reference {
    now: u64,
    members: BTreeMap<u32, Member>,
    /// In bind order, with weights.
    bound: Vec<(u32, u64)>,
    last: Option<u32>,
    /// Round robin: who is still to be visited in this pass, and how often each was served.
    pass: Vec<u32>,
    served: BTreeMap<u32, u64>,
    /// Service, bytes, packets, in the order in which they flowed.
    log: Vec<(u32, u64, u64)>,
    /// Time of a sample, and how much of the log lay before it.
    samples: Vec<(u64, usize)>,
}

impl Reference {
    /// Every call into the engine takes the first sample of its 250 ms, counted from zero.
    fn sample(&mut self) {
        let cell = self.now / 250;
        if self
            .samples
            .last()
            .is_none_or(|(time, _)| time / 250 < cell)
        {
            self.samples.push((self.now, self.log.len()));
        }
    }

    fn window(&self, service: u32) -> (u64, u64) {
        let old = |(time, _): &&(u64, usize)| time + 14_000 <= self.now;
        let start = self
            .samples
            .iter()
            .rev()
            .find(old)
            .map_or(0, |(_, len)| *len);
        let of_service = self.log[start..].iter().filter(|entry| entry.0 == service);
        of_service.fold((0, 0), |sum, entry| (sum.0 + entry.1, sum.1 + entry.2))
    }

    fn may_take(&self, service: u32, tried: u32) -> bool {
        let member = &self.members[&service];
        let is_full = member
            .limit
            .is_some_and(|limit| member.active >= u64::from(limit));
        !member.disabled && !is_full && tried & (1 << (service - 1)) == 0
    }

    fn pick(&mut self, method: Method, tried: u32) -> Result<u32, Refusal> {
        self.sample();
        if self
            .bound
            .iter()
            .all(|(service, _)| self.members[service].disabled)
        {
            return Err(Refusal::Down);
        }
        if !self
            .bound
            .iter()
            .any(|(service, _)| self.may_take(*service, tried))
        {
            return Err(Refusal::Full);
        }
        let chosen = match method {
            Method::RoundRobin => self.pick_in_turn(tried),
            Method::LeastConnection => self.pick_least(tried, |r, s| r.members[&s].active),
            Method::LeastBandwidth => self.pick_least(tried, |r, s| r.window(s).0),
            Method::LeastPackets => self.pick_least(tried, |r, s| r.window(s).1),
        };
        self.members.get_mut(&chosen).unwrap().active += 1;
        Ok(chosen)
    }

    fn pick_least(&mut self, tried: u32, load: impl Fn(&Self, u32) -> u64) -> u32 {
        let behind = self
            .bound
            .iter()
            .position(|(service, _)| Some(*service) == self.last);
        let mut order = self.bound.clone();
        order.rotate_left(behind.map_or(0, |index| index + 1));
        order.retain(|(service, _)| self.may_take(*service, tried));
        let weight_of_all: u128 = order
            .iter()
            .map(|(_, weight)| u128::from(*weight))
            .product();
        let value = |(service, weight): &&(u32, u64)| {
            u128::from(load(self, *service)) * (weight_of_all / u128::from(*weight))
        };
        let chosen = order.iter().min_by_key(value).unwrap().0;
        self.last = Some(chosen);
        chosen
    }

    fn pick_in_turn(&mut self, tried: u32) -> u32 {
        loop {
            while !self.pass.is_empty() {
                let service = self.pass.remove(0);
                if self.may_take(service, tried) && self.has_quota(service) {
                    *self.served.entry(service).or_default() += 1;
                    return service;
                }
            }
            let mut all = self.bound.iter().map(|(service, _)| *service);
            if !all.any(|service| self.may_take(service, tried) && self.has_quota(service)) {
                self.served.clear();
            }
            self.pass = self.bound.iter().map(|(service, _)| *service).collect();
        }
    }

    fn has_quota(&self, service: u32) -> bool {
        let weight = self
            .bound
            .iter()
            .find(|(bound, _)| *bound == service)
            .unwrap()
            .1;
        self.served.get(&service).copied().unwrap_or(0) < weight
    }

    fn bind(&mut self, service: u32, weight: u64) {
        self.bound.push((service, weight));
        self.pass.push(service);
        self.served.remove(&service);
    }

    fn unbind(&mut self, service: u32) {
        let index = self
            .bound
            .iter()
            .position(|(bound, _)| *bound == service)
            .unwrap();
        if self.last == Some(service) {
            // The turn stays between the neighbours of the one that leaves.
            self.last = index.checked_sub(1).map(|before| self.bound[before].0);
        }
        self.bound.remove(index);
        self.pass.retain(|waiting| *waiting != service);
    }
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
            Op::Close { service } => {
                let member = reference.members.get_mut(&service).unwrap();
                if member.active > 0 {
                    member.active -= 1;
                    rig.close(service, CloseReason::Finished);
                    reference.sample();
                }
            }
            Op::Traffic { service, bytes } => {
                rig.traffic(service, bytes, bytes);
                reference.log.push((service, 2 * bytes, 2 * bytes.min(1)));
            }
            Op::Packets { service, count } => {
                rig.packets(service, count);
                reference.log.push((service, 0, count));
            }
            Op::Step { ms } => {
                reference.now += ms;
                rig.jump_to(reference.now);
                rig.engine.handle_timeout(rig.now);
                reference.sample();
            }
            Op::Enable { service, enabled } => {
                reference.members.get_mut(&service).unwrap().disabled = !enabled;
                self.configure(service);
            }
            Op::MaxClient { service, limit } => {
                reference.members.get_mut(&service).unwrap().limit = limit;
                self.configure(service);
            }
            Op::Toggle { service, weight } => self.toggle(service, weight),
            Op::Weight { service, weight } => self.set_weight(service, weight),
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

    fn compare(&mut self) {
        self.reference.sample();
        let shown = self.rig.engine.snapshot(self.rig.now);
        for row in shown.services {
            let ServiceId(service) = row.id;
            let window = (row.window_bytes, row.window_packets);
            assert_eq!(window, self.reference.window(service), "service {service}");
            assert_eq!(row.active, self.reference.members[&service].active);
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
}
