//! What a change of settings does to services that are new already.

use sluice_balance::{Change, Method, RampUnit};

use super::load::Load;
use crate::rig::{V, at, bind};

/// One existing service, and a new one with this slow start; enough requests to keep it new.
fn started(rate: u32, unit: RampUnit, interval_s: u64) -> Load {
    let mut load = Load::new(Method::RoundRobin, &[1], 1_000);
    load.set(rate, unit, interval_s);
    load.join(2, 1);
    load
}

/// Limit, and the next step in ms.
fn limit(load: &mut Load) -> (u64, Option<u64>) {
    let ramp = load.ramp(2).unwrap();
    let ms = ramp.next_step.map(|step| step.as_nanos() / 1_000_000);
    (ramp.limit, ms)
}

#[test]
fn another_rate_counts_at_once_for_every_ramp_with_the_steps_made() {
    let mut load = started(4, RampUnit::PerSecond, 10);
    load.run(25);
    load.join(3, 1);
    load.run(4);
    assert_eq!(limit(&mut load), (12, Some(30_000)));
    load.set(7, RampUnit::PerSecond, 10);
    assert_eq!(limit(&mut load), (21, Some(30_000)));
    assert_eq!(load.ramp(3).unwrap().limit, 7);
    load.run(1);
    assert_eq!(limit(&mut load), (28, Some(40_000)));
    assert_eq!(load.run(1), [965, 28, 7]);
}

#[test]
fn time_before_another_rate_counts_at_the_rate_it_had() {
    let mut load = Load::new(Method::LeastConnection, &[1, 1], 100);
    (1..=2).for_each(|service| load.rig.set_active(service, 9));
    load.set(1, RampUnit::PerSecond, 0);
    load.join(3, 1);
    assert_eq!(load.rig.picks(2), [3, 1]);
    load.rig.jump_to(900);
    load.set(50, RampUnit::PerSecond, 0);
    // 0.9 of a request; the rest of it takes 2 ms.
    assert_eq!(load.rig.pick(), 2);
    load.rig.jump_to(901);
    assert_ne!(load.rig.pick(), 3);
    load.rig.jump_to(902);
    assert_eq!(load.rig.pick(), 3);
}

#[test]
fn rate_zero_ends_every_ramp_at_once_and_for_good() {
    for interval_s in [0, 10] {
        for unit in [RampUnit::PerSecond, RampUnit::Percent] {
            let mut load = started(2, unit, interval_s);
            load.join(3, 1);
            load.run(5);
            load.set(0, unit, interval_s);
            assert_eq!([2, 3].map(|service| load.ramp(service)), [None, None]);
            assert_eq!(load.run(3), [1_000; 3]);
            load.set(2, unit, interval_s);
            assert_eq!([2, 3].map(|service| load.ramp(service)), [None, None]);
        }
    }
}

#[test]
fn rate_zero_after_a_long_ramp_is_the_start_of_no_flood() {
    let mut load = Load::new(Method::RoundRobin, &[100, 100], 50);
    load.set(1, RampUnit::PerSecond, 0);
    load.join(3, 100);
    load.run(3);
    load.set(0, RampUnit::PerSecond, 0);
    // What it did not take of the round under way is not made up for.
    assert_eq!(load.run(3), [50, 50, 50]);
}

#[test]
fn another_interval_begins_at_once_with_the_steps_made() {
    let mut load = started(4, RampUnit::PerSecond, 10);
    load.run(25);
    load.set(4, RampUnit::PerSecond, 3);
    assert_eq!(limit(&mut load), (12, Some(28_000)));
    load.run(3);
    assert_eq!(limit(&mut load), (16, Some(31_000)));
    load.set(4, RampUnit::PerSecond, 60);
    assert_eq!(limit(&mut load), (16, Some(88_000)));
}

#[test]
fn manual_limit_is_the_rate_and_becomes_automatic_from_there() {
    let mut load = started(4, RampUnit::PerSecond, 10);
    load.run(25);
    load.set(4, RampUnit::PerSecond, 0);
    assert_eq!(limit(&mut load), (4, None));
    load.run(50);
    load.set(9, RampUnit::PerSecond, 0);
    assert_eq!(limit(&mut load), (9, None));
    load.set(9, RampUnit::PerSecond, 10);
    assert_eq!(limit(&mut load), (9, Some(85_000)));
    load.run(10);
    assert_eq!(limit(&mut load), (18, Some(95_000)));
}

#[test]
fn another_unit_counts_from_its_first_step() {
    let mut load = started(4, RampUnit::PerSecond, 10);
    load.run(25);
    load.set(30, RampUnit::Percent, 10);
    assert_eq!(limit(&mut load), (30, Some(35_000)));
    assert_eq!(load.ramp(2).unwrap().unit, RampUnit::Percent);
    assert_eq!(load.ramp(2).unwrap().since, at(0));
    // 3 / 13 of 1,000 requests.
    assert_eq!(load.run(1), [769, 231]);
    load.run(9);
    load.set(5, RampUnit::PerSecond, 10);
    assert_eq!(limit(&mut load), (5, Some(45_000)));
    assert_eq!(load.run(1), [995, 5]);
}

#[test]
fn unchanged_settings_and_other_changes_leave_a_ramp_alone() {
    let mut load = started(4, RampUnit::PerSecond, 10);
    load.run(25);
    let before = load.ramp(2);
    load.set(4, RampUnit::PerSecond, 10);
    load.rig.set(1, |settings| settings.max_client = Some(10));
    load.rig.apply(Change::SetWeight(bind(V, 1, 1)));
    load.join(3, 1);
    load.rig.unbind(3);
    assert_eq!(load.ramp(2), before);
}

#[test]
fn change_of_method_keeps_the_ramp() {
    let mut load = started(4, RampUnit::PerSecond, 10);
    load.run(25);
    for method in [
        Method::LeastBandwidth,
        Method::LeastConnection,
        Method::RoundRobin,
    ] {
        let before = load.ramp(2);
        load.settings.method = method;
        load.set(4, RampUnit::PerSecond, 10);
        assert_eq!(load.ramp(2), before, "{method:?}");
        assert_eq!(load.run(1), [988, 12], "{method:?}");
    }
}

#[test]
fn every_method_that_exists_has_a_slow_start() {
    for method in [
        Method::RoundRobin,
        Method::LeastConnection,
        Method::LeastBandwidth,
        Method::LeastPackets,
    ] {
        assert!(method.has_slow_start(), "{method:?}");
        let mut load = Load::new(method, &[1, 1], 100).with_bytes(10);
        load.run(20);
        load.set(7, RampUnit::PerSecond, 0);
        load.join(3, 1);
        assert!(load.seconds(20).iter().all(|row| row[2] == 7), "{method:?}");
    }
}
