//! One virtual server: settings, state, bindings, and the choice among these.
//!
//! Invariants: `bindings` is in bind order, without a service twice; the chooser is told of each
//! bind and unbind; `active` is the number of reservations out, including those of services that
//! were unbound meanwhile.

use std::sync::Arc;
use std::time::Duration;

use crate::method::{Candidate, Chooser, load_of};
use crate::rate::{Rates, Totals};
use crate::services::{Services, Slot};
use crate::{
    BindingStatus, Counters, Instant, Refusal, ServiceId, State, VserverId, VserverSettings,
    VserverStatus, Weight,
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
    chooser: Chooser,
    since: Instant,
    rates: Rates,
}

/// One bound service. What a slow start will keep of it goes here too.
#[derive(Debug)]
pub(crate) struct Binding {
    pub(crate) service: ServiceId,
    pub(crate) slot: Slot,
    pub(crate) weight: Weight,
    pub(crate) active: u64,
    pub(crate) hits: u64,
    /// Tells this binding from an earlier one of the same two, whose flows may still be ending.
    pub(crate) serial: u64,
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
            chooser: Chooser::new(settings.method),
            since: now,
            rates: Rates::new(),
            settings,
        }
    }

    /// Takes new settings; the state is brought up to date by [`Self::update_state`].
    pub(crate) fn set(&mut self, settings: VserverSettings) {
        self.chooser.set_method(settings.method);
        self.settings = settings;
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

    /// Chooses a binding for a flow and returns its position; `scratch` is room for the candidates.
    ///
    /// # Errors
    /// Why none can be chosen.
    pub(crate) fn choose(
        &mut self,
        services: &Services,
        tried: &[ServiceId],
        base: usize,
        scratch: &mut Vec<Candidate>,
    ) -> Result<usize, Refusal> {
        match self.state {
            State::OutOfService => return Err(Refusal::OutOfService),
            State::Down => return Err(Refusal::Down),
            State::Up => {}
        }
        self.find_candidates(services, tried, base, scratch);
        if scratch.is_empty() {
            return Err(Refusal::Full);
        }
        let index = self.chooser.select(scratch);
        Ok(scratch[index].position)
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
            bindings: self.bindings.iter().map(|b| b.status(services)).collect(),
        }
    }

    /// Fills `found` with the services that may take a flow, in bind order.
    ///
    /// This is the one place that holds services back: a limit of its own, such as that of a slow
    /// start, joins the conditions here.
    fn find_candidates(
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
                    let admitted = service.state == State::Up
                        && service.has_room()
                        && !tried.contains(&binding.service);
                    admitted.then(|| Candidate {
                        position,
                        weight: binding.weight,
                        load: load(service, base),
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
    fn status(&self, services: &Services) -> BindingStatus {
        BindingStatus {
            service: self.service,
            weight: self.weight,
            state: services.at(self.slot).state,
            hits: self.hits,
            active: self.active,
        }
    }
}
