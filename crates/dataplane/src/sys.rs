//! The system calls of TCP and of opening sockets that no safe wrapper offers.
//!
//! Owns nothing; every function is one call on a borrowed descriptor.
#![expect(
    unsafe_code,
    reason = "neither rustix nor socket2 wraps these options and this ioctl"
)]

use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, BorrowedFd};

/// How many segments with payload a TCP socket has moved; wraps around.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DataSegments {
    /// Received.
    pub(crate) received: u32,
    /// Sent, repetitions included.
    pub(crate) sent: u32,
}

/// Reads how many data segments `socket` has moved.
///
/// # Errors
/// When the socket is not TCP, or the kernel is older than 4.6 and does not count them.
pub(crate) fn data_segments(socket: BorrowedFd<'_>) -> io::Result<DataSegments> {
    let mut info = [0_u32; TCP_INFO_WORDS];
    let mut length = size_of_val(&info) as libc::socklen_t;
    // SAFETY: `info` is valid for `length` bytes of writing, and any bytes are a valid `[u32]`; the
    // kernel writes at most `length` bytes and the number written to `length`.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &raw mut length,
        )
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    if (length as usize) < size_of_val(&info) {
        return Err(io::ErrorKind::Unsupported.into());
    }
    Ok(DataSegments {
        received: info[DATA_SEGS_IN],
        sent: info[DATA_SEGS_OUT],
    })
}

/// Returns how many bytes (and a FIN, as one) `socket` has taken that its peer has not acknowledged.
///
/// # Errors
/// When the socket is not TCP.
pub(crate) fn unacknowledged(socket: BorrowedFd<'_>) -> io::Result<usize> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: `TIOCOUTQ` (the same number as `SIOCOUTQ`) writes one `int` through the pointer, which
    // is valid for that.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(usize::try_from(bytes).unwrap_or(0))
}

/// Makes `socket` tell, with every datagram, the local address it was sent to.
///
/// # Errors
/// When the socket is not of this address family.
pub(crate) fn set_packet_info(socket: BorrowedFd<'_>, ipv6: bool) -> io::Result<()> {
    let (level, option) = if ipv6 {
        (libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO)
    } else {
        (libc::IPPROTO_IP, libc::IP_PKTINFO)
    };
    set_flag(socket, level, option)
}

/// Makes `socket`, which is bound to an address without a port, get its port by the connect, where ports
/// that other destinations use are free.
///
/// # Errors
/// When the system cannot.
pub(crate) fn set_port_at_connect(socket: BorrowedFd<'_>) -> io::Result<()> {
    set_flag(socket, libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT)
}

fn set_flag(socket: BorrowedFd<'_>, level: libc::c_int, option: libc::c_int) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the pointer is valid for reading the one `int` whose size is given.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// The length of `struct tcp_info` up to and with `tcpi_data_segs_out`, in words; libc's own
/// declaration ends before these fields. The layout only ever grows at its end.
const TCP_INFO_WORDS: usize = 40;
const DATA_SEGS_IN: usize = 38;
const DATA_SEGS_OUT: usize = 39;

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn segments_and_unacknowledged_bytes_follow_the_traffic() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut far, _) = listener.accept().unwrap();
        assert_eq!(
            data_segments(near.as_fd()).unwrap(),
            DataSegments::default()
        );
        near.write_all(b"one").unwrap();
        far.read_exact(&mut [0; 3]).unwrap();
        far.write_all(b"two").unwrap();
        near.read_exact(&mut [0; 3]).unwrap();
        let expected = DataSegments {
            received: 1,
            sent: 1,
        };
        assert_eq!(data_segments(near.as_fd()).unwrap(), expected);
        assert_eq!(unacknowledged(near.as_fd()).unwrap(), 0);
    }
}
