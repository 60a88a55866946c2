//! `soPersistence`: clients keep to the virtual server that served them first.

use sluice_balance::{
    AddressMask, Change, Persistence, PersistenceFilter, PersistenceKind, PersistenceTimeout,
    Refusal, SkipPersistence, Spillover, SpilloverAction, SpilloverMethod, VserverId,
};

use super::bench::{Bench, Place};

const OWN: Place = (1, 1);
const BACKUP: Place = (2, 2);

/// A primary that takes one flow and whose clients keep to who serves them for two minutes.
fn bench() -> Bench {
    let mut bench = Bench::chain(&[&[1], &[2]]);
    keep(&mut bench, 1, Some(2));
    bench
}

fn keep(bench: &mut Bench, connections: u32, minutes: Option<u64>) {
    let spillover = Spillover {
        method: SpilloverMethod::Connections(connections),
        persistence: minutes.map(|minutes| PersistenceTimeout::new(minutes).unwrap()),
        action: SpilloverAction::Drop,
    };
    bench.set_backup(1, |backup| backup.spillover = Some(spillover));
}

#[test]
fn client_keeps_to_primary_or_backup_whatever_the_threshold_says() {
    let mut bench = bench();
    assert_eq!([7, 8].map(|host| bench.open(host)), [Ok(OWN), Ok(BACKUP)]);
    // Over the threshold the client of the primary stays; below it that of the backup does.
    assert_eq!(bench.open(7), Ok(OWN));
    bench.close(OWN);
    bench.close(OWN);
    assert_eq!([8, 8].map(|host| bench.open(host)), [Ok(BACKUP); 2]);
    assert_eq!([9, 10].map(|host| bench.open(host)), [Ok(OWN), Ok(BACKUP)]);
    assert_eq!(bench.vserver(1).spillover_hits, 4);
}

#[test]
fn keeping_ends_so_long_after_the_last_flow() {
    let mut bench = bench();
    assert_eq!([7, 8].map(|host| bench.open(host)), [Ok(OWN), Ok(BACKUP)]);
    bench.close(OWN);
    bench.run_to(119_999);
    assert_eq!(bench.open(8), Ok(BACKUP));
    bench.run_to(239_998);
    assert_eq!(bench.open(8), Ok(BACKUP));
    bench.run_to(359_998);
    assert_eq!(bench.open(8), Ok(OWN));
}

#[test]
fn client_moves_when_the_one_it_keeps_to_cannot_take_a_flow() {
    let mut bench = bench();
    assert_eq!([7, 8].map(|host| bench.open(host)), [Ok(OWN), Ok(BACKUP)]);
    bench.close(OWN);
    bench.enable(&[2], false);
    assert_eq!(bench.open(8), Ok(OWN));
    bench.enable(&[2], true);
    assert_eq!(bench.open(8), Ok(OWN));
    // A backup that is full is passed over, and the primary's threshold holds again for who moves.
    assert_eq!(bench.open(9), Ok(BACKUP));
    bench.max_client(2, 1);
    assert_eq!(bench.open(9), Err(Refusal::Spilling));
}

#[test]
fn primary_that_was_down_gets_its_clients_back() {
    let mut bench = bench();
    assert_eq!([7, 8].map(|host| bench.open(host)), [Ok(OWN), Ok(BACKUP)]);
    bench.enable(&[1], false);
    assert_eq!([7, 8, 9].map(|host| bench.open(host)), [Ok(BACKUP); 3]);
    bench.enable(&[1], true);
    bench.close(OWN);
    assert_eq!([8, 7].map(|host| bench.open(host)), [Ok(BACKUP), Ok(OWN)]);
    bench.close(OWN);
    // It came while the primary was DOWN and keeps to nobody.
    assert_eq!(bench.open(9), Ok(OWN));
    let shown = bench.vserver(1);
    assert_eq!((shown.down_backup_hits, shown.spillover_hits), (3, 2));
}

#[test]
fn flow_that_failed_where_its_client_keeps_goes_on_elsewhere() {
    let mut bench = bench();
    assert_eq!(bench.open(7), Ok(OWN));
    let next = bench.select(1, &[1], 7).unwrap();
    assert_eq!(bench.keep(next.reservation), BACKUP);
    assert_eq!(bench.open(7), Ok(BACKUP));
}

#[test]
fn turning_it_off_or_shortening_it_counts_at_once() {
    let mut bench = bench();
    keep(&mut bench, 1, Some(10));
    assert_eq!([7, 8].map(|host| bench.open(host)), [Ok(OWN), Ok(BACKUP)]);
    bench.close(OWN);
    bench.run_to(200_000);
    keep(&mut bench, 1, Some(2));
    assert_eq!(bench.open(8), Ok(OWN));
    assert_eq!(bench.open(7), Ok(BACKUP));
    bench.close(OWN);
    keep(&mut bench, 1, None);
    assert_eq!(bench.open(7), Ok(OWN));
    bench.close(OWN);
    keep(&mut bench, 1, Some(2));
    assert_eq!(bench.open(7), Ok(OWN));
}

#[test]
fn client_of_a_backup_that_left_the_chain_is_given_another() {
    let mut bench = bench();
    assert_eq!([7, 8].map(|host| bench.open(host)), [Ok(OWN), Ok(BACKUP)]);
    bench.close(OWN);
    bench.set_backup(1, |backup| backup.vserver = None);
    assert_eq!(bench.open(8), Ok(OWN));
    assert_eq!(bench.open(9), Err(Refusal::Spilling));
    bench.apply(Change::RemoveVserver(VserverId(2)));
    assert_eq!(bench.open(8), Ok(OWN));
}

#[test]
fn who_keeps_to_a_virtual_server_is_counted_and_limited_but_no_row_of_a_service() {
    let mut bench = bench();
    let persistence = Persistence {
        kind: PersistenceKind::SourceIp,
        mask: AddressMask::ALL,
        timeout: PersistenceTimeout::DEFAULT,
        skip: SkipPersistence::None,
        trofs: true,
        group: None,
    };
    bench.set(2, |settings| settings.persistence = Some(persistence));
    for host in 7..10 {
        bench.open(host).unwrap();
    }
    let now = bench.now;
    let all = PersistenceFilter::default();
    let page = bench.engine.persistence_rows(&all, Default::default(), now);
    assert_eq!(page.rows.len(), 2);
    assert_eq!(bench.engine.persistence_totals(now).entries, 5);
    bench.apply(Change::SetPersistenceLimit(5));
    bench.close(OWN);
    assert_eq!(bench.open(20), Ok(OWN));
    bench.close(OWN);
    assert_eq!(bench.engine.persistence_totals(now).overflows, 1);
    assert_eq!(bench.engine.clear_persistence(None, None, now), 5);
    assert_eq!(bench.open(8), Ok(OWN));
    bench.apply(Change::RemoveVserver(VserverId(1)));
    assert_eq!(bench.engine.persistence_totals(now).entries, 0);
}
