//! Services that their own connections show to be down: who may go out, and what follows.
//!
//! At most half of the services of a virtual server are out this way or on trial, and never the
//! last that is UP; when the last one goes for another reason, those that are out are let off.
//! Flows of a service that goes out this way go on, whatever it flushes: some of them may be well.
//!
//! Owns the order of what is due. Invariant: `inline_due` has the time that the record of a service
//! names as noted, which is not later than the next thing to do there.

use std::time::Duration;

use super::Engine;
use super::apply::Cause;
use crate::inline::Effect;
use crate::waiting::{Ended, FlowSlot, Progress};
use crate::{
    CloseReason, InlineFailure, Instant, OutBecause, PassiveSettings, Protocol, Reservation,
    ServiceId, State, StateReason, VserverId,
};

impl Engine {
    pub(super) fn set_passive(&mut self, settings: &PassiveSettings, now: Instant) {
        self.passive = *settings;
        let ids: Vec<_> = self.services.iter().map(|(id, _)| id).collect();
        for id in ids {
            if !settings.enabled {
                self.forgive(id, now);
            }
            self.renote_inline(id);
        }
    }

    /// Forgets what the connections of a service have said of it: the operator knows better.
    pub(super) fn forgive(&mut self, id: ServiceId, now: Instant) {
        let service = self.services.get_mut(id).expect(EXISTS);
        if service.inline.let_off(true, now) {
            self.settle_apart(id, Cause::operator(self.is_booted), now);
        }
        self.renote_inline(id);
    }

    /// Does what is due: looks at silence, ends what has been out for long enough; so much a call.
    pub(super) fn handle_inline_due(&mut self, now: Instant) {
        for _ in 0..STEPS {
            let Some(&(due, id)) = self.inline_due.first() else {
                return;
            };
            if due > now {
                return;
            }
            // Answers may be there that nobody has read. Looked at again once, however late that is.
            if now.duration_since(due) > LATE && due != self.inline_grace {
                self.inline_grace = now + GRACE;
            }
            self.handle_due_of(id, now);
            self.renote_inline(id);
        }
    }

    /// Does one thing of those that are due of a service.
    fn handle_due_of(&mut self, id: ServiceId, now: Instant) {
        let trial_end = self.trial_end(id);
        let timeout = self.passive.response_timeout;
        let service = self.services.get_mut(id).expect(EXISTS);
        if service.inline.out_until().is_some_and(|until| until <= now) {
            service.inline.begin_trial();
            return self.settle_apart(id, Cause::by(StateReason::Traffic), now);
        }
        if now < self.inline_grace {
            return;
        }
        let line = &mut service.answers.waiting;
        let is_over = |(_, since): &(FlowSlot, Instant)| *since + timeout <= now;
        if let Some((flow, _)) = line.unseen().filter(is_over) {
            let vserver = self.flows.pass_over(line);
            let is_new = !self.flows.is_counted(flow);
            if is_new && vserver.is_some_and(|vserver| self.is_silent(id, vserver)) {
                self.flows.mark_counted(flow);
                self.note_failure(id, flow, InlineFailure::Silent, now);
            }
        } else if trial_end.is_some_and(|end| end <= now) {
            // It says nothing either way: another one may.
            self.end_trial(id, None);
        }
    }

    /// Notes that something may be due of a service earlier than was known.
    #[inline]
    pub(super) fn watch(&mut self, id: ServiceId) {
        let service = self.services.get(id);
        if self.passive.enabled && service.is_some_and(|one| one.inline.noted.is_none()) {
            self.note_inline(id);
        }
    }

    /// Notes the first answer of a service to a flow.
    pub(super) fn note_answer(&mut self, reservation: &Reservation, now: Instant) {
        if !self.passive.enabled {
            return;
        }
        let id = reservation.service;
        if let Some(vserver) = self.vservers.get_mut(&reservation.vserver) {
            vserver.last_answers.note(id, now);
        }
        let service = self.services.get_mut(id).expect(EXISTS);
        if service.inline.answer(reservation.flow, now) == Effect::IsBack {
            self.restart_ramps(id, now);
        }
    }

    /// Notes how a flow ended; `reason` is none if it was never used.
    pub(super) fn note_end(
        &mut self,
        reservation: &Reservation,
        reason: Option<CloseReason>,
        ended: Ended,
        now: Instant,
    ) {
        let (id, flow) = (reservation.service, reservation.flow);
        if !self.passive.enabled || ended.progress == Progress::Answered && !ended.is_unanswered {
            return;
        }
        let is_asked = matches!(ended.progress, Progress::Asked(_));
        let failure = match reason {
            Some(CloseReason::ConnectFailed) => Some(InlineFailure::ConnectFailed),
            Some(CloseReason::ServiceReset) if is_asked || ended.is_unanswered => {
                Some(InlineFailure::Reset)
            }
            Some(CloseReason::ServiceClosed) if is_asked => Some(InlineFailure::Closed),
            Some(CloseReason::Finished | CloseReason::ClientReset | CloseReason::IdleLimit)
                if is_asked && self.is_silent(id, reservation.vserver) =>
            {
                Some(InlineFailure::GaveUp)
            }
            Some(
                CloseReason::ServiceReset
                | CloseReason::ServiceClosed
                | CloseReason::Finished
                | CloseReason::ClientReset
                | CloseReason::IdleLimit
                | CloseReason::Flushed
                | CloseReason::Local,
            )
            | None => None,
        };
        if let Some(failure) = failure.filter(|_| !ended.is_counted) {
            self.note_failure(id, flow, failure, now);
        }
        self.end_trial(id, Some(flow));
    }

