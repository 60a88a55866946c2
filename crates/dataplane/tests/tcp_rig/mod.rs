//! What the TCP tests need around a data plane: services, clients, patterns and hand-made changes.

#![expect(
    clippy::unwrap_used,
    reason = "a step of a test's set-up that fails is to fail the test"
)]
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use sluice_balance::{
    Backup, Bind, Change, HashSettings, Method, Orders, Percent, Protocol, ServiceId,
    ServiceSettings, ServiceStatus, SlowStart, VserverId, VserverSettings, Weight,
};
use sluice_dataplane::{Dataplane, Driver, Options, PrepareError};

/// Starts a service that gives each connection to `serve` on a thread of its own.
pub(crate) fn service(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> SocketAddr {
    service_at("127.0.0.1:0", serve)
}

/// The same at an address.
pub(crate) fn service_at(
    address: &str,
    serve: impl Fn(TcpStream) + Send + Sync + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind(address).unwrap();
    let address = listener.local_addr().unwrap();
    let serve = Arc::new(serve);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else {
                // No descriptor for it now; asking without a pause would burn a core.
                std::thread::sleep(Duration::from_millis(5));
                continue;
            };
            let serve = Arc::clone(&serve);
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            std::thread::spawn(move || serve(stream));
        }
    });
    address
}

/// Starts a service that sends back what it gets, and its end.
pub(crate) fn echo() -> SocketAddr {
    service(|mut stream| {
        let mut reader = stream.try_clone().unwrap();
        let _ = std::io::copy(&mut reader, &mut stream);
        let _ = stream.shutdown(Shutdown::Write);
    })
}

/// Returns an address at which every connect is refused, for as long as the listener lives.
pub(crate) fn refusing() -> (socket2::Socket, SocketAddr) {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
    socket.bind(&any.into()).unwrap();
    let address = socket.local_addr().unwrap().as_socket().unwrap();
    (socket, address)
}

/// Closes `stream` with a reset.
pub(crate) fn reset(stream: TcpStream) {
    socket2::SockRef::from(&stream)
        .set_linger(Some(Duration::ZERO))
        .unwrap();
    drop(stream);
}

