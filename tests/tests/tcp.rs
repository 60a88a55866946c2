//! Bytes through the real daemon: whole, in order, counted, with the ends of both sides kept apart.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::thread;
use std::time::Duration;

use sha2::{Digest, Sha256};
use sluice_tests::daemon::{Daemon, free_address};
use sluice_tests::random::Random;
use sluice_tests::services::{TcpService, reset_on_close};

/// A daemon with one TCP virtual server over `services`.
fn rig(services: &[&TcpService], options: &str) -> (Daemon, SocketAddr) {
    let daemon = Daemon::start();
    let listen = free_address();
    daemon.ok(&format!(
        "add lb vserver v1 TCP {} {} {options}",
        listen.ip(),
        listen.port()
    ));
    for (index, service) in services.iter().enumerate() {
        let (ip, port) = (service.address().ip(), service.address().port());
        let name = format!("s{}", index + 1);
        daemon.ok(&format!("add service {name} {ip} TCP {port}"));
        daemon.ok(&format!("bind lb vserver v1 {name}"));
    }
    (daemon, listen)
}

fn connect(listen: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(listen).expect("the daemon listens");
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .expect("the time is not zero");
    stream
}

/// Writes `length` pseudo-random bytes and finishes; returns their hash.
fn send(mut stream: &TcpStream, length: u64, seed: u64) -> [u8; 32] {
    let mut random = Random::new(seed);
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 18];
    let mut left = length;
    while left > 0 {
        let n = left.min(buffer.len() as u64) as usize;
        random.fill(&mut buffer[..n]);
        hash.update(&buffer[..n]);
        stream.write_all(&buffer[..n]).expect("the peer reads");
        left -= n as u64;
    }
    stream
        .shutdown(Shutdown::Write)
        .expect("the connection is open");
    hash.finalize().into()
}

/// Reads to the end; returns the number of bytes and their hash.
fn receive(mut stream: &TcpStream) -> (u64, [u8; 32]) {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 18];
    let mut length = 0;
    loop {
        match stream
            .read(&mut buffer)
            .expect("the connection ends in order")
        {
            0 => return (length, hash.finalize().into()),
            n => {
                hash.update(&buffer[..n]);
                length += n as u64;
            }
        }
    }
}

