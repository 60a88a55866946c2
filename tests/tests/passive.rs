//! Services that their own connections show to be down, with the real daemon: TCP-INLINE.
//!
//! What counts exactly, and for how long, is claimed of the core with a stepped clock; here is that the
//! data plane reports it, that commands reach it, and that it is shown.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;
use sluice_tests::daemon::{Daemon, free_address};
use sluice_tests::rig::{Rig, eventually};
use sluice_tests::services::{TcpService, reset_on_close};

/// A service that takes everything and says nothing until the client has left, and then leaves too.
fn silent() -> TcpService {
    TcpService::start(|mut stream| while matches!(stream.read(&mut [0; 64]), Ok(1..)) {})
}

/// A service that never says anything, nor leaves.
fn stuck() -> TcpService {
    TcpService::start(|stream| {
        thread::sleep(Duration::from_secs(60));
        drop(stream);
    })
}

/// A service that accepts and closes.
fn closing() -> TcpService {
    TcpService::start(drop)
}

/// Starts `v1` over services, in turn, without probes.
fn rig(services: &[SocketAddr]) -> Rig {
    let rig = Rig::tcp(services, "-lbMethod ROUNDROBIN");
    // The lines that say so are refused as long as there are no monitors.
    for number in 1..=services.len() {
        rig.daemon
            .run(&format!("set service s{number} -healthMonitor NO"));
    }
    rig
}

/// Connects and sends a byte; returns what comes within `patience`.
fn ask(rig: &Rig, patience: Duration) -> Result<usize, ErrorKind> {
    let mut stream = rig.connect();
    stream
        .set_read_timeout(Some(patience))
        .expect("the time is not zero");
    let sent = stream.write_all(b"?").map_err(|error| error.kind());
    sent.and_then(|()| stream.read(&mut [0; 8]).map_err(|error| error.kind()))
}

/// Whether a client is answered.
fn answered(rig: &Rig) -> bool {
    ask(rig, PATIENCE) == Ok(1)
}

/// Returns what `show service` says of connections.
fn inline(rig: &Rig, name: &str) -> Value {
    let row = rig.daemon.json(&format!("show service {name}"));
    row[0]["tcp_inline"].clone()
}

fn state(rig: &Rig, name: &str) -> String {
    let row = rig.daemon.json(&format!("show service {name}"));
    row[0]["state"].as_str().expect("a word").to_owned()
}

fn states(rig: &Rig, count: usize) -> Vec<String> {
    (1..=count)
        .map(|number| state(rig, &format!("s{number}")))
        .collect()
}

#[test]
fn silent_service_is_found_although_clients_give_up_after_a_second() {
    for leaves_by_reset in [false, true] {
        let (bad, good) = (silent(), TcpService::echo());
        let rig = rig(&[bad.address(), good.address()]);
        assert_eq!(
            ask(&rig, Duration::from_millis(50)),
            Err(ErrorKind::WouldBlock)
        );
        assert!(answered(&rig));
        // Nine of eighteen wait there for a second.
        let started = Instant::now();
        let clients: Vec<_> = (0..18).map(|_| rig.connect()).collect();
        for mut client in &clients {
            client.write_all(b"?").expect("the daemon reads");
        }
        let mut waiting = Vec::new();
        for mut client in clients {
            client
                .set_read_timeout(Some(Duration::from_millis(200)))
                .expect("the time is not zero");
            if client.read(&mut [0]).is_err() {
                waiting.push(client);
            }
        }
        assert_eq!(waiting.len(), 9);
        thread::sleep(Duration::from_secs(1).saturating_sub(started.elapsed()));
        for client in waiting {
            if leaves_by_reset {
                reset_on_close(&client);
            }
        }
        eventually("it is found", || state(&rig, "s1") == "DOWN");
        assert!(started.elapsed() < Duration::from_secs(5), "by their leave");
        let shown = inline(&rig, "s1");
        assert_eq!(shown["state"], "DOWN");
        assert_eq!(shown["reason"], "9 failures in a row");
        assert_eq!(
            shown["last_response"],
            "Failure - Client gave up, its data unanswered"
        );
        let text = rig.daemon.ok("show service s1");
        assert!(text.contains("\tState: DOWN\n"), "{text}");
        assert!(
            text.contains("Reason: 9 failures in a row, a connection tries it in "),
            "{text}"
        );
        assert!((0..10).all(|_| answered(&rig)));
        rig.finish();
    }
}

