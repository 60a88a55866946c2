//! Cases of the field about UDP, against the real daemon.
//!
//! The numbers are those of our list of bug reports against other balancers and proxies.

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use sluice_tests::daemon::{Daemon, free_address, limited_command, new_folder};
use sluice_tests::process::raise_descriptor_limit;
use sluice_tests::rig::{PATIENCE, Rig, ask, eventually, receive};
use sluice_tests::services::{TcpService, UdpService};

/// A service that answers with its number and the port it was asked from: what a session is.
fn identity(number: usize) -> UdpService {
    UdpService::start(move |_, from| vec![format!("{number} {}", from.port()).into_bytes()])
}

fn addresses(services: &[UdpService]) -> Vec<SocketAddr> {
    services.iter().map(UdpService::address).collect()
}

fn patient(socket: UdpSocket) -> UdpSocket {
    socket
        .set_read_timeout(Some(PATIENCE))
        .expect("the time is not zero");
    socket
}

/// Makes a client whose address no other one has had.
fn new_source(number: u64) -> UdpSocket {
    let [.., high, low] = (number + 1).to_be_bytes();
    UdpSocket::bind((IpAddr::from([127, 9, high, low]), 0)).expect("all of 127.0.0.0/8 is ours")
}

/// Asserts that the log names no warning and no error.
fn assert_quiet(rig: &Rig) {
    let log = rig.daemon.log().join("\n");
    assert!(!log.contains("WARN") && !log.contains("ERROR"), "{log}");
}

/// C15: with the shortest idle limit the first datagram of every session gets through, also while
/// others run out.
#[test]
fn c15_no_first_datagram_is_lost_to_an_expiring_session() {
    const CLIENTS: u64 = 5000;
    raise_descriptor_limit(2 * CLIENTS + 1000);
    let service = UdpService::start(|_, _| Vec::new());
    let rig = Rig::udp(&[service.address()], "-cltTimeout 1");
    // Each client is one socket and one datagram; 100 at a time fit into any buffer.
    for sent in 1..=CLIENTS {
        let client = new_source(sent);
        client
            .send_to(b"x", rig.listen)
            .expect("loopback is reachable");
        if sent % 100 == 0 {
            eventually("all arrive", || service.received() == sent);
        }
        if sent % 1000 == 0 {
            // In between the sessions of the last thousand run out.
            thread::sleep(Duration::from_millis(300));
        }
    }
    assert_eq!(service.received(), CLIENTS);
    assert_eq!(rig.vserver("packets_received"), CLIENTS);
    assert_eq!(rig.vserver("hits"), CLIENTS);
    rig.finish();
}

/// C16: a wildcard virtual server answers from the address dialled, for sessions side by side and
/// after they have run out.
#[test]
fn c16_a_reply_comes_from_the_address_dialled() {
    let service = identity(1);
    let daemon = Daemon::start();
    let port = free_address().port();
    daemon.ok(&format!("add lb vserver v1 UDP * {port} -cltTimeout 1"));
    let at = service.address();
    daemon.ok(&format!("add service s1 {} UDP {}", at.ip(), at.port()));
    daemon.ok("bind lb vserver v1 s1");
    let socket = patient(UdpSocket::bind("127.0.0.1:0").expect("loopback has a free port"));
    let exchange = |local: &str| {
        let dialled = SocketAddr::new(local.parse().expect("an address"), port);
        socket
            .send_to(b"x", dialled)
            .expect("loopback is reachable");
        let mut buffer = [0; 100];
        let (n, from) = socket.recv_from(&mut buffer).expect("an answer comes");
        assert_eq!(from, dialled);
        buffer[..n].to_vec()
    };
    let first = exchange("127.0.0.77");
    let second = exchange("127.0.0.78");
    assert_ne!(first, second, "two addresses dialled are two sessions");
    assert_eq!(exchange("127.0.0.77"), first);
    assert_eq!(exchange("127.0.0.78"), second);
    assert_eq!(daemon.number("stat lb vserver v1", "active"), 2);
    eventually("both run out", || {
        daemon.number("stat lb vserver v1", "active") == 0
    });
    exchange("127.0.0.78");
    exchange("127.0.0.77");
    assert_eq!(daemon.number("stat lb vserver v1", "hits"), 4);
}

