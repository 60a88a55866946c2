//! UDP through a running data plane: real workers, real services, loopback.

mod udp_rig;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use sluice_balance::{Change, Method, ServiceId, TokenRange};

use udp_rig::{Answer, Rig, Service, bind, client_of, exchange, receive, wait_until};

#[test]
fn client_keeps_its_service_and_the_source_port_it_is_seen_with() {
    let services = [1, 2, 3].map(|id| Service::start("127.0.0.1:0", Answer::Identity(id)));
    let mut rig = Rig::start(2);
    let address = rig.serve("127.0.0.1", &services);
    let clients: Vec<_> = (0..6).map(|_| client_of(address)).collect();
    let first: Vec<_> = clients
        .iter()
        .map(|client| exchange(client, b"a"))
        .collect();
    for _ in 0..20 {
        let again: Vec<_> = clients
            .iter()
            .map(|client| exchange(client, b"a"))
            .collect();
        assert_eq!(again, first);
    }
    let mut seen: Vec<_> = first.iter().map(|answer| answer[0]).collect();
    seen.sort_unstable();
    assert_eq!(seen, [1, 1, 2, 2, 3, 3]);
    assert_eq!(rig.sessions(), 6);
    rig.stop();
}

#[test]
fn empty_datagrams_pass_both_ways_and_end_nothing() {
    let service = Service::start("127.0.0.1:0", Answer::Echo);
    let mut rig = Rig::start(2);
    let address = rig.serve("127.0.0.1", &[&service]);
    let client = client_of(address);
    for payload in [&b""[..], b"x", b""] {
        assert_eq!(exchange(&client, payload), payload);
    }
    let status = rig.plane.snapshot().services[0].clone();
    assert_eq!((status.packets_in, status.packets_out), (3, 3));
    assert_eq!((status.bytes_in, status.bytes_out), (1, 1));
    assert_eq!((status.hits, rig.sessions()), (1, 1));
    rig.stop();
}

#[test]
fn service_may_answer_with_an_empty_datagram_first() {
    let service = Service::start("127.0.0.1:0", Answer::EmptyThenEcho);
    let mut rig = Rig::start(1);
    let client = client_of(rig.serve("127.0.0.1", &[&service]));
    for _ in 0..100 {
        assert_eq!(exchange(&client, b"0123456789"), b"");
        assert_eq!(receive(&client).0, b"0123456789");
    }
    assert_eq!(rig.sessions(), 1);
    rig.stop();
}

#[test]
fn largest_datagram_passes_whole_over_both_families() {
    let mut rig = Rig::start(2);
    for (ip, services) in [
        ("127.0.0.1", "127.0.0.1:0"),
        ("::1", "[::1]:0"),
        ("::1", "127.0.0.1:0"),
    ] {
        let service = Service::start(services, Answer::Echo);
        let client = client_of(rig.serve(ip, &[&service]));
        let payload: Vec<u8> = (0..65_507_u32).map(|i| (i * 7 % 251) as u8).collect();
        assert!(exchange(&client, &payload) == payload, "{ip} to {services}");
    }
    rig.stop();
}

#[test]
fn reply_leaves_from_the_address_that_was_dialled() {
    let service = Service::start("127.0.0.1:0", Answer::Identity(1));
    let mut rig = Rig::start(2);
    let port = rig.serve("0.0.0.0", &[&service]).port();
    // A connected socket takes replies from nowhere else.
    let answer = exchange(&client_of(([127, 0, 0, 77], port).into()), b"a");
    assert_eq!(answer[0], 1);

    // One client socket, two addresses dialled at a time: two sessions.
    let client = bind("127.0.0.1:0");
    let dialled = [77, 78].map(|last| SocketAddr::from(([127, 0, 0, last], port)));
    let mut seen = Vec::new();
    for _ in 0..2 {
        for address in dialled {
            client.send_to(b"b", address).unwrap();
            let (answer, from) = receive(&client);
            assert_eq!(from, address);
            seen.push(answer);
        }
    }
    assert_ne!(seen[0], seen[1]);
    assert_eq!(seen[..2], seen[2..]);
    assert_eq!(rig.sessions(), 3);
    rig.stop();
}

