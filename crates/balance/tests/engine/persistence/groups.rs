//! Virtual servers that share one table: a client sticks to one server behind all of them.

use sluice_balance::{
    Change, ChosenBy, GroupId, Method, Persistence, PersistenceFilter, ServiceId, SkipPersistence,
    VserverId, VserverSettings,
};

use super::bench::{Bench, by_source, sticky};
use crate::rig::{bind, vserver};

const WEB: VserverId = VserverId(1);
const TLS: VserverId = VserverId(2);
const CLIENT: &str = "192.0.2.7";
const METHOD: ChosenBy = ChosenBy::Method;
const STICKS: ChosenBy = ChosenBy::Persistence;

fn grouped() -> Persistence {
    Persistence {
        group: Some(GroupId(1)),
        skip: SkipPersistence::ReLb,
        trofs: true,
        ..by_source()
    }
}

/// Three servers; services 11, 12, 13 on port 80 behind WEB, 21, 22, 23 on port 443 behind TLS.
fn site() -> Bench {
    let mut bench = Bench::new(0, grouped());
    bench.rig.apply(Change::AddVserver(TLS, sticky(grouped())));
    for server in 1..=3 {
        bench.add_service_at(10 + server, &format!("10.0.0.{server}:80"));
        bench.add_service_at(20 + server, &format!("10.0.0.{server}:443"));
        bench.rig.apply(Change::Bind(bind(WEB, 10 + server, 1)));
    }
    // In another order, so that the turns differ.
    for server in [3, 1, 2] {
        bench.rig.apply(Change::Bind(bind(TLS, 20 + server, 1)));
    }
    bench.rig.outputs();
    bench
}

fn enable(bench: &mut Bench, number: u32, address: &str, enabled: bool) {
    bench.rig.set(number, |settings| {
        settings.address = address.parse().unwrap();
        settings.enabled = enabled;
    });
}

#[test]
fn client_meets_the_same_server_behind_every_member() {
    let mut bench = site();
    for (client, server) in [("10.1.0.1", 1), ("10.1.0.2", 2), ("10.1.0.3", 3)] {
        assert_eq!(bench.come_to(WEB, client), (10 + server, METHOD));
        assert_eq!(bench.come_to(TLS, client), (20 + server, STICKS));
        assert_eq!(bench.come_to(WEB, client), (10 + server, STICKS));
    }
    // One entry per client, with the service it began with and the member that used it last.
    bench.come_to(TLS, "10.1.0.1");
    let rows: Vec<_> = bench
        .rows()
        .iter()
        .map(|row| (row.vserver, row.service.0))
        .collect();
    assert_eq!(rows, [(TLS, 11), (WEB, 12), (WEB, 13)]);
    for member in [WEB, TLS] {
        let filter = PersistenceFilter {
            vserver: Some(member),
            ..PersistenceFilter::default()
        };
        assert_eq!(bench.rows_of(&filter).len(), 3);
        let now = bench.rig.now;
        let shown = bench.rig.engine.vserver_status(member, now).unwrap();
        assert_eq!(shown.persistence.unwrap().entries, 3);
    }
}

#[test]
fn client_moves_behind_all_members_when_its_server_fails_one() {
    let mut bench = site();
    assert_eq!(bench.come_to(WEB, CLIENT), (11, METHOD));
    enable(&mut bench, 21, "10.0.0.1:443", false);
    assert_eq!(bench.come_to(TLS, CLIENT), (23, METHOD));
    assert_eq!(bench.come_to(WEB, CLIENT), (13, STICKS));
    enable(&mut bench, 21, "10.0.0.1:443", true);
    assert_eq!(bench.come_to(TLS, CLIENT), (23, STICKS));
}

