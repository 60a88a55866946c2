//! One virtual server: settings, state, bindings, and the choice among these.
//!
//! Invariants: `bindings` is in bind order, without a service twice; the chooser is told of each
//! bind and unbind; `active` is the number of reservations out, including those of services that
//! were unbound meanwhile. What a slow start adds is in `ramps`, what persistence does in `sticky`.

mod ramps;
mod sticky;

use std::sync::Arc;
use std::time::Duration;

use self::sticky::Honour;
use crate::method::{Candidate, Chooser, load_of};
use crate::persistence::Held;
use crate::ramp::{Ramp, Terms};
use crate::rate::{Rates, Totals};
use crate::services::{Services, Slot};
use crate::{
    BindingStatus, ChosenBy, Counters, Instant, Refusal, ServiceId, State, VserverId,
    VserverSettings, VserverStatus, Weight,
};

/// All that the core keeps of a virtual server.
#[derive(Debug)]
pub(crate) struct Vserver {
    pub(crate) settings: VserverSettings,
    pub(crate) state: State,
    pub(crate) bindings: Vec<Binding>,
    pub(crate) active: u64,
    pub(crate) hits: u64,
    pub(crate) refused: u64,
    pub(crate) counters: Arc<Counters>,
    /// Choices ever made, those given back unused too.
    pub(crate) choices: u64,
    /// Bindings that have a ramp.
    ramps: usize,
    chooser: Chooser,
    since: Instant,
    rates: Rates,
}

/// What a choice took.
pub(crate) struct Chosen {
    /// The position of the binding.
    pub(crate) position: usize,
    /// What a new service paid; none if it is not new.
    pub(crate) paid: Option<u32>,
    /// What decided.
    pub(crate) rule: ChosenBy,
    /// Whether the client's entry stays with the service it names.
    pub(crate) keeps_entry: bool,
}

/// One bound service.
#[derive(Debug)]
pub(crate) struct Binding {
    pub(crate) service: ServiceId,
    pub(crate) slot: Slot,
    pub(crate) weight: Weight,
    pub(crate) active: u64,
    pub(crate) hits: u64,
    /// Tells this binding from an earlier one of the same two, whose flows may still be ending.
    pub(crate) serial: u64,
    /// Its slow start, while it is new and UP.
    pub(crate) ramp: Option<Box<Ramp>>,
}

impl Vserver {
    /// Makes a virtual server without services.
    pub(crate) fn new(settings: VserverSettings, now: Instant) -> Self {
        Self {
            state: if settings.enabled {
                State::Down
            } else {
                State::OutOfService
            },
            bindings: Vec::new(),
            active: 0,
            hits: 0,
            refused: 0,
            counters: Arc::default(),
            choices: 0,
            ramps: 0,
            chooser: Chooser::new(settings.method),
            since: now,
            rates: Rates::new(),
            settings,
        }
    }

    /// Takes new settings; the state is brought up to date by [`Self::update_state`].
    pub(crate) fn set(&mut self, settings: VserverSettings, services: &Services, now: Instant) {
        self.chooser.set_method(settings.method);
        let former = std::mem::replace(&mut self.settings, settings);
        self.retune_ramps(&former, services, now);
    }

    /// Adds a service, last in bind order.
    ///
    /// # Panics
    /// When it is bound already.
    pub(crate) fn bind(&mut self, binding: Binding) {
        let former = self.position(binding.service);
        assert!(former.is_none(), "service {} is bound", binding.service.0);
        self.bindings.push(binding);
        self.chooser.bind();
    }

    /// Drops a service and moves nothing else; returns whether it was bound.
    pub(crate) fn unbind(&mut self, service: ServiceId) -> bool {
        let Some(position) = self.position(service) else {
            return false;
        };
        self.drop_ramp(service);
        self.bindings.remove(position);
        self.chooser.unbind(position);
        true
    }

    /// Returns the binding of a service.
    pub(crate) fn binding_mut(&mut self, service: ServiceId) -> Option<&mut Binding> {
        self.position(service)
            .map(|position| &mut self.bindings[position])
    }

    /// Brings the state in line with settings and services; returns the former one if it changed.
    pub(crate) fn update_state(&mut self, services: &Services, now: Instant) -> Option<State> {
        let state = self.current_state(services);
        if state == self.state {
            return None;
        }
        self.since = now;
        Some(std::mem::replace(&mut self.state, state))
    }

