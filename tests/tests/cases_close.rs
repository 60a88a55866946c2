//! Cases of the field about TCP close, reset and delivery, against the real daemon.
//!
//! The numbers are those of our list of bug reports against other balancers and proxies.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};
use sluice_tests::random::Random;
use sluice_tests::rig::{PATIENCE, Rig, be_patient, eventually};
use sluice_tests::services::{TcpService, reset_on_close};
use socket2::{Domain, SockRef, Socket, Type};

/// Connects from a socket whose receive buffer is small, so that bytes pile up in the daemon.
fn connect_slowly(listen: SocketAddr) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("there are sockets");
    socket
        .set_recv_buffer_size(256 << 10)
        .expect("any size is legal");
    socket.connect(&listen.into()).expect("the daemon listens");
    let stream = TcpStream::from(socket);
    be_patient(&stream);
    stream
}

fn read_all(mut stream: &TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("it ends in order");
    bytes
}

/// C01: a client that has finished sending still gets the answer, whole and without a reset.
#[test]
fn c01_half_close_of_the_client_is_not_a_full_close() {
    const LENGTH: usize = 1 << 20;
    let (heard, finished) = mpsc::channel();
    let (go, gone) = mpsc::channel::<()>();
    let gone = std::sync::Mutex::new(gone);
    let service = TcpService::start(move |mut stream| {
        heard.send(read_all(&stream)).expect("the test waits");
        gone.lock()
            .expect("no panic")
            .recv()
            .expect("the test goes on");
        stream.write_all(&[7; LENGTH]).expect("the client reads");
    });
    let rig = Rig::tcp(&[service.address()], "");
    let mut client = rig.connect();
    client.write_all(b"0123456789").expect("the daemon reads");
    client.shutdown(Shutdown::Write).expect("it is open");
    // The service hears of the end before it has said anything.
    assert_eq!(
        finished.recv_timeout(PATIENCE).expect("the end comes"),
        b"0123456789"
    );
    assert_eq!(rig.service("s1", "active"), 1);
    go.send(()).expect("the service waits");
    assert!(read_all(&client) == [7; LENGTH]);
    eventually("the pair is closed", || rig.service("s1", "active") == 0);
    drop(client);
    rig.finish();
}

/// C02: a half-closed pair whose ends stay silent is ended by an idle limit, both sockets of it.
///
/// The limit is the shorter of `cltTimeout` and 60 s; that the 60 s hold is a test of the relay.
#[test]
fn c02_half_closed_pairs_do_not_pile_up() {
    let service = TcpService::hold(b"");
    let rig = Rig::tcp(&[service.address()], "-cltTimeout 2");
    let clients: Vec<_> = (0..20).map(|_| rig.connect()).collect();
    for client in &clients {
        client.shutdown(Shutdown::Write).expect("it is open");
    }
    eventually("all pairs stand half closed", || {
        rig.service("s1", "active") == 20
    });
    eventually("the limit ends them", || rig.service("s1", "active") == 0);
    assert_eq!(rig.service("s1", "idle_closes"), 20);
    // Neither the clients nor the service have closed anything themselves.
    rig.finish();
    drop((clients, service));
}

/// C03: the end of a client's input lets the service go on; a reset tells it at once.
#[test]
fn c03_a_fin_is_not_an_abort_and_a_reset_is() {
    let (heard, resets) = mpsc::channel();
    let service = TcpService::start(move |mut stream| {
        let mut request = Vec::new();
        match stream.read_to_end(&mut request) {
            Ok(_) => {
                thread::sleep(Duration::from_secs(1));
                stream.write_all(&[7; 100]).expect("the client waits");
            }
            Err(error) => heard
                .send((error.kind(), Instant::now()))
                .expect("the test waits"),
        }
    });
    let rig = Rig::tcp(&[service.address()], "");
    let (mut a, mut b) = (rig.connect(), rig.connect());
    a.write_all(b"compute").expect("the daemon reads");
    b.write_all(b"compute").expect("the daemon reads");
    eventually("both requests are through", || {
        rig.service("s1", "request_bytes") == 14
    });
    a.shutdown(Shutdown::Write).expect("it is open");
    reset_on_close(&b);
    let reset_at = Instant::now();
    drop(b);
    let (kind, heard_at) = resets.recv_timeout(PATIENCE).expect("the service hears");
    assert_eq!(kind, ErrorKind::ConnectionReset);
    assert!(heard_at - reset_at < Duration::from_secs(1));
    assert_eq!(read_all(&a), [7; 100]);
    drop(a);
    assert_eq!(rig.service("s1", "client_resets"), 1);
    rig.finish();
}

