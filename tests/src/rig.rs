//! A daemon with one virtual server over given services, and what every case ends with: the daemon
//! alive, no panic logged, nothing left active, no socket left open.

use std::io::Read;
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use socket2::{Domain, Socket, Type};

use crate::daemon::{Daemon, free_address};
use crate::process::sockets;
use crate::services::grow;

/// A daemon whose virtual server `v1` has the services `s1`, `s2`, … bound to it.
pub struct Rig {
    /// The daemon.
    pub daemon: Daemon,
    /// Where clients connect.
    pub listen: SocketAddr,
    baseline: usize,
}

impl Rig {
    /// Starts a daemon with a TCP virtual server over `services`, with `options` of the virtual server.
    pub fn tcp(services: &[SocketAddr], options: &str) -> Self {
        Self::with(Daemon::start(), "TCP", services, options)
    }

    /// Starts a daemon with a UDP virtual server over `services`, with `options` of the virtual server.
    pub fn udp(services: &[SocketAddr], options: &str) -> Self {
        Self::with(Daemon::start(), "UDP", services, options)
    }

    /// Gives `daemon` a virtual server of `protocol` over `services`.
    pub fn with(daemon: Daemon, protocol: &str, services: &[SocketAddr], options: &str) -> Self {
        let listen = free_address();
        let (ip, port) = (listen.ip(), listen.port());
        let mut lines = format!("add lb vserver v1 {protocol} {ip} {port} {options}\n");
        for (index, service) in services.iter().enumerate() {
            let (name, ip, port) = (index + 1, service.ip(), service.port());
            lines += &format!("add service s{name} {ip} {protocol} {port}\n");
            lines += &format!("bind lb vserver v1 s{name}\n");
        }
        let ran = daemon.batch(&lines);
        assert_eq!(ran.code, 0, "{ran:?}");
        let baseline = sockets(daemon.pid());
        Self {
            daemon,
            listen,
            baseline,
        }
    }

    /// Connects a client.
    ///
    /// # Panics
    /// When the daemon does not listen.
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.listen).expect("the daemon listens");
        be_patient(&stream);
        stream
    }

    /// Connects a client of an address of 127/8 and returns the byte by which its service greets it.
    ///
    /// # Panics
    /// When the daemon does not listen, or the service does not greet.
    pub fn greeting_to(&self, client: [u8; 4]) -> u8 {
        self.greeted(client).1
    }

    /// Connects a client of an address of 127/8, which stays, and returns it with the byte by which its
    /// service greets it.
    ///
    /// # Panics
    /// When the daemon does not listen, or the service does not greet.
    pub fn greeted(&self, client: [u8; 4]) -> (TcpStream, u8) {
        let mut stream = self.connect_from(client);
        let mut greeting = [0];
        stream.read_exact(&mut greeting).expect("a service greets");
        (stream, greeting[0])
    }

    /// Connects a client of an address of 127/8.
    ///
    /// # Panics
    /// When the daemon does not listen.
    pub fn connect_from(&self, client: [u8; 4]) -> TcpStream {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("there are sockets");
        let client = SocketAddr::from((client, 0));
        socket.bind(&client.into()).expect("127/8 is loopback");
        let listen = self.listen.into();
        socket.connect(&listen).expect("the daemon listens");
        let stream = TcpStream::from(socket);
        be_patient(&stream);
        stream
    }

    /// Makes a UDP client that talks to the virtual server only.
    ///
    /// # Panics
    /// When loopback has no free port.
    pub fn client(&self) -> UdpSocket {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback has a free port");
        grow(&socket);
        socket.connect(self.listen).expect("loopback is reachable");
        socket
            .set_read_timeout(Some(PATIENCE))
            .expect("the time is not zero");
        socket
    }

    /// Returns a number of `stat lb vserver v1`.
    pub fn vserver(&self, field: &str) -> u64 {
        self.daemon.number("stat lb vserver v1", field)
    }

    /// Returns a number of `stat service NAME`.
    pub fn service(&self, name: &str, field: &str) -> u64 {
        self.daemon.number(&format!("stat service {name}"), field)
    }

    /// Returns a number of each service bound to the virtual server, in bind order.
    ///
    /// # Panics
    /// When there is no such number.
    pub fn bound(&self, field: &str) -> Vec<u64> {
        let document = self.daemon.json("stat lb vserver v1");
        let rows = document[0]["bound"].as_array().expect("rows");
        let number = |row: &serde_json::Value| row[field].as_u64().expect("a number");
        rows.iter().map(number).collect()
    }

    /// Ends a case, once all clients have gone.
    ///
    /// # Panics
    /// When something is left behind.
    pub fn finish(mut self) {
        assert!(self.daemon.is_alive(), "{}", self.daemon.log().join("\n"));
        // Clients that left while they waited in a queue are still accepted, a few at a time.
        eventually("nothing is active", || {
            let services = self.daemon.json("stat service");
            let mut services = services.as_array().expect("rows").iter();
            self.vserver("active") == 0 && services.all(|service| service["active"] == 0)
        });
        eventually("all sockets are closed", || {
            sockets(self.daemon.pid()) <= self.baseline
        });
        let log = self.daemon.log().join("\n");
        assert!(!log.contains("panicked"), "{log}");
        assert!(self.daemon.is_alive(), "{log}");
    }
}

/// Lets reads of `stream` wait long, but not for ever.
///
/// # Panics
/// Never: the time is not zero.
pub fn be_patient(stream: &TcpStream) {
    stream
        .set_read_timeout(Some(PATIENCE))
        .expect("the time is not zero");
}

/// Polls until `condition` holds; for effects that need another thread or process.
///
/// # Panics
/// When it does not hold in time.
pub fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(
            started.elapsed() < PATIENCE,
            "{what}: not within {PATIENCE:?}"
        );
        thread::sleep(Duration::from_millis(10));
    }
}

/// Sends one datagram and returns its answer.
///
/// # Panics
/// When none comes.
pub fn ask(socket: &UdpSocket, datagram: &[u8]) -> Vec<u8> {
    socket.send(datagram).expect("the daemon listens");
    receive(socket)
}

/// Returns the next datagram.
///
/// # Panics
/// When none comes.
pub fn receive(socket: &UdpSocket) -> Vec<u8> {
    let mut buffer = vec![0; 1 << 16];
    let n = socket.recv(&mut buffer).expect("a datagram comes");
    buffer.truncate(n);
    buffer
}

/// How long to wait for what should come at once: test machines are busy.
pub const PATIENCE: Duration = Duration::from_secs(20);
