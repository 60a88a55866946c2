//! Opens listening sockets: one group of `SO_REUSEPORT` sockets for an address, one socket per worker.
//!
//! Owns no state. The kernel lets any process of the same user join such a group, so an address is
//! tried without `SO_REUSEPORT` first: that bind fails when anybody is there.

use core::net::SocketAddr;
use std::io;
use std::net::{TcpListener, UdpSocket};
use std::os::fd::AsFd;
use std::sync::Arc;

use rustix::net::sockopt;
use sluice_balance::Protocol;
use socket2::{Domain, Socket, Type};

use crate::sys;

/// The sockets of one address, in the order of the workers.
#[derive(Clone, Debug)]
pub(crate) enum Sockets {
    /// Connections queue here.
    Tcp(Vec<Arc<TcpListener>>),
    /// Datagrams arrive here.
    Udp(Vec<Arc<UdpSocket>>),
}

/// Fails with `AddrInUse` when anybody listens at `address` who would share or lose clients.
///
/// # Errors
/// What `bind` says.
pub(crate) fn probe(protocol: Protocol, address: SocketAddr) -> io::Result<()> {
    let socket = make_socket(protocol, address)?;
    // With SO_REUSEADDR connections that linger in TIME_WAIT do not count; a listener does. For UDP
    // the option would mean sharing.
    socket.set_reuse_address(matches!(protocol, Protocol::Tcp))?;
    socket.bind(&address.into())
}

/// Opens `count` sockets at `address`.
///
/// # Errors
/// What the system says; none is left open then.
pub(crate) fn open(protocol: Protocol, address: SocketAddr, count: usize) -> io::Result<Sockets> {
    Ok(match protocol {
        Protocol::Tcp => Sockets::Tcp(
            (0..count)
                .map(|_| open_tcp(address).map(Arc::new))
                .collect::<io::Result<_>>()?,
        ),
        Protocol::Udp => Sockets::Udp(
            (0..count)
                .map(|_| open_udp(address).map(Arc::new))
                .collect::<io::Result<_>>()?,
        ),
    })
}

/// Takes an address that nobody listens at, so that no other program can have it. Clients are refused as
/// if nobody had it.
///
/// # Errors
/// What the system says; and a wildcard of UDP, which would swallow datagrams.
pub(crate) fn reserve(protocol: Protocol, address: SocketAddr) -> io::Result<Socket> {
    let socket = make_socket(protocol, address)?;
    match protocol {
        Protocol::Tcp => {
            // It must get along with connections of the listener that was here, and with nobody else: the
            // kernel compares the option of both when the later one binds or listens.
            socket.set_reuse_address(true)?;
            socket.bind(&address.into())?;
            socket.set_reuse_address(false)?;
        }
        Protocol::Udp if address.ip().is_unspecified() => {
            return Err(io::ErrorKind::Unsupported.into());
        }
        Protocol::Udp => {
            socket.bind(&address.into())?;
            // With itself as its only peer it gets no datagram of anybody else: they find no socket.
            socket.connect(&address.into())?;
        }
    }
    Ok(socket)
}

