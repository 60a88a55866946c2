//! `disablePrimaryOnDown`: the backup goes on serving until the operator enables the primary.

use sluice_balance::{Change, Output, Percent, Refusal, State, VserverId};

use super::bench::Bench;
use crate::rig::at;

const V1: VserverId = VserverId(1);

fn bench() -> Bench {
    let mut bench = Bench::chain(&[&[1, 2], &[3]]);
    bench.set_backup(1, |backup| backup.disable_primary_on_down = true);
    bench
}

/// Takes the primary DOWN, with all its services back after that.
fn held() -> Bench {
    let mut bench = bench();
    bench.enable(&[1, 2], false);
    bench.enable(&[1, 2], true);
    assert_eq!(bench.states(1), (State::Down, State::Up));
    assert!(bench.vserver(1).is_held_down);
    bench.outputs();
    bench
}

#[test]
fn backup_serves_until_the_primary_is_enabled() {
    let mut bench = held();
    assert_eq!(bench.picks(3), [(2, 3); 3]);
    assert_eq!(bench.vserver(1).down_backup_hits, 3);
    bench.jump_to(70_000);
    assert_eq!(bench.pick(), Ok((2, 3)));
    bench.apply(Change::EnableVserver(V1));
    assert_eq!(
        bench.outputs(),
        [Output::VserverState(V1, State::Up, at(70_000))]
    );
    assert!(!bench.vserver(1).is_held_down);
    assert_eq!(bench.picks(2), [(1, 1), (1, 2)]);
}

#[test]
fn primary_that_loses_some_services_only_is_not_held() {
    let mut bench = bench();
    bench.enable(&[1], false);
    bench.enable(&[1], true);
    assert_eq!(bench.picks(2), [(1, 1), (1, 2)]);
}

#[test]
fn primary_below_its_health_threshold_is_held_too() {
    let mut bench = bench();
    bench.set(1, |settings| {
        settings.health_threshold = Percent::new(51).unwrap()
    });
    bench.enable(&[1], false);
    bench.enable(&[1], true);
    assert_eq!(bench.pick(), Ok((2, 3)));
    bench.set(1, |settings| settings.health_threshold = Percent::ZERO);
    assert_eq!(bench.pick(), Ok((2, 3)));
}

#[test]
fn enabling_while_all_services_are_down_brings_the_primary_back_with_the_first() {
    let mut bench = bench();
    bench.enable(&[1, 2], false);
    bench.apply(Change::EnableVserver(V1));
    assert_eq!(bench.states(1), (State::Down, State::Up));
    bench.enable(&[2], true);
    assert_eq!(bench.pick(), Ok((1, 2)));
    bench.enable(&[2], false);
    bench.enable(&[2], true);
    assert_eq!(bench.pick(), Ok((2, 3)));
}

#[test]
fn held_primary_takes_nothing_even_if_its_backup_is_down() {
    let mut bench = held();
    bench.enable(&[3], false);
    assert_eq!(bench.pick(), Err(Refusal::Down));
    assert_eq!(bench.states(1), (State::Down, State::Down));
}

#[test]
fn disabling_and_enabling_ends_the_hold() {
    let mut bench = held();
    bench.set(1, |settings| settings.enabled = false);
    assert_eq!(bench.states(1), (State::OutOfService, State::Up));
    assert!(!bench.vserver(1).is_held_down);
    bench.set(1, |settings| settings.enabled = true);
    assert_eq!(bench.states(1), (State::Up, State::Up));
}

#[test]
fn hold_ends_with_the_setting_or_the_backup_and_with_no_other_change() {
    let mut bench = held();
    bench.set(1, |settings| settings.flush_on_down = true);
    assert_eq!(bench.states(1).0, State::Down);
    bench.set_backup(1, |backup| backup.disable_primary_on_down = false);
    assert_eq!(bench.states(1).0, State::Up);
    let mut bench = held();
    bench.set_backup(1, |backup| backup.vserver = None);
    assert_eq!(bench.states(1).0, State::Up);
}

#[test]
fn vserver_without_a_backup_or_that_was_never_up_is_not_held() {
    let mut bench = bench();
    bench.set_backup(1, |backup| backup.vserver = None);
    bench.enable(&[1, 2], false);
    bench.enable(&[1, 2], true);
    assert_eq!(bench.states(1), (State::Up, State::Up));

    let mut bench = Bench::chain(&[&[], &[3]]);
    bench.set_backup(1, |backup| backup.disable_primary_on_down = true);
    bench.bind(1, 1, 1);
    assert_eq!(bench.states(1), (State::Up, State::Up));
}
