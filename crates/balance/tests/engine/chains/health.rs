//! `healthThreshold`: how much of the bound weight has to be UP.

use sluice_balance::{Change, Method, Output, Percent, Refusal, State};

use crate::rig::{Rig, V, at, bind, vserver};

/// A virtual server with weights 1, 2, 3.
fn rig(threshold: u64) -> Rig {
    let mut rig = Rig::new(Method::RoundRobin, &[1, 2, 3]);
    set_threshold(&mut rig, threshold);
    rig
}

fn set_threshold(rig: &mut Rig, threshold: u64) {
    let mut settings = vserver(Method::RoundRobin);
    settings.health_threshold = Percent::new(threshold).unwrap();
    rig.apply(Change::SetVserver(V, settings));
}

/// Returns the state with only these services enabled.
fn state_with(rig: &mut Rig, enabled: &[u32]) -> State {
    for number in 1..=3 {
        rig.enable(number, enabled.contains(&number));
    }
    rig.vserver().state
}

#[test]
fn vserver_is_down_with_less_weight_up_than_its_threshold() {
    let mut rig = rig(50);
    assert_eq!(state_with(&mut rig, &[1, 2, 3]), State::Up);
    assert_eq!(state_with(&mut rig, &[1, 2]), State::Up);
    assert_eq!(state_with(&mut rig, &[3]), State::Up);
    assert_eq!(state_with(&mut rig, &[2]), State::Down);
    assert_eq!(rig.try_pick(&[]), Err(Refusal::Down));
    assert_eq!(state_with(&mut rig, &[1]), State::Down);
    assert_eq!(state_with(&mut rig, &[]), State::Down);
}

#[test]
fn threshold_of_0_takes_one_service_and_of_100_all() {
    let mut rig = rig(0);
    assert_eq!(state_with(&mut rig, &[1]), State::Up);
    assert_eq!(state_with(&mut rig, &[]), State::Down);
    set_threshold(&mut rig, 100);
    assert_eq!(state_with(&mut rig, &[2, 3]), State::Down);
    assert_eq!(state_with(&mut rig, &[1, 2, 3]), State::Up);
}

#[test]
fn vserver_without_services_is_down_whatever_its_threshold() {
    let mut rig = Rig::new(Method::RoundRobin, &[]);
    for threshold in [0, 1, 100] {
        set_threshold(&mut rig, threshold);
        assert_eq!(rig.vserver().state, State::Down);
    }
}

#[test]
fn change_of_a_threshold_or_weight_changes_the_state_at_once() {
    let mut rig = rig(0);
    state_with(&mut rig, &[1, 2]);
    rig.outputs();
    rig.jump_to(100);
    set_threshold(&mut rig, 51);
    let down = Output::VserverState(V, State::Down, at(100));
    assert_eq!(rig.outputs(), [down]);
    rig.jump_to(200);
    rig.apply(Change::SetWeight(bind(V, 3, 2)));
    let up = Output::VserverState(V, State::Up, at(200));
    assert_eq!(rig.outputs(), [up]);
    rig.jump_to(300);
    rig.unbind(1);
    let down = Output::VserverState(V, State::Down, at(300));
    assert_eq!(rig.outputs().last(), Some(&down));
}
