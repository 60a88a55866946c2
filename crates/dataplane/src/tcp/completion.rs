//! Takes the ends of operations on the ring, and starts the relay's operations there.
//!
//! Owns how an operation of the relay becomes one of the ring. Small messages are received and sent by the ring,
//! through its buffers: an operation is in flight, and the direction busy, until its end comes. What does not
//! go in one piece leaves the ring: bytes that the other side does not take are kept with the flow, many bytes are
//! spliced, and both by system calls as with epoll; the ring then says when to try again.
//!
//! Invariant: a buffer of the ring is lent from the end of a receive to the end of the send that follows at once,
//! never for longer: so readers that stand still cannot take all of them.

use rustix::io::Errno;
use sluice_balance::{CloseReason, Instant};

use super::driver::{Waiting, outcome_of};
use super::flow::{Early, Stage};
use super::in_flight::{InFlight, Started};
use super::{READABLE, TcpSide};
use crate::reactor::Reactor;
use crate::relay::{Op, Outcome, Ready, Side};
use crate::ring::{Completion, Lent, Ring};

impl TcpSide {
    /// Takes the end of an operation that a flow has started.
    pub(crate) fn handle_completion(
        &mut self,
        reactor: &mut Reactor,
        ended: Completion,
        now: Instant,
    ) {
        let (index, started) = Started::by(ended.key);
        let Some(flow) = self.flows.get_mut(index) else {
            return tracing::error!(index, ?started, "an operation of no flow has ended");
        };
        if !ended.more {
            flow.in_flight.end(started);
        }
        if let Stage::Ending(_) = flow.stage {
            give_back(reactor, ended.lent);
            return self.end_if_nothing_is_in_flight(reactor, index);
        }
        let result = ended.result;
        match started {
            Started::Receive(side) => {
                self.handle_receive_end(reactor, index, side, result, ended.lent, now);
            }
            Started::Send(side) => self.handle_send_end(reactor, index, side, result, now),
            Started::Readable(side) => {
                self.handle_ready(reactor, index, side, ready(result), now);
            }
            Started::Writable(side) | Started::Failure(side) => {
                if !ended.more && is_only_finished(result) {
                    self.poll_again(reactor, index, started);
                }
                self.handle_ready(reactor, index, side, ready(result), now);
            }
            Started::FirstBytes => {
                self.handle_ready(reactor, index, Side::Client, ready(result), now);
            }
            Started::Connect(tried) => {
                if let Stage::Connecting(connecting) = &flow.stage
                    && connecting.tried.len() == usize::from(tried)
                {
                    self.handle_connect_event(reactor, index, ready(result), now);
                }
            }
        }
    }

    fn handle_receive_end(
        &mut self,
        reactor: &mut Reactor,
        index: usize,
        side: Side,
        result: i32,
        lent: Option<Lent>,
        now: Instant,
    ) {
        let op = Op::Receive(side);
        let (outcome, lent) = received(reactor, result, lent);
        match &mut self.flows[index].stage {
            Stage::Connecting(connecting) => match outcome {
                Some(Outcome::Failed(_)) => {
                    self.close(reactor, index, true, CloseReason::ClientReset, now);
                }
                Some(outcome) => connecting.early = Some(Early { outcome, lent }),
                // Started again by the relay.
                None => {}
            },
            Stage::Relaying(legs, _) => {
                // Without a buffer left the bytes are read by a system call.
                let outcome = outcome.unwrap_or_else(|| self.io.carry_out(legs, op));
                if let Some(lent) = lent {
                    legs.waiting[side as usize] = Waiting::Lent(lent);
                    legs.count(op, outcome);
                }
                self.settle(reactor, index, op, outcome, now);
                self.run(reactor, index, now);
            }
            Stage::Ending(_) | Stage::Closed => give_back(reactor, lent),
        }
    }

