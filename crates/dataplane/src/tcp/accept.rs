//! Accepts clients: the listeners of a worker and what happens when accepting fails.

use core::net::SocketAddr;
use std::io;
use std::net::TcpListener;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use mio::Interest;
use mio::unix::SourceFd;
use rustix::io::Errno;
use rustix::net::{SocketFlags, acceptfrom_with, getsockname, sockopt};
use sluice_balance::{FlowKey, Instant, VserverId};

use super::TcpSide;
use super::first_bytes::FirstBytes;
use super::flow::{Connecting, Flow};
use crate::reactor::Reactor;
use crate::relay::Ready;
use crate::sockets;
use crate::token::{TCP_LISTENER, token};

/// A listening socket that this worker borrows.
#[derive(Debug)]
pub(super) struct Listener {
    pub(super) vserver: VserverId,
    address: SocketAddr,
    socket: Arc<TcpListener>,
}

impl TcpSide {
    /// Serves `address` for `vserver` through `socket`, which listens there.
    ///
    /// # Errors
    /// When the registration is refused; nothing is served then.
    pub(crate) fn open_listener(
        &mut self,
        reactor: &mut Reactor,
        vserver: VserverId,
        address: SocketAddr,
        socket: Arc<TcpListener>,
    ) -> io::Result<()> {
        let entry = self.listeners.vacant_entry();
        reactor.registry().register(
            &mut SourceFd(&socket.as_raw_fd()),
            token(entry.key(), TCP_LISTENER),
            Interest::READABLE,
        )?;
        entry.insert(Listener {
            vserver,
            address,
            socket,
        });
        Ok(())
    }

    /// Stops serving `vserver` and lets its socket go. Its flows go on.
    pub(crate) fn close_listener(&mut self, reactor: &mut Reactor, vserver: VserverId) {
        self.listeners.retain(|_, listener| {
            let keep = listener.vserver != vserver;
            if !keep {
                deregister(reactor, listener);
            }
            keep
        });
    }

    /// Takes the clients that wait at every listener, then closes all listeners.
    pub(crate) fn drain(&mut self, reactor: &mut Reactor, now: Instant) {
        let open: Vec<_> = self.listeners.iter().map(|(index, _)| index).collect();
        for index in open {
            self.accept(reactor, index, now);
        }
        for listener in self.listeners.drain() {
            deregister(reactor, &listener);
        }
    }

    /// Takes the clients that wait at a listener, as many as one turn allows.
    pub(super) fn accept(&mut self, reactor: &mut Reactor, index: usize, now: Instant) {
        for _ in 0..ACCEPTS_PER_TURN {
            if self.accept_paused_until.is_some() {
                return;
            }
            let Some(listener) = self.listeners.get(index) else {
                return;
            };
            // Asked for first: a client that is not accepted waits in the queue and loses nothing.
            let Some(claim) = self.shared.descriptors.claim_flow() else {
                return self.wait_for_descriptors(now);
            };
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            match acceptfrom_with(&*listener.socket, flags) {
                // One that has reset in the queue comes out of it like any other; it must not use a
                // service.
                Ok((client, _)) if !is_connected(&client) => {
                    self.count_aborted(listener.vserver);
                }
                Ok((client, Some(source))) => {
                    if let Ok(source) = source.try_into()
                        && let Some(dialled) = dialled(listener, &client)
                    {
                        let options = self.shared.sockets.of_client(listener.vserver);
                        options.inspect(|options| sockets::tell(&client, options));
                        let key = FlowKey {
                            src: source,
                            dst: dialled,
                            token: None,
                        };
                        let flow = connecting(client, listener.vserver, key);
                        let index = self.flows.insert(Flow::new(flow, claim, now));
                        self.connect(reactor, index, now);
                    }
                }
                Ok((_, None)) => {}
                Err(Errno::AGAIN) => return,
                Err(Errno::CONNABORTED) => self.count_aborted(listener.vserver),
                // About the client that waited; the next one may be fine.
                Err(error) if is_of_one_client(error) => {}
                Err(error) => self.pause_accepting(error, now),
            }
        }
        self.backlog.push_back(token(index, TCP_LISTENER));
    }

    /// Accepts nothing for a moment, because the system has nothing to accept with. Clients wait in
    /// their queue; descriptors and memory of flows that end come back meanwhile.
    pub(super) fn pause_accepting(&mut self, error: Errno, now: Instant) {
        self.pause(now);
        if self.shared.may_complain(now) {
            tracing::warn!(%error, flows = self.flows.len(), "cannot take more clients for now");
        }
    }

    /// The same, because what descriptors are left are kept for others.
    fn wait_for_descriptors(&mut self, now: Instant) {
        self.pause(now);
        self.waits_for_room = true;
        if self.shared.may_complain(now) {
            tracing::warn!(
                flows = self.flows(),
                "cannot take more clients for now: TCP has its part of the open files (ulimit -n)"
            );
        }
    }

    fn pause(&mut self, now: Instant) {
        self.io.pipes.release_idle();
        self.accept_paused_until = Some(now + ACCEPT_PAUSE);
        self.waits_for_room = false;
    }

    /// Accepts again at all listeners when the pause is over, or a flow that has ended leaves its place.
    pub(super) fn end_pause(&mut self, now: Instant) {
        let Some(until) = self.accept_paused_until else {
            return;
        };
        let room = self.waits_for_room && self.shared.descriptors.tcp_has_room_for(FLOW);
        if now >= until || room {
            self.accept_paused_until = None;
            // Their events have come and gone.
            let waiting = self
                .listeners
                .iter()
                .map(|(index, _)| token(index, TCP_LISTENER));
            self.backlog.extend(waiting);
        }
    }
}

/// A client that was accepted just now.
fn connecting(client: OwnedFd, vserver: VserverId, key: FlowKey) -> Connecting {
    Connecting {
        client,
        vserver,
        key,
        first_bytes: FirstBytes::Unasked,
        tried: Vec::new(),
        client_ready: Ready::default(),
        registered: false,
        early: None,
        attempt: None,
    }
}

/// The address that the client dialled; asked for only where the listener does not say it.
fn dialled(listener: &Listener, client: &OwnedFd) -> Option<SocketAddr> {
    if !listener.address.ip().is_unspecified() {
        return Some(listener.address);
    }
    getsockname(client).ok()?.try_into().ok()
}

/// Whether a client is still there.
fn is_connected(client: &OwnedFd) -> bool {
    matches!(sockopt::socket_error(client), Ok(Ok(())))
}

fn deregister(reactor: &Reactor, listener: &Listener) {
    if let Err(error) = reactor
        .registry()
        .deregister(&mut SourceFd(&listener.socket.as_raw_fd()))
    {
        tracing::error!(%error, address = %listener.address, "cannot deregister a listener");
    }
}

/// Whether a failed accept is about the one client it would have returned (accept(2), "Error handling").
fn is_of_one_client(error: Errno) -> bool {
    matches!(
        error,
        Errno::INTR
            | Errno::PROTO
            | Errno::PERM
            | Errno::NETDOWN
            | Errno::NOPROTOOPT
            | Errno::HOSTDOWN
            | Errno::NONET
            | Errno::HOSTUNREACH
            | Errno::OPNOTSUPP
            | Errno::NETUNREACH
    )
}

/// After so many clients of one listener the other events get their turn.
const ACCEPTS_PER_TURN: usize = 64;

/// The descriptors of a flow.
const FLOW: usize = 2;

/// Short enough that nobody waits noticeably once descriptors are free, long enough to cost nothing:
/// 20 tries a second.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
