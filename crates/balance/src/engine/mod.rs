//! The engine: one value that holds all balancing state and answers `select`.
//!
//! Owns the objects, the sampling of their counters and the queue of outputs. This file has the
//! inputs and outputs of running traffic; how configuration takes effect is in `apply`, what is
//! shown in `status`, who sticks to what in `sticky`, what a choice would be and why in `explain`.

mod answers;
mod apply;
mod chain;
mod drain;
mod explain;
mod inline;
mod keep;
mod monitored;
mod monitors;
mod status;
mod sticky;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use chain::Served;

use crate::dice::Dice;
use crate::method::Candidate;
use crate::monitor::Monitors;
use crate::persistence::Tables;
use crate::rate::{RATE_SLOTS, RATE_SPAN, RATE_STEP, RECENT_SPAN, Recent};
use crate::services::{Services, Slot};
use crate::timeline::Timeline;
use crate::vserver::{Index, Indexing, Question, Thresholds, Vserver};
use crate::waiting::Flows;
use crate::window::{WINDOW_SLOTS, WINDOW_SPAN, WINDOW_STEP};
use crate::{
    CloseReason, FlowKey, Instant, Output, PassiveSettings, Refusal, Reservation, Selection,
    ServiceId, State, VserverId,
};

/// All balancing state of the process.
///
/// Time never goes back: every call uses the later of its `now` and the last one seen, because
/// callers read the clock before they hold the lock. Every call also takes the samples that have
/// become due, so a late `handle_timeout` costs accuracy only while nothing else calls either.
///
/// The queue of outputs is bounded by its reader: [`Engine::apply`] adds to it, a few entries for each
/// object that changed, and whoever applies a change drains it afterwards; a service that was going out of
/// service adds a few once it is out, and so do a probe that ends and a time-out, which does a bounded
/// number of things a call; [`Engine::select`] adds one when the persistence entries have reached their
/// limit, and then no more until many are gone.
#[derive(Debug)]
pub struct Engine {
    now: Instant,
    services: Services,
    vservers: BTreeMap<VserverId, Vserver>,
    window_times: Timeline<WINDOW_SLOTS>,
    rate_times: Timeline<RATE_SLOTS>,
    persistence: Tables,
    outputs: VecDeque<Output>,
    /// When services are out of service at the latest that go out of service.
    drains: BTreeSet<(Instant, ServiceId)>,
    /// Bindings ever made.
    binding_serial: u64,
    flows: Flows,
    monitors: Monitors,
    passive: PassiveSettings,
    /// When something is due of the services that are watched by their connections.
    inline_due: BTreeSet<(Instant, ServiceId)>,
    /// Until when silence is no failure, because this process was late.
    inline_grace: Instant,
    /// Whether the configuration of the start is loaded.
    is_booted: bool,
    dice: Dice,
    indexing: Indexing,
    /// Requests per service that are given out in turn after a change; 0 is off.
    startup_factor: u32,
    /// Room for the candidates of a choice, kept so that a choice allocates nothing.
    scratch: Vec<Candidate>,
}

impl Engine {
    /// Makes an engine without objects, with a seed that everybody knows: for tests and simulations.
    pub fn new() -> Self {
        Self::with_seed(0)
    }

    /// Makes an engine without objects.
    ///
    /// `seed` starts the random choices, and keys the hash under which clients are found again: who
    /// does not know it cannot choose addresses that make each look-up slow.
    pub fn with_seed(seed: u64) -> Self {
        Self {
            now: Instant::default(),
            services: Services::default(),
            vservers: BTreeMap::new(),
            window_times: Timeline::new(WINDOW_STEP, WINDOW_SPAN),
            rate_times: Timeline::new(RATE_STEP, RATE_SPAN),
            persistence: Tables::new(seed),
            outputs: VecDeque::new(),
            drains: BTreeSet::new(),
            binding_serial: 0,
            flows: Flows::default(),
            monitors: Monitors::default(),
            passive: PassiveSettings::default(),
            inline_due: BTreeSet::new(),
            inline_grace: Instant::default(),
            is_booted: false,
            dice: Dice::new(seed),
            indexing: Indexing::default(),
            startup_factor: 0,
            scratch: Vec::new(),
        }
    }

    /// Lets the index make each choice that it can, however few the services, and compares that with
    /// going through all of them: for tests.
    ///
    /// # Panics
    /// At the first choice that differs. Traffic counted by another thread meanwhile is a difference.
    #[doc(hidden)]
    pub fn check_index(&mut self) {
        self.indexing = Indexing {
            from: 1,
            is_checked: true,
        };
    }

