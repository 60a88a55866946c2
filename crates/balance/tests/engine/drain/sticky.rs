//! Clients that stick to a service that goes out of service.

use std::net::{Ipv4Addr, SocketAddr};

use sluice_balance::{
    AddressMask, Backup, Change, ChosenBy, Client, CloseReason, FlowKey, Method, Outcome, Percent,
    Persistence, PersistenceKind, PersistenceTimeout, Refusal, ServiceId, SkipPersistence, State,
    Verdict, VserverId, VserverSettings,
};

use crate::rig::{Rig, V, bind, flow, vserver};

pub(super) fn by_source() -> Persistence {
    Persistence {
        kind: PersistenceKind::SourceIp,
        mask: AddressMask::ALL,
        timeout: PersistenceTimeout::new(60).unwrap(),
        skip: SkipPersistence::None,
        trofs: true,
        group: None,
    }
}

fn with(trofs: bool) -> VserverSettings {
    VserverSettings {
        persistence: Some(Persistence {
            trofs,
            ..by_source()
        }),
        ..vserver(Method::RoundRobin)
    }
}

fn from(host: u8) -> FlowKey {
    FlowKey {
        src: SocketAddr::from((Ipv4Addr::new(10, 0, 0, host), 40_000)),
        ..flow()
    }
}

/// Comes once and goes; returns who served it, and what decided.
fn come(rig: &mut Rig, host: u8) -> Result<(u32, ChosenBy), Refusal> {
    let chosen = rig.engine.select(V, &from(host), &[], rig.now)?;
    let seen = (chosen.reservation.service().0, chosen.rule);
    rig.close_selection(chosen, CloseReason::Finished);
    Ok(seen)
}

/// Services of `V`, with a client of each that has come: 10.0.0.1 to the first, and so on.
fn rig(settings: VserverSettings, services: &[u64]) -> Rig {
    let mut rig = Rig::new(Method::RoundRobin, services);
    rig.apply(Change::SetVserver(V, settings));
    for number in (1..).take(services.len()) {
        assert_eq!(
            come(&mut rig, number),
            Ok((number.into(), ChosenBy::Method))
        );
    }
    rig.outputs();
    rig
}

#[test]
fn trofs_persistence_says_whether_sticky_clients_are_still_taken() {
    for (trofs, expected) in [
        (true, (1, ChosenBy::Persistence)),
        (false, (2, ChosenBy::Method)),
    ] {
        let mut rig = rig(with(trofs), &[1, 1]);
        rig.disable(1, Some(60_000), false);
        assert_eq!(come(&mut rig, 1), Ok(expected), "{trofs}");
        // Newcomers never are.
        assert_eq!(come(&mut rig, 7), Ok((2, ChosenBy::Method)));
        rig.run_to(60_000);
        assert_eq!(state(&mut rig), State::OutOfService);
        let after = if trofs {
            ChosenBy::Method
        } else {
            ChosenBy::Persistence
        };
        assert_eq!(
            come(&mut rig, 1),
            Ok((2, after)),
            "out of service, and moved"
        );
    }
}

fn state(rig: &mut Rig) -> State {
    rig.service(1).state
}

#[test]
fn sticky_clients_keep_a_graceful_one_from_its_end() {
    let mut rig = rig(with(true), &[1, 1]);
    let first = rig.engine.select(V, &from(1), &[], rig.now).unwrap();
    rig.disable(1, None, true);
    rig.run_to(1_000);
    let second = rig.engine.select(V, &from(1), &[], rig.now).unwrap();
    assert_eq!(second.reservation.service(), ServiceId(1));
    rig.close_selection(first, CloseReason::Finished);
    assert_eq!(state(&mut rig), State::GoingOutOfService);
    // One has come and one has gone: at that rate it goes on for ever.
    assert_eq!(rig.service(1).drain.unwrap().last_flow, None);
    rig.close_selection(second, CloseReason::Finished);
    assert_eq!(state(&mut rig), State::OutOfService);
}

