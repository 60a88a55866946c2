//! `backupVServer`: who serves a flow that the dialled virtual server cannot take.

use sluice_balance::{
    AddressMask, Change, CloseFlows, CloseReason, Diversion, Method, Output, Persistence,
    PersistenceKind, PersistenceTimeout, Protocol, Refusal, ServiceId, SkipPersistence, State,
    TokenRange, VserverId, VserverSettings,
};

use super::bench::Bench;
use crate::rig::at;

#[test]
fn backup_serves_while_the_primary_is_down_and_no_longer() {
    let mut bench = Bench::chain(&[&[1, 2], &[3, 4]]);
    assert_eq!(bench.picks(2), [(1, 1), (1, 2)]);
    bench.enable(&[1, 2], false);
    assert_eq!(bench.picks(3), [(2, 3), (2, 4), (2, 3)]);
    bench.enable(&[2], true);
    assert_eq!(bench.picks(2), [(1, 2), (1, 2)]);
}

#[test]
fn who_serves_a_flow_counts_it_and_the_primary_that_it_was_passed_on() {
    let mut bench = Bench::chain(&[&[1], &[2]]);
    bench.picks(2);
    bench.enable(&[1], false);
    bench.picks(3);
    let [primary, backup] = [1, 2].map(|number| bench.vserver(number));
    assert_eq!((primary.hits, primary.active), (2, 2));
    assert_eq!((primary.down_backup_hits, primary.spillover_hits), (3, 0));
    assert_eq!((backup.hits, backup.active), (3, 3));
    assert_eq!((backup.down_backup_hits, backup.spillover_hits), (0, 0));
    bench.close((2, 2));
    let [primary, backup] = [1, 2].map(|number| bench.vserver(number));
    assert_eq!((primary.active, backup.active), (2, 2));
    assert_eq!((primary.down_backup_hits, backup.hits), (3, 3));
}

#[test]
fn reservation_names_who_was_dialled_who_serves_and_why() {
    let mut bench = Bench::chain(&[&[1], &[2]]);
    assert_eq!(names(&mut bench), ([1, 1], None));
    bench.max_client(1, 0);
    assert_eq!(names(&mut bench), ([1, 2], Some(Diversion::Spillover)));
    bench.enable(&[1], false);
    assert_eq!(names(&mut bench), ([1, 2], Some(Diversion::Down)));
}

fn names(bench: &mut Bench) -> ([u32; 2], Option<Diversion>) {
    let reservation = bench.select(1, &[], 1).unwrap().reservation;
    let names = [reservation.dialled().0, reservation.vserver().0];
    let diversion = reservation.diversion();
    bench.keep(reservation);
    (names, diversion)
}

#[test]
fn first_of_the_chain_that_can_serves() {
    let mut bench = Bench::chain(&[&[1], &[2], &[3]]);
    bench.enable(&[1, 2], false);
    assert_eq!(bench.pick(), Ok((3, 3)));
    assert_eq!(bench.vserver(1).down_backup_hits, 1);
    assert_eq!(bench.vserver(2).down_backup_hits, 0);
    bench.enable(&[2], true);
    assert_eq!(bench.pick(), Ok((2, 2)));
    bench.max_client(2, 1);
    assert_eq!(bench.pick(), Ok((3, 3)));
    bench.enable(&[3], false);
    assert_eq!(bench.pick(), Err(Refusal::Down));
    assert_eq!(
        [1, 2, 3].map(|number| bench.vserver(number).refused),
        [1, 0, 0]
    );
}

#[test]
fn backup_that_is_dialled_itself_serves_its_own_clients_and_knows_no_primary() {
    let mut bench = Bench::chain(&[&[1], &[2]]);
    bench.enable(&[2], false);
    assert_eq!(bench.select(2, &[], 1).unwrap_err(), Refusal::Down);
}

#[test]
fn disabled_primary_is_served_by_its_backup() {
    let mut bench = Bench::chain(&[&[1], &[2]]);
    bench.set(1, |settings| settings.enabled = false);
    assert_eq!(bench.pick(), Ok((2, 2)));
    assert_eq!(bench.vserver(1).down_backup_hits, 1);
    bench.set(2, |settings| settings.enabled = false);
    assert_eq!(bench.pick(), Err(Refusal::OutOfService));
}

