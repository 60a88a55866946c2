//! How soon a fault, and its end, are noticed: the exact times, and the worst over all phases.

use sluice_balance::{MonitorSettings, State};

use super::bench::{Bench, Manner, every, monitor};

/// Makes a service that answers at once until it fails at `fault_ms`; returns how long after that it was
/// DOWN, in milliseconds.
fn time_to_down(settings: MonitorSettings, manner: Manner, fault_ms: u64) -> u64 {
    let mut bench = Bench::probed(1, settings, Manner::Answers(0));
    bench.run_to(fault_ms);
    assert_eq!(bench.state(1), State::Up);
    bench.take(1, 1, manner);
    bench.changes();
    bench.run_to(fault_ms + 3_600_000);
    let (_, state, at) = bench.changes()[0];
    assert_eq!(state, State::Down);
    at - fault_ms
}

#[test]
fn fault_is_noticed_within_retries_times_interval_and_one_timeout() {
    for (interval, timeout, retries) in [
        (5_000, 2_000, 3),
        (1_000, 999, 1),
        (2_000, 500, 7),
        (100, 50, 2),
    ] {
        let settings = every(interval, timeout, retries);
        // Every phase of the interval, beginning long after the start and at it.
        for from in [1, 20 * interval] {
            let step = interval / 100;
            let faults = (0..100).map(|part| from + part * step);
            let times: Vec<_> = faults
                .map(|fault| time_to_down(settings, Manner::Silent, fault))
                .collect();
            let bound = u64::from(retries) * interval + timeout;
            let worst = times.iter().max().unwrap();
            let soonest = times.iter().min().unwrap();
            assert!(*worst <= bound, "{worst} of {bound} ms");
            if from > 1 {
                // The bound is no guess: it is reached up to the step of the phases.
                assert!(worst + step >= bound, "{worst} of {bound} ms");
                let spread = soonest + interval - bound;
                assert!(spread <= step, "{soonest} of {bound} ms");
            }
        }
    }
}

#[test]
fn refusal_is_noticed_a_timeout_sooner() {
    let settings = monitor();
    let faults = (0..100).map(|part| 100_000 + part * 50);
    let times = faults.map(|fault| time_to_down(settings, Manner::Refuses, fault));
    let worst = times.max().unwrap();
    assert!(worst <= 15_000 && worst + 50 >= 15_000, "{worst} ms");
}