#[test]
fn stuck_service_is_found_after_the_response_time_out_though_nobody_leaves() {
    let (bad, good) = (stuck(), TcpService::echo());
    let rig = rig(&[bad.address(), good.address()]);
    rig.daemon
        .ok("set lb parameter -tcpInlineRetries 3 -tcpInlineResptimeout 1");
    let clients: Vec<_> = (0..6).map(|_| rig.connect()).collect();
    for mut client in &clients {
        client.write_all(b"?").expect("the daemon reads");
    }
    let started = Instant::now();
    eventually("it is found", || state(&rig, "s1") == "DOWN");
    assert!(started.elapsed() >= Duration::from_millis(900));
    let shown = inline(&rig, "s1");
    assert_eq!(
        shown["last_response"],
        "Failure - Time out, client data unanswered"
    );
    // Those that wait there are not cut off.
    assert_eq!(rig.service("s1", "active"), 3);
    drop(clients);
}

#[test]
fn refusing_service_is_found_and_no_client_notices() {
    let (dead, good) = (free_address(), TcpService::echo());
    let rig = rig(&[dead, good.address()]);
    assert!((0..30).all(|_| answered(&rig)));
    assert_eq!(states(&rig, 2), ["DOWN", "UP"]);
    assert_eq!(rig.service("s1", "connect_failures"), 9);
    let shown = inline(&rig, "s1");
    assert_eq!(shown["last_response"], "Failure - TCP connection failed");
    assert_eq!(
        (&shown["failed_total"], &shown["times_down"]),
        (&9.into(), &1.into())
    );
    rig.finish();
}

/// C36, with defaults: a service that fails fast gets nine connections, by whatever method.
#[test]
fn c36_service_that_closes_at_once_is_found_by_every_method() {
    for method in ["ROUNDROBIN", "LEASTCONNECTION", "LEASTRESPONSETIME"] {
        let (bad, good, other) = (closing(), TcpService::echo(), TcpService::echo());
        let rig = rig(&[bad.address(), good.address(), other.address()]);
        rig.daemon
            .ok(&format!("set lb vserver v1 -lbMethod {method}"));
        let lost = (0..200).filter(|_| !answered(&rig)).count();
        // It may have closed before the client's byte was there, and then nothing was unanswered.
        assert!(lost <= 20, "{lost} by {method}");
        assert_eq!(bad.accepted(), lost as u64, "{method}");
        if method == "ROUNDROBIN" {
            assert_eq!(state(&rig, "s1"), "DOWN");
            let shown = inline(&rig, "s1");
            let response = shown["last_response"].as_str().expect("a text");
            assert!(
                response.ends_with(" with client data unanswered"),
                "{response}"
            );
        }
        rig.finish();
    }
}

#[test]
fn service_that_resets_in_the_middle_of_a_request_is_found() {
    let bad = TcpService::start(|mut stream| {
        let _ = stream.read(&mut [0]);
        reset_on_close(&stream);
    });
    let good = TcpService::echo();
    let rig = rig(&[bad.address(), good.address()]);
    let lost = (0..30).filter(|_| !answered(&rig)).count();
    assert_eq!((lost, bad.accepted()), (9, 9));
    assert_eq!(states(&rig, 2), ["DOWN", "UP"]);
    assert_eq!(
        inline(&rig, "s1")["last_response"],
        "Failure - Connection reset with client data unanswered"
    );
    rig.finish();
}

#[test]
fn service_that_resets_in_later_exchanges_is_found_by_the_share() {
    let bad = TcpService::start(|mut stream| {
        let mut byte = [0];
        let _ = stream.read_exact(&mut byte);
        let _ = stream.write_all(&byte);
        let _ = stream.read_exact(&mut byte);
        reset_on_close(&stream);
    });
    let good = TcpService::echo();
    let rig = rig(&[bad.address(), good.address()]);
    rig.daemon
        .ok("set lb parameter -tcpInlineShare 50 -tcpInlineSample 10");
    let mut cut_off = 0;
    for _ in 0..10 {
        let mut client = rig.connect();
        for _ in 0..2 {
            client.write_all(b"?").expect("the daemon reads");
            if client.read(&mut [0]).map_err(|error| error.kind())
                == Err(ErrorKind::ConnectionReset)
            {
                cut_off += 1;
            }
        }
    }
    assert_eq!(cut_off, 5);
    eventually("it is found", || state(&rig, "s1") == "DOWN");
    let shown = inline(&rig, "s1");
    assert_eq!(shown["reason"], "5 failures in the last 10 connections");
    assert_eq!(
        shown["last_response"],
        "Failure - Connection reset with client data unanswered"
    );
    rig.finish();
}

