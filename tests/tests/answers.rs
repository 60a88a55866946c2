//! Answers and first words as an operator sees them, over the real daemon and by typed commands.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use sluice_tests::rig::{Rig, eventually};
use sluice_tests::services::{TcpService, UdpService};

fn addresses(services: &[TcpService]) -> Vec<SocketAddr> {
    services.iter().map(TcpService::address).collect()
}

/// A service that answers each client's first words with its name.
fn named(name: u8) -> TcpService {
    TcpService::start(move |mut stream| {
        if matches!(stream.read(&mut [0; 100]), Ok(1..)) {
            let _ = stream.write_all(&[name]);
        }
    })
}

/// A service that takes a client's first words and closes.
fn hasty() -> TcpService {
    TcpService::start(|mut stream| {
        let _ = stream.read(&mut [0; 100]);
    })
}

/// Says `words` and returns the answer, if one comes.
fn ask(mut client: TcpStream, words: &[u8]) -> Option<u8> {
    client.write_all(words).expect("the daemon takes them");
    let mut answer = [0];
    matches!(client.read(&mut answer), Ok(1)).then_some(answer[0])
}

#[test]
fn a_token_gives_a_client_its_service_whatever_its_address() {
    let services = [named(b'1'), named(b'2'), named(b'3')];
    let rig = Rig::tcp(
        &addresses(&services),
        "-lbMethod TOKEN -dataLength 4 -dataOffset 3",
    );
    let mut chosen = Vec::new();
    for number in 1000..1020 {
        let words = format!("id={number};rest");
        let from = |last| ask(rig.connect_from([127, 0, 1, last]), words.as_bytes());
        let first = from(1).expect("a service answers");
        assert_eq!([from(2), from(3)], [Some(first); 2], "{words}");
        chosen.push(first);
    }
    chosen.sort_unstable();
    chosen.dedup();
    assert!(chosen.len() > 1);

    // Without a token the fewest connections decide, after a second.
    let start = Instant::now();
    assert!(ask(rig.connect(), b"id=1").is_some());
    assert!(start.elapsed() >= Duration::from_secs(1));
    let shown = rig.daemon.ok("show lb vserver v1");
    assert!(
        shown.contains("\tData Length: 4\tData Offset: 3\n"),
        "{shown}"
    );
    rig.finish();
}

#[test]
fn a_token_of_the_first_datagram_gives_a_session_its_service() {
    let services = [b'1', b'2'].map(|name| UdpService::start(move |_, _| vec![vec![name]]));
    let addresses: Vec<_> = services.iter().map(UdpService::address).collect();
    let rig = Rig::udp(&addresses, "-lbMethod TOKEN -dataLength 4");
    let ask = |words: &str| {
        let client = rig.client();
        client.send(words.as_bytes()).expect("the daemon takes it");
        let mut answer = [0];
        client.recv(&mut answer).expect("a service answers");
        answer[0]
    };
    for number in 1000..1010 {
        let first = ask(&format!("{number}"));
        assert_eq!(ask(&format!("{number} again")), first, "{number}");
    }
}

#[test]
fn a_service_that_closes_at_once_does_not_attract_clients_and_is_shown() {
    for method in ["LEASTRESPONSETIME", "LEASTCONNECTION"] {
        let services = [hasty(), named(b'2'), named(b'3')];
        let options = format!("-lbMethod {method}");
        let rig = Rig::tcp(&addresses(&services), &options);
        let lost = (0..60)
            .filter(|_| ask(rig.connect(), b"?").is_none())
            .count() as u64;
        assert!(lost > 0 && lost <= 20, "{method}: {lost}");
        eventually("flows end", || rig.vserver("active") == 0);
        assert_eq!(rig.service("s1", "service_closes"), lost, "{method}");
        assert!(rig.service("s1", "response_time_us") >= 5_000_000);
        assert!(rig.service("s2", "response_time_us") < 5_000_000);
        assert_eq!(rig.service("s2", "service_closes"), 0);
        let shown = rig.daemon.ok("stat service s1");
        assert!(shown.contains("Average server TTFB (ms)"), "{shown}");
    }
}
