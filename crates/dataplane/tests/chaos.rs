//! Connections that are opened, written to, read, finished, reset and closed at random, byte by byte against a
//! model: what arrives is what was sent, in its order, and it ends as it was ended.

#![expect(
    clippy::unwrap_used,
    reason = "a step of a test's set-up that fails is to fail the test"
)]

mod tcp_rig;

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};

use sluice_dataplane::Driver;

use tcp_rig::{PATIENCE, Rig, byte, connect, reset};

#[test]
fn connections_at_random_get_what_was_sent_by_epoll() {
    play(Driver::Epoll);
}

#[test]
fn connections_at_random_get_what_was_sent_by_io_uring() {
    match Driver::Uring.probe() {
        Ok(()) => play(Driver::Uring),
        Err(error) => eprintln!("skipped: no io_uring here: {error}"),
    }
}

/// One end of a connection, and what is known of the other.
struct End {
    /// `None` once it is closed or reset.
    stream: Option<TcpStream>,
    seed: u64,
    sent: u64,
    received: u64,
    finished: bool,
    /// How it has gone.
    gone: Gone,
    /// Whether its reads have come to an end.
    read_to_end: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gone {
    No,
    /// By a close; a reset, if bytes were on their way to it.
    Closed,
    Reset,
}

/// The client's end and the service's.
type Pair = [End; 2];

fn play(driver: Driver) {
    let seed = std::env::var("SLUICE_SEED").map_or(0x0005_1ACE, |seed| seed.parse().unwrap());
    println!("SLUICE_SEED={seed} {driver}");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut rig = Rig::start_with(driver, 2);
    let vserver = rig.serve(&[listener.local_addr().unwrap()]);
    let mut numbers = Numbers(seed);
    let mut pairs: Vec<Option<Pair>> = (0..CONNECTIONS).map(|_| None).collect();
    let (mut opened, mut resets) = (0, 0);
    for _ in 0..STEPS {
        let slot = numbers.below(CONNECTIONS);
        let Some(pair) = &mut pairs[slot] else {
            opened += 1;
            pairs[slot] = Some(open(vserver, &listener, opened));
            continue;
        };
        let side = numbers.below(2);
        match numbers.below(100) {
            0..45 => {
                let most = [100, 5_000, 150_000][numbers.below(3)];
                let bytes = numbers.below(most);
                write(&mut pair[side], bytes as u64);
            }
            45..85 => read_some(pair, side, numbers.below(200_000)),
            85..90 => finish(&mut pair[side]),
            90..92 => {
                resets += 1;
                let end = &mut pair[side];
                end.gone = Gone::Reset;
                if let Some(stream) = end.stream.take() {
                    reset(stream);
                }
            }
            92..94 => {
                let end = &mut pair[side];
                end.gone = Gone::Closed;
                end.stream = None;
            }
            _ => end(pairs[slot].take()),
        }
        if pairs[slot]
            .as_ref()
            .is_some_and(|pair| pair.iter().any(|end| end.gone != Gone::No))
        {
            end(pairs[slot].take());
        }
    }
    pairs.into_iter().for_each(end);
    rig.wait_until_idle();
    let row = rig.service(1);
    assert_eq!((row.hits, row.active), (opened, 0));
    assert!(
        opened > 500 && resets > 50,
        "{opened} opened, {resets} resets"
    );
}

fn open(vserver: SocketAddr, listener: &TcpListener, number: u64) -> Pair {
    let client = connect(vserver);
    let (service, _) = listener.accept().unwrap();
    service.set_read_timeout(Some(PATIENCE)).unwrap();
    let new = |stream: TcpStream, seed| {
        stream.set_nonblocking(true).unwrap();
        End {
            stream: Some(stream),
            seed,
            sent: 0,
            received: 0,
            finished: false,
            gone: Gone::No,
            read_to_end: false,
        }
    };
    [new(client, 2 * number), new(service, 2 * number + 1)]
}

/// Writes at most so many bytes, as many as are taken at once.
fn write(end: &mut End, bytes: u64) {
    let Some(stream) = end.stream.as_mut().filter(|_| !end.finished) else {
        return;
    };
    let piece: Vec<_> = (end.sent..end.sent + bytes)
        .map(|place| byte(end.seed, place))
        .collect();
    match stream.write(&piece) {
        Ok(taken) => end.sent += taken as u64,
        Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
    }
}

fn finish(end: &mut End) {
    if let Some(stream) = &end.stream
        && !std::mem::replace(&mut end.finished, true)
    {
        stream.shutdown(Shutdown::Write).unwrap();
    }
}

/// Reads at most so many bytes at one side, which must be those that the other has sent next.
fn read_some(pair: &mut Pair, side: usize, most: usize) {
    let (seed, sent, finished) = {
        let from = &pair[1 - side];
        (from.seed, from.sent, from.finished)
    };
    let to = &mut pair[side];
    let mut room = vec![0; most + 1];
    let Some(stream) = to.stream.as_mut().filter(|_| !to.read_to_end) else {
        return;
    };
    match stream.read(&mut room) {
        Ok(0) => {
            assert!(finished, "an end that nobody has sent");
            assert_eq!(to.received, sent, "bytes before the end");
            to.read_to_end = true;
        }
        Ok(bytes) => note_received(to, seed, sent, &room[..bytes]),
        Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
    }
}

fn note_received(to: &mut End, seed: u64, sent: u64, bytes: &[u8]) {
    for got in bytes {
        assert_eq!(*got, byte(seed, to.received), "at {}", to.received);
        to.received += 1;
    }
    assert!(to.received <= sent, "more than was sent");
}

/// Finishes what is open of a connection and checks how it ends for those that are still there.
#[track_caller]
fn end(pair: Option<Pair>) {
    let Some(mut pair) = pair else { return };
    for side in &mut pair {
        // One whose other end has gone may be reset at any time.
        if let Some(stream) = &side.stream {
            let _ = stream.shutdown(Shutdown::Write);
        }
    }
    for side in 0..2 {
        let (seed, sent, gone, finished) = {
            let from = &pair[1 - side];
            (from.seed, from.sent, from.gone, from.finished)
        };
        let to = &mut pair[side];
        let Some(mut stream) = to.stream.take() else {
            continue;
        };
        stream.set_nonblocking(false).unwrap();
        let mut room = vec![0; 100_000];
        let error = loop {
            match stream.read(&mut room) {
                Ok(0) => break None,
                Ok(bytes) => note_received(to, seed, sent, &room[..bytes]),
                Err(error) => break Some(error.kind()),
            }
        };
        match (gone, error) {
            (Gone::No | Gone::Closed, None) => assert_eq!(to.received, sent, "{gone:?}"),
            // Its FIN may have been forwarded before.
            (Gone::Reset, None) => assert!(finished, "a reset that looks like an end"),
            (Gone::Reset | Gone::Closed, Some(ErrorKind::ConnectionReset)) => {}
            (_, error) => panic!("{gone:?} and then {error:?} after {} bytes", to.received),
        }
    }
}

/// A small generator of numbers, always the same ones for a seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        // Source: Sebastiano Vigna, splitmix64.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }
}

const CONNECTIONS: usize = 200;
const STEPS: usize = 10_000;
