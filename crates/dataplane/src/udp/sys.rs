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

mod packet_info;

use std::io;
use std::mem;
use std::net::SocketAddr;
use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

use libc::c_uint;
use socket2::{SockAddr, SockAddrStorage};

pub(super) use self::packet_info::Local;
use self::packet_info::{CONTROL_LEN, Control};

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

    /// Returns the payload of a datagram of the last batch.
    pub(super) fn payload(&self, index: usize) -> &[u8] {
        let len = self.datagrams[index].len.min(SLOT);
        &self.bytes[index * SLOT..][..len]
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
                header.msg_hdr.msg_control = control.as_mut_ptr();
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
        let places = self.names.iter().zip(&self.controls);
        for (header, (name, control)) in headers.iter().zip(places).take(count) {
            self.datagrams.push(Datagram {
                len: header.msg_len as usize,
                truncated: header.msg_hdr.msg_flags & libc::MSG_TRUNC != 0,
                from: sender(name, header.msg_hdr.msg_namelen),
                to: control.local_address(header.msg_hdr.msg_controllen),
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
                    header.msg_hdr.msg_control = ends.control.as_ptr().cast_mut();
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
        let control_len = source.map_or(0, |source| control.set_source(source));
        Self {
            client: SockAddr::from(client),
            control,
            control_len,
        }
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

/// The room for one datagram; the largest is 65,507 bytes over IPv4 and 65,527 over IPv6.
const SLOT: usize = 65_536;
const NAME_LEN: libc::socklen_t = size_of::<SockAddrStorage>() as libc::socklen_t;