#[test]
fn ipv6_wildcard_answers_from_the_address_that_was_dialled() {
    let service = Service::start("[::1]:0", Answer::Echo);
    let mut rig = Rig::start(2);
    let port = rig.serve("::", &[&service]).port();
    let client = client_of(SocketAddr::new("::1".parse().unwrap(), port));
    assert_eq!(exchange(&client, b"a"), b"a");
    rig.stop();
}

#[test]
fn service_without_a_listener_disturbs_no_other_client() {
    let gone = bind("127.0.0.1:0");
    let alive = Service::start("127.0.0.1:0", Answer::Echo);
    let mut rig = Rig::start(1);
    let addresses = [gone.local_addr().unwrap(), alive.address];
    let address = rig.serve_addresses("127.0.0.1", &addresses);
    let unlucky = client_of(address);
    unlucky.send(b"a").unwrap();
    assert_eq!(receive(&gone).0, b"a");
    drop(gone);
    let lucky = client_of(address);
    for number in 0..50_u8 {
        unlucky.send(b"lost").unwrap();
        assert_eq!(exchange(&lucky, &[number]), [number]);
    }
    assert_eq!(rig.sessions(), 2);
    rig.stop();
}

#[test]
fn disabled_service_loses_its_clients_with_their_next_datagram() {
    let services = [1, 2].map(|id| Service::start("127.0.0.1:0", Answer::Identity(id)));
    let mut rig = Rig::start(2);
    let address = rig.serve("127.0.0.1", &services);
    let clients: Vec<_> = (0..4).map(|_| client_of(address)).collect();
    let before: Vec<_> = clients
        .iter()
        .map(|client| exchange(client, b"a"))
        .collect();
    let mut settings = rig.service_settings(services[0].address);
    settings.enabled = false;
    rig.apply(vec![Change::SetService(ServiceId(1), settings)]);
    for (client, before) in clients.iter().zip(&before) {
        let after = exchange(client, b"a");
        assert_eq!(after[0], 2);
        assert_eq!(
            after == *before,
            before[0] == 2,
            "those on the other service stay"
        );
    }
    assert_eq!(rig.sessions(), 4);
    rig.stop();
}

#[test]
fn removed_listener_is_gone_at_once_and_its_port_is_free() {
    let services = [1, 2].map(|id| Service::start("127.0.0.1:0", Answer::Identity(id)));
    let mut rig = Rig::start(3);
    let address = rig.serve("127.0.0.1", &services[..1]);
    let client = client_of(address);
    assert_eq!(exchange(&client, b"a")[0], 1);
    rig.remove_last_vserver();
    assert_eq!(rig.sessions(), 0);
    client.send(b"b").unwrap();
    let refused = client.recv(&mut [0; 9]).unwrap_err().kind();
    assert_eq!(refused, std::io::ErrorKind::ConnectionRefused);
    drop(bind(&address.to_string()));
    rig.serve_again(address, &[services[1].address]);
    assert_eq!(exchange(&client, b"c")[0], 2);
    rig.stop();
}

#[test]
fn clients_beyond_the_limit_are_dropped_and_sessions_go_on() {
    let service = Service::start("127.0.0.1:0", Answer::Echo);
    let mut rig = Rig::start(2);
    let address = rig.serve("127.0.0.1", &[&service]);
    rig.plane.set_udp_session_limit(5);
    let clients: Vec<_> = (0..5).map(|_| client_of(address)).collect();
    for client in &clients {
        assert_eq!(exchange(client, b"a"), b"a");
    }
    let flood: Vec<_> = (0..40).map(|_| client_of(address)).collect();
    for client in &flood {
        client.send(b"flood").unwrap();
    }
    for client in &clients {
        assert_eq!(exchange(client, b"b"), b"b");
    }
    wait_until(|| rig.plane.udp_status().dropped_limit == 40);
    let status = rig.plane.udp_status();
    assert_eq!((status.sessions, status.limit), (5, 5));
    assert_eq!((status.dropped_limit, rig.sessions()), (40, 5));
    rig.stop();
}

