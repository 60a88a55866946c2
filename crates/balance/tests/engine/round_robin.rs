//! ROUNDROBIN: interleaved weights, and where a round ends.

use sluice_balance::{Change, Method, Refusal};

use crate::rig::{Rig, V, bind};

#[test]
fn weights_are_interleaved_and_the_round_repeats() {
    let mut rig = Rig::new(Method::RoundRobin, &[2, 3, 4]);
    let round = [1, 2, 3, 1, 2, 3, 2, 3, 3];
    assert_eq!(rig.picks(9), round);
    assert_eq!(rig.picks(9), round);
}

#[test]
fn falling_weights_begin_each_round_with_the_first_service() {
    let mut rig = Rig::new(Method::RoundRobin, &[3, 2, 1]);
    let round = [1, 2, 3, 1, 2, 1];
    assert_eq!(rig.picks(6), round);
    assert_eq!(rig.picks(6), round);
}

#[test]
fn equal_weights_rotate() {
    let mut rig = Rig::new(Method::RoundRobin, &[7, 7, 7]);
    assert_eq!(rig.picks(6), [1, 2, 3, 1, 2, 3]);
}

#[test]
fn round_ends_when_no_candidate_has_quota_left() {
    let mut rig = Rig::new(Method::RoundRobin, &[1, 1, 5]);
    rig.enable(3, false);
    // Service 3 would have quota for ever; the round does not wait for it.
    assert_eq!(rig.picks(5), [1, 2, 1, 2, 1]);
    rig.enable(3, true);
    assert_eq!(rig.picks(6), [2, 3, 3, 3, 3, 3]);
    assert_eq!(rig.picks(3), [1, 2, 3]);
}

#[test]
fn excluded_service_keeps_its_quota() {
    let mut rig = Rig::new(Method::RoundRobin, &[1, 1, 1]);
    assert_eq!(rig.try_pick(&[1]), Ok(2));
    assert_eq!(rig.picks(2), [3, 1]);
}

#[test]
fn refused_choice_spends_no_turn() {
    let mut rig = Rig::new(Method::RoundRobin, &[1, 1]);
    assert_eq!(rig.pick(), 1);
    assert_eq!(rig.try_pick(&[1, 2]), Err(Refusal::Full));
    assert_eq!(rig.pick(), 2);
}

#[test]
fn bound_service_takes_part_in_the_round_under_way() {
    let mut rig = Rig::new(Method::RoundRobin, &[1, 1]);
    assert_eq!(rig.picks(2), [1, 2]);
    rig.add_service(3);
    rig.bind(3, 2);
    assert_eq!(rig.picks(6), [3, 3, 1, 2, 3, 3]);
}

#[test]
fn unbind_moves_neither_turn_nor_quota_of_the_others() {
    let mut rig = Rig::new(Method::RoundRobin, &[2, 1, 2, 2]);
    assert_eq!(rig.picks(3), [1, 2, 3]);
    rig.unbind(2);
    // As without it: service 4 is next, then those with quota left.
    assert_eq!(rig.picks(4), [4, 1, 3, 4]);
    assert_eq!(rig.picks(3), [1, 3, 4]);
}

#[test]
fn unbind_of_the_service_chosen_last_goes_on_with_the_one_behind_it() {
    let mut rig = Rig::new(Method::RoundRobin, &[1, 1, 1]);
    assert_eq!(rig.picks(2), [1, 2]);
    rig.unbind(2);
    assert_eq!(rig.picks(3), [3, 1, 3]);
}

#[test]
fn lowered_weight_ends_the_share_of_the_round_at_once() {
    let mut rig = Rig::new(Method::RoundRobin, &[4, 3]);
    assert_eq!(rig.picks(4), [1, 2, 1, 2]);
    rig.apply(Change::SetWeight(bind(V, 1, 1)));
    assert_eq!(rig.picks(5), [2, 1, 2, 2, 2]);
}

#[test]
fn change_of_method_keeps_the_turn() {
    let mut rig = Rig::new(Method::LeastBandwidth, &[2, 2, 2]);
    assert_eq!(rig.picks(2), [1, 2]);
    rig.set_method(Method::RoundRobin);
    assert_eq!(rig.picks(3), [3, 1, 2]);
    rig.set_method(Method::LeastPackets);
    assert_eq!(rig.picks(3), [3, 1, 2]);
    // A new round: what was served before the change does not count in it.
    rig.set_method(Method::RoundRobin);
    assert_eq!(rig.picks(7), [3, 1, 2, 3, 1, 2, 1]);
}
