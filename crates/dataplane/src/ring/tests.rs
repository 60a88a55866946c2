//! The ring on real sockets.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;

use super::*;

fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (near, listener.accept().unwrap().0)
}

/// A ring of this thread; `None` where the system forbids it, which is said.
pub(crate) fn ring() -> Option<Ring> {
    match Ring::new() {
        Ok(ring) => {
            ring.enable().unwrap();
            Some(ring)
        }
        Err(error) => {
            eprintln!("skipped: no io_uring here: {error}");
            None
        }
    }
}

fn next(ring: &mut Ring) -> Completion {
    let mut ended = Vec::new();
    while ended.is_empty() {
        ring.wait(Some(Duration::from_secs(10)), &mut ended)
            .unwrap();
    }
    assert_eq!(ended.len(), 1);
    ended.remove(0)
}

#[test]
fn bytes_received_are_sent_from_the_same_buffer() {
    let Some(mut ring) = ring() else { return };
    let (mut near, far) = pair();
    let (mut other, target) = pair();
    for round in 0..3000_u32 {
        near.write_all(&round.to_be_bytes()).unwrap();
        ring.receive(far.as_fd(), Key(1));
        let received = next(&mut ring);
        assert_eq!((received.key, received.result), (Key(1), 4));
        let lent = received.lent.unwrap();
        assert_eq!(ring.bytes(&lent), round.to_be_bytes());
        ring.send(target.as_fd(), &lent, Key(2));
        let sent = next(&mut ring);
        assert_eq!((sent.key, sent.result), (Key(2), 4));
        ring.give_back(lent);
        let mut room = [0; 4];
        other.read_exact(&mut room).unwrap();
        assert_eq!(room, round.to_be_bytes());
    }
}

#[test]
fn receive_without_a_buffer_left_says_so_and_loses_nothing() {
    let Some(mut ring) = ring() else { return };
    let (mut near, mut far) = pair();
    let mut kept = Vec::new();
    loop {
        near.write_all(b"x").unwrap();
        ring.receive(far.as_fd(), Key(1));
        let received = next(&mut ring);
        match received.lent {
            Some(lent) => kept.push(lent),
            None => {
                assert_eq!(received.result, -libc::ENOBUFS);
                break;
            }
        }
    }
    assert_eq!(kept.len(), 1024);
    let mut room = [0; 1];
    far.read_exact(&mut room).unwrap();
    assert_eq!(&room, b"x");
}

#[test]
fn cancelled_operation_ends() {
    let Some(mut ring) = ring() else { return };
    let (_near, far) = pair();
    ring.receive(far.as_fd(), Key(7));
    ring.cancel(Key(7));
    let ended = next(&mut ring);
    assert_eq!((ended.key, ended.result), (Key(7), -libc::ECANCELED));
    assert!(ended.lent.is_none());
}

#[test]
fn more_operations_than_fit_are_started_all_the_same() {
    let Some(mut ring) = ring() else { return };
    let (near, _far) = pair();
    let all = u64::from(SUBMISSIONS) * 3;
    for key in 0..all {
        ring.poll(near.as_fd(), libc::POLLOUT, false, Key(key));
    }
    let mut ended = Vec::new();
    while (ended.len() as u64) < all {
        ring.wait(Some(Duration::from_secs(10)), &mut ended)
            .unwrap();
    }
    let mut keys: Vec<_> = ended.iter().map(|ended| ended.key.0).collect();
    keys.sort_unstable();
    assert!(keys.into_iter().eq(0..all));
}

#[test]
fn wait_ends_with_its_time() {
    let Some(mut ring) = ring() else { return };
    let mut ended = Vec::new();
    ring.wait(Some(Duration::ZERO), &mut ended).unwrap();
    assert!(ended.is_empty());
}

#[test]
fn ring_stays_awake_for_one_flow_that_answers_at_once_and_for_nobody_else() {
    let Some(mut ring) = ring() else { return };
    let end = |flow| Completion {
        key: Key::new(flow, 1),
        result: 0,
        more: false,
        lent: None,
    };
    for (was_short, flows, awake) in [
        (true, &[7][..], false),
        (true, &[7, 7], true),
        (true, &[7], true),
        (false, &[7], false),
        (true, &[7], true),
        (true, &[8], false),
        (true, &[8], true),
        (true, &[8, 7], false),
        (true, &[8], false),
        (true, &[], false),
        (true, &[], false),
    ] {
        let ended: Vec<_> = flows.iter().map(|flow| end(*flow)).collect();
        ring.note_round(was_short, &ended);
        assert_eq!(ring.awake, awake, "{was_short} {flows:?}");
    }
}
