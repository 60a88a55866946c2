//! The system calls of the UDP side: batches of datagrams in and out.
//!
//! Owns the arena that every datagram of a worker passes through, and with it all unsafe code of
//! the UDP side. Knows nothing of sessions. Invariant: no pointer outlives the function that made
//! it; headers are built anew for each call.
//!
//! A later receive offload (UDP_GRO) fits in here: a larger control buffer, and a segment size in
//! [`Datagram`] that `send` passes on as UDP_SEGMENT.

#![expect(
    unsafe_code,
    reason = "recvmmsg, sendmmsg and control messages have no safe wrapper"
)]

use std::io;
use std::mem;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

use libc::{c_int, c_uint};
use socket2::{SockAddr, SockAddrStorage};

/// The most datagrams moved by one system call.
///
/// Own choice: the cost per datagram is nearly flat beyond 16, and 32 keep the arena at 2 MiB.
pub(super) const BATCH: usize = 32;

/// What to learn about each datagram besides its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    /// Nothing: the socket is connected.
    Payload,
    /// Who sent it.
    Sender,
    /// Who sent it and to which local address; the socket must have the option that reports it.
    SenderAndLocal,
}

/// A local address, and where it needs one the number of its interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Local {
    ip: IpAddr,
    scope: u32,
}

impl Local {
    /// Returns the address with `port`, as a session is keyed by.
    pub(super) fn with_port(self, port: u16) -> SocketAddr {
        match self.ip {
            IpAddr::V4(ip) => SocketAddr::from((ip, port)),
            IpAddr::V6(ip) => SocketAddr::V6(SocketAddrV6::new(ip, port, 0, self.scope)),
        }
    }
}

/// What is known of a received datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Datagram {
    /// Bytes of payload, which may be none.
    pub(super) len: usize,
    /// Whether the payload did not fit and is not whole.
    pub(super) truncated: bool,
    /// Who sent it, if asked for.
    pub(super) from: Option<SocketAddr>,
    /// Where it was sent to, if asked for.
    pub(super) to: Option<Local>,
}

/// Room for one batch of datagrams of any size.
///
/// Units: 2 MiB of address space; only the pages that datagrams have touched are resident.
pub(super) struct Arena {
    bytes: Vec<u8>,
    names: Vec<SockAddrStorage>,
    controls: [Control; BATCH],
    datagrams: Vec<Datagram>,
}

impl Arena {
    /// Makes an empty arena.
    pub(super) fn new() -> Self {
        Self {
            bytes: vec![0; BATCH * SLOT],
            names: (0..BATCH).map(|_| SockAddrStorage::zeroed()).collect(),
            controls: [Control::EMPTY; BATCH],
            datagrams: Vec::with_capacity(BATCH),
        }
    }

    /// Returns the datagrams of the last batch received.
    pub(super) fn datagrams(&self) -> &[Datagram] {
        &self.datagrams
    }

