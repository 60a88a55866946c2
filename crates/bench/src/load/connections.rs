//! Short connections: connect, send a byte, get it back, close; so many at once, again and again.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use super::poll::{Interest, Poll, Ready};
use super::sample::{Sample, Times};
use super::{Period, connect};

/// One connection and when it was begun.
struct Exchange {
    stream: TcpStream,
    begun: Instant,
    asked: bool,
}

/// Runs `at_once` connections at a time for `seconds`.
///
/// # Errors
/// When sockets cannot be made at all; a failed connection is counted instead.
pub(crate) fn run(address: SocketAddr, at_once: usize, seconds: f64) -> io::Result<Sample> {
    let mut poll = Poll::new()?;
    let mut places: Vec<Option<Exchange>> = (0..at_once).map(|_| None).collect();
    let mut times = Times::new();
    let mut sample = Sample::default();
    let period = Period::begin(seconds);
    while Instant::now() < period.until {
        for (number, place) in places.iter_mut().enumerate() {
            if place.is_none() {
                *place = begin(&poll, address, number, &mut sample);
            }
        }
        for ready in poll.wait(Duration::from_millis(50))? {
            let place = &mut places[usize::try_from(ready.number).expect("a place's number")];
            let Some(exchange) = place.as_mut() else {
                continue;
            };
            match step(&poll, exchange, &ready) {
                Ok(false) => {}
                Ok(true) => {
                    let now = Instant::now();
                    if period.counts(now) {
                        times.add(now - exchange.begun);
                    }
                    sample.operations += 1;
                    *place = None;
                }
                Err(_) => {
                    sample.errors += 1;
                    *place = None;
                }
            }
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "counts of a few seconds")]
    let answered = times.count() as f64;
    sample.rate = answered / period.seconds();
    sample.p50_us = times.quantile_us(0.5);
    sample.p99_us = times.quantile_us(0.99);
    Ok(sample)
}

/// Begins the connection of a place.
fn begin(poll: &Poll, address: SocketAddr, number: usize, sample: &mut Sample) -> Option<Exchange> {
    let begun = Instant::now();
    let made = connect(address).and_then(|stream| {
        poll.add(&stream, number as u64, Interest::Write)?;
        Ok(stream)
    });
    match made {
        Ok(stream) => Some(Exchange {
            stream,
            begun,
            asked: false,
        }),
        Err(_) => {
            sample.errors += 1;
            None
        }
    }
}

/// Goes on with an exchange; true when the answer is there.
fn step(poll: &Poll, exchange: &mut Exchange, ready: &Ready) -> io::Result<bool> {
    if !exchange.asked {
        if ready.broken {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        exchange.stream.write_all(b"a")?;
        exchange.asked = true;
        poll.set(&exchange.stream, ready.number, Interest::Read)?;
        return Ok(false);
    }
    match exchange.stream.read(&mut [0; 16]) {
        Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(error),
    }
}
