//! Spillover: when a virtual server that is UP passes flows on, and what becomes of those that
//! nobody takes.

use sluice_balance::{
    Diversion, Percent, Refusal, Spillover, SpilloverAction, SpilloverMethod, State,
};

use super::bench::{Bench, Place};

const OWN: Place = (1, 1);
const BACKUP: Place = (2, 2);

fn spill(bench: &mut Bench, vserver: u32, method: SpilloverMethod) {
    set(bench, vserver, method, SpilloverAction::Drop);
}

fn set(bench: &mut Bench, vserver: u32, method: SpilloverMethod, action: SpilloverAction) {
    let spillover = Spillover {
        method,
        persistence: None,
        action,
    };
    bench.set_backup(vserver, |backup| backup.spillover = Some(spillover));
}

#[test]
fn connections_never_exceed_the_threshold_and_return_below_it() {
    let mut bench = Bench::chain(&[&[1], &[2]]);
    spill(&mut bench, 1, SpilloverMethod::Connections(3));
    assert_eq!(bench.picks(5), [OWN, OWN, OWN, BACKUP, BACKUP]);
    let shown = bench.vserver(1);
    assert_eq!((shown.active, shown.spillover_hits), (3, 2));
    assert!(shown.is_spilling);
    // What the backup has left takes nothing from the primary's threshold.
    bench.close(BACKUP);
    assert_eq!(bench.pick(), Ok(BACKUP));
    bench.close(OWN);
    assert!(!bench.vserver(1).is_spilling);
    assert_eq!(bench.picks(2), [OWN, BACKUP]);
    spill(&mut bench, 1, SpilloverMethod::Connections(4));
    assert_eq!(bench.picks(2), [OWN, BACKUP]);
}

#[test]
fn spilling_names_itself_as_the_reason() {
    let mut bench = Bench::chain(&[&[1], &[2]]);
    spill(&mut bench, 1, SpilloverMethod::Connections(0));
    let reservation = bench.select(1, &[], 1).unwrap().reservation;
    assert_eq!(reservation.diversion(), Some(Diversion::Spillover));
    bench.keep(reservation);
    bench.enable(&[2], false);
    assert_eq!(bench.pick(), Err(Refusal::Spilling));
    assert_eq!(bench.states(1), (State::Up, State::Up));
}

#[test]
fn dynamic_connections_are_those_that_services_that_are_up_may_have() {
    let mut bench = Bench::chain(&[&[1, 3], &[2]]);
    spill(&mut bench, 1, SpilloverMethod::DynamicConnections);
    bench.max_client(1, 2);
    bench.max_client(3, 4);
    bench.picks(5);
    assert!(!bench.vserver(1).is_spilling);
    bench.pick().unwrap();
    assert!(bench.vserver(1).is_spilling);
    assert_eq!(bench.pick(), Ok(BACKUP));
    // Without service 3 only two may be had, and two are on service 1 already.
    bench.enable(&[3], false);
    for _ in 0..4 {
        bench.close((1, 3));
    }
    assert_eq!(bench.pick(), Ok(BACKUP));
    bench.close(OWN);
    assert_eq!(bench.picks(2), [OWN, BACKUP]);
}

#[test]
fn service_without_max_client_keeps_dynamic_connections_from_spilling() {
    let mut bench = Bench::chain(&[&[1, 3], &[2]]);
    spill(&mut bench, 1, SpilloverMethod::DynamicConnections);
    bench.max_client(1, 1);
    let served = bench.picks(20);
    assert_eq!(served.iter().filter(|place| **place == (1, 3)).count(), 19);
    // It counts only while it is UP.
    bench.enable(&[3], false);
    assert_eq!(bench.pick(), Ok(BACKUP));
}