#[test]
fn time_from_the_first_datagram_to_the_first_answer_is_booked() {
    let service = bind("127.0.0.1:0");
    let mut rig = Rig::start(1);
    let client = client_of(rig.serve_addresses("127.0.0.1", &[service.local_addr().unwrap()]));
    client.send(b"ping").unwrap();
    let (_, session) = receive(&service);
    let wait = Duration::from_millis(20);
    wait_until(|| rig.plane.snapshot().services[0].longest_wait >= Some(wait));
    service.send_to(b"pong", session).unwrap();
    assert_eq!(receive(&client).0, b"pong");
    wait_until(|| rig.plane.snapshot().services[0].response_time >= Some(wait));
    assert_eq!(rig.plane.snapshot().services[0].longest_wait, None);
    rig.stop();
}

#[test]
fn service_that_swallows_datagrams_stands_behind_where_traffic_is_compared() {
    let silent = bind("127.0.0.1:0");
    let echo = Service::start("127.0.0.1:0", Answer::Echo);
    let mut rig = Rig::start(2);
    rig.method = Method::LeastBandwidth;
    let services = [silent.local_addr().unwrap(), echo.address];
    let vserver = rig.serve_addresses("127.0.0.1", &services);
    let start = Instant::now();
    client_of(vserver).send(b"lost").unwrap();
    receive(&silent);
    wait_until(|| rig.plane.snapshot().services[0].stands_behind);
    let hits = |rig: &Rig| rig.plane.snapshot().services[0].hits;
    for _ in 0..20 {
        // By bytes alone, the silent one would be first each time.
        let client = client_of(vserver);
        let moment = Some(Duration::from_millis(20));
        client.set_read_timeout(moment).unwrap();
        client.send(&[1; 1_000]).unwrap();
        wait_until(|| client.peek(&mut [0; 1]).is_ok() || hits(&rig) > 1);
    }
    // It is tried again every 5 s.
    let trials = start.elapsed().as_secs() / 5;
    assert!(hits(&rig) <= 1 + trials);
    rig.stop();
}

#[test]
fn sessions_that_begin_with_the_same_words_have_one_service() {
    let services = [1, 2, 3].map(|id| Service::start("127.0.0.1:0", Answer::Identity(id)));
    let mut rig = Rig::start(2);
    rig.method = Method::Token(TokenRange::new(1, 4).unwrap());
    let vserver = rig.serve("127.0.0.1", &services);
    let ask = |words: &[u8]| exchange(&client_of(vserver), words)[0];
    let mut chosen = Vec::new();
    for number in 1000..1030 {
        let first = ask(format!("<{number}>").as_bytes());
        assert_eq!(ask(format!("[{number}] again").as_bytes()), first);
        chosen.push(first);
    }
    chosen.sort_unstable();
    chosen.dedup();
    assert!(chosen.len() > 1);
    // Too short for a token: the fewest sessions decide.
    let before = [0, 1, 2].map(|service| rig.plane.snapshot().services[service].active);
    let least = before.iter().min().unwrap();
    let shortest = ask(b"<100");
    assert_eq!(before[usize::from(shortest) - 1], *least);
    rig.stop();
}

#[test]
fn silent_session_ends_by_itself_and_counts_as_finished() {
    let service = Service::start("127.0.0.1:0", Answer::Echo);
    let mut rig = Rig::start(2);
    rig.idle = Some(Duration::from_millis(50));
    let client = client_of(rig.serve("127.0.0.1", &[&service]));
    assert_eq!(exchange(&client, b"a"), b"a");
    wait_until(|| rig.sessions() == 0);
    let status = rig.plane.snapshot().services[0].clone();
    assert_eq!((status.active, status.hits, status.idle_closes), (0, 1, 0));
    assert_eq!(exchange(&client, b"b"), b"b");
    rig.stop();
}