/// C04: what a client writes just before it closes arrives, however slowly the service reads.
#[test]
fn c04_the_tail_of_a_client_that_closes_at_once_arrives() {
    const SIZES: [usize; 5] = [1, 4095, 16_384, 65_537, 4 << 20];
    let (sender, arrived) = mpsc::channel();
    let service = TcpService::start(move |stream| {
        SockRef::from(&stream)
            .set_recv_buffer_size(128 << 10)
            .expect("any size is legal");
        thread::sleep(Duration::from_millis(300));
        let bytes = read_all(&stream);
        let hash: [u8; 32] = Sha256::digest(&bytes).into();
        sender.send((bytes.len(), hash)).expect("the test waits");
    });
    let rig = Rig::tcp(&[service.address()], "");
    let listen = rig.listen;
    let send = |worker: u64| {
        let mut sent = Vec::new();
        for (round, size) in SIZES.repeat(2).into_iter().enumerate() {
            let mut bytes = vec![0; size];
            Random::new(worker << 32 | round as u64).fill(&mut bytes);
            let mut client = TcpStream::connect(listen).expect("the daemon listens");
            client.write_all(&bytes).expect("the daemon reads");
            drop(client);
            sent.push((size, <[u8; 32]>::from(Sha256::digest(&bytes))));
        }
        sent
    };
    let mut sent: Vec<_> = thread::scope(|scope| {
        let workers: Vec<_> = (0..10)
            .map(|worker| scope.spawn(move || send(worker)))
            .collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().expect("the daemon reads"))
            .collect()
    });
    let next = || {
        arrived
            .recv_timeout(PATIENCE)
            .expect("each one arrives whole")
    };
    let mut received: Vec<_> = sent.iter().map(|_| next()).collect();
    sent.sort_unstable();
    received.sort_unstable();
    assert!(sent == received, "lengths and hashes differ");
    rig.finish();
}

/// C05: a slow reader gets everything after both sides have finished, and pauses are not idleness
/// as long as it reads within the limit.
#[test]
fn c05_a_slow_reader_is_not_cut_when_both_sides_have_finished() {
    const LENGTH: usize = 16 << 20;
    let service = TcpService::start(|mut stream| {
        // Fails when the daemon cuts the client, and the client says so then.
        let _ = stream.write_all(&vec![7; LENGTH]);
    });
    let rig = Rig::tcp(&[service.address()], "-cltTimeout 3");
    let mut client = connect_slowly(rig.listen);
    client.shutdown(Shutdown::Write).expect("it is open");
    let mut buffer = vec![0; 64 << 10];
    let mut received = 0;
    for round in 0.. {
        match client.read(&mut buffer).expect("no reset") {
            0 => break,
            n => received += n,
        }
        let pause = if round % 100 == 50 { 1500 } else { 10 };
        thread::sleep(Duration::from_millis(pause));
    }
    assert_eq!(received, LENGTH);
    drop(client);
    rig.finish();
}

/// C06: a reset of the service is a reset at the client, after the bytes before it.
#[test]
fn c06_a_reset_of_the_service_is_not_a_clean_end() {
    let service = TcpService::start(|mut stream| {
        stream.write_all(&[7; 1000]).expect("the client reads");
        stream.read_exact(&mut [0]).expect("the client confirms");
        reset_on_close(&stream);
    });
    let rig = Rig::tcp(&[service.address()], "");
    for _ in 0..50 {
        let mut client = rig.connect();
        let mut answer = [0; 1000];
        client
            .read_exact(&mut answer)
            .expect("the bytes come first");
        assert_eq!(answer, [7; 1000]);
        client.write_all(b"!").expect("the service reads");
        let end = client.read(&mut answer).map_err(|error| error.kind());
        assert_eq!(end, Err(ErrorKind::ConnectionReset));
    }
    eventually("all resets are counted", || {
        rig.service("s1", "service_resets") == 50
    });
    rig.finish();
}

