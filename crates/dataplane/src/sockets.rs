//! What the operator wants of sockets: kept by service and by virtual server, and told to each new socket.
//!
//! Owns the table and the few calls that carry it out. A socket that cannot have an option goes on without:
//! a smaller buffer than wished for is no reason to refuse a client.

use core::net::{IpAddr, SocketAddr};
use std::collections::HashMap;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::RwLock;
use rustix::net::sockopt;
use sluice_balance::{Change, KeepAlive, ServiceId, Sockets, TcpOptions, VserverId};
use socket2::SockRef;

use crate::sys;

/// The wishes of all services and virtual servers that have some.
#[derive(Debug, Default)]
pub(crate) struct SocketTable {
    /// Whether there are any: without, no flow takes the lock.
    any: AtomicBool,
    /// Guards both maps; held over a look-up or an insertion only.
    wishes: RwLock<Wishes>,
}

#[derive(Debug, Default)]
struct Wishes {
    services: HashMap<ServiceId, Sockets>,
    vservers: HashMap<VserverId, Sockets>,
}

impl SocketTable {
    /// Takes what changes say of sockets.
    pub(crate) fn apply(&self, changes: &[Change]) {
        let mut wishes = self.wishes.write();
        for change in changes {
            if let Change::SetServiceSockets(service, sockets) = change {
                set(&mut wishes.services, *service, *sockets);
            } else if let Change::SetVserverSockets(vserver, sockets) = change {
                set(&mut wishes.vservers, *vserver, *sockets);
            } else if let Change::RemoveService(service) = change {
                wishes.services.remove(service);
            } else if let Change::RemoveVserver(vserver) = change {
                wishes.vservers.remove(vserver);
            }
        }
        let any = !wishes.services.is_empty() || !wishes.vservers.is_empty();
        self.any.store(any, Ordering::Release);
    }

    /// Returns what a socket of a client of this virtual server is to be like.
    pub(crate) fn of_client(&self, vserver: VserverId) -> Option<TcpOptions> {
        if !self.any.load(Ordering::Acquire) {
            return None;
        }
        let wishes = self.wishes.read();
        wishes.vservers.get(&vserver).map(|sockets| sockets.tcp)
    }

    /// Returns what a socket to this service is to be like, for a client of this virtual server.
    pub(crate) fn to_service(&self, vserver: VserverId, service: ServiceId) -> Sockets {
        if !self.any.load(Ordering::Acquire) {
            return Sockets::default();
        }
        let wishes = self.wishes.read();
        let mut sockets = wishes.services.get(&service).copied().unwrap_or_default();
        let of_vserver = || {
            wishes
                .vservers
                .get(&vserver)
                .and_then(|vserver| vserver.source)
        };
        sockets.source = sockets.source.or_else(of_vserver);
        sockets
    }
}

/// Tells a TCP socket what it is to be like.
pub(crate) fn tell(socket: impl AsFd, options: &TcpOptions) {
    let socket = socket.as_fd();
    // Sockets are made with the opposite of Nagle.
    let mut told = vec![sockopt::set_tcp_nodelay(socket, !options.nagle)];
    if let Some(bytes) = options.receive_buffer {
        told.push(sockopt::set_socket_recv_buffer_size(socket, bytes as usize));
    }
    if let Some(bytes) = options.send_buffer {
        told.push(sockopt::set_socket_send_buffer_size(socket, bytes as usize));
    }
    if let Some(keep_alive) = options.keep_alive {
        told.extend(tell_keep_alive(socket, keep_alive));
    }
    for error in told.into_iter().filter_map(Result::err) {
        tracing::debug!(%error, "a socket goes on without an option of its TCP profile");
    }
    tell_max_segment(socket, options);
}

/// Tells a TCP socket its greatest segment; of a listening one its connections have it as well.
pub(crate) fn tell_max_segment(socket: impl AsFd, options: &TcpOptions) {
    let most = options
        .max_segment
        .map_or(0, |most| most.max(LEAST_SEGMENT));
    if let Err(error) = SockRef::from(&socket).set_tcp_mss(most) {
        tracing::debug!(%error, "a socket goes on without the segments of its TCP profile");
    }
}

/// Gives a socket that is about to connect to `address` the source that is wanted, if it is of one family.
///
/// # Errors
/// What `bind` says, such as that the host has no such address.
pub(crate) fn bind_source(
    socket: impl AsFd,
    source: Option<IpAddr>,
    address: SocketAddr,
) -> Result<(), rustix::io::Errno> {
    let Some(source) = source.filter(|source| source.is_ipv4() == address.is_ipv4()) else {
        return Ok(());
    };
    // The port is chosen by the connect, which knows that other destinations have ports of their own.
    // Without that a source has 28,000 connections in all, which is no reason for none.
    let _ = sys::set_port_at_connect(socket.as_fd());
    rustix::net::bind(socket.as_fd(), &SocketAddr::new(source, 0))
}

