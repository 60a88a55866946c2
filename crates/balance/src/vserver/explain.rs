//! What a virtual server and each of its services say to a choice, put into words.
//!
//! Owns nothing and chooses nothing: it is told what was chosen, and reads the same numbers as the
//! choice, through the same gauge.

use super::orders::Among;
use super::sticky::Honour;
use super::{Binding, Chosen, Question, Vserver};
use crate::explain::{
    Asked, CandidateStatus, DecidedBy, EntryEffect, EntryStatus, Exclusion, MethodChoice, Missing,
    Unit, Verdict,
};
use crate::method::{Candidate, Gauge, Rule, is_less};
use crate::persistence::{Held, StickTo};
use crate::services::Services;
use crate::{ChosenBy, HashAlgorithm, Method, Order, PersistenceKind, State, VserverId};

impl Vserver {
    /// Says what the choice of `chosen` went by; all ramps are at the time of the question.
    ///
    /// Shape: the verdict and the id are for the caller to fill in.
    pub(crate) fn examine(
        &self,
        services: &Services,
        question: &Question<'_>,
        held: Option<Held>,
        chosen: Option<&Chosen>,
    ) -> Asked {
        let by_method = chosen.filter(|chosen| chosen.rule == ChosenBy::Method);
        let scene = Scene {
            gauge: self.gauge(self.rule(question.flow), question),
            services,
            question,
            limits_lifted: by_method
                .and_then(|chosen| self.bindings[chosen.position].ramp.as_ref())
                .is_some_and(|ramp| ramp.holds_back()),
            later: self.later_orders(by_method),
        };
        let mut candidates = self.examine_services(&scene);
        let rule = chosen.map(|chosen| {
            candidates[chosen.position].is_chosen = true;
            self.decided_by(&scene, chosen, &candidates)
        });
        Asked {
            vserver: VserverId(0),
            verdict: Verdict::Serves,
            method: self.settings.method,
            rule,
            entry: held.and_then(|held| self.entry(&held, services, question)),
            unit: self.unit(scene.gauge.rule),
            candidates,
        }
    }

    /// Returns what of a client the method looks at that is not known, a token apart.
    pub(crate) fn method_needs(&self, unknown: Missing) -> Missing {
        let (src, src_port, dst) = match self.settings.method {
            Method::SourceIpHash => (true, false, false),
            Method::DestinationIpHash => (false, false, true),
            Method::SrcIpDestIpHash => (true, false, true),
            Method::SrcIpSrcPortHash => (true, true, false),
            Method::RoundRobin
            | Method::LeastConnection
            | Method::LeastBandwidth
            | Method::LeastPackets
            | Method::LeastRequest
            | Method::LeastResponseTime
            | Method::LeastMonitorTime
            | Method::CustomLoad
            | Method::Random
            | Method::Token(_) => (false, false, false),
        };
        Missing {
            src: src && unknown.src,
            src_port: src_port && unknown.src_port,
            dst: dst && unknown.dst,
            token: false,
        }
    }

    /// Returns what of a client tells its persistence entry that is not known.
    pub(crate) fn entry_needs(&self, unknown: Missing) -> Missing {
        let (src, dst) = match self.settings.persistence.map(|own| own.kind) {
            None => (false, false),
            Some(PersistenceKind::SourceIp) => (true, false),
            Some(PersistenceKind::DestIp) => (false, true),
            Some(PersistenceKind::SrcIpDestIp) => (true, true),
        };
        Missing {
            src: src && unknown.src,
            dst: dst && unknown.dst,
            ..Missing::default()
        }
    }

    /// Whether the method looks at what a client begins with.
    pub(crate) fn looks_at_token(&self) -> bool {
        matches!(self.settings.method, Method::Token(_))
    }

    fn examine_services(&self, scene: &Scene<'_>) -> Vec<CandidateStatus> {
        let terms = self.terms(scene.services);
        let bindings = self.bindings.iter().enumerate();
        let examine = |(position, binding): (usize, &Binding)| {
            let service = scene.services.at(binding.slot);
            let reading = scene.gauge.read(service);
            let value = match self.unit(scene.gauge.rule) {
                None => None,
                Some(Unit::RoundRequests) => Some(self.chooser.served(position)),
                Some(Unit::Weight) => Some(binding.weight.value()),
                Some(
                    Unit::Connections
                    | Unit::Bytes
                    | Unit::Packets
                    | Unit::ConnectionNanoseconds
                    | Unit::Load
                    | Unit::HashScore,
                ) => Some(reading.load),
            };
            let status = binding.status(scene.services, terms.as_ref(), 0);
            CandidateStatus {
                service: binding.service,
                state: service.state,
                weight: binding.weight,
                order: binding.order,
                value,
                weighted: value
                    .filter(|_| scene.gauge.rule.compares())
                    .map(|value| u128::from(value) * 10_000 / u128::from(binding.weight.value())),
                stands_behind: reading.behind,
                ramp: status.ramp,
                exclusions: scene.exclusions(binding),
                is_chosen: false,
            }
        };
        bindings.map(examine).collect()
    }

