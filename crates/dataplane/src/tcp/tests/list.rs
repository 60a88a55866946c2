//! What is shown of flows.

use super::*;
use crate::flow_rows::{ChosenService, FlowState};
use sluice_balance::Grounds;

#[test]
fn flow_shows_its_ends_its_times_and_its_bytes() {
    let mut rig = Rig::new(Method::LeastConnection, 1);
    let mut client = rig.client();
    let mut service = rig.accepted(1, at(1));
    client.write_all(b"hello").unwrap();
    rig.expect(&mut service, b"hello", at(3));
    let (rows, next) = rig.side.list(0, at(10));
    let expected = FlowStatus {
        protocol: Protocol::Tcp,
        client: client.local_addr().unwrap(),
        dialled_at: rig.address,
        dialled: VSERVER,
        service: Some(ChosenService {
            service: ServiceId(1),
            address: rig.services[0].local_addr().unwrap(),
            vserver: VSERVER,
            diversion: None,
            method: Method::LeastConnection,
            grounds: Some(Grounds::Least),
        }),
        state: FlowState::Established,
        age: Duration::from_millis(9),
        idle: Duration::from_millis(7),
        bytes: [5, 0],
    };
    assert_eq!((rows, next), (vec![expected], None));
    drop((client, service));
    rig.turn_until(at(20), |rig| rig.side.flows() == 0);
    assert_eq!(rig.side.list(0, at(20)), (Vec::new(), None));
}

#[test]
fn flow_that_waits_for_its_first_bytes_has_no_service() {
    let mut rig = Rig::new(Method::Token(sluice_balance::TokenRange::FIRST_BYTE), 1);
    let _client = rig.client();
    rig.turn_until(at(1), |rig| rig.side.flows() == 1);
    let (rows, _) = rig.side.list(0, at(5));
    let shown = rows[0];
    assert_eq!(
        (shown.state, shown.service),
        (FlowState::AwaitsClient, None)
    );
    assert_eq!(
        (shown.age, shown.idle),
        (Duration::from_millis(4), Duration::from_millis(4))
    );
}
