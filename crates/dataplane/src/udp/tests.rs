//! One worker's UDP side on real loopback sockets and stepped time.

mod leaving;

use std::time::Duration;

use mio::{Events, Poll};
use sluice_balance::{
    Backup, Bind, Change, HashSettings, Method, Orders, Percent, Protocol, ServiceId,
    ServiceSettings, ServiceStatus, SlowStart, VserverSettings, Weight,
};

use super::*;
use crate::listen::{self, Sockets};

const VSERVER: VserverId = VserverId(1);

const fn at(milliseconds: u64) -> Instant {
    Instant::from_nanos(milliseconds * 1_000_000)
}

/// A socket that fails the test when nothing comes.
fn bind(address: &str) -> UdpSocket {
    let socket = UdpSocket::bind(address).unwrap();
    socket
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    // Room for the several hundred datagrams that a test may leave waiting.
    socket2::SockRef::from(&socket)
        .set_recv_buffer_size(1 << 20)
        .unwrap();
    socket
}

/// Returns what `socket` receives next, and from whom.
fn receive(socket: &UdpSocket) -> (Vec<u8>, SocketAddr) {
    let mut room = [0; 70_000];
    let (len, from) = socket.recv_from(&mut room).unwrap();
    (room[..len].to_vec(), from)
}

fn assert_nothing_comes(socket: &UdpSocket) {
    socket.set_nonblocking(true).unwrap();
    let kind = socket.recv_from(&mut [0; 9]).unwrap_err().kind();
    socket.set_nonblocking(false).unwrap();
    assert_eq!(kind, ErrorKind::WouldBlock);
}

/// A worker's loop by hand, with one virtual server.
struct Rig {
    shared: Arc<Shared>,
    poll: Poll,
    side: UdpSide,
    socket: Arc<UdpSocket>,
    services: Vec<UdpSocket>,
}

impl Rig {
    /// Serves 127.0.0.1 with `services` services and these idle limits of client and service.
    fn new(services: usize, client_idle: Option<u64>, service_idle: Option<u64>) -> Self {
        let shared = Arc::new(Shared::new(Arc::new(|| {})));
        let any = ([127, 0, 0, 1], 0).into();
        let Ok(Sockets::Udp(mut sockets)) = listen::open(Protocol::Udp, any, 1) else {
            panic!("a UDP socket was asked for");
        };
        let socket = sockets.remove(0);
        let services: Vec<_> = (0..services).map(|_| bind("127.0.0.1:0")).collect();
        let mut changes = vec![Change::AddVserver(
            VSERVER,
            VserverSettings {
                protocol: Protocol::Udp,
                listen: socket.local_addr().ok(),
                enabled: true,
                method: Method::RoundRobin,
                hash: HashSettings::default(),
                idle: client_idle.map(Duration::from_millis),
                flush_on_down: true,
                health_threshold: Percent::ZERO,
                backup: Backup::default(),
                orders: Orders::default(),
                slow_start: SlowStart::default(),
                persistence: None,
            },
        )];
        for (service, number) in services.iter().zip(1..) {
            let settings = ServiceSettings {
                protocol: Protocol::Udp,
                address: service.local_addr().unwrap(),
                enabled: true,
                max_client: None,
                max_bandwidth: None,
                hash_id: None,
                health_monitor: true,
                monitor_threshold: 0,
                is_one_way: false,
                idle: service_idle.map(Duration::from_millis),
                flush_on_down: true,
            };
            changes.push(Change::AddService(ServiceId(number), settings));
            changes.push(Change::Bind(Bind {
                vserver: VSERVER,
                service: ServiceId(number),
                weight: Weight::DEFAULT,
                order: None,
            }));
        }
        shared.with_engine_as_controller(|engine| {
            for change in &changes {
                engine.apply(change, at(0));
            }
        });
        Self::worker(shared, socket, services)
    }

    /// One more worker, that shares the listening socket.
    fn beside(&self) -> Self {
        Self::worker(
            Arc::clone(&self.shared),
            Arc::clone(&self.socket),
            Vec::new(),
        )
    }