    /// Counts a failure, unless the service is of no use to anybody anyway.
    fn note_failure(
        &mut self,
        id: ServiceId,
        flow: FlowSlot,
        failure: InlineFailure,
        now: Instant,
    ) {
        let settings = self.passive;
        let service = self.services.get_mut(id).expect(EXISTS);
        if service.settings.protocol != Protocol::Tcp || service.state != State::Up {
            return;
        }
        let because = match service.inline.fail(flow, failure, &settings, now) {
            Effect::None | Effect::IsBack => return,
            Effect::GoesOut(because) => because,
            Effect::IsOutAgain => OutBecause::Trial,
        };
        if because != OutBecause::Trial && !self.may_go_out(id) {
            let service = self.services.get_mut(id).expect(EXISTS);
            return service.inline.forget();
        }
        let service = self.services.get_mut(id).expect(EXISTS);
        service.inline.go_out(because, &settings, now);
        self.settle_apart(id, Cause::by(StateReason::Traffic), now);
        self.note_inline(id);
    }

    /// Whether each virtual server of a service can do without it.
    fn may_go_out(&self, id: ServiceId) -> bool {
        let service = self.services.get(id).expect(EXISTS);
        let mut fronts = service.bound_by.iter().map(|front| &self.vservers[front]);
        fronts.all(|front| front.can_spare(id, &self.services))
    }

    /// Lets those off that are out, or on trial, where otherwise nobody would be UP.
    pub(super) fn let_off_last(&mut self, fronts: &[VserverId], now: Instant) {
        if !self.passive.enabled {
            return;
        }
        for front in fronts {
            let vserver = &self.vservers[front];
            if vserver.has_one_that_is_well(&self.services) {
                continue;
            }
            let bindings = &vserver.bindings;
            for id in bindings.iter().map(|one| one.service).collect::<Vec<_>>() {
                let service = self.services.get_mut(id).expect(EXISTS);
                if service.inline.let_off(false, now) {
                    self.settle_apart(id, Cause::by(StateReason::Traffic), now);
                    self.renote_inline(id);
                }
            }
        }
    }

    /// Whether silence of a service in a virtual server says something: another one has answered
    /// there since this one did.
    fn is_silent(&self, id: ServiceId, vserver: VserverId) -> bool {
        let Some(service) = self.services.get(id) else {
            return false;
        };
        let others = self.vservers.get(&vserver);
        let others = others.and_then(|vserver| vserver.last_answers.of_others(id));
        !service.settings.is_one_way && others.is_some_and(|at| Some(at) > service.inline.answered)
    }

    /// Ends a trial that says nothing, if it is that of this flow, or of any.
    fn end_trial(&mut self, id: ServiceId, flow: Option<FlowSlot>) {
        let service = self.services.get_mut(id).expect(EXISTS);
        if service.inline.end_trial(flow) {
            let bound_by = service.bound_by.clone();
            self.reset_indexes(&bound_by);
        }
    }

    /// Returns when the flow on trial has had its time: from its client's data on, once there is
    /// some.
    fn trial_end(&mut self, id: ServiceId) -> Option<Instant> {
        let (flow, since) = self.services.get(id)?.inline.trial()?;
        let since = match self.flows.progress(flow) {
            Progress::Asked(asked) => asked,
            Progress::Quiet(_) | Progress::Answered => since,
        };
        Some(since + self.passive.response_timeout)
    }

    /// Begins the slow starts of a service that is back from a trial.
    fn restart_ramps(&mut self, id: ServiceId, now: Instant) {
        let bound_by = self.services.get(id).expect(EXISTS).bound_by.clone();
        for front in &bound_by {
            let vserver = self.vservers.get_mut(front).expect(EXISTS);
            vserver.settle_ramps(&self.services, now);
            vserver.start_ramp(id, &self.services, now);
        }
        self.reset_indexes(&bound_by);
    }

    /// Notes when something is due of a service, if that is earlier than what is noted.
    fn note_inline(&mut self, id: ServiceId) {
        if !self.passive.enabled {
            return;
        }
        let trial_end = self.trial_end(id);
        let service = self.services.get_mut(id).expect(EXISTS);
        let unseen = service.answers.waiting.unseen();
        let silence = unseen.map(|(_, since)| since + self.passive.response_timeout);
        let due = match service.inline.out_until() {
            Some(until) => Some(until),
            None => {
                let first = silence.into_iter().chain(trial_end).min();
                first.map(|due| due.max(self.inline_grace))
            }
        };
        let noted = service.inline.noted;
        if let Some(due) = due.filter(|due| noted.is_none_or(|noted| *due < noted)) {
            service.inline.noted = Some(due);
            noted.map(|noted| self.inline_due.remove(&(noted, id)));
            self.inline_due.insert((due, id));
        }
    }

    /// Notes anew when something is due of a service.
    pub(super) fn renote_inline(&mut self, id: ServiceId) {
        self.drop_inline(id);
        self.note_inline(id);
    }

    /// Forgets what is due of a service.
    pub(super) fn drop_inline(&mut self, id: ServiceId) {
        let service = self.services.get_mut(id).expect(EXISTS);
        if let Some(noted) = service.inline.noted.take() {
            self.inline_due.remove(&(noted, id));
        }
    }
}

const EXISTS: &str = "who is watched exists, and is forgotten when it goes";

/// How late this process may come to what is due without a doubt about what it has not read.
///
/// Source: own choice, as with probes.
const LATE: Duration = Duration::from_millis(50);

/// How long the data plane may take after that to read what is there.
const GRACE: Duration = Duration::from_secs(1);

/// Things done per call: a millisecond at most while everything else waits.
const STEPS: u32 = 512;
