//! The socket's file: one daemon each, nobody else's file touched.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, symlink};
use std::os::unix::net::UnixStream;

use rustix::process::Signal;

use crate::running::{Running, Shell, command, run_to_end};

#[test]
fn a_second_daemon_ends_at_once_and_the_first_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let daemon = Running::start(folder.path(), &[]);
    let (status, log) = run_to_end(&mut command(folder.path()));
    assert_eq!(status, Some(1));
    let socket = folder.path().join("control.sock");
    assert!(
        log.contains(&format!("a daemon already listens on {}", socket.display())),
        "{log}"
    );
    assert_eq!(fs::metadata(&socket).unwrap().mode() & 0o7777, 0o600);
    daemon.ok("show ns version");
}

#[test]
fn of_ten_daemons_started_at_once_exactly_one_becomes_ready() {
    let folder = tempfile::tempdir().unwrap();
    // The socket of a daemon that was killed makes it harder.
    Running::start(folder.path(), &[]).kill();
    assert!(folder.path().join("control.sock").exists());
    let ended = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..10 {
            scope.spawn(|| {
                let ended_with = run_to_end(&mut command(folder.path()));
                let mut ended = ended.lock().unwrap();
                ended.push(ended_with);
                if ended.len() == 9 {
                    // The one that is left is reachable; it is asked to end, so that this ends too.
                    end_the_winner(folder.path());
                }
            });
        }
    });
    let ended = ended.into_inner().unwrap();
    let became_ready = |log: &str| log.lines().any(|line| line == "ready");
    let (winners, losers): (Vec<_>, Vec<_>) = ended.iter().partition(|(_, log)| became_ready(log));
    assert_eq!(
        winners
            .iter()
            .map(|(status, _)| *status)
            .collect::<Vec<_>>(),
        [Some(0)]
    );
    assert_eq!(losers.len(), 9);
    for (status, log) in losers {
        assert_eq!(*status, Some(1), "{log}");
        assert!(log.contains("already listens"), "{log}");
    }
}

fn end_the_winner(folder: &std::path::Path) {
    let socket = folder.join("control.sock");
    // It answers once it is ready, and one that is ended before never says that it is.
    Shell::to(&socket).ok("show ns version");
    let stream = UnixStream::connect(socket).unwrap();
    let winner = rustix::net::sockopt::socket_peercred(&stream).unwrap().pid;
    rustix::process::kill_process(winner, Signal::TERM).unwrap();
}

#[test]
fn a_file_a_link_and_a_folder_at_the_path_are_refused_and_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("control.sock");
    let precious = folder.path().join("precious");
    fs::write(&precious, "precious").unwrap();

    let refused = |kind: &str| {
        let (status, log) = run_to_end(&mut command(folder.path()));
        assert_eq!(status, Some(1));
        assert!(log.contains(&format!("is a {kind}, not a socket")), "{log}");
    };
    fs::copy(&precious, &socket).unwrap();
    refused("regular file");
    assert_eq!(fs::read_to_string(&socket).unwrap(), "precious");
    fs::remove_file(&socket).unwrap();

    symlink(&precious, &socket).unwrap();
    refused("symbolic link");
    assert_eq!(fs::read_link(&socket).unwrap(), precious);
    fs::remove_file(&socket).unwrap();

    fs::create_dir(&socket).unwrap();
    refused("folder");
    assert!(socket.is_dir());
    assert_eq!(fs::read_to_string(&precious).unwrap(), "precious");
}

#[test]
fn garbage_and_a_hundred_silent_clients_leave_the_daemon_usable() {
    let folder = tempfile::tempdir().unwrap();
    let daemon = Running::start(folder.path(), &[]);
    let socket = folder.path().join("control.sock");
    let mut silent = Vec::new();
    for index in 0..100_u8 {
        let mut stream = UnixStream::connect(&socket).unwrap();
        if index % 2 == 0 {
            // The daemon may have closed it already: it is not a protocol.
            let _ = stream.write_all(&[index; 100]);
        }
        silent.push(stream);
    }
    assert_eq!(daemon.ok("show ns version").len(), 1);
    daemon.ok("add server s1 10.0.0.1");
    drop(silent);
}