#[test]
fn full_primary_spills_to_its_backup_until_it_has_room() {
    let mut bench = Bench::chain(&[&[1], &[2]]);
    bench.max_client(1, 2);
    assert_eq!(bench.picks(4), [(1, 1), (1, 1), (2, 2), (2, 2)]);
    let shown = bench.vserver(1);
    assert_eq!((shown.down_backup_hits, shown.spillover_hits), (0, 2));
    bench.close((1, 1));
    assert_eq!(bench.picks(2), [(1, 1), (2, 2)]);
    bench.max_client(2, 1);
    assert_eq!(bench.pick(), Err(Refusal::Full));
}

#[test]
fn flow_that_failed_everywhere_in_the_primary_goes_on_in_the_backup() {
    let mut bench = Bench::chain(&[&[1, 2], &[3, 4]]);
    let first = bench.select(1, &[], 1).unwrap();
    bench.keep(first.reservation);
    for (tried, place) in [
        (vec![1], (1, 2)),
        (vec![1, 2], (2, 3)),
        (vec![1, 2, 3], (2, 4)),
    ] {
        let next = bench.select(1, &tried, 1).unwrap();
        assert_eq!(bench.keep(next.reservation), place);
    }
    assert_eq!(
        bench.select(1, &[1, 2, 3, 4], 1).unwrap_err(),
        Refusal::Full
    );
    // One flow is one hit of each virtual server that tried to serve it, and spilled once.
    let [primary, backup] = [1, 2].map(|number| bench.vserver(number));
    assert_eq!((primary.hits, backup.hits), (1, 1));
    assert_eq!(primary.spillover_hits, 1);
    assert_eq!(
        [1, 2, 3, 4].map(|number| bench.service(number).hits),
        [1; 4]
    );
}

#[test]
fn place_on_a_backup_that_is_given_back_unused_counts_nowhere() {
    let mut bench = Bench::chain(&[&[1], &[2]]);
    bench.enable(&[1], false);
    let unused = bench.select(1, &[], 1).unwrap().reservation;
    bench.engine.handle_unused(unused, bench.now);
    let [primary, backup] = [1, 2].map(|number| bench.vserver(number));
    assert_eq!((primary.down_backup_hits, primary.hits), (0, 0));
    assert_eq!((backup.hits, backup.active), (0, 0));
}

#[test]
fn effective_state_is_that_of_the_first_of_the_chain_that_is_up() {
    use State::{Down, OutOfService, Up};
    let mut bench = Bench::chain(&[&[1], &[2], &[3]]);
    assert_eq!(bench.states(1), (Up, Up));
    bench.enable(&[1, 2], false);
    assert_eq!(
        [1, 2, 3].map(|v| bench.states(v)),
        [(Down, Up), (Down, Up), (Up, Up)]
    );
    bench.enable(&[3], false);
    assert_eq!([1, 2, 3].map(|v| bench.states(v)), [(Down, Down); 3]);
    bench.set(1, |settings| settings.enabled = false);
    assert_eq!(bench.states(1), (OutOfService, OutOfService));
    bench.enable(&[2], true);
    assert_eq!(bench.states(1), (OutOfService, Up));
    // Another one's backup changes nothing of one's own state.
    bench.set_backup(1, |backup| backup.vserver = None);
    assert_eq!(bench.states(1), (OutOfService, OutOfService));
}

#[test]
fn backup_that_does_not_exist_and_a_circle_end_the_walk() {
    let mut bench = Bench::chain(&[&[1], &[2]]);
    bench.enable(&[1, 2], false);
    bench.set_backup(2, |backup| backup.vserver = Some(VserverId(1)));
    assert_eq!(bench.pick(), Err(Refusal::Down));
    assert_eq!(bench.states(1), (State::Down, State::Down));
    bench.set_backup(2, |backup| backup.vserver = Some(VserverId(77)));
    assert_eq!(bench.pick(), Err(Refusal::Down));
    assert_eq!(bench.states(1), (State::Down, State::Down));
    bench.set_backup(2, |backup| backup.vserver = Some(VserverId(2)));
    assert_eq!(bench.pick(), Err(Refusal::Down));
}

