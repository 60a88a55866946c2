//! Answers of one virtual server, with the numbers in them.

use std::time::Duration;

use sluice_balance::{
    AddressMask, Backup, Change, Client, DecidedBy, Diversion, EntryEffect, EntryStatus, Exclusion,
    Explanation, Leave, Method, MethodChoice, Missing, Outcome, Persistence, PersistenceKind,
    PersistenceTimeout, RampUnit, Refusal, ServiceId, SkipPersistence, SlowStart, Spillover,
    SpilloverAction, SpilloverMethod, Unit, Verdict, VserverId,
};

use crate::rig::{self, Rig, V};

fn explain(rig: &mut Rig, client: &Client) -> Explanation {
    rig.engine.explain(V, client, rig.now).unwrap()
}

/// Returns the service that gets the next flow of a client of whom nothing is known.
fn next(rig: &mut Rig) -> u32 {
    match explain(rig, &Client::default()).outcome {
        Outcome::Service { service, .. } => service.0,
        other => panic!("{other:?}"),
    }
}

fn by(choice: MethodChoice) -> Option<DecidedBy> {
    Some(DecidedBy::Method {
        choice,
        limits_lifted: false,
    })
}

fn exclusions(said: &Explanation) -> Vec<Vec<Exclusion>> {
    let candidates = said.asked[0].candidates.iter();
    candidates.map(|one| one.exclusions.clone()).collect()
}

#[test]
fn least_connection_shows_what_it_compares_and_how_a_tie_is_broken() {
    let mut rig = Rig::new(Method::LeastConnection, &[1, 2, 1]);
    rig.set_active(1, 2);
    rig.set_active(2, 3);
    rig.set_active(3, 1);
    let said = explain(&mut rig, &Client::default());
    let [one] = &said.asked[..] else { panic!() };
    assert_eq!(
        (one.verdict, one.unit),
        (Verdict::Serves, Some(Unit::Connections))
    );
    assert_eq!(one.rule, by(MethodChoice::Least { ties: 1 }));
    let values: Vec<_> = one
        .candidates
        .iter()
        .map(|row| (row.value, row.weighted))
        .collect();
    let expected = [(2, 20_000), (3, 15_000), (1, 10_000)];
    assert_eq!(
        values,
        expected.map(|(value, weighted)| (Some(value), Some(weighted)))
    );
    let chosen: Vec<_> = one.candidates.iter().map(|row| row.is_chosen).collect();
    assert_eq!(chosen, [false, false, true]);
    assert_eq!((next(&mut rig), rig.pick()), (3, 3));
    rig.close(2, sluice_balance::CloseReason::Finished);
    rig.set_active(2, 2);
    rig.set_active(3, 0);
    // 2/1, 4/2 and 2/1 are equal: the first after the one chosen last.
    let said = explain(&mut rig, &Client::default());
    assert_eq!(said.asked[0].rule, by(MethodChoice::Least { ties: 3 }));
    assert_eq!((next(&mut rig), rig.pick()), (1, 1));
}

#[test]
fn round_robin_shows_the_round_and_asking_takes_no_turn() {
    let mut rig = Rig::new(Method::RoundRobin, &[2, 1]);
    rig.picks(2);
    for _ in 0..3 {
        let said = explain(&mut rig, &Client::default());
        let one = &said.asked[0];
        assert_eq!(
            (one.unit, one.rule),
            (Some(Unit::RoundRequests), by(MethodChoice::Turn))
        );
        let served: Vec<_> = one.candidates.iter().map(|row| row.value).collect();
        assert_eq!(served, [Some(1), Some(1)]);
        assert_eq!(next(&mut rig), 1);
    }
    assert_eq!(rig.pick(), 1);
}

#[test]
fn chance_is_said_to_be_chance_unless_one_alone_is_left() {
    let mut rig = Rig::new(Method::Random, &[1, 3]);
    let said = explain(&mut rig, &Client::default());
    let outcome = Outcome::Chance {
        vserver: V,
        diversion: None,
    };
    assert_eq!(
        (said.outcome, said.asked[0].unit),
        (outcome, Some(Unit::Weight))
    );
    assert!(said.asked[0].candidates.iter().all(|row| !row.is_chosen));
    rig.enable(1, false);
    assert_eq!((next(&mut rig), rig.pick()), (2, 2));
}

