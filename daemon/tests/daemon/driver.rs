//! Which interface of the system moves traffic, and what happens where there is none.

#![expect(
    unsafe_code,
    reason = "a program is kept from a system call between fork and exec"
)]

use std::os::unix::process::CommandExt;
use std::process::Command;

use sluice_protocol::Row;

use crate::running::{Running, command, run_to_end};

#[test]
fn epoll_takes_the_place_of_an_io_uring_that_is_forbidden_unless_it_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let without = |driver: &str| {
        let mut command = command(folder.path());
        forbid_io_uring(&mut command);
        command.args(["--driver", driver]);
        command
    };
    let daemon = Running::spawn(&mut without("auto"), folder.path());
    let said = |line: &&String| line.contains("no io_uring here: epoll is used");
    assert_eq!(daemon.before_ready.iter().filter(said).count(), 1);
    assert_eq!(driver(&daemon), "driver: epoll");
    drop(daemon);
    let (status, log) = run_to_end(&mut without("uring"));
    assert_eq!(status, Some(1));
    assert!(
        log.contains("cannot use io_uring: Operation not permitted"),
        "{log}"
    );
}

#[test]
fn the_driver_that_is_asked_for_moves_the_traffic() {
    let folder = tempfile::tempdir().unwrap();
    let daemon = Running::start(folder.path(), &["--driver", "epoll"]);
    assert_eq!(driver(&daemon), "driver: epoll");
    drop(daemon);
    if let Err(error) = sluice_dataplane::Driver::Uring.probe() {
        return eprintln!("skipped: no io_uring here: {error}");
    }
    for name in ["uring", "auto"] {
        let daemon = Running::start(folder.path(), &["--driver", name]);
        assert_eq!(driver(&daemon), "driver: io_uring");
    }
}

/// Makes `io_uring_setup` fail in what `command` starts, as container runtimes do.
fn forbid_io_uring(command: &mut Command) {
    const LOAD_NUMBER: libc::sock_filter = filter(0x20, 0, 0, 0);
    const IS_SETUP: libc::sock_filter = filter(0x15, 0, 1, libc::SYS_io_uring_setup as u32);
    const REFUSE: libc::sock_filter =
        filter(0x06, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32);
    const ALLOW: libc::sock_filter = filter(0x06, 0, 0, libc::SECCOMP_RET_ALLOW);
    let forbid = || {
        let mut filters = [LOAD_NUMBER, IS_SETUP, REFUSE, ALLOW];
        let program = libc::sock_fprog {
            len: 4,
            filter: filters.as_mut_ptr(),
        };
        // SAFETY: both calls take plain numbers and a program that is valid while they run.
        let refused = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
                || libc::prctl(
                    libc::PR_SET_SECCOMP,
                    libc::SECCOMP_MODE_FILTER,
                    &raw const program,
                ) != 0
        };
        match refused {
            true => Err(std::io::Error::last_os_error()),
            false => Ok(()),
        }
    };
    // SAFETY: what runs between fork and exec only makes two system calls.
    unsafe { command.pre_exec(forbid) };
}

const fn filter(code: u16, jt: u8, jf: u8, k: u32) -> libc::sock_filter {
    libc::sock_filter { code, jt, jf, k }
}

fn driver(daemon: &Running) -> String {
    let rows = daemon.ok("show ns info").into_iter();
    let mut lines = rows.filter_map(|row| match row {
        Row::Line(line) => Some(line),
        _ => None,
    });
    lines.find(|line| line.starts_with("driver: ")).unwrap()
}