    /// Chooses a service for a new flow and takes a place on it.
    ///
    /// The place is taken before the next choice is made, so `maxClient` and the counts that
    /// methods compare are exact. `tried` are services that already failed this flow; they are left
    /// out. A flow that is retried is a hit of each service it was given to, and one hit of the
    /// virtual server.
    ///
    /// What the virtual server cannot take goes to its chain of backups, see
    /// [`Backup`](crate::Backup); the reservation says who serves it.
    ///
    /// With persistence, what the client sticks to decides before the method does, whether or not the
    /// service is in its slow start: such a flow counts there like any other, and costs the service
    /// what credit it has, but the method's turn and comparison stay out of it.
    ///
    /// A hash by a table makes the table at its first choice after a change of services, weights or
    /// settings: some milliseconds with a thousand services.
    ///
    /// # Errors
    /// [`Refusal`] says why no service could be chosen.
    pub fn select(
        &mut self,
        vserver: VserverId,
        flow: &FlowKey,
        tried: &[ServiceId],
        now: Instant,
    ) -> Result<Selection, Refusal> {
        let now = self.advance(now);
        let question = self.question(flow, tried, now);
        let dialled = vserver;
        let served = self.serve(dialled, &question);
        let served = served.inspect_err(|_| self.count_refusal(dialled))?;
        let Served { chosen, .. } = served;
        let opened = self.flows.open(served.by, now);
        let vserver = self.vservers.get_mut(&served.by).expect(SERVES);
        let first = vserver.is_first(dialled == served.by, tried);
        vserver.active += 1;
        vserver.hits += u64::from(first);
        let binding = &mut vserver.bindings[chosen.position];
        binding.active += 1;
        binding.hits += 1;
        let service = self.services.at_mut(binding.slot);
        service.active += 1;
        service.hits += 1;
        service.answers.choose(now);
        service.inline.choose(opened, now);
        let is_trial = service.inline.is_trying();
        if let Some(drain) = &mut service.drain {
            drain.note_begin(now);
        }
        let selection = Selection {
            reservation: Reservation {
                vserver: served.by,
                dialled,
                diversion: served.diversion,
                service: binding.service,
                binding: binding.serial,
                choice: vserver.choices,
                flow: opened,
                paid: chosen.paid,
                first,
            },
            address: service.settings.address,
            service_counters: service.counters.clone(),
            vserver_counters: vserver.counters.clone(),
            client_idle: vserver.settings.idle,
            service_idle: service.settings.idle,
            rule: chosen.rule,
            method: vserver.settings.method,
            grounds: chosen.grounds,
        };
        if let Some(diversion) = served.diversion {
            let front = self.vservers.get_mut(&dialled).expect(SERVES);
            front.diverted.active += 1;
            *front.diverted.hits_mut(diversion) += u64::from(first);
        }
        if let Some(keeper) = served.keeper {
            self.note_keeper(keeper, served.by, &question);
        }
        if is_trial {
            self.watch(selection.reservation.service);
        }
        if let Some(table) = served.table {
            let kept = served.held.filter(|_| chosen.keeps_entry);
            self.note_entry(table, flow, kept, &selection.reservation, now);
        }
        Ok(selection)
    }

    /// Counts a client that was there and had left before a service was chosen for it.
    pub fn handle_aborted(&mut self, vserver: VserverId) {
        if let Some(vserver) = self.vservers.get_mut(&vserver) {
            vserver.aborted += 1;
        }
    }

    /// Takes a place back: the flow has ended for `reason`.
    ///
    /// Objects of the flow that were removed meanwhile are left out.
    pub fn handle_close(&mut self, reservation: Reservation, reason: CloseReason, now: Instant) {
        let now = self.advance(now);
        self.end_exchange(&reservation, Some(reason), now);
        self.release(&reservation, 0);
        if let Some(service) = self.services.get_mut(reservation.service) {
            service.count_end(reason);
        }
    }

    /// Takes a place back that was never used; it counts nowhere, as if it had not been given.
    ///
    /// Only its turn is spent: later choices may have been made on top of it. A service in its slow
    /// start gets back what it paid. A persistence entry that it made or renewed stays.
    pub fn handle_unused(&mut self, reservation: Reservation, now: Instant) {
        let now = self.advance(now);
        if let Some(vserver) = self.vservers.get_mut(&reservation.vserver)
            && let Some(terms) = vserver.settle_ramps(&self.services, now)
        {
            vserver.uncharge(&reservation, &terms);
        }
        self.end_exchange(&reservation, None, now);
        self.release(&reservation, 1);
    }

    /// Takes what is configured now as having been there: no service is new any more.
    ///
    /// For the daemon, once it has loaded its configuration at the start: a restart finds services
    /// that already run, and must not bring all of them in slowly. What is bound, enabled or comes
    /// UP later is new.
    ///
    /// A service that its monitors have not found UP or DOWN yet is not new either when they do. From
    /// now on, one that is UP stays so while a monitor that it gets does not know.
    pub fn handle_booted(&mut self, now: Instant) {
        self.advance(now);
        self.is_booted = true;
        for service in self.services.all_mut() {
            service.is_from_start = service.state == State::Unknown;
        }
        for vserver in self.vservers.values_mut() {
            vserver.end_ramps(&self.services);
        }
    }

