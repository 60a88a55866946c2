//! The reference: what the engine should do, written differently and slowly.

use std::collections::BTreeMap;

use sluice_balance::{Method, RampUnit, Refusal};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::exchange::{Exchange, Flow};
use super::ramp::{Ramp, Rule};

/// What the reference knows of a service, bound or not.
#[derive(Default)]
pub(super) struct Member {
    pub(super) disabled: bool,
    pub(super) limit: Option<u32>,
    /// What monitors measure and report.
    pub(super) time_ms: Option<u64>,
    pub(super) load: Option<u64>,
    pub(super) exchange: Exchange,
}

#[derive(Default)]
pub(super) struct Reference {
    pub(super) now: u64,
    pub(super) members: BTreeMap<u32, Member>,
    /// Open flows in the order in which they began.
    pub(super) flows: Vec<Flow>,
    /// Events so far; each has its number.
    pub(super) events: u64,
    /// In bind order, with weights.
    pub(super) bound: Vec<(u32, u64)>,
    last: Option<u32>,
    /// Round robin: who is still to be visited in this pass, and how often each was served.
    pass: Vec<u32>,
    served: BTreeMap<u32, u64>,
    /// Random numbers drawn.
    thrown: u64,
    /// Service, bytes, packets, in the order in which they flowed.
    pub(super) log: Vec<(u32, u64, u64)>,
    /// Time of a sample, and how much of the log lay before it.
    samples: Vec<(u64, usize)>,
    /// Whether the method compares a number.
    pub(super) compares: bool,
    /// Requests per service that are served in turn after a change, and how many are left.
    pub(super) factor: u64,
    pub(super) in_turn: u64,
    pub(super) rule: Rule,
    pub(super) ramps: BTreeMap<u32, Ramp>,
}

impl Reference {
    /// Every call into the engine takes the first sample of its 250 ms, counted from zero.
    pub(super) fn sample(&mut self) {
        let cell = self.now / 250;
        if self
            .samples
            .last()
            .is_none_or(|(time, _)| time / 250 < cell)
        {
            self.samples.push((self.now, self.log.len()));
        }
    }

    pub(super) fn window(&self, service: u32) -> (u64, u64) {
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
            .is_some_and(|limit| self.active(service) >= u64::from(limit));
        !member.disabled && !is_full && tried & (1 << (service - 1)) == 0
    }

    pub(super) fn pick(&mut self, method: Method, tried: u32) -> Result<u32, Refusal> {
        self.sample();
        if self.usable().next().is_none() {
            return Err(Refusal::Down);
        }
        let mut able: Vec<_> = self.bound.iter().map(|(service, _)| *service).collect();
        able.retain(|service| self.may_take(*service, tried));
        if able.is_empty() {
            return Err(Refusal::Full);
        }
        if compares(method) {
            self.note_levels(method, &able);
        }
        let is_held_back = |service: &u32| self.ramps.get(service).is_some_and(Ramp::is_held_back);
        let within: Vec<_> = able.iter().copied().filter(|s| !is_held_back(s)).collect();
        let lifted = within.is_empty();
        let able = if lifted { able } else { within };
        let chosen = match method {
            Method::RoundRobin => self.pick_in_turn(&able, lifted),
            _ if self.in_turn > 0 || self.lacks_loads(method) => {
                self.in_turn = self.in_turn.saturating_sub(1);
                self.begin_pass();
                self.pick_in_turn(&able, lifted)
            }
            Method::Random => self.pick_at_random(&able),
            _ => self.pick_least(method, &able),
        };
        self.open(chosen);
        self.charge(chosen);
        Ok(chosen)
    }

    fn stands_behind(&self, method: Method, service: u32) -> bool {
        let counts_traffic = matches!(method, Method::LeastBandwidth | Method::LeastPackets);
        counts_traffic && self.is_silent(service)
    }

    fn load(&self, method: Method, service: u32) -> u64 {
        match method {
            Method::LeastConnection | Method::LeastRequest => {
                self.active(service) + self.recent_failures(service)
            }
            Method::LeastBandwidth => self.window(service).0,
            Method::LeastPackets => self.window(service).1,
            Method::LeastMonitorTime => self.monitor_load(service),
            Method::CustomLoad if self.lacks_loads(method) => 0,
            Method::CustomLoad => self.members[&service].load.unwrap(),
            _ => unreachable!("{method:?} compares nothing"),
        }
    }