#[test]
fn several_services_on_a_server_are_tried_in_a_fixed_order() {
    let mut bench = site();
    for (number, port) in [(24, 8443), (25, 80), (26, 9443)] {
        bench.add_service_at(number, &format!("10.0.0.1:{port}"));
        bench.rig.apply(Change::Bind(bind(TLS, number, 1)));
    }
    assert_eq!(bench.come_to(WEB, CLIENT), (11, METHOD));
    let mut given = Vec::new();
    for (number, port) in [(25, 80), (21, 443), (24, 8443), (26, 9443)] {
        given.push(bench.come_to(TLS, CLIENT));
        enable(&mut bench, number, &format!("10.0.0.1:{port}"), false);
    }
    // The same port first, then bind order, and only then another server.
    assert_eq!(
        given,
        [(25, STICKS), (21, STICKS), (24, STICKS), (26, STICKS)]
    );
    assert_eq!(bench.come_to(TLS, CLIENT), (23, METHOD));
}

#[test]
fn members_come_together_on_a_server_that_both_have() {
    let mut bench = site();
    bench.rig.apply(Change::Unbind(TLS, ServiceId(21)));
    assert_eq!(bench.come_to(WEB, CLIENT), (11, METHOD));
    assert_eq!(bench.come_to(TLS, CLIENT), (23, METHOD));
    assert_eq!(bench.come_to(WEB, CLIENT), (13, STICKS));
}

#[test]
fn entries_go_with_the_last_member_that_binds_the_service() {
    let mut bench = site();
    bench.rig.apply(Change::Bind(bind(TLS, 11, 1)));
    assert_eq!(bench.come_to(WEB, CLIENT), (11, METHOD));
    bench.rig.apply(Change::Unbind(WEB, ServiceId(11)));
    assert_eq!(bench.come_to(TLS, CLIENT), (11, STICKS));
    bench.rig.apply(Change::Unbind(TLS, ServiceId(11)));
    assert_eq!(bench.rows(), []);
}

#[test]
fn entries_stay_while_one_member_is_left_that_binds_their_services() {
    let mut bench = site();
    bench.come_to(WEB, "10.1.0.1");
    bench.come_to(TLS, "10.1.0.2");
    bench.rig.apply(Change::RemoveVserver(WEB));
    let rows: Vec<_> = bench.rows().iter().map(|row| row.service.0).collect();
    assert_eq!(rows, [23]);
    // The last one leaves for a table of its own.
    bench
        .rig
        .apply(Change::SetVserver(TLS, sticky(by_source())));
    assert_eq!(bench.rows(), []);
}

#[test]
fn member_that_leaves_has_entries_of_its_own_from_then_on() {
    let mut bench = site();
    assert_eq!(bench.come_to(WEB, CLIENT), (11, METHOD));
    bench
        .rig
        .apply(Change::SetVserver(TLS, sticky(by_source())));
    assert_eq!(bench.come_to(TLS, CLIENT), (23, METHOD));
    assert_eq!(bench.come_to(WEB, CLIENT), (11, STICKS));
    // And it forgets them when it comes back.
    bench.rig.apply(Change::SetVserver(TLS, sticky(grouped())));
    assert_eq!(bench.come_to(TLS, CLIENT), (21, STICKS));
    let rows: Vec<_> = bench.rows().iter().map(|row| row.service.0).collect();
    assert_eq!(rows, [11]);
}

#[test]
fn settings_of_a_group_change_once_for_all_its_members() {
    let mut bench = site();
    bench.come_to(WEB, CLIENT);
    let longer = Persistence {
        timeout: super::bench::minutes(10),
        ..grouped()
    };
    for member in [WEB, TLS] {
        bench.rig.apply(Change::SetVserver(member, sticky(longer)));
    }
    assert_eq!(bench.told(), [(CLIENT.to_owned(), 11, 600_000)]);
    let off = VserverSettings {
        persistence: None,
        ..vserver(Method::RoundRobin)
    };
    for member in [WEB, TLS] {
        bench.rig.apply(Change::SetVserver(member, off.clone()));
    }
    assert_eq!(bench.rows(), []);
}
