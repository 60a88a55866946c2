//! What becomes of an entry when its service is DOWN, disabled, full, failing, unbound or new.

use std::time::Duration;

use sluice_balance::{
    Change, ChosenBy, Method, Persistence, RampUnit, Refusal, ServiceId, SkipPersistence,
    SlowStart, VserverSettings,
};

use super::bench::{Bench, DST, by_source, flow, sticky};
use crate::rig::V;

const CLIENT: &str = "192.0.2.7";
const METHOD: ChosenBy = ChosenBy::Method;
const STICKS: ChosenBy = ChosenBy::Persistence;

#[test]
fn client_of_a_service_that_is_not_up_moves_and_stays_where_it_moved() {
    let mut bench = Bench::new(3, by_source());
    assert_eq!(bench.come_to(V, CLIENT), (1, METHOD));
    bench.rig.enable(1, false);
    assert_eq!(bench.come_to(V, CLIENT), (2, METHOD));
    assert_eq!(bench.told(), [(CLIENT.to_owned(), 2, 120_000)]);
    bench.rig.enable(1, true);
    assert_eq!(bench.come_to(V, CLIENT), (2, STICKS));
}

#[test]
fn client_that_stays_away_meanwhile_finds_its_service_again() {
    let mut bench = Bench::new(3, by_source());
    bench.come(CLIENT);
    bench.rig.enable(1, false);
    bench.run_to_s(60);
    assert_eq!(bench.told(), [(CLIENT.to_owned(), 1, 60_000)]);
    bench.rig.enable(1, true);
    assert_eq!(bench.come_to(V, CLIENT), (1, STICKS));
}

#[test]
fn entry_is_left_alone_while_nobody_can_take_the_client() {
    let mut bench = Bench::new(2, by_source());
    bench.come(CLIENT);
    bench.rig.enable(1, false);
    bench.rig.enable(2, false);
    bench.run_to_s(50);
    assert_eq!(bench.open(V, &flow(CLIENT, DST), &[]), Err(Refusal::Down));
    let disabled = VserverSettings {
        enabled: false,
        ..sticky(by_source())
    };
    bench.rig.apply(Change::SetVserver(V, disabled));
    let refused = bench.open(V, &flow(CLIENT, DST), &[]);
    assert_eq!(refused, Err(Refusal::OutOfService));
    assert_eq!(bench.told(), [(CLIENT.to_owned(), 1, 70_000)]);
}

#[test]
fn service_at_max_client_is_handled_as_the_setting_says() {
    // What the sticky client gets while its service is full, its entry then, and what it gets after.
    let table = [
        (SkipPersistence::None, Err(Refusal::Full), (1, 70_000), 1),
        (SkipPersistence::Bypass, Ok((2, METHOD)), (1, 120_000), 1),
        (SkipPersistence::ReLb, Ok((2, METHOD)), (2, 120_000), 2),
    ];
    for (skip, given, entry, after) in table {
        let mut bench = Bench::new(
            2,
            Persistence {
                skip,
                ..by_source()
            },
        );
        let (open, _) = bench.open(V, &flow(CLIENT, DST), &[]).unwrap();
        bench.rig.set(1, |settings| settings.max_client = Some(1));
        bench.run_to_s(50);
        let full = bench.open(V, &flow(CLIENT, DST), &[]);
        let seen = full
            .as_ref()
            .map(|(place, rule)| (place.service().0, *rule));
        assert_eq!(seen.map_err(|refusal| *refusal), given, "{skip:?}");
        full.into_iter().for_each(|(place, _)| bench.close(place));
        let (service, left) = entry;
        assert_eq!(
            bench.told(),
            [(CLIENT.to_owned(), service, left)],
            "{skip:?}"
        );
        // Whoever has no entry goes where there is room.
        assert_eq!(bench.come_to(V, "192.0.2.8"), (2, METHOD), "{skip:?}");
        bench.close(open);
        assert_eq!(bench.come_to(V, CLIENT), (after, STICKS), "{skip:?}");
    }
}

#[test]
fn nobody_is_counted_when_all_are_full() {
    for skip in [SkipPersistence::Bypass, SkipPersistence::ReLb] {
        let mut bench = Bench::new(
            1,
            Persistence {
                skip,
                ..by_source()
            },
        );
        let (open, _) = bench.open(V, &flow(CLIENT, DST), &[]).unwrap();
        bench.rig.set(1, |settings| settings.max_client = Some(1));
        bench.run_to_s(50);
        assert_eq!(bench.open(V, &flow(CLIENT, DST), &[]), Err(Refusal::Full));
        assert_eq!(bench.told(), [(CLIENT.to_owned(), 1, 70_000)]);
        bench.close(open);
    }
}

