//! What has no safe wrapper: a thread that goes first, a descriptor of any kind in the runtime, and a source address without
//! a port.
#![expect(
    unsafe_code,
    reason = "the runtime cannot check a descriptor of any kind, and no crate here makes the other calls"
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

/// Lets the calling thread run before others; what it starts does not inherit that.
///
/// # Errors
/// The process may not; the thread runs as before.
pub(crate) fn go_first() -> io::Result<()> {
    // What is negative is set to zero in children, programs among them.
    let policy = libc::SCHED_OTHER | libc::SCHED_RESET_ON_FORK;
    // SAFETY: zeroes are a valid `sched_param`, the only one that this policy has.
    let param: libc::sched_param = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a `sched_param`; 0 is the calling thread.
    let result = unsafe { libc::sched_setscheduler(0, policy, &raw const param) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    rustix::process::setpriority_process(None, NICENESS)?;
    Ok(())
}

/// Ten times the share of a thread that moves traffic, on a machine with too few processors.
const NICENESS: i32 = -10;