    fn handle_send_end(
        &mut self,
        reactor: &mut Reactor,
        index: usize,
        side: Side,
        result: i32,
        now: Instant,
    ) {
        let (Stage::Relaying(legs, _), Some(ring)) =
            (&mut self.flows[index].stage, &mut reactor.ring)
        else {
            return;
        };
        let waiting = &mut legs.waiting[side as usize];
        let Waiting::Lent(mut lent) = std::mem::replace(waiting, Waiting::Nothing) else {
            return;
        };
        let sent = usize::try_from(result);
        lent.note_sent(sent.unwrap_or(0));
        let left = ring.bytes(&lent);
        if !left.is_empty() {
            *waiting = Waiting::Kept(left.into(), 0);
        }
        ring.give_back(lent);
        let outcome = match sent {
            Ok(0) => Outcome::Again,
            Ok(bytes) => Outcome::Moved(bytes),
            Err(_) => outcome_of(Errno::from_raw_os_error(-result)),
        };
        let op = Op::Send(side);
        legs.count(op, outcome);
        self.settle(reactor, index, op, outcome, now);
        self.run(reactor, index, now);
    }

    /// Gives what the client has sent before its service was connected to the relay.
    pub(super) fn take_early(
        &mut self,
        reactor: &mut Reactor,
        index: usize,
        early: Early,
        now: Instant,
    ) {
        let Stage::Relaying(legs, _) = &mut self.flows[index].stage else {
            return give_back(reactor, early.lent);
        };
        if let Some(lent) = early.lent {
            legs.waiting[Side::Client as usize] = Waiting::Lent(lent);
        }
        self.settle(
            reactor,
            index,
            Op::Receive(Side::Client),
            early.outcome,
            now,
        );
    }

    /// Watches sides from which nothing is received at the moment, so that their resets are noticed.
    pub(super) fn watch(&mut self, reactor: &mut Reactor, index: usize) {
        let Some(ring) = &mut reactor.ring else {
            return;
        };
        let flow = &mut self.flows[index];
        let Stage::Relaying(legs, _) = &flow.stage else {
            return;
        };
        for side in Side::BOTH {
            let watched = [Started::Receive(side), Started::Readable(side)];
            if !watched.iter().any(|started| flow.in_flight.has(*started))
                && let Some(key) = flow.in_flight.start(Started::Failure(side), index)
            {
                ring.poll(legs.socket(side), 0, false, key);
            }
        }
    }

    /// Waits for more than the peer's FIN, which ends every poll at once that is to end with the first event.
    fn poll_again(&mut self, reactor: &mut Reactor, index: usize, started: Started) {
        let flow = &mut self.flows[index];
        let (Stage::Relaying(legs, _), Some(ring)) = (&flow.stage, &mut reactor.ring) else {
            return;
        };
        let (side, events) = match started {
            Started::Writable(side) => (side, libc::POLLOUT),
            Started::Failure(side) => (side, 0),
            Started::Receive(_)
            | Started::Send(_)
            | Started::Readable(_)
            | Started::FirstBytes
            | Started::Connect(_) => return,
        };
        if let Some(key) = flow.in_flight.start(started, index) {
            ring.poll(legs.socket(side), events, true, key);
        }
    }

    /// Ends what a closed flow still has in flight; its sockets stay until then.
    pub(super) fn end_if_nothing_is_in_flight(&mut self, reactor: &mut Reactor, index: usize) {
        let flow = &mut self.flows[index];
        if !flow.in_flight.is_empty() {
            return;
        }
        if let Stage::Ending(remains) = std::mem::replace(&mut flow.stage, Stage::Closed) {
            for lent in remains.lent {
                give_back(reactor, lent);
            }
            drop(remains.sockets);
            flow.claim = None;
            self.ending -= 1;
            self.closed.push(index);
        }
    }
}