/// C17: on `::` the reply comes from the IPv6 address dialled. `::` is for IPv6 alone here, and
/// `*` on the same port for IPv4.
#[test]
fn c17_both_wildcards_answer_from_the_address_dialled() {
    let service = UdpService::echo();
    let daemon = Daemon::start();
    let port = free_address().port();
    let at = service.address();
    daemon.ok(&format!("add service s1 {} UDP {}", at.ip(), at.port()));
    for (name, wildcard) in [("v4", "*"), ("v6", "::")] {
        daemon.ok(&format!("add lb vserver {name} UDP {wildcard} {port}"));
        daemon.ok(&format!("bind lb vserver {name} s1"));
    }
    let exchange = |dialled: IpAddr| {
        let any = if dialled.is_ipv6() {
            "[::]:0"
        } else {
            "0.0.0.0:0"
        };
        let socket = patient(UdpSocket::bind(any).expect("there is a free port"));
        // A connected socket takes datagrams of this address alone.
        socket
            .connect((dialled, port))
            .expect("the address is ours");
        assert_eq!(ask(&socket, b"x"), b"x", "{dialled}");
    };
    let six = global_ipv6();
    for address in &six {
        exchange(*address);
    }
    for address in ["127.0.0.77", "127.0.0.1"] {
        exchange(address.parse().expect("an address"));
    }
    let hits = |name: &str| daemon.number(&format!("stat lb vserver {name}"), "hits");
    assert_eq!((hits("v6"), hits("v4")), (six.len() as u64, 2));
}

/// Returns `::1` and all global IPv6 addresses of this host.
fn global_ipv6() -> Vec<IpAddr> {
    let list = std::fs::read_to_string("/proc/net/if_inet6").unwrap_or_default();
    let mut found = vec!["::1".parse().expect("an address")];
    for line in list.lines() {
        let fields: Vec<_> = line.split_whitespace().collect();
        let global = fields[3] == "00";
        if let (true, Ok(number)) = (global, u128::from_str_radix(fields[0], 16)) {
            found.push(IpAddr::V6(number.into()));
        }
    }
    found
}

/// C18: empty datagrams reach the service, the first one of a session too, and come back.
#[test]
fn c18_empty_datagrams_are_datagrams() {
    let (sender, lengths) = mpsc::channel();
    let service = UdpService::start(move |datagram, _| {
        sender.send(datagram.len()).expect("the test waits");
        vec![datagram.to_vec()]
    });
    let rig = Rig::udp(&[service.address()], "-cltTimeout 1");
    let client = rig.client();
    for datagram in [&b""[..], b"x", b""] {
        assert_eq!(ask(&client, datagram), datagram);
    }
    let seen: Vec<_> = lengths.try_iter().collect();
    assert_eq!(seen, [0, 1, 0]);
    assert_eq!(rig.vserver("packets_received"), 3);
    assert_eq!(rig.vserver("packets_sent"), 3);
    assert_eq!(rig.vserver("request_bytes"), 1);
    rig.finish();
}

/// C19: an empty datagram of the service is an answer, not the end of the session.
#[test]
fn c19_an_empty_answer_does_not_end_the_session() {
    let service = UdpService::start(|_, _| vec![Vec::new(), b"0123456789".to_vec()]);
    let rig = Rig::udp(&[service.address()], "-cltTimeout 2");
    let client = rig.client();
    for _ in 0..100 {
        assert_eq!(ask(&client, b"?"), b"");
        assert_eq!(receive(&client), b"0123456789");
    }
    assert_eq!(rig.vserver("active"), 1);
    assert_eq!(rig.vserver("hits"), 1);
    assert_eq!(rig.vserver("packets_sent"), 200);
    rig.finish();
}

