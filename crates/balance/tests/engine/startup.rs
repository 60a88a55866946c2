//! Start-up round robin: `k` requests per bound service in turn after a change.

use sluice_balance::{
    Change, Client, CloseReason, DecidedBy, Method, MethodChoice, Refusal, ServiceId, SlowStart,
    StartupReason, StartupStatus, VserverSettings,
};

use crate::rig::{Rig, V, bind, vserver};

/// Makes a rig whose services have this many flows already, with no phase under way.
fn loaded(method: Method, weights: &[u64], active: &[u64]) -> Rig {
    let mut rig = Rig::new(method, weights);
    for (number, &flows) in (1..).zip(active) {
        rig.set_active(number, flows);
    }
    rig
}

fn set_factor(rig: &mut Rig, factor: u32) {
    rig.apply(Change::SetStartupFactor(factor));
}

fn set(rig: &mut Rig, settings: VserverSettings) {
    rig.apply(Change::SetVserver(V, settings));
}

fn slow(method: Method) -> VserverSettings {
    let slow_start = SlowStart {
        rate: 10,
        ..SlowStart::default()
    };
    VserverSettings {
        slow_start,
        ..vserver(method)
    }
}

/// Returns reason and requests left of the phase under way.
fn phase(rig: &mut Rig) -> Option<(StartupReason, u64)> {
    let startup = rig.vserver().startup;
    startup.map(|StartupStatus { reason, left }| (reason, left))
}

#[test]
fn without_a_factor_nothing_begins_by_itself() {
    let mut rig = loaded(Method::LeastConnection, &[1, 1], &[4, 3]);
    rig.add_service(3);
    rig.bind(3, 1);
    assert_eq!(phase(&mut rig), None);
    assert_eq!(rig.picks(5), [3, 3, 3, 2, 3]);
}

#[test]
fn factor_gives_that_many_requests_per_service_in_turn_then_the_method_goes_on() {
    let mut rig = loaded(Method::LeastConnection, &[1, 1], &[9, 9]);
    set_factor(&mut rig, 2);
    rig.picks(4);
    assert_eq!(phase(&mut rig), None);
    rig.add_service(3);
    rig.bind(3, 1);
    let bound = (StartupReason::ServiceBound, 6);
    assert_eq!(phase(&mut rig), Some(bound));
    // 11, 11 and 0 flows: the method would give all to the third. A new round begins with the first.
    assert_eq!(rig.picks(6), [3, 1, 2, 1, 2, 3]);
    assert_eq!(phase(&mut rig), None);
    assert_eq!(rig.picks(12), [vec![3; 11], vec![1]].concat());
}

#[test]
fn weights_are_interleaved_as_in_round_robin() {
    let mut rig = loaded(Method::LeastBandwidth, &[1, 2, 3], &[]);
    rig.traffic(3, 0, 1_000_000);
    set_factor(&mut rig, 4);
    let round = [1, 2, 3, 2, 3, 3];
    assert_eq!(rig.picks(12), [round, round].concat());
    assert_eq!(rig.picks(2), [1, 2], "the third has the most traffic");
}

#[test]
fn disabled_services_count_for_the_length_and_get_nothing() {
    let mut rig = loaded(Method::LeastPackets, &[1, 1, 1], &[]);
    rig.enable(3, false);
    set_factor(&mut rig, 3);
    let changed = (StartupReason::FactorChanged, 9);
    assert_eq!(phase(&mut rig), Some(changed));
    assert_eq!(rig.picks(9), [1, 2, 1, 2, 1, 2, 1, 2, 1]);
    assert_eq!(phase(&mut rig), None);
}