    fn worker(shared: Arc<Shared>, socket: Arc<UdpSocket>, services: Vec<UdpSocket>) -> Self {
        let poll = Poll::new().unwrap();
        let mut side = UdpSide::new(Arc::clone(&shared), 0).unwrap();
        let address = socket.local_addr().unwrap();
        side.open_listener(poll.registry(), VSERVER, address, Arc::clone(&socket))
            .unwrap();
        Self {
            shared,
            poll,
            side,
            socket,
            services,
        }
    }

    fn client(&self) -> UdpSocket {
        let client = bind("127.0.0.1:0");
        client.connect(self.socket.local_addr().unwrap()).unwrap();
        client
    }

    /// Waits for events and handles them at `now`.
    fn turn(&mut self, now: Instant) {
        self.turn_of(&[UDP_LISTENER, UDP_SESSION], now);
    }

    /// Waits for events and handles those of some sockets at `now`.
    fn turn_of(&mut self, tags: &[usize], now: Instant) {
        let mut events = Events::with_capacity(64);
        let mut handled = 0;
        while handled == 0 {
            let wait = Some(Duration::from_secs(10));
            self.poll.poll(&mut events, wait).unwrap();
            assert!(!events.is_empty(), "no event came");
            for event in &events {
                if tags.contains(&tag(event.token())) {
                    let registry = self.poll.registry();
                    self.side.handle_event(registry, event.token(), now);
                    handled += 1;
                }
            }
        }
    }

    fn timeout(&mut self, now: Instant) {
        self.side.handle_timeout(self.poll.registry(), now);
    }

    /// Sends from `client` and returns the source by which service `index` sees it.
    fn send(
        &mut self,
        client: &UdpSocket,
        index: usize,
        payload: &[u8],
        now: Instant,
    ) -> SocketAddr {
        client.send(payload).unwrap();
        self.turn(now);
        let (received, source) = receive(&self.services[index]);
        assert_eq!(received, payload);
        source
    }

    fn service(&self, index: usize) -> ServiceStatus {
        let id = ServiceId(u32::try_from(index).unwrap() + 1);
        self.shared
            .with_engine(|engine| engine.service_status(id, at(0)).unwrap())
    }
}

#[test]
fn session_runs_out_at_the_shorter_limit_after_the_last_datagram() {
    for limits in [
        (Some(2_000), Some(5_000)),
        (Some(5_000), Some(2_000)),
        (Some(2_000), None),
    ] {
        let mut rig = Rig::new(1, limits.0, limits.1);
        let client = rig.client();
        let first = rig.send(&client, 0, b"a", at(1_000));
        assert_eq!(rig.side.poll_timeout(), Some(at(3_000)));
        assert_eq!(rig.send(&client, 0, b"b", at(2_900)), first);
        rig.timeout(at(3_000));
        assert_eq!(rig.side.poll_timeout(), Some(at(4_900)));
        rig.timeout(at(4_899));
        assert_eq!((rig.side.flows(), rig.service(0).active), (1, 1));
        rig.timeout(at(4_900));
        assert_eq!((rig.side.flows(), rig.service(0).active), (0, 0));
        assert_eq!(
            (rig.side.poll_timeout(), rig.service(0).idle_closes),
            (None, 0)
        );
        assert_eq!(rig.shared.udp.status().sessions, 0);

        rig.send(&client, 0, b"c", at(9_000));
        assert_eq!(rig.service(0).hits, 2);
    }
}

#[test]
fn session_without_limits_has_no_deadline() {
    let mut rig = Rig::new(1, None, None);
    rig.send(&rig.client(), 0, b"a", at(0));
    assert_eq!(rig.side.poll_timeout(), None);
}

#[test]
fn reply_renews_the_session_even_if_it_waits_unread() {
    let mut rig = Rig::new(1, Some(2_000), None);
    let client = rig.client();
    let source = rig.send(&client, 0, b"a", at(0));
    rig.services[0].send_to(b"late", source).unwrap();
    rig.timeout(at(2_000));
    assert_eq!(receive(&client).0, b"late");
    assert_eq!(
        (rig.side.flows(), rig.side.poll_timeout()),
        (1, Some(at(4_000)))
    );
    assert_eq!(
        (rig.service(0).bytes_out, rig.service(0).packets_out),
        (4, 1)
    );
}

