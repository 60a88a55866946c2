//! The services: TCP echo, sink and source, and UDP echo, each thread with sockets of its own.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::thread;
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};

use super::poll::{Interest, Poll};
use super::udp::Batch;

/// What a TCP service does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Echo,
    Sink,
    Source,
}

/// Where the services are: the same ports on each address.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) addresses: Vec<IpAddr>,
    pub(crate) threads: usize,
}

/// The port of the TCP echo.
pub(crate) const ECHO: u16 = 7001;
/// The port that takes everything.
pub(crate) const SINK: u16 = 7002;
/// The port that sends without end.
pub(crate) const SOURCE: u16 = 7003;
/// The port of the UDP echo.
pub(crate) const UDP_ECHO: u16 = 7004;

/// Serves until the process ends.
///
/// # Errors
/// When a socket cannot be made.
pub(crate) fn run(plan: &Plan) -> io::Result<()> {
    let mut loops = Vec::new();
    for _ in 0..plan.threads {
        let mut sockets = Sockets::default();
        for address in &plan.addresses {
            for (kind, port) in [
                (Kind::Echo, ECHO),
                (Kind::Sink, SINK),
                (Kind::Source, SOURCE),
            ] {
                let listener = listen(SocketAddr::new(*address, port))?;
                sockets.listeners.push((kind, listener));
            }
            sockets
                .udp
                .push(bind_udp(SocketAddr::new(*address, UDP_ECHO))?);
        }
        loops.push(sockets);
    }
    let threads: Vec<_> = loops
        .into_iter()
        .map(|sockets| thread::spawn(move || Loop::new(sockets)?.run()))
        .collect();
    for thread in threads {
        thread.join().expect("a service does not panic")?;
    }
    Ok(())
}

/// What one thread serves.
#[derive(Default)]
pub(crate) struct Sockets {
    pub(crate) listeners: Vec<(Kind, TcpListener)>,
    pub(crate) udp: Vec<UdpSocket>,
}

/// One thread's services. Numbers: listeners first, then UDP sockets, then connections.
pub(crate) struct Loop {
    poll: Poll,
    sockets: Sockets,
    connections: HashMap<u64, (Kind, TcpStream)>,
    next: u64,
    buffer: Vec<u8>,
    batch: Batch,
}

impl Loop {
    pub(crate) fn new(sockets: Sockets) -> io::Result<Self> {
        let poll = Poll::new()?;
        let mut next = 0;
        for (_, listener) in &sockets.listeners {
            listener.set_nonblocking(true)?;
            poll.add(listener, next, Interest::Read)?;
            next += 1;
        }
        for socket in &sockets.udp {
            socket.set_nonblocking(true)?;
            poll.add(socket, next, Interest::Read)?;
            next += 1;
        }
        Ok(Self {
            poll,
            sockets,
            connections: HashMap::new(),
            next,
            buffer: vec![b'x'; 256 * 1024],
            batch: Batch::new(),
        })
    }

    pub(crate) fn run(&mut self) -> io::Result<()> {
        loop {
            for ready in self.poll.wait(Duration::from_secs(1))? {
                let number = usize::try_from(ready.number).unwrap_or(usize::MAX);
                let listeners = self.sockets.listeners.len();
                if number < listeners {
                    self.accept(number)?;
                } else if let Some(socket) = self.sockets.udp.get(number - listeners) {
                    self.batch.echo(socket);
                } else if self.serve(ready.number).is_err() {
                    self.connections.remove(&ready.number);
                }
            }
        }
    }

    fn accept(&mut self, number: usize) -> io::Result<()> {
        let (kind, listener) = &self.sockets.listeners[number];
        for _ in 0..64 {
            let Ok((stream, _)) = listener.accept() else {
                break;
            };
            stream.set_nonblocking(true)?;
            stream.set_nodelay(true)?;
            let interest = match kind {
                Kind::Echo | Kind::Sink => Interest::Read,
                Kind::Source => Interest::Write,
            };
            self.poll.add(&stream, self.next, interest)?;
            self.connections.insert(self.next, (*kind, stream));
            self.next += 1;
        }
        Ok(())
    }

    /// Goes on with a connection; an error ends it.
    fn serve(&mut self, number: u64) -> io::Result<()> {
        let Some((kind, stream)) = self.connections.get_mut(&number) else {
            return Ok(());
        };
        let moved = match kind {
            Kind::Echo => {
                // An echo is asked for little at a time, so it always fits what can be sent at once.
                let read = stream.read(&mut self.buffer[..65_536]);
                match read {
                    Ok(read) => stream.write_all(&self.buffer[..read]).map(|()| read),
                    Err(error) => Err(error),
                }
            }
            Kind::Sink => stream.read(&mut self.buffer),
            Kind::Source => stream.write(&self.buffer),
        };
        match moved {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
            Ok(_) | Err(_) => Ok(()),
        }
    }
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = shared_socket(address, Type::STREAM, Protocol::TCP)?;
    socket.bind(&address.into())?;
    socket.listen(16_384)?;
    Ok(socket.into())
}

fn bind_udp(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = shared_socket(address, Type::DGRAM, Protocol::UDP)?;
    super::udp::set_buffers(&socket);
    socket.bind(&address.into())?;
    Ok(socket.into())
}

fn shared_socket(address: SocketAddr, kind: Type, protocol: Protocol) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), kind, Some(protocol))?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    Ok(socket)
}