#[test]
fn every_change_of_the_reference_begins_a_phase_anew_and_says_why() {
    let mut rig = loaded(Method::LeastConnection, &[1, 1], &[]);
    set_factor(&mut rig, 5);
    assert_eq!(phase(&mut rig), Some((StartupReason::FactorChanged, 10)));
    rig.picks(3);
    rig.add_service(3);
    rig.bind(3, 1);
    assert_eq!(phase(&mut rig), Some((StartupReason::ServiceBound, 15)));
    rig.pick();
    rig.enable(2, false);
    assert_eq!(phase(&mut rig), Some((StartupReason::ServiceBound, 14)));
    rig.enable(2, true);
    assert_eq!(phase(&mut rig), Some((StartupReason::ServiceUp, 15)));
    rig.pick();
    rig.set_method(Method::LeastBandwidth);
    assert_eq!(phase(&mut rig), Some((StartupReason::MethodChanged, 15)));
    rig.pick();
    let enabled = vserver(Method::LeastBandwidth);
    let disabled = VserverSettings {
        enabled: false,
        ..enabled.clone()
    };
    set(&mut rig, disabled);
    assert_eq!(phase(&mut rig), Some((StartupReason::MethodChanged, 14)));
    set(&mut rig, enabled);
    assert_eq!(phase(&mut rig), Some((StartupReason::VserverEnabled, 15)));
    rig.pick();
    // What is no change, or none that makes the method say little, begins nothing.
    set_factor(&mut rig, 5);
    rig.unbind(1);
    rig.apply(Change::SetWeight(bind(V, 2, 7)));
    rig.set(2, |service| service.max_client = Some(50));
    assert_eq!(phase(&mut rig), Some((StartupReason::VserverEnabled, 14)));
    set_factor(&mut rig, 0);
    assert_eq!(phase(&mut rig), None);
}

#[test]
fn methods_that_compare_nothing_have_no_phase() {
    for method in [
        Method::RoundRobin,
        Method::Random,
        Method::SourceIpHash,
        Method::SrcIpSrcPortHash,
    ] {
        let mut rig = loaded(Method::LeastConnection, &[1, 1], &[]);
        set_factor(&mut rig, 2);
        rig.set_method(method);
        assert_eq!(phase(&mut rig), None, "{method:?}");
    }
}

#[test]
fn slow_start_of_the_virtual_server_goes_before() {
    let mut rig = loaded(Method::LeastConnection, &[1, 1], &[2, 0]);
    set_factor(&mut rig, 3);
    assert!(phase(&mut rig).is_some());
    set(&mut rig, slow(Method::LeastConnection));
    assert_eq!(phase(&mut rig), None);
    rig.add_service(3);
    rig.bind(3, 1);
    assert_eq!(phase(&mut rig), None);
    // Turned off, it lets the new service go at once, and nothing else begins.
    set(&mut rig, vserver(Method::LeastConnection));
    assert_eq!(phase(&mut rig), None);
    assert_eq!(rig.picks(4), [2, 3, 2, 3]);
    // What is bound from now on begins in turn.
    rig.add_service(4);
    rig.bind(4, 1);
    assert_eq!(phase(&mut rig), Some((StartupReason::ServiceBound, 12)));
}

#[test]
fn refused_flows_do_not_count_and_full_services_are_passed_over() {
    let mut rig = loaded(Method::LeastConnection, &[1, 1], &[]);
    for number in [1, 2] {
        rig.set(number, |service| service.max_client = Some(number));
    }
    set_factor(&mut rig, 5);
    assert_eq!(rig.picks(3), [1, 2, 2]);
    assert_eq!(rig.try_pick(&[]), Err(Refusal::Full));
    assert_eq!(phase(&mut rig), Some((StartupReason::FactorChanged, 7)));
    rig.close(1, CloseReason::Finished);
    assert_eq!(rig.pick(), 1);
}

#[test]
fn explanation_says_that_it_is_the_turn_that_decides() {
    let mut rig = loaded(Method::LeastConnection, &[1, 1], &[7, 0]);
    set_factor(&mut rig, 1);
    let explained = rig.engine.explain(V, &Client::default(), rig.now).unwrap();
    let choice = MethodChoice::Turn;
    let turn = DecidedBy::Method {
        choice,
        limits_lifted: false,
    };
    assert_eq!(explained.asked[0].rule, Some(turn));
    let chosen = explained.asked[0]
        .candidates
        .iter()
        .find(|one| one.is_chosen);
    assert_eq!(chosen.unwrap().service, ServiceId(rig.pick()));
}
