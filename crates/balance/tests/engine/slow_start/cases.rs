//! Situations in which slow starts have gone wrong elsewhere.

use std::time::Duration;

use sluice_balance::{Method, RampUnit};

use super::load::Load;

const METHODS: [Method; 4] = [
    Method::RoundRobin,
    Method::LeastConnection,
    Method::LeastBandwidth,
    Method::LeastPackets,
];

/// Requests of the third and the fourth service in steps of `seconds`, the third bound at 0, the
/// fourth at 20 s; 100 requests/s.
fn two_newcomers(mut load: Load, steps: usize, seconds: u64) -> (Vec<u64>, Vec<u64>) {
    load.join(3, 1);
    let (mut third, mut fourth) = (Vec::new(), Vec::new());
    for step in 0..steps {
        if step as u64 * seconds == 20 {
            load.join(4, 1);
        }
        let row = load.run(seconds);
        third.push(row[2]);
        fourth.extend(row.get(3));
    }
    (third, fourth)
}

#[test]
fn ramp_of_one_newcomer_goes_on_when_another_joins() {
    for (method, rounded) in [(Method::RoundRobin, 106), (Method::LeastConnection, 107)] {
        let mut load = Load::new(method, &[1, 1], 100);
        load.set(5, RampUnit::PerSecond, 12);
        let (third, fourth) = two_newcomers(load, 21, 4);
        let mut expected = [20, 40, 60, 80, 100].map(|limit| [limit; 3]).concat();
        assert_eq!(fourth[..15], expected, "{method:?}");
        assert_eq!(fourth[15..], [100], "{method:?}");
        // No longer new at 60 s: a third of what the fourth leaves of 400, then equal shares.
        expected.extend([rounded, 107, 100, 100, 100, 100]);
        assert_eq!(third, expected, "{method:?}");
    }
}

#[test]
fn percent_ramp_of_one_newcomer_goes_on_when_another_joins() {
    let mut load = Load::new(Method::RoundRobin, &[1, 1], 100);
    load.set(10, RampUnit::Percent, 6);
    load.join(3, 1);
    load.run(20);
    let third = load.ramp(3).unwrap();
    load.join(4, 1);
    assert_eq!(load.ramp(3), Some(third));
    let ends = [3, 4].map(|service| load.ramp(service).unwrap().end.unwrap().as_nanos());
    assert_eq!(ends, [60_000_000_000, 80_000_000_000]);
    let shares: Vec<_> = (0..6).map(|_| load.run(10)).collect();
    let third: Vec<_> = shares.iter().map(|row| row[2]).collect();
    let fourth: Vec<_> = shares.iter().map(|row| row[3]).collect();
    assert_eq!(third, [177, 217, 245, 267, 263, 252]);
    assert_eq!(fourth, [54, 101, 141, 177, 211, 242]);
    assert_eq!(load.run(10), [250; 4]);
}

/// Twenty services at 50 requests/s, the last of them new with a ramp of 30 s. Returns when it got
/// a request, in ms since its bind.
fn twentieth(method: Method, own: u64, others: &[u64], unit: RampUnit, rate: u32) -> Vec<u64> {
    let life = Some(Duration::from_secs(1));
    let weights: Vec<_> = others.iter().copied().cycle().take(19).collect();
    let mut load = Load::new(method, &weights, 50).with_life(life);
    load.run(7);
    load.set(rate, unit, 3);
    load.join(20, own);
    let start = load.rig.now;
    let times = (0..50 * 45).map(|request| start + Duration::from_millis(20 * request));
    times
        .filter(|&time| load.request(time) == 20)
        .map(|time| u64::try_from(time.duration_since(start).as_millis()).unwrap())
        .collect()
}

#[test]
fn first_request_comes_at_once_whatever_the_weights() {
    for method in [Method::RoundRobin, Method::LeastConnection] {
        for own in [1, 100] {
            for others in [&[1][..], &[100], &[1, 100]] {
                for (unit, rate) in [(RampUnit::Percent, 10), (RampUnit::PerSecond, 1)] {
                    let times = twentieth(method, own, others, unit, rate);
                    assert_eq!(times[0], 0, "{method:?} {own} {others:?} {unit:?}");
                }
            }
        }
    }
}

/// Counts the requests in steps of 3 s.
fn by_steps(times: &[u64]) -> Vec<usize> {
    let in_step = |step| times.iter().filter(|time| *time / 3_000 == step).count();
    (0..13).map(in_step).collect()
}

#[test]
fn share_grows_step_by_step_and_its_end_is_no_flood() {
    let steps = |own, others: &[u64]| {
        by_steps(&twentieth(
            Method::RoundRobin,
            own,
            others,
            RampUnit::Percent,
            10,
        ))
    };
    // A full share is 7.5 requests in 3 s, then 15, then 126.
    assert_eq!(steps(1, &[1]), [1, 2, 2, 3, 4, 5, 5, 6, 7, 7, 7, 8, 7]);
    assert_eq!(steps(100, &[100]), [1, 2, 2, 3, 4, 5, 5, 6, 7, 7, 7, 8, 7]);
    assert_eq!(
        steps(100, &[1, 100]),
        [2, 3, 5, 6, 8, 10, 10, 12, 14, 15, 14, 15, 15]
    );
    assert_eq!(
        steps(100, &[1]),
        [52, 77, 92, 101, 109, 114, 118, 121, 124, 126, 111, 131, 131]
    );
}

#[test]
fn gaps_are_no_longer_than_three_expected_ones() {
    for method in [Method::RoundRobin, Method::LeastConnection] {
        let times = twentieth(method, 1, &[1], RampUnit::Percent, 10);
        for pair in times.windows(2).filter(|pair| pair[1] < 30_000) {
            // At 10 % more with each step, of an existing service's 50/19 requests/s or less.
            let percent = 10 * (pair[0] / 3_000 + 1);
            let expected_ms = 1_000 * 100 * 19 / (50 * percent);
            assert!(pair[1] - pair[0] <= 3 * expected_ms, "{method:?} {pair:?}");
        }
    }
}

#[test]
fn services_that_are_all_new_share_alike_from_the_first_second() {
    for method in METHODS {
        for (rate, unit, interval) in [
            (4, RampUnit::PerSecond, 6),
            (5, RampUnit::Percent, 3),
            (60, RampUnit::PerSecond, 0),
        ] {
            let mut load = Load::new(method, &[], 200).with_bytes(1_000);
            load.set(rate, unit, interval);
            (1..=5).for_each(|service| load.join(service, 1));
            assert_eq!(
                load.seconds(60),
                vec![vec![40; 5]; 60],
                "{method:?} {unit:?}"
            );
            assert_eq!(load.rig.vserver().refused, 0);
        }
    }
}

#[test]
fn service_back_from_maintenance_gets_its_limit_at_once() {
    let mut load = Load::new(Method::LeastConnection, &[1, 1, 1], 30);
    (1..=3).for_each(|service| load.rig.set_active(service, 66));
    load.set(5, RampUnit::PerSecond, 10);
    load.rig.enable(3, false);
    assert_eq!(load.run(10), [150, 150, 0]);
    load.rig.enable(3, true);
    load.join(4, 1);
    assert_eq!(load.run(1), [10, 10, 5, 5]);
}
