//! What has no safe wrapper: a descriptor of any kind in the runtime, and a source address without
//! a port.
#![expect(
    unsafe_code,
    reason = "the runtime cannot check a descriptor of any kind, and no crate here sets this option"
)]

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Has the runtime wait for a descriptor, which must not block.
///
/// # Errors
/// The kernel cannot wait for it.
pub(crate) fn watch(descriptor: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` is open and always the same until it is dropped, and the `AsyncFd` owns
    // it.
    let watched = unsafe { AsyncFd::register_with_interest(descriptor, interest) };
    Ok(watched?)
}

/// Lets a bound socket choose its port only when it connects, so that connections to different
/// services can share one and ports do not run out.
///
/// # Errors
/// It is no socket of the Internet.
pub(crate) fn choose_port_when_connecting(socket: impl AsFd) -> io::Result<()> {
    let on: libc::c_int = 1;
    let length = libc::socklen_t::try_from(size_of_val(&on)).expect("an integer is short");
    // SAFETY: the descriptor is borrowed and so open, the pointer is to an integer of that length.
    let result = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_BIND_ADDRESS_NO_PORT,
            (&raw const on).cast(),
            length,
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
