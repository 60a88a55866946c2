//! The process-wide table of listening sockets: virtual server -> address and one socket per worker.
//!
//! Owns the sockets; workers borrow them. An address is opened in two steps, so that a plan that
//! cannot be carried out changes nothing: [`Listeners::prepare`] opens, [`Listeners::open`] takes what
//! was opened. An address that goes from one virtual server to another within a plan keeps its
//! sockets, so no client is refused in between.

use core::net::SocketAddr;
use std::collections::HashMap;
use std::io;

use sluice_balance::{Change, Protocol, TcpOptions, VserverId, VserverSettings};

use crate::listen::{self, Sockets};
use crate::plane::PrepareError;
use crate::sockets;
use crate::worker::Socket;

/// What is open.
#[derive(Debug)]
pub(crate) struct Listeners {
    open: HashMap<VserverId, Group>,
    /// How many sockets an address has.
    workers: usize,
    /// The addresses that were given up and are to be had again; `None` while none are kept.
    reserved: Option<Vec<Reserved>>,
}

/// An address that is kept from other programs.
#[derive(Debug)]
struct Reserved {
    place: Place,
    /// Holds it; dropping it lets it go.
    _socket: socket2::Socket,
}

/// Sockets opened for a plan that has not been committed. Dropping it closes them.
#[derive(Debug, Default)]
pub struct Prepared {
    groups: Vec<(VserverId, Group)>,
}

/// The sockets of one virtual server.
#[derive(Debug)]
struct Group {
    place: Place,
    sockets: Sockets,
}

/// Where a virtual server listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    protocol: Protocol,
    address: SocketAddr,
}

impl Listeners {
    /// Makes an empty table for so many workers.
    pub(crate) fn new(workers: usize) -> Self {
        Self {
            open: HashMap::new(),
            workers,
            reserved: None,
        }
    }

    /// Keeps the addresses that are given up from now on, or lets all those go that were kept.
    pub(crate) fn keep_addresses(&mut self, keep: bool) {
        if !keep {
            self.reserved = None;
        } else if self.reserved.is_none() {
            self.reserved = Some(Vec::new());
        }
    }

    /// Opens every socket that `changes` need and that is not open.
    ///
    /// # Errors
    /// [`PrepareError`] names the first address that cannot be listened on; nothing is left open.
    pub(crate) fn prepare(&mut self, changes: &[Change]) -> Result<Prepared, PrepareError> {
        let wanted = wanted(changes);
        // What is kept would be in the way of the sockets that are to listen there.
        let places = wanted.iter().filter_map(|(_, place)| *place);
        let released = self.release(&places.collect::<Vec<_>>());
        let prepared = self.open_wanted(&wanted);
        if prepared.is_err() {
            released.into_iter().for_each(|place| self.reserve(place));
        }
        prepared
    }

    fn open_wanted(&self, wanted: &Wanted) -> Result<Prepared, PrepareError> {
        let mut prepared = Prepared::default();
        for (vserver, place) in wanted {
            let Some(place) = place else {
                continue;
            };
            if self
                .open
                .get(vserver)
                .is_some_and(|group| group.place == *place)
            {
                continue;
            }
            let taken = prepared
                .groups
                .iter()
                .any(|(_, group)| group.place == *place);
            let sockets = if taken {
                Err(io::ErrorKind::AddrInUse.into())
            } else {
                self.sockets_for(*place, wanted)
            };
            let sockets = sockets.map_err(|source| error_for(*vserver, place.address, source))?;
            prepared.groups.push((
                *vserver,
                Group {
                    place: *place,
                    sockets,
                },
            ));
        }
        Ok(prepared)
    }

    /// Takes the sockets of an address into the table; returns one for each worker. Opens them when
    /// they were not prepared.
    ///
    /// # Errors
    /// Only in that case: what the system says.
    pub(crate) fn open(
        &mut self,
        vserver: VserverId,
        protocol: Protocol,
        address: SocketAddr,
        prepared: &mut Prepared,
    ) -> io::Result<Vec<Socket>> {
        let place = Place { protocol, address };
        let found = prepared
            .groups
            .iter()
            .position(|(owner, group)| *owner == vserver && group.place == place);
        let group = match found {
            Some(found) => prepared.groups.swap_remove(found).1,
            None => {
                self.release(&[place]);
                Group {
                    place,
                    sockets: listen::open(protocol, address, self.workers)?,
                }
            }
        };
        let sockets = match &group.sockets {
            Sockets::Tcp(sockets) => sockets.iter().cloned().map(Socket::Tcp).collect(),
            Sockets::Udp(sockets) => sockets.iter().cloned().map(Socket::Udp).collect(),
        };
        self.open.insert(vserver, group);
        Ok(sockets)
    }

    /// Tells the TCP sockets of a virtual server what only a listening socket can pass on to its clients.
    pub(crate) fn tell(&self, vserver: VserverId, options: &TcpOptions) {
        if let Some(Sockets::Tcp(listening)) = self.open.get(&vserver).map(|group| &group.sockets) {
            for socket in listening {
                sockets::tell_max_segment(&**socket, options);
            }
        }
    }