#[test]
fn state_is_right_and_nobody_refused_while_a_shared_member_or_another_is_up() {
    use State::{Down, Up};
    let mut bench = Bench::chain(&[&[1, 2, 3], &[1]]);
    let mut step = |service: u32, enabled: bool| {
        bench.enable(&[service], enabled);
        let served = (0..50).map(|_| bench.pick()).collect::<Result<Vec<_>, _>>();
        let mut places = served.unwrap_or_default();
        places.sort_unstable();
        places.dedup();
        (places, bench.states(1), bench.states(2))
    };
    let up = (Up, Up);
    let down = (Down, Down);
    assert_eq!(step(2, false), (vec![(1, 1), (1, 3)], up, up));
    assert_eq!(step(3, false), (vec![(1, 1)], up, up));
    assert_eq!(step(1, false), (vec![], down, down));
    assert_eq!(step(3, true), (vec![(1, 3)], up, down));
    assert_eq!(step(1, true), (vec![(1, 1), (1, 3)], up, up));
    assert_eq!(step(2, true), (vec![(1, 1), (1, 2), (1, 3)], up, up));
}

#[test]
fn shared_member_that_is_full_is_full_for_both() {
    let mut bench = Bench::chain(&[&[1], &[1, 2]]);
    bench.max_client(1, 2);
    let expected = [(1, 1), (1, 1), (2, 2), (2, 2)];
    assert_eq!(bench.picks(4), expected);
    assert_eq!(bench.service(1).active, 2);
    bench.close((1, 1));
    assert_eq!(bench.pick(), Ok((1, 1)));
}

#[test]
fn flows_on_the_backup_stay_when_the_primary_recovers_or_flushes() {
    let mut bench = Bench::chain(&[&[1], &[2]]);
    bench.set(1, |settings| settings.flush_on_down = true);
    bench.enable(&[1], false);
    bench.picks(2);
    bench.outputs();
    bench.jump_to(1_000);
    bench.enable(&[1], true);
    let up = [
        Output::ServiceState(ServiceId(1), State::Up, at(1_000)),
        Output::VserverState(VserverId(1), State::Up, at(1_000)),
    ];
    assert_eq!(bench.outputs(), up);
    assert_eq!(bench.vserver(2).active, 2);
    // Going DOWN again ends what the primary serves; what its backup does is not named.
    bench.pick().unwrap();
    bench.enable(&[1], false);
    let serves = CloseFlows {
        vserver: Some(VserverId(1)),
        dialled: None,
        service: None,
    };
    let closed: Vec<_> = bench.outputs();
    assert_eq!(closed.last(), Some(&Output::CloseFlows(serves)));
    let reservation = bench.select(1, &[], 1).unwrap().reservation;
    assert!(!serves.matches(&reservation));
    bench.keep(reservation);
}

#[test]
fn removing_who_was_dialled_ends_the_flows_on_its_backup() {
    let mut bench = Bench::chain(&[&[1], &[2]]);
    bench.enable(&[1], false);
    let reservation = bench.select(1, &[], 1).unwrap().reservation;
    bench.outputs();
    bench.apply(Change::RemoveVserver(VserverId(1)));
    let asked = bench.outputs();
    let matches = |output: &&Output| match output {
        Output::CloseFlows(which) => which.matches(&reservation),
        _ => false,
    };
    assert_eq!(asked.iter().filter(matches).count(), 1);
    bench
        .engine
        .handle_close(reservation, CloseReason::Flushed, bench.now);
    assert_eq!(bench.vserver(2).active, 0);
}