#[test]
fn failed_service_is_left_for_the_one_that_the_flow_is_given_next() {
    let mut bench = Bench::new(3, by_source());
    assert_eq!(bench.come(CLIENT), 1);
    let (second, rule) = bench.open(V, &flow(CLIENT, DST), &[1]).unwrap();
    assert_eq!((second.service(), rule), (ServiceId(2), METHOD));
    let (third, rule) = bench.open(V, &flow(CLIENT, DST), &[1, 2]).unwrap();
    assert_eq!((third.service(), rule), (ServiceId(3), METHOD));
    bench.close(second);
    bench.close(third);
    assert_eq!(bench.come_to(V, CLIENT), (3, STICKS));
    // With nobody left to try, it stays.
    let refused = bench.open(V, &flow(CLIENT, DST), &[1, 2, 3]);
    assert_eq!(refused, Err(Refusal::Full));
    assert_eq!(bench.come_to(V, CLIENT), (3, STICKS));
}

#[test]
fn no_trace_of_an_unbound_service_is_left() {
    let mut bench = Bench::new(2, by_source());
    let clients = ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"];
    assert_eq!(clients.map(|client| bench.come(client)), [1, 2, 1, 2]);
    bench.rig.enable(1, false);
    bench.rig.unbind(1);
    let told: Vec<_> = bench.told().into_iter().map(|row| (row.0, row.1)).collect();
    let expected = [("10.0.0.2", 2), ("10.0.0.4", 2)].map(|(c, s)| (c.to_owned(), s));
    assert_eq!((told, bench.counts()), (expected.to_vec(), (2, 0)));
    // The same service, bound again, begins without clients.
    bench.rig.enable(1, true);
    bench.rig.bind(1, 1);
    assert_eq!(bench.come_to(V, "10.0.0.1").1, METHOD);
    bench.rig.unbind(1);
    bench.rig.apply(Change::RemoveService(ServiceId(1)));
    for client in clients {
        for _ in 0..125 {
            assert_eq!(bench.come(client), 2);
        }
    }
}

#[test]
fn new_address_of_a_service_keeps_its_clients() {
    let mut bench = Bench::new(2, by_source());
    bench.come(CLIENT);
    bench
        .rig
        .set(1, |settings| settings.address = ([10, 0, 0, 9], 81).into());
    assert_eq!(bench.come_to(V, CLIENT), (1, STICKS));
}

#[test]
fn slow_start_holds_no_sticky_client_back_and_is_charged_for_it() {
    let mut bench = Bench::new(1, by_source());
    let slow = VserverSettings {
        slow_start: SlowStart {
            rate: 1,
            unit: RampUnit::PerSecond,
            interval: Duration::ZERO,
        },
        ..sticky(by_source())
    };
    bench.rig.apply(Change::SetVserver(V, slow));
    bench.rig.add_service(2);
    bench.rig.bind(2, 1);
    // The credit of the new service is spent on its first client.
    let first = ["10.0.0.2", "10.0.0.3"].map(|client| bench.come_to(V, client));
    assert_eq!(first, [(2, METHOD), (1, METHOD)]);
    for _ in 0..5 {
        assert_eq!(bench.come_to(V, "10.0.0.2"), (2, STICKS));
        assert_eq!(bench.come_to(V, "10.0.0.4").0, 1);
    }
    // A sticky flow costs what credit there is: nothing is left for newcomers of this second.
    bench.rig.jump_to(1500);
    assert_eq!(bench.come_to(V, "10.0.0.2"), (2, STICKS));
    assert_eq!(bench.come_to(V, "10.0.0.5"), (1, METHOD));
    bench.rig.jump_to(2000);
    assert_eq!(bench.come_to(V, "10.0.0.6"), (2, METHOD));
    let ramp = bench.rig.vserver().bindings[1].ramp.unwrap();
    assert_eq!((ramp.chosen, ramp.requests), (8, 15));
}

#[test]
fn sticky_flows_leave_the_turns_of_the_others_alone() {
    let mut bench = Bench::new(3, by_source());
    assert_eq!(bench.come(CLIENT), 1);
    let mut given = Vec::new();
    for number in 0..6 {
        assert_eq!(bench.come_to(V, CLIENT), (1, STICKS));
        given.push(bench.come(&format!("10.0.0.{number}")));
    }
    assert_eq!(given, [2, 3, 1, 2, 3, 1]);
}

#[test]
fn without_persistence_the_method_decides_every_time() {
    let mut bench = Bench::new(2, by_source());
    bench.rig.set_method(Method::RoundRobin);
    let given = [(); 4].map(|()| bench.come_to(V, CLIENT));
    assert_eq!(given, [(1, METHOD), (2, METHOD), (1, METHOD), (2, METHOD)]);
}