#[test]
fn bandwidth_counts_both_ways_over_the_last_second_or_two() {
    let mut bench = Bench::chain(&[&[1], &[2]]);
    bench.run_to(10_000);
    let selection = bench.select(1, &[], 1).unwrap();
    let counters = selection.vserver_counters.clone();
    bench.keep(selection.reservation);
    // 80 kbit/s are 10,000 bytes a second.
    spill(&mut bench, 1, SpilloverMethod::Bandwidth(80));
    let at = |bench: &mut Bench, ms: u64| {
        bench.run_to(ms);
        bench.pick().unwrap()
    };
    // The baseline is the sample of 9 s, a second old.
    counters.add_in(6_000, 1);
    counters.add_out(4_000, 1);
    assert_eq!(at(&mut bench, 10_000), OWN);
    counters.add_out(1, 1);
    assert_eq!(at(&mut bench, 10_000), BACKUP);
    // 10,001 bytes in 1.001 s are below it.
    assert_eq!(at(&mut bench, 10_001), OWN);
    counters.add_in(9_000, 1);
    assert_eq!(at(&mut bench, 10_900), BACKUP);
    assert_eq!(at(&mut bench, 10_950), OWN);
    // The sample of 10 s was taken before the first byte, that of 11 s holds all.
    assert_eq!(at(&mut bench, 11_000), BACKUP);
    assert_eq!(at(&mut bench, 11_999), OWN);
    assert_eq!(at(&mut bench, 12_000), OWN);
    counters.add_in(10_001, 1);
    assert_eq!(at(&mut bench, 12_000), BACKUP);
}

#[test]
fn health_spills_while_less_weight_is_up_than_the_threshold() {
    let mut bench = Bench::chain(&[&[1], &[2]]);
    bench.bind(1, 3, 2);
    bench.bind(1, 4, 3);
    spill(
        &mut bench,
        1,
        SpilloverMethod::Health(Percent::new(50).unwrap()),
    );
    let mut spills_with = |up: &[u32]| {
        bench.enable(&[1, 3, 4], false);
        bench.enable(up, true);
        bench.pick().unwrap() == BACKUP
    };
    assert!(!spills_with(&[1, 3, 4]));
    assert!(!spills_with(&[1, 3]));
    assert!(spills_with(&[3]));
    assert!(spills_with(&[1]));
    assert!(!spills_with(&[4]));
}

#[test]
fn flow_that_nobody_takes_is_dropped_or_accepted() {
    for (action, own) in [
        (SpilloverAction::Drop, Err(Refusal::Spilling)),
        (SpilloverAction::Accept, Ok(OWN)),
    ] {
        for members in [&[&[1][..], &[2]][..], &[&[1]]] {
            let mut bench = Bench::chain(members);
            set(&mut bench, 1, SpilloverMethod::Connections(1), action);
            bench.pick().unwrap();
            if members.len() == 2 {
                assert_eq!(bench.pick(), Ok(BACKUP), "{action:?}");
                bench.enable(&[2], false);
            }
            assert_eq!(bench.pick(), own, "{action:?}");
            assert_eq!(bench.vserver(1).refused, u64::from(own.is_err()));
        }
    }
}

#[test]
fn accepting_makes_no_room_where_there_is_none() {
    let mut bench = Bench::chain(&[&[1]]);
    set(
        &mut bench,
        1,
        SpilloverMethod::Connections(1),
        SpilloverAction::Accept,
    );
    bench.max_client(1, 2);
    bench.picks(2);
    assert_eq!(bench.pick(), Err(Refusal::Spilling));
    bench.enable(&[1], false);
    assert_eq!(bench.pick(), Err(Refusal::Down));
}

#[test]
fn each_of_the_chain_spills_by_its_own_threshold() {
    let mut bench = Bench::chain(&[&[1], &[2], &[3]]);
    spill(&mut bench, 1, SpilloverMethod::Connections(2));
    set(
        &mut bench,
        2,
        SpilloverMethod::Connections(1),
        SpilloverAction::Accept,
    );
    assert_eq!(bench.picks(5), [OWN, OWN, BACKUP, (3, 3), (3, 3)]);
    // The last is gone: the one that accepts goes on, the one that drops does not.
    bench.enable(&[3], false);
    assert_eq!(bench.picks(2), [BACKUP, BACKUP]);
    bench.set_backup(2, |backup| backup.spillover = None);
    bench.max_client(2, 3);
    assert_eq!(bench.pick(), Err(Refusal::Spilling));
    // Who is DOWN passes everything on.
    bench.enable(&[1, 3], false);
    bench.max_client(2, 4);
    assert_eq!(bench.pick(), Ok(BACKUP));
    let shown = bench.vserver(1);
    assert_eq!((shown.spillover_hits, shown.down_backup_hits), (5, 1));
}
