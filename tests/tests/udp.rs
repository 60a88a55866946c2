//! Datagrams through the real daemon: none lost, none crossed, whole, from the address dialled.

use std::net::{SocketAddr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use sluice_tests::daemon::{Daemon, free_address};
use sluice_tests::random::Random;
use sluice_tests::services::{UdpService, grow};

/// A daemon with one UDP virtual server over `services`.
fn rig(services: &[UdpService], options: &str) -> (Daemon, SocketAddr) {
    let daemon = Daemon::start();
    let listen = free_address();
    daemon.ok(&format!(
        "add lb vserver u1 UDP {} {} {options}",
        listen.ip(),
        listen.port()
    ));
    for (index, service) in services.iter().enumerate() {
        let (ip, port) = (service.address().ip(), service.address().port());
        let name = format!("s{}", index + 1);
        daemon.ok(&format!("add service {name} {ip} UDP {port}"));
        daemon.ok(&format!("bind lb vserver u1 {name}"));
    }
    (daemon, listen)
}

fn client(listen: SocketAddr) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback has a free port");
    grow(&socket);
    socket.connect(listen).expect("loopback is reachable");
    socket
        .set_read_timeout(Some(Duration::from_secs(10)))
        .expect("the time is not zero");
    socket
}

/// Sends one datagram and returns its answer.
fn ask(socket: &UdpSocket, datagram: &[u8]) -> Vec<u8> {
    socket.send(datagram).expect("the daemon listens");
    let mut buffer = vec![0; 1 << 16];
    let n = socket.recv(&mut buffer).expect("an answer comes");
    buffer.truncate(n);
    buffer
}

