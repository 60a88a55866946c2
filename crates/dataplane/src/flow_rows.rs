//! What the flows of the process look like from outside: one row each, worker by worker, part by part.
//!
//! Owns the shape of a row and the place in a list, and what a flow has to keep for its row. Rows of a
//! part are those of one moment; flows go on between one part and the next. A flow that is open all the
//! while is in exactly one part, because it never changes its place.

use core::net::{SocketAddr, SocketAddrV4, SocketAddrV6};
use std::time::Duration;

use sluice_balance::{
    Diversion, Grounds, Method, Protocol, Reservation, Selection, ServiceId, VserverId,
};

/// One open flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowStatus {
    /// What carries it.
    pub protocol: Protocol,
    /// Where its client is.
    pub client: SocketAddr,
    /// The local address that the client dialled.
    pub dialled_at: SocketAddr,
    /// The virtual server that the client dialled.
    pub dialled: VserverId,
    /// Its service, once one is chosen.
    pub service: Option<ChosenService>,
    /// How far it is.
    pub state: FlowState,
    /// How long ago it began.
    pub age: Duration,
    /// How long nothing has moved, as idle limits count it.
    pub idle: Duration,
    /// Bytes to the service and from it.
    pub bytes: [u64; 2],
}

/// The service of a flow, and why that one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChosenService {
    /// Which.
    pub service: ServiceId,
    /// Where it was when it was chosen.
    pub address: SocketAddr,
    /// The virtual server that serves the flow.
    pub vserver: VserverId,
    /// Why that is not the one that was dialled.
    pub diversion: Option<Diversion>,
    /// The method of the virtual server at that time.
    pub method: Method,
    /// By what the method found the service; none if the client sticks to it.
    pub grounds: Option<Grounds>,
}

/// How far a flow is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowState {
    /// The client's first bytes are waited for; no service is chosen.
    AwaitsClient,
    /// The service is being connected.
    Connecting,
    /// Bytes go to and fro.
    Established,
    /// The client has finished, the service has not.
    ClientFinished,
    /// The service has finished, the client has not.
    ServiceFinished,
    /// Both have finished, or one has reset, and the last bytes are under way.
    Closing,
    /// A UDP session: it has no ends.
    Session,
}

/// A place in the list of flows; the default is its beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowCursor {
    pub(crate) worker: usize,
    pub(crate) place: Place,
}

/// A place in the tables of one worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In that of connections.
    Tcp(usize),
    /// In that of sessions.
    Udp(usize),
}

/// A part of the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowPage {
    /// Its flows.
    pub rows: Vec<FlowStatus>,
    /// Where the next part begins; none after the last.
    pub next: Option<FlowCursor>,
}

/// What a worker answers: rows, and where its next ones begin.
pub(crate) type Part = (Vec<FlowStatus>, Option<Place>);

impl Default for Place {
    fn default() -> Self {
        Self::Tcp(0)
    }
}

/// What a connected flow keeps for its row.
#[derive(Debug)]
pub(crate) struct Ends {
    client: Address,
    dialled_at: Address,
    pub(crate) service: ServiceEnd,
}

/// What is kept of a selection.
#[derive(Debug)]
pub(crate) struct ServiceEnd {
    address: Address,
    method: Method,
    grounds: Option<Grounds>,
}

/// An address in half the room of a `SocketAddr`, unless it is one of IPv6.
#[derive(Debug)]
enum Address {
    V4(SocketAddrV4),
    V6(Box<SocketAddrV6>),
}

impl Ends {
    pub(crate) fn new(client: SocketAddr, dialled_at: SocketAddr, selection: &Selection) -> Self {
        Self {
            client: Address::new(client),
            dialled_at: Address::new(dialled_at),
            service: ServiceEnd::new(selection),
        }
    }

    pub(crate) fn client(&self) -> SocketAddr {
        self.client.get()
    }

    pub(crate) fn dialled_at(&self) -> SocketAddr {
        self.dialled_at.get()
    }
}

impl ServiceEnd {
    pub(crate) fn new(selection: &Selection) -> Self {
        Self {
            address: Address::new(selection.address),
            method: selection.method,
            grounds: selection.grounds,
        }
    }

    /// Returns the service of a flow that has this place.
    pub(crate) fn chosen(&self, place: &Reservation) -> ChosenService {
        ChosenService {
            service: place.service(),
            address: self.address.get(),
            vserver: place.vserver(),
            diversion: place.diversion(),
            method: self.method,
            grounds: self.grounds,
        }
    }
}

impl Address {
    fn new(address: SocketAddr) -> Self {
        match address {
            SocketAddr::V4(address) => Self::V4(address),
            SocketAddr::V6(address) => Self::V6(Box::new(address)),
        }
    }

    fn get(&self) -> SocketAddr {
        match self {
            Self::V4(address) => SocketAddr::V4(*address),
            Self::V6(address) => SocketAddr::V6(**address),
        }
    }
}

/// How many places of a table one part covers: a worker moves no bytes meanwhile, for less than a
/// millisecond.
pub(crate) const PART: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_survives_being_kept_small() {
        for text in ["192.0.2.1:65535", "[2001:db8::1]:1", "[fe80::1%7]:80"] {
            let address: SocketAddr = text.parse().unwrap();
            assert_eq!(Address::new(address).get(), address);
        }
        assert_eq!(size_of::<Address>(), 16);
    }
}
