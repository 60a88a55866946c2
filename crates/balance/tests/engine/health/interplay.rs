//! Monitors together with the rest: slow start, persistence, going out of service, choices by an index.

use std::time::Duration;

use sluice_balance::{
    AddressMask, Change, Leave, Method, MonitorSettings, Persistence, PersistenceKind,
    PersistenceTimeout, RampUnit, SkipPersistence, SlowStart, State, StateReason, VserverSettings,
};

use super::bench::{Bench, M, Manner, S, every, monitor};
use crate::rig::{V, at, vserver};

const ANSWERS: Manner = Manner::Answers(0);

fn slow(bench: &mut Bench, rate: u32) {
    let settings = VserverSettings {
        slow_start: SlowStart {
            rate,
            unit: RampUnit::PerSecond,
            interval: Duration::from_secs(10),
        },
        ..vserver(Method::RoundRobin)
    };
    bench.apply(Change::SetVserver(V, settings));
}

fn ramp_since(bench: &mut Bench, service: usize) -> Option<u64> {
    let ramp = bench.rig.vserver().bindings[service - 1].ramp;
    ramp.map(|ramp| ramp.since.as_nanos() / 1_000_000)
}

#[test]
fn service_that_comes_up_again_is_new_and_the_others_are_not() {
    let mut bench = Bench::probed(2, every(1_000, 500, 1), ANSWERS);
    bench.run_to(10_000);
    slow(&mut bench, 5);
    bench.take(1, 1, Manner::Refuses);
    bench.run_to(12_000);
    assert_eq!(bench.state(1), State::Down);
    bench.take(1, 1, ANSWERS);
    bench.run_to(41_000);
    let up = bench.changes().last().copied().unwrap();
    assert_eq!((up.0, up.1), (1, State::Up));
    assert_eq!(
        [1, 2].map(|s| ramp_since(&mut bench, s)),
        [Some(up.2), None]
    );
}

#[test]
fn service_that_is_found_up_after_the_start_is_not_new_but_one_bound_later_is() {
    let mut bench = Bench::probed(1, monitor(), Manner::Answers(20));
    slow(&mut bench, 5);
    bench.rig.engine.handle_booted(bench.rig.now);
    assert_eq!(bench.state(1), State::Unknown);
    bench.run_to(100);
    assert_eq!(
        (bench.state(1), ramp_since(&mut bench, 1)),
        (State::Up, None)
    );
    bench.rig.add_service(2);
    bench.bind(2, 1);
    bench.rig.bind(2, 1);
    bench.take(2, 1, Manner::Answers(30));
    assert_eq!(
        (bench.state(2), ramp_since(&mut bench, 2)),
        (State::Unknown, None)
    );
    bench.run_to(1_000);
    assert_eq!(
        (bench.state(2), ramp_since(&mut bench, 2)),
        (State::Up, Some(130))
    );
}

#[test]
fn service_that_was_down_after_the_start_is_new_when_it_comes_up() {
    let mut bench = Bench::probed(1, every(1_000, 500, 1), Manner::Refuses);
    slow(&mut bench, 5);
    bench.rig.engine.handle_booted(bench.rig.now);
    bench.run_to(10);
    assert_eq!(bench.state(1), State::Down);
    bench.take(1, 1, ANSWERS);
    bench.run_to(31_000);
    assert_eq!(ramp_since(&mut bench, 1), Some(30_000));
}

#[test]
fn service_that_comes_and_goes_is_chosen_and_left_out_by_the_index() {
    // C44: a service that is UP again takes flows at once.
    let settings = MonitorSettings {
        down_time: Duration::from_millis(10),
        ..every(50, 40, 1)
    };
    let mut bench = Bench::probed(3, settings, ANSWERS);
    bench.rig.set_method(Method::LeastConnection);
    bench.run_to(5_000);
    for round in 0..20 {
        let now = 5_000 + round * 200;
        bench.rig.picks(60);
        bench.take(3, 1, Manner::Refuses);
        bench.run_to(now + 100);
        assert!(!bench.rig.picks(30).contains(&3));
        bench.take(3, 1, ANSWERS);
        bench.run_to(now + 200);
        assert_eq!(bench.rig.pick(), 3);
    }
}