#[test]
fn a_hundred_thousand_datagrams_of_all_sizes_come_back_to_their_sender() {
    const CLIENTS: usize = 200;
    const EACH: usize = 500;
    let seed = Random::new(0x51).number();
    let services: Vec<_> = (0..3).map(|_| UdpService::echo()).collect();
    let (daemon, listen) = rig(&services, "-lbMethod LEASTBANDWIDTH");
    // Two threads of 100 clients, each thread with one datagram under way: at most 128 KiB in all.
    let bytes: u64 = thread::scope(|scope| {
        let threads: Vec<_> = (0..2)
            .map(|half| {
                scope.spawn(move || {
                    let mut random = Random::new(seed + half);
                    let clients: Vec<_> = (0..CLIENTS / 2).map(|_| client(listen)).collect();
                    let mut datagram = vec![0; 65_507];
                    let mut total = 0;
                    for round in 0..EACH {
                        for (index, socket) in clients.iter().enumerate() {
                            let length = match (round + index) % 8 {
                                0 => 0,
                                1 => 65_507,
                                2..=5 => random.below(1500) as usize,
                                _ => random.below(65_508) as usize,
                            };
                            random.fill(&mut datagram[..length]);
                            let echo = ask(socket, &datagram[..length]);
                            assert!(echo == datagram[..length], "seed {seed:#x}, round {round}");
                            total += length as u64;
                        }
                    }
                    total
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("no datagram is lost"))
            .sum()
    });
    let count = (CLIENTS * EACH) as u64;
    assert_eq!(
        services.iter().map(UdpService::received).sum::<u64>(),
        count
    );
    for field in ["request_bytes", "response_bytes"] {
        assert_eq!(daemon.number("stat lb vserver u1", field), bytes, "{field}");
    }
    for field in ["packets_received", "packets_sent"] {
        assert_eq!(daemon.number("stat lb vserver u1", field), count, "{field}");
    }
    assert_eq!(daemon.number("stat lb vserver u1", "hits"), CLIENTS as u64);
}

#[test]
fn a_session_keeps_its_service_and_source_port_and_ends_when_idle() {
    let port = |_: &[u8], from: SocketAddr| vec![from.port().to_string().into_bytes()];
    let services = [UdpService::start(port), UdpService::start(port)];
    let (daemon, listen) = rig(&services, "-lbMethod ROUNDROBIN -cltTimeout 2");
    let socket = client(listen);
    let first = ask(&socket, b"a");
    for _ in 0..5 {
        thread::sleep(Duration::from_millis(600));
        assert_eq!(ask(&socket, b"b"), first);
    }
    assert_eq!(daemon.number("stat lb vserver u1", "hits"), 1);
    let started = Instant::now();
    while daemon.number("stat lb vserver u1", "active") > 0 {
        assert!(
            started.elapsed() < Duration::from_secs(5),
            "the session does not end"
        );
        thread::sleep(Duration::from_millis(50));
    }
    assert!(
        started.elapsed() >= Duration::from_millis(1500),
        "after {:?}",
        started.elapsed()
    );
    ask(&socket, b"c");
    assert_eq!(daemon.number("stat lb vserver u1", "hits"), 2);
    let log = daemon.log().join("\n");
    assert!(!log.contains("WARN") && !log.contains("ERROR"), "{log}");
}

#[test]
fn empty_datagrams_pass_both_ways() {
    let twice = [UdpService::start(|datagram, _| {
        vec![Vec::new(), datagram.to_vec()]
    })];
    let (daemon, listen) = rig(&twice, "");
    let socket = client(listen);
    let mut buffer = [0; 100];
    for datagram in [&b""[..], b"x", b"", b"0123456789"] {
        assert_eq!(ask(&socket, datagram), b"");
        let n = socket.recv(&mut buffer).expect("the second answer comes");
        assert_eq!(&buffer[..n], datagram);
    }
    assert_eq!(daemon.number("stat lb vserver u1", "packets_received"), 4);
    assert_eq!(daemon.number("stat lb vserver u1", "packets_sent"), 8);
    assert_eq!(daemon.number("stat lb vserver u1", "active"), 1);
}

#[test]
fn a_wildcard_virtual_server_answers_from_the_address_dialled() {
    let service = UdpService::echo();
    let daemon = Daemon::start();
    let port = free_address().port();
    daemon.ok(&format!("add lb vserver u1 UDP * {port}"));
    daemon.ok(&format!(
        "add service s1 127.0.0.1 UDP {}",
        service.address().port()
    ));
    daemon.ok("bind lb vserver u1 s1");
    let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback has a free port");
    socket
        .set_read_timeout(Some(Duration::from_secs(5)))
        .expect("the time is not zero");
    let mut buffer = [0; 10];
    for local in ["127.0.0.77", "127.0.0.1", "127.0.0.77"] {
        let dialled = SocketAddr::new(local.parse().expect("an address"), port);
        socket
            .send_to(b"x", dialled)
            .expect("loopback is reachable");
        assert_eq!(
            socket.recv_from(&mut buffer).expect("an answer comes"),
            (1, dialled)
        );
    }
    assert_eq!(daemon.number("stat lb vserver u1", "active"), 2);
}

#[test]
fn a_removed_virtual_server_stops_answering_and_can_come_back() {
    let services = [UdpService::echo()];
    let (daemon, listen) = rig(&services, "");
    let socket = client(listen);
    assert_eq!(ask(&socket, b"x"), b"x");
    daemon.ok("rm lb vserver u1");
    UdpSocket::bind(listen)
        .map(drop)
        .expect("the address is free at once");
    let _ = socket.send(b"y");
    let mut buffer = [0; 10];
    assert!(socket.recv(&mut buffer).is_err(), "the port is unreachable");
    daemon.ok(&format!(
        "add lb vserver u1 UDP {} {}",
        listen.ip(),
        listen.port()
    ));
    daemon.ok("bind lb vserver u1 s1");
    assert_eq!(ask(&client(listen), b"z"), b"z");
}

#[test]
fn tcp_and_udp_share_a_port_and_ipv6_works() {
    let service = UdpService::echo();
    let daemon = Daemon::start();
    let port = free_address().port();
    daemon.ok(&format!("add lb vserver t6 TCP ::1 {port}"));
    daemon.ok(&format!("add lb vserver u6 UDP ::1 {port}"));
    daemon.ok(&format!(
        "add service s1 127.0.0.1 UDP {}",
        service.address().port()
    ));
    daemon.ok("bind lb vserver u6 s1");
    let socket = UdpSocket::bind("[::1]:0").expect("loopback has a free port");
    socket
        .connect(("::1", port))
        .expect("loopback is reachable");
    socket
        .set_read_timeout(Some(Duration::from_secs(5)))
        .expect("the time is not zero");
    assert_eq!(ask(&socket, b"six"), b"six");
}

#[test]
fn what_is_dropped_is_counted_where_an_operator_can_see_it() {
    let (daemon, listen) = rig(&[], "");
    let socket = client(listen);
    for _ in 0..3 {
        socket.send(b"x").expect("the daemon listens");
    }
    let started = Instant::now();
    while daemon.number("stat protocol udp", "dropped_refused") < 3 {
        assert!(
            started.elapsed() < Duration::from_secs(5),
            "it is not counted"
        );
    }
    let shown = daemon.ok("stat protocol udp");
    let line = |label: &str| shown.lines().find(|line| line.starts_with(label));
    let words = |label| line(label).map(|line| line.split_whitespace().last());
    assert_eq!(
        words("Dropped without a service"),
        Some(Some("3")),
        "{shown}"
    );
    assert_eq!(words("Current sessions"), Some(Some("0")), "{shown}");
    assert!(daemon.number("stat protocol udp", "session_limit") > 0);
}
