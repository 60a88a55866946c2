//! Network namespaces for tests that change what the kernel gives: ports, addresses, limits.

use std::fs::File;
use std::os::fd::AsFd;
use std::panic::resume_unwind;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use rustix::process::geteuid;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// Runs `test` in a thread whose network is a new namespace that has loopback only; threads, sockets
/// and processes made there are in it too, and it is gone when the last of them is.
///
/// Skips the test, and says so, unless root runs it.
///
/// # Panics
/// When `test` does, or root cannot make a namespace.
pub fn in_namespace(test: impl FnOnce() + Send) {
    if !geteuid().is_root() {
        eprintln!("skipped: network namespaces need root");
        return;
    }
    let ended = thread::scope(|scope| {
        scope
            .spawn(|| {
                enter_new();
                test();
            })
            .join()
    });
    if let Err(panic) = ended {
        resume_unwind(panic);
    }
}

/// Sets a value under `/proc/sys/net` in the namespace of this thread.
///
/// # Panics
/// When there is no such value, or the kernel does not take it.
pub fn set_kernel(name: &str, value: &str) {
    let path = format!("/proc/sys/net/{name}");
    std::fs::write(&path, value).unwrap_or_else(|error| panic!("{path} {value}: {error}"));
}

/// Runs `ip` with `words`.
///
/// # Panics
/// When it fails.
pub fn ip(words: &[&str]) {
    let output = Command::new("ip").args(words).output();
    let output = output.expect("scripts/test has installed iproute2");
    assert!(output.status.success(), "ip {words:?}: {output:?}");
}

/// Moves this thread into a new namespace. Its name goes at once: nothing is left behind, however the
/// test ends.
fn enter_new() {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let made = MADE.fetch_add(1, Ordering::Relaxed);
    let name = format!("sltest{}n{made}", std::process::id());
    ip(&["netns", "add", &name]);
    let namespace = File::open(format!("/run/netns/{name}"));
    ip(&["netns", "del", &name]);
    let namespace = namespace.expect("it was just made");
    let network = Some(LinkNameSpaceType::Network);
    move_into_link_name_space(namespace.as_fd(), network).expect("root may enter it");
    ip(&["link", "set", "lo", "up"]);
}
