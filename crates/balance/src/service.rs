//! One service: settings, state, load, counters.
//!
//! Invariants: `active` is the number of reservations out for it, from all virtual servers;
//! `bound_by` names each virtual server that binds it, once.

use std::sync::Arc;
use std::time::Duration;

use crate::answers::Answers;
use crate::drain::Drain;
use crate::fading::Moment;
use crate::hash::Identity;
use crate::inline::Inline;
use crate::monitor::Measured;
use crate::monitored::MonitorValues;
use crate::rate::{Rates, Recent, Totals, exceeds};
use crate::window::{Traffic, Window};
use crate::{
    CloseReason, Counters, InlineStatus, Instant, PassiveSettings, Protocol, ServiceId,
    ServiceSettings, ServiceStatus, State, StateReason, VserverId,
};

/// All that the core keeps of a service.
#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) state: State,
    pub(crate) active: u64,
    /// Those of the active ones that the service has finished with.
    pub(crate) done: u64,
    pub(crate) counters: Arc<Counters>,
    pub(crate) window: Window,
    pub(crate) identity: Identity,
    pub(crate) answers: Answers,
    pub(crate) monitored: MonitorValues,
    pub(crate) settings: ServiceSettings,
    pub(crate) hits: u64,
    pub(crate) bound_by: Vec<VserverId>,
    /// Set while the operator has it go out of service. Rare, and larger than all the rest.
    pub(crate) drain: Option<Box<Drain>>,
    /// What its monitors say; none if none decides.
    pub(crate) verdict: Option<State>,
    /// What its monitors have measured, as last handed on.
    pub(crate) measured: Measured,
    /// Whether it was there at the start, and has been UNKNOWN ever since.
    pub(crate) is_from_start: bool,
    pub(crate) inline: Inline,
    since: Instant,
    reason: StateReason,
    failures: Failures,
    rates: Rates,
}

/// How flows ended that did not simply finish.
#[derive(Debug, Default)]
struct Failures {
    connect: u64,
    service_reset: u64,
    service_closed: u64,
    client_reset: u64,
    idle: u64,
    local: u64,
}

impl Service {
    /// Makes a service that nothing is bound to and nothing was sent to.
    pub(crate) fn new(settings: ServiceSettings, now: Instant) -> Self {
        Self {
            state: state_of(&settings, false),
            active: 0,
            done: 0,
            counters: Arc::default(),
            window: Window::new(),
            identity: Identity::new(settings.address, settings.hash_id),
            answers: Answers::default(),
            monitored: MonitorValues::default(),
            settings,
            hits: 0,
            bound_by: Vec::new(),
            drain: None,
            verdict: None,
            measured: Measured::default(),
            is_from_start: false,
            inline: Inline::default(),
            since: now,
            reason: StateReason::Operator,
            failures: Failures::default(),
            rates: Rates::new(),
        }
    }

    /// Returns how many flows it is at work on.
    #[inline]
    pub(crate) fn busy(&self) -> u64 {
        self.active - self.done
    }

    /// Whether it takes flows, its limits apart: it is UP, and none is on trial.
    #[inline]
    pub(crate) fn takes_flows(&self) -> bool {
        self.state == State::Up && !self.inline.is_trying()
    }

    /// Whether another flow may be given to it, its state apart.
    #[inline]
    pub(crate) fn has_room(&self, recent: &Recent) -> bool {
        !self.is_full() && (self.settings.max_bandwidth.is_none() || self.has_bandwidth(recent))
    }