#[test]
fn udp_listener_that_moves_ends_the_flows_on_the_backup_too() {
    let mut bench = Bench::chain(&[&[1], &[2]]);
    bench.set(1, |settings| {
        settings.protocol = Protocol::Udp;
        settings.listen = Some(([127, 0, 0, 1], 90).into());
    });
    bench.enable(&[1], false);
    let reservation = bench.select(1, &[], 1).unwrap().reservation;
    let own = bench.select(2, &[], 1).unwrap().reservation;
    bench.outputs();
    bench.set(1, |settings| {
        settings.listen = Some(([127, 0, 0, 1], 91).into())
    });
    let ended = |reservation| move |output: &Output| matches!(output, Output::CloseFlows(w) if w.matches(reservation));
    let outputs = bench.outputs();
    assert!(outputs.iter().any(ended(&reservation)));
    assert!(!outputs.iter().any(ended(&own)));
    bench.keep(reservation);
    bench.keep(own);
}

#[test]
fn persistence_is_that_of_the_virtual_server_that_serves() {
    let mut bench = Bench::chain(&[&[1, 2], &[3, 4]]);
    let stick = |settings: &mut VserverSettings| settings.persistence = Some(source_ip());
    bench.set(1, stick);
    bench.set(2, stick);
    assert_eq!(
        [7, 8].map(|host| bench.open(host)),
        [Ok((1, 1)), Ok((1, 2))]
    );
    bench.enable(&[1, 2], false);
    assert_eq!(
        [8, 7].map(|host| bench.open(host)),
        [Ok((2, 3)), Ok((2, 4))]
    );
    assert_eq!(
        [7, 8].map(|host| bench.open(host)),
        [Ok((2, 4)), Ok((2, 3))]
    );
    bench.enable(&[1, 2], true);
    assert_eq!(
        [7, 8].map(|host| bench.open(host)),
        [Ok((1, 1)), Ok((1, 2))]
    );
    let entries = [1, 2].map(|v| bench.vserver(v).persistence.map(|shown| shown.entries));
    assert_eq!(entries, [Some(2), Some(2)]);
}

#[test]
fn client_whose_own_service_is_full_goes_to_a_backup_only_if_persistence_may_be_skipped() {
    for (skip, expected) in [
        (SkipPersistence::None, Err(Refusal::Full)),
        (SkipPersistence::Bypass, Ok((2, 3))),
        (SkipPersistence::ReLb, Ok((2, 3))),
    ] {
        let mut bench = Bench::chain(&[&[1, 2], &[3]]);
        let persistence = Persistence {
            skip,
            ..source_ip()
        };
        bench.set(1, |settings| settings.persistence = Some(persistence));
        assert_eq!(
            [7, 8].map(|host| bench.open(host)),
            [Ok((1, 1)), Ok((1, 2))]
        );
        bench.max_client(1, 1);
        bench.max_client(2, 1);
        assert_eq!(bench.open(7), expected, "{skip:?}");
        assert_eq!(bench.open(9), Ok((2, 3)), "{skip:?}");
        bench.close((1, 1));
        assert_eq!(bench.open(7), Ok((1, 1)), "{skip:?}");
    }
}

fn source_ip() -> Persistence {
    Persistence {
        kind: PersistenceKind::SourceIp,
        mask: AddressMask::ALL,
        timeout: PersistenceTimeout::DEFAULT,
        skip: SkipPersistence::None,
        trofs: true,
        group: None,
    }
}

#[test]
fn token_is_worth_waiting_for_where_the_first_that_is_up_looks_for_it() {
    let mut bench = Bench::chain(&[&[1], &[2], &[3]]);
    let ranges = [TokenRange::new(4, 8).unwrap(), TokenRange::FIRST_BYTE];
    let found = |bench: &Bench| bench.engine.token_range(VserverId(1));
    assert_eq!(found(&bench), None);
    bench.set(2, |settings| settings.method = Method::Token(ranges[1]));
    assert_eq!(found(&bench), None);
    bench.set(1, |settings| settings.method = Method::Token(ranges[0]));
    assert_eq!(found(&bench), Some(ranges[0]));
    bench.enable(&[1], false);
    assert_eq!(found(&bench), Some(ranges[1]));
    bench.enable(&[2], false);
    assert_eq!(found(&bench), None);
    bench.enable(&[3], false);
    assert_eq!(found(&bench), None);
    assert_eq!(bench.engine.token_range(VserverId(9)), None);
}
