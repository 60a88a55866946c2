//! Cases of the field about the choice of a service, against the real daemon.
//!
//! The numbers are those of our list of bug reports against other balancers and proxies.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use sluice_tests::daemon::Daemon;
use sluice_tests::process::raise_descriptor_limit;
use sluice_tests::rig::{Rig, eventually};
use sluice_tests::services::TcpService;

fn addresses(services: &[TcpService]) -> Vec<SocketAddr> {
    services.iter().map(TcpService::address).collect()
}

fn accepted(services: &[TcpService]) -> Vec<u64> {
    services.iter().map(TcpService::accepted).collect()
}

/// Connects a client and waits for the service's greeting, so that both know of each other.
fn greeted(rig: &Rig) -> TcpStream {
    let mut client = rig.connect();
    client.read_exact(&mut [0]).expect("the service greets");
    client
}

/// C28: however many workers accept, least connection counts the flows of all of them.
#[test]
fn c28_least_connection_is_one_count_for_all_workers() {
    const CLIENTS: usize = 400;
    raise_descriptor_limit(4 * CLIENTS as u64);
    for workers in ["1", "2", "8", "16"] {
        let services: Vec<_> = (0..4).map(|_| TcpService::hold(b".")).collect();
        let daemon = Daemon::start_args(&["--workers", workers]);
        let rig = Rig::with(
            daemon,
            "TCP",
            &addresses(&services),
            "-lbMethod LEASTCONNECTION",
        );
        let clients: Vec<_> = (0..CLIENTS).map(|_| greeted(&rig)).collect();
        assert_eq!(accepted(&services), [100; 4], "{workers} workers");
        assert_eq!(rig.bound("active"), [100; 4], "{workers} workers");
        drop((clients, services));
        rig.finish();
    }
}

/// C28: the same when all clients connect at the same time.
#[test]
fn c28_least_connection_is_exact_under_concurrency() {
    raise_descriptor_limit(2000);
    let services: Vec<_> = (0..4).map(|_| TcpService::hold(b".")).collect();
    let daemon = Daemon::start_args(&["--workers", "8"]);
    let rig = Rig::with(
        daemon,
        "TCP",
        &addresses(&services),
        "-lbMethod LEASTCONNECTION",
    );
    let clients: Vec<_> = thread::scope(|scope| {
        let open = || (0..25).map(|_| greeted(&rig)).collect::<Vec<_>>();
        let threads: Vec<_> = (0..16).map(|_| scope.spawn(open)).collect();
        let ended = threads.into_iter().map(|thread| thread.join());
        ended
            .flat_map(|clients| clients.expect("all are served"))
            .collect()
    });
    assert_eq!(accepted(&services), [100; 4]);
    drop((clients, services));
    rig.finish();
}

/// C32: a weight of 0 is refused with the range, typed or from a file, and never read as another.
#[test]
fn c32_weight_0_is_refused_not_changed() {
    const REFUSAL: &str = "ERROR: Integer not in range [weight, 0]";
    let rig = Rig::tcp(&["127.0.0.1:9".parse().expect("an address")], "");
    rig.daemon.ok("add service s2 127.0.0.1 TCP 10");
    let before = rig.daemon.ok("show ns runningConfig");
    for line in [
        "bind lb vserver v1 s2 -weight 0",
        "set lb vserver v1 -weight 0 s1",
    ] {
        let ran = rig.daemon.run(line);
        assert_eq!(ran.code, 1, "{line}: {ran:?}");
        assert!(ran.err.contains(REFUSAL), "{line}: {ran:?}");
        assert!(ran.err.contains("weight is 1-100"), "{line}: {ran:?}");
        assert_eq!(rig.daemon.ok("show ns runningConfig"), before, "{line}");
    }

    let file = "add service s1 127.0.0.1 TCP 9\nadd lb vserver v1 TCP\n\
                bind lb vserver v1 s1 -weight 0\n";
    let daemon = Daemon::start_with(file);
    let log = daemon.log().join("\n");
    assert!(log.contains(&format!("ns.conf:3: {REFUSAL}")), "{log}");
    let running = daemon.ok("show ns runningConfig");
    assert!(!running.contains("bind "), "{running}");
    daemon.ok("bind lb vserver v1 s1 -weight 100");
    let running = daemon.ok("show ns runningConfig");
    assert!(
        running.contains("bind lb vserver v1 s1 -weight 100\n"),
        "{running}"
    );
}

/// A service whose clients say how many bytes they want, and get them, again and again.
fn sender() -> TcpService {
    TcpService::start(|mut stream| {
        let mut wish = [0; 8];
        while stream.read_exact(&mut wish).is_ok() {
            let bytes = vec![7; u64::from_be_bytes(wish) as usize];
            if stream.write_all(&bytes).is_err() {
                return;
            }
        }
    })
}