#[test]
fn a_hash_asks_for_what_it_looks_at() {
    let mut rig = Rig::new(Method::SrcIpSrcPortHash, &[1, 1]);
    rig.set(2, |settings| settings.address.set_port(81));
    let missing = |said: &Explanation| match said.outcome {
        Outcome::Unknown { missing, .. } => (missing.src, missing.src_port, missing.dst),
        other => panic!("{other:?}"),
    };
    let mut client = Client::default();
    assert_eq!(missing(&explain(&mut rig, &client)), (true, true, false));
    client.src = Some(rig::flow().src.ip());
    assert_eq!(missing(&explain(&mut rig, &client)), (false, true, false));
    client.src_port = Some(rig::flow().src.port());
    let said = explain(&mut rig, &client);
    assert_eq!(said.asked[0].rule, by(MethodChoice::Hash));
    let service = ServiceId(rig.pick());
    let outcome = Outcome::Service {
        vserver: V,
        diversion: None,
        service,
    };
    assert_eq!(said.outcome, outcome);
    // The address that is dialled is known where there is only one.
    rig.set_method(Method::DestinationIpHash);
    assert_eq!(missing(&explain(&mut rig, &client)), (false, false, true));
    let mut settings = rig::vserver(Method::DestinationIpHash);
    settings.listen = Some(rig::flow().dst);
    rig.apply(Change::SetVserver(V, settings));
    assert_eq!((next(&mut rig), rig.pick()).0, rig.pick());
}

#[test]
fn what_keeps_a_service_out_is_named() {
    let mut rig = Rig::new(Method::RoundRobin, &[1; 4]);
    rig.enable(1, false);
    rig.set_active(2, 1);
    rig.set(2, |settings| settings.max_client = Some(1));
    rig.set(3, |settings| settings.max_bandwidth = Some(8));
    let flow = rig.open_elsewhere(3);
    rig.run_to(3_000);
    flow.service_counters.add_out(5_000, 1);
    let said = explain(&mut rig, &Client::default());
    let expected = [
        vec![Exclusion::OutOfService],
        vec![Exclusion::MaxClient(1)],
        vec![Exclusion::MaxBandwidth(8)],
        vec![],
    ];
    assert_eq!(exclusions(&said), expected);
    rig.enable(4, false);
    let said = explain(&mut rig, &Client::default());
    assert_eq!(said.outcome, Outcome::Refused(Refusal::Full));
    assert_eq!(said.asked[0].verdict, Verdict::Full);
    assert_eq!(rig.vserver().refused, 0);
}

#[test]
fn a_new_service_is_held_back_until_its_limit_lets_it_and_then_comes_out_of_turn() {
    let mut rig = Rig::new(Method::RoundRobin, &[1, 1]);
    let mut settings = rig::vserver(Method::RoundRobin);
    settings.slow_start = SlowStart {
        rate: 2,
        unit: RampUnit::PerSecond,
        interval: Duration::ZERO,
    };
    rig.apply(Change::SetVserver(V, settings));
    rig.add_service(3);
    rig.bind(3, 1);
    let said = explain(&mut rig, &Client::default());
    assert_eq!(said.asked[0].rule, by(MethodChoice::NewOutOfTurn));
    assert_eq!((next(&mut rig), rig.pick()), (3, 3));
    let said = explain(&mut rig, &Client::default());
    assert_eq!(
        exclusions(&said),
        [vec![], vec![], vec![Exclusion::SlowStart]]
    );
    let ramp = said.asked[0].candidates[2].ramp.unwrap();
    assert_eq!((ramp.limit, ramp.chosen, ramp.requests), (2, 1, 1));
    for number in [1, 2] {
        rig.enable(number, false);
    }
    let said = explain(&mut rig, &Client::default());
    let lifted = DecidedBy::Method {
        choice: MethodChoice::Turn,
        limits_lifted: true,
    };
    assert_eq!(said.asked[0].rule, Some(lifted));
    assert_eq!((next(&mut rig), rig.pick()), (3, 3));
}