#[test]
fn sticky_client_of_a_full_service_is_treated_as_ever() {
    for (skip, expected) in [
        (SkipPersistence::None, Err(Refusal::Full)),
        (SkipPersistence::Bypass, Ok((2, ChosenBy::Method))),
        (SkipPersistence::ReLb, Ok((2, ChosenBy::Method))),
    ] {
        let own = Persistence {
            skip,
            ..by_source()
        };
        let settings = VserverSettings {
            persistence: Some(own),
            ..vserver(Method::RoundRobin)
        };
        let mut rig = rig(settings, &[1, 1]);
        rig.set(1, |settings| settings.max_client = Some(1));
        let _held = rig.engine.select(V, &from(1), &[], rig.now).unwrap();
        rig.disable(1, Some(60_000), false);
        assert_eq!(come(&mut rig, 1), expected, "{skip:?}");
    }
}

#[test]
fn virtual_server_that_is_down_by_it_alone_still_takes_who_sticks() {
    let mut rig = rig(with(true), &[1]);
    rig.disable(1, Some(60_000), false);
    assert_eq!(rig.vserver().state, State::Down);
    assert_eq!(come(&mut rig, 1), Ok((1, ChosenBy::Persistence)));
    assert_eq!(come(&mut rig, 7), Err(Refusal::Down));
    let client = |host| Client {
        src: Some(Ipv4Addr::new(10, 0, 0, host).into()),
        ..Client::default()
    };
    let now = rig.now;
    let said = rig.engine.explain(V, &client(1), now).unwrap();
    assert_eq!(said.asked[0].verdict, Verdict::Serves);
    let said = rig.engine.explain(V, &client(7), now).unwrap();
    assert_eq!(said.outcome, Outcome::Refused(Refusal::Down));
    let said = rig.engine.explain(V, &Client::default(), now).unwrap();
    assert!(said.assumed_without.src, "a sticky client would be served");
    rig.run_to(60_000);
    assert_eq!(come(&mut rig, 1), Err(Refusal::Down));
}

#[test]
fn virtual_server_that_would_be_down_anyhow_takes_nobody() {
    let half = VserverSettings {
        health_threshold: Percent::new(50).unwrap(),
        ..with(true)
    };
    let mut rig = rig(half, &[1, 1, 1, 1]);
    rig.disable(1, Some(60_000), false);
    rig.enable(2, false);
    assert_eq!(rig.vserver().state, State::Up);
    rig.enable(3, false);
    assert_eq!(rig.vserver().state, State::Down);
    assert_eq!(
        come(&mut rig, 1),
        Ok((1, ChosenBy::Persistence)),
        "half with it"
    );
    rig.enable(4, false);
    assert_eq!(come(&mut rig, 1), Err(Refusal::Down), "a quarter with it");
}

#[test]
fn virtual_server_that_is_to_stay_down_leaves_everybody_to_its_backup() {
    let other = VserverId(2);
    let held = VserverSettings {
        backup: Backup {
            vserver: Some(other),
            disable_primary_on_down: true,
            ..Backup::default()
        },
        ..with(true)
    };
    for stays in [true, false] {
        let mut settings = held.clone();
        settings.backup.disable_primary_on_down = stays;
        let mut rig = Rig::new(Method::RoundRobin, &[1]);
        rig.apply(Change::AddVserver(other, vserver(Method::RoundRobin)));
        rig.add_service(2);
        rig.apply(Change::Bind(bind(other, 2, 1)));
        rig.apply(Change::SetVserver(V, settings));
        come(&mut rig, 1).unwrap();
        rig.disable(1, Some(60_000), false);
        let expected = if stays {
            (2, ChosenBy::Method)
        } else {
            (1, ChosenBy::Persistence)
        };
        assert_eq!(come(&mut rig, 1), Ok(expected));
        assert_eq!(come(&mut rig, 7), Ok((2, ChosenBy::Method)));
    }
}
