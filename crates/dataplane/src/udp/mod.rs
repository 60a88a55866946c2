//! The UDP side of a worker: listeners and the sessions made through them.
//!
//! A session is a client address, the local address it dialled and the virtual server; it has one
//! socket connected to its service. Datagrams go through whole and in the order of their flow, or
//! are dropped and counted (`UdpStatus`). The worker that receives the first datagram of a session
//! owns it; another worker that receives one of the same session sends through the same socket.
//!
//! Owns no thread and no clock: the worker's loop passes events and the time in. Events are
//! edge-triggered. A socket is read until it is empty or has had its turn; then it waits in `ready`
//! for the next `handle_timeout`, so that a busy socket does not starve the others.

mod admission;
mod expiry;
mod flows;
mod forward;
mod listener;
mod losses;
mod sessions;
mod sys;

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::Arc;

use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use slab::Slab;
use sluice_balance::{CloseFlows, CloseReason, Instant, VserverId};

use self::flows::{Flow, Flows, LEAVING_IDLE};
use self::forward::{next_run, send_run};
use self::listener::Listener;
pub use self::losses::UdpStatus;
use self::losses::{Loss, Losses};
pub(crate) use self::sessions::Sessions;
use self::sessions::{Session, SessionKey};
use self::sys::{Arena, Ask, BATCH};
use crate::flow_rows::FlowStatus;
use crate::shared::Shared;
use crate::token::{UDP_LISTENER, UDP_SESSION, index, tag, token};

/// The UDP side of one worker.
pub(crate) struct UdpSide {
    shared: Arc<Shared>,
    worker: usize,
    listeners: Slab<Listener>,
    flows: Flows,
    arena: Arena,
    /// Sockets that had their turn and may hold more, each at most once while it is `waiting`.
    ready: VecDeque<Token>,
}

impl UdpSide {
    /// Makes the UDP side of the worker with the number `worker`.
    ///
    /// # Errors
    /// None so far; a driver with a kernel ring needs one.
    pub(crate) fn new(shared: Arc<Shared>, worker: usize) -> io::Result<Self> {
        Ok(Self {
            shared,
            worker,
            listeners: Slab::new(),
            flows: Flows::default(),
            arena: Arena::new(),
            ready: VecDeque::new(),
        })
    }

    /// Serves `address` for `vserver` through `socket`, which is bound to it.
    ///
    /// # Errors
    /// When a socket option or the registration is refused; nothing is served then.
    pub(crate) fn open_listener(
        &mut self,
        registry: &Registry,
        vserver: VserverId,
        address: SocketAddr,
        socket: Arc<UdpSocket>,
    ) -> io::Result<()> {
        let listener = Listener::new(vserver, socket)?;
        let entry = self.listeners.vacant_entry();
        register(
            registry,
            listener.socket(),
            token(entry.key(), UDP_LISTENER),
        )?;
        entry.insert(listener);
        tracing::debug!(worker = self.worker, %address, "serves UDP");
        Ok(())
    }

    /// Stops serving `vserver`: ends its sessions and lets its socket go.
    pub(crate) fn close_listener(&mut self, registry: &Registry, vserver: VserverId, now: Instant) {
        let which = CloseFlows {
            vserver: None,
            dialled: Some(vserver),
            service: None,
        };
        self.close_flows(registry, which, now);
        let closing =
            |(index, listener): (usize, &Listener)| (listener.vserver == vserver).then_some(index);
        while let Some(index) = self.listeners.iter().find_map(closing) {
            let listener = self.listeners.remove(index);
            deregister(registry, listener.socket());
        }
    }

    /// Ends soon the sessions over which nothing passes any more; no session begins from now on.
    pub(crate) fn drain(&mut self, now: Instant) {
        self.flows.shorten(LEAVING_IDLE, now);
    }

    /// Takes a readiness event of one of this side's sockets.
    pub(crate) fn handle_event(&mut self, registry: &Registry, token: Token, now: Instant) {
        match tag(token) {
            UDP_LISTENER => self.read_listener(registry, index(token), now),
            UDP_SESSION => self.read_session(index(token), now),
            other => tracing::error!(tag = other, "an event of another side came to UDP"),
        }
    }

