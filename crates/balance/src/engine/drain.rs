//! Services that go out of service: how they begin, and what follows when they are out.
//!
//! ```text
//!   UP, DOWN, UNKNOWN -- disabled with a delay or gracefully --> GOING OUT OF SERVICE
//!                                                                  |  deadline, or last flow ended
//!       ^------------------------- enabled ------------------------+--> OUT OF SERVICE
//! ```
//!
//! Owns the deadlines. Invariant: `drains` has the deadline of each service whose drain has one.

use super::Engine;
use super::apply::Cause;
use crate::drain::{Drain, Leave};
use crate::service::{ends_flows, spares_flows};
use crate::{CloseFlows, Instant, Output, Protocol, ServiceId, State, StateReason, VserverId};

impl Engine {
    /// Disables a service, gradually if it is to leave so; a later word counts, also over a drain
    /// that is under way. Who is OUT OF SERVICE stays that.
    pub(super) fn disable_service(&mut self, id: ServiceId, leave: Leave, now: Instant) {
        let service = self.services.get_mut(id).expect(PLANNED);
        service.settings.enabled = false;
        service.inline.let_off(true, now);
        let is_out = service.state == State::OutOfService;
        let drain = (!is_out).then(|| Drain::begin(leave, service.active, now));
        self.renote_inline(id);
        self.set_drain(id, drain.flatten());
        self.restart_probes(id, false, now);
        self.settle_service(id, Cause::operator(true), now);
    }

    /// Ends the drain of a service, if there is one: it was enabled, or is gone.
    pub(super) fn cancel_drain(&mut self, id: ServiceId) {
        self.set_drain(id, None);
    }

    /// Takes those out of service whose deadline has come; the time of each is its deadline.
    ///
    /// Part of every call, so that nobody is given a flow after the deadline, however late the call for
    /// it comes.
    #[inline]
    pub(super) fn end_due_drains(&mut self) {
        while let Some((deadline, id)) = self.drains.first().copied()
            && deadline <= self.now
        {
            self.end_drain(id, deadline);
        }
    }

    /// Takes a service out of service whose drain is over.
    #[cold]
    pub(super) fn end_drain(&mut self, id: ServiceId, at: Instant) {
        self.set_drain(id, None);
        self.restart_probes(id, false, at);
        self.settle_service(id, Cause::operator(true), at);
    }

    /// Brings the state of a service up to date, with what follows from a change of it.
    pub(super) fn settle_service(&mut self, id: ServiceId, cause: Cause, now: Instant) {
        let Cause { reason, keeps } = cause;
        let service = self.services.get_mut(id).expect(PLANNED);
        let is_new = !service.is_from_start;
        let Some(former) = service.update_state(reason, keeps, now) else {
            return;
        };
        let (state, protocol) = (service.state, service.settings.protocol);
        let flush = service.settings.flush_on_down;
        let bound_by = service.bound_by.clone();
        self.outputs.push_back(Output::ServiceState(id, state, now));
        // Connections that say that others fail need not fail themselves.
        let spares = reason == StateReason::Traffic;
        if !spares && ends_flows(protocol, flush, former, state) {
            self.close_flows(None, Some(id));
        }
        if former == State::Up {
            self.let_off_last(&bound_by, now);
        }
        for vserver in &bound_by {
            if is_new || state != State::Up {
                self.update_ramp(*vserver, id, state, now);
            }
            self.update_vserver(*vserver, now);
        }
        if spares_flows(former) {
            self.close_spared(id, state, &bound_by);
        }
        if state == State::GoingOutOfService && protocol == Protocol::Udp {
            self.move_flows(id, &bound_by);
        }
    }

    /// The same outside of a change, which does the rest for all: slow starts count the time so far with
    /// the state that was, and nothing of the state is kept for choices to come.
    pub(super) fn settle_apart(&mut self, id: ServiceId, cause: Cause, now: Instant) {
        let bound_by = self.services.get(id).expect(PLANNED).bound_by.clone();
        for vserver in &bound_by {
            let vserver = self.vservers.get_mut(vserver).expect(PLANNED);
            vserver.settle_ramps(&self.services, now);
        }
        self.settle_service(id, cause, now);
        self.reset_indexes(&bound_by);
    }

    /// Lets virtual servers look at all their services anew at the next choice.
    pub(super) fn reset_indexes(&mut self, vservers: &[VserverId]) {
        for vserver in vservers {
            let vserver = self.vservers.get_mut(vserver).expect(PLANNED);
            vserver.index.reset();
        }
    }

    /// Ends what was spared while a service was going out of service: its flows of virtual servers
    /// that went DOWN meanwhile and flush.
    fn close_spared(&mut self, id: ServiceId, state: State, bound_by: &[VserverId]) {
        if state == State::Up || spares_flows(state) {
            return;
        }
        for front in bound_by {
            let vserver = self.vservers.get_mut(front).expect(PLANNED);
            let flushes = vserver.settings.flush_on_down && vserver.state != State::Up;
            let binding = vserver.binding_mut(id);
            if flushes && binding.is_some_and(|binding| binding.active > 0) {
                self.close_flows(Some(*front), Some(id));
            }
        }
    }

    /// Lets UDP sessions of a service that goes out of service move with their clients' next datagrams:
    /// those of virtual servers whose clients do not stick to it and have somewhere else to go.
    fn move_flows(&mut self, id: ServiceId, bound_by: &[VserverId]) {
        for front in bound_by {
            let vserver = &self.vservers[front];
            let stays = vserver.settings.persistence.is_some_and(|own| own.trofs);
            if !stays && self.effective_state(*front, vserver) == State::Up {
                self.outputs.push_back(Output::MoveFlows(CloseFlows {
                    vserver: Some(*front),
                    dialled: None,
                    service: Some(id),
                }));
            }
        }
    }

    /// Ends the flows of a virtual server that has gone DOWN, but for those of services that go out of
    /// service: to let these come to an end is what the operator has asked for.
    pub(super) fn close_down(&mut self, id: VserverId) {
        let vserver = &self.vservers[&id];
        let state = |slot| self.services.at(slot).state;
        let is_spared = |slot| spares_flows(state(slot));
        let bindings = || vserver.bindings.iter();
        if !bindings().any(|binding| is_spared(binding.slot)) {
            return self.close_flows(Some(id), None);
        }
        let others = bindings().filter(|one| one.active > 0 && !is_spared(one.slot));
        for service in others.map(|binding| binding.service).collect::<Vec<_>>() {
            self.close_flows(Some(id), Some(service));
        }
    }

    fn set_drain(&mut self, id: ServiceId, drain: Option<Drain>) {
        let service = self.services.get_mut(id).expect(PLANNED);
        let deadline = drain.as_ref().and_then(|drain| drain.deadline);
        let former = std::mem::replace(&mut service.drain, drain.map(Box::new));
        if let Some(former) = former.and_then(|former| former.deadline) {
            self.drains.remove(&(former, id));
        }
        if let Some(deadline) = deadline {
            self.drains.insert((deadline, id));
        }
    }
}

const PLANNED: &str =
    "a plan names only services that exist, and a drain is dropped with its service";