/// Polls until `condition` holds; for effects that need another thread of the daemon.
fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    for _ in 0..500 {
        if condition() {
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("{what} did not come true in 10 s");
}

#[test]
fn a_gibibyte_each_way_at_once_is_exact_and_counted_to_the_byte() {
    const LENGTH: u64 = 1 << 30;
    let (sender, results) = std::sync::mpsc::channel();
    let service = TcpService::start(move |stream| {
        let (length, received) = thread::scope(|scope| {
            let reader = scope.spawn(|| receive(&stream));
            let sent = send(&stream, LENGTH, 2);
            sender
                .send(("service sent", LENGTH, sent))
                .expect("the test waits");
            reader.join().expect("the reader does not panic")
        });
        sender
            .send(("service received", length, received))
            .expect("the test waits");
    });
    let (daemon, listen) = rig(&[&service], "-lbMethod LEASTBANDWIDTH");
    let client = connect(listen);
    let mut seen = Vec::new();
    let (sent, received) = thread::scope(|scope| {
        let reader = scope.spawn(|| receive(&client));
        let writer = scope.spawn(|| send(&client, LENGTH, 1));
        while !reader.is_finished() || !writer.is_finished() {
            let stat = daemon.json("stat service s1");
            let row = stat.get(0).unwrap_or(&stat).clone();
            let number = |field: &str| row[field].as_u64().expect("a number");
            seen.push((
                number("request_bytes"),
                number("response_bytes"),
                number("active"),
            ));
            thread::sleep(Duration::from_millis(50));
        }
        (
            writer.join().expect("no panic"),
            reader.join().expect("no panic"),
        )
    });
    for _ in 0..2 {
        let (what, length, hash) = results.recv().expect("the service reports");
        assert_eq!(length, LENGTH, "{what}");
        let expected = if what == "service sent" {
            received.1
        } else {
            sent
        };
        assert_eq!(hash, expected, "{what}");
    }
    assert_eq!(received.0, LENGTH);
    assert!(
        seen.is_sorted_by(|a, b| a.0 <= b.0 && a.1 <= b.1),
        "counters never fall: {seen:?}"
    );
    let moving = seen
        .iter()
        .filter(|row| row.1 > 0 && row.1 < LENGTH && row.2 == 1)
        .count();
    assert!(moving >= 2, "counters move during the transfer: {seen:?}");
    eventually("the connection is closed", || {
        daemon.number("stat service s1", "active") == 0
    });
    for line in ["stat service s1", "stat lb vserver v1"] {
        assert_eq!(daemon.number(line, "request_bytes"), LENGTH, "{line}");
        assert_eq!(daemon.number(line, "response_bytes"), LENGTH, "{line}");
        assert_eq!(daemon.number(line, "hits"), 1, "{line}");
    }
}

#[test]
fn a_client_that_finishes_first_gets_the_late_answer() {
    const LENGTH: usize = 1 << 20;
    let service = TcpService::start(|mut stream| {
        let mut request = Vec::new();
        stream
            .read_to_end(&mut request)
            .expect("the client finishes");
        assert_eq!(request, b"0123456789");
        thread::sleep(Duration::from_secs(2));
        stream
            .write_all(&vec![7; LENGTH])
            .expect("the client reads");
    });
    let (daemon, listen) = rig(&[&service], "");
    let mut client = connect(listen);
    client.write_all(b"0123456789").expect("the daemon reads");
    client
        .shutdown(Shutdown::Write)
        .expect("the connection is open");
    eventually("one connection is active", || {
        daemon.number("stat service s1", "active") == 1
    });
    let mut answer = Vec::new();
    client
        .read_to_end(&mut answer)
        .expect("the answer ends in order");
    assert_eq!(answer, vec![7; LENGTH]);
    eventually("the connection is closed", || {
        daemon.number("stat service s1", "active") == 0
    });
}

#[test]
fn a_service_that_finishes_first_gets_the_rest_of_the_request() {
    let (sender, results) = std::sync::mpsc::channel();
    let service = TcpService::start(move |mut stream| {
        stream.write_all(b"banner").expect("the client reads");
        stream
            .shutdown(Shutdown::Write)
            .expect("the connection is open");
        let mut request = Vec::new();
        stream
            .read_to_end(&mut request)
            .expect("the client finishes");
        sender.send(request).expect("the test waits");
    });
    let (_daemon, listen) = rig(&[&service], "");
    let mut client = connect(listen);
    let mut banner = Vec::new();
    client
        .read_to_end(&mut banner)
        .expect("the banner ends in order");
    assert_eq!(banner, b"banner");
    thread::sleep(Duration::from_millis(300));
    client
        .write_all(b"late request")
        .expect("the service still reads");
    drop(client);
    assert_eq!(
        results.recv().expect("the service reports"),
        b"late request"
    );
}

#[test]
fn a_reset_of_the_service_reaches_the_client_as_a_reset_after_the_bytes() {
    let service = TcpService::start(|mut stream| {
        stream.write_all(&[7; 1000]).expect("the client reads");
        let mut one = [0];
        stream.read_exact(&mut one).expect("the client confirms");
        reset_on_close(&stream);
    });
    let (daemon, listen) = rig(&[&service], "");
    let mut client = connect(listen);
    let mut answer = [0; 1000];
    client
        .read_exact(&mut answer)
        .expect("the bytes come first");
    assert_eq!(answer, [7; 1000]);
    client.write_all(b"!").expect("the service reads");
    let end = client.read(&mut answer);
    assert_eq!(
        end.map_err(|error| error.kind()),
        Err(ErrorKind::ConnectionReset)
    );
    eventually("the reset is counted", || {
        daemon.number("stat service s1", "service_resets") == 1
    });
}

#[test]
fn a_reset_of_the_client_reaches_the_service() {
    let (sender, results) = std::sync::mpsc::channel();
    let service = TcpService::start(move |mut stream| {
        let mut buffer = [0; 100];
        let mut end = stream.read(&mut buffer);
        while matches!(end, Ok(1..)) {
            end = stream.read(&mut buffer);
        }
        sender
            .send(end.map_err(|error| error.kind()))
            .expect("the test waits");
    });
    let (daemon, listen) = rig(&[&service], "");
    let mut client = connect(listen);
    client.write_all(b"hello").expect("the daemon reads");
    eventually("the bytes are through", || {
        daemon.number("stat service s1", "request_bytes") == 5
    });
    reset_on_close(&client);
    drop(client);
    let end = results
        .recv_timeout(Duration::from_secs(1))
        .expect("the service hears within 1 s");
    assert_eq!(end, Err(ErrorKind::ConnectionReset));
}

#[test]
fn a_refused_connection_goes_to_the_next_service_unnoticed() {
    let dead = free_address();
    let service = TcpService::echo();
    let (daemon, listen) = rig(&[&service], "-lbMethod ROUNDROBIN");
    daemon.ok(&format!(
        "add service dead {} TCP {}",
        dead.ip(),
        dead.port()
    ));
    daemon.ok("bind lb vserver v1 dead");
    // Else it is DOWN after nine of them.
    daemon.ok("set lb parameter -tcpInline DISABLED");
    for round in 0..20_u8 {
        let mut client = connect(listen);
        client.write_all(&[round]).expect("the daemon reads");
        let mut echo = [0];
        client
            .read_exact(&mut echo)
            .expect("the other service answers");
        assert_eq!(echo, [round]);
    }
    assert_eq!(service.accepted(), 20);
    // After the first client the turn is always that of the dead service, then of the other.
    assert_eq!(daemon.number("stat service dead", "connect_failures"), 19);
}

#[test]
fn without_a_usable_service_a_client_is_reset_at_once() {
    let (daemon, listen) = rig(&[], "");
    let mut client = connect(listen);
    let end = client.read(&mut [0]).map_err(|error| error.kind());
    assert_eq!(end, Err(ErrorKind::ConnectionReset));
    assert_eq!(daemon.number("stat lb vserver v1", "refused"), 1);
}

#[test]
fn idle_connections_end_at_the_limit_and_one_way_traffic_is_not_idle() {
    let service = TcpService::start(|mut stream| {
        for _ in 0..5 {
            thread::sleep(Duration::from_millis(700));
            if stream.write_all(b".").is_err() {
                return;
            }
        }
        thread::sleep(Duration::from_secs(30));
    });
    let (_daemon, listen) = rig(&[&service], "-cltTimeout 2");
    let started = std::time::Instant::now();
    let mut client = connect(listen);
    let mut bytes = Vec::new();
    // However it ends, it ends: the limit closes it after the fifth byte, not before.
    let _ = client.read_to_end(&mut bytes);
    let took = started.elapsed();
    assert_eq!(bytes, b".....");
    assert!(took >= Duration::from_millis(5400), "closed after {took:?}");
    assert!(took < Duration::from_millis(8500), "closed after {took:?}");
}

#[test]
fn disabling_a_service_moves_new_clients_and_ends_old_ones() {
    let (one, two) = (TcpService::echo(), TcpService::echo());
    let (daemon, listen) = rig(&[&one, &two], "-lbMethod ROUNDROBIN");
    let mut old = connect(listen);
    eventually("the first service has it", || one.accepted() == 1);
    daemon.ok("disable service s1");
    let end = old.read(&mut [0]);
    assert!(
        matches!(end, Ok(0) | Err(_)),
        "flushed, not left hanging: {end:?}"
    );
    for _ in 0..4 {
        let mut client = connect(listen);
        client.write_all(b"x").expect("the daemon reads");
        client
            .read_exact(&mut [0])
            .expect("the second service answers");
    }
    assert_eq!((one.accepted(), two.accepted()), (1, 4));
    daemon.ok("enable service s1");
    for _ in 0..4 {
        let mut client = connect(listen);
        client.write_all(b"x").expect("the daemon reads");
        client.read_exact(&mut [0]).expect("a service answers");
    }
    assert!(one.accepted() > 1, "the first service takes clients again");
    assert_eq!(one.accepted() + two.accepted(), 9);
}

#[test]
fn thousands_of_short_connections_leave_no_descriptor_behind() {
    let service = TcpService::echo();
    let (daemon, listen) = rig(&[&service], "");
    let exchange = || {
        let mut client = connect(listen);
        client.write_all(b"hello").expect("the daemon reads");
        client.read_exact(&mut [0; 5]).expect("the service answers");
    };
    exchange();
    eventually("it is closed", || {
        daemon.number("stat service s1", "active") == 0
    });
    let before = daemon.descriptors();
    thread::scope(|scope| {
        for _ in 0..10 {
            scope.spawn(|| (0..200).for_each(|_| exchange()));
        }
    });
    eventually("all are closed", || {
        daemon.number("stat service s1", "active") == 0
    });
    assert_eq!(daemon.number("stat service s1", "hits"), 2001);
    eventually("descriptors are back", || {
        daemon.descriptors() <= before + 2
    });
}

#[test]
fn a_virtual_server_moves_to_another_address_and_its_connections_stay() {
    let service = TcpService::echo();
    let (daemon, listen) = rig(&[&service], "");
    let mut old = connect(listen);
    old.write_all(b"a").expect("the daemon reads");
    old.read_exact(&mut [0]).expect("the service answers");
    daemon.ok("set lb vserver v1 -IPAddress 127.0.0.2");
    assert!(
        TcpStream::connect(listen).is_err(),
        "the old address is free"
    );
    let moved = SocketAddr::new([127, 0, 0, 2].into(), listen.port());
    for stream in [&mut connect(moved), &mut old] {
        stream.write_all(b"b").expect("the daemon reads");
        stream.read_exact(&mut [0]).expect("the service answers");
    }
    let taken = std::net::TcpListener::bind(listen).expect("the old address is free");
    let ran = daemon.run("set lb vserver v1 -IPAddress 127.0.0.1");
    assert!(
        ran.err.starts_with("ERROR: Address already in use"),
        "{ran:?}"
    );
    drop(taken);
    old.write_all(b"c").expect("the daemon reads");
    old.read_exact(&mut [0]).expect("the service answers");
    assert!(
        daemon
            .ok("show ns runningConfig")
            .contains("add lb vserver v1 TCP 127.0.0.2 ")
    );
}