    fn pick_least(&mut self, method: Method, able: &[u32]) -> u32 {
        let behind = self
            .bound
            .iter()
            .position(|(service, _)| Some(*service) == self.last);
        let mut order = self.bound.clone();
        order.rotate_left(behind.map_or(0, |index| index + 1));
        order.retain(|(service, _)| able.contains(service));
        let weight_of_all: u128 = order
            .iter()
            .map(|(_, weight)| u128::from(*weight))
            .product();
        let value = |(service, weight): &&(u32, u64)| {
            let load = u128::from(self.load(method, *service));
            let load = load * (weight_of_all / u128::from(*weight));
            (self.stands_behind(method, *service), load)
        };
        let chosen = order.iter().min_by_key(value).unwrap().0;
        self.last = Some(chosen);
        chosen
    }

    /// Number `n` of the sequence is the hash of `n`; here as a point on a line of all weights.
    fn pick_at_random(&mut self, able: &[u32]) -> u32 {
        let number = xxh3_64_with_seed(&self.thrown.to_be_bytes(), 0);
        self.thrown += 1;
        let weights: Vec<_> = able.iter().map(|s| self.weight(*s) as f64).collect();
        let point = number as f64 / 2_f64.powi(64) * weights.iter().sum::<f64>();
        let reaches = |count: &usize| weights[..*count].iter().sum::<f64>() > point;
        able[(1..able.len()).find(reaches).unwrap_or(able.len()) - 1]
    }

    /// A change after which the method says little.
    pub(super) fn start_up(&mut self) {
        let is_on = self.compares && self.rule.rate == 0;
        let requests = self.factor * self.bound.len() as u64;
        if is_on && requests > 0 && self.in_turn == 0 {
            self.served.clear();
        }
        self.in_turn = if is_on { requests } else { 0 };
    }

    /// Goes on in turn behind whoever was chosen last, by whatever rule.
    fn begin_pass(&mut self) {
        let is_last = |(service, _): &(u32, u64)| Some(*service) == self.last;
        let last = self.bound.iter().position(is_last);
        let rest = self.bound[last.map_or(0, |last| last + 1)..].iter();
        self.pass = rest.map(|(service, _)| *service).collect();
    }

    fn lacks_loads(&self, method: Method) -> bool {
        let lacks = |(service, _): (u32, u64)| self.members[&service].load.is_none();
        method == Method::CustomLoad && self.usable().any(lacks)
    }

    /// Connections times nanoseconds; who is not measured takes the mean of those that are.
    fn monitor_load(&self, service: u32) -> u64 {
        let time = |service: u32| self.members[&service].time_ms;
        let known: Vec<u64> = self
            .usable()
            .filter_map(|(service, _)| time(service))
            .collect();
        let mean = match known.len() as u64 {
            0 => 0,
            count => known.iter().sum::<u64>() * 1_000_000 / count,
        };
        let own = time(service).map_or(mean, |ms| ms * 1_000_000);
        let waited = self.longest_wait(service) * 1_000_000;
        (self.active(service) + self.recent_failures(service)) * own.max(waited).max(1)
    }

    fn pick_in_turn(&mut self, able: &[u32], lifted: bool) -> u32 {
        let is_new = |service: &u32| !lifted && self.ramps.contains_key(service);
        let (new, mut others): (Vec<u32>, Vec<u32>) = able.iter().partition(|s| is_new(s));
        if others.is_empty() {
            others = new;
        } else {
            let (served, weight) = self.progress(&others);
            let may_go_first = |service: &&u32| {
                let own = self.progress(&[**service]);
                own.0 < own.1 && own.0 * weight <= served * own.1
            };
            if let Some(&chosen) = new.iter().find(may_go_first) {
                *self.served.entry(chosen).or_default() += 1;
                return chosen;
            }
        }
        loop {
            while !self.pass.is_empty() {
                let service = self.pass.remove(0);
                if others.contains(&service) && self.has_quota(service) {
                    *self.served.entry(service).or_default() += 1;
                    self.last = Some(service);
                    return service;
                }
            }
            if !others.iter().any(|service| self.has_quota(*service)) {
                self.served.clear();
            }
            self.pass = self.bound.iter().map(|(service, _)| *service).collect();
        }
    }

    /// Returns how often these services were served in the round, and how often they may be.
    fn progress(&self, services: &[u32]) -> (u64, u64) {
        let bound = self.bound.iter().filter(|(s, _)| services.contains(s));
        bound.fold((0, 0), |sum, (service, weight)| {
            let served = self.served.get(service).copied().unwrap_or(0);
            (sum.0 + served, sum.1 + weight)
        })
    }

