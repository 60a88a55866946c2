//! How long an entry lives: from its last use on, to the nanosecond, whatever the time-out becomes.

use std::time::Duration;

use sluice_balance::{
    Change, ChosenBy, CloseReason, Instant, Persistence, PersistenceTimeout, ServiceId,
};

use super::bench::{Bench, DST, by_source, flow, minutes};
use crate::rig::V;

const CLIENT: &str = "192.0.2.7";

#[test]
fn each_use_renews_and_the_remaining_time_shows_it() {
    let mut bench = Bench::new(3, by_source());
    let mut shown = Vec::new();
    for second in (0..=290).step_by(5) {
        bench.run_to_s(second);
        if [0, 80, 160].contains(&second) {
            assert_eq!(bench.come(CLIENT), 1);
        }
        shown.push(bench.remaining().map(|left| left.as_secs()));
    }
    let last_use = |second: u64| match second {
        0..80 => 0_u64,
        80..160 => 80,
        _ => 160,
    };
    let expected: Vec<_> = (0..=290)
        .step_by(5)
        .map(|second| {
            (last_use(second) + 120)
                .checked_sub(second)
                .filter(|left| *left > 0)
        })
        .collect();
    assert_eq!(shown, expected);
}

#[test]
fn entry_ends_to_the_nanosecond() {
    let mut bench = Bench::new(2, by_source());
    bench.come(CLIENT);
    let end = Instant::default() + Duration::from_secs(120);
    bench.rig.now = end - Duration::from_nanos(1);
    assert_eq!(bench.remaining(), Some(Duration::from_nanos(1)));
    bench.rig.now = end;
    assert_eq!((bench.remaining(), bench.counts()), (None, (0, 0)));
    assert_eq!(bench.come_to(V, CLIENT), (2, ChosenBy::Method));
}

#[test]
fn what_is_forgotten_is_freed_by_deadlines_alone_even_when_no_service_is_left() {
    let mut bench = Bench::new(1, by_source());
    bench.come(CLIENT);
    bench.rig.unbind(1);
    bench.rig.apply(Change::RemoveService(ServiceId(1)));
    let due = bench.rig.engine.poll_timeout();
    assert_eq!(due, Some(bench.rig.now));
    bench.rig.engine.handle_timeout(bench.rig.now);
    assert_eq!(bench.rig.engine.poll_timeout(), None);
}

#[test]
fn client_with_an_open_flow_keeps_its_service_as_long_as_it_comes_again_in_time() {
    let mut bench = Bench::new(3, by_source());
    let open = |bench: &mut Bench, src: &str| bench.open(V, &flow(src, DST), &[]).unwrap();
    let (busy, _) = open(&mut bench, CLIENT);
    let (quiet, _) = open(&mut bench, "192.0.2.8");
    let services = (busy.service(), quiet.service());
    for second in [50, 100, 150] {
        bench.run_to_s(second);
        let (other, rule) = open(&mut bench, CLIENT);
        assert_eq!((other.service(), rule), (services.0, ChosenBy::Persistence));
        bench.close(other);
        if second == 50 {
            bench.run_to_s(90);
            // The timer runs from the last use, not from the last close: 30 s were left.
            let left: Vec<_> = bench.told().into_iter().map(|row| row.2).collect();
            assert_eq!(left, [80_000, 30_000]);
            let (other, rule) = open(&mut bench, "192.0.2.8");
            assert_eq!((other.service(), rule), (services.1, ChosenBy::Persistence));
            bench.close(other);
        }
    }
    bench.run_to_s(180);
    let left: Vec<_> = bench.told().into_iter().map(|row| row.2).collect();
    assert_eq!(left, [90_000, 30_000]);
    for reservation in [busy, quiet] {
        let now = bench.rig.now;
        bench
            .rig
            .engine
            .handle_close(reservation, CloseReason::IdleLimit, now);
    }
    let left: Vec<_> = bench.told().into_iter().map(|row| row.2).collect();
    assert_eq!(left, [90_000, 30_000]);
}

#[test]
fn remaining_time_of_a_client_that_keeps_coming_never_runs_down() {
    // Eight workers with clocks up to 3 ms apart, each with clients of its own besides.
    let mut bench = Bench::new(4, by_source());
    let first = bench.come(CLIENT);
    for step in 1..=75_u64 {
        let read = bench.rig.now;
        bench.rig.run_to(step * 2000);
        let worker = step % 8;
        bench.rig.now = bench.rig.now - Duration::from_millis(worker % 4);
        assert_eq!(bench.come_to(V, CLIENT), (first, ChosenBy::Persistence));
        bench.come(&format!("10.0.{worker}.{step}"));
        let rows = bench.told();
        let row = rows.iter().find(|row| row.0 == CLIENT).unwrap();
        assert_eq!((row.1, row.2), (first, 120_000), "{step} {read:?}");
        bench.rig.jump_to(step * 2000);
    }
}

#[test]
fn new_timeout_counts_at_once_from_the_last_use() {
    let mut bench = Bench::new(1, by_source());
    let with = |timeout: PersistenceTimeout| Persistence {
        timeout,
        ..by_source()
    };
    bench.come(CLIENT);
    bench.run_to_s(100);
    bench.set(with(minutes(10)));
    assert_eq!(bench.remaining(), Some(Duration::from_secs(500)));
    bench.run_to_s(200);
    bench.set(with(minutes(5)));
    assert_eq!(bench.remaining(), Some(Duration::from_secs(100)));
    bench.set(with(minutes(3)));
    assert_eq!((bench.remaining(), bench.counts()), (None, (0, 0)));
    bench.come(CLIENT);
    bench.set(with(minutes(1440)));
    assert_eq!(bench.remaining(), Some(Duration::from_secs(86_400)));
}

#[test]
fn longer_timeout_brings_nobody_back() {
    let mut bench = Bench::new(1, by_source());
    let with = |timeout: PersistenceTimeout| Persistence {
        timeout,
        ..by_source()
    };
    bench.come(CLIENT);
    bench.rig.jump_to(1);
    bench.come("192.0.2.8");
    // Nobody has called since the first one ended.
    bench.rig.jump_to(120_000);
    bench.set(with(minutes(10)));
    assert_eq!(bench.told(), [("192.0.2.8".to_owned(), 1, 480_001)]);
    assert_eq!(bench.come_to(V, CLIENT), (1, ChosenBy::Method));
    bench.rig.jump_to(130_000);
    assert_eq!(bench.told().len(), 2);
    bench.set(with(minutes(2)));
    assert_eq!(bench.told(), [(CLIENT.to_owned(), 1, 110_000)]);
}

#[test]
fn many_that_end_together_are_freed_in_bounded_steps() {
    let mut bench = Bench::new(3, by_source());
    for number in 0..3000_u32 {
        bench.come(&std::net::Ipv4Addr::from(number).to_string());
    }
    bench.rig.jump_to(120_000);
    let mut calls = 0;
    let now = bench.rig.now;
    while bench.rig.engine.poll_timeout().unwrap() <= now {
        bench.rig.engine.handle_timeout(now);
        calls += 1;
    }
    assert_eq!((calls, bench.counts()), (3, (0, 0)));
}
