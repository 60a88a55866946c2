//! Exact starts, the bounds of the gaps, and how evenly starts are spread.

use super::*;

const SECOND: u64 = 1_000_000_000;

fn starts(phase: Phase, first: u64, interval: u64, count: usize) -> Vec<u64> {
    let mut start = Instant::from_nanos(first);
    let next = |start: &mut Instant| {
        *start = phase.next(*start, Duration::from_nanos(interval));
        start.as_nanos()
    };
    (0..count).map(|_| next(&mut start)).collect()
}

#[test]
fn starts_come_at_the_phase_of_each_interval_after_one_that_is_halfway_if_it_is_near() {
    let quarter = Phase(1 << 62);
    assert_eq!(starts(quarter, 0, 400, 3), [250, 500, 900]);
    assert_eq!(starts(quarter, 100, 400, 3), [500, 900, 1_300]);
    assert_eq!(starts(quarter, 101, 400, 3), [500, 900, 1_300]);
    assert_eq!(starts(quarter, 300, 400, 3), [500, 900, 1_300]);
    assert_eq!(starts(quarter, 301, 400, 3), [600, 900, 1_300]);
    assert_eq!(starts(quarter, 499, 400, 3), [699, 900, 1_300]);
    // Other numbers, other phase; the longest interval there may be is no trouble.
    assert_eq!(starts(Phase(u64::MAX), 0, 1, 3), [1, 2, 3]);
    assert_eq!(starts(Phase(u64::MAX), 1, u64::MAX, 1), [u64::MAX - 1]);
}

#[test]
fn gap_is_from_half_to_a_whole_interval() {
    for interval in [1, 2, 3, 7, 1_000, 5 * SECOND] {
        for number in 0..500 {
            let phase = Phase::of(ServiceId(number), MonitorId(number % 3));
            let mut last = u64::from(number) * 17;
            for start in starts(phase, last, interval, 4) {
                let gap = start - last;
                assert!(
                    gap >= interval / 2 && gap <= interval,
                    "{gap} of {interval}"
                );
                last = start;
            }
            assert_eq!(starts(phase, last, interval, 2)[1] - last, 2 * interval);
        }
    }
}

#[test]
fn starts_of_many_are_spread_over_the_interval() {
    // The most in a hundredth of the interval: of services with a monitor each, of services with every
    // third number, and of few with several monitors.
    let most = |pairs: &mut dyn Iterator<Item = (u32, u32)>| {
        let mut parts = [0; 100];
        for (service, monitor) in pairs {
            let Phase(phase) = Phase::of(ServiceId(service), MonitorId(monitor));
            parts[usize::try_from((u128::from(phase) * 100) >> 64).unwrap()] += 1;
        }
        parts.into_iter().max().unwrap()
    };
    assert_eq!(most(&mut (1..=1_000).map(|s| (s, 1))), 11);
    assert_eq!(most(&mut (1..=1_000).map(|s| (3 * s, 1))), 12);
    assert_eq!(
        most(&mut (1..=250).flat_map(|s| (1..=4).map(move |m| (s, m)))),
        12
    );
    assert_eq!(most(&mut (1..=200).map(|s| (s, s))), 3);
}

#[test]
fn those_that_begin_together_do_so_one_behind_the_other() {
    let mut beginnings = Beginnings::default();
    let at = Instant::from_nanos;
    let starts = [10, 10, 10, 150_000, 900_000].map(|now| beginnings.next(at(now)).as_nanos());
    assert_eq!(starts, [10, 100_010, 200_010, 300_010, 900_000]);
}
