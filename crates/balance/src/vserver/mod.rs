//! One virtual server: settings, state, bindings, and the choice among these.
//!
//! Invariants: `bindings` is in bind order, without a service twice; the chooser is told of each
//! bind and unbind; `active` is the number of reservations out, including those of services that
//! were unbound meanwhile; `hash_table` is that of the services bound now, or none. How one of them
//! is chosen is in `choice`, how in fewer steps in `turn`, `index` and `score`, what a slow start adds in `ramps`,
//! what persistence does in `sticky`; `explain` puts a choice into words.

mod choice;
mod explain;
mod index;
mod orders;
mod ramps;
mod score;
mod spare;
mod spillover;
mod startup;
mod sticky;
mod turn;

use std::sync::Arc;
use std::time::Duration;

use crate::fading::AverageTime;
use crate::hash::Table;
use crate::health::Health;
use crate::inline::LastAnswers;
use crate::method::Chooser;
use crate::monitored::Monitored;
use crate::ramp::{Ramp, Terms};
use crate::rate::{Rates, Recent, Totals};
use crate::services::{Services, Slot};
use crate::{
    Bind, BindingStatus, Counters, Diversion, Instant, Order, Percent, ServiceId, StartupReason,
    State, VserverId, VserverSettings, VserverStatus, Weight,
};

pub(crate) use choice::{Chosen, Denial, Question, Thresholds};
pub(crate) use index::{Index, Indexing};
use startup::Startup;

/// All that the core keeps of a virtual server.
#[derive(Clone, Debug)]
pub(crate) struct Vserver {
    pub(crate) settings: VserverSettings,
    pub(crate) state: State,
    /// Whether it is DOWN until the operator enables it.
    pub(crate) is_held_down: bool,
    /// Whether it is DOWN for nothing but services that are going out of service, and still takes the
    /// clients that stick to these.
    pub(crate) lingers: bool,
    pub(crate) bindings: Vec<Binding>,
    pub(crate) active: u64,
    pub(crate) hits: u64,
    pub(crate) refused: u64,
    pub(crate) aborted: u64,
    pub(crate) diverted: Diverted,
    pub(crate) counters: Arc<Counters>,
    /// Choices ever made, those given back unused too.
    pub(crate) choices: u64,
    /// Bindings that have a ramp.
    ramps: usize,
    chooser: Chooser,
    /// Orders with a service that is UP, the best first; empty if no service has an order.
    sequence: Vec<Option<Order>>,
    /// Made by the first choice that needs it.
    hash_table: Option<Arc<Table>>,
    pub(crate) index: Index,
    startup: Startup,
    pub(crate) monitored: Monitored,
    pub(crate) last_answers: LastAnswers,
    /// Of its flows that were answered, whichever service did.
    pub(crate) times: AverageTime,
    since: Instant,
    rates: Rates,
}

/// Flows that clients dialled here and that backups serve.
#[derive(Clone, Debug, Default)]
pub(crate) struct Diverted {
    /// Now.
    pub(crate) active: u64,
    /// Ever, because this one was DOWN.
    pub(crate) down: u64,
    /// Ever, because this one had no room.
    pub(crate) spillover: u64,
}