#[test]
fn traffic_is_counted_to_the_byte_in_both_directions() {
    let mut rig = Rig::new(1, None, None);
    let client = rig.client();
    let mut source = None;
    for payload in [&b""[..], b"x", b"", &[7; 65_507]] {
        source = Some(rig.send(&client, 0, payload, at(0)));
    }
    for payload in [&b""[..], b"0123456789"] {
        rig.services[0].send_to(payload, source.unwrap()).unwrap();
        rig.turn(at(0));
        assert_eq!(receive(&client).0, payload);
    }
    let status = rig.service(0);
    assert_eq!((status.bytes_in, status.packets_in), (65_508, 4));
    assert_eq!((status.bytes_out, status.packets_out), (10, 2));
    assert_eq!((status.hits, status.active), (1, 1));
}

#[test]
fn clients_beyond_the_limit_are_dropped_and_the_others_go_on() {
    let mut rig = Rig::new(1, Some(1_000), None);
    rig.shared.udp.set_limit(2);
    let clients = [rig.client(), rig.client(), rig.client()];
    let first = rig.send(&clients[0], 0, b"0", at(0));
    rig.send(&clients[1], 0, b"1", at(0));
    for _ in 0..3 {
        clients[2].send(b"2").unwrap();
        rig.turn(at(0));
    }
    assert_nothing_comes(&rig.services[0]);
    assert_eq!(rig.shared.udp.status().dropped_limit, 3);
    assert_eq!(rig.service(0).hits, 2);
    assert_eq!(rig.send(&clients[0], 0, b"0", at(500)), first);
    rig.timeout(at(1_000));
    rig.send(&clients[2], 0, b"2", at(1_000));
    assert_eq!(rig.shared.udp.status().sessions, 2);
}

#[test]
fn datagram_without_a_service_is_dropped_and_counted() {
    let mut rig = Rig::new(0, None, None);
    rig.client().send(b"a").unwrap();
    rig.turn(at(0));
    let status = rig.shared.udp.status();
    assert_eq!((status.dropped_refused, status.sessions), (1, 0));
}

#[test]
fn draining_lets_sessions_go_on_and_begins_none() {
    let mut rig = Rig::new(1, None, None);
    let client = rig.client();
    let source = rig.send(&client, 0, b"a", at(0));
    rig.shared.drain();
    assert_eq!(rig.send(&client, 0, b"b", at(1)), source);
    rig.client().send(b"c").unwrap();
    rig.turn(at(2));
    assert_nothing_comes(&rig.services[0]);
    assert_eq!(rig.shared.udp.status().dropped_refused, 1);
}

#[test]
fn draining_ends_sessions_that_only_idle() {
    for idle_ms in [None, Some(60_000), Some(1_000)] {
        let mut rig = Rig::new(1, idle_ms, None);
        rig.send(&rig.client(), 0, b"a", at(0));
        rig.side.drain(at(0));
        let limit = idle_ms.unwrap_or(u64::MAX).min(2_000);
        assert_eq!(rig.side.poll_timeout(), Some(at(limit)), "{idle_ms:?}");
        rig.timeout(at(limit - 1));
        assert_eq!(rig.side.flows(), 1, "{idle_ms:?}");
        rig.timeout(at(limit));
        assert_eq!(rig.side.flows(), 0, "{idle_ms:?}");
    }
}

#[test]
fn other_worker_sends_through_the_session_of_its_owner() {
    let mut owner = Rig::new(1, Some(1_000), None);
    let mut other = owner.beside();
    let client = owner.client();
    let source = owner.send(&client, 0, b"a", at(0));
    client.send(b"b").unwrap();
    other.turn(at(900));
    assert_eq!(receive(&owner.services[0]), (b"b".to_vec(), source));
    assert_eq!((other.side.flows(), owner.service(0).hits), (0, 1));
    // The deadline counts from the datagram that the other worker sent on.
    owner.timeout(at(1_000));
    assert_eq!(
        (owner.side.flows(), owner.side.poll_timeout()),
        (1, Some(at(1_900)))
    );
    // Once it has run out, the other worker begins a session of its own.
    owner.timeout(at(1_900));
    client.send(b"c").unwrap();
    other.turn(at(2_000));
    assert_eq!(receive(&owner.services[0]).0, b"c");
    assert_eq!((owner.side.flows(), other.side.flows()), (0, 1));
    assert_eq!(owner.shared.udp.status().sessions, 1);
}