    /// Chooses a binding for a flow whose client has the entry `held`; `scratch` is room for the
    /// candidates.
    ///
    /// Slow start refuses nobody: where only services at their limit are left, the limits are
    /// lifted for this choice.
    ///
    /// # Errors
    /// Why none can be chosen.
    pub(crate) fn choose(
        &mut self,
        services: &Services,
        tried: &[ServiceId],
        base: usize,
        now: Instant,
        held: Option<Held>,
        scratch: &mut Vec<Candidate>,
    ) -> Result<Chosen, Refusal> {
        match self.state {
            State::OutOfService => return Err(Refusal::OutOfService),
            State::Down => return Err(Refusal::Down),
            State::Up => {}
        }
        let terms = self.settle_ramps(services, now);
        let mut keeps_entry = false;
        match held.map(|held| self.honour(&held, services, tried)) {
            Some(Honour::Take(position)) => {
                return Ok(self.take(position, ChosenBy::Persistence, true, terms));
            }
            Some(Honour::Refuse) => return Err(Refusal::Full),
            Some(Honour::Bypass) => keeps_entry = true,
            Some(Honour::Rebind) | None => {}
        }
        if terms.is_some() {
            self.find_candidates::<true>(services, tried, base, scratch);
        }
        if terms.is_none() || scratch.is_empty() {
            self.find_candidates::<false>(services, tried, base, scratch);
        }
        if scratch.is_empty() {
            return Err(Refusal::Full);
        }
        if let Some(terms) = &terms {
            self.note_levels(terms, services, base, scratch);
        }
        let position = scratch[self.chooser.select(scratch, terms.is_some())].position;
        Ok(self.take(position, ChosenBy::Method, keeps_entry, terms))
    }

    /// Counts the choice of the binding at `position`.
    fn take(
        &mut self,
        position: usize,
        rule: ChosenBy,
        keeps_entry: bool,
        terms: Option<Terms>,
    ) -> Chosen {
        self.choices += 1;
        Chosen {
            position,
            paid: terms.and_then(|terms| self.charge(position, &terms)),
            rule,
            keeps_entry,
        }
    }

    /// Keeps a sample for the rates.
    pub(crate) fn record_rates(&mut self, slot: usize) {
        self.rates.record(slot, self.totals());
    }

    /// Shows the virtual server; `rate` is the slot of the rates' baseline.
    pub(crate) fn status(
        &self,
        id: VserverId,
        services: &Services,
        rate: usize,
        rate_age: Duration,
    ) -> VserverStatus {
        let totals = self.totals();
        let per_second = self.rates.per_second(totals, rate, rate_age);
        VserverStatus {
            id,
            state: self.state,
            since: self.since,
            active: self.active,
            hits: self.hits,
            hits_per_s: per_second.hits,
            refused: self.refused,
            bytes_in: totals.bytes_in,
            bytes_out: totals.bytes_out,
            bytes_in_per_s: per_second.bytes_in,
            bytes_out_per_s: per_second.bytes_out,
            packets_in: self.counters.packets_in(),
            packets_out: self.counters.packets_out(),
            persistence: None,
            bindings: self.show_bindings(services, per_second.hits),
        }
    }

    fn show_bindings(&self, services: &Services, per_second: u64) -> Vec<BindingStatus> {
        let terms = self.terms(services);
        let show = |binding: &Binding| binding.status(services, terms.as_ref(), per_second);
        self.bindings.iter().map(show).collect()
    }

    /// Fills `found` with the services that may take a flow, in bind order.
    ///
    /// This is the one place that holds services back; `LIMITED` says whether slow starts do. It is
    /// a constant because most virtual servers have none, and this loop is most of a choice.
    fn find_candidates<const LIMITED: bool>(
        &self,
        services: &Services,
        tried: &[ServiceId],
        base: usize,
        found: &mut Vec<Candidate>,
    ) {
        let load = load_of(self.chooser.method());
        found.clear();
        found.extend(
            self.bindings
                .iter()
                .enumerate()
                .filter_map(|(position, binding)| {
                    let service = services.at(binding.slot);
                    let ramp = binding.ramp.as_ref().filter(|_| LIMITED);
                    let admitted = service.state == State::Up
                        && service.has_room()
                        && !ramp.is_some_and(|ramp| ramp.holds_back())
                        && !tried.contains(&binding.service);
                    admitted.then(|| Candidate {
                        position,
                        weight: binding.weight,
                        load: load(service, base),
                        is_new: ramp.is_some(),
                    })
                }),
        );
    }

    fn current_state(&self, services: &Services) -> State {
        let is_up = |binding: &Binding| services.at(binding.slot).state == State::Up;
        if !self.settings.enabled {
            State::OutOfService
        } else if self.bindings.iter().any(is_up) {
            State::Up
        } else {
            State::Down
        }
    }

    fn position(&self, service: ServiceId) -> Option<usize> {
        self.bindings.iter().position(|b| b.service == service)
    }

    fn totals(&self) -> Totals {
        Totals {
            hits: self.hits,
            bytes_in: self.counters.bytes_in(),
            bytes_out: self.counters.bytes_out(),
        }
    }
}

impl Binding {
    fn status(&self, services: &Services, terms: Option<&Terms>, per_second: u64) -> BindingStatus {
        let ramp = self.ramp.as_ref().zip(terms);
        let weight = self.weight.value();
        BindingStatus {
            service: self.service,
            weight: self.weight,
            state: services.at(self.slot).state,
            hits: self.hits,
            active: self.active,
            ramp: ramp.map(|(ramp, terms)| ramp.status(weight, terms, per_second)),
        }
    }
}
