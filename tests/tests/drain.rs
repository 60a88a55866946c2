//! Services that go out of service, over real sockets against the real daemon.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use sluice_tests::daemon::free_address;
use sluice_tests::random::Random;
use sluice_tests::rig::{Rig, ask, be_patient, eventually};
use sluice_tests::services::{TcpService, UdpService};

const IDLE: usize = 100;
const BUSY: usize = 50;
const DATAGRAMS: usize = 50;

/// Returns the `State:` line of `show service NAME`.
fn state_line(rig: &Rig, name: &str) -> String {
    let shown = rig.daemon.ok(&format!("show service {name}"));
    let line = shown.lines().find(|line| line.starts_with("\tState:"));
    line.expect("each service has a state").to_owned()
}

fn is_out(rig: &Rig, name: &str) -> bool {
    state_line(rig, name) == "\tState: OUT OF SERVICE"
}

/// Sends a block; returns whether it comes back as it was.
fn echoes(mut client: &TcpStream, block: &[u8]) -> bool {
    let mut back = vec![0; block.len()];
    client.write_all(block).is_ok() && client.read_exact(&mut back).is_ok() && back == block
}

/// Sends blocks of random bytes until it is told to stop, while all of them come back; ends in order.
fn stay_busy(client: &TcpStream, seed: u64, stop: &AtomicBool) {
    let blocks = |seed| {
        let mut random = Random::new(seed);
        std::iter::repeat_with(move || {
            let mut block = vec![0; 1 + random.below(20_000) as usize];
            random.fill(&mut block);
            block
        })
    };
    thread::scope(|scope| {
        let sender = scope.spawn(move || {
            let mut stream = client;
            let mut sent = 0;
            for block in blocks(seed) {
                stream.write_all(&block).expect("the flow goes on");
                sent += block.len();
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                thread::sleep(Duration::from_millis(5));
            }
            client.shutdown(Shutdown::Write).expect("it is open");
            sent
        });
        let mut stream = client;
        let mut all = Vec::new();
        let mut expected = blocks(seed);
        let mut got = 0;
        let mut room = vec![0; 1 << 16];
        loop {
            let n = stream.read(&mut room).expect("the flow is not reset");
            if n == 0 {
                break;
            }
            got += n;
            all.extend_from_slice(&room[..n]);
            // Whole blocks are compared and forgotten.
            let mut done = 0;
            while all.len() - done >= 20_000 {
                let block = expected.next().expect("it has no end");
                assert_eq!(all[done..done + block.len()], block);
                done += block.len();
            }
            all.drain(..done);
        }
        assert_eq!(got, sender.join().expect("the sender's own words say why"));
        let rest: Vec<u8> = expected.flatten().take(all.len()).collect();
        assert_eq!(all, rest);
    });
}

