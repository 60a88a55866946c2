//! Clients that leave while they wait in the queue of a listener.

use super::*;

#[test]
fn client_that_has_reset_in_the_queue_uses_no_service() {
    let mut rig = Rig::new(Method::RoundRobin, 1);
    for _ in 0..3 {
        let client = rig.client();
        socket2::SockRef::from(&client)
            .set_linger(Some(Duration::ZERO))
            .unwrap();
        drop(client);
    }
    // Accepted after them, so they are gone when it has been served.
    let mut client = rig.client();
    client.write_all(b"hello").unwrap();
    let mut service = rig.accepted(1, at(1));
    rig.expect(&mut service, b"hello", at(1));
    let row = rig.service(1, at(1));
    assert_eq!((row.hits, row.active, row.client_resets), (1, 1, 0));
    assert_eq!(rig.aborted(at(1)), 3);
    assert_eq!(rig.side.flows(), 1);
}

#[test]
fn client_that_has_finished_in_the_queue_is_served() {
    let mut rig = Rig::new(Method::RoundRobin, 1);
    let mut client = rig.client();
    client.write_all(b"bye").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    let mut service = rig.accepted(1, at(1));
    rig.expect(&mut service, b"bye", at(1));
    assert_eq!((rig.hits(at(1)), rig.aborted(at(1))), (vec![1], 0));
}