/// C21: a flood from ever new sources stops at a limit; sessions that exist, TCP and the command
/// line go on, and new clients are served one idle limit after the flood.
#[test]
fn c21_a_flood_of_sources_has_a_limit_and_an_end() {
    const DESCRIPTORS: u32 = 1024;
    let folder = Arc::new(new_folder());
    let mut command = limited_command(folder.path(), DESCRIPTORS);
    let daemon = Daemon::launch(&mut command, folder);
    let (udp_service, tcp_service) = (identity(1), TcpService::echo());
    let rig = Rig::with(daemon, "UDP", &[udp_service.address()], "-cltTimeout 2");
    let tcp = free_address();
    let at = tcp_service.address();
    rig.daemon.ok(&format!(
        "add lb vserver t1 TCP {} {}",
        tcp.ip(),
        tcp.port()
    ));
    rig.daemon
        .ok(&format!("add service st {} TCP {}", at.ip(), at.port()));
    rig.daemon.ok("bind lb vserver t1 st");
    let exchange_tcp = || {
        use std::io::{Read, Write};
        let mut stream = std::net::TcpStream::connect(tcp).expect("the daemon listens");
        sluice_tests::rig::be_patient(&stream);
        stream.write_all(b"x").expect("the daemon reads");
        stream.read_exact(&mut [0]).expect("the service answers");
    };

    let client = rig.client();
    let session = ask(&client, b"x");
    let started = Instant::now();
    for round in 0..20 {
        for number in 0..250 {
            // 5,000 sources in all.
            let source = new_source(round * 250 + number);
            source
                .send_to(b"flood", rig.listen)
                .expect("loopback is reachable");
        }
        assert_eq!(ask(&client, b"x"), session, "round {round}");
        exchange_tcp();
        let active = rig.vserver("active");
        assert!(active <= u64::from(DESCRIPTORS / 2), "{active} sessions");
    }
    // Nobody gets in before a session has run out; with one more idle limit, everybody.
    let late = patient(UdpSocket::bind("127.0.0.1:0").expect("loopback has a free port"));
    late.connect(rig.listen).expect("loopback is reachable");
    eventually("sessions run out", || {
        assert_eq!(ask(&client, b"x"), session);
        rig.vserver("active") < 100
    });
    assert_ne!(ask(&late, b"x"), session);
    let took = started.elapsed();
    assert_eq!(tcp_service.accepted(), 20);
    let log = rig.daemon.log();
    let said: Vec<_> = log
        .iter()
        .filter(|line| line.contains("limit on UDP sessions is reached"))
        .collect();
    // The log says that datagrams were dropped and how many, once a second at most.
    assert!(
        !said.is_empty() && said.len() as u64 <= took.as_secs() + 1,
        "{said:?}"
    );
    // Half of the descriptors but for the few that are kept for the control socket.
    assert!(said[0].contains("limit=504"), "{said:?}");
    drop((client, late));
    rig.daemon.ok("rm lb vserver t1");
    rig.finish();
}

/// C24: sessions that end as intended are not worth a warning.
#[test]
fn c24_an_ordinary_end_is_not_logged_as_an_error() {
    const SESSIONS: u64 = 500;
    raise_descriptor_limit(4 * SESSIONS);
    let service = UdpService::echo();
    let rig = Rig::udp(&[service.address()], "-cltTimeout 1");
    for number in 0..SESSIONS {
        let client = patient(new_source(number));
        client.connect(rig.listen).expect("loopback is reachable");
        assert_eq!(ask(&client, b"x"), b"x");
    }
    eventually("all run out", || rig.vserver("active") == 0);
    assert_eq!(rig.vserver("hits"), SESSIONS);
    assert_quiet(&rig);
    rig.finish();
}

/// C25: while everything around them changes, flows keep their service and port and lose nothing.
#[test]
fn c25_flows_survive_changes_that_are_not_about_them() {
    const FLOWS: usize = 200;
    raise_descriptor_limit(4 * FLOWS as u64);
    let services = [identity(1), identity(2), identity(3)];
    let daemon = Daemon::start_args(&["--workers", "8"]);
    let rig = Rig::with(
        daemon,
        "UDP",
        &addresses(&services),
        "-lbMethod ROUNDROBIN -cltTimeout 20",
    );
    let flows: Vec<_> = (0..FLOWS).map(|_| rig.client()).collect();
    let sessions: Vec<_> = flows.iter().map(|flow| ask(flow, b"x")).collect();
    let other = free_address();
    let changes = format!(
        "add lb vserver other UDP {ip} {port} -lbMethod LEASTPACKETS\n\
         add service more 127.0.0.1 UDP 9\n\
         bind lb vserver other more\n\
         bind lb vserver v1 more -weight 7\n\
         set lb vserver v1 -lbMethod LEASTCONNECTION -comment changed\n\
         set lb vserver v1 -weight 9 s2\n\
         unbind lb vserver v1 more\n\
         set lb vserver v1 -lbMethod ROUNDROBIN -cltTimeout 30\n\
         set lb vserver v1 -weight 1 s2\n\
         rm lb vserver other\n\
         rm service more\n",
        ip = other.ip(),
        port = other.port()
    );
    let done = AtomicBool::new(false);
    let rounds = thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..30 {
                let ran = rig.daemon.batch(&changes);
                assert_eq!(ran.code, 0, "{ran:?}");
            }
            done.store(true, Ordering::Relaxed);
        });
        let mut rounds = 0_u64;
        while !done.load(Ordering::Relaxed) {
            for (flow, session) in flows.iter().zip(&sessions) {
                assert_eq!(ask(flow, b"x"), *session, "round {rounds}");
            }
            rounds += 1;
        }
        rounds
    });
    let datagrams = (rounds + 1) * FLOWS as u64;
    assert!(rounds > 3, "{rounds} rounds beside 30 x 11 changes");
    assert_eq!(rig.vserver("hits"), FLOWS as u64);
    assert_eq!(rig.vserver("packets_received"), datagrams);
    assert_eq!(
        services.iter().map(UdpService::received).sum::<u64>(),
        datagrams
    );
    rig.daemon.ok("disable lb vserver v1");
    rig.finish();
}