    /// Replaces the batch by what `socket` has, without waiting; returns how many that are, at
    /// least one.
    ///
    /// # Errors
    /// `WouldBlock` when there is nothing; otherwise a pending error of the socket, which is
    /// thereby cleared. The batch is empty then.
    pub(super) fn receive(&mut self, socket: BorrowedFd<'_>, ask: Ask) -> io::Result<usize> {
        self.datagrams.clear();
        // SAFETY: both are plain C data, for which all zeroes (null pointers, no lengths) is valid.
        let (mut iovecs, mut headers): ([libc::iovec; BATCH], [libc::mmsghdr; BATCH]) =
            unsafe { mem::zeroed() };
        let slots = self.bytes.chunks_exact_mut(SLOT);
        let places = self.names.iter_mut().zip(self.controls.iter_mut());
        for (((slot, (name, control)), iovec), header) in slots
            .zip(places)
            .zip(iovecs.iter_mut())
            .zip(headers.iter_mut())
        {
            iovec.iov_base = slot.as_mut_ptr().cast();
            iovec.iov_len = SLOT;
            header.msg_hdr.msg_iov = ptr::from_mut(iovec);
            header.msg_hdr.msg_iovlen = 1;
            if ask != Ask::Payload {
                header.msg_hdr.msg_name = ptr::from_mut(name).cast();
                header.msg_hdr.msg_namelen = NAME_LEN;
            }
            if ask == Ask::SenderAndLocal {
                header.msg_hdr.msg_control = control.0.as_mut_ptr().cast();
                header.msg_hdr.msg_controllen = CONTROL_LEN;
            }
        }
        // SAFETY: every header points to one iovec of SLOT writable bytes, and to a name and a
        // control buffer of the stated lengths or to none; all of them live until the call is over
        // and nothing else refers to them meanwhile.
        let count = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                headers.as_mut_ptr(),
                BATCH as c_uint,
                libc::MSG_DONTWAIT,
                ptr::null_mut(),
            )
        };
        let count = usize::try_from(count).map_err(|_| io::Error::last_os_error())?;
        for (header, name) in headers.iter().zip(&self.names).take(count) {
            self.datagrams.push(Datagram {
                len: header.msg_len as usize,
                truncated: header.msg_hdr.msg_flags & libc::MSG_TRUNC != 0,
                from: sender(name, header.msg_hdr.msg_namelen),
                to: local_address(&header.msg_hdr),
            });
        }
        Ok(count)
    }

    /// Sends the datagrams `run` of the batch in order, without waiting; returns how many the
    /// system took, at least one, and their bytes.
    ///
    /// # Errors
    /// Concerns the first of the run, which was not sent; or, on a connected socket, may be an
    /// earlier error that is thereby cleared, so that a second try can succeed.
    ///
    /// # Panics
    /// When `run` is empty or not within the batch.
    pub(super) fn send(
        &self,
        socket: BorrowedFd<'_>,
        run: Range<usize>,
        ends: Option<&Ends>,
    ) -> io::Result<(usize, u64)> {
        let lens = &self.datagrams[run.clone()];
        assert!(!lens.is_empty(), "a run has at least one datagram");
        // SAFETY: as in `receive`.
        let (mut iovecs, mut headers): ([libc::iovec; BATCH], [libc::mmsghdr; BATCH]) =
            unsafe { mem::zeroed() };
        let slots = self.bytes.chunks_exact(SLOT).skip(run.start);
        for (((datagram, slot), iovec), header) in lens
            .iter()
            .zip(slots)
            .zip(iovecs.iter_mut())
            .zip(headers.iter_mut())
        {
            let payload = &slot[..datagram.len.min(SLOT)];
            iovec.iov_base = payload.as_ptr().cast_mut().cast();
            iovec.iov_len = payload.len();
            header.msg_hdr.msg_iov = ptr::from_mut(iovec);
            header.msg_hdr.msg_iovlen = 1;
            if let Some(ends) = ends {
                header.msg_hdr.msg_name = ends.client.as_ptr().cast_mut().cast();
                header.msg_hdr.msg_namelen = ends.client.len();
                if ends.control_len > 0 {
                    header.msg_hdr.msg_control = ends.control.0.as_ptr().cast_mut().cast();
                    header.msg_hdr.msg_controllen = ends.control_len;
                }
            }
        }
        // SAFETY: the first `lens.len()` headers, at most BATCH, point to one iovec of readable
        // bytes each, and to a name and a control message of the stated lengths or to none, which
        // sendmmsg only reads; all of them live until the call is over.
        let count = unsafe {
            libc::sendmmsg(
                socket.as_raw_fd(),
                headers.as_mut_ptr(),
                lens.len() as c_uint,
                libc::MSG_DONTWAIT,
            )
        };
        let count = usize::try_from(count).map_err(|_| io::Error::last_os_error())?;
        Ok((
            count,
            lens.iter()
                .take(count)
                .map(|datagram| datagram.len as u64)
                .sum(),
        ))
    }
}

/// Where a reply goes, and from which of the listener's addresses.
pub(super) struct Ends {
    client: SockAddr,
    control: Control,
    control_len: usize,
}

impl Ends {
    /// Makes the ends of replies to `client`; from `source` if the socket has several addresses.
    pub(super) fn new(client: SocketAddr, source: Option<SocketAddr>) -> Self {
        let mut control = Control::EMPTY;
        let control_len = match source {
            None => 0,
            Some(SocketAddr::V4(source)) => {
                let info = libc::in_pktinfo {
                    ipi_ifindex: 0,
                    ipi_spec_dst: libc::in_addr {
                        s_addr: u32::from(*source.ip()).to_be(),
                    },
                    ipi_addr: libc::in_addr { s_addr: 0 },
                };
                control.set(libc::IPPROTO_IP, libc::IP_PKTINFO, info)
            }
            Some(SocketAddr::V6(source)) => {
                let info = libc::in6_pktinfo {
                    ipi6_addr: libc::in6_addr {
                        s6_addr: source.ip().octets(),
                    },
                    ipi6_ifindex: source.scope_id(),
                };
                control.set(libc::IPPROTO_IPV6, libc::IPV6_PKTINFO, info)
            }
        };
        Self {
            client: SockAddr::from(client),
            control,
            control_len,
        }
    }
}

