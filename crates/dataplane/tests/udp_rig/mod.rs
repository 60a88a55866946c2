//! What the UDP tests need around a data plane: services, clients and hand-made changes.

#![expect(
    clippy::unwrap_used,
    reason = "a step of a test's set-up that fails is to fail the test"
)]

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use sluice_balance::{
    Backup, Bind, Change, HashSettings, Method, Orders, Percent, Protocol, ServiceId,
    ServiceSettings, SlowStart, VserverId, VserverSettings, Weight,
};
use sluice_dataplane::{Dataplane, Driver, Options, PrepareError};

/// How a service answers each datagram.
#[derive(Clone, Copy)]
pub(crate) enum Answer {
    /// With the same.
    Echo,
    /// With an empty one, then with the same.
    EmptyThenEcho,
    /// With this number and the port it sees the client at.
    Identity(u8),
}

/// A service on a thread of its own; ends with the value.
pub(crate) struct Service {
    pub(crate) address: SocketAddr,
    thread: Option<JoinHandle<()>>,
}

impl Service {
    pub(crate) fn start(address: &str, answer: Answer) -> Self {
        let socket = bind(address);
        socket.set_read_timeout(None).unwrap();
        let address = socket.local_addr().unwrap();
        let thread = std::thread::spawn(move || serve(&socket, answer));
        Self {
            address,
            thread: Some(thread),
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let any = SocketAddr::new(self.address.ip(), 0);
        let stop = UdpSocket::bind(any).and_then(|socket| socket.send_to(STOP, self.address));
        if let (Ok(_), Some(thread)) = (stop, self.thread.take()) {
            let _ = thread.join();
        }
    }
}

impl AsRef<Self> for Service {
    fn as_ref(&self) -> &Self {
        self
    }
}

fn serve(socket: &UdpSocket, answer: Answer) {
    let mut room = vec![0; 70_000];
    loop {
        let (len, from) = socket.recv_from(&mut room).unwrap();
        let payload = &room[..len];
        if payload == STOP {
            return;
        }
        match answer {
            Answer::Echo => socket.send_to(payload, from).unwrap(),
            Answer::EmptyThenEcho => {
                socket.send_to(b"", from).unwrap();
                socket.send_to(payload, from).unwrap()
            }
            Answer::Identity(id) => {
                let [high, low] = from.port().to_be_bytes();
                socket.send_to(&[id, high, low], from).unwrap()
            }
        };
    }
}

/// Binds a socket with room for bursts; it fails the test when nothing comes.
pub(crate) fn bind(address: &str) -> UdpSocket {
    let socket = UdpSocket::bind(address).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket2::SockRef::from(&socket)
        .set_recv_buffer_size(4 << 20)
        .unwrap();
    socket
}

/// Makes a client that takes datagrams from `address` only.
pub(crate) fn client_of(address: SocketAddr) -> UdpSocket {
    let any = if address.is_ipv4() {
        "127.0.0.1:0"
    } else {
        "[::1]:0"
    };
    let socket = bind(any);
    socket.connect(address).unwrap();
    socket
}

/// Returns the next datagram and who sent it.
pub(crate) fn receive(socket: &UdpSocket) -> (Vec<u8>, SocketAddr) {
    let mut room = vec![0; 70_000];
    let (len, from) = socket.recv_from(&mut room).unwrap();
    room.truncate(len);
    (room, from)
}

/// Sends `payload` and returns the answer.
pub(crate) fn exchange(client: &UdpSocket, payload: &[u8]) -> Vec<u8> {
    client.send(payload).unwrap();
    receive(client).0
}

/// Waits for what another thread brings about; fails the test when it does not.
pub(crate) fn wait_until(holds: impl Fn() -> bool) {
    let start = std::time::Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "nothing happens");
        std::thread::yield_now();
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
    /// The idle limit of what is added from now on.
    pub(crate) idle: Option<Duration>,
    /// The method of what is added from now on.
    pub(crate) method: Method,
    services: u32,
    vservers: u32,
}

