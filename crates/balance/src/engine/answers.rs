//! What the data plane reports of a flow's first exchange, and what follows for its service.

use super::Engine;
use crate::answers::Failure;
use crate::fading::Moment;
use crate::{CloseReason, Instant, Reservation};

impl Engine {
    /// Notes that the client of a flow has sent its first byte, and waits for an answer.
    ///
    /// Only the first report of a flow counts. Where this is not reported, nobody waits: response times
    /// then begin with the choice, and silence is not noticed.
    pub fn handle_client_data(&mut self, reservation: &Reservation, now: Instant) {
        let now = self.advance(now);
        if let Some(service) = self.services.get_mut(reservation.service) {
            service.look();
            let line = &mut service.answers.waiting;
            if self.flows.ask(reservation.flow, line, now) {
                self.watch(reservation.service);
            }
        }
    }

    /// Notes that a client goes on sending that waits for its first answer: whatever it sends, it is not
    /// silence yet. Its service has to be as patient from now on as it was from the first byte on.
    pub fn handle_more_client_data(&mut self, reservation: &Reservation, now: Instant) {
        let now = self.advance(now);
        if let Some(service) = self.services.get_mut(reservation.service) {
            service.look();
            let line = &mut service.answers.waiting;
            self.flows.renew(reservation.flow, line, now);
            self.watch(reservation.service);
        }
    }

    /// Notes that the service of a flow has sent its first byte.
    ///
    /// The response time is that since the client's first byte, or since the choice if the service
    /// speaks first. Only the first report of a flow counts.
    pub fn handle_first_answer(&mut self, reservation: &Reservation, now: Instant) {
        let now = self.advance(now);
        let Some(slot) = self.services.slot(reservation.service) else {
            return;
        };
        let service = self.services.at_mut(slot);
        let line = &mut service.answers.waiting;
        let Some(since) = self.flows.answer(reservation.flow, line) else {
            return;
        };
        let time = now.duration_since(since);
        let moment = Moment::of(now);
        service.answers.answer(time, moment);
        if let Some(vserver) = self.vservers.get_mut(&reservation.vserver) {
            vserver.times.add(time, moment);
        }
        self.tell_indexes(slot, |index| index.note_answer(slot));
        self.note_answer(reservation, now);
    }

    /// Notes that the service of a flow has finished, and all it has said is with the client: it is not at
    /// work on the flow any more, which only lasts until the client leaves too.
    ///
    /// Where this is not reported, a flow counts until its end.
    pub fn handle_service_done(&mut self, reservation: &Reservation) {
        let slot = self.services.slot(reservation.service);
        if let Some(slot) = slot.filter(|_| self.flows.mark_done(reservation.flow)) {
            self.services.at_mut(slot).done += 1;
            self.tell_indexes(slot, |index| index.note_end(slot, false));
        }
    }

    /// Notes that a flow which is about to be closed, and was answered before, has client data that
    /// was not answered, while neither side had finished: a reset by the service is then its failure.
    pub fn handle_unanswered(&mut self, reservation: &Reservation) {
        self.flows.mark_unanswered(reservation.flow);
    }

    /// Ends the flow's entry; a flow that failed is booked on its service.
    pub(super) fn end_exchange(
        &mut self,
        reservation: &Reservation,
        reason: Option<CloseReason>,
        now: Instant,
    ) {
        let Some(service) = self.services.get_mut(reservation.service) else {
            self.flows.close(reservation.flow, None);
            return;
        };
        let line = &mut service.answers.waiting;
        let ended = self.flows.close(reservation.flow, Some(line));
        service.done -= u64::from(ended.is_done);
        let failure = reason.and_then(|reason| Failure::of(reason, ended.progress));
        if let Some((failure, since)) = failure {
            service.look();
            let time = now.duration_since(since);
            service.answers.fail(failure, time, Moment::of(now));
        }
        self.note_end(reservation, reason, ended, now);
    }
}