    /// Returns when `handle_timeout` wants to be called next; long ago if at once.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        match self.ready.is_empty() {
            false => Some(Instant::default()),
            true => self.flows.next_deadline(),
        }
    }

    /// Does what is due at `now`: gives waiting sockets their next turn and ends sessions that have
    /// run out.
    pub(crate) fn handle_timeout(&mut self, registry: &Registry, now: Instant) {
        for _ in 0..self.ready.len() {
            if let Some(token) = self.ready.pop_front()
                && self.stops_waiting(token)
            {
                self.handle_event(registry, token, now);
            }
        }
        self.expire(registry, now);
    }

    /// Ends the sessions that `which` matches; the next datagram of their clients begins new ones.
    pub(crate) fn close_flows(&mut self, registry: &Registry, which: CloseFlows, now: Instant) {
        let matches = |flow: &Flow| which.matches(&flow.reservation);
        let mut ended = Vec::new();
        for index in self.flows.matching(matches) {
            ended.extend(self.flows.remove(index));
        }
        self.finish(registry, ended, CloseReason::Flushed, now);
    }

    /// Lets the sessions that `which` matches leave their service: the next datagram of their clients
    /// begins new ones if anybody takes them, and those over which nothing passes end soon.
    pub(crate) fn move_flows(&mut self, which: CloseFlows, now: Instant) {
        self.flows
            .let_go(|flow| which.matches(&flow.reservation), now);
    }

    /// Returns how many sessions this worker owns.
    pub(crate) fn flows(&self) -> usize {
        self.flows.len()
    }

    /// Shows the sessions at a part of the places, from `from` on, and where the next part begins.
    pub(crate) fn list(&self, from: usize, now: Instant) -> (Vec<FlowStatus>, Option<usize>) {
        self.flows.list(from, now)
    }

    fn read_listener(&mut self, registry: &Registry, index: usize, now: Instant) {
        for _ in 0..TURN_BATCHES {
            let Some(listener) = self.listeners.get(index) else {
                return;
            };
            match self.arena.receive(listener.socket(), listener.ask()) {
                Ok(count) => {
                    self.forward_batch(registry, index, now);
                    // An unconnected socket has no pending errors, so a batch that is not full
                    // means that the socket is empty.
                    if count < BATCH {
                        return;
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) => note_error(self.shared.udp.losses(), &error),
            }
        }
        if let Some(listener) = self.listeners.get_mut(index)
            && !listener.waiting
        {
            listener.waiting = true;
            self.ready.push_back(token(index, UDP_LISTENER));
        }
    }

    /// Sends the batch of a listener on to the services.
    fn forward_batch(&mut self, registry: &Registry, listener: usize, now: Instant) {
        let mut done = 0;
        while let Some(run) = next_run(self.arena.datagrams(), done, self.shared.udp.losses()) {
            done = run.end;
            if let Err(loss) = self.forward_run(registry, listener, run.clone(), now) {
                self.shared.udp.losses().add(loss, run.len());
                self.complain(loss, now);
            }
        }
    }

    fn forward_run(
        &mut self,
        registry: &Registry,
        listener: usize,
        run: Range<usize>,
        now: Instant,
    ) -> Result<(), Loss> {
        let received = &self.arena.datagrams()[run.start];
        let key = self
            .listeners
            .get(listener)
            .and_then(|listener| listener.key(received));
        let key = key.ok_or(Loss::Truncated)?;
        let session = match self.find(&key, now) {
            Some(session) if session.is_leaving() => {
                let begun = self.begin(registry, listener, key, run.start, Some(&session), now);
                begun.unwrap_or_else(|_| {
                    session.set_leaving(false);
                    session
                })
            }
            Some(session) => session,
            None => self.begin(registry, listener, key, run.start, None, now)?,
        };
        let losses = self.shared.udp.losses();
        let (packets, bytes) = send_run(&self.arena, session.socket().as_fd(), run, None, losses);
        if packets > 0 {
            session.add_in(bytes, packets);
            if session.ask() {
                self.report_client_data(&key, now);
            }
        }
        Ok(())
    }

    /// Tells the engine that the first datagram of a session is with the service.
    ///
    /// The owner of a session sends it. If the system does not take that one and the next comes to
    /// another worker, the engine is not told: it then takes nobody to wait, which blames nobody.
    fn report_client_data(&self, key: &SessionKey, now: Instant) {
        if let Some(reservation) = self.flows.reservation(key) {
            self.shared
                .with_engine(|engine| engine.handle_client_data(reservation, now));
        }
    }

    /// Finds the session of `key`, marked as used: own ones first, then those of other workers.
    fn find(&self, key: &SessionKey, now: Instant) -> Option<Arc<Session>> {
        match self.flows.find(key) {
            Some(session) => session.touch(now).then(|| Arc::clone(session)),
            None => self.shared.udp.find(key, now),
        }
    }

    /// Reads a session's replies and sends them to its client.
    fn read_session(&mut self, index: usize, now: Instant) {
        let Some(flow) = self.flows.at_mut(index) else {
            return;
        };
        let Some(listener) = self.listeners.get(flow.listener) else {
            return;
        };
        let ends = listener.ends(&flow.key);
        let losses = self.shared.udp.losses();
        for _ in 0..TURN_BATCHES {
            let received = match self
                .arena
                .receive(flow.session.socket().as_fd(), Ask::Payload)
            {
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) => {
                    note_error(losses, &error);
                    continue;
                }
            };
            flow.session.touch(now);
            if !std::mem::replace(&mut flow.answered, true) {
                let reservation = &flow.reservation;
                self.shared
                    .with_engine(|engine| engine.handle_first_answer(reservation, now));
            }
            let mut done = 0;
            while let Some(run) = next_run(self.arena.datagrams(), done, losses) {
                done = run.end;
                let lens = self.arena.datagrams()[run.clone()].iter();
                let bytes = lens.map(|datagram| datagram.len as u64).sum();
                flow.session.add_out(bytes, run.len() as u64);
                send_run(&self.arena, listener.socket(), run, Some(&ends), losses);
            }
            // A batch that is not full ends where the socket is empty, or at an error that has come meanwhile
            // and raises an event of its own.
            if received < BATCH {
                return;
            }
        }
        if let Some(flow) = self.flows.at_mut(index)
            && !flow.waiting
        {
            flow.waiting = true;
            self.ready.push_back(token(index, UDP_SESSION));
        }
    }

    /// Takes a socket out of waiting; `false` if it has gone meanwhile.
    fn stops_waiting(&mut self, token: Token) -> bool {
        let waiting = match tag(token) {
            UDP_LISTENER => self
                .listeners
                .get_mut(index(token))
                .map(|it| &mut it.waiting),
            _ => self.flows.at_mut(index(token)).map(|it| &mut it.waiting),
        };
        waiting.is_some_and(std::mem::take)
    }

    /// Ends sessions that have run out, at most some at a time.
    fn expire(&mut self, registry: &Registry, now: Instant) {
        let mut ended = Vec::new();
        for _ in 0..TURN_EXPIRIES {
            let Some(index) = self.flows.pop_due(now) else {
                break;
            };
            self.read_session(index, now);
            ended.extend(self.flows.expire(index, now));
        }
        self.finish(registry, ended, CloseReason::Finished, now);
    }

    /// Gives back all that ended sessions held.
    fn finish(&self, registry: &Registry, ended: Vec<Flow>, reason: CloseReason, now: Instant) {
        if ended.is_empty() {
            return;
        }
        let mut reservations = Vec::with_capacity(ended.len());
        for flow in ended {
            deregister(registry, flow.session.socket().as_fd());
            self.shared.udp.remove(&flow.key, &flow.session);
            tracing::trace!(worker = self.worker, key = ?flow.key, ?reason, "session ends");
            reservations.push(flow.reservation);
        }
        self.shared.with_engine(|engine| {
            for reservation in reservations {
                engine.handle_close(reservation, reason, now);
            }
        });
    }
}

/// An error that the network reported concerns datagrams that are gone; the session goes on.
fn note_error(losses: &Losses, error: &io::Error) {
    if error.kind() != ErrorKind::Interrupted {
        tracing::trace!(%error, "reported on a UDP socket");
        losses.add(Loss::Reported, 1);
    }
}

fn register(registry: &Registry, socket: BorrowedFd<'_>, token: Token) -> io::Result<()> {
    registry.register(
        &mut SourceFd(&socket.as_raw_fd()),
        token,
        Interest::READABLE,
    )
}

fn deregister(registry: &Registry, socket: BorrowedFd<'_>) {
    if let Err(error) = registry.deregister(&mut SourceFd(&socket.as_raw_fd())) {
        tracing::debug!(%error, "a socket was not watched");
    }
}

/// Batches of one socket before the others have their turn.
const TURN_BATCHES: usize = 4;
/// Sessions ended at one time, so that a burst of them does not hold up datagrams.
const TURN_EXPIRIES: usize = 256;

#[cfg(test)]
mod tests;