fn tell_keep_alive(
    socket: std::os::fd::BorrowedFd<'_>,
    keep_alive: KeepAlive,
) -> Vec<rustix::io::Result<()>> {
    let mut told = vec![sockopt::set_socket_keepalive(socket, true)];
    if let Some(idle) = keep_alive.idle {
        told.push(sockopt::set_tcp_keepidle(socket, idle));
    }
    if let Some(interval) = keep_alive.interval {
        told.push(sockopt::set_tcp_keepintvl(socket, interval));
    }
    if let Some(probes) = keep_alive.probes {
        // Linux counts up to 127.
        told.push(sockopt::set_tcp_keepcnt(socket, probes.min(127)));
    }
    told
}

fn set<K: Eq + std::hash::Hash>(wishes: &mut HashMap<K, Sockets>, key: K, sockets: Sockets) {
    if sockets == Sockets::default() {
        wishes.remove(&key);
    } else {
        wishes.insert(key, sockets);
    }
}

/// The least that Linux takes.
const LEAST_SEGMENT: u32 = 88;

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::time::Duration;

    use super::*;

    fn wish(source: Option<&str>) -> Sockets {
        Sockets {
            source: source.map(|address| address.parse().unwrap()),
            ..Sockets::default()
        }
    }

    #[test]
    fn a_service_s_source_goes_before_that_of_the_virtual_server() {
        let table = SocketTable::default();
        let (service, other, vserver) = (ServiceId(1), ServiceId(2), VserverId(1));
        assert_eq!(table.to_service(vserver, service), Sockets::default());
        table.apply(&[
            Change::SetServiceSockets(service, wish(Some("127.0.0.2"))),
            Change::SetVserverSockets(vserver, wish(Some("127.0.0.3"))),
        ]);
        assert_eq!(table.to_service(vserver, service), wish(Some("127.0.0.2")));
        assert_eq!(table.to_service(vserver, other), wish(Some("127.0.0.3")));
        assert_eq!(table.to_service(VserverId(9), other), wish(None));
        table.apply(&[Change::RemoveService(service)]);
        assert_eq!(table.to_service(vserver, service), wish(Some("127.0.0.3")));
        table.apply(&[Change::SetVserverSockets(vserver, Sockets::default())]);
        assert_eq!(table.of_client(vserver), None);
    }

    #[test]
    fn a_socket_has_the_options_of_its_profile() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let seconds = Duration::from_secs;
        let options = TcpOptions {
            nagle: true,
            keep_alive: Some(KeepAlive {
                idle: Some(seconds(33)),
                interval: Some(seconds(7)),
                probes: Some(254),
            }),
            max_segment: Some(600),
            receive_buffer: Some(20_000),
            send_buffer: Some(30_000),
        };
        tell(&socket, &options);
        assert!(!sockopt::tcp_nodelay(&socket).unwrap());
        assert!(sockopt::socket_keepalive(&socket).unwrap());
        assert_eq!(sockopt::tcp_keepidle(&socket).unwrap(), seconds(33));
        assert_eq!(sockopt::tcp_keepintvl(&socket).unwrap(), seconds(7));
        assert_eq!(sockopt::tcp_keepcnt(&socket).unwrap(), 127);
        // Linux doubles what it is told, for its own bookkeeping.
        assert_eq!(sockopt::socket_recv_buffer_size(&socket).unwrap(), 40_000);
        assert_eq!(sockopt::socket_send_buffer_size(&socket).unwrap(), 60_000);
        tell(&socket, &TcpOptions::default());
        assert!(sockopt::tcp_nodelay(&socket).unwrap());
    }

    #[test]
    fn clients_of_a_listener_with_a_greatest_segment_have_it() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let options = TcpOptions {
            max_segment: Some(500),
            ..TcpOptions::default()
        };
        tell_max_segment(&listener, &options);
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (accepted, _) = listener.accept().unwrap();
        let most = |socket: &TcpStream| SockRef::from(socket).tcp_mss().unwrap();
        assert!(most(&accepted) <= 500, "{}", most(&accepted));
        assert!(most(&client) <= 500, "{}", most(&client));
    }

    #[test]
    fn a_source_is_bound_where_the_family_is_the_same() {
        let v4: SocketAddr = "127.0.0.1:9".parse().unwrap();
        let v6: SocketAddr = "[::1]:9".parse().unwrap();
        let socket = |address: SocketAddr| {
            let domain = socket2::Domain::for_address(address);
            socket2::Socket::new(domain, socket2::Type::STREAM, None).unwrap()
        };
        let local = |socket: &socket2::Socket| socket.local_addr().unwrap().as_socket().unwrap();
        let source: IpAddr = "127.0.0.77".parse().unwrap();
        let bound = socket(v4);
        bind_source(&bound, Some(source), v4).unwrap();
        assert_eq!(local(&bound).ip(), source);
        let other = socket(v6);
        bind_source(&other, Some(source), v6).unwrap();
        assert!(local(&other).ip().is_unspecified());
    }
}
