//! Services chosen by a token in the client's first bytes.

use sluice_balance::TokenRange;

use super::*;

/// Three bytes after the first two.
fn rig() -> Rig {
    Rig::new(Method::Token(TokenRange::new(2, 3).unwrap()), 2)
}

/// Connects a client that says `words`, and turns until it has a service; returns the number of that.
fn ask(rig: &mut Rig, words: &[u8], now: Instant) -> (usize, TcpStream) {
    let before = rig.hits(now);
    let mut client = rig.client();
    client.write_all(words).unwrap();
    rig.turn_until(now, |rig| rig.hits(now) != before);
    let after = rig.hits(now);
    let chosen = after.iter().zip(&before).position(|(a, b)| a != b);
    (chosen.unwrap() + 1, client)
}

/// Connects a client that says nothing yet, and turns until it has been accepted.
fn wait(rig: &mut Rig, now: Instant) -> TcpStream {
    let flows = rig.side.flows();
    let client = rig.client();
    rig.turn_until(now, |rig| rig.side.flows() > flows);
    client
}

#[test]
fn clients_that_say_the_same_have_one_service() {
    let mut rig = rig();
    let mut open = Vec::new();
    let mut services = Vec::new();
    for token in b'a'..=b'z' {
        let (first, client) = ask(&mut rig, &[1, 2, token, token, token], at(1));
        let (again, other) = ask(&mut rig, &[8, 9, token, token, token, 7], at(1));
        assert_eq!(first, again, "{token}");
        services.push(first);
        open.extend([client, other]);
    }
    // That 26 tokens agree is one case in 33 million.
    assert!(services.contains(&1) && services.contains(&2));
}

#[test]
fn service_gets_the_bytes_that_were_looked_at_and_those_after_them() {
    let mut rig = rig();
    let (number, mut client) = ask(&mut rig, b"--one rest", at(1));
    let mut service = rig.accepted(number, at(1));
    rig.expect(&mut service, b"--one rest", at(1));
    client.write_all(b" and more").unwrap();
    rig.expect(&mut service, b" and more", at(1));
    service.write_all(b"answer").unwrap();
    rig.expect(&mut client, b"answer", at(1));
    assert_eq!(
        rig.service(u32::try_from(number).unwrap(), at(1)).bytes_in,
        19
    );
}

#[test]
fn token_may_come_in_pieces() {
    let mut rig = rig();
    let (chosen, _whole) = ask(&mut rig, b"--key", at(1));
    let hits = rig.hits(at(1));
    let mut client = wait(&mut rig, at(2));
    for piece in [&b"-"[..], b"-k", b"e"] {
        client.write_all(piece).unwrap();
        rig.turn(at(500));
        assert_eq!(rig.hits(at(500)), hits);
    }
    client.write_all(b"y").unwrap();
    // Both come to the same service, one after the other.
    for _ in 0..2 {
        let mut service = rig.accepted(chosen, at(900));
        rig.expect(&mut service, b"--key", at(900));
    }
}

#[test]
fn client_without_a_token_gets_the_service_with_the_fewest_connections_after_a_second() {
    let mut rig = rig();
    let mut clients: Vec<_> = (0..6).map(|_| wait(&mut rig, at(1))).collect();
    clients[0].write_all(b"--ke").unwrap();
    rig.turn(at(1_000));
    assert_eq!(rig.hits(at(1_000)), [0, 0]);
    assert_eq!(rig.side.poll_timeout(), Some(at(1_001)));
    rig.turn(at(1_001));
    assert_eq!(rig.hits(at(1_001)), [3, 3]);
}

#[test]
fn client_that_leaves_while_it_is_waited_for_uses_no_service() {
    let mut rig = rig();
    for (words, resets) in [(&b""[..], false), (b"", true), (b"--k", true)] {
        let mut client = wait(&mut rig, at(1));
        client.write_all(words).unwrap();
        if resets {
            let end = socket2::SockRef::from(&client);
            end.set_linger(Some(Duration::ZERO)).unwrap();
        }
        drop(client);
        rig.turn_until(at(1), |rig| rig.side.flows() == 0);
    }
    rig.turn(at(5_000));
    assert_eq!(rig.hits(at(5_000)), [0, 0]);
    assert_eq!(rig.aborted(at(5_000)), 3);
    assert_eq!(rig.side.poll_timeout(), None);
}

#[test]
fn client_that_finishes_with_too_few_bytes_is_served_at_once() {
    let mut rig = rig();
    let mut client = wait(&mut rig, at(1));
    client.write_all(b"--k").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    let mut service = rig.accepted(1, at(2));
    rig.expect(&mut service, b"--k", at(2));
}

#[test]
fn client_that_is_waited_for_holds_nobody_up() {
    let mut rig = rig();
    let _waiting = wait(&mut rig, at(1));
    let (_, _served) = ask(&mut rig, b"--key", at(1));
    assert_eq!(rig.side.flows(), 2);
}

#[test]
fn nobody_waits_where_no_service_can_be_had() {
    let mut rig = Rig::new(Method::Token(TokenRange::FIRST_BYTE), 0);
    let mut client = rig.client();
    let start = std::time::Instant::now();
    loop {
        rig.turn(at(1));
        match client.read(&mut [0; 1]) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            end => {
                assert_eq!(end.unwrap_err().kind(), ErrorKind::ConnectionReset);
                return;
            }
        }
        assert!(start.elapsed() < PATIENCE, "it is kept waiting");
    }
}
