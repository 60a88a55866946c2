//! Counts and reservations while objects come and go, and while clocks disagree.

use std::time::Duration;

use sluice_balance::{
    Change, CloseReason, Method, ServiceId, ServiceSettings, VserverId, VserverSettings,
};

use crate::rig::{Rig, V, at, bind, flow, service, vserver};

#[test]
fn selection_carries_the_settings_of_both_sides() {
    let mut rig = Rig::new(Method::RoundRobin, &[1]);
    let idle = |seconds| Some(Duration::from_secs(seconds));
    let behind = ServiceSettings {
        idle: idle(3),
        ..service()
    };
    let front = VserverSettings {
        idle: idle(5),
        ..vserver(Method::RoundRobin)
    };
    rig.apply(Change::SetService(ServiceId(1), behind));
    rig.apply(Change::SetVserver(V, front));
    let chosen = rig.engine.select(V, &flow(), &[], rig.now).unwrap();
    assert_eq!(chosen.address, service().address);
    assert_eq!(
        (chosen.client_idle, chosen.service_idle),
        (idle(5), idle(3))
    );
    chosen.service_counters.add_in(10, 1);
    chosen.vserver_counters.add_out(20, 2);
    let (inner, outer) = (rig.service(1), rig.vserver());
    assert_eq!(
        (inner.bytes_in, inner.packets_in, inner.bytes_out),
        (10, 1, 0)
    );
    assert_eq!(
        (outer.bytes_out, outer.packets_out, outer.bytes_in),
        (20, 2, 0)
    );
    rig.engine
        .handle_close(chosen.reservation, CloseReason::Finished, rig.now);
}

#[test]
fn flows_count_on_service_binding_and_vserver() {
    let mut rig = Rig::new(Method::RoundRobin, &[2, 1]);
    rig.set_active(2, 4);
    rig.picks(3);
    rig.close(1, CloseReason::Finished);
    let shown = rig.vserver();
    assert_eq!((shown.active, shown.hits), (2, 3));
    let rows = shown
        .bindings
        .iter()
        .map(|row| (row.service.0, row.active, row.hits));
    assert_eq!(rows.collect::<Vec<_>>(), [(1, 1, 2), (2, 1, 1)]);
    assert_eq!([1, 2].map(|s| rig.service(s).active), [1, 5]);
    assert_eq!([1, 2].map(|s| rig.service(s).hits), [2, 5]);
}

#[test]
fn unused_place_counts_nowhere() {
    let mut rig = Rig::new(Method::LeastConnection, &[1, 1]);
    rig.picks(2);
    let before = rig.engine.snapshot(rig.now);
    assert_eq!(rig.pick(), 1);
    rig.close(2, CloseReason::Finished);
    assert_eq!(rig.pick(), 2);
    let _older = rig.take(1);
    let reservation = rig.take(1);
    rig.engine.handle_unused(reservation, rig.now);
    let after = rig.engine.snapshot(rig.now);
    assert_eq!(after.services[0], before.services[0]);
    assert_eq!(after.services[1].hits, 2);
    assert_eq!(after.vservers[0].hits, 3);
    assert_eq!(
        after.vservers[0].bindings[0],
        before.vservers[0].bindings[0]
    );
}

#[test]
fn end_of_a_flow_is_counted_by_its_reason() {
    let mut rig = Rig::new(Method::RoundRobin, &[1]);
    let reasons = [
        (CloseReason::Finished, 1),
        (CloseReason::ConnectFailed, 2),
        (CloseReason::ClientReset, 3),
        (CloseReason::ServiceReset, 4),
        (CloseReason::IdleLimit, 5),
        (CloseReason::Flushed, 6),
        (CloseReason::Local, 7),
    ];
    for (reason, times) in reasons {
        for _ in 0..times {
            rig.pick();
            rig.close(1, reason);
        }
    }
    let shown = rig.service(1);
    assert_eq!((shown.active, shown.hits), (0, 28));
    assert_eq!((shown.connect_failures, shown.service_resets), (2, 4));
    assert_eq!((shown.client_resets, shown.idle_closes), (3, 5));
    assert_eq!(shown.local_failures, 7);
}

#[test]
fn unrelated_changes_leave_counters_windows_and_flows_alone() {
    let mut rig = Rig::new(Method::LeastBandwidth, &[1, 2, 3]);
    rig.add_service(4);
    rig.run_to(5_000);
    rig.picks(9);
    for number in 1..=3 {
        rig.traffic(number, 1_000, 50);
    }
    rig.close(2, CloseReason::ServiceReset);
    let before = rig.engine.snapshot(rig.now);

    rig.apply(Change::AddVserver(
        VserverId(2),
        vserver(Method::RoundRobin),
    ));
    rig.set_method(Method::LeastPackets);
    rig.bind(4, 1);
    rig.apply(Change::Bind(bind(VserverId(2), 1, 1)));
    rig.apply(Change::Unbind(V, ServiceId(4)));
    rig.apply(Change::SetWeight(bind(V, 1, 9)));
    rig.apply(Change::SetWeight(bind(V, 1, 1)));
    rig.apply(Change::RemoveService(ServiceId(4)));
    rig.apply(Change::Unbind(VserverId(2), ServiceId(1)));
    rig.apply(Change::RemoveVserver(VserverId(2)));
    rig.set_method(Method::LeastBandwidth);

    let after = rig.engine.snapshot(rig.now);
    assert_eq!(after.services[..], before.services[..3]);
    assert_eq!(after.vservers, before.vservers);
    // Nor does the turn move: nine choices in a tie ended with service 3.
    rig.run_to(30_000);
    assert_eq!(rig.picks(2), [1, 2]);
}