impl Rig {
    pub(crate) fn start(workers: usize) -> Self {
        let options = Options {
            workers,
            driver: driver(),
            wake: Arc::new(|| {}),
        };
        let plane = Dataplane::start(options).unwrap();
        Self {
            plane,
            idle: Some(Duration::from_secs(120)),
            method: Method::RoundRobin,
            services: 0,
            vservers: 0,
        }
    }

    /// Adds a virtual server on a free port of `ip` with these services; returns its address.
    pub(crate) fn serve(&mut self, ip: &str, services: &[impl AsRef<Service>]) -> SocketAddr {
        let addresses: Vec<_> = services
            .iter()
            .map(|service| service.as_ref().address)
            .collect();
        self.serve_addresses(ip, &addresses)
    }

    /// The same for services of any kind.
    pub(crate) fn serve_addresses(&mut self, ip: &str, services: &[SocketAddr]) -> SocketAddr {
        loop {
            let any = SocketAddr::new(ip.parse().unwrap(), 0);
            let address = UdpSocket::bind(any)
                .and_then(|socket| socket.local_addr())
                .unwrap();
            // Another test may take the port between the two binds; then there is another one.
            match self.try_serve(address, services) {
                Ok(()) => return address,
                Err(PrepareError::AddressInUse { .. }) => {}
                Err(other) => panic!("{other}"),
            }
        }
    }

    /// Adds a virtual server at a known address.
    pub(crate) fn serve_again(&mut self, address: SocketAddr, services: &[SocketAddr]) {
        self.try_serve(address, services).unwrap();
    }

    pub(crate) fn remove_last_vserver(&mut self) {
        self.apply(vec![Change::RemoveVserver(VserverId(self.vservers))]);
    }

    /// Takes changes into effect that need no new sockets.
    pub(crate) fn apply(&mut self, changes: Vec<Change>) {
        self.try_apply(&changes).unwrap();
    }

    /// The settings of every service here.
    pub(crate) fn service_settings(&self, address: SocketAddr) -> ServiceSettings {
        ServiceSettings {
            protocol: Protocol::Udp,
            address,
            enabled: true,
            max_client: None,
            max_bandwidth: None,
            hash_id: None,
            health_monitor: true,
            monitor_threshold: 0,
            is_one_way: false,
            idle: self.idle,
            flush_on_down: true,
        }
    }

    /// How many sessions there are now; exact once their first answers have come.
    pub(crate) fn sessions(&self) -> u64 {
        let vservers = self.plane.snapshot().vservers;
        vservers.iter().map(|vserver| vserver.active).sum()
    }

    pub(crate) fn stop(self) {
        self.plane.shutdown();
    }

    fn try_serve(
        &mut self,
        address: SocketAddr,
        services: &[SocketAddr],
    ) -> Result<(), PrepareError> {
        let vserver = VserverId(self.vservers + 1);
        let settings = VserverSettings {
            protocol: Protocol::Udp,
            listen: Some(address),
            enabled: true,
            method: self.method,
            hash: HashSettings::default(),
            idle: self.idle,
            flush_on_down: true,
            health_threshold: Percent::ZERO,
            backup: Backup::default(),
            orders: Orders::default(),
            slow_start: SlowStart::default(),
            persistence: None,
        };
        let mut changes = vec![Change::AddVserver(vserver, settings)];
        for (number, service) in (self.services + 1..).zip(services) {
            let service_id = ServiceId(number);
            changes.push(Change::AddService(
                service_id,
                self.service_settings(*service),
            ));
            let weight = Weight::DEFAULT;
            changes.push(Change::Bind(Bind {
                vserver,
                service: service_id,
                weight,
                order: None,
            }));
        }
        self.try_apply(&changes)?;
        self.vservers += 1;
        self.services += u32::try_from(services.len()).unwrap();
        Ok(())
    }

    fn try_apply(&mut self, changes: &[Change]) -> Result<(), PrepareError> {
        let prepared = self.plane.prepare(changes)?;
        self.plane.commit(prepared, changes);
        self.plane.handle_wake();
        Ok(())
    }
}

/// Only a test that fails waits so long.
const PATIENCE: Duration = Duration::from_secs(20);
/// No test sends this.
const STOP: &[u8] = b"the test is over";
