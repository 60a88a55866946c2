//! Cases of the field about idle limits and clocks, against the real daemon.
//!
//! The numbers are those of our list of bug reports against other balancers and proxies.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use sluice_tests::daemon::{Daemon, daemon_command, new_folder};
use sluice_tests::process::processor_time;
use sluice_tests::rig::{Rig, ask, eventually};
use sluice_tests::services::{TcpService, UdpService};

/// Whether the other side has ended the connection, in whatever way.
fn is_ended(mut stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).expect("it is open");
    let end = stream.read(&mut [0]);
    stream.set_nonblocking(false).expect("it is open");
    match end {
        Ok(n) => n == 0,
        Err(error) => error.kind() != ErrorKind::WouldBlock,
    }
}

fn echo(mut stream: &TcpStream) {
    stream.write_all(b"x").expect("the connection is open");
    stream.read_exact(&mut [0]).expect("the service answers");
}

/// C11: the limit that holds without configuration is finite and shown.
#[test]
fn c11_the_default_limit_is_shown() {
    let tcp = Rig::tcp(&[], "");
    let shown = tcp.daemon.ok("show lb vserver v1");
    assert!(
        shown.contains("\tClient Idle Timeout: 9000 sec\n"),
        "{shown}"
    );
    let udp = Rig::udp(&[], "");
    let shown = udp.daemon.ok("show lb vserver v1");
    assert!(
        shown.contains("\tClient Idle Timeout: 120 sec\n"),
        "{shown}"
    );
}

/// C11: with a limit silent connections end when it is over; with 0 they never do, and cost nothing.
#[test]
fn c11_silent_connections_end_at_the_limit_and_with_0_never() {
    let service = TcpService::echo();
    let limited = Rig::tcp(&[service.address()], "-cltTimeout 2");
    let unlimited = Rig::tcp(&[service.address()], "-cltTimeout 0");
    unlimited.daemon.ok("set service s1 -svrTimeout 0");
    let open = |rig: &Rig| {
        let client = rig.connect();
        echo(&client);
        client
    };
    let long: Vec<_> = (0..50).map(|_| open(&unlimited)).collect();
    let short: Vec<_> = (0..50).map(|_| open(&limited)).collect();
    let last = short.last().expect("there are some");
    let used = processor_time(unlimited.daemon.pid());
    let started = Instant::now();
    echo(last);
    let silent = Instant::now();

    eventually("the limit ends them", || is_ended(last));
    let took = started.elapsed();
    assert!(took >= Duration::from_secs(2), "ended after {took:?}");
    let took = silent.elapsed();
    assert!(took < Duration::from_millis(3500), "ended after {took:?}");
    eventually("all of them", || limited.service("s1", "active") == 0);
    assert_eq!(limited.service("s1", "idle_closes"), 50);
    assert!(short.iter().all(is_ended));

    thread::sleep(Duration::from_secs(2));
    assert!(!long.iter().any(is_ended));
    let used = processor_time(unlimited.daemon.pid()) - used;
    let took = started.elapsed();
    assert!(used < took / 10, "{used:?} of processor time in {took:?}");
    long.iter().for_each(echo);
    drop((short, long));
    limited.finish();
    unlimited.finish();
}