#[test]
fn an_entry_decides_and_is_not_renewed_by_asking() {
    let mut rig = Rig::new(Method::RoundRobin, &[1, 1]);
    let mut settings = rig::vserver(Method::RoundRobin);
    settings.persistence = Some(Persistence {
        kind: PersistenceKind::SourceIp,
        mask: AddressMask::ALL,
        timeout: PersistenceTimeout::new(2).unwrap(),
        skip: SkipPersistence::None,
        trofs: true,
        group: None,
    });
    rig.apply(Change::SetVserver(V, settings));
    // Nobody has an entry: nothing is missing.
    let said = explain(&mut rig, &Client::default());
    assert!(said.assumed_without.is_nothing());
    assert_eq!(rig.pick(), 1);
    let said = explain(&mut rig, &Client::default());
    let src = Missing {
        src: true,
        ..Missing::default()
    };
    assert_eq!((said.assumed_without, next(&mut rig)), (src, 2));

    let client = Client {
        src: Some(rig::flow().src.ip()),
        ..Client::default()
    };
    rig.jump_to(119_999);
    let said = explain(&mut rig, &client);
    let entry = |effect| EntryStatus {
        service: ServiceId(1),
        effect,
    };
    assert_eq!(said.asked[0].rule, Some(DecidedBy::Persistence));
    assert_eq!(said.asked[0].entry, Some(entry(EntryEffect::Decides)));
    rig.set(1, |settings| settings.max_client = Some(1));
    let said = explain(&mut rig, &client);
    assert_eq!(said.outcome, Outcome::Refused(Refusal::Full));
    assert_eq!(said.asked[0].verdict, Verdict::Sticky);
    assert_eq!(said.asked[0].entry, Some(entry(EntryEffect::Refuses)));
    rig.enable(1, false);
    let said = explain(&mut rig, &client);
    assert_eq!(said.asked[0].entry, Some(entry(EntryEffect::Moves)));
    rig.jump_to(120_000);
    assert_eq!(explain(&mut rig, &client).asked[0].entry, None);
}

/// The entry of a client is looked up at last by who spills and accepts what nobody else takes: that
/// a client is unknown has to be said there too.
#[test]
fn who_accepts_in_the_end_may_know_the_client() {
    let mut rig = Rig::new(Method::RoundRobin, &[1]);
    let mut settings = rig::vserver(Method::RoundRobin);
    settings.persistence = Some(Persistence {
        kind: PersistenceKind::SourceIp,
        mask: AddressMask::ALL,
        timeout: PersistenceTimeout::new(2).unwrap(),
        skip: SkipPersistence::None,
        trofs: true,
        group: None,
    });
    settings.backup.spillover = Some(Spillover {
        method: SpilloverMethod::Connections(0),
        persistence: None,
        action: SpilloverAction::Accept,
    });
    rig.apply(Change::SetVserver(V, settings));
    assert_eq!(rig.pick(), 1);
    rig.add_service(2);
    rig.set(2, |settings| settings.max_client = Some(0));
    rig.apply(Change::Bind(rig::bind(V, 2, 1)));
    let gracefully = Leave {
        delay: None,
        graceful: true,
    };
    rig.apply(Change::DisableService(ServiceId(1), gracefully));

    let said = explain(&mut rig, &Client::default());
    assert_eq!(said.asked[0].verdict, Verdict::Spilling);
    assert!(matches!(said.outcome, Outcome::Refused(_)), "{said:?}");
    assert!(said.assumed_without.src, "{said:?}");
    let client = Client {
        src: Some(rig::flow().src.ip()),
        ..Client::default()
    };
    let said = explain(&mut rig, &client);
    assert_eq!(said.asked[0].verdict, Verdict::Accepts);
    assert_eq!(rig.pick(), 1);
}

#[test]
fn each_virtual_server_of_a_chain_says_why_it_passes_the_flow_on() {
    let mut rig = Rig::new(Method::RoundRobin, &[1]);
    let backup = VserverId(2);
    rig.add_service(2);
    rig.apply(Change::AddVserver(
        backup,
        rig::vserver(Method::LeastConnection),
    ));
    rig.apply(Change::Bind(rig::bind(backup, 2, 1)));
    let mut settings = rig::vserver(Method::RoundRobin);
    settings.backup = Backup {
        vserver: Some(backup),
        ..Backup::default()
    };
    rig.apply(Change::SetVserver(V, settings));
    rig.enable(1, false);
    let said = explain(&mut rig, &Client::default());
    let verdicts: Vec<_> = said
        .asked
        .iter()
        .map(|one| (one.vserver, one.verdict))
        .collect();
    assert_eq!(verdicts, [(V, Verdict::Down), (backup, Verdict::Serves)]);
    let outcome = Outcome::Service {
        vserver: backup,
        diversion: Some(Diversion::Down),
        service: ServiceId(2),
    };
    assert_eq!((said.outcome, said.asked[0].rule), (outcome, None));
}
