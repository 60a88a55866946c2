//! PING: an echo request and its reply, ICMP for IPv4 and IPv6.
//!
//! A datagram socket needs no rights where `net.ipv4.ping_group_range` lets the process; else a raw
//! one is tried, which needs CAP_NET_RAW. Replies are told apart by random bytes that they carry
//! back: the kernel chooses the identifier of a datagram socket, and a raw one hears the replies of
//! others.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;

use rustix::net::{self, RecvFlags, SendFlags};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::seen::{Ended, Seen};
use crate::stream::reason;
use crate::sys;

/// PING: the echo request is answered.
pub(crate) async fn answers(source: Option<IpAddr>, service: IpAddr, seen: &mut Seen) -> Ended {
    seen.compared = "echo reply with the same bytes".to_owned();
    seen.waits_for(Ended::failed("Probe timed out: no ICMP echo reply"));
    let socket = match open(source, service) {
        Ok(socket) => socket,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return Ended::failed(
                "ICMP is not permitted: it needs CAP_NET_RAW, or the group of the process in \
                 net.ipv4.ping_group_range",
            );
        }
        Err(error) => return failed(&error),
    };
    match converse(&socket, service, seen).await {
        Ok(()) => Ended::passed("ICMP echo reply received"),
        Err(error) => failed(&error),
    }
}

fn failed(error: &io::Error) -> Ended {
    Ended::failed(format!("ICMP failed: {}", reason(error)))
}

async fn converse(socket: &AsyncFd<OwnedFd>, service: IpAddr, seen: &mut Seen) -> io::Result<()> {
    // The keys of a hasher are random, as the bytes must be; they are no secret.
    let mark = RandomState::new().hash_one(service).to_be_bytes();
    let request = request(service, mark);
    seen.begin();
    seen.sent.add(&request);
    let send = |socket: &OwnedFd| Ok(net::send(socket, &request, SendFlags::empty())?);
    socket.async_io(Interest::WRITABLE, send).await?;
    let mut buffer = [0; LONGEST_REPLY];
    loop {
        let receive = |socket: &OwnedFd| {
            let (length, _) = net::recv(socket, &mut buffer[..], RecvFlags::empty())?;
            Ok(length)
        };
        let length = socket.async_io(Interest::READABLE, receive).await?;
        if is_reply(service, &buffer[..length], mark) {
            seen.received.add(&buffer[..length]);
            return Ok(());
        }
    }
}

/// Opens a socket that hears the service alone.
fn open(source: Option<IpAddr>, service: IpAddr) -> io::Result<AsyncFd<OwnedFd>> {
    let (domain, protocol) = match service {
        IpAddr::V4(_) => (Domain::IPV4, Protocol::ICMPV4),
        IpAddr::V6(_) => (Domain::IPV6, Protocol::ICMPV6),
    };
    let socket = Socket::new(domain, Type::DGRAM.nonblocking(), Some(protocol))
        .or_else(|_| Socket::new(domain, Type::RAW.nonblocking(), Some(protocol)))?;
    if let Some(source) = source {
        socket.bind(&SocketAddr::new(source, 0).into())?;
    }
    socket.connect(&SocketAddr::new(service, 0).into())?;
    sys::watch(socket.into(), Interest::READABLE | Interest::WRITABLE)
}

/// Returns an echo request. Source: RFC 792 and RFC 4443, section 4.1.
fn request(service: IpAddr, mark: [u8; 8]) -> Vec<u8> {
    let kind = match service {
        IpAddr::V4(_) => 8,
        IpAddr::V6(_) => 128,
    };
    // Kind, code, checksum, identifier, sequence number.
    let mut request = vec![kind, 0, 0, 0, mark[0], mark[1], 0, 1];
    request.extend(mark);
    if service.is_ipv4() {
        // For IPv6 the kernel does it, since it knows the addresses that count.
        let sum = checksum(&request);
        request[2..4].copy_from_slice(&sum.to_be_bytes());
    }
    request
}

fn is_reply(service: IpAddr, packet: &[u8], mark: [u8; 8]) -> bool {
    let (kind, message) = match service {
        IpAddr::V4(_) => (0, without_ip_header(packet)),
        IpAddr::V6(_) => (129, packet),
    };
    message.len() >= 16 && message[..2] == [kind, 0] && message[8..16] == mark
}

/// A raw socket for IPv4 shows the header of the packet, a datagram socket does not; the first byte
/// of an echo reply is 0, that of a header is not.
fn without_ip_header(packet: &[u8]) -> &[u8] {
    match packet.first() {
        Some(first) if first >> 4 == 4 => {
            let length = usize::from(first & 0x0f) * 4;
            packet.get(length..).unwrap_or_default()
        }
        Some(_) | None => packet,
    }
}

/// Source: RFC 1071. The length is even.
fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks_exact(2);
    let sum: u32 = words
        .map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])))
        .sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    // Sixteen bytes carry over once more at most.
    !(((folded & 0xffff) + (folded >> 16)) as u16)
}

/// An IPv4 header with all options, and the reply.
const LONGEST_REPLY: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    const MARK: [u8; 8] = *b"abcdefgh";

    fn v4() -> IpAddr {
        "127.0.0.1".parse().unwrap()
    }

    fn v6() -> IpAddr {
        "::1".parse().unwrap()
    }

    #[test]
    fn checksum_of_a_request_with_its_checksum_is_zero() {
        for mark in [MARK, [0xff; 8], [0; 8]] {
            assert_eq!(checksum(&request(v4(), mark)), 0);
        }
    }

    #[test]
    fn only_a_reply_with_the_same_bytes_counts() {
        let mut reply = request(v4(), MARK);
        assert!(!is_reply(v4(), &reply, MARK), "a request");
        reply[0] = 0;
        assert!(is_reply(v4(), &reply, MARK));
        assert!(!is_reply(v4(), &reply, *b"abcdefgi"));
        assert!(!is_reply(v4(), &reply[..15], MARK));

        let mut raw = vec![0x46; 24];
        raw.extend(&reply);
        assert!(is_reply(v4(), &raw, MARK));
        assert!(!is_reply(v4(), &raw[..20], MARK));

        let mut reply = request(v6(), MARK);
        assert!(!is_reply(v6(), &reply, MARK));
        reply[0] = 129;
        assert!(is_reply(v6(), &reply, MARK));
    }
}
