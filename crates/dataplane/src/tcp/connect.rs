//! Connects a flow to its service: choose, connect without blocking, on failure the next best.

use core::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::time::Duration;

use mio::Interest;
use mio::unix::SourceFd;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, connect, socket_with, sockopt};
use sluice_balance::{CloseReason, Instant, Refusal, Selection, Sockets, TcpOptions, TokenRange};

use super::driver::Legs;
use super::first_bytes::FirstBytes;
use super::flow::{Attempt, Connecting, Stage};
use super::in_flight::{InFlight, Started};
use super::{READABLE, TcpSide};
use crate::reactor::Reactor;
use crate::relay::{Ready, Relay, Side};
use crate::shared::Shared;
use crate::sockets;
use crate::token::{TCP_CLIENT, TCP_SERVICE, token};

impl TcpSide {
    /// Chooses services for a flow until one is being connected, or resets the client.
    pub(super) fn connect(&mut self, reactor: &mut Reactor, index: usize, now: Instant) {
        loop {
            let Stage::Connecting(connecting) = &mut self.flows[index].stage else {
                return;
            };
            let tries = self.shared.connect_tries.load(Ordering::Relaxed);
            if connecting.tried.len() >= tries {
                return self.close(reactor, index, true, CloseReason::ConnectFailed, now);
            }
            let selected = match ask(&self.shared, connecting, now) {
                Answer::Look(range) => {
                    if self.await_token(reactor, index, range, now) {
                        continue;
                    }
                    return;
                }
                Answer::Chosen(selected) => selected,
            };
            let Ok(selection) = selected else {
                return self.close(reactor, index, true, CloseReason::ConnectFailed, now);
            };
            match self.attempt(reactor, index, selection, now) {
                Ok(Progress::Connected) => {
                    return self.relay(reactor, index, Ready::default(), now);
                }
                Ok(Progress::Waiting) => return,
                Err((selection, error)) => {
                    if !self.handle_failed_attempt(reactor, index, selection, error, now) {
                        return;
                    }
                }
            }
        }
    }

    /// Takes an event of the service's socket while it is being connected.
    pub(super) fn handle_connect_event(
        &mut self,
        reactor: &mut Reactor,
        index: usize,
        ready: Ready,
        now: Instant,
    ) {
        let Stage::Connecting(connecting) = &self.flows[index].stage else {
            return;
        };
        let Some(attempt) = &connecting.attempt else {
            return;
        };
        if ready.failed {
            let told = sockopt::socket_error(&attempt.service).and_then(|told| told);
            let error = told.err().unwrap_or(Errno::CONNREFUSED);
            self.retry(reactor, index, error, now);
        } else if ready.writable {
            self.relay(reactor, index, ready, now);
        }
    }

    /// Gives up a connect under way because of `error`, and tries the next best service.
    pub(super) fn retry(
        &mut self,
        reactor: &mut Reactor,
        index: usize,
        error: Errno,
        now: Instant,
    ) {
        let Stage::Connecting(connecting) = &mut self.flows[index].stage else {
            return;
        };
        let Some(Attempt {
            service, selection, ..
        }) = connecting.attempt.take()
        else {
            return;
        };
        if let Some(ring) = &mut reactor.ring {
            // What is not started yet may meet another socket under this number; its end is taken for old.
            let tried = u8::try_from(connecting.tried.len()).unwrap_or(0);
            ring.cancel(Started::Connect(tried).key(index));
        }
        drop(service);
        if self.handle_failed_attempt(reactor, index, selection, error, now) {
            self.connect(reactor, index, now);
        }
    }

    /// Tells the engine; returns whether another service may be tried.
    fn handle_failed_attempt(
        &mut self,
        reactor: &mut Reactor,
        index: usize,
        selection: Selection,
        error: Errno,
        now: Instant,
    ) -> bool {
        let blame = Blame::of(error);
        let reason = match blame {
            Blame::Service => CloseReason::ConnectFailed,
            Blame::Port | Blame::Process => CloseReason::Local,
        };
        let service = selection.reservation.service();
        let address = selection.address;
        tracing::debug!(%error, service = service.0, %address, "cannot connect");
        self.shared
            .with_engine(|engine| engine.handle_close(selection.reservation, reason, now));
        match blame {
            Blame::Service => {}
            Blame::Port if self.shared.may_complain(now) => {
                tracing::warn!(%error, %address, "no local port is left for a connection");
            }
            Blame::Port => {}
            Blame::Process => {
                self.pause_accepting(error, now);
                self.close(reactor, index, true, CloseReason::Local, now);
                return false;
            }
        }
        if let Stage::Connecting(connecting) = &mut self.flows[index].stage {
            connecting.tried.push(service);
        }
        true
    }

