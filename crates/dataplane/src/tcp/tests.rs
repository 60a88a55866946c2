//! One worker's TCP side on real loopback sockets and stepped time.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};

use sluice_balance::{
    Backup, Bind, Change, HashSettings, Method, Orders, Percent, Protocol, ServiceId,
    ServiceSettings, ServiceStatus, SlowStart, VserverId, VserverSettings, Weight,
};

use super::*;
use crate::driver::Driver;
use crate::reactor::Round;

mod list;
mod queue;
mod token;

const VSERVER: VserverId = VserverId(1);

const fn at(milliseconds: u64) -> Instant {
    Instant::from_nanos(milliseconds * 1_000_000)
}

/// A worker's loop by hand, with one virtual server.
struct Rig {
    shared: Arc<Shared>,
    reactor: Reactor,
    side: TcpSide,
    address: SocketAddr,
    services: Vec<TcpListener>,
}

impl Rig {
    /// Serves a loopback address with `services` services.
    fn new(method: Method, services: usize) -> Self {
        let shared = Arc::new(Shared::new(Arc::new(|| {})));
        let socket = listen();
        let address = socket.local_addr().unwrap();
        let services: Vec<_> = (0..services).map(|_| listen()).collect();
        shared.with_engine_as_controller(|engine| {
            let vserver = Change::AddVserver(VSERVER, settings(address, method));
            engine.apply(&vserver, at(0));
            for (service, number) in services.iter().zip(1..) {
                for change in &add(service.local_addr().unwrap(), number) {
                    engine.apply(change, at(0));
                }
            }
        });
        let mut reactor = Reactor::new(driver()).unwrap();
        reactor.enable().unwrap();
        let mut side = TcpSide::new(Arc::clone(&shared));
        side.open_listener(&mut reactor, VSERVER, address, Arc::new(socket))
            .unwrap();
        Self {
            shared,
            reactor,
            side,
            address,
            services,
        }
    }

    /// Connects a client.
    fn client(&self) -> TcpStream {
        let client = TcpStream::connect(self.address).unwrap();
        client.set_nonblocking(true).unwrap();
        client
    }

    /// Handles the events there are at `now`, and what is due.
    fn turn(&mut self, now: Instant) {
        let mut round = Round::new(64);
        let at_once = Some(Duration::ZERO);
        self.reactor.wait(at_once, &mut round).unwrap();
        for ended in round.ended {
            self.side.handle_completion(&mut self.reactor, ended, now);
        }
        for event in &round.events {
            self.side.handle_event(&mut self.reactor, event, now);
        }
        self.side.handle_timeout(&mut self.reactor, now);
    }

    /// Turns until the service with this number accepts; returns its end.
    fn accepted(&mut self, number: usize, now: Instant) -> TcpStream {
        let start = std::time::Instant::now();
        loop {
            match self.services[number - 1].accept() {
                Ok((stream, _)) => {
                    stream.set_nonblocking(true).unwrap();
                    return stream;
                }
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
            }
            assert!(start.elapsed() < PATIENCE, "nobody comes");
            self.turn(now);
        }
    }

    /// Turns until `stream` has brought as many bytes as `expected` has, which they must be.
    #[track_caller]
    fn expect(&mut self, stream: &mut TcpStream, expected: &[u8], now: Instant) {
        let mut got = vec![0; expected.len()];
        let (mut filled, start) = (0, std::time::Instant::now());
        while filled < got.len() {
            match stream.read(&mut got[filled..]) {
                Ok(0) => break,
                Ok(bytes) => filled += bytes,
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
            }
            assert!(start.elapsed() < PATIENCE, "nothing comes");
            self.turn(now);
        }
        assert_eq!(&got[..filled], expected);
    }

    /// Handles events at `now` until `is_so`: the kernel delivers them in its own time.
    #[track_caller]
    fn turn_until(&mut self, now: Instant, is_so: impl Fn(&Self) -> bool) {
        let start = std::time::Instant::now();
        while !is_so(self) {
            assert!(start.elapsed() < PATIENCE, "nothing happens");
            self.turn(now);
        }
    }

    fn service(&self, number: u32, now: Instant) -> ServiceStatus {
        let id = ServiceId(number);
        let status = |engine: &mut sluice_balance::Engine| engine.service_status(id, now);
        self.shared.with_engine_as_controller(status).unwrap()
    }

    /// How many flows each service was ever given.
    fn hits(&self, now: Instant) -> Vec<u64> {
        let numbers = 1..=u32::try_from(self.services.len()).unwrap();
        numbers
            .map(|number| self.service(number, now).hits)
            .collect()
    }

    /// How many clients had left before they had a service.
    fn aborted(&self, now: Instant) -> u64 {
        let status = self
            .shared
            .with_engine_as_controller(|engine| engine.vserver_status(VSERVER, now));
        status.unwrap().aborted
    }
}

/// The driver to test: io_uring where there is one, unless the environment says `epoll`.
fn driver() -> Driver {
    if std::env::var("SLUICE_DRIVER").is_ok_and(|name| name == "epoll") {
        return Driver::Epoll;
    }
    match Driver::Uring.probe() {
        Ok(()) => Driver::Uring,
        Err(error) => {
            eprintln!("skipped: io_uring is not tested, there is none here: {error}");
            Driver::Epoll
        }
    }
}

fn listen() -> TcpListener {
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    socket.set_nonblocking(true).unwrap();
    socket
}

fn settings(listen: SocketAddr, method: Method) -> VserverSettings {
    VserverSettings {
        protocol: Protocol::Tcp,
        listen: Some(listen),
        enabled: true,
        method,
        hash: HashSettings::default(),
        idle: None,
        flush_on_down: true,
        health_threshold: Percent::ZERO,
        backup: Backup::default(),
        orders: Orders::default(),
        slow_start: SlowStart::default(),
        persistence: None,
    }
}

fn add(address: SocketAddr, number: u32) -> [Change; 2] {
    let service = ServiceId(number);
    let settings = ServiceSettings {
        protocol: Protocol::Tcp,
        address,
        enabled: true,
        max_client: None,
        max_bandwidth: None,
        hash_id: None,
        health_monitor: true,
        monitor_threshold: 0,
        is_one_way: false,
        idle: None,
        flush_on_down: true,
    };
    let bind = Bind {
        vserver: VSERVER,
        service,
        weight: Weight::DEFAULT,
        order: None,
    };
    [Change::AddService(service, settings), Change::Bind(bind)]
}

/// Only a test that fails waits so long.
const PATIENCE: Duration = Duration::from_secs(10);