    /// Whether it has as many flows as it may have.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        let limit = self.settings.max_client;
        limit.is_some_and(|limit| self.active >= u64::from(limit))
    }

    /// Kept out of line: most services have no such limit, and a choice asks each of them.
    #[cold]
    pub(crate) fn has_bandwidth(&self, recent: &Recent) -> bool {
        self.settings.max_bandwidth.is_none_or(|kbit_per_s| {
            let bytes = self.rates.bytes_since(self.totals(), *recent);
            !exceeds(bytes, kbit_per_s, recent.age)
        })
    }

    /// Takes new settings; the state is brought up to date by [`Self::update_state`].
    pub(crate) fn set(&mut self, settings: ServiceSettings) {
        self.identity = Identity::new(settings.address, settings.hash_id);
        self.settings = settings;
    }

    /// Looks for a sign of life in the counters.
    pub(crate) fn look(&mut self) {
        self.answers.look(self.counters.bytes_out());
    }

    /// Whether the service stands behind all others where traffic is compared.
    #[inline]
    pub(crate) fn stands_behind(&self, now: Instant) -> bool {
        self.answers
            .stands_behind(|| self.counters.bytes_out(), now)
    }

    /// Brings the state in line with settings, drain and monitors; returns the former one if it changed.
    /// `keeps` says whether it stays UP or DOWN while the monitors do not know.
    pub(crate) fn update_state(
        &mut self,
        reason: StateReason,
        keeps: bool,
        now: Instant,
    ) -> Option<State> {
        let state = self.state_to_be(keeps && self.since < now);
        if state == self.state {
            return None;
        }
        self.is_from_start = false;
        self.reason = reason;
        if state == State::Up {
            self.answers.forgive();
        }
        self.since = now;
        Some(std::mem::replace(&mut self.state, state))
    }

    /// Returns the state that settings, drain and monitors say it has.
    pub(crate) fn state_to_be(&self, keeps: bool) -> State {
        let own = state_of(&self.settings, self.drain.is_some());
        let verdict = self.verdict.filter(|_| self.settings.health_monitor);
        let state = match (own, verdict) {
            (State::Up, Some(verdict)) => verdict,
            (State::GoingOutOfService, Some(State::Down | State::DownWhenGoingOutOfService)) => {
                State::DownWhenGoingOutOfService
            }
            (own, _) => own,
        };
        let state = match (state, self.state) {
            (State::Unknown, State::Up | State::Down) if keeps => self.state,
            (state, _) => state,
        };
        if state == State::Up && self.inline.is_out() {
            State::Down
        } else {
            state
        }
    }

    /// Whether its monitors are to probe it.
    pub(crate) fn wants_probes(&self) -> bool {
        let own = state_of(&self.settings, self.drain.is_some());
        self.settings.health_monitor && own != State::OutOfService
    }

    /// Counts the end of a flow.
    pub(crate) fn count_end(&mut self, reason: CloseReason) {
        let failures = &mut self.failures;
        match reason {
            CloseReason::ConnectFailed => failures.connect += 1,
            CloseReason::ServiceReset => failures.service_reset += 1,
            CloseReason::ServiceClosed => failures.service_closed += 1,
            CloseReason::ClientReset => failures.client_reset += 1,
            CloseReason::IdleLimit => failures.idle += 1,
            CloseReason::Local => failures.local += 1,
            CloseReason::Finished | CloseReason::Flushed => {}
        }
    }

    /// Keeps a sample of the traffic.
    pub(crate) fn record_window(&mut self, slot: usize) {
        self.window.record(slot, Traffic::of(&self.counters));
        self.look();
    }

    /// Keeps a sample for the rates.
    pub(crate) fn record_rates(&mut self, slot: usize) {
        self.rates.record(slot, self.totals());
    }

    /// Shows the service, its monitors and connections apart; `window` and `rate` are the slots of the baselines.
    pub(crate) fn status(
        &self,
        id: ServiceId,
        now: Instant,
        window: usize,
        rate: usize,
        rate_age: Duration,
    ) -> ServiceStatus {
        let counters = &self.counters;
        let waiting = self.answers.waiting.oldest();
        let totals = self.totals();
        let per_second = self.rates.per_second(totals, rate, rate_age);
        ServiceStatus {
            id,
            state: self.state,
            since: self.since,
            drain: self
                .drain
                .as_ref()
                .map(|drain| drain.status(self.active, now)),
            reason: self.reason,
            active: self.active,
            hits: self.hits,
            hits_per_s: per_second.hits,
            bytes_in: totals.bytes_in,
            bytes_out: totals.bytes_out,
            bytes_in_per_s: per_second.bytes_in,
            bytes_out_per_s: per_second.bytes_out,
            packets_in: counters.packets_in(),
            packets_out: counters.packets_out(),
            window_bytes: self.window.bytes(counters, window),
            window_packets: self.window.packets(counters, window),
            connect_failures: self.failures.connect,
            service_resets: self.failures.service_reset,
            service_closes: self.failures.service_closed,
            client_resets: self.failures.client_reset,
            idle_closes: self.failures.idle,
            local_failures: self.failures.local,
            response_time: self.answers.average_time(),
            longest_wait: waiting.map(|since| now.duration_since(since)),
            recent_failures: self.answers.recent_failures(Moment::of(now)),
            stands_behind: self.stands_behind(now),
            inline: InlineStatus::default(),
            monitors: Vec::new(),
        }
    }

    /// Shows what its connections say of it.
    pub(crate) fn inline_status(&self, settings: &PassiveSettings) -> InlineStatus {
        let is_watched = self.settings.protocol == Protocol::Tcp;
        self.inline.status(is_watched, settings)
    }

    fn totals(&self) -> Totals {
        Totals {
            hits: self.hits,
            bytes_in: self.counters.bytes_in(),
            bytes_out: self.counters.bytes_out(),
        }
    }
}

/// An enabled service is UP, its monitors apart.
fn state_of(settings: &ServiceSettings, drains: bool) -> State {
    match (settings.enabled, drains) {
        (true, _) => State::Up,
        (false, true) => State::GoingOutOfService,
        (false, false) => State::OutOfService,
    }
}

/// Whether the flows of a service in this state go on although its virtual server goes DOWN.
pub(crate) fn spares_flows(state: State) -> bool {
    match state {
        State::GoingOutOfService => true,
        State::Up
        | State::Down
        | State::Unknown
        | State::OutOfService
        | State::DownWhenGoingOutOfService => false,
    }
}

/// Whether flows end when the state of their service or virtual server goes from `old` to `new`.
///
/// With `flush_on_down` they end when it goes away from UP, and when the operator disables it in
/// whatever state. A UDP flow has no end that anybody would wait for: it leaves what was disabled
/// with its next datagram, so it ends here too.
pub(crate) fn ends_flows(protocol: Protocol, flush_on_down: bool, old: State, new: State) -> bool {
    match (old, new) {
        (_, State::Up | State::Unknown | State::GoingOutOfService) => false,
        (State::Up | State::GoingOutOfService, State::Down | State::DownWhenGoingOutOfService) => {
            flush_on_down
        }
        (
            State::Down | State::Unknown | State::OutOfService | State::DownWhenGoingOutOfService,
            State::Down | State::DownWhenGoingOutOfService,
        ) => false,
        (_, State::OutOfService) => flush_on_down || protocol == Protocol::Udp,
    }
}
