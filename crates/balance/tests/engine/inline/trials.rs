//! How long a service is out, and how it comes back.

use sluice_balance::{
    Change, CloseReason, Leave, OutBecause, PassiveSettings, RampUnit, ServiceId, SlowStart, State,
    StateReason, VserverSettings,
};

use super::bench::Bench;
use crate::rig::{V, at, vserver};

/// Makes two services, the first of which is out until 10 s.
fn out() -> Bench {
    let mut bench = Bench::new(2);
    bench.refuse(1, 3);
    assert_eq!(bench.inline(1).out_until, Some(at(10_000)));
    bench
}

#[test]
fn service_is_out_for_10_s_and_then_takes_one_flow_at_a_time_until_one_is_answered() {
    let mut bench = out();
    assert!(bench.try_open(1).is_none());
    bench.rig.run_to(9_999);
    assert_eq!(bench.state(1), State::Down);
    bench.rig.run_to(10_000);
    let shown = bench.rig.service(1);
    assert_eq!(
        (shown.state, shown.reason),
        (State::Up, StateReason::Traffic)
    );
    assert!(shown.inline.is_on_trial);
    // H13: one at a time, whatever becomes of those that say nothing.
    let trial = bench.open(1);
    assert!(bench.try_open(1).is_none());
    bench.end(trial, CloseReason::Finished);
    let trial = bench.open(1);
    assert!(bench.try_open(1).is_none());
    bench.rig.engine.handle_unused(trial, bench.rig.now);
    let trial = bench.ask(1);
    bench.answer(&trial);
    let shown = bench.inline(1);
    assert_eq!((shown.is_on_trial, shown.out_until), (false, None));
    for _ in 0..5 {
        bench.hold(1);
    }
}

#[test]
fn each_failed_trial_doubles_the_time_up_to_five_minutes() {
    let mut bench = out();
    let mut lengths = Vec::new();
    for _ in 0..8 {
        let until = bench.inline(1).out_until.unwrap();
        lengths.push(until.duration_since(bench.rig.now).as_secs());
        bench.rig.run_to(until.as_nanos() / 1_000_000);
        bench.refuse(1, 1);
        assert_eq!(bench.state(1), State::Down);
    }
    assert_eq!(lengths, [10, 20, 40, 80, 160, 300, 300, 300]);
}

#[test]
fn time_doubles_when_a_service_fails_again_soon_and_starts_anew_after_five_minutes() {
    for (after, length) in [(1_000, 20), (300_000, 20), (300_001, 10)] {
        let mut bench = out();
        bench.rig.run_to(10_000);
        bench.succeed(1);
        bench.rig.run_to(10_000 + after);
        bench.refuse(1, 3);
        let until = bench.inline(1).out_until.unwrap();
        assert_eq!(
            until.duration_since(bench.rig.now).as_secs(),
            length,
            "{after} ms"
        );
    }
}

#[test]
fn times_are_what_is_set() {
    // The least, the most, and how long a service has to be in to be forgiven: more than the most.
    for (down, most, lengths, kept, forgiven) in [
        (1, 3, [1, 2, 3, 3], 3_000, 3_001),
        (7, 7, [7, 7, 7, 7], 7_000, 7_001),
        (60, 10, [60, 60, 60, 60], 60_000, 60_001),
    ] {
        for (after, first) in [(kept, lengths[1]), (forgiven, lengths[0])] {
            let mut bench = Bench::new(2);
            bench.rig.apply(Change::SetPassive(PassiveSettings {
                down_time: super::bench::seconds(down),
                max_down_time: super::bench::seconds(most),
                ..super::bench::three()
            }));
            bench.refuse(1, 3);
            let mut shown = Vec::new();
            for _ in 0..lengths.len() {
                let until = bench.inline(1).out_until.unwrap();
                shown.push(until.duration_since(bench.rig.now).as_secs());
                bench.rig.run_to(until.as_nanos() / 1_000_000);
                bench.refuse(1, 1);
            }
            assert_eq!(shown, lengths);
            assert_eq!(bench.inline(1).because, Some(OutBecause::Trial));
            // Anew, with a trial that brings it back.
            bench.rig.apply(Change::EnableService(ServiceId(1)));
            bench.refuse(1, 3);
            let until = bench.inline(1).out_until.unwrap();
            bench.rig.run_to(until.as_nanos() / 1_000_000);
            bench.succeed(1);
            let back = bench.rig.now.as_nanos() / 1_000_000;
            bench.rig.run_to(back + after);
            bench.refuse(1, 3);
            let until = bench.inline(1).out_until.unwrap();
            let length = until.duration_since(bench.rig.now).as_secs();
            assert_eq!(length, first, "{down} s, {after} ms");
        }
    }
}