    #[expect(
        clippy::result_large_err,
        reason = "the place of a failed attempt is given back; a box would cost an allocation"
    )]
    fn attempt(
        &mut self,
        reactor: &mut Reactor,
        index: usize,
        selection: Selection,
        now: Instant,
    ) -> Result<Progress, (Selection, Errno)> {
        let flow = &mut self.flows[index];
        let Stage::Connecting(connecting) = &mut flow.stage else {
            return Ok(Progress::Waiting);
        };
        let (service, progress) = match open(
            selection.address,
            &self
                .shared
                .sockets
                .to_service(connecting.vserver, selection.reservation.service()),
        ) {
            Ok(opened) => opened,
            Err(error) => return Err((selection, error)),
        };
        if watch(reactor, connecting, &mut flow.in_flight, &service, index).is_err() {
            return Err((selection, Errno::NOMEM));
        }
        let deadline = now + CONNECT_LIMIT;
        connecting.attempt = Some(Attempt {
            service,
            selection,
            deadline,
        });
        let timer = &mut self.flows[index].timer;
        self.timers.arm(timer, index, deadline);
        Ok(progress)
    }

    /// The service is connected: bytes flow from now on. Its first bytes may have come with the event
    /// that said so, `ready`.
    fn relay(&mut self, reactor: &mut Reactor, index: usize, ready: Ready, now: Instant) {
        let flow = &mut self.flows[index];
        let Stage::Connecting(connecting) = std::mem::replace(&mut flow.stage, Stage::Closed)
        else {
            return;
        };
        let Some(Attempt {
            service, selection, ..
        }) = connecting.attempt
        else {
            return;
        };
        let early = connecting.early;
        let idle = match (selection.client_idle, selection.service_idle) {
            (Some(client), Some(service)) => Some(client.min(service)),
            (client, service) => client.or(service),
        };
        let mut relay = Relay::new(idle, now);
        relay.handle_ready(Side::Client, connecting.client_ready, now);
        relay.handle_ready(Side::Service, ready, now);
        if let Some(ring) = &mut reactor.ring {
            // A receive waits by itself.
            for side in Side::BOTH {
                relay.handle_ready(side, READABLE, now);
            }
            if flow.in_flight.has(Started::FirstBytes) {
                ring.cancel(Started::FirstBytes.key(index));
            }
        }
        let legs = Legs::new(connecting.client, service, &connecting.key, selection);
        flow.stage = Stage::Relaying(legs, relay);
        if let Some(early) = early {
            self.take_early(reactor, index, early, now);
        }
        self.run(reactor, index, now);
    }
}

/// What the engine says of a flow without a service.
enum Answer {
    /// Its first bytes are to be looked at before.
    Look(TokenRange),
    /// Who gets it.
    Chosen(Result<Selection, Refusal>),
}

/// Asks the engine for a service, once it has said whether the client's first bytes are needed.
fn ask(shared: &Shared, connecting: &mut Connecting, now: Instant) -> Answer {
    let (vserver, key) = (connecting.vserver, connecting.key);
    let unasked = connecting.first_bytes == FirstBytes::Unasked;
    let answer = shared.with_engine(|engine| {
        let range = unasked.then(|| engine.token_range(vserver)).flatten();
        let choose = || Answer::Chosen(engine.select(vserver, &key, &connecting.tried, now));
        range.map_or_else(choose, Answer::Look)
    });
    connecting.first_bytes = FirstBytes::Settled;
    answer
}

/// Whose fault a failed connect is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blame {
    /// The service's, or the network's on the way to it.
    Service,
    /// No local port is free for this destination; another service's address has its own.
    Port,
    /// The process or the machine has run out of something that every connection needs.
    Process,
}

impl Blame {
    fn of(error: Errno) -> Self {
        match error {
            Errno::ADDRNOTAVAIL | Errno::AGAIN => Self::Port,
            Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM => Self::Process,
            _ => Self::Service,
        }
    }
}

#[derive(Debug)]
enum Progress {
    Connected,
    Waiting,
}

fn open(address: SocketAddr, wanted: &Sockets) -> Result<(OwnedFd, Progress), Errno> {
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let service = socket_with(family, SocketType::STREAM, flags, None)?;
    sockopt::set_tcp_nodelay(&service, true)?;
    if wanted.tcp != TcpOptions::default() {
        sockets::tell(&service, &wanted.tcp);
    }
    // As for the clients' sockets: urgent bytes stay in the stream.
    sockopt::set_socket_oobinline(&service, true)?;
    sockets::bind_source(&service, wanted.source, address)?;
    match connect(&service, &address) {
        Ok(()) => Ok((service, Progress::Connected)),
        Err(Errno::INPROGRESS | Errno::INTR) => Ok((service, Progress::Waiting)),
        Err(error) => Err(error),
    }
}

/// Has the end of a connect told, and what becomes of the client meanwhile.
fn watch(
    reactor: &mut Reactor,
    connecting: &mut Connecting,
    in_flight: &mut InFlight,
    service: &OwnedFd,
    index: usize,
) -> std::io::Result<()> {
    if let Some(ring) = &mut reactor.ring {
        let tried = u8::try_from(connecting.tried.len()).unwrap_or(0);
        if let Some(key) = in_flight.start(Started::Connect(tried), index) {
            ring.poll(service.as_fd(), libc::POLLOUT, false, key);
        }
        if connecting.early.is_none()
            && let Some(key) = in_flight.start(Started::Receive(Side::Client), index)
        {
            ring.receive(connecting.client.as_fd(), key);
        }
        return Ok(());
    }
    register(reactor, service, index, TCP_SERVICE)?;
    if !std::mem::replace(&mut connecting.registered, true) {
        register(reactor, &connecting.client, index, TCP_CLIENT)?;
    }
    Ok(())
}

pub(super) fn register(
    reactor: &Reactor,
    socket: &OwnedFd,
    index: usize,
    tag: usize,
) -> std::io::Result<()> {
    let interest = Interest::READABLE | Interest::WRITABLE | Interest::PRIORITY;
    reactor.registry().register(
        &mut SourceFd(&socket.as_raw_fd()),
        token(index, tag),
        interest,
    )
}

/// How long a service may take to answer a connect: covers two lost SYNs (repeated after 1 s and 3 s)
/// and leaves a waiting client time for two more services before most of them give up.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