/// A control buffer, aligned as `cmsghdr` wants it.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
struct Control([u8; CONTROL_LEN]);

impl Control {
    const EMPTY: Self = Self([0; CONTROL_LEN]);

    /// Writes one control message and returns the length used.
    fn set<T: Copy>(&mut self, level: c_int, kind: c_int, value: T) -> usize {
        let len = size_of::<T>() as c_uint;
        // SAFETY: these two only compute lengths.
        let (space, filled) = unsafe { (libc::CMSG_SPACE(len), libc::CMSG_LEN(len)) };
        assert!(
            space as usize <= CONTROL_LEN,
            "the control buffer holds any packet information"
        );
        let start: *mut libc::cmsghdr = self.0.as_mut_ptr().cast();
        // SAFETY: `start` is aligned for a cmsghdr (the type's alignment is 8), and header and value
        // fit into the buffer, as checked above. The value may be unaligned.
        unsafe {
            (*start).cmsg_level = level;
            (*start).cmsg_type = kind;
            (*start).cmsg_len = filled as usize;
            libc::CMSG_DATA(start).cast::<T>().write_unaligned(value);
        }
        space as usize
    }
}

fn sender(name: &SockAddrStorage, len: libc::socklen_t) -> Option<SocketAddr> {
    if len == 0 || len > NAME_LEN {
        return None;
    }
    // SAFETY: every byte of the storage is initialised (it was zeroed when made), and the system
    // wrote `len` bytes of an address into it.
    let name = unsafe { SockAddr::new(name_copy(name), len) };
    name.as_socket()
}

fn name_copy(name: &SockAddrStorage) -> SockAddrStorage {
    // SAFETY: the storage is plain C data without any ownership.
    unsafe { ptr::read(name) }
}

/// Finds the local address among the control messages of a received datagram.
fn local_address(header: &libc::msghdr) -> Option<Local> {
    if header.msg_control.is_null() {
        return None;
    }
    // SAFETY: the system has filled the control buffer that `header` points to and set its length.
    let mut message = unsafe { libc::CMSG_FIRSTHDR(header) };
    while !message.is_null() {
        // SAFETY: not null, so it points to a whole message header within the control buffer.
        let (level, kind) = unsafe { ((*message).cmsg_level, (*message).cmsg_type) };
        // SAFETY: the data follows the header; its type is told by level and kind, and it may be
        // unaligned.
        match (level, kind) {
            (libc::IPPROTO_IP, libc::IP_PKTINFO) => {
                let data = unsafe { libc::CMSG_DATA(message) }.cast::<libc::in_pktinfo>();
                return Some(ipv4_local(unsafe { data.read_unaligned() }));
            }
            (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO) => {
                let data = unsafe { libc::CMSG_DATA(message) }.cast::<libc::in6_pktinfo>();
                return Some(ipv6_local(unsafe { data.read_unaligned() }));
            }
            _ => {}
        }
        // SAFETY: as for the first one; `message` came from the same buffer.
        message = unsafe { libc::CMSG_NXTHDR(header, message) };
    }
    None
}

/// A datagram to a broadcast or multicast address is answered from `ipi_spec_dst`; one that arrived
/// before the option was set has only `ipi_addr`.
fn ipv4_local(info: libc::in_pktinfo) -> Local {
    let address = match info.ipi_spec_dst.s_addr {
        0 => info.ipi_addr.s_addr,
        source => source,
    };
    Local {
        ip: IpAddr::V4(Ipv4Addr::from(u32::from_be(address))),
        scope: 0,
    }
}

/// Only link-local addresses need their interface; for others a fixed one would hinder routing.
fn ipv6_local(info: libc::in6_pktinfo) -> Local {
    let ip = Ipv6Addr::from(info.ipi6_addr.s6_addr);
    let scope = if ip.is_unicast_link_local() {
        info.ipi6_ifindex
    } else {
        0
    };
    Local {
        ip: IpAddr::V6(ip),
        scope,
    }
}

/// The room for one datagram; the largest is 65,507 bytes over IPv4 and 65,527 over IPv6.
const SLOT: usize = 65_536;
/// Holds the packet information of either family: 40 bytes with its header.
const CONTROL_LEN: usize = 64;
const NAME_LEN: libc::socklen_t = size_of::<SockAddrStorage>() as libc::socklen_t;