/// Downloads so many bytes.
fn download(mut stream: &TcpStream, bytes: usize) {
    let wish = (bytes as u64).to_be_bytes();
    stream.write_all(&wish).expect("the service reads");
    stream
        .read_exact(&mut vec![0; bytes])
        .expect("the service sends them");
}

/// C34: bytes count while they flow, so one long transfer keeps new clients away from its service.
#[test]
fn c34_bytes_count_while_a_session_lasts() {
    let services = [sender(), sender()];
    let rig = Rig::tcp(&addresses(&services), "-lbMethod LEASTBANDWIDTH");
    let long = rig.connect();
    // A MiB a round beside 18 bytes of a short client.
    let mut seen = Vec::new();
    let mut short = 0;
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(3) {
        download(&long, 1 << 20);
        seen.push(rig.service("s1", "response_bytes"));
        download(&rig.connect(), 10);
        short += 1;
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(
        accepted(&services),
        [1, short],
        "all short clients avoid the long one"
    );
    let expected: Vec<_> = (1..=seen.len() as u64).map(|round| round << 20).collect();
    assert_eq!(seen, expected, "each MiB is counted when it is there");
    assert!(short >= 10, "{short} clients in 3 s");
    drop(long);
    rig.finish();
}

/// C35 (a): bytes sent and bytes received weigh the same. (c): without traffic the choice rotates.
#[test]
fn c35_both_directions_count_alike_and_ties_rotate() {
    const BYTES: usize = 1 << 20;
    let services = [sender(), sender()];
    let rig = Rig::tcp(&addresses(&services), "-lbMethod LEASTBANDWIDTH");
    for round in 1..=10 {
        drop((rig.connect(), rig.connect()));
        eventually("they are chosen", || rig.bound("hits") == [round; 2]);
    }
    eventually("they are gone", || rig.vserver("active") == 0);

    // One client asks for nothing in many words, the other one for many bytes in one word.
    let (up, down) = (rig.connect(), rig.connect());
    eventually("one each", || rig.bound("active") == [1, 1]);
    let words = BYTES / 8;
    (&up).write_all(&vec![0; BYTES]).expect("the service reads");
    eventually("all words are through", || {
        rig.service("s1", "request_bytes") + rig.service("s2", "request_bytes") == 8 * words as u64
    });
    download(&down, BYTES - 8);
    assert_eq!(rig.service("s1", "window_bytes"), BYTES as u64);
    assert_eq!(rig.service("s2", "window_bytes"), BYTES as u64);
    let before = rig.bound("hits");
    let clients: Vec<_> = (0..100).map(|_| rig.connect()).collect();
    eventually("all are chosen", || rig.vserver("active") == 102);
    assert_eq!(rig.bound("hits"), [before[0] + 50, before[1] + 50]);
    drop((up, down, clients));
    rig.finish();
}

/// C35 (b): a burst counts for 14 s to under 14.25 s, and then no more.
#[test]
fn c35_a_burst_is_forgotten_after_14_seconds() {
    let services = [sender(), sender()];
    let rig = Rig::tcp(&addresses(&services), "-lbMethod LEASTBANDWIDTH");
    let burst = rig.connect();
    let started = Instant::now();
    download(&burst, 10 << 20);
    let ended = Instant::now();
    loop {
        let asked = Instant::now();
        let before = rig.bound("hits")[0];
        download(&rig.connect(), 10);
        if rig.bound("hits")[0] > before {
            assert!(Instant::now() - started >= Duration::from_secs(14));
            break;
        }
        // One more choice may have been under way when the last byte was forgotten.
        assert!(asked - ended < Duration::from_millis(14_250 + 1000));
        thread::sleep(Duration::from_millis(100));
    }
    drop(burst);
    rig.finish();
}

/// C37: in light traffic least connection is exact after every single step.
#[test]
fn c37_counts_never_differ_by_more_than_one() {
    let services: Vec<_> = (0..4).map(|_| TcpService::hold(b".")).collect();
    let rig = Rig::tcp(&addresses(&services), "-lbMethod LEASTCONNECTION");
    let mut clients = Vec::new();
    for step in 1..=40 {
        clients.push(greeted(&rig));
        let active = rig.bound("active");
        assert_eq!(active.iter().sum::<u64>(), step);
        let (least, most) = (active.iter().min(), active.iter().max());
        assert!(
            most <= least.map(|least| least + 1).as_ref(),
            "step {step}: {active:?}"
        );
    }
    drop((clients, services));
    rig.finish();
}
