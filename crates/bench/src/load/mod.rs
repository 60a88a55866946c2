//! The load generator: clients of several kinds and the services that answer them.
//!
//! Each client runs in one thread against one address and ends after its time; what it saw is a
//! [`Sample`](sample::Sample). All talk to [`server`], directly or through a balancer.

pub(crate) mod bulk;
pub(crate) mod connections;
pub(crate) mod idle;
pub(crate) mod ping_pong;
mod poll;
pub(crate) mod sample;
pub(crate) mod server;
pub(crate) mod udp;

#[cfg(test)]
mod tests;

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use socket2::{Domain, Protocol, Socket, Type};

/// Begins to connect to `address`; the stream is ready when it can be written to.
///
/// # Errors
/// What the system says of the socket or the connection.
fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    socket.set_nonblocking(true)?;
    socket.set_tcp_nodelay(true)?;
    match socket.connect(&address.into()) {
        Ok(()) => Ok(socket.into()),
        Err(error) if error.raw_os_error() == Some(IN_PROGRESS) => Ok(socket.into()),
        Err(error) => Err(error),
    }
}

/// Connects and exchanges one byte, so that the whole way is known to work; then non-blocking.
///
/// # Errors
/// When the echo does not come within 5 s.
fn connect_and_prime(address: SocketAddr) -> io::Result<TcpStream> {
    use std::io::{Read, Write};

    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(b"i")?;
    stream.read_exact(&mut [0])?;
    stream.set_nonblocking(true)?;
    Ok(stream)
}

/// The times of one run: nothing is counted before `from` and after `until`.
#[derive(Clone, Copy, Debug)]
struct Period {
    start: Instant,
    from: Instant,
    until: Instant,
}

impl Period {
    /// Begins now, with a short warm-up before what counts.
    fn begin(seconds: f64) -> Self {
        let start = Instant::now();
        let from = start + WARM_UP;
        let until = from + Duration::from_secs_f64(seconds);
        Self { start, from, until }
    }

    /// Whether what happens at `at` counts.
    fn counts(&self, at: Instant) -> bool {
        at >= self.from && at < self.until
    }

    /// Returns the seconds that count.
    fn seconds(&self) -> f64 {
        (self.until - self.from).as_secs_f64()
    }
}

/// How long the caches of the machine and of a balancer have to get warm.
const WARM_UP: Duration = Duration::from_millis(200);
/// How long a single answer may take before the way is taken as broken.
const PATIENCE: Duration = Duration::from_secs(5);
/// `EINPROGRESS`.
const IN_PROGRESS: i32 = 115;