/// Two hundred flows of every kind on services that go out of service: none is reset, none is begun, and no
/// byte is lost.
#[test]
fn two_hundred_flows_of_all_kinds_survive_a_drain() {
    let services = [TcpService::echo(), TcpService::echo()];
    let datagrams = [UdpService::echo(), UdpService::echo()];
    let rig = Rig::tcp(&services.each_ref().map(TcpService::address), "");
    let listen = free_address();
    let mut lines = format!("add lb vserver u1 UDP 127.0.0.1 {}\n", listen.port());
    for (service, number) in datagrams.iter().zip(1..) {
        let port = service.address().port();
        lines += &format!("add service d{number} 127.0.0.1 UDP {port}\n");
    }
    lines += "unbind lb vserver v1 s2\nbind lb vserver u1 d1\n";
    assert_eq!(rig.daemon.batch(&lines).code, 0);

    let idle: Vec<_> = (0..IDLE).map(|_| rig.connect()).collect();
    let busy: Vec<_> = (0..BUSY).map(|_| rig.connect()).collect();
    assert!(idle.iter().all(|client| echoes(client, b"before")));
    let talkers: Vec<_> = (0..DATAGRAMS).map(|_| udp_client(&rig, listen)).collect();
    for talker in &talkers {
        assert_eq!(ask(talker, b"before"), b"before");
    }
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let stop = &stop;
        let run = |(seed, client)| scope.spawn(move || stay_busy(client, seed, stop));
        let running: Vec<_> = (0..).zip(&busy).map(run).collect();
        eventually("all are connected", || rig.service("s1", "active") == 150);
        rig.daemon.ok("bind lb vserver v1 s2");
        rig.daemon.ok("bind lb vserver u1 d2");
        rig.daemon.ok("disable service s1 600 -graceFul YES");
        rig.daemon.ok("disable service d1 -graceFul YES");
        let line = state_line(&rig, "s1");
        let expected = "\tState: GOING OUT OF SERVICE (Graceful (number of active clients: 150), \
                        Out Of Service in ";
        assert!(line.starts_with(expected), "{line}");
        let newcomers: Vec<_> = (0..20).map(|_| rig.connect()).collect();
        assert!(newcomers.iter().all(|client| echoes(client, b"new")));
        let heard = datagrams[0].received();
        for round in 0..10_u8 {
            for talker in &talkers {
                assert_eq!(ask(talker, &[round]), [round]);
            }
        }
        assert_eq!(datagrams[0].received(), heard, "all have moved");
        eventually("UDP is out", || is_out(&rig, "d1"));
        assert!(idle.iter().all(|client| echoes(client, b"still here")));
        stop.store(true, Ordering::Relaxed);
        for one in running {
            one.join().expect("a busy flow ends in order");
        }
    });
    assert_eq!(services[0].accepted(), 150, "none has begun");
    drop(busy);
    eventually("the busy ones are gone", || {
        rig.service("s1", "active") == 100
    });
    let mut idle = idle;
    let last = idle.pop().expect("there are a hundred");
    drop(idle);
    eventually("one is left", || rig.service("s1", "active") == 1);
    assert!(echoes(&last, b"last") && !is_out(&rig, "s1"));
    drop(last);
    eventually("it is out with the last", || is_out(&rig, "s1"));
    assert_eq!(rig.service("s1", "client_resets"), 0);
    rig.daemon.ok("rm lb vserver u1");
    rig.finish();
}

fn udp_client(rig: &Rig, listen: std::net::SocketAddr) -> UdpSocket {
    let client = rig.client();
    client.connect(listen).expect("loopback is reachable");
    client
}

/// What is left at the deadline ends or goes on as the service and a virtual server that is DOWN by it say,
/// and not before.
#[test]
fn deadline_ends_what_is_left_as_down_state_flush_says() {
    let services = [(); 4].map(|()| TcpService::echo());
    let rig = Rig::tcp(&[], "");
    let mut clients = Vec::new();
    for (number, of_vserver, of_service) in [
        (1, "DISABLED", "DISABLED"),
        (2, "DISABLED", "ENABLED"),
        (3, "ENABLED", "DISABLED"),
        (4, "ENABLED", "ENABLED"),
    ] {
        let listen = free_address();
        let service = services[number - 1].address();
        let lines = format!(
            "add service w{number} {} TCP {} -downStateFlush {of_service}\n\
             add lb vserver x{number} TCP {} {} -downStateFlush {of_vserver}\n\
             bind lb vserver x{number} w{number}\n",
            service.ip(),
            service.port(),
            listen.ip(),
            listen.port()
        );
        assert_eq!(rig.daemon.batch(&lines).code, 0);
        let client = TcpStream::connect(listen).expect("the daemon listens");
        be_patient(&client);
        assert!(echoes(&client, b"before"));
        clients.push((number, client));
    }
    let started = Instant::now();
    for number in 1..=4 {
        rig.daemon.ok(&format!("disable service w{number} 2"));
    }
    for (number, mut client) in clients {
        if number == 1 {
            eventually("it is out", || is_out(&rig, "w1"));
            assert!(started.elapsed() >= Duration::from_secs(2));
            assert!(echoes(&client, b"after"), "it goes on");
        } else {
            let ended = client.read(&mut [0]);
            assert!(!matches!(ended, Ok(1..)), "{number}: {ended:?}");
            assert!(started.elapsed() >= Duration::from_secs(2), "{number}");
        }
    }
}