/// C26: a removed virtual server is gone at once, and what is added at its address is a new one.
#[test]
fn c26_a_removed_virtual_server_does_not_answer() {
    let services = [identity(1), identity(2)];
    let rig = Rig::udp(&addresses(&services[..1]), "");
    let clients: Vec<_> = (0..10).map(|_| rig.client()).collect();
    for client in &clients {
        assert!(ask(client, b"x").starts_with(b"1 "));
    }
    rig.daemon.ok("rm lb vserver v1");
    let removed = Instant::now();
    UdpSocket::bind(rig.listen)
        .map(drop)
        .expect("the address is free at once");
    for client in &clients {
        let _ = client.send(b"y");
        let end = client.recv(&mut [0]).map_err(|error| error.kind());
        assert_eq!(end, Err(ErrorKind::ConnectionRefused));
    }
    // Each waited for its answer, and none took long.
    assert!(removed.elapsed() < Duration::from_secs(2));
    let received = services[0].received();

    let (ip, port, at) = (rig.listen.ip(), rig.listen.port(), services[1].address());
    let lines = format!(
        "add lb vserver v1 UDP {ip} {port}\n\
         add service s2 {} UDP {}\n\
         bind lb vserver v1 s2\n",
        at.ip(),
        at.port()
    );
    let ran = rig.daemon.batch(&lines);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(rig.vserver("active"), 0);
    for client in &clients {
        assert!(
            ask(client, b"z").starts_with(b"2 "),
            "an old session is back"
        );
    }
    assert_eq!(rig.vserver("hits"), 10);
    assert_eq!(services[0].received(), received);
    rig.daemon.ok("disable lb vserver v1");
    rig.finish();
}

/// C27: however many workers share the address, nothing is lost and no flow is reordered.
#[test]
fn c27_workers_do_not_lose_or_reorder() {
    const CLIENTS: usize = 64;
    const EACH: u32 = 200;
    /// Datagrams under way for each client: with all clients fewer than the smallest buffer holds.
    const WINDOW: u32 = 2;
    for workers in ["1", "4", "8"] {
        let orders = Arc::new(Mutex::new(std::collections::HashMap::new()));
        let service = || {
            let orders = Arc::clone(&orders);
            UdpService::start(move |datagram, from| {
                let number = u32::from_be_bytes(datagram[..4].try_into().expect("4 bytes"));
                let mut orders = orders.lock().expect("no panic");
                let last = orders.insert(from, number);
                assert_eq!(last.map_or(0, |last| last + 1), number, "{from}: reordered");
                vec![datagram.to_vec()]
            })
        };
        let services = [service(), service(), service()];
        let daemon = Daemon::start_args(&["--workers", workers]);
        let rig = Rig::with(daemon, "UDP", &addresses(&services), "-cltTimeout 1");
        let run = || {
            let clients: Vec<_> = (0..CLIENTS / 2).map(|_| rig.client()).collect();
            let mut datagram = [0; 200];
            for number in 0..EACH + WINDOW {
                for client in &clients {
                    if number >= WINDOW {
                        let echo = receive(client);
                        assert_eq!(echo[..4], (number - WINDOW).to_be_bytes());
                    }
                    if number < EACH {
                        datagram[..4].copy_from_slice(&number.to_be_bytes());
                        client.send(&datagram).expect("the daemon listens");
                    }
                }
            }
        };
        thread::scope(|scope| {
            for thread in [scope.spawn(run), scope.spawn(run)] {
                thread.join().expect("each one gets its echoes in order");
            }
        });
        let count = CLIENTS as u64 * u64::from(EACH);
        assert_eq!(rig.vserver("packets_received"), count, "{workers} workers");
        assert_eq!(rig.vserver("packets_sent"), count, "{workers} workers");
        assert_eq!(rig.vserver("hits"), CLIENTS as u64, "{workers} workers");
        rig.finish();
    }
}