#[test]
fn draining_plane_serves_its_sessions_and_begins_none() {
    let service = Service::start("127.0.0.1:0", Answer::Echo);
    let mut rig = Rig::start(2);
    let address = rig.serve("127.0.0.1", &[&service]);
    let client = client_of(address);
    assert_eq!(exchange(&client, b"a"), b"a");
    rig.plane.drain();
    client_of(address).send(b"new").unwrap();
    wait_until(|| rig.plane.udp_status().dropped_refused == 1);
    assert_eq!(exchange(&client, b"b"), b"b");
    assert_eq!(rig.sessions(), 1);
    rig.stop();
}

#[test]
fn many_clients_on_many_workers_lose_nothing_and_keep_their_order() {
    const CLIENTS: usize = 200;
    const DATAGRAMS: usize = 20_000;
    const OUTSTANDING_BYTES: usize = 128 * 1024;
    const OUTSTANDING: usize = 64;

    let services: Vec<_> = (0..3)
        .map(|_| Service::start("127.0.0.1:0", Answer::Echo))
        .collect();
    let mut rig = Rig::start(4);
    let address = rig.serve("127.0.0.1", &services);
    let clients: Vec<_> = (0..CLIENTS).map(|_| client_of(address)).collect();
    let mut numbers = Numbers(0x5EED);
    let mut outstanding: VecDeque<(usize, Vec<u8>)> = VecDeque::new();
    let (mut bytes, mut total) = (0, 0);
    for sent in 0..DATAGRAMS {
        let (client, payload) = (numbers.below(CLIENTS), payload(&mut numbers, sent));
        while bytes + payload.len() > OUTSTANDING_BYTES || outstanding.len() == OUTSTANDING {
            bytes -= take_answer(&clients, &mut outstanding);
        }
        clients[client].send(&payload).unwrap();
        (bytes, total) = (bytes + payload.len(), total + payload.len() as u64);
        outstanding.push_back((client, payload));
    }
    while !outstanding.is_empty() {
        take_answer(&clients, &mut outstanding);
    }
    assert_eq!(rig.sessions(), CLIENTS as u64);
    let snapshot = rig.plane.snapshot();
    let vserver = &snapshot.vservers[0];
    assert_eq!(
        (vserver.packets_in, vserver.bytes_in),
        (DATAGRAMS as u64, total)
    );
    assert_eq!(
        (vserver.packets_out, vserver.bytes_out),
        (DATAGRAMS as u64, total)
    );
    assert_eq!(
        (vserver.hits, vserver.active),
        (CLIENTS as u64, CLIENTS as u64)
    );
    rig.stop();
}

/// Receives the answer to the oldest datagram and returns its length. The client's answers must
/// come in the order of its datagrams, so it can only be that one.
fn take_answer(
    clients: &[std::net::UdpSocket],
    outstanding: &mut VecDeque<(usize, Vec<u8>)>,
) -> usize {
    let (client, expected) = outstanding.pop_front().expect("something is outstanding");
    let (answer, _) = receive(&clients[client]);
    assert!(
        answer == expected,
        "client {client}: another datagram than the {expected:.8?} sent"
    );
    expected.len()
}

/// Mostly small, some of any size, some of the limits; all but the smallest are distinct.
fn payload(numbers: &mut Numbers, serial: usize) -> Vec<u8> {
    let len = match numbers.below(20) {
        0 => 0,
        1 => 65_507,
        2 | 3 => numbers.below(65_508),
        _ => numbers.below(1_400),
    };
    let mut payload = vec![(serial % 251) as u8; len];
    for (place, byte) in payload.iter_mut().zip(serial.to_be_bytes()) {
        *place = byte;
    }
    payload
}

/// A small generator of numbers, always the same ones.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        // Source: Sebastiano Vigna, splitmix64.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }
}
