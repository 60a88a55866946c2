//! How a session begins: a place within the limit, a service, a socket, and only one for a key.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use mio::Registry;
use rustix::net::sockopt;
use sluice_balance::{CloseReason, FlowKey, Instant, Selection};

use super::flows::Flow;
use super::losses::Loss;
use super::sessions::{Session, SessionKey};
use super::{UdpSide, register};
use crate::flow_rows::ServiceEnd;
use crate::sockets;
use crate::token::{UDP_SESSION, token};

impl UdpSide {
    /// Begins the session of `key` for the datagram at `first` in the batch, or finds that another
    /// worker just has. It takes the place of `former`, which goes on if none begins.
    pub(super) fn begin(
        &mut self,
        registry: &Registry,
        listener: usize,
        key: SessionKey,
        first: usize,
        former: Option<&Session>,
        now: Instant,
    ) -> Result<Arc<Session>, Loss> {
        if self.shared.is_draining() {
            return Err(Loss::Refused);
        }
        let place = self.shared.udp.claim().ok_or(Loss::Limit)?;
        let (selection, socket) = self.select(&key, self.arena.payload(first), now)?;
        let session = Arc::new(Session::new(socket, &selection, place, now));
        if let Some(former) = former {
            former.end();
        }
        if let Some(other) = self.shared.udp.enter(key, &session, now) {
            self.shared
                .with_engine(|engine| engine.handle_unused(selection.reservation, now));
            return Ok(other);
        }
        let idle = [selection.client_idle, selection.service_idle]
            .into_iter()
            .flatten()
            .min();
        let index = self.flows.insert(Flow {
            key,
            session: Arc::clone(&session),
            service: ServiceEnd::new(&selection),
            reservation: selection.reservation,
            began: now,
            listener,
            idle,
            waiting: false,
            answered: false,
        });
        if let Err(error) = register(
            registry,
            session.socket().as_fd(),
            token(index, UDP_SESSION),
        ) {
            tracing::debug!(%error, "a session's socket cannot be watched");
            let ended = self.flows.remove(index).into_iter().collect();
            self.finish(registry, ended, CloseReason::Local, now);
            return Err(Loss::Local);
        }
        tracing::trace!(worker = self.worker, ?key, service = %selection.address, "session begins");
        Ok(session)
    }

    /// Chooses a service that a socket can be connected to; `payload` is the first datagram's, which has
    /// the token, if any.
    fn select(
        &self,
        key: &SessionKey,
        payload: &[u8],
        now: Instant,
    ) -> Result<(Selection, UdpSocket), Loss> {
        let mut flow = FlowKey {
            src: canonical(key.client),
            dst: canonical(key.dialled),
            token: None,
        };
        let mut tried = Vec::new();
        loop {
            let selection = self
                .shared
                .with_engine(|engine| {
                    let range = engine.token_range(key.vserver);
                    flow.token = range.and_then(|range| range.find(payload));
                    engine.select(key.vserver, &flow, &tried, now)
                })
                .map_err(|_| Loss::Refused)?;
            let service = selection.reservation.service();
            let wanted = self.shared.sockets.to_service(key.vserver, service);
            let error = match connect(selection.address, wanted.source) {
                Ok(socket) => return Ok((selection, socket)),
                Err(error) => error,
            };
            tracing::debug!(%error, service = %selection.address, "a session cannot connect");
            let reason = failure(&error);
            tried.push(selection.reservation.service());
            let reservation = selection.reservation;
            self.shared
                .with_engine(|engine| engine.handle_close(reservation, reason, now));
            if reason == CloseReason::Local || tried.len() == ATTEMPTS {
                return Err(Loss::Local);
            }
        }
    }

    /// Tells the operator why new sessions do not begin, if it is a thing to put right.
    pub(super) fn complain(&self, loss: Loss, now: Instant) {
        let why = match loss {
            Loss::Limit => "the limit on UDP sessions is reached",
            Loss::Local => "no socket, port or route for a new UDP session",
            Loss::Refused | Loss::Truncated | Loss::Full | Loss::Unsendable | Loss::Reported => {
                return;
            }
        };
        if self.shared.udp.may_complain(now) {
            let status = self.shared.udp.status();
            tracing::warn!(
                sessions = status.sessions,
                limit = status.limit,
                dropped_limit = status.dropped_limit,
                dropped_local = status.dropped_local,
                "{why}; datagrams of new clients are dropped"
            );
        }
    }
}

/// Makes a socket that talks to the service at `address` only, from a port of its own.
fn connect(address: SocketAddr, source: Option<IpAddr>) -> io::Result<UdpSocket> {
    let domain = socket2::Domain::for_address(address);
    let kind = socket2::Type::DGRAM.nonblocking();
    let socket = socket2::Socket::new(domain, kind, Some(socket2::Protocol::UDP))?;
    grow_receive_buffer(socket.as_fd(), SESSION_BUFFER);
    grow_send_buffer(socket.as_fd(), SESSION_BUFFER);
    sockets::bind_source(&socket, source, address)?;
    socket.connect(&address.into())?;
    Ok(socket.into())
}

/// Whether a failed `connect` is the way to the service, or our lack of descriptors or ports.
fn failure(error: &io::Error) -> CloseReason {
    match error.kind() {
        ErrorKind::NetworkUnreachable
        | ErrorKind::HostUnreachable
        | ErrorKind::ConnectionRefused
        | ErrorKind::PermissionDenied
        | ErrorKind::InvalidInput => CloseReason::ConnectFailed,
        _ => CloseReason::Local,
    }
}

/// An IPv4 client of an IPv6 socket is the same client as on an IPv4 socket.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// Asks for a send buffer of `bytes`; gets what the system allows.
///
/// A privileged process may go beyond `net.core.wmem_max`, as with `rmem_max` for receiving.
pub(super) fn grow_send_buffer(socket: BorrowedFd<'_>, bytes: usize) {
    let grown = sockopt::set_socket_send_buffer_size_force(socket, bytes)
        .or_else(|_| sockopt::set_socket_send_buffer_size(socket, bytes));
    if let Err(error) = grown {
        tracing::debug!(%error, "a UDP socket keeps the size of its send buffer");
    }
}

fn grow_receive_buffer(socket: BorrowedFd<'_>, bytes: usize) {
    let grown = sockopt::set_socket_recv_buffer_size_force(socket, bytes)
        .or_else(|_| sockopt::set_socket_recv_buffer_size(socket, bytes));
    if let Err(error) = grown {
        tracing::debug!(%error, "a UDP socket keeps the size of its receive buffer");
    }
}

/// Services tried for one session.
const ATTEMPTS: usize = 4;
/// Bytes that may wait on a session's socket; any 15 of the largest datagrams.
const SESSION_BUFFER: usize = 1 << 20;