    /// Does what is due at `now`: samples the traffic windows, takes services out of service, starts and
    /// ends probes, and frees the places of persistence entries that have ended, a bounded number of the
    /// last two per call.
    ///
    /// Slow starts need no deadline: whatever asks for them (a choice, a change, a status) first
    /// goes through the time that has passed.
    pub fn handle_timeout(&mut self, now: Instant) {
        let now = self.advance(now);
        self.persistence.handle_timeout(now);
        self.handle_probes_due(now);
        self.handle_inline_due(now);
    }

    /// Returns when `handle_timeout` wants to be called next; never without services and entries.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let windows = (!self.services.is_empty()).then(|| self.window_times.due());
        let entries = self.persistence.due(self.now);
        let drains = self.drains.first().map(|(deadline, _)| *deadline);
        let probes = self.monitors.poll_timeout();
        let due = windows.into_iter().chain(entries).chain(drains);
        let watched = self.inline_due.first().map(|(due, _)| *due);
        due.chain(probes).chain(watched).min()
    }

    /// Returns the next thing to do, in the order it came up.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// Whether `poll_output` would return something.
    pub fn has_output(&self) -> bool {
        !self.outputs.is_empty()
    }

    /// Returns what a choice is asked for a flow.
    #[inline]
    fn question<'a>(
        &self,
        flow: &'a FlowKey,
        tried: &'a [ServiceId],
        now: Instant,
    ) -> Question<'a> {
        Question {
            flow,
            tried,
            now,
            base: self.window_times.base_slot(),
            recent: self.recent(),
            thresholds: Thresholds::Hold,
            indexing: self.indexing,
        }
    }

    /// Returns the baseline of bandwidth limits.
    fn recent(&self) -> Recent {
        let (slot, age) = self.rate_times.newest_before(self.now, RECENT_SPAN);
        Recent { slot, age }
    }

    /// Counts a flow that nobody takes.
    fn count_refusal(&mut self, dialled: VserverId) {
        if let Some(vserver) = self.vservers.get_mut(&dialled) {
            vserver.refused += 1;
        }
    }

    /// Gives a place back, and takes `hits` back with it.
    fn release(&mut self, reservation: &Reservation, hits: u64) {
        let first_hits = if reservation.first { hits } else { 0 };
        if let Some(diversion) = reservation.diversion
            && let Some(front) = self.vservers.get_mut(&reservation.dialled)
        {
            front.diverted.active -= 1;
            *front.diverted.hits_mut(diversion) -= first_hits;
        }
        if let Some(vserver) = self.vservers.get_mut(&reservation.vserver) {
            vserver.active -= 1;
            vserver.hits -= first_hits;
            if let Some(binding) = vserver.binding_by_serial(reservation.binding) {
                binding.active -= 1;
                binding.hits -= hits;
            }
        }
        if let Some(slot) = self.services.slot(reservation.service) {
            let service = self.services.at_mut(slot);
            service.active -= 1;
            service.hits -= hits;
            let is_limited = service.settings.max_client.is_some();
            let active = service.active;
            let drain = service.drain.as_mut();
            let is_out = drain.is_some_and(|drain| drain.note_end(active, self.now));
            self.tell_indexes(slot, |index| index.note_end(slot, is_limited));
            if is_out {
                self.end_drain(reservation.service, self.now);
            }
        }
    }

    /// Tells the index of every virtual server that binds a service what has happened to it.
    fn tell_indexes(&mut self, slot: Slot, tell: impl Fn(&mut Index)) {
        for id in &self.services.at(slot).bound_by {
            if let Some(vserver) = self.vservers.get_mut(id) {
                tell(&mut vserver.index);
            }
        }
    }

    /// Moves the slow starts of all virtual servers on to `now`.
    fn settle_ramps(&mut self, now: Instant) {
        for vserver in self.vservers.values_mut() {
            vserver.settle_ramps(&self.services, now);
        }
    }

    /// Moves the time on, takes the samples that are due, and returns the time that counts.
    fn advance(&mut self, now: Instant) -> Instant {
        self.now = self.now.max(now);
        self.sample();
        self.end_due_drains();
        self.now
    }

    /// Takes the samples that are due, of which there are none without services, and moves the
    /// baselines on.
    fn sample(&mut self) {
        if !self.services.is_empty() {
            if let Some(slot) = self.window_times.tick(self.now) {
                self.record_windows(slot);
            }
            if let Some(slot) = self.rate_times.tick(self.now) {
                self.record_rates(slot);
            }
        }
        self.window_times.settle(self.now);
        self.rate_times.settle(self.now);
    }

    fn record_windows(&mut self, slot: usize) {
        for service in self.services.all_mut() {
            service.record_window(slot);
        }
    }

    fn record_rates(&mut self, slot: usize) {
        for service in self.services.all_mut() {
            service.record_rates(slot);
        }
        for vserver in self.vservers.values_mut() {
            vserver.record_rates(slot);
        }
    }
}

const SERVES: &str = "who serves a flow, or is dialled, exists";

impl Default for Engine {
    fn default() -> Self {
        Self::new()
    }
}
