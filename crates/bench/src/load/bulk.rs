//! Streams as fast as they go, one way.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use super::poll::{Interest, Poll};
use super::sample::Sample;
use super::{PATIENCE, Period};

/// Which way the bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Direction {
    /// From the client.
    Up,
    /// To the client.
    Down,
}

/// Sends or receives over so many streams for `seconds`.
///
/// # Errors
/// When a stream cannot be made or is lost.
pub(crate) fn run(
    address: SocketAddr,
    streams: usize,
    direction: Direction,
    seconds: f64,
) -> io::Result<Sample> {
    let mut poll = Poll::new()?;
    let mut sockets = Vec::with_capacity(streams);
    let interest = match direction {
        Direction::Up => Interest::Write,
        Direction::Down => Interest::Read,
    };
    for number in 0..streams {
        let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_nonblocking(true)?;
        poll.add(&stream, number as u64, interest)?;
        sockets.push(stream);
    }
    let mut buffer = vec![b'y'; CHUNK];
    let (mut all, mut counted) = (0_u64, 0_u64);
    let period = Period::begin(seconds);
    while Instant::now() < period.until {
        for ready in poll.wait(Duration::from_millis(50))? {
            let socket = &mut sockets[usize::try_from(ready.number).expect("a stream's number")];
            let moved = match direction {
                Direction::Up => socket.write(&buffer),
                Direction::Down => socket.read(&mut buffer),
            };
            let moved = match moved {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(moved) => moved as u64,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
                Err(error) => return Err(error),
            };
            all += moved;
            if period.counts(Instant::now()) {
                counted += moved;
            }
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "bytes of a few seconds")]
    let bits = counted as f64 * 8.0;
    Ok(Sample {
        rate: bits / period.seconds(),
        operations: all,
        ..Sample::default()
    })
}

/// Bytes per call.
const CHUNK: usize = 256 * 1024;
