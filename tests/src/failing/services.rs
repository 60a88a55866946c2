//! The five services: the first one fails, the others answer after about 10 ms.
//!
//! Each has threads that wait at its listener, one more than there are clients, so that no client waits
//! for a thread; they end with the value.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use socket2::{Domain, Socket, Type};

use super::{Fault, SERVICES, TIME_LIMIT};
use crate::random::Random;

/// What a client sends.
pub const REQUEST: &[u8] = b"one call, please\n";

/// How many bytes an answer has.
pub const ANSWER: usize = 1_000;

/// What a good call takes at the service on average; it takes from half of that to one and a half of it.
pub const GOOD_CALL: Duration = Duration::from_millis(10);

/// Running services.
pub struct Services {
    addresses: Vec<SocketAddr>,
    stop: Arc<AtomicBool>,
    threads: Vec<(SocketAddr, JoinHandle<()>)>,
    /// Keeps the address of a service that refuses, without listening there.
    _reserved: Option<Socket>,
}

#[derive(Clone, Copy)]
enum Manner {
    Answers,
    Hangs,
    Closes,
}

impl Services {
    /// Starts the services.
    ///
    /// # Panics
    /// When loopback has no room.
    pub fn start(fault: Fault, clients: usize, seed: u64) -> Self {
        let mut started = Self {
            addresses: Vec::new(),
            stop: Arc::default(),
            threads: Vec::new(),
            _reserved: None,
        };
        match fault {
            Fault::Hang => started.add(Manner::Hangs, clients, seed),
            Fault::FastClose => started.add(Manner::Closes, clients, seed),
            Fault::Refused => started.reserve(),
        }
        for number in 1..SERVICES {
            started.add(Manner::Answers, clients, seed + number as u64);
        }
        started
    }

    /// Returns where they are, the failing one first.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    fn add(&mut self, manner: Manner, clients: usize, seed: u64) {
        let socket = bound();
        socket.listen(1024).expect("a bound socket can listen");
        let listener = TcpListener::from(socket);
        let address = listener.local_addr().expect("it is bound");
        self.addresses.push(address);
        for number in 0..=clients {
            let listener = listener.try_clone().expect("there are descriptors");
            let stop = Arc::clone(&self.stop);
            let random = Random::new(seed ^ (number as u64) << 32);
            let thread = thread::spawn(move || serve(&listener, manner, &stop, random));
            self.threads.push((address, thread));
        }
    }

    fn reserve(&mut self) {
        let socket = bound();
        let address = socket.local_addr().expect("it is bound").as_socket();
        self.addresses.push(address.expect("an address of IPv4"));
        self._reserved = Some(socket);
    }
}

impl Drop for Services {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // One connection for each thread that waits.
        for (address, _) in &self.threads {
            let _ = TcpStream::connect_timeout(address, TIME_LIMIT);
        }
        for (_, thread) in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn bound() -> Socket {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("there are sockets");
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    socket.bind(&any.into()).expect("loopback has a free port");
    socket
}

fn serve(listener: &TcpListener, manner: Manner, stop: &AtomicBool, mut random: Random) {
    let whole = u64::try_from(GOOD_CALL.as_nanos()).expect("it is short");
    while let Ok((stream, _)) = listener.accept() {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let time = GOOD_CALL / 2 + Duration::from_nanos(random.below(whole));
        // A client that has left is its own affair.
        let _ = match manner {
            Manner::Answers => answer(stream, time),
            Manner::Hangs => swallow(stream),
            Manner::Closes => Ok(()),
        };
    }
}

/// Answers one call and closes.
fn answer(mut stream: TcpStream, time: Duration) -> std::io::Result<()> {
    stream.set_read_timeout(Some(2 * TIME_LIMIT))?;
    let mut request = [0; REQUEST.len()];
    stream.read_exact(&mut request)?;
    thread::sleep(time);
    stream.write_all(&[b'.'; ANSWER])
}

/// Takes everything and says nothing until the client has left.
fn swallow(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_read_timeout(Some(2 * TIME_LIMIT))?;
    let mut buffer = [0; ANSWER];
    while stream.read(&mut buffer)? > 0 {}
    Ok(())
}