/// Starts `op` on the ring if it is one for it; returns whether it is in flight.
pub(super) fn start(
    ring: &mut Ring,
    legs: &super::driver::Legs,
    in_flight: &mut InFlight,
    index: usize,
    op: Op,
) -> bool {
    match op {
        Op::Receive(side) => {
            if let Some(key) = in_flight.start(Started::Receive(side), index) {
                ring.receive(legs.socket(side), key);
            }
            true
        }
        Op::Send(side) => {
            let Waiting::Lent(lent) = &legs.waiting[side as usize] else {
                return false;
            };
            if let Some(key) = in_flight.start(Started::Send(side), index) {
                ring.send(legs.socket(side.other()), lent, key);
            }
            true
        }
        Op::SpliceIn(_)
        | Op::SpliceOut(_)
        | Op::Finish(_)
        | Op::Measure(_)
        | Op::Close(_)
        | Op::Reset(_) => false,
    }
}

/// Lets the ring say when `op`, which could not move anything, is to be tried again.
pub(super) fn wait_for(
    ring: &mut Ring,
    legs: &super::driver::Legs,
    in_flight: &mut InFlight,
    index: usize,
    op: Op,
) {
    let (side, started, events) = match op {
        Op::Receive(side) | Op::SpliceIn(side) => (side, Started::Readable(side), IN),
        Op::Send(side) | Op::SpliceOut(side) => {
            let side = side.other();
            (side, Started::Writable(side), libc::POLLOUT)
        }
        Op::Finish(_) | Op::Measure(_) | Op::Close(_) | Op::Reset(_) => return,
    };
    if let Some(key) = in_flight.start(started, index) {
        ring.poll(legs.socket(side), events, false, key);
    }
}

/// What a receive has brought; nothing if it is to be tried again.
fn received(
    reactor: &mut Reactor,
    result: i32,
    lent: Option<Lent>,
) -> (Option<Outcome>, Option<Lent>) {
    match usize::try_from(result) {
        Ok(0) => {
            give_back(reactor, lent);
            (Some(Outcome::Ended), None)
        }
        Ok(bytes) => (Some(Outcome::Moved(bytes)), lent),
        Err(_) => {
            give_back(reactor, lent);
            match Errno::from_raw_os_error(-result) {
                Errno::NOBUFS | Errno::AGAIN | Errno::INTR | Errno::CANCELED => (None, None),
                error => (Some(outcome_of(error)), None),
            }
        }
    }
}

pub(super) fn give_back(reactor: &mut Reactor, lent: Option<Lent>) {
    if let (Some(lent), Some(ring)) = (lent, &mut reactor.ring) {
        ring.give_back(lent);
    }
}

/// What a poll says; one that has failed lets the next system call say why.
fn ready(result: i32) -> Ready {
    let Ok(events) = u32::try_from(result) else {
        return READABLE;
    };
    let any = |wanted: i16| events & wanted as u32 != 0;
    Ready {
        readable: any(libc::POLLIN),
        writable: any(libc::POLLOUT),
        ended: any(libc::POLLRDHUP | libc::POLLHUP),
        failed: any(libc::POLLERR),
        // A ring passes on what the socket was woken for, which names urgent data with any data. Neither a receive
        // of the ring nor the end that a splice meets there needs to know.
        urgent: false,
    }
}

/// Whether a poll says nothing but that the peer has finished, which a ring tells whether asked or not.
fn is_only_finished(result: i32) -> bool {
    result == i32::from(libc::POLLRDHUP)
}

/// What says that a side can be read.
pub(super) const IN: i16 = libc::POLLIN | libc::POLLRDHUP;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_that_wakes_a_poll_is_not_taken_for_urgent() {
        // As the kernel reports it (sock_def_readable).
        let woken = libc::POLLIN | libc::POLLPRI | libc::POLLRDNORM | libc::POLLRDBAND;
        assert_eq!(ready(woken.into()), READABLE);
    }

    #[test]
    fn poll_that_fails_lets_the_next_call_say_why() {
        assert_eq!(ready(-libc::ECANCELED), READABLE);
        let ended = ready((libc::POLLOUT | libc::POLLHUP).into());
        assert!(ended.writable && ended.ended && !ended.failed && !ended.readable);
        assert!(ready(libc::POLLERR.into()).failed);
    }
}