    /// Whoever is new and has no less load than one of the others may end its ramp.
    fn note_levels(&mut self, method: Method, able: &[u32]) {
        let none_to_compare = self.existing().next().is_none();
        let existing: Vec<_> = self.existing().filter(|(s, _)| able.contains(s)).collect();
        let new: Vec<_> = self.ramps.keys().copied().collect();
        for service in new {
            let value = |service: u32, times: u64| {
                let load = self.load(method, service) * times;
                (self.stands_behind(method, service), load)
            };
            let own_weight = self.weight(service);
            let mut others = existing.iter();
            let is_level =
                others.any(|&(other, weight)| value(service, weight) >= value(other, own_weight));
            if is_level || none_to_compare {
                self.ramps.get_mut(&service).unwrap().is_level = true;
            }
        }
    }

    fn charge(&mut self, chosen: u32) {
        let existing: u64 = self.existing().map(|(_, weight)| weight).sum();
        let is_new = self.ramps.contains_key(&chosen);
        let rule = self.rule;
        let weights: BTreeMap<_, _> = self.bound.iter().copied().collect();
        for (service, ramp) in &mut self.ramps {
            ramp.count();
            if !is_new && rule.unit == RampUnit::Percent {
                ramp.earn(rule, weights[service], existing);
            }
        }
        if let Some(ramp) = self.ramps.get_mut(&chosen) {
            ramp.pay();
        }
    }

    /// Goes over what is bound and enabled.
    fn usable(&self) -> impl Iterator<Item = (u32, u64)> {
        let bound = self.bound.iter().copied();
        bound.filter(|(service, _)| !self.members[service].disabled)
    }

    fn existing(&self) -> impl Iterator<Item = (u32, u64)> {
        self.usable()
            .filter(|(service, _)| !self.ramps.contains_key(service))
    }

    fn weight(&self, service: u32) -> u64 {
        let mut bound = self.bound.iter();
        bound.find(|(bound, _)| *bound == service).unwrap().1
    }

    /// Lets time pass.
    pub(super) fn pass_time(&mut self, ms: u64, method: Method) {
        for _ in 0..ms {
            self.now += 1;
            let usable: u64 = self.usable().map(|(_, weight)| weight).sum();
            for (service, weight) in self.bound.clone() {
                let ramp = self.ramps.get_mut(&service);
                if ramp.is_some_and(|ramp| ramp.pass(self.rule, compares(method), weight, usable)) {
                    self.end_ramp(service);
                }
            }
        }
    }

    fn end_ramp(&mut self, service: u32) {
        let others: Vec<_> = self.existing().map(|(service, _)| service).collect();
        self.ramps.remove(&service);
        let (served, weight) = self.progress(&others);
        let even = (served * self.weight(service))
            .checked_div(weight)
            .unwrap_or(0);
        let own = self.served.entry(service).or_default();
        *own = even.max(*own);
    }

    pub(super) fn is_bound(&self, service: u32) -> bool {
        self.bound.iter().any(|(bound, _)| *bound == service)
    }

    pub(super) fn start_ramp(&mut self, service: u32) {
        if self.rule.rate > 0 && self.is_bound(service) && !self.members[&service].disabled {
            self.ramps.insert(service, Ramp::new());
        }
    }

    pub(super) fn set_rule(&mut self, rule: Rule) {
        let old = std::mem::replace(&mut self.rule, rule);
        if rule.rate > 0 {
            self.in_turn = 0;
        }
        if rule.rate == 0 {
            for (service, _) in self.bound.clone() {
                if self.ramps.contains_key(&service) {
                    self.end_ramp(service);
                }
            }
        }
        for ramp in self.ramps.values_mut() {
            ramp.change(old, rule);
        }
    }

    fn has_quota(&self, service: u32) -> bool {
        self.served.get(&service).copied().unwrap_or(0) < self.weight(service)
    }

    pub(super) fn bind(&mut self, service: u32, weight: u64) {
        self.bound.push((service, weight));
        self.pass.push(service);
        self.served.remove(&service);
        self.start_ramp(service);
        self.start_up();
    }

    pub(super) fn unbind(&mut self, service: u32) {
        let index = self
            .bound
            .iter()
            .position(|(bound, _)| *bound == service)
            .unwrap();
        if self.last == Some(service) {
            // The turn stays between the neighbours of the one that leaves.
            self.last = index.checked_sub(1).map(|before| self.bound[before].0);
        }
        self.ramps.remove(&service);
        self.bound.remove(index);
        self.pass.retain(|waiting| *waiting != service);
    }
}

/// Whether the method compares a number of each service.
pub(super) fn compares(method: Method) -> bool {
    !matches!(method, Method::RoundRobin | Method::Random)
}