/// One bound service.
#[derive(Clone, Debug)]
pub(crate) struct Binding {
    pub(crate) service: ServiceId,
    pub(crate) slot: Slot,
    pub(crate) weight: Weight,
    pub(crate) order: Option<Order>,
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
            is_held_down: false,
            lingers: false,
            bindings: Vec::new(),
            active: 0,
            hits: 0,
            refused: 0,
            aborted: 0,
            diverted: Diverted::default(),
            counters: Arc::default(),
            choices: 0,
            ramps: 0,
            chooser: Chooser::new(settings.method),
            sequence: Vec::new(),
            hash_table: None,
            index: Index::default(),
            startup: Startup::default(),
            monitored: Monitored::default(),
            last_answers: LastAnswers::default(),
            times: AverageTime::default(),
            since: now,
            rates: Rates::new(),
            settings,
        }
    }

    /// Takes new settings; the state is brought up to date by [`Self::update_state`].
    pub(crate) fn set(&mut self, settings: VserverSettings, services: &Services, now: Instant) {
        self.chooser.set_method(settings.method);
        let former = std::mem::replace(&mut self.settings, settings);
        if former.hash != self.settings.hash {
            self.drop_hash_table();
        }
        self.is_held_down &= self.settings.enabled && self.stays_down();
        self.retune_ramps(&former, services, now);
        if former.method != self.settings.method {
            self.start_up(StartupReason::MethodChanged);
        } else if self.settings.enabled && !former.enabled {
            self.start_up(StartupReason::VserverEnabled);
        } else {
            self.check_startup();
        }
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
        self.drop_hash_table();
    }

    /// Drops a service and moves nothing else; returns whether it was bound.
    pub(crate) fn unbind(&mut self, service: ServiceId) -> bool {
        let Some(position) = self.position(service) else {
            return false;
        };
        self.drop_ramp(service);
        self.bindings.remove(position);
        self.chooser.unbind(position);
        self.drop_hash_table();
        true
    }

    /// Changes weight and order of a bound service; returns whether it is bound.
    pub(crate) fn set_weight(&mut self, bind: &Bind) -> bool {
        self.drop_hash_table();
        let Some(binding) = self.binding_mut(bind.service) else {
            return false;
        };
        (binding.weight, binding.order) = (bind.weight, bind.order);
        true
    }

    /// Returns the binding with this serial; the order of serials is the bind order.
    pub(crate) fn binding_by_serial(&mut self, serial: u64) -> Option<&mut Binding> {
        let found = self
            .bindings
            .binary_search_by_key(&serial, |binding| binding.serial);
        found.ok().map(|position| &mut self.bindings[position])
    }

    /// Returns the binding of a service.
    pub(crate) fn binding_mut(&mut self, service: ServiceId) -> Option<&mut Binding> {
        self.position(service)
            .map(|position| &mut self.bindings[position])
    }

    /// Brings the state, which order takes traffic, and what monitors say, in line with settings and services; returns
    /// the former one if it changed.
    pub(crate) fn update_state(&mut self, services: &Services, now: Instant) -> Option<State> {
        self.update_sequence(services);
        let bound = self
            .bindings
            .iter()
            .map(|binding| services.at(binding.slot));
        let up = bound.filter(|service| service.state == State::Up);
        self.monitored = Monitored::of(up.map(|service| service.monitored));
        let state = self.current_state(services);
        let former = (state != self.state).then(|| {
            self.since = now;
            let goes_down = (self.state, state) == (State::Up, State::Down);
            self.is_held_down = goes_down && self.stays_down();
            std::mem::replace(&mut self.state, state)
        });
        self.lingers = state == State::Down
            && !self.is_held_down
            && self.honours_trofs()
            && self.is_enough(services, |state| {
                matches!(state, State::Up | State::GoingOutOfService)
            });
        former
    }

    /// Whether a flow gets its first place here; a virtual server that the client dialled, or not.
    ///
    /// A service that failed the flow and is bound here had it from here, unless an earlier one of
    /// the chain binds it as well; then a hit is missed.
    pub(crate) fn is_first(&self, is_dialled: bool, tried: &[ServiceId]) -> bool {
        let had_it = |service: &ServiceId| self.position(*service).is_some();
        tried.is_empty() || !is_dialled && !tried.iter().any(had_it)
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
        recent: Recent,
    ) -> VserverStatus {
        let totals = self.totals();
        let per_second = self.rates.per_second(totals, rate, rate_age);
        VserverStatus {
            id,
            state: self.state,
            effective: self.state,
            since: self.since,
            active: self.active,
            hits: self.hits,
            hits_per_s: per_second.hits,
            refused: self.refused,
            aborted: self.aborted,
            is_held_down: self.is_held_down,
            is_spilling: self.is_spilling(services, recent),
            down_backup_hits: self.diverted.down,
            spillover_hits: self.diverted.spillover,
            bytes_in: totals.bytes_in,
            bytes_out: totals.bytes_out,
            bytes_in_per_s: per_second.bytes_in,
            bytes_out_per_s: per_second.bytes_out,
            packets_in: self.counters.packets_in(),
            packets_out: self.counters.packets_out(),
            persistence: None,
            startup: self.startup(),
            bindings: self.show_bindings(services, per_second.hits),
        }
    }

    fn show_bindings(&self, services: &Services, per_second: u64) -> Vec<BindingStatus> {
        let terms = self.terms(services);
        let in_force = self.in_force();
        let show = |binding: &Binding| BindingStatus {
            is_standby: !in_force.includes(binding),
            ..binding.status(services, terms.as_ref(), per_second)
        };
        self.bindings.iter().map(show).collect()
    }

    fn current_state(&self, services: &Services) -> State {
        if !self.settings.enabled {
            State::OutOfService
        } else if self.is_held_down || !self.is_enough(services, |state| state == State::Up) {
            State::Down
        } else {
            State::Up
        }
    }

    /// Whether those of its services that count are enough for it to be UP.
    fn is_enough(&self, services: &Services, counts: impl Fn(State) -> bool) -> bool {
        let threshold = self.settings.health_threshold;
        let is_any = || {
            let mut bindings = self.bindings.iter();
            bindings.any(|binding| counts(services.at(binding.slot).state))
        };
        is_any()
            && (threshold == Percent::ZERO || !self.health(services, &counts).is_below(threshold))
    }

    /// Whether it stays DOWN once it goes DOWN.
    fn stays_down(&self) -> bool {
        let backup = &self.settings.backup;
        backup.disable_primary_on_down && backup.vserver.is_some()
    }

    /// Returns how much of the bound weight is of services whose state counts.
    fn health(&self, services: &Services, counts: impl Fn(State) -> bool) -> Health {
        let mut health = Health::default();
        for binding in &self.bindings {
            let weight = binding.weight.value();
            health.bound += weight;
            if counts(services.at(binding.slot).state) {
                health.up += weight;
            }
        }
        health
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

impl Diverted {
    /// Returns the number of flows ever that were diverted for a reason.
    pub(crate) fn hits_mut(&mut self, diversion: Diversion) -> &mut u64 {
        match diversion {
            Diversion::Down => &mut self.down,
            Diversion::Spillover => &mut self.spillover,
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
            order: self.order,
            is_standby: false,
            state: services.at(self.slot).state,
            hits: self.hits,
            active: self.active,
            ramp: ramp.map(|(ramp, terms)| ramp.status(weight, terms, per_second)),
        }
    }
}