#[test]
fn disable_and_enable_keep_counters_and_window() {
    let mut rig = Rig::new(Method::LeastBandwidth, &[1, 1]);
    rig.picks(2);
    rig.traffic(1, 100, 200);
    let before = rig.service(1);
    rig.enable(1, false);
    rig.enable(1, true);
    assert_eq!(rig.service(1), before);
}

#[test]
fn place_on_a_removed_service_is_taken_back_harmlessly() {
    let mut rig = Rig::new(Method::RoundRobin, &[1, 1]);
    rig.picks(4);
    rig.unbind(1);
    rig.apply(Change::RemoveService(ServiceId(1)));
    // Another service reuses the room of the removed one.
    rig.add_service(3);
    rig.bind(3, 1);
    assert_eq!(rig.vserver().active, 4);
    rig.close(1, CloseReason::Flushed);
    let unused = rig.take(1);
    rig.engine.handle_unused(unused, rig.now);
    assert_eq!((rig.vserver().active, rig.vserver().hits), (2, 3));
    assert_eq!([2, 3].map(|s| rig.service(s).active), [2, 0]);
    assert_eq!([2, 3].map(|s| rig.service(s).hits), [2, 0]);
}

#[test]
fn place_through_a_removed_vserver_is_taken_back_from_the_service() {
    let mut rig = Rig::new(Method::RoundRobin, &[1]);
    rig.picks(2);
    rig.apply(Change::RemoveVserver(V));
    rig.close(1, CloseReason::ClientReset);
    let shown = rig.service(1);
    assert_eq!((shown.active, shown.client_resets), (1, 1));
}

#[test]
fn place_through_an_earlier_binding_does_not_touch_the_new_one() {
    let mut rig = Rig::new(Method::RoundRobin, &[1]);
    rig.picks(2);
    rig.unbind(1);
    rig.bind(1, 1);
    rig.pick();
    assert_eq!(rig.vserver().bindings[0].active, 1);
    rig.close(1, CloseReason::Flushed);
    rig.close(1, CloseReason::Flushed);
    let row = rig.vserver().bindings[0];
    assert_eq!((row.active, row.hits), (1, 1));
    assert_eq!((rig.service(1).active, rig.vserver().active), (1, 1));
}

#[test]
fn tie_turn_survives_filtering_and_unbind() {
    let mut rig = Rig::new(Method::LeastBandwidth, &[1, 1, 1, 1]);
    assert_eq!(rig.picks(2), [1, 2]);
    rig.enable(3, false);
    assert_eq!(rig.picks(2), [4, 1]);
    rig.enable(3, true);
    rig.unbind(1);
    assert_eq!(rig.picks(4), [2, 3, 4, 2]);
    rig.unbind(4);
    assert_eq!(rig.picks(3), [3, 2, 3]);
}

#[test]
fn service_bound_after_the_last_one_was_chosen_is_next() {
    let mut rig = Rig::new(Method::LeastBandwidth, &[1, 1]);
    assert_eq!(rig.picks(2), [1, 2]);
    rig.add_service(3);
    rig.bind(3, 1);
    assert_eq!(rig.picks(4), [3, 1, 2, 3]);
}

#[test]
fn time_never_goes_back() {
    let mut rig = Rig::new(Method::LeastBandwidth, &[1]);
    rig.run_to(1_000);
    rig.traffic(1, 9, 0);
    rig.run_to(15_250);
    assert_eq!(rig.service(1).window_bytes, 0);
    // A caller that read its clock before another one sees what the other one saw.
    rig.jump_to(14_000);
    assert_eq!(rig.service(1).window_bytes, 0);
    rig.enable(1, false);
    assert_eq!(rig.service(1).since, at(15_250));
    assert_eq!(rig.engine.poll_timeout(), Some(at(15_500)));
    rig.engine.handle_timeout(at(0));
    assert_eq!(rig.engine.poll_timeout(), Some(at(15_500)));
}

#[test]
fn snapshot_rows_are_in_the_order_of_their_numbers() {
    let mut rig = Rig::empty();
    for number in [5, 2, 9] {
        rig.add_service(number);
        rig.apply(Change::AddVserver(
            VserverId(number),
            vserver(Method::RoundRobin),
        ));
    }
    rig.apply(Change::RemoveService(ServiceId(2)));
    rig.add_service(7);
    let shown = rig.engine.snapshot(rig.now);
    let services: Vec<_> = shown.services.iter().map(|row| row.id.0).collect();
    let vservers: Vec<_> = shown.vservers.iter().map(|row| row.id.0).collect();
    assert_eq!((services, vservers), (vec![5, 7, 9], vec![2, 5, 9]));
}

#[test]
#[should_panic(expected = "a plan names only objects and bindings that exist")]
fn change_of_what_does_not_exist_is_a_broken_plan() {
    Rig::empty().bind(1, 1);
}

#[test]
#[should_panic(expected = "service 1 is bound")]
fn removing_a_bound_service_is_a_broken_plan() {
    let mut rig = Rig::new(Method::RoundRobin, &[1]);
    rig.apply(Change::RemoveService(ServiceId(1)));
}
