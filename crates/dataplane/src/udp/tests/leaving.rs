//! Sessions that are to leave their service.

use std::time::Duration;

use sluice_balance::{Change, Leave, ServiceId, State};

use super::*;

/// Disables the first service gradually, and asks the workers to let its sessions go.
fn let_go(rig: &mut Rig, others: &mut [&mut Rig], now: Instant) {
    rig.shared.with_engine_as_controller(|engine| {
        let leave = Leave {
            delay: Some(Duration::from_secs(60)),
            graceful: true,
        };
        engine.apply(&Change::DisableService(ServiceId(1), leave), now);
    });
    let which = CloseFlows {
        vserver: Some(VSERVER),
        dialled: None,
        service: Some(ServiceId(1)),
    };
    rig.side.move_flows(which, now);
    for other in others {
        other.side.move_flows(which, now);
    }
}

#[test]
fn sessions_that_leave_move_with_their_next_datagram_and_lose_no_answer() {
    let mut rig = Rig::new(2, None, None);
    let client = rig.client();
    let source = rig.send(&client, 0, b"a", at(0));
    let_go(&mut rig, &mut [], at(100));
    let moved = rig.send(&client, 1, b"b", at(200));
    assert_ne!(moved, source);
    assert_eq!((rig.side.flows(), rig.service(0).active), (2, 1));
    // The answer to what it sent before comes late.
    rig.services[0].send_to(b"A", source).unwrap();
    rig.turn_of(&[UDP_SESSION], at(300));
    assert_eq!(receive(&client).0, b"A");
    rig.timeout(at(1_999));
    assert_eq!(rig.side.flows(), 2);
    rig.timeout(at(2_000));
    assert_eq!((rig.side.flows(), rig.service(0).active), (1, 0));
    assert_eq!(rig.service(0).state, State::OutOfService);
    // The new session is not touched by the end of the former one.
    assert_eq!(rig.send(&client, 1, b"c", at(9_000)), moved);
    assert_eq!(rig.side.flows(), 1);
}

#[test]
fn session_that_leaves_and_hears_nothing_more_ends_soon() {
    let mut rig = Rig::new(2, Some(60_000), None);
    let client = rig.client();
    rig.send(&client, 0, b"a", at(1_000));
    let_go(&mut rig, &mut [], at(1_500));
    assert_eq!(rig.side.poll_timeout(), Some(at(3_000)));
    rig.timeout(at(3_000));
    assert_eq!((rig.side.flows(), rig.service(0).active), (0, 0));
    rig.send(&client, 1, b"b", at(4_000));
}

#[test]
fn session_stays_where_nobody_else_takes_its_client() {
    let mut rig = Rig::new(1, Some(60_000), None);
    let client = rig.client();
    let source = rig.send(&client, 0, b"a", at(0));
    let_go(&mut rig, &mut [], at(100));
    for ms in [200, 9_000, 50_000] {
        assert_eq!(rig.send(&client, 0, b"b", at(ms)), source);
        rig.timeout(at(ms));
    }
    assert_eq!((rig.side.flows(), rig.service(0).active), (1, 1));
    assert_eq!(rig.shared.udp.status().dropped_refused, 0);
    rig.timeout(at(110_000));
    assert_eq!((rig.side.flows(), rig.service(0).active), (0, 0));
}

#[test]
fn another_worker_moves_the_session_of_a_client_that_reaches_it() {
    let mut owner = Rig::new(2, None, None);
    let client = owner.client();
    owner.send(&client, 0, b"a", at(0));
    let mut other = owner.beside();
    let_go(&mut owner, &mut [&mut other], at(100));
    client.send(b"b").unwrap();
    other.turn_of(&[UDP_LISTENER], at(200));
    assert_eq!(receive(&owner.services[1]).0, b"b");
    assert_eq!((owner.side.flows(), other.side.flows()), (1, 1));
    owner.timeout(at(2_000));
    assert_eq!((owner.side.flows(), other.side.flows()), (0, 1));
    assert_eq!(owner.service(0).active, 0);
}