fn open_tcp(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = make_socket(Protocol::Tcp, address)?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    // Accepted sockets inherit these two, which saves two system calls for each connection. Urgent
    // bytes stay in the stream, because the relay forwards one stream.
    socket.set_tcp_nodelay(true)?;
    socket.set_out_of_band_inline(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

fn open_udp(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = make_socket(Protocol::Udp, address)?;
    socket.set_reuse_port(true)?;
    if sockopt::set_socket_recv_buffer_size_force(&socket, UDP_RECEIVE_BUFFER).is_err() {
        socket.set_recv_buffer_size(UDP_RECEIVE_BUFFER)?;
    }
    if address.ip().is_unspecified() {
        sys::set_packet_info(socket.as_fd(), address.is_ipv6())?;
    }
    socket.bind(&address.into())?;
    Ok(socket.into())
}

fn make_socket(protocol: Protocol, address: SocketAddr) -> io::Result<Socket> {
    let kind = match protocol {
        Protocol::Tcp => Type::STREAM,
        Protocol::Udp => Type::DGRAM,
    };
    let socket = Socket::new(Domain::for_address(address), kind.nonblocking(), None)?;
    if address.is_ipv6() {
        // [::] and 0.0.0.0 are two addresses that two virtual servers may have.
        socket.set_only_v6(true)?;
    }
    Ok(socket)
}

/// The kernel cuts this down to `net.core.somaxconn`.
const BACKLOG: i32 = 65_535;

/// Holds about 2,700 datagrams of full Ethernet size: 30 ms of 1 Gbit/s while a worker is busy.
/// Without privilege the kernel cuts it down to `net.core.rmem_max`.
const UDP_RECEIVE_BUFFER: usize = 4 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn free_address(protocol: Protocol, text: &str) -> SocketAddr {
        let any: SocketAddr = text.parse().unwrap();
        let socket = make_socket(protocol, any).unwrap();
        socket.bind(&any.into()).unwrap();
        socket.local_addr().unwrap().as_socket().unwrap()
    }

    #[test]
    fn group_of_one_user_is_noticed_by_the_probe() {
        for (protocol, text) in [
            (Protocol::Tcp, "127.201.0.1:0"),
            (Protocol::Udp, "127.201.0.2:0"),
            (Protocol::Tcp, "[::1]:0"),
            (Protocol::Udp, "[::1]:0"),
        ] {
            let address = free_address(protocol, text);
            probe(protocol, address).unwrap();
            let group = open(protocol, address, 2).unwrap();
            let refused = probe(protocol, address).unwrap_err();
            assert_eq!(
                refused.kind(),
                io::ErrorKind::AddrInUse,
                "{protocol:?} {address}"
            );
            drop(group);
            probe(protocol, address).unwrap();
        }
    }

    #[test]
    fn connection_of_an_earlier_listener_does_not_keep_the_address() {
        let address = free_address(Protocol::Tcp, "127.201.0.3:0");
        let Sockets::Tcp(group) = open(Protocol::Tcp, address, 1).unwrap() else {
            panic!("asked for TCP");
        };
        let client = std::net::TcpStream::connect(address).unwrap();
        let accepted = group[0].accept().unwrap();
        drop(group);
        probe(Protocol::Tcp, address).unwrap();
        drop((client, accepted));
    }

    #[test]
    fn a_reserved_address_is_nobody_elses_and_refuses_clients() {
        let tcp = free_address(Protocol::Tcp, "127.201.0.4:0");
        let Sockets::Tcp(group) = open(Protocol::Tcp, tcp, 1).unwrap() else {
            panic!("asked for TCP");
        };
        // A flow that goes on is not in the way.
        let client = std::net::TcpStream::connect(tcp).unwrap();
        let accepted = group[0].accept().unwrap();
        drop(group);
        let reserved = reserve(Protocol::Tcp, tcp).unwrap();
        let refused = TcpListener::bind(tcp).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AddrInUse);
        let refused = std::net::TcpStream::connect(tcp).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
        drop(reserved);
        open(Protocol::Tcp, tcp, 2).unwrap();
        drop((client, accepted));

        let udp = free_address(Protocol::Udp, "127.201.0.5:0");
        let reserved = reserve(Protocol::Udp, udp).unwrap();
        let refused = UdpSocket::bind(udp).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AddrInUse);
        let client = UdpSocket::bind("127.201.0.6:0").unwrap();
        client.connect(udp).unwrap();
        client.send(b"x").unwrap();
        let refused = client.recv(&mut [0; 8]).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
        drop(reserved);
        open(Protocol::Udp, udp, 2).unwrap();
    }

    #[test]
    fn both_wildcards_are_open_at_the_same_port() {
        let v4 = free_address(Protocol::Udp, "0.0.0.0:0");
        let v6 = SocketAddr::new("::".parse().unwrap(), v4.port());
        let _first = open(Protocol::Udp, v4, 2).unwrap();
        let _second = open(Protocol::Udp, v6, 2).unwrap();
    }
}
