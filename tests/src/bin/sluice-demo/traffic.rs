//! The clients.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use sha2::{Digest, Sha256};
use sluice_tests::random::Random;

use crate::rig::ENDLESS;

/// How much the echo check moves, each way.
pub(crate) const ECHO_MIB: usize = 64;

/// What the echo check found, in hexadecimal.
pub(crate) struct Echo {
    /// The hash of what was sent.
    pub(crate) sent: String,
    /// The hash of what came back.
    pub(crate) received: String,
}

/// Sends bytes through an echo service and compares.
pub(crate) fn echo(address: SocketAddr) -> Result<Echo, String> {
    let stream = TcpStream::connect(address).map_err(|error| error.to_string())?;
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let (mut random, mut hash) = (Random::new(1), Sha256::new());
            let mut chunk = vec![0; 1 << 20];
            for _ in 0..ECHO_MIB {
                random.fill(&mut chunk);
                hash.update(&chunk);
                (&stream).write_all(&chunk)?;
            }
            stream.shutdown(Shutdown::Write)?;
            std::io::Result::Ok(hash.finalize())
        });
        let mut hash = Sha256::new();
        let mut chunk = vec![0; 1 << 20];
        loop {
            match (&stream)
                .read(&mut chunk)
                .map_err(|error| error.to_string())?
            {
                0 => break,
                n => hash.update(&chunk[..n]),
            }
        }
        let sent = writer.join().expect("the writer does not panic");
        let sent = sent.map_err(|error| error.to_string())?;
        Ok(Echo {
            sent: format!("{sent:x}"),
            received: format!("{:x}", hash.finalize()),
        })
    })
}

/// What the clients saw in all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Totals {
    /// TCP requests answered in full.
    pub(crate) tcp: u64,
    /// UDP questions that were answered; one from a port that was used before belongs to the session
    /// of that port.
    pub(crate) udp: u64,
    /// Requests that failed.
    pub(crate) failed: u64,
}

/// Clients that ask again and again.
pub(crate) struct Traffic {
    stop: Arc<AtomicBool>,
    tcp: Arc<AtomicU64>,
    udp: Arc<AtomicU64>,
    failed: Arc<AtomicU64>,
    threads: Vec<JoinHandle<()>>,
}

impl Traffic {
    /// Starts two TCP and two UDP clients, each with about 25 requests per second.
    pub(crate) fn start(tcp: SocketAddr, udp: SocketAddr) -> Self {
        let mut traffic = Self {
            stop: Arc::default(),
            tcp: Arc::default(),
            udp: Arc::default(),
            failed: Arc::default(),
            threads: Vec::new(),
        };
        for _ in 0..2 {
            traffic.client(Arc::clone(&traffic.tcp), move || tcp_request(tcp));
            traffic.client(Arc::clone(&traffic.udp), move || udp_session(udp));
        }
        traffic
    }

    fn client(
        &mut self,
        done: Arc<AtomicU64>,
        ask: impl Fn() -> std::io::Result<()> + Send + 'static,
    ) {
        let (stop, failed) = (Arc::clone(&self.stop), Arc::clone(&self.failed));
        self.threads.push(thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                let counter = if ask().is_ok() { &done } else { &failed };
                counter.fetch_add(1, Ordering::Relaxed);
                thread::sleep(Duration::from_millis(40));
            }
        }));
    }

    /// Stops the clients and tells what they saw.
    pub(crate) fn stop(self) -> Totals {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads {
            thread.join().expect("a client does not panic");
        }
        Totals {
            tcp: self.tcp.load(Ordering::Relaxed),
            udp: self.udp.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
        }
    }
}

/// One connection, one request, its whole answer.
fn tcp_request(address: SocketAddr) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    stream.write_all(b"r")?;
    stream.shutdown(Shutdown::Write)?;
    match std::io::copy(&mut stream, &mut std::io::sink())? {
        0 => Err(std::io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(()),
    }
}

/// One session of one question; its answers are read until they stop coming.
fn udp_session(address: SocketAddr) -> std::io::Result<()> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    socket.connect(address)?;
    socket.set_read_timeout(Some(Duration::from_secs(5)))?;
    socket.send(b"q")?;
    let mut buffer = [0; 2048];
    socket.recv(&mut buffer)?;
    socket.set_read_timeout(Some(Duration::from_millis(2)))?;
    while socket.recv(&mut buffer).is_ok() {}
    Ok(())
}

/// One client that downloads without end, at about 8 Mbit/s, until dropped.
pub(crate) struct Bulk {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Bulk {
    /// Starts it.
    pub(crate) fn start(address: SocketAddr) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let Ok(mut stream) = TcpStream::connect(address) else {
                return;
            };
            if stream.write_all(&[ENDLESS]).is_err() {
                return;
            }
            let mut buffer = vec![0; 50_000];
            while !ended.load(Ordering::Relaxed) && stream.read_exact(&mut buffer).is_ok() {
                thread::sleep(Duration::from_millis(50));
            }
        });
        Self {
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for Bulk {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