/// C07: a service that answers and then resets: the client gets every byte the daemon has read.
#[test]
fn c07_a_reset_does_not_destroy_what_came_before_it() {
    const LENGTH: usize = 200 << 10;
    const RUNS: usize = 100;
    let service = TcpService::start(|mut stream| {
        let mut one = [0];
        stream.read_exact(&mut one).expect("the client asks");
        // The rest of the question stays unread, so that closing resets.
        let _ = stream.write_all(&[7; LENGTH]);
    });
    let rig = Rig::tcp(&[service.address()], "");
    let listen = rig.listen;
    let run = move || {
        let mut client = connect_slowly(listen);
        client.write_all(&[1; 1000]).expect("the daemon reads");
        let (mut buffer, mut received) = (vec![0; 16 << 10], 0);
        loop {
            thread::sleep(Duration::from_millis(5));
            match client.read(&mut buffer) {
                Ok(0) => return (received, Ok(())),
                Ok(n) => {
                    assert!(buffer[..n].iter().all(|byte| *byte == 7));
                    received += n;
                }
                Err(error) => return (received, Err(error.kind())),
            }
        }
    };
    let ended: Vec<_> = thread::scope(|scope| {
        let workers: Vec<_> = (0..10)
            .map(|_| scope.spawn(move || (0..RUNS / 10).map(|_| run()).collect::<Vec<_>>()))
            .collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().expect("only bytes of the answer come"))
            .collect()
    });
    for (received, end) in &ended {
        assert!(*received > 0, "an answer was destroyed: {ended:?}");
        assert_eq!(
            *end,
            Err(ErrorKind::ConnectionReset),
            "after {received} bytes"
        );
    }
    let received: usize = ended.iter().map(|(received, _)| received).sum();
    assert_eq!(rig.service("s1", "response_bytes"), received as u64);
    eventually("all resets are counted", || {
        rig.service("s1", "service_resets") == RUNS as u64
    });
    rig.finish();
}

/// C08: thousands of connections that the client ends leave no slot, descriptor or memory behind.
#[test]
fn c08_a_clean_close_leaks_no_slot() {
    const CONNECTIONS: u64 = 5000;
    let service = TcpService::start(|mut stream| {
        // Closes when it has seen the end, not before.
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let rig = Rig::tcp(&[service.address()], "");
    let cycle = |count: u64| {
        thread::scope(|scope| {
            for _ in 0..50 {
                scope.spawn(|| {
                    for _ in 0..count / 50 {
                        let mut client = rig.connect();
                        client.write_all(b"hello").expect("the daemon reads");
                    }
                });
            }
        });
        eventually("all are closed", || rig.vserver("active") == 0);
    };
    // Tables and buffers grow to the parallelism once; fewer connections do not bring them there.
    cycle(CONNECTIONS);
    let before = sluice_tests::process::resident(rig.daemon.pid());
    cycle(CONNECTIONS);
    let after = sluice_tests::process::resident(rig.daemon.pid());
    assert_eq!(rig.vserver("hits"), 2 * CONNECTIONS);
    assert_eq!(rig.vserver("refused"), 0);
    assert_eq!(rig.service("s1", "request_bytes"), 5 * 2 * CONNECTIONS);
    // A leak of 1 KiB a connection would be 5 MiB.
    assert!(
        after < before + (2 << 20),
        "{before} bytes before, {after} after"
    );
    rig.finish();
}

/// C10: a client that resets while its service is still being connected is given up: its place is
/// free at once, and the service never sees it.
#[test]
fn c10_a_client_that_has_reset_is_not_carried_to_a_service() {
    // A queue for one connection, which is taken: a further connect waits until somebody accepts.
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("there are sockets");
    let any: SocketAddr = "127.0.0.1:0".parse().expect("an address");
    socket.bind(&any.into()).expect("loopback has a free port");
    socket.listen(0).expect("it is bound");
    let listener = std::net::TcpListener::from(socket);
    let address = listener.local_addr().expect("it is bound");
    let filler = TcpStream::connect(address).expect("there is room for one");

    let rig = Rig::tcp(&[address], "");
    let client = rig.connect();
    eventually("the client's service is chosen", || {
        rig.service("s1", "active") == 1
    });
    reset_on_close(&client);
    drop(client);
    eventually("the place is free again", || {
        rig.service("s1", "active") == 0
    });
    assert_eq!(rig.service("s1", "client_resets"), 1);
    assert_eq!(rig.service("s1", "connect_failures"), 0);

    // Long enough for the kernel to repeat a connect that was not given up: it does after 1 s.
    let (first, from) = listener.accept().expect("the filler waits");
    assert_eq!(Some(from), filler.local_addr().ok());
    thread::sleep(Duration::from_millis(1500));
    listener.set_nonblocking(true).expect("it is open");
    let second = listener.accept().map(drop).map_err(|error| error.kind());
    assert_eq!(second, Err(ErrorKind::WouldBlock));
    drop((first, filler));
    rig.finish();
}
