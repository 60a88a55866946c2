//! The TCP side of a worker: its listeners and its flows. No flow ever crosses threads.
//!
//! Owns the table of flows, their timers, the one buffer and the pipes. Events are edge-triggered, so
//! what has had its turn and may hold more waits in `backlog` for the next round of the loop.

mod accept;
mod completion;
mod connect;
mod driver;
mod exchange;
mod first_bytes;
mod flow;
mod in_flight;
mod traffic;

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use mio::Token;
use mio::event::Event;
use rustix::io::Errno;
use rustix::net::sockopt;
use slab::Slab;
use sluice_balance::{CloseFlows, CloseReason, Instant, VserverId};

use self::accept::Listener;
use self::driver::Io;
use self::exchange::News;
use self::first_bytes::FirstBytes;
use self::flow::{Flow, Remains, Stage};
use self::traffic::SAMPLE_INTERVAL;
use crate::flow_rows::{FlowStatus, PART};
use crate::reactor::Reactor;
use crate::relay::{Op, Outcome, Ready, Side};
use crate::shared::Shared;
use crate::timers::Timers;
use crate::token::{TCP_CLIENT, TCP_LISTENER, TCP_SERVICE, index, tag, token};

/// The TCP side of one worker.
pub(crate) struct TcpSide {
    shared: Arc<Shared>,
    listeners: Slab<Listener>,
    flows: Slab<Flow>,
    timers: Timers,
    io: Io,
    /// What may go on without an event: listeners and flows that had their turn.
    backlog: VecDeque<Token>,
    /// Closed flows that are still in the table.
    closed: Vec<usize>,
    /// How many are closed and have something in flight.
    ending: usize,
    /// Flows that moved something since their segments were counted, and when to count them.
    moved: Vec<usize>,
    sample_at: Option<Instant>,
    accept_paused_until: Option<Instant>,
    /// Whether the pause is over as soon as TCP has room for one more flow.
    waits_for_room: bool,
}

