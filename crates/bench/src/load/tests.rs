//! The clients against the services, on loopback and for a moment each.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::os::unix::net::UnixStream;
use std::thread;

use super::server::{Kind, Loop, Sockets};
use super::{bulk, connections, idle, ping_pong, udp};

/// Starts a service that lives until the tests end; returns where it is.
fn service(kind: Kind) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has ports");
    let address = listener.local_addr().expect("it is bound");
    let sockets = Sockets {
        listeners: vec![(kind, listener)],
        udp: Vec::new(),
    };
    thread::spawn(move || Loop::new(sockets)?.run());
    address
}

fn udp_echo() -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback has ports");
    let address = socket.local_addr().expect("it is bound");
    let sockets = Sockets {
        listeners: Vec::new(),
        udp: vec![socket],
    };
    thread::spawn(move || Loop::new(sockets)?.run());
    address
}

#[test]
fn short_connections_are_counted() {
    let sample = connections::run(service(Kind::Echo), 4, 0.1).expect("the service answers");
    assert!(sample.rate > 0.0 && sample.operations > 0, "{sample:?}");
    assert!(
        sample.p50_us > 0.0 && sample.p50_us <= sample.p99_us,
        "{sample:?}"
    );
    assert_eq!(sample.errors, 0, "{sample:?}");
}

#[test]
fn a_refused_connection_is_an_error_and_no_answer() {
    let gone = TcpListener::bind("127.0.0.1:0").expect("loopback has ports");
    let address = gone.local_addr().expect("it is bound");
    drop(gone);
    let sample = connections::run(address, 2, 0.05).expect("sockets can be made");
    assert!(sample.errors > 0, "{sample:?}");
    assert_eq!(sample.operations, 0, "{sample:?}");
}

#[test]
fn requests_are_answered_whole() {
    for size in [1, 64, 20_000] {
        let plan = ping_pong::Plan {
            connections: 3,
            size,
            seconds: 0.1,
            rate: None,
        };
        let sample = ping_pong::run(service(Kind::Echo), &plan).expect("the service answers");
        assert!(sample.rate > 0.0, "{size}: {sample:?}");
    }
}

#[test]
fn a_rate_of_requests_is_kept() {
    let plan = ping_pong::Plan {
        connections: 8,
        size: 64,
        seconds: 0.5,
        rate: Some(200),
    };
    let sample = ping_pong::run(service(Kind::Echo), &plan).expect("the service answers");
    // 0.7 s with the warm-up; a busy machine may leave some out, never add any.
    assert!(sample.operations <= 141, "{sample:?}");
    assert!(sample.operations + sample.errors >= 70, "{sample:?}");
}

#[test]
fn streams_move_bytes_either_way() {
    let up = bulk::run(service(Kind::Sink), 2, bulk::Direction::Up, 0.1);
    let down = bulk::run(service(Kind::Source), 2, bulk::Direction::Down, 0.1);
    for sample in [up, down] {
        let sample = sample.expect("the service takes part");
        assert!(sample.rate > 0.0 && sample.operations > 0, "{sample:?}");
    }
}

#[test]
fn idle_connections_are_held_until_told() {
    let address = service(Kind::Echo);
    let (out, seen) = UnixStream::pair().expect("a pair of sockets");
    let (hold, release) = UnixStream::pair().expect("a pair of sockets");
    let client = thread::spawn(move || idle::run(address, 20, out, hold));
    let mut line = String::new();
    let read = BufReader::new(seen).read_line(&mut line);
    assert_eq!(
        (read.expect("it says how many"), line.as_str()),
        (3, "20\n")
    );
    (&release).write_all(b"on").expect("it holds");
    drop(release);
    client.join().expect("no panic").expect("all were open");
}

#[test]
fn datagrams_come_back_by_window_and_by_rate() {
    for (flows, pace) in [
        (1, udp::Pace::Window(64)),
        (50, udp::Pace::Window(1)),
        (1, udp::Pace::Rate(2_000)),
        (50, udp::Pace::Rate(2_000)),
    ] {
        let plan = udp::Plan {
            flows,
            size: 64,
            seconds: 0.1,
            pace,
        };
        let sample = udp::run(udp_echo(), &plan).expect("sockets can be made");
        assert!(
            sample.rate > 0.0 && sample.operations > 0,
            "{plan:?}: {sample:?}"
        );
    }
}

#[test]
fn datagrams_that_nobody_answers_are_lost() {
    let silent = UdpSocket::bind("127.0.0.1:0").expect("loopback has ports");
    let plan = udp::Plan {
        flows: 2,
        size: 64,
        seconds: 0.3,
        pace: udp::Pace::Rate(100),
    };
    let address = silent.local_addr().expect("it is bound");
    let sample = udp::run(address, &plan).expect("sockets can be made");
    assert_eq!(
        (sample.loss_percent, sample.operations),
        (100.0, 0),
        "{sample:?}"
    );
}
