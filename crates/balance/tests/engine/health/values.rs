//! What monitors measure: response times for LRTM, loads for CUSTOMLOAD, and the deviation.

use std::time::Duration;

use sluice_balance::{Change, LastProbe, Method, MonitorSettings, State};

use super::bench::{Bench, M, Manner, every, monitor};
use crate::rig::at;

fn learning() -> MonitorSettings {
    MonitorSettings {
        learns_response_time: true,
        ..every(1_000, 900, 3)
    }
}

#[test]
fn lrtm_compares_the_mean_over_the_monitors_of_a_service_that_learn() {
    let mut bench = Bench::new(2);
    bench.rig.set_method(Method::LeastMonitorTime);
    bench.add(1, learning());
    bench.add(2, learning());
    bench.add(3, monitor());
    // (100 + 300) / 2 = 200 ms; the third monitor learns nothing. Against 190 ms.
    for (service, monitor, ms) in [(1, 1, 100), (1, 2, 300), (1, 3, 1), (2, 1, 190)] {
        bench.take(service, monitor, Manner::Answers(ms));
        bench.bind(service, monitor);
    }
    bench.run_to(2_000);
    bench.rig.set_active(1, 1);
    bench.rig.set_active(2, 1);
    // 1 x 200 against 1 x 190; then 1 x 200 against 2 x 190.
    assert_eq!(bench.rig.picks(2), [2, 1]);
    // Without the slow one: 200, 300 and 400 against 380, then 400 against 570.
    bench.unbind(1, 2);
    assert_eq!(bench.rig.picks(4), [1, 1, 2, 1]);
}

#[test]
fn learned_time_counts_each_time_for_a_quarter_and_a_late_one_with_its_limit() {
    let mut bench = Bench::probed(1, learning(), Manner::Answers(100));
    bench.run_to(200);
    let learned = |bench: &mut Bench| bench.row(1, 1).learned_time.unwrap().as_micros();
    assert_eq!(learned(&mut bench), 100_000);
    bench.take(1, 1, Manner::Answers(500));
    bench.run_to(1_200);
    assert_eq!(learned(&mut bench), 200_000);
    bench.take(1, 1, Manner::Silent);
    let probes = bench.row(1, 1).failed;
    bench.run_to(3_000);
    assert_eq!((probes, bench.row(1, 1).failed), (0, 1));
    assert_eq!(learned(&mut bench), 375_000);
    // What is shown as the response time is the last answer's.
    assert_eq!(
        bench.row(1, 1).response_time,
        Some(Duration::from_millis(500))
    );
}

#[test]
fn custom_load_follows_the_mean_of_what_the_monitors_report_until_they_are_down() {
    let mut bench = Bench::new(2);
    bench.rig.set_method(Method::CustomLoad);
    bench.add(1, every(1_000, 900, 1));
    bench.add(2, every(1_000, 900, 1));
    // (10 + 50) / 2 = 30 against 31.
    for (service, monitor, load) in [(1, 1, 10), (1, 2, 50), (2, 1, 31)] {
        bench.take(service, monitor, Manner::Reports(load));
        bench.bind_with(service, monitor, |bind| bind.passive = true);
    }
    // In turn until all are known.
    assert_eq!(bench.rig.picks(2), [1, 2]);
    bench.run_to(1_000);
    assert_eq!(bench.rig.picks(2), [1, 1]);
    bench.take(1, 1, Manner::Reports(14));
    bench.run_to(2_000);
    assert_eq!(bench.rig.picks(2), [2, 2]);
    // The first alone goes on, with 14.
    bench.take(1, 2, Manner::Refuses);
    bench.run_to(3_000);
    assert_eq!(
        (bench.row(1, 2).state, bench.state(1)),
        (State::Down, State::Up)
    );
    assert_eq!(bench.rig.picks(2), [1, 1]);
    // Without any load: in turn again.
    bench.take(1, 1, Manner::Refuses);
    bench.run_to(5_000);
    assert_eq!(bench.rig.picks(3), [1, 2, 1]);
}

#[test]
fn values_go_with_the_last_monitor_that_gives_them() {
    let mut bench = Bench::probed(2, learning(), Manner::Reports(5));
    bench.run_to(2_000);
    let row = bench.row(1, 1);
    assert_eq!(
        (row.load, row.learned_time),
        (Some(5), Some(Duration::ZERO))
    );
    bench.rig.enable(1, false);
    bench.drain();
    let row = bench.row(1, 1);
    assert_eq!((row.load, row.learned_time), (None, None));
}

#[test]
fn deviation_makes_a_probe_fail_that_takes_longer_than_it_usually_does() {
    let settings = MonitorSettings {
        deviation: Duration::from_millis(50),
        ..learning()
    };
    let mut bench = Bench::probed(1, settings, Manner::Answers(100));
    let limits = |bench: &mut Bench| {
        let limits = bench.started.drain(..);
        let ms = limits.map(|one| one.deadline.duration_since(one.at).as_millis());
        ms.collect::<Vec<_>>()
    };
    bench.run_to(3_900);
    // Four answers first.
    let mut expected = vec![900; 4];
    expected.resize(limits(&mut bench).len(), 150);
    bench.take(1, 1, Manner::Answers(160));
    bench.run_to(10_000);
    // 50 more than 112.5 = 100 + (150 - 100) / 4, where the late one counts with its limit; then 160 is
    // in time, and counts.
    let limits: Vec<_> = limits(&mut bench).into_iter().take(4).collect();
    assert_eq!(limits, [150, 162, 174, 183]);
    let row = bench.row(1, 1);
    assert_eq!((row.failed, row.state), (1, State::Up));
}

#[test]
fn reversed_monitor_finds_well_what_does_not_answer() {
    let settings = MonitorSettings {
        reverse: true,
        ..every(1_000, 500, 2)
    };
    let mut bench = Bench::probed(1, settings, Manner::Silent);
    bench.run_to(500);
    assert_eq!(bench.state(1), State::Up);
    assert_eq!(bench.row(1, 1).last, Some(LastProbe::Passed(at(500))));
    bench.take(1, 1, Manner::Answers(0));
    bench.run_to(5_000);
    assert_eq!(bench.state(1), State::Down);
    // That it goes out of service is no failure that could be reversed.
    bench.take(1, 1, Manner::GoesOut);
    bench.run_to(60_000);
    assert_eq!(bench.state(1), State::GoingOutOfService);
}

#[test]
fn silence_passes_where_no_answer_is_expected() {
    let settings = MonitorSettings {
        silence_passes: true,
        ..every(1_000, 500, 1)
    };
    let mut bench = Bench::probed(1, settings, Manner::Silent);
    bench.run_to(500);
    assert_eq!((bench.state(1), bench.row(1, 1).failed), (State::Up, 0));
    bench.take(1, 1, Manner::Refuses);
    bench.run_to(2_000);
    assert_eq!((bench.state(1), bench.row(1, 1).failed), (State::Down, 1));
}

#[test]
fn answer_that_took_too_long_has_failed_even_if_it_is_told_in_time() {
    let mut bench = Bench::probed(1, every(1_000, 500, 1), Manner::Silent);
    bench.run_to(10);
    let probe = bench.started[0].probe;
    let result = sluice_balance::ProbeResult::Passed {
        took: Duration::from_millis(501),
        load: None,
    };
    bench.rig.engine.handle_probe(probe, result, bench.rig.now);
    assert_eq!((bench.state(1), bench.row(1, 1).failed), (State::Down, 1));
    bench.apply(Change::SetMonitor(M, every(1_000, 501, 1)));
    assert_eq!(bench.row(1, 1).next, Some(at(10)));
}