impl TcpSide {
    /// Makes the TCP side of a worker.
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let io = Io::new(Arc::clone(&shared.descriptors));
        Self {
            shared,
            listeners: Slab::new(),
            flows: Slab::new(),
            timers: Timers::default(),
            io,
            backlog: VecDeque::new(),
            closed: Vec::new(),
            ending: 0,
            moved: Vec::new(),
            sample_at: None,
            accept_paused_until: None,
            waits_for_room: false,
        }
    }

    /// Takes a readiness event of one of this side's sockets.
    pub(crate) fn handle_event(&mut self, reactor: &mut Reactor, event: &Event, now: Instant) {
        let index = index(event.token());
        match tag(event.token()) {
            TCP_LISTENER => self.accept(reactor, index, now),
            TCP_CLIENT => self.handle_ready(reactor, index, Side::Client, ready(event), now),
            TCP_SERVICE => self.handle_ready(reactor, index, Side::Service, ready(event), now),
            other => tracing::error!(tag = other, "an event of another side came to TCP"),
        }
    }

    /// Returns when [`Self::handle_timeout`] wants to be called next; long ago if at once.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        if !self.backlog.is_empty() {
            return Some(Instant::from_nanos(0));
        }
        [self.timers.next(), self.sample_at, self.accept_paused_until]
            .into_iter()
            .flatten()
            .min()
    }

    /// Ends a round of the loop: does what is due at `now`, gives what waits in the backlog its next
    /// turn, and forgets the flows that were closed.
    pub(crate) fn handle_timeout(&mut self, reactor: &mut Reactor, now: Instant) {
        while let Some(index) = self.timers.pop_due(now) {
            self.flows[index].timer.fired();
            self.handle_flow_timeout(reactor, index, now);
        }
        self.end_pause(now);
        for _ in 0..self.backlog.len() {
            let Some(next) = self.backlog.pop_front() else {
                break;
            };
            match tag(next) {
                TCP_LISTENER => self.accept(reactor, index(next), now),
                _ => self.continue_flow(reactor, index(next), now),
            }
        }
        if self.sample_at.is_some_and(|at| now >= at) {
            self.sample(reactor);
        }
        for index in self.closed.drain(..) {
            self.flows.remove(index);
        }
    }

    /// Resets the flows that `which` matches.
    pub(crate) fn close_flows(&mut self, reactor: &mut Reactor, which: CloseFlows, now: Instant) {
        let matching: Vec<_> = self
            .flows
            .iter()
            .filter(|(_, flow)| flow.matches(which))
            .map(|(index, _)| index)
            .collect();
        for index in matching {
            self.close(reactor, index, true, CloseReason::Flushed, now);
        }
    }

    /// Returns how many flows are open.
    pub(crate) fn flows(&self) -> usize {
        self.flows.len() - self.closed.len() - self.ending
    }

    /// Whether no flow is left, not even one that only has something in flight.
    pub(crate) fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }

    /// Shows the flows at a part of the places, from `from` on, and where the next part begins.
    pub(crate) fn list(&self, from: usize, now: Instant) -> (Vec<FlowStatus>, Option<usize>) {
        let end = from + PART;
        let flows = (from..end).filter_map(|index| self.flows.get(index)?.status(now));
        (
            flows.collect(),
            (end < self.flows.capacity()).then_some(end),
        )
    }

    fn handle_ready(
        &mut self,
        reactor: &mut Reactor,
        index: usize,
        side: Side,
        ready: Ready,
        now: Instant,
    ) {
        let Some(flow) = self.flows.get_mut(index) else {
            return;
        };
        match (&mut flow.stage, side) {
            (Stage::Connecting(connecting), Side::Client) => {
                connecting.client_ready.merge(ready);
                if ready.failed {
                    self.close(reactor, index, true, CloseReason::ClientReset, now);
                } else if let FirstBytes::Awaited(_) = connecting.first_bytes {
                    self.handle_first_bytes(reactor, index, now);
                }
            }
            (Stage::Connecting(_), Side::Service) => {
                self.handle_connect_event(reactor, index, ready, now);
            }
            (Stage::Relaying(_, relay), _) => {
                relay.handle_ready(side, ready, now);
                self.run(reactor, index, now);
            }
            (Stage::Ending(_) | Stage::Closed, _) => {}
        }
    }

    fn handle_flow_timeout(&mut self, reactor: &mut Reactor, index: usize, now: Instant) {
        match &mut self.flows[index].stage {
            Stage::Connecting(connecting) => match &connecting.attempt {
                Some(attempt) if now >= attempt.deadline => {
                    self.retry(reactor, index, Errno::TIMEDOUT, now);
                }
                Some(attempt) => {
                    let deadline = attempt.deadline;
                    self.timers
                        .arm(&mut self.flows[index].timer, index, deadline);
                }
                None => self.handle_first_bytes(reactor, index, now),
            },
            Stage::Relaying(_, relay) => {
                relay.handle_timeout(now);
                self.run(reactor, index, now);
            }
            Stage::Ending(_) | Stage::Closed => {}
        }
    }

    fn continue_flow(&mut self, reactor: &mut Reactor, index: usize, now: Instant) {
        if let Some(flow) = self.flows.get_mut(index)
            && std::mem::take(&mut flow.queued)
        {
            self.run(reactor, index, now);
        }
    }

    /// Does what a flow has to do, as much as one turn allows.
    fn run(&mut self, reactor: &mut Reactor, index: usize, now: Instant) {
        for _ in 0..OPS_PER_TURN {
            let flow = &mut self.flows[index];
            let Stage::Relaying(legs, relay) = &mut flow.stage else {
                return;
            };
            let Some(op) = relay.poll_op() else {
                if let Some(at) = relay.poll_timeout() {
                    self.timers.arm(&mut flow.timer, index, at);
                }
                return;
            };
            match op {
                Op::Close(reason) => return self.close(reactor, index, false, reason, now),
                Op::Reset(reason) => return self.close(reactor, index, true, reason, now),
                Op::Receive(_)
                | Op::Send(_)
                | Op::SpliceIn(_)
                | Op::SpliceOut(_)
                | Op::Finish(_)
                | Op::Measure(_) => {}
            }
            if legs.exchange.is_done_by(op) {
                let reservation = &legs.reservation;
                self.shared
                    .with_engine(|engine| engine.handle_service_done(reservation));
            }
            if let Some(ring) = &mut reactor.ring
                && completion::start(ring, legs, &mut flow.in_flight, index, op)
            {
                continue;
            }
            let outcome = self.io.carry_out(legs, op);
            self.settle(reactor, index, op, outcome, now);
        }
        let flow = &mut self.flows[index];
        if !std::mem::replace(&mut flow.queued, true) {
            self.backlog.push_back(token(index, TCP_CLIENT));
        }
    }

    /// Tells the relay, the engine and the books how an operation ended.
    fn settle(
        &mut self,
        reactor: &mut Reactor,
        index: usize,
        op: Op,
        outcome: Outcome,
        now: Instant,
    ) {
        let flow = &mut self.flows[index];
        let Stage::Relaying(legs, relay) = &mut flow.stage else {
            return;
        };
        relay.handle_done(op, outcome, now);
        if let Some(news) = legs.exchange.handle_done(op, outcome, now) {
            let reservation = &legs.reservation;
            self.shared.with_engine(|engine| match news {
                News::ClientData => engine.handle_client_data(reservation, now),
                News::MoreClientData => engine.handle_more_client_data(reservation, now),
                News::FirstAnswer => engine.handle_first_answer(reservation, now),
            });
        }
        let mut sampled = matches!(outcome, Outcome::Moved(_));
        if let Some(ring) = &mut reactor.ring {
            match outcome {
                // The next receive waits by itself.
                Outcome::Moved(_) => {
                    if let Op::Receive(side) = op {
                        relay.handle_ready(side, READABLE, now);
                    }
                }
                Outcome::Again => {
                    completion::wait_for(ring, legs, &mut flow.in_flight, index, op);
                }
                // From now on nothing is received that would tell of a reset: see `sample`.
                Outcome::Ended => sampled = true,
                Outcome::NoPipe | Outcome::Unacknowledged(_) | Outcome::Failed(_) => {}
            }
        }
        if sampled && legs.traffic.note_moved() {
            self.moved.push(index);
            self.sample_at.get_or_insert(now + SAMPLE_INTERVAL);
        }
    }

    /// Ends a flow and tells the engine, when it has a place on a service.
    fn close(
        &mut self,
        reactor: &mut Reactor,
        index: usize,
        reset_it: bool,
        reason: CloseReason,
        now: Instant,
    ) {
        let flow = &mut self.flows[index];
        if let Stage::Ending(_) | Stage::Closed = flow.stage {
            return;
        }
        self.timers.disarm(&mut flow.timer, index);
        let (mut aborted, mut cut_off) = (None, false);
        let mut remains = Remains::default();
        let (reservation, reason) = match std::mem::replace(&mut flow.stage, Stage::Closed) {
            Stage::Connecting(connecting) => {
                reset_by_closing(&connecting.client);
                let attempt = connecting.attempt;
                let has_left = attempt.is_none() && reason == CloseReason::ClientReset;
                aborted = has_left.then_some(connecting.vserver);
                let (service, reservation) = attempt
                    .map(|attempt| (attempt.service, attempt.selection.reservation))
                    .unzip();
                remains.sockets = [Some(connecting.client), service];
                remains.lent[0] = connecting.early.and_then(|early| early.lent);
                (reservation, reason)
            }
            Stage::Relaying(legs, _) => {
                cut_off = legs.exchange.is_cut_off(reason);
                let reason = legs.exchange.reason(reason);
                let (reservation, rest) = self.io.close(legs, reset_it);
                remains = rest;
                (Some(reservation), reason)
            }
            Stage::Ending(_) | Stage::Closed => return,
        };
        flow.stage = Stage::Ending(Box::new(remains));
        self.ending += 1;
        if let Some(ring) = &mut reactor.ring {
            for started in flow.in_flight.each() {
                ring.cancel(started.key(index));
            }
        }
        self.end_if_nothing_is_in_flight(reactor, index);
        if let Some(vserver) = aborted {
            self.count_aborted(vserver);
        }
        if let Some(reservation) = reservation {
            self.shared.with_engine(|engine| {
                if cut_off {
                    engine.handle_unanswered(&reservation);
                }
                engine.handle_close(reservation, reason, now);
            });
        }
    }

    /// Counts a client that has left before it had a service.
    fn count_aborted(&self, vserver: VserverId) {
        self.shared
            .with_engine(|engine| engine.handle_aborted(vserver));
    }

    /// Counts the segments of the flows that moved something.
    fn sample(&mut self, reactor: &mut Reactor) {
        self.sample_at = None;
        for index in std::mem::take(&mut self.moved) {
            if let Some(flow) = self.flows.get_mut(index)
                && let Stage::Relaying(legs, _) = &mut flow.stage
            {
                legs.sample();
                self.watch(reactor, index);
            }
        }
    }
}

fn ready(event: &Event) -> Ready {
    Ready {
        readable: event.is_readable(),
        writable: event.is_writable(),
        ended: event.is_read_closed(),
        failed: event.is_error(),
        urgent: event.is_priority(),
    }
}

/// Makes closing `socket` a reset.
fn reset_by_closing(socket: &OwnedFd) {
    // A socket that refuses this is lost already; closing it is all that is left.
    let _ = sockopt::set_socket_linger(socket, Some(Duration::ZERO));
}

const READABLE: Ready = Ready {
    readable: true,
    writable: false,
    ended: false,
    failed: false,
    urgent: false,
};

/// A flow moves at most about 16 MiB in a turn (an operation a full pipe), 3 ms or so.
const OPS_PER_TURN: usize = 32;

#[cfg(test)]
mod tests;