#[test]
fn trial_that_is_silent_fails_and_one_that_is_never_asked_makes_room_for_another() {
    let mut bench = out();
    bench.rig.run_to(10_000);
    let quiet = bench.open(1);
    bench.rig.run_to(14_999);
    assert!(bench.try_open(1).is_none());
    bench.rig.run_to(15_000);
    let asked = bench.open(1);
    bench.rig.run_to(17_000);
    bench.rig.engine.handle_client_data(&asked, bench.rig.now);
    bench.succeed(2);
    bench.rig.run_to(21_999);
    assert_eq!(bench.state(1), State::Up);
    bench.rig.run_to(22_000);
    assert_eq!(bench.state(1), State::Down);
    assert_eq!(bench.inline(1).out_until, Some(at(42_000)));
    // What becomes of the others says nothing any more.
    bench.end(quiet, CloseReason::ServiceReset);
    bench.end(asked, CloseReason::ClientReset);
    assert_eq!(bench.inline(1).out_until, Some(at(42_000)));
}

#[test]
fn flows_from_before_do_not_decide_a_trial() {
    let mut bench = Bench::new(2);
    let old = [(); 2].map(|()| bench.ask(1));
    bench.refuse(1, 3);
    bench.rig.run_to(10_000);
    assert!(bench.inline(1).is_on_trial);
    let [first, second] = old;
    bench.end(first, CloseReason::ServiceReset);
    bench.answer(&second);
    assert!(bench.inline(1).is_on_trial);
    assert_eq!(bench.state(1), State::Up);
}

#[test]
fn service_that_is_back_is_new() {
    let mut bench = out();
    let settings = VserverSettings {
        slow_start: SlowStart {
            rate: 5,
            unit: RampUnit::PerSecond,
            interval: super::bench::seconds(10),
        },
        ..vserver(sluice_balance::Method::LeastConnection)
    };
    bench.rig.apply(Change::SetVserver(V, settings));
    bench.rig.run_to(10_500);
    bench.succeed(1);
    let ramp = bench.rig.vserver().bindings[0].ramp;
    assert_eq!(ramp.map(|ramp| ramp.since), Some(at(10_500)));
}

#[test]
fn operator_wins() {
    let id = ServiceId(1);
    let leave = Leave::AT_ONCE;
    let ways: [&[Change]; 2] = [
        &[Change::EnableService(id)],
        &[
            Change::DisableService(id, leave),
            Change::SetService(id, crate::rig::service()),
        ],
    ];
    for changes in ways {
        for after in [0, 10_000] {
            // H14: while it is out, and while it is on trial.
            let mut bench = out();
            bench.rig.run_to(after);
            let _trial = bench.try_open(1);
            for change in changes {
                bench.rig.apply(change.clone());
            }
            let shown = bench.rig.service(1);
            assert_eq!((shown.state, shown.inline.is_on_trial), (State::Up, false));
            bench.hold(1);
            bench.hold(1);
            // How often it was out is forgotten too.
            bench.refuse(1, 3);
            let until = bench.inline(1).out_until.unwrap();
            assert_eq!(until.duration_since(bench.rig.now).as_secs(), 10);
        }
    }
    let mut bench = out();
    bench.rig.apply(Change::DisableService(id, leave));
    bench.rig.run_to(60_000);
    assert_eq!(bench.state(1), State::OutOfService);
}

#[test]
fn flows_of_a_service_that_goes_out_go_on_even_if_it_flushes() {
    let mut bench = Bench::new(2);
    bench.rig.set(1, |settings| settings.flush_on_down = true);
    bench.hold(1);
    bench.rig.outputs();
    bench.refuse(1, 3);
    let outputs = bench.rig.outputs();
    let down = sluice_balance::Output::ServiceState(ServiceId(1), State::Down, at(0));
    assert_eq!(outputs, [down]);
}

#[test]
fn service_on_trial_is_found_and_left_out_by_the_index() {
    let mut bench = Bench::new(6);
    for round in 1..=10 {
        let now = bench.rig.now.as_nanos() / 1_000_000;
        bench.refuse(1, 3);
        assert!(!bench.rig.picks(12).contains(&1));
        bench.rig.run_to(now + 300_001 * round);
        assert_eq!(bench.rig.pick(), 1, "the trial");
        assert!(!bench.rig.picks(12).contains(&1));
        let trial = bench.rig.take(1);
        bench.answer(&trial);
        assert_eq!(bench.rig.pick(), 1);
        bench.end(trial, CloseReason::Finished);
        bench.rig.close(1, CloseReason::Finished);
        bench.rig.run_to(now + 300_001 * (round + 1));
    }
}