#[test]
fn service_that_goes_out_of_service_is_probed_until_it_is_out() {
    let mut bench = Bench::probed(1, every(1_000, 500, 1), ANSWERS);
    bench.run_to(5_000);
    bench.starts(1);
    let leave = Leave {
        delay: Some(Duration::from_secs(60)),
        graceful: false,
    };
    bench.apply(Change::DisableService(S, leave));
    let shown = bench.rig.service(1);
    let expected = (State::GoingOutOfService, StateReason::Operator);
    assert_eq!((shown.state, shown.reason), expected);
    bench.take(1, 1, Manner::Refuses);
    bench.run_to(7_000);
    let shown = bench.rig.service(1);
    let expected = (State::DownWhenGoingOutOfService, StateReason::Monitor(M));
    assert_eq!((shown.state, shown.reason), expected);
    bench.take(1, 1, ANSWERS);
    bench.run_to(50_000);
    assert_eq!(bench.state(1), State::GoingOutOfService);
    bench.run_to(64_999);
    assert_eq!(bench.state(1), State::GoingOutOfService);
    bench.run_to(65_000);
    let shown = bench.rig.service(1);
    assert_eq!(
        (shown.state, shown.since),
        (State::OutOfService, at(65_000))
    );
    bench.starts(1);
    bench.run_to(200_000);
    assert_eq!(bench.starts(1), [0; 0]);
}

#[test]
fn enable_while_going_out_of_service_goes_on_with_what_monitors_know() {
    for (manner, state) in [(ANSWERS, State::Up), (Manner::Refuses, State::Down)] {
        let mut bench = Bench::probed(1, every(1_000, 500, 1), ANSWERS);
        bench.run_to(5_000);
        let leave = Leave {
            delay: Some(Duration::from_secs(60)),
            graceful: false,
        };
        bench.apply(Change::DisableService(S, leave));
        bench.take(1, 1, manner);
        bench.run_to(8_000);
        bench.rig.enable(1, true);
        assert_eq!(bench.state(1), state);
    }
}

#[test]
fn client_that_sticks_to_a_service_that_goes_down_moves_and_stays_where_it_moved() {
    let mut bench = Bench::probed(2, every(1_000, 500, 1), ANSWERS);
    bench.run_to(5_000);
    let settings = VserverSettings {
        persistence: Some(Persistence {
            kind: PersistenceKind::SourceIp,
            mask: AddressMask::ALL,
            timeout: PersistenceTimeout::DEFAULT,
            skip: SkipPersistence::None,
            trofs: true,
            group: None,
        }),
        ..vserver(Method::RoundRobin)
    };
    bench.apply(Change::SetVserver(V, settings));
    assert_eq!(bench.rig.picks(3), [1, 1, 1]);
    bench.take(1, 1, Manner::Refuses);
    bench.run_to(7_000);
    assert_eq!(bench.rig.picks(2), [2, 2]);
    bench.take(1, 1, ANSWERS);
    bench.run_to(60_000);
    assert_eq!(
        (bench.state(1), bench.rig.picks(2)),
        (State::Up, vec![2, 2])
    );
}

#[test]
fn odd_services_that_answer_wrongly_go_down_and_no_others() {
    // H03.
    let mut bench = Bench::probed(40, every(1_000, 500, 3), ANSWERS);
    bench.run_to(5_000);
    bench.changes();
    for odd in (1..40).step_by(2) {
        bench.take(odd, 1, Manner::Refuses);
    }
    bench.run_to(30_000);
    let mut changes = bench.changes();
    changes.sort_unstable_by_key(|change| change.0);
    let changes = changes.into_iter().map(|(id, state, _)| (id, state));
    let expected = (1..40).step_by(2).map(|odd| (odd, State::Down));
    assert!(changes.eq(expected));
}