/// The byte at `place` of the pattern with this seed; no short piece of it repeats nearby.
pub(crate) fn byte(seed: u64, place: u64) -> u8 {
    ((place ^ seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8
}

/// Writes `bytes` bytes of the pattern.
pub(crate) fn write_pattern(stream: &mut TcpStream, seed: u64, bytes: u64) {
    let mut piece = Vec::with_capacity(PIECE as usize);
    let mut place = 0;
    while place < bytes {
        piece.clear();
        piece.extend((place..bytes.min(place + PIECE)).map(|place| byte(seed, place)));
        stream.write_all(&piece).unwrap();
        place += piece.len() as u64;
    }
}

/// Reads to a clean end and returns how many bytes came; all must be those of the pattern.
#[track_caller]
pub(crate) fn read_pattern(stream: &mut TcpStream, seed: u64) -> u64 {
    let (bytes, error) = read_pattern_or_error(stream, seed);
    assert_eq!(error, None, "after {bytes} bytes");
    bytes
}

/// The same to any end; returns the error too.
pub(crate) fn read_pattern_or_error(stream: &mut TcpStream, seed: u64) -> (u64, Option<ErrorKind>) {
    let mut room = vec![0; PIECE as usize];
    let mut place = 0;
    loop {
        let got = match stream.read(&mut room) {
            Ok(0) => return (place, None),
            Ok(got) => got,
            Err(error) => return (place, Some(error.kind())),
        };
        for (i, got) in room[..got].iter().enumerate() {
            let place = place + i as u64;
            assert_eq!(*got, byte(seed, place), "at {place}");
        }
        place += got as u64;
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

/// A data plane under a controller by hand.
pub(crate) struct Rig {
    pub(crate) plane: Dataplane,
    services: u32,
    vservers: u32,
}

/// The idle limits of a virtual server and its services.
#[derive(Clone, Copy, Default)]
pub(crate) struct Idle {
    pub(crate) client: Option<Duration>,
    pub(crate) service: Option<Duration>,
}

impl Rig {
    pub(crate) fn start(workers: usize) -> Self {
        Self::start_with(driver(), workers)
    }

    /// The same with this driver.
    pub(crate) fn start_with(driver: Driver, workers: usize) -> Self {
        let options = Options {
            workers,
            driver,
            wake: Arc::new(|| {}),
        };
        Self {
            plane: Dataplane::start(options).unwrap(),
            services: 0,
            vservers: 0,
        }
    }

    /// Adds a virtual server at an address of its own with these services; returns the address.
    pub(crate) fn serve(&mut self, services: &[SocketAddr]) -> SocketAddr {
        self.serve_at(own_ip(), services, Idle::default())
    }

    /// The same by a method.
    pub(crate) fn serve_by(&mut self, method: Method, services: &[SocketAddr]) -> SocketAddr {
        let address = self.serve(services);
        let settings = VserverSettings {
            method,
            ..vserver_settings(address, Idle::default())
        };
        let vserver = VserverId(self.vservers);
        self.apply(&[Change::SetVserver(vserver, settings)])
            .unwrap();
        address
    }

    pub(crate) fn serve_at(
        &mut self,
        ip: core::net::IpAddr,
        services: &[SocketAddr],
        idle: Idle,
    ) -> SocketAddr {
        let address = TcpListener::bind((ip, 0)).unwrap().local_addr().unwrap();
        self.vservers += 1;
        let vserver = VserverId(self.vservers);
        let mut changes = vec![Change::AddVserver(vserver, vserver_settings(address, idle))];
        for address in services {
            self.services += 1;
            let service = ServiceId(self.services);
            changes.push(Change::AddService(
                service,
                service_settings(*address, idle),
            ));
            changes.push(Change::Bind(Bind {
                vserver,
                service,
                weight: Weight::DEFAULT,
                order: None,
            }));
        }
        self.apply(&changes).unwrap();
        address
    }

    pub(crate) fn apply(&mut self, changes: &[Change]) -> Result<(), PrepareError> {
        let prepared = self.plane.prepare(changes)?;
        self.plane.commit(prepared, changes);
        Ok(())
    }

    /// Returns the row of the service with this number.
    pub(crate) fn service(&self, number: u32) -> ServiceStatus {
        let services = self.plane.snapshot().services;
        let row = services.into_iter().find(|row| row.id == ServiceId(number));
        row.unwrap()
    }

    /// Waits until `is_so`; what it waits for happens on other threads.
    #[track_caller]
    pub(crate) fn wait_until(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let start = Instant::now();
        while !is_so(self) {
            assert!(start.elapsed() < PATIENCE, "{what}");
            std::thread::yield_now();
        }
    }

    /// Waits until no flow is left.
    #[track_caller]
    pub(crate) fn wait_until_idle(&self) {
        self.wait_until("flows end", |rig| rig.plane.flows() == 0);
    }
}

pub(crate) fn vserver_settings(listen: SocketAddr, idle: Idle) -> VserverSettings {
    VserverSettings {
        protocol: Protocol::Tcp,
        listen: Some(listen),
        enabled: true,
        method: Method::RoundRobin,
        hash: HashSettings::default(),
        idle: idle.client,
        flush_on_down: false,
        health_threshold: Percent::ZERO,
        backup: Backup::default(),
        orders: Orders::default(),
        slow_start: SlowStart::default(),
        persistence: None,
    }
}

pub(crate) fn service_settings(address: SocketAddr, idle: Idle) -> ServiceSettings {
    ServiceSettings {
        protocol: Protocol::Tcp,
        address,
        enabled: true,
        max_client: None,
        max_bandwidth: None,
        hash_id: None,
        health_monitor: true,
        monitor_threshold: 0,
        is_one_way: false,
        idle: idle.service,
        flush_on_down: false,
    }
}

/// Connects a client that fails the test when nothing comes.
pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Returns a loopback address that no other virtual server of any test uses: connections of other
/// tests then cannot take its port.
fn own_ip() -> core::net::IpAddr {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let process = std::process::id();
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    [
        127,
        100 + (process % 100) as u8,
        (process / 100 % 250) as u8,
        number as u8,
    ]
    .into()
}

/// How long the tests wait for what must come.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

const PIECE: u64 = 100_000;
