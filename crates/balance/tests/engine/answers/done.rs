//! Flows that the service has finished with, while their clients are still there.

use sluice_balance::{CloseReason, Method};

use crate::rig::Rig;

const METHODS: [Method; 3] = [
    Method::LeastConnection,
    Method::LeastRequest,
    Method::LeastResponseTime,
];

#[test]
fn flow_that_the_service_has_finished_with_is_not_in_the_way_of_the_next() {
    for method in METHODS {
        let mut rig = Rig::new(method, &[1; 3]);
        assert_eq!(rig.picks(3), [1, 2, 3]);
        let flows = [1, 2, 3].map(|number| rig.take(number));
        rig.engine.handle_service_done(&flows[1]);
        // Once is enough.
        rig.engine.handle_service_done(&flows[1]);
        assert_eq!(rig.pick(), 2, "{method:?}");
        // It has one again, as the others have.
        assert_ne!(rig.pick(), 2, "{method:?}");
        assert_eq!(rig.service(2).active, 2, "it is still open");
    }
}

#[test]
fn end_of_such_a_flow_changes_nothing_more() {
    for method in METHODS {
        let mut rig = Rig::new(method, &[1; 2]);
        assert_eq!(rig.picks(3), [1, 2, 1]);
        let done = rig.take(1);
        rig.engine.handle_service_done(&done);
        rig.engine
            .handle_close(done, CloseReason::Finished, rig.now);
        // One each: both get one more, and then both again.
        for _ in 0..2 {
            let mut picks = rig.picks(2);
            picks.sort_unstable();
            assert_eq!(picks, [1, 2], "{method:?}");
        }
    }
}

#[test]
fn limits_count_it_until_it_has_ended() {
    let mut rig = Rig::new(Method::LeastConnection, &[1; 2]);
    rig.set(1, |settings| settings.max_client = Some(1));
    assert_eq!(rig.pick(), 1);
    let flow = rig.take(1);
    rig.engine.handle_service_done(&flow);
    assert_eq!(rig.picks(2), [2, 2]);
    rig.engine
        .handle_close(flow, CloseReason::Finished, rig.now);
    assert_eq!(rig.pick(), 1);
}

#[test]
fn service_that_was_removed_meanwhile_is_left_out() {
    let mut rig = Rig::new(Method::LeastConnection, &[1; 2]);
    assert_eq!(rig.pick(), 1);
    let flow = rig.take(1);
    rig.unbind(1);
    rig.apply(sluice_balance::Change::RemoveService(
        sluice_balance::ServiceId(1),
    ));
    rig.engine.handle_service_done(&flow);
    rig.engine
        .handle_close(flow, CloseReason::Finished, rig.now);
    assert_eq!(rig.pick(), 2);
}