/// Clients that stick to a service are taken while it goes out of service, unless told otherwise; UDP sessions
/// of such clients stay as they are.
#[test]
fn sticky_clients_are_taken_as_trofs_persistence_says() {
    let services = [TcpService::hold(b"1"), TcpService::hold(b"2")];
    let addresses = services.each_ref().map(TcpService::address);
    let rig = Rig::tcp(&addresses, "-persistenceType SOURCEIP");
    let one = [127, 0, 0, 1];
    let (_open, first) = rig.greeted(one);
    assert_eq!(first, b'1');
    rig.daemon.ok("disable service s1 600 -graceFul YES");
    assert_eq!(rig.greeting_to(one), b'1');
    assert_eq!(rig.greeting_to([127, 0, 0, 2]), b'2');
    rig.daemon
        .ok("set lb vserver v1 -trofsPersistence DISABLED");
    assert_eq!(rig.greeting_to(one), b'2');
    assert!(!is_out(&rig, "s1"), "its flows go on");
    rig.daemon.ok("enable service s1");
    assert_eq!(state_line(&rig, "s1"), "\tState: UP");
}

#[test]
fn udp_sessions_of_sticky_clients_stay_where_they_are() {
    let ports = |datagram: &[u8], from: std::net::SocketAddr| {
        vec![[datagram, from.port().to_be_bytes().as_slice()].concat()]
    };
    let services = [UdpService::start(ports), UdpService::start(ports)];
    let addresses = services.each_ref().map(UdpService::address);
    let rig = Rig::udp(&addresses, "-persistenceType SOURCEIP");
    let client = rig.client();
    let before = ask(&client, b"x");
    rig.daemon.ok("disable service s1 600");
    assert_eq!(
        ask(&client, b"x"),
        before,
        "the same socket of the same service"
    );
    assert_eq!(services[1].received(), 0);
}

/// A whole server goes, and what is shown of it is there as JSON too.
#[test]
fn disabled_server_shows_its_services_on_their_way() {
    let services = [TcpService::hold(b"1"), TcpService::hold(b"2")];
    let rig = Rig::tcp(&services.each_ref().map(TcpService::address), "");
    let _open = [rig.greeted([127, 0, 0, 1]), rig.greeted([127, 0, 0, 2])];
    rig.daemon.ok("disable server 127.0.0.1 600 -graceFul YES");
    let shown = rig.daemon.json("show server 127.0.0.1");
    assert_eq!(shown[0]["state"], "DISABLED");
    for service in shown[0]["services"].as_array().expect("rows") {
        assert_eq!(service["state"], "GOING OUT OF SERVICE");
        let drain = &service["drain"];
        assert_eq!(
            (&drain["graceful"], &drain["clients"]),
            (&true.into(), &1.into())
        );
        assert!(drain["left_ms"].as_u64().expect("a number") <= 600_000);
        assert!(drain["last_client_ms"].is_null(), "nobody has left");
        let address = drain["oldest"]["address"]
            .as_str()
            .expect("somebody is there");
        assert!(address.starts_with("127.0.0."), "{address}");
        assert_eq!(drain["oldest"]["address"], drain["idlest"]["address"]);
    }
    let stat = rig.daemon.json("stat service s1");
    assert_eq!(stat[0]["state"], "TROFS");
    assert_eq!(rig.daemon.json("stat lb vserver v1")[0]["state"], "DOWN");
    let running = rig.daemon.ok("show ns runningConfig");
    assert!(
        running.contains("add server 127.0.0.1 127.0.0.1 -state DISABLED\n"),
        "{running}"
    );
    rig.daemon.ok("enable server 127.0.0.1");
    assert_eq!(state_line(&rig, "s1"), "\tState: UP");
}

/// C44: who returns from maintenance is chosen at once, also when it returns before its clients have left.
#[test]
fn c44_service_that_returns_while_it_goes_out_of_service_takes_clients() {
    let services = [
        TcpService::hold(b"1"),
        TcpService::hold(b"2"),
        TcpService::hold(b"3"),
    ];
    let addresses = services.each_ref().map(TcpService::address);
    let rig = Rig::tcp(&addresses, "-lbMethod LEASTCONNECTION");
    let host = |number: u8| [127, 0, 1, number];
    let long: Vec<_> = (1..=60).map(|number| rig.greeted(host(number))).collect();
    rig.daemon.ok("disable service s3 -graceFul YES");
    let more: Vec<_> = (61..=90).map(|number| rig.greeted(host(number))).collect();
    assert!(more.iter().all(|(_, by)| *by != b'3'));
    rig.daemon.ok("enable service s3");
    let back: Vec<_> = (91..=105).map(|number| rig.greeted(host(number))).collect();
    assert!(
        back.iter().all(|(_, by)| *by == b'3'),
        "it has 20, they have 35 each"
    );
    drop((long, more, back));
}