#[test]
fn clients_that_say_nothing_never_count() {
    let (one, other) = (TcpService::echo(), TcpService::echo());
    let rig = rig(&[one.address(), other.address()]);
    rig.daemon
        .ok("set lb parameter -tcpInlineRetries 1 -tcpInlineResptimeout 1");
    assert!((0..2).all(|_| answered(&rig)));
    let idle: Vec<_> = (0..20).map(|_| rig.connect()).collect();
    for number in 0..20 {
        let leaving = rig.connect();
        if number % 2 == 0 {
            reset_on_close(&leaving);
        }
    }
    thread::sleep(Duration::from_millis(1_500));
    assert!((0..2).all(|_| answered(&rig)));
    for name in ["s1", "s2"] {
        let shown = inline(&rig, name);
        assert_eq!(
            (&shown["failed_total"], &shown["state"]),
            (&0.into(), &"UP".into())
        );
        assert_eq!(shown["connections"], 2);
    }
    drop(idle);
    rig.finish();
}

#[test]
fn upload_that_takes_longer_than_the_response_time_out_is_no_failure() {
    let slow = TcpService::start(|mut stream| {
        let mut buffer = [0; 64];
        while let Ok(bytes @ 1..) = stream.read(&mut buffer) {
            if buffer[..bytes].iter().any(|byte| b".?".contains(byte)) {
                let _ = stream.write_all(b"!");
            }
        }
    });
    let good = TcpService::echo();
    let rig = rig(&[slow.address(), good.address()]);
    rig.daemon
        .ok("set lb parameter -tcpInlineRetries 1 -tcpInlineResptimeout 2");
    let mut upload = rig.connect();
    for _ in 0..35 {
        upload.write_all(b"some").expect("the daemon reads");
        assert!((0..2).all(|_| answered(&rig)));
        thread::sleep(Duration::from_millis(100));
    }
    upload.write_all(b"more.").expect("the daemon reads");
    upload.read_exact(&mut [0]).expect("it is answered");
    assert_eq!(inline(&rig, "s1")["failed_total"], 0);
    drop(upload);
    rig.finish();
}

/// C39: a daemon that was stopped finds nobody silent whose answer it has not read.
#[test]
fn c39_daemon_that_was_stopped_takes_nobody_out() {
    let later = || {
        TcpService::start(|mut stream| {
            let mut byte = [0];
            if stream.read_exact(&mut byte).is_ok() {
                thread::sleep(Duration::from_millis(300));
                let _ = stream.write_all(&byte);
            }
        })
    };
    let (one, other) = (later(), later());
    let rig = rig(&[one.address(), other.address()]);
    rig.daemon
        .ok("set lb parameter -tcpInlineRetries 1 -tcpInlineResptimeout 1");
    assert!((0..2).all(|_| answered(&rig)));
    let clients: Vec<_> = (0..20).map(|_| rig.connect()).collect();
    for mut client in &clients {
        client.write_all(b"?").expect("the daemon reads");
    }
    eventually("all have asked", || rig.vserver("active") == 20);
    thread::sleep(Duration::from_millis(100));
    rig.daemon.signal(Signal::STOP);
    thread::sleep(Duration::from_millis(2_500));
    rig.daemon.signal(Signal::CONT);
    for mut client in clients {
        client.read_exact(&mut [0]).expect("it is answered");
    }
    assert_eq!(states(&rig, 2), ["UP", "UP"]);
    for name in ["s1", "s2"] {
        assert_eq!(inline(&rig, name)["failed_total"], 0);
    }
    rig.finish();
}

#[test]
fn one_way_type_is_never_found_by_silence() {
    let sink = silent();
    let daemon = Daemon::start();
    let listen = free_address();
    for line in [
        format!(
            "add lb vserver v1 SYSLOGTCP {} {}",
            listen.ip(),
            listen.port()
        ),
        format!(
            "add service s1 {} SYSLOGTCP {}",
            sink.address().ip(),
            sink.address().port()
        ),
        "bind lb vserver v1 s1".to_owned(),
        "set lb parameter -tcpInlineRetries 1 -tcpInlineResptimeout 1".to_owned(),
    ] {
        daemon.ok(&line);
    }
    let good = TcpService::echo();
    daemon.ok(&format!(
        "add service s2 {} SYSLOGTCP {}",
        good.address().ip(),
        good.address().port()
    ));
    daemon.ok("bind lb vserver v1 s2");
    for _ in 0..6 {
        let mut client = TcpStream::connect(listen).expect("the daemon listens");
        client.write_all(b"a line\n").expect("the daemon reads");
    }
    eventually("all have ended", || {
        daemon.number("stat lb vserver v1", "active") == 0
    });
    let row = daemon.json("show service s1");
    assert_eq!(row[0]["state"], "UP");
    assert_eq!(row[0]["tcp_inline"]["failed_total"], 0);
}