/// C12: traffic one way, whichever, keeps a connection although the other way is silent.
#[test]
fn c12_traffic_one_way_is_not_idle() {
    let talker = TcpService::start(|mut stream| {
        while stream.write_all(b".").is_ok() {
            thread::sleep(Duration::from_millis(500));
        }
    });
    let listener = TcpService::start(|mut stream| {
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let down = Rig::tcp(&[talker.address()], "-cltTimeout 2");
    let up = Rig::tcp(&[listener.address()], "-cltTimeout 2");
    down.daemon.ok("set service s1 -svrTimeout 2");
    up.daemon.ok("set service s1 -svrTimeout 2");
    let (mut reads, mut writes) = (down.connect(), up.connect());
    // Four times the limit.
    for _ in 0..16 {
        reads.read_exact(&mut [0]).expect("the stream goes on");
        writes.write_all(b".").expect("the stream goes on");
        thread::sleep(Duration::from_millis(500));
    }
    assert!(!is_ended(&writes));
    assert_eq!(up.service("s1", "request_bytes"), 16);
    assert_eq!(up.service("s1", "hits"), 1);
    assert_eq!(down.service("s1", "hits"), 1);
    drop((reads, writes));
    up.finish();
    down.finish();
}

/// C13: a flow keeps the limit that held when it began; a new limit is for new flows.
#[test]
fn c13_a_changed_limit_is_for_flows_that_begin_later() {
    let service = TcpService::echo();
    let rig = Rig::tcp(&[service.address()], "-cltTimeout 600");
    let old = rig.connect();
    echo(&old);
    rig.daemon.ok("set lb vserver v1 -cltTimeout 2");
    let new = rig.connect();
    let started = Instant::now();
    echo(&new);
    eventually("the new one ends", || is_ended(&new));
    let took = started.elapsed();
    assert!(took >= Duration::from_millis(1900), "ended after {took:?}");
    assert!(took < Duration::from_millis(3500), "ended after {took:?}");
    thread::sleep(Duration::from_secs(1));
    echo(&old);
    assert_eq!(rig.service("s1", "idle_closes"), 1);
    drop((old, new));
    rig.finish();
}

/// C14: when somebody sets the wall clock a day ahead and back, nothing ends, fires or forgets.
#[test]
fn c14_a_step_of_the_wall_clock_changes_only_what_is_printed() {
    const DAY: i64 = 86_400;
    let folder = Arc::new(new_folder());
    let offset = folder.path().join("offset");
    let set = |seconds: i64| {
        // In one step, because the daemon reads it at any time.
        let new = folder.path().join("offset.new");
        std::fs::write(&new, seconds.to_string()).expect("the folder is ours");
        std::fs::rename(&new, &offset).expect("the folder is ours");
    };
    set(0);
    let mut command = daemon_command(folder.path());
    command
        .env("LD_PRELOAD", wall_clock_shim(folder.path()))
        .env("WALL_CLOCK_OFFSET", &offset);
    let service = TcpService::echo();
    let udp_service = UdpService::start(|_, from| vec![from.port().to_string().into_bytes()]);
    let daemon = Daemon::launch(&mut command, Arc::clone(&folder));
    let options = "-lbMethod LEASTBANDWIDTH -cltTimeout 30";
    let rig = Rig::with(daemon, "TCP", &[service.address()], options);
    let udp = sluice_tests::daemon::free_address();
    rig.daemon.ok(&format!(
        "add lb vserver u1 UDP {} {} -cltTimeout 30",
        udp.ip(),
        udp.port()
    ));
    let at = udp_service.address();
    rig.daemon
        .ok(&format!("add service su {} UDP {}", at.ip(), at.port()));
    rig.daemon.ok("bind lb vserver u1 su");
    let wall_ms = || rig.daemon.json("show ns config")["system_unix_ms"].as_i64();
    let wall_ms = || wall_ms().expect("a number");

    let stream = rig.connect();
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("loopback has a free port");
    socket.connect(udp).expect("loopback is reachable");
    socket
        .set_read_timeout(Some(sluice_tests::rig::PATIENCE))
        .expect("the time is not zero");
    echo(&stream);
    let session = ask(&socket, b"a");
    let states = |daemon: &Daemon| {
        let rows = daemon.json("show lb vserver");
        let states = rows.as_array().expect("rows").iter();
        states
            .map(|row| (row["state"].clone(), row["state_age_ms"].as_u64()))
            .collect::<Vec<_>>()
    };
    let before = states(&rig.daemon);
    let started_ms = wall_ms();
    let mut bytes = 2;
    for step in [DAY, 0, -DAY, 0] {
        set(step);
        let shift_ms = wall_ms() - started_ms - step * 1000;
        assert!(
            (0..60_000).contains(&shift_ms),
            "the clock was not stepped: {shift_ms} ms"
        );
        thread::sleep(Duration::from_millis(300));
        echo(&stream);
        bytes += 2;
        assert_eq!(ask(&socket, b"b"), session, "the session was replaced");
        // All bytes are younger than 14 s, so the window forgets none.
        assert_eq!(rig.service("s1", "window_bytes"), bytes);
    }
    for ((state, age), (state_before, age_before)) in states(&rig.daemon).into_iter().zip(before) {
        assert_eq!(state, state_before);
        let aged = age.expect("a number") - age_before.expect("a number");
        assert!((1200..60_000).contains(&aged), "aged by {aged} ms");
    }
    assert_eq!(rig.vserver("hits"), 1);
    assert_eq!(rig.service("s1", "idle_closes"), 0);
    let log = rig.daemon.log().join("\n");
    assert!(!log.contains("WARN") && !log.contains("ERROR"), "{log}");
    drop((stream, socket));
    rig.daemon.ok("rm lb vserver u1");
    rig.finish();
}

/// Builds a library that shifts what a program takes for the wall clock by what a file says.
///
/// The clock that timers need, `CLOCK_MONOTONIC`, is left alone, as it is by `date -s`.
fn wall_clock_shim(folder: &Path) -> PathBuf {
    const SOURCE: &str = r#"
        #define _GNU_SOURCE
        #include <fcntl.h>
        #include <stdlib.h>
        #include <sys/syscall.h>
        #include <time.h>
        #include <unistd.h>
        int clock_gettime(clockid_t clock, struct timespec *at) {
            int result = syscall(SYS_clock_gettime, clock, at);
            const char *path = getenv("WALL_CLOCK_OFFSET");
            if (clock == CLOCK_REALTIME && path) {
                char text[32] = {0};
                int file = open(path, O_RDONLY | O_CLOEXEC);
                if (file >= 0) {
                    if (read(file, text, sizeof text - 1) > 0) at->tv_sec += atol(text);
                    close(file);
                }
            }
            return result;
        }
    "#;
    let (source, library) = (folder.join("clock.c"), folder.join("clock.so"));
    std::fs::write(&source, SOURCE).expect("the folder is ours");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]).arg(&library);
    // Building Rust needs the same program as its linker.
    let status = compiler.arg(&source).status().expect("cc runs");
    assert!(status.success(), "building the shim failed");
    library
}