    /// Lets the sockets of a virtual server go; they close when no worker borrows them.
    pub(crate) fn remove(&mut self, vserver: VserverId) {
        let group = self.open.remove(&vserver);
        if let Some(place) = group.map(|group| group.place) {
            self.reserve(place);
        }
    }

    /// Keeps an address from other programs, if that is wanted and can be; another virtual server may have
    /// it by now.
    fn reserve(&mut self, place: Place) {
        if let Some(reserved) = &mut self.reserved
            && let Ok(socket) = listen::reserve(place.protocol, place.address)
        {
            reserved.push(Reserved {
                place,
                _socket: socket,
            });
        }
    }

    /// Lets the kept addresses go that are in the way of `places`; returns them.
    fn release(&mut self, places: &[Place]) -> Vec<Place> {
        let Some(reserved) = &mut self.reserved else {
            return Vec::new();
        };
        let is_in_the_way =
            |kept: &mut Reserved| places.iter().any(|place| overlap(kept.place, *place));
        let released = reserved.extract_if(.., is_in_the_way);
        released.map(|kept| kept.place).collect()
    }

    /// Returns how many sockets are open.
    pub(crate) fn sockets(&self) -> usize {
        self.open.len() * self.workers + self.reserved.as_ref().map_or(0, Vec::len)
    }

    /// Lets all TCP sockets go.
    pub(crate) fn drop_tcp(&mut self) {
        self.open
            .retain(|_, group| group.place.protocol != Protocol::Tcp);
    }

    fn sockets_for(&self, place: Place, wanted: &Wanted) -> io::Result<Sockets> {
        let given_up = || {
            self.open
                .iter()
                .filter(|(vserver, group)| gives_up(wanted, **vserver, group.place))
                .map(|(_, group)| group)
        };
        if let Some(group) = given_up().find(|group| group.place == place) {
            return Ok(group.sockets.clone());
        }
        // Our own sockets that are about to close would fail the probe; a foreign one beside them
        // goes unnoticed in this one case.
        if !given_up().any(|group| overlap(group.place, place)) {
            listen::probe(place.protocol, place.address)?;
        }
        listen::open(place.protocol, place.address, self.workers)
    }
}

/// Where the virtual servers that a plan touches listen in the end, in the order they are named.
type Wanted = Vec<(VserverId, Option<Place>)>;

fn wanted(changes: &[Change]) -> Wanted {
    let mut wanted = Wanted::new();
    let mut note = |vserver, place| match wanted.iter_mut().find(|(known, _)| *known == vserver) {
        Some((_, known)) => *known = place,
        None => wanted.push((vserver, place)),
    };
    for change in changes {
        match change {
            Change::AddVserver(vserver, settings) | Change::SetVserver(vserver, settings) => {
                note(*vserver, place_of(settings));
            }
            Change::RemoveVserver(vserver) => note(*vserver, None),
            Change::AddService(..)
            | Change::SetService(..)
            | Change::DisableService(..)
            | Change::RemoveService(_)
            | Change::Bind(_)
            | Change::SetWeight(_)
            | Change::Unbind(..)
            | Change::EnableVserver(_)
            | Change::EnableService(_)
            | Change::SetPassive(_)
            | Change::SetConnectTries(_)
            | Change::AddMonitor(..)
            | Change::SetMonitor(..)
            | Change::RemoveMonitor(_)
            | Change::BindMonitor(_)
            | Change::SetMonitorBinding(_)
            | Change::UnbindMonitor(..)
            | Change::SetPersistenceLimit(_)
            | Change::SetStartupFactor(_)
            | Change::SetServiceSockets(..)
            | Change::SetVserverSockets(..) => {}
        }
    }
    wanted
}

fn place_of(settings: &VserverSettings) -> Option<Place> {
    let address = settings.listen?;
    Some(Place {
        protocol: settings.protocol,
        address,
    })
}

fn gives_up(wanted: &Wanted, vserver: VserverId, place: Place) -> bool {
    wanted
        .iter()
        .any(|(touched, then)| *touched == vserver && *then != Some(place))
}

/// Whether two places cannot be bound independently: the same, or one is the wildcard of the other.
fn overlap(one: Place, other: Place) -> bool {
    let (a, b) = (one.address, other.address);
    one.protocol == other.protocol
        && a.port() == b.port()
        && a.is_ipv4() == b.is_ipv4()
        && (a.ip() == b.ip() || a.ip().is_unspecified() || b.ip().is_unspecified())
}

fn error_for(vserver: VserverId, address: SocketAddr, source: io::Error) -> PrepareError {
    if source.kind() == io::ErrorKind::AddrInUse {
        PrepareError::AddressInUse { vserver, address }
    } else {
        PrepareError::Listen {
            vserver,
            address,
            source,
        }
    }
}

#[cfg(test)]
mod tests;