/// C40, as far as connections say so: half of them at most, and never the last.
#[test]
fn c40_at_most_half_of_the_services_go_down_and_never_the_last() {
    let dead: Vec<_> = (0..4).map(|_| free_address()).collect();
    for (count, expected) in [
        (1, vec!["UP"]),
        (2, vec!["DOWN", "UP"]),
        (4, vec!["DOWN", "DOWN", "UP", "UP"]),
    ] {
        let rig = rig(&dead[..count]);
        rig.daemon
            .ok("set lb parameter -tcpInlineRetries 2 -connectTries 4");
        for _ in 0..10 {
            assert!(!answered(&rig));
        }
        let mut found = states(&rig, count);
        found.sort_unstable();
        assert_eq!(found, expected);
        assert_eq!(rig.daemon.json("show lb vserver v1")[0]["state"], "UP");
        rig.finish();
    }
}

#[test]
fn a_connection_tries_a_service_after_its_time_and_decides() {
    let heals = Arc::new(AtomicBool::new(false));
    let healed = Arc::clone(&heals);
    let patient = TcpService::start(move |mut stream| {
        let mut byte = [0];
        let came = stream.read_exact(&mut byte);
        if healed.load(Ordering::Relaxed) && came.is_ok() {
            let _ = stream.write_all(&byte);
        }
    });
    let good = TcpService::echo();
    let rig = rig(&[patient.address(), good.address()]);
    rig.daemon
        .ok("set lb parameter -tcpInlineRetries 2 -tcpInlineDownTime 1 -tcpInlineMaxDownTime 2");
    let lost = (0..20).filter(|_| !answered(&rig)).count();
    assert_eq!((lost, state(&rig, "s1")), (2, "DOWN".to_owned()));

    eventually("it is tried", || inline(&rig, "s1")["on_trial"] == true);
    assert_eq!(state(&rig, "s1"), "UP");
    let lost = (0..20).filter(|_| !answered(&rig)).count();
    assert_eq!((lost, state(&rig, "s1")), (1, "DOWN".to_owned()));
    let shown = inline(&rig, "s1");
    assert_eq!(shown["reason"], "the trial failed");
    let left = shown["trial_ms"].as_u64().expect("it is out");
    assert!((1_001..=2_000).contains(&left), "twice as long: {left}");

    heals.store(true, Ordering::Relaxed);
    eventually("it is tried", || inline(&rig, "s1")["on_trial"] == true);
    assert!((0..20).all(|_| answered(&rig)));
    let shown = inline(&rig, "s1");
    assert_eq!(
        (&shown["on_trial"], &shown["reason"]),
        (&false.into(), &Value::Null)
    );
    assert!(patient.accepted() >= 3 + 10, "it has its share again");
    rig.finish();
}

#[test]
fn operator_wins() {
    let (dead, good) = (free_address(), TcpService::echo());
    let rig = rig(&[dead, good.address()]);
    let fail = || {
        assert!((0..20).all(|_| answered(&rig)));
        assert_eq!(state(&rig, "s1"), "DOWN");
    };
    fail();
    rig.daemon.ok("enable service s1");
    assert_eq!(state(&rig, "s1"), "UP");
    fail();
    rig.daemon.ok("disable service s1");
    assert_eq!(state(&rig, "s1"), "OUT OF SERVICE");
    rig.daemon.ok("enable service s1");
    assert_eq!(state(&rig, "s1"), "UP");
    fail();
    // C43: what does not name the service forgets nothing.
    for line in [
        "set lb vserver v1 -lbMethod LEASTCONNECTION",
        "set service s1 -maxClient 100",
        "set lb parameter -tcpInlineDownTime 60",
        "add lb vserver v2 TCP",
        "bind lb vserver v2 s2",
    ] {
        rig.daemon.ok(line);
        assert_eq!(state(&rig, "s1"), "DOWN", "{line}");
    }
    rig.daemon.ok("set lb parameter -tcpInline DISABLED");
    assert_eq!(state(&rig, "s1"), "UP");
    assert_eq!(inline(&rig, "s1"), Value::Null);
    rig.finish();
}

#[test]
fn so_many_services_are_tried_for_a_client_as_is_set() {
    let good = TcpService::echo();
    let mut services: Vec<_> = (0..4).map(|_| free_address()).collect();
    services.push(good.address());
    let rig = rig(&services);
    rig.daemon.ok("set lb parameter -tcpInline DISABLED");
    // The turn begins with the first, and goes on behind the last that was tried.
    let try_all = || -> Vec<bool> { (0..5).map(|_| answered(&rig)).collect() };
    rig.daemon.ok("set lb parameter -connectTries 5");
    assert_eq!(try_all(), [true; 5], "with the byte that was sent");
    rig.daemon.ok("set lb parameter -connectTries 1");
    assert_eq!(try_all(), [false, false, false, false, true]);
    rig.daemon.ok("unset lb parameter -connectTries");
    assert_eq!(try_all(), [false, true, false, true, false]);
    let text = rig.daemon.ok("show lb parameter");
    assert!(text.contains("\tConnect Tries: 3\n"), "{text}");
    rig.finish();
}

const PATIENCE: Duration = Duration::from_secs(5);
