//! `maxClient`, the services a caller excludes, and the reasons of a refusal.

use sluice_balance::{Change, CloseReason, Method, Refusal, ServiceId, VserverId};

use crate::rig::{Rig, V, flow, vserver};

const METHODS: [Method; 4] = [
    Method::RoundRobin,
    Method::LeastConnection,
    Method::LeastBandwidth,
    Method::LeastPackets,
];

#[test]
fn max_client_is_exact_for_every_method() {
    for method in METHODS {
        let mut rig = Rig::new(method, &[1, 1]);
        rig.set(1, |settings| settings.max_client = Some(2));
        rig.set(2, |settings| settings.max_client = Some(3));
        rig.picks(5);
        assert_eq!([1, 2].map(|s| rig.service(s).active), [2, 3], "{method:?}");
        assert_eq!(rig.try_pick(&[]), Err(Refusal::Full), "{method:?}");
        rig.close(1, CloseReason::Finished);
        assert_eq!(rig.pick(), 1, "{method:?}");
        assert_eq!(rig.vserver().refused, 1, "{method:?}");
    }
}

#[test]
fn max_client_counts_the_flows_of_all_virtual_servers() {
    let mut rig = Rig::new(Method::RoundRobin, &[1]);
    rig.set_active(1, 2);
    rig.set(1, |settings| settings.max_client = Some(2));
    assert_eq!(rig.try_pick(&[]), Err(Refusal::Full));
}

#[test]
fn max_client_lowered_below_the_count_waits_for_flows_to_end() {
    let mut rig = Rig::new(Method::LeastConnection, &[1]);
    rig.picks(3);
    rig.set(1, |settings| settings.max_client = Some(1));
    for _ in 0..2 {
        rig.close(1, CloseReason::Finished);
        assert_eq!(rig.try_pick(&[]), Err(Refusal::Full));
    }
    rig.close(1, CloseReason::Finished);
    assert_eq!(rig.pick(), 1);
}

#[test]
fn max_client_holds_while_a_service_is_disabled_and_enabled() {
    let mut rig = Rig::new(Method::RoundRobin, &[1, 1]);
    let limit = |enabled| {
        move |settings: &mut sluice_balance::ServiceSettings| {
            settings.max_client = Some(20);
            settings.enabled = enabled;
        }
    };
    for _ in 0..50 {
        rig.set(2, limit(false));
        rig.pick();
        rig.set(2, limit(true));
        rig.pick();
    }
    assert_eq!(rig.service(2).active, 20);
}

#[test]
fn services_that_were_tried_are_left_out() {
    for method in METHODS {
        let mut rig = Rig::new(method, &[1, 1, 1]);
        assert_eq!(rig.try_pick(&[1, 2]), Ok(3), "{method:?}");
        assert_eq!(rig.try_pick(&[1, 2, 3]), Err(Refusal::Full), "{method:?}");
    }
}

#[test]
fn flow_that_is_retried_is_one_hit_of_its_virtual_server() {
    let mut rig = Rig::new(Method::RoundRobin, &[1, 1]);
    rig.try_pick(&[]).unwrap();
    rig.try_pick(&[1]).unwrap();
    assert_eq!(rig.vserver().hits, 1);
    assert_eq!([1, 2].map(|s| rig.service(s).hits), [1, 1]);

    let retried = rig.engine.select(V, &flow(), &[ServiceId(1)], rig.now);
    let reservation = retried.unwrap().reservation;
    rig.engine.handle_unused(reservation, rig.now);
    assert_eq!((rig.vserver().hits, rig.service(2).hits), (1, 1));
}

#[test]
fn refusal_names_its_reason_and_is_counted() {
    let mut rig = Rig::new(Method::RoundRobin, &[]);
    assert_eq!(rig.try_pick(&[]), Err(Refusal::Down));
    rig.add_service(1);
    rig.bind(1, 1);
    rig.enable(1, false);
    assert_eq!(rig.try_pick(&[]), Err(Refusal::Down));
    let mut disabled = vserver(Method::RoundRobin);
    disabled.enabled = false;
    rig.apply(Change::SetVserver(V, disabled));
    assert_eq!(rig.try_pick(&[]), Err(Refusal::OutOfService));
    assert_eq!((rig.vserver().refused, rig.vserver().hits), (3, 0));
    let gone = rig.engine.select(VserverId(9), &flow(), &[], rig.now);
    assert_eq!(gone.unwrap_err(), Refusal::NoVserver);
}
