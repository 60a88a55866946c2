//! The worked tables of slow start, and the loads that methods with a memory make of it.

use std::time::Duration;

use sluice_balance::{Method, RampUnit};

use super::load::Load;

/// Shorter than the 4.17 ms between two requests of the manual table: each finds all idle.
const SHORT: Option<Duration> = Some(Duration::from_millis(2));

/// Half a dozen requests long: each finds some flows open.
const LONGER: Option<Duration> = Some(Duration::from_millis(20));

fn manual_table(method: Method, life: Option<Duration>) -> Vec<Vec<Vec<u64>>> {
    let mut load = Load::new(method, &[1, 1], 240).with_life(life);
    let mut rows = vec![load.seconds(10)];
    load.set(10, RampUnit::PerSecond, 0);
    load.join(3, 1);
    rows.push(load.seconds(10));
    load.set(20, RampUnit::PerSecond, 0);
    rows.push(load.seconds(10));
    load.set(40, RampUnit::PerSecond, 0);
    load.join(4, 1);
    rows.push(load.seconds(10));
    load.set(0, RampUnit::PerSecond, 0);
    rows.push(load.seconds(10));
    rows
}

#[test]
fn manual_table_holds_in_every_second() {
    for (method, life) in [
        (Method::RoundRobin, SHORT),
        (Method::LeastConnection, SHORT),
        (Method::LeastConnection, LONGER),
    ] {
        let expected = [
            vec![120, 120],
            vec![115, 115, 10],
            vec![110, 110, 20],
            vec![80, 80, 40, 40],
            vec![60, 60, 60, 60],
        ];
        let expected = expected.map(|row| vec![row; 10]);
        assert_eq!(manual_table(method, life), expected, "{method:?} {life:?}");
    }
}

#[test]
fn manual_limit_stays_for_ever() {
    let mut load = Load::new(Method::RoundRobin, &[1, 1], 200);
    load.set(25, RampUnit::PerSecond, 0);
    load.join(3, 1);
    assert!(load.seconds(600).iter().all(|row| row[2] == 25));
    let ramp = load.ramp(3).unwrap();
    assert_eq!(
        (ramp.limit, ramp.chosen, ramp.requests),
        (25, 15_000, 120_000)
    );
    assert_eq!((ramp.next_step, ramp.end), (None, None));
}

/// Four services at 25 requests/s; a fifth joins with rate 4 and interval 10 s after `earlier`
/// seconds. Returns its requests in each second until it is no longer new, and the table by tens of
/// seconds.
fn automatic(mut load: Load, earlier: u64) -> (Vec<u64>, Vec<Vec<u64>>) {
    load.run(earlier);
    load.set(4, RampUnit::PerSecond, 10);
    load.join(5, 1);
    let (mut fifth, mut tens) = (Vec::new(), Vec::new());
    while load.ramp(5).is_some() {
        let seconds = load.seconds(10);
        let sum = |service: usize| seconds.iter().map(|row| row[service]).sum();
        tens.push((0..5).map(sum).collect());
        fifth.extend(seconds.iter().map(|row| row[4]));
    }
    (fifth, tens)
}

fn of_four(method: Method) -> Load {
    Load::new(method, &[1, 1, 1, 1], 100)
}

#[test]
fn automatic_table_holds_and_ends_at_50_s() {
    let mut loads = vec![(of_four(Method::RoundRobin), 0)];
    for seconds in [1, 2, 3, 5] {
        let life = Some(Duration::from_secs(seconds));
        loads.push((of_four(Method::LeastConnection).with_life(life), 20));
    }
    for (load, earlier) in loads {
        let (fifth, tens) = automatic(load, earlier);
        let expected = [
            [240, 240, 240, 240, 40],
            [230, 230, 230, 230, 80],
            [220, 220, 220, 220, 120],
            [210, 210, 210, 210, 160],
            [200, 200, 200, 200, 200],
        ];
        assert_eq!(tens, expected);
        let steps = [4, 8, 12, 16, 20];
        assert_eq!(fifth, steps.map(|limit| [limit; 10]).concat());
    }
}

#[test]
fn automatic_table_goes_on_with_equal_shares() {
    let mut load = of_four(Method::RoundRobin);
    load.set(4, RampUnit::PerSecond, 10);
    load.join(5, 1);
    load.run(50);
    assert_eq!(load.ramp(5), None);
    assert_eq!(load.seconds(10), vec![vec![20; 5]; 10]);
}

#[test]
fn percent_table_holds_to_the_request_and_ends_at_20_s() {
    let mut load = of_four(Method::RoundRobin);
    load.set(25, RampUnit::Percent, 5);
    load.join(5, 1);
    let mut rows = Vec::new();
    for _ in 0..4 {
        let limit = load.ramp(5).unwrap().limit;
        rows.push((limit, load.run(5)));
    }
    let expected = [
        (25, vec![118, 118, 117, 117, 30]),
        (50, vec![111, 111, 112, 111, 55]),
        (75, vec![105, 105, 105, 106, 79]),
        (100, vec![100, 100, 100, 100, 100]),
    ];
    assert_eq!(rows, expected);
    assert_eq!(load.ramp(5), None);
    assert_eq!(load.run(5), [100; 5]);
}

#[test]
fn least_bandwidth_ends_when_the_window_has_caught_up() {
    // A request moves its bytes at once. The fifth service reaches 20/s at 40 s, but its window
    // only reaches that of the others while it gets a little more than they do.
    let load = of_four(Method::LeastBandwidth).with_bytes(1_000);
    let (fifth, tens) = automatic(load, 20);
    assert_eq!(fifth.len(), 60);
    assert_eq!(fifth.iter().max(), Some(&24));
    let by_tens: Vec<_> = tens.iter().map(|row| row[4]).collect();
    assert_eq!(by_tens, [40, 80, 120, 160, 200, 200]);
}

#[test]
fn least_connection_without_an_end_of_connections_ends_when_their_number_has_caught_up() {
    let load = of_four(Method::LeastConnection).with_life(None);
    let (fifth, tens) = automatic(load, 20);
    assert_eq!(fifth.len(), 110);
    assert_eq!(fifth.iter().max(), Some(&44));
    let by_tens: Vec<_> = tens.iter().map(|row| row[4]).collect();
    assert_eq!(
        by_tens,
        [40, 80, 120, 160, 200, 240, 280, 320, 360, 400, 400]
    );
    // 2,600 flows each: 2,000 before, 11,000 since, and none has ended.
    assert_eq!(fifth.iter().sum::<u64>(), 2_600);
}

#[test]
fn least_packets_is_limited_like_the_others() {
    let (fifth, tens) = automatic(of_four(Method::LeastPackets), 20);
    assert_eq!((fifth.len(), fifth.iter().max()), (60, Some(&24)));
    assert_eq!(tens[0], [240, 240, 240, 240, 40]);
}
