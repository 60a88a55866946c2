//! One worker's UDP socket of a virtual server: what is dialled, and where replies leave from.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use sluice_balance::VserverId;

use super::admission::grow_send_buffer;
use super::sessions::SessionKey;
use super::sys::{Ask, Datagram, Ends};

/// A listening socket.
///
/// One that is bound to a wildcard address learns with each datagram which local address was
/// dialled, and sends replies from exactly that one. On an IPv6 wildcard this covers IPv4 clients.
#[derive(Debug)]
pub(super) struct Listener {
    /// The virtual server.
    pub(super) vserver: VserverId,
    /// Whether it waits for its next turn of reading.
    pub(super) waiting: bool,
    socket: Arc<UdpSocket>,
    local: SocketAddr,
    ask: Ask,
}

impl Listener {
    /// Prepares `socket`, which is bound, with all options that have to precede the first datagram.
    ///
    /// # Errors
    /// When the system does not tell the address.
    pub(super) fn new(vserver: VserverId, socket: Arc<UdpSocket>) -> io::Result<Self> {
        let local = socket.local_addr()?;
        let ask = match local.ip().is_unspecified() {
            true => Ask::SenderAndLocal,
            false => Ask::Sender,
        };
        grow_send_buffer(socket.as_fd(), SEND_BUFFER);
        Ok(Self {
            vserver,
            waiting: false,
            socket,
            local,
            ask,
        })
    }

    /// Returns the socket.
    pub(super) fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Returns what to ask about datagrams of this socket.
    pub(super) fn ask(&self) -> Ask {
        self.ask
    }

    /// Returns the session that a received datagram belongs to; `None` if the system did not tell.
    pub(super) fn key(&self, datagram: &Datagram) -> Option<SessionKey> {
        let dialled = match self.ask {
            Ask::SenderAndLocal => datagram.to?.with_port(self.local.port()),
            Ask::Payload | Ask::Sender => self.local,
        };
        Some(SessionKey {
            vserver: self.vserver,
            client: datagram.from?,
            dialled,
        })
    }

    /// Returns the ends of replies within a session.
    pub(super) fn ends(&self, key: &SessionKey) -> Ends {
        let source = (self.ask == Ask::SenderAndLocal).then_some(key.dialled);
        Ends::new(key.client, source)
    }
}

/// Bytes that may wait for the network card.
const SEND_BUFFER: usize = 4 << 20;
