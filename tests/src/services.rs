//! Real services to balance over: small servers on loopback, one thread each, ended with the value.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use socket2::{Domain, Socket, Type};

/// A TCP service; every connection is handed to `serve` on a thread of its own.
pub struct TcpService {
    address: SocketAddr,
    accepted: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
}

impl TcpService {
    /// Starts a service on a free port of loopback.
    ///
    /// # Panics
    /// When loopback has no free port.
    pub fn start(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> Self {
        let serve = Arc::new(serve);
        Self::start_inline(move |stream| {
            let serve = Arc::clone(&serve);
            thread::spawn(move || serve(stream));
        })
    }

    /// Starts a service whose accepting thread calls `take` with every connection.
    fn start_inline(take: impl Fn(TcpStream) + Send + 'static) -> Self {
        let listener = listen();
        let address = listener
            .local_addr()
            .expect("a bound socket has an address");
        let accepted = Arc::new(AtomicU64::new(0));
        let stop = Arc::new(AtomicBool::new(false));
        let (count, ended) = (Arc::clone(&accepted), Arc::clone(&stop));
        thread::spawn(move || {
            for stream in listener.incoming() {
                if ended.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                count.fetch_add(1, Ordering::Relaxed);
                take(stream);
            }
        });
        Self {
            address,
            accepted,
            stop,
        }
    }

    /// Starts a service that sends back what it receives, and finishes when the client does.
    pub fn echo() -> Self {
        Self::start(|mut stream| {
            let mut buffer = vec![0; 1 << 16];
            while let Ok(n @ 1..) = stream.read(&mut buffer) {
                if stream.write_all(&buffer[..n]).is_err() {
                    return;
                }
            }
        })
    }

    /// Starts a service that greets every client with `greeting` and then holds the connection, on
    /// one thread for all of them, until the service is dropped.
    ///
    /// # Panics
    /// When loopback has no free port.
    pub fn hold(greeting: &'static [u8]) -> Self {
        let held = Mutex::new(Vec::new());
        Self::start_inline(move |mut stream| {
            let _ = stream.write_all(greeting);
            held.lock().expect("no holder panics").push(stream);
        })
    }

    /// Returns where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns how many connections it has accepted.
    pub fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }
}

impl Drop for TcpService {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
    }
}

/// A UDP service; every datagram is handed to `answer`, whose results go back to the sender.
pub struct UdpService {
    address: SocketAddr,
    received: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
}

impl UdpService {
    /// Starts a service on a free port of loopback.
    ///
    /// # Panics
    /// When loopback has no free port.
    pub fn start(
        mut answer: impl FnMut(&[u8], SocketAddr) -> Vec<Vec<u8>> + Send + 'static,
    ) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback has a free port");
        grow(&socket);
        let address = socket.local_addr().expect("a bound socket has an address");
        socket
            .set_read_timeout(Some(Duration::from_millis(50)))
            .expect("the time is not zero");
        let received = Arc::new(AtomicU64::new(0));
        let stop = Arc::new(AtomicBool::new(false));
        let (count, ended) = (Arc::clone(&received), Arc::clone(&stop));
        thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            while !ended.load(Ordering::Relaxed) {
                let Ok((n, from)) = socket.recv_from(&mut buffer) else {
                    continue;
                };
                count.fetch_add(1, Ordering::Relaxed);
                for datagram in answer(&buffer[..n], from) {
                    let _ = socket.send_to(&datagram, from);
                }
            }
        });
        Self {
            address,
            received,
            stop,
        }
    }

    /// Starts a service that sends every datagram back.
    pub fn echo() -> Self {
        Self::start(|datagram, _| vec![datagram.to_vec()])
    }

    /// Returns where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns how many datagrams it has received.
    pub fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }
}

impl Drop for UdpService {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Listens on a free port with a queue so long that thousands may connect at once: a full queue makes
/// the system use SYN cookies, and a client of those can wait for ever for a service that speaks first.
fn listen() -> TcpListener {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("there are sockets");
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    socket.bind(&any.into()).expect("loopback has a free port");
    socket.listen(4096).expect("a bound socket can listen");
    socket.into()
}

/// Gives a socket buffers so large that the rig itself does not drop.
pub fn grow(socket: &UdpSocket) {
    let socket = socket2::SockRef::from(socket);
    // The system caps these for ordinary users; what it grants is enough for a closed loop.
    let _ = socket.set_recv_buffer_size(4 << 20);
    let _ = socket.set_send_buffer_size(4 << 20);
}

/// Makes closing `stream` send a reset.
pub fn reset_on_close(stream: &TcpStream) {
    let socket = socket2::SockRef::from(stream);
    socket
        .set_linger(Some(Duration::ZERO))
        .expect("the socket is open");
}
