//! The bound on entries: who is there stays, who is not is balanced and counted, and it is said once.

use sluice_balance::{Change, ChosenBy, Engine, Output, PersistenceTotals, VserverId};

use super::bench::{Bench, by_source, sticky};
use crate::rig::{V, at, bind};

fn client(number: u32) -> String {
    std::net::Ipv4Addr::from(0x7F00_0000 + number).to_string()
}

fn totals(bench: &mut Bench) -> PersistenceTotals {
    let now = bench.rig.now;
    bench.rig.engine.persistence_totals(now)
}

#[test]
fn limit_is_150_000_by_default() {
    let shown = Engine::new().persistence_totals(at(0));
    let expected = PersistenceTotals {
        entries: 0,
        limit: 150_000,
        overflows: 0,
    };
    assert_eq!(shown, expected);
}

#[test]
fn full_table_keeps_who_is_there_and_balances_the_others() {
    let mut bench = Bench::new(3, by_source());
    bench.rig.apply(Change::SetPersistenceLimit(100));
    let first: Vec<_> = (0..120).map(|number| bench.come(&client(number))).collect();
    let full = Output::PersistenceFull {
        limit: 100,
        at: at(0),
    };
    assert_eq!((bench.reports(), bench.counts()), (vec![full], (100, 20)));

    bench.run_to_s(60);
    for (number, service) in (0..100).zip(&first) {
        let expected = (*service, ChosenBy::Persistence);
        assert_eq!(bench.come_to(V, &client(number)), expected);
    }
    for number in 100..120 {
        assert_eq!(bench.come_to(V, &client(number)).1, ChosenBy::Method);
    }
    assert_eq!((bench.reports(), bench.counts()), (vec![], (100, 40)));
    let shown = bench.rig.vserver().persistence.unwrap();
    assert_eq!((shown.limit, totals(&mut bench).overflows), (100, 40));
}

#[test]
fn ended_entry_takes_no_room_away() {
    let mut bench = Bench::new(2, by_source());
    bench.rig.apply(Change::SetPersistenceLimit(2));
    bench.come(&client(1));
    bench.rig.jump_to(60_000);
    bench.come(&client(2));
    // Nobody has called since the first one ended.
    bench.rig.jump_to(120_000);
    bench.come(&client(3));
    bench.come(&client(4));
    let told: Vec<_> = bench.told().into_iter().map(|row| row.0).collect();
    assert_eq!((told, bench.counts()), (vec![client(3), client(2)], (2, 1)));
    assert_eq!(bench.reports().len(), 1);
}

#[test]
fn end_of_the_shortage_makes_the_next_one_worth_saying() {
    let mut bench = Bench::new(2, by_source());
    bench.rig.apply(Change::SetPersistenceLimit(8));
    let fill = |bench: &mut Bench, from: u32, to: u32| {
        for number in from..to {
            bench.come(&client(number));
        }
        bench.reports().len()
    };
    assert_eq!(fill(&mut bench, 0, 20), 1);
    let now = bench.rig.now;
    let forget = |bench: &mut Bench, number: u32| {
        let key = sluice_balance::PersistenceKey {
            src: Some(client(number).parse().unwrap()),
            dst: None,
        };
        bench.rig.engine.clear_persistence(Some(V), Some(&key), now)
    };
    // One gone: seven of eight left is not below seven eighths.
    assert_eq!(forget(&mut bench, 0), 1);
    bench.rig.engine.handle_timeout(now);
    assert_eq!(fill(&mut bench, 20, 22), 0);
    assert_eq!((forget(&mut bench, 1), forget(&mut bench, 2)), (1, 1));
    bench.rig.engine.handle_timeout(now);
    assert_eq!(fill(&mut bench, 30, 40), 1);
}

#[test]
fn limit_is_for_all_virtual_servers_together_and_each_counts_its_own() {
    let mut bench = Bench::new(2, by_source());
    let other = VserverId(2);
    bench
        .rig
        .apply(Change::AddVserver(other, sticky(by_source())));
    bench.rig.apply(Change::Bind(bind(other, 1, 1)));
    bench.rig.apply(Change::SetPersistenceLimit(3));
    for number in 0..2 {
        bench.come_to(V, &client(number));
    }
    for number in 0..5 {
        bench.come_to(other, &client(number));
    }
    let now = bench.rig.now;
    let shown = bench.rig.engine.vserver_status(other, now).unwrap();
    let shown = shown.persistence.unwrap();
    assert_eq!((shown.entries, shown.overflows, shown.limit), (1, 4, 3));
    assert_eq!(bench.counts(), (2, 0));
    let expected = PersistenceTotals {
        entries: 3,
        limit: 3,
        overflows: 4,
    };
    assert_eq!(totals(&mut bench), expected);
    // What goes with a virtual server is room for the others at once.
    bench.rig.apply(Change::RemoveVserver(other));
    bench.come(&client(9));
    assert_eq!(bench.counts(), (3, 0));
}

#[test]
fn lower_limit_throws_nobody_out_and_a_higher_one_counts_at_once() {
    let mut bench = Bench::new(2, by_source());
    for number in 0..10 {
        bench.come(&client(number));
    }
    bench.rig.apply(Change::SetPersistenceLimit(4));
    bench.come(&client(10));
    assert_eq!((bench.counts(), bench.reports().len()), ((10, 1), 1));
    assert_eq!(bench.come_to(V, &client(3)).1, ChosenBy::Persistence);
    bench.rig.apply(Change::SetPersistenceLimit(11));
    bench.come(&client(10));
    assert_eq!(bench.counts(), (11, 1));
    bench.rig.apply(Change::SetPersistenceLimit(0));
    bench.run_to_s(300);
    assert_eq!(bench.come_to(V, &client(3)).1, ChosenBy::Method);
    assert_eq!(bench.counts(), (0, 2));
}