    fn decided_by(
        &self,
        scene: &Scene<'_>,
        chosen: &Chosen,
        candidates: &[CandidateStatus],
    ) -> DecidedBy {
        match chosen.rule {
            ChosenBy::Persistence => return DecidedBy::Persistence,
            ChosenBy::Method => {}
        }
        let takes_part = |position: &usize| candidates[*position].exclusions.is_empty();
        let others = (0..candidates.len()).filter(takes_part);
        let is_new =
            |position: usize| !scene.limits_lifted && self.bindings[position].ramp.is_some();
        let choice = match scene.gauge.rule {
            Rule::InTurn => {
                let out_of_turn = is_new(chosen.position) && { others }.any(|other| !is_new(other));
                if out_of_turn {
                    MethodChoice::NewOutOfTurn
                } else {
                    MethodChoice::Turn
                }
            }
            Rule::LeastConnection
            | Rule::LeastBandwidth
            | Rule::LeastPackets
            | Rule::LeastResponseTime
            | Rule::LeastMonitorTime
            | Rule::LeastLoad => {
                let best = self.candidate(scene, chosen.position);
                let is_tie = |other: &usize| !is_less(&best, &self.candidate(scene, *other));
                MethodChoice::Least {
                    ties: others.filter(is_tie).count(),
                }
            }
            Rule::AtRandom => MethodChoice::Chance,
            Rule::Hash(_) if self.has_table() => MethodChoice::HashTable,
            Rule::Hash(_) => MethodChoice::Hash,
        };
        DecidedBy::Method {
            choice,
            limits_lifted: scene.limits_lifted,
        }
    }

    fn candidate(&self, scene: &Scene<'_>, position: usize) -> Candidate {
        let binding = &self.bindings[position];
        let reading = scene.gauge.read(scene.services.at(binding.slot));
        Candidate::new(position, binding.weight, reading, false)
    }

    fn entry(
        &self,
        held: &Held,
        services: &Services,
        question: &Question<'_>,
    ) -> Option<EntryStatus> {
        let service = match held.to {
            StickTo::Service(service) => service,
            StickTo::Vserver(_) => return None,
        };
        let effect = match self.honour(held, services, question) {
            Honour::Take(_) => EntryEffect::Decides,
            Honour::Refuse => EntryEffect::Refuses,
            Honour::Bypass => EntryEffect::Bypassed,
            Honour::Rebind => EntryEffect::Moves,
        };
        Some(EntryStatus { service, effect })
    }

    fn unit(&self, rule: Rule) -> Option<Unit> {
        match rule {
            Rule::InTurn => Some(Unit::RoundRequests),
            Rule::AtRandom => Some(Unit::Weight),
            Rule::LeastConnection => Some(Unit::Connections),
            Rule::LeastBandwidth => Some(Unit::Bytes),
            Rule::LeastPackets => Some(Unit::Packets),
            Rule::LeastResponseTime | Rule::LeastMonitorTime => Some(Unit::ConnectionNanoseconds),
            Rule::LeastLoad => Some(Unit::Load),
            Rule::Hash(_) => (!self.has_table()).then_some(Unit::HashScore),
        }
    }

    /// Whether its hashes are looked up in a table.
    pub(super) fn has_table(&self) -> bool {
        match self.settings.hash.algorithm {
            HashAlgorithm::Default => false,
            HashAlgorithm::Prac(_) | HashAlgorithm::Jarh(_) => true,
        }
    }

    /// Returns the orders that come after the one whose services take part.
    fn later_orders(&self, by_method: Option<&Chosen>) -> Vec<Among> {
        let order = by_method.map(|chosen| self.bindings[chosen.position].order);
        let is_it = |one: &Option<Order>| order.is_none_or(|order| order == *one);
        let used = self.sequence.iter().position(is_it);
        let later = self.sequence.iter().skip(used.map_or(0, |used| used + 1));
        later.copied().map(Among::Order).collect()
    }
}

/// What the services are looked at with.
struct Scene<'a> {
    gauge: Gauge,
    services: &'a Services,
    question: &'a Question<'a>,
    limits_lifted: bool,
    /// Orders that take the flow only if others cannot.
    later: Vec<Among>,
}

impl Scene<'_> {
    fn exclusions(&self, binding: &Binding) -> Vec<Exclusion> {
        let service = self.services.at(binding.slot);
        let settings = &service.settings;
        let state: &[Exclusion] = match service.state {
            State::Up => &[],
            State::Down => &[Exclusion::Down],
            State::Unknown => &[Exclusion::Unknown],
            State::OutOfService => &[Exclusion::OutOfService],
            State::GoingOutOfService => &[Exclusion::GoingOutOfService],
            State::DownWhenGoingOutOfService => &[Exclusion::GoingOutOfService, Exclusion::Down],
        };
        let clients = settings
            .max_client
            .filter(|most| service.active >= u64::from(*most));
        let has_bandwidth = service.has_bandwidth(&self.question.recent);
        let bandwidth = settings.max_bandwidth.filter(|_| !has_bandwidth);
        let is_standby = self.later.iter().any(|among| among.includes(binding));
        let ramp = binding.ramp.as_ref();
        let is_held_back = !self.limits_lifted && ramp.is_some_and(|ramp| ramp.holds_back());
        let is_trying = service.inline.is_trying();
        let state = state.iter().copied();
        state
            .chain(is_trying.then_some(Exclusion::OnTrial))
            .chain(clients.map(Exclusion::MaxClient))
            .chain(bandwidth.map(Exclusion::MaxBandwidth))
            .chain(is_held_back.then_some(Exclusion::SlowStart))
            .chain(is_standby.then_some(Exclusion::Standby))
            .collect()
    }
}

impl Asked {
    /// Whether several services take part, and the method decides.
    pub(crate) fn is_open(&self) -> bool {
        let takes_part = |candidate: &&CandidateStatus| candidate.exclusions.is_empty();
        matches!(self.rule, Some(DecidedBy::Method { .. }))
            && self.candidates.iter().filter(takes_part).count() > 1
    }

    /// Whether chance decides.
    pub(crate) fn is_by_chance(&self) -> bool {
        self.unit == Some(Unit::Weight)
    }
}
