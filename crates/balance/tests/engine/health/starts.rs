//! When probes start: at once, then spread; one at a time; late calls; how much one call does.

use std::time::Duration;

use sluice_balance::{Change, Instant, MonitorSettings, ServiceId, State};

use super::bench::{Bench, Manner, every, monitor};
use crate::rig::{at, service};

/// Makes services that are bound to nothing but their monitor, so that many are quickly made.
fn crowd(services: u32, settings: MonitorSettings, manner: Manner) -> Bench {
    let mut bench = Bench::new(0);
    bench.add(1, settings);
    for number in 1..=services {
        bench.apply(Change::AddService(ServiceId(number), service()));
        bench.take(number, 1, manner);
        bench.bind(number, 1);
    }
    bench
}

/// Returns the most starts in any `window_ms` between two moments, and how many there are in all.
fn bunch(bench: &Bench, from_ms: u64, to_ms: u64, window_ms: u64) -> (usize, usize) {
    let window = Duration::from_millis(window_ms);
    let starts = bench.started.iter().map(|one| one.at);
    let starts: Vec<_> = starts
        .filter(|start| (at(from_ms)..at(to_ms)).contains(start))
        .collect();
    let within = |first: &Instant| {
        starts
            .iter()
            .filter(|s| (*first..*first + window).contains(s))
            .count()
    };
    (starts.iter().map(within).max().unwrap_or(0), starts.len())
}

/// Returns how many probes start between two moments.
fn starts_in(bench: &Bench, from_ms: u64, to_ms: u64) -> usize {
    let is_within = |start: &Instant| (at(from_ms)..at(to_ms)).contains(start);
    bench
        .started
        .iter()
        .filter(|one| is_within(&one.at))
        .count()
}

#[test]
fn first_probes_of_a_thousand_services_start_at_once_and_the_later_ones_are_spread() {
    let mut bench = crowd(1_000, monitor(), Manner::Answers(1));
    bench.run_to(120_000);
    // Ten in a millisecond, all within a tenth of a second, all UP a moment later.
    assert_eq!(bunch(&bench, 0, 100, 1), (10, 1_000));
    let last_up = bench.changes().last().unwrap().2;
    assert_eq!(last_up, 100);
    // The second round takes half an interval. From then on they are spread over all of it: of an
    // interval's probes no tenth of a second has more than 2.3 %, no hundredth more than 0.4 %.
    assert_eq!(bunch(&bench, 2_500, 5_100, 100), (64, 1_011));
    assert_eq!(starts_in(&bench, 20_000, 25_000), 1_000);
    assert!(bunch(&bench, 20_000, 120_000, 100).0 <= 23);
    assert!(bunch(&bench, 20_000, 40_000, 10).0 <= 4);
}

#[test]
fn services_that_never_answer_are_spread_too() {
    let settings = MonitorSettings {
        down_time: Duration::from_secs(5),
        ..monitor()
    };
    let mut bench = crowd(200, settings, Manner::Silent);
    bench.run_to(120_000);
    let (most, all) = bunch(&bench, 60_000, 120_000, 10);
    assert!(most <= 4 && all > 1_500, "{most} of {all}");
    assert!(bench.changes().iter().all(|change| change.1 != State::Up));
}

#[test]
fn new_services_do_not_wait_for_each_other_longer_than_their_number_takes() {
    let mut bench = crowd(10, monitor(), Manner::Silent);
    let due = |bench: &mut Bench, number| bench.row(number, 1).next.unwrap().as_nanos();
    assert_eq!((due(&mut bench, 1), due(&mut bench, 10)), (0, 900_000));
    // Long after, one that is new again is probed at once.
    bench.run_to(10_000);
    let mut disabled = service();
    disabled.enabled = false;
    bench.apply(Change::SetService(ServiceId(3), disabled));
    bench.apply(Change::SetService(ServiceId(3), service()));
    assert_eq!(due(&mut bench, 3), at(10_000).as_nanos());
}

#[test]
fn probe_that_outlives_the_interval_holds_up_the_next_one() {
    let mut bench = Bench::probed(1, every(1_000, 1_500, 3), Manner::Silent);
    bench.run_to(4_000);
    assert_eq!(bench.starts(1), [0, 1_500, 3_000]);
}

#[test]
fn one_call_does_a_bounded_number_of_things_and_asks_to_be_called_again() {
    let mut bench = crowd(2_000, monitor(), Manner::Silent);
    bench.rig.jump_to(1_000);
    let mut started = Vec::new();
    while bench.rig.engine.poll_timeout().unwrap() <= at(1_000) {
        bench.rig.engine.handle_timeout(at(1_000));
        bench.drain();
        started.push(std::mem::take(&mut bench.started).len());
    }
    assert_eq!(started, [512, 512, 512, 464]);
}

#[test]
fn call_that_comes_late_gives_the_probes_that_much_more_time_once() {
    let mut bench = Bench::probed(1, every(5_000, 2_000, 1), Manner::Silent);
    bench.run_to(1_999);
    let probe = bench.started[0].probe;
    // 50 ms count as in time.
    let mut late = Bench::probed(1, every(5_000, 2_000, 1), Manner::Silent);
    late.run_to(1_999);
    late.rig.jump_to(2_050);
    late.rig.engine.handle_timeout(at(2_050));
    assert_eq!(late.state(1), State::Down);
    // 300 ms more, in which the answer may be found that has come in time.
    bench.rig.jump_to(2_300);
    bench.rig.engine.handle_timeout(at(2_300));
    bench.drain();
    assert_eq!((bench.state(1), bench.cancelled.len()), (State::Unknown, 0));
    let mut found = Bench::probed(1, every(5_000, 2_000, 1), Manner::Silent);
    found.run_to(1_999);
    found.rig.jump_to(2_300);
    found.rig.engine.handle_timeout(at(2_300));
    let result = sluice_balance::ProbeResult::Passed {
        took: Duration::from_millis(1_500),
        load: None,
    };
    found.rig.engine.handle_probe(probe, result, at(2_599));
    assert_eq!(found.state(1), State::Up);
    // Only once, however late the next call is.
    bench.rig.jump_to(9_000);
    bench.rig.engine.handle_timeout(at(9_000));
    bench.drain();
    assert_eq!(
        (bench.state(1), bench.cancelled.clone()),
        (State::Down, vec![probe])
    );
}

#[test]
fn time_that_goes_back_changes_nothing() {
    let mut bench = Bench::probed(1, every(1_000, 500, 1), Manner::Answers(0));
    bench.run_to(10_500);
    let before = bench.row(1, 1);
    bench.rig.engine.handle_timeout(at(3_000));
    bench.drain();
    assert_eq!(bench.row(1, 1), before);
}

#[test]
fn ten_thousand_services_are_probed_once_an_interval_each() {
    let mut bench = crowd(10_000, every(1_000, 900, 3), Manner::Answers(0));
    bench.run_to(10_000);
    assert_eq!(starts_in(&bench, 3_000, 10_000), 70_000);
}