#[test]
fn busy_socket_is_read_in_turns_without_a_new_event() {
    const COUNT: u16 = 300;
    let mut rig = Rig::new(1, None, None);
    let client = rig.client();
    for number in 0..COUNT {
        client.send(&number.to_be_bytes()).unwrap();
    }
    rig.turn(at(0));
    let turn = u64::try_from(TURN_BATCHES * BATCH).unwrap();
    assert_eq!(rig.service(0).packets_in, turn);
    assert_eq!(rig.side.poll_timeout(), Some(Instant::default()));
    rig.timeout(at(0));
    assert_eq!(rig.service(0).packets_in, 2 * turn);
    rig.timeout(at(0));
    assert_eq!(rig.side.poll_timeout(), None);
    for number in 0..COUNT {
        assert_eq!(receive(&rig.services[0]).0, number.to_be_bytes());
    }
}

#[test]
fn closed_port_of_a_service_ends_nothing_and_loses_nothing_later() {
    let mut rig = Rig::new(1, None, None);
    let client = rig.client();
    let source = rig.send(&client, 0, b"a", at(0));
    let address = rig.services.remove(0).local_addr().unwrap();
    client.send(b"lost").unwrap();
    rig.turn(at(0));
    // The error has arrived at the session's socket, and is read from there.
    rig.turn(at(0));
    assert_eq!(rig.shared.udp.status().errors, 1);
    // This time the next datagram meets the error first.
    client.send(b"lost too").unwrap();
    rig.turn_of(&[UDP_LISTENER], at(0));
    rig.services.push(bind(&address.to_string()));
    client.send(b"b").unwrap();
    rig.turn_of(&[UDP_LISTENER], at(0));
    assert_eq!(receive(&rig.services[0]), (b"b".to_vec(), source));
    assert_eq!((rig.side.flows(), rig.service(0).packets_in), (1, 4));
    let status = rig.shared.udp.status();
    assert_eq!((status.errors, status.dropped_unsendable), (2, 0));
}

#[test]
fn closed_flows_move_with_their_next_datagram_and_others_stay() {
    let mut rig = Rig::new(2, None, None);
    let clients = [rig.client(), rig.client()];
    rig.send(&clients[0], 0, b"a", at(0));
    let stays = rig.send(&clients[1], 1, b"a", at(0));
    rig.shared.with_engine_as_controller(|engine| {
        engine.apply(&Change::Unbind(VSERVER, ServiceId(1)), at(1));
    });
    let which = CloseFlows {
        vserver: Some(VSERVER),
        dialled: None,
        service: Some(ServiceId(1)),
    };
    rig.side.close_flows(rig.poll.registry(), which, at(1));
    assert_eq!((rig.side.flows(), rig.service(0).active), (1, 0));
    rig.send(&clients[0], 1, b"b", at(2));
    assert_eq!(rig.send(&clients[1], 1, b"b", at(2)), stays);
    assert_eq!(rig.service(1).active, 2);
}

#[test]
fn closed_listener_ends_its_sessions_and_frees_its_port() {
    let mut rig = Rig::new(1, Some(1_000), None);
    let client = rig.client();
    rig.send(&client, 0, b"a", at(0));
    rig.side.close_listener(rig.poll.registry(), VSERVER, at(1));
    assert_eq!((rig.side.flows(), rig.service(0).active), (0, 0));
    assert_eq!(rig.shared.udp.status().sessions, 0);
    // The socket is still open here, but nothing watches it any more.
    client.send(b"b").unwrap();
    let mut events = Events::with_capacity(1);
    rig.poll.poll(&mut events, Some(Duration::ZERO)).unwrap();
    assert!(events.is_empty());
    let address = rig.socket.local_addr().unwrap();
    drop(std::mem::replace(
        &mut rig.socket,
        Arc::new(bind("127.0.0.1:0")),
    ));
    bind(&address.to_string());
    rig.timeout(at(5_000));
    assert_eq!(rig.side.poll_timeout(), None);
}
