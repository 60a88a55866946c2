//! From the command line to the exit status.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixDatagram;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::running::{PATIENCE, Running, command, free_port, run_to_end};

#[test]
fn sigterm_without_flows_ends_at_once_with_status_0_and_removes_the_socket() {
    for signal in [Signal::TERM, Signal::INT] {
        let folder = tempfile::tempdir().unwrap();
        let mut daemon = Running::start(folder.path(), &["--drain", "3600"]);
        assert!(folder.path().join("control.sock").exists());
        daemon.signal(signal);
        let (status, log) = daemon.wait();
        assert_eq!(status.code(), Some(0), "{log:?}");
        assert!(!folder.path().join("control.sock").exists());
    }
}

#[test]
fn sighup_is_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let daemon = Running::start(folder.path(), &[]);
    daemon.signal(Signal::HUP);
    daemon.wait_for_line("SIGHUP is ignored");
    daemon.ok("show ns version");
}

#[test]
fn systemd_is_told_when_the_daemon_is_ready_and_when_it_stops() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notify");
    let systemd = UnixDatagram::bind(&path).unwrap();
    systemd.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut command = command(folder.path());
    let daemon = Running::spawn(command.env("NOTIFY_SOCKET", &path), folder.path());
    let mut bytes = [0; 64];
    let length = systemd.recv(&mut bytes).unwrap();
    assert_eq!(&bytes[..length], b"READY=1");
    daemon.signal(Signal::TERM);
    let length = systemd.recv(&mut bytes).unwrap();
    assert_eq!(&bytes[..length], b"STOPPING=1");
}

#[test]
fn wrong_usage_is_status_2_and_the_version_is_status_0() {
    let sluiced = env!("CARGO_BIN_EXE_sluiced");
    let ran = Command::new(sluiced).arg("--nosuch").output().unwrap();
    assert_eq!(ran.status.code(), Some(2));
    let ran = Command::new(sluiced).arg("--version").output().unwrap();
    assert_eq!(ran.status.code(), Some(0));
    assert_eq!(
        ran.stdout,
        format!("sluiced {}\n", env!("CARGO_PKG_VERSION")).as_bytes()
    );
}

#[test]
fn flags_come_before_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = folder.path().join("elsewhere");
    fs::write(&elsewhere, "nosuch\n").unwrap();
    let mut command = command(folder.path());
    command
        .env("SLUICE_CONFIG", &elsewhere)
        .env("SLUICE_SOCKET", "/nonexistent/socket");
    let daemon = Running::spawn(&mut command, folder.path());
    assert_eq!(
        daemon.status().path,
        folder.path().join("ns.conf").display().to_string()
    );

    let mut command = Command::new(env!("CARGO_BIN_EXE_sluiced"));
    command
        .env("SLUICE_CONFIG", &elsewhere)
        .env("SLUICE_SOCKET", folder.path().join("other"));
    let (status, log) = run_to_end(command.arg("--strict"));
    assert_eq!(status, Some(1));
    assert!(
        log.contains(&format!("{}:1: ERROR: ", elsewhere.display())),
        "{log}"
    );
}

/// A daemon with one open connection through it.
struct Flow {
    daemon: Running,
    client: TcpStream,
    service: TcpStream,
    address: String,
    _folder: tempfile::TempDir,
}

impl Flow {
    fn open(args: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let daemon = Running::start(folder.path(), args);
        let service = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = service.local_addr().unwrap().port();
        daemon.ok(&format!("add service s1 127.0.0.1 TCP {port}"));
        let listen = free_port();
        daemon.ok(&format!("add lb vserver v1 TCP 127.0.0.1 {listen}"));
        daemon.ok("bind lb vserver v1 s1");
        let address = format!("127.0.0.1:{listen}");
        let mut client = TcpStream::connect(&address).unwrap();
        client.write_all(b"x").unwrap();
        let mut service = accepted(&service);
        service.read_exact(&mut [0]).unwrap();
        Self {
            daemon,
            client,
            service,
            address,
            _folder: folder,
        }
    }
}

/// Accepts the connection that should come.
fn accepted(listener: &TcpListener) -> TcpStream {
    listener.set_nonblocking(true).unwrap();
    let start = Instant::now();
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(false).unwrap();
                stream.set_read_timeout(Some(PATIENCE)).unwrap();
                return stream;
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                assert!(
                    start.elapsed() < PATIENCE,
                    "no connection reached the service"
                );
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
}

#[test]
fn a_drain_refuses_new_flows_and_ends_when_the_last_one_has_ended() {
    let mut flow = Flow::open(&["--drain", "3600"]);
    flow.daemon.signal(Signal::TERM);
    flow.daemon.wait_for_line("no new flows");
    // The drain has been ordered before this command, which runs after it.
    assert_eq!(
        flow.daemon.refused("rm lb vserver v1"),
        "The daemon is shutting down"
    );
    TcpStream::connect(&flow.address).unwrap_err();

    flow.client.write_all(b"still here").unwrap();
    let mut bytes = [0; 10];
    flow.service.read_exact(&mut bytes).unwrap();
    assert_eq!(&bytes, b"still here");
    drop((flow.client, flow.service));
    let (status, log) = flow.daemon.wait();
    assert_eq!(status.code(), Some(0));
    assert!(
        log.iter().any(|line| line.contains("all flows have ended")),
        "{log:?}"
    );
}

#[test]
fn the_drain_limit_and_a_second_signal_end_flows_that_are_left() {
    let mut flow = Flow::open(&["--drain", "0"]);
    flow.daemon.signal(Signal::TERM);
    let (status, _) = flow.daemon.wait();
    assert_eq!(status.code(), Some(0));

    let start = Instant::now();
    let mut flow = Flow::open(&["--drain", "3600"]);
    flow.daemon.signal(Signal::TERM);
    flow.daemon.wait_for_line("no new flows");
    flow.daemon.signal(Signal::TERM);
    let (status, log) = flow.daemon.wait();
    assert_eq!(status.code(), Some(0));
    assert!(
        log.iter().any(|line| line.contains("a second signal")),
        "{log:?}"
    );
    assert!(start.elapsed() < PATIENCE);
}
