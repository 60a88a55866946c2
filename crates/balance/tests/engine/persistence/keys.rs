//! Which clients count as one: kinds, masks, address families; what may be cleared and listed.

use std::net::{IpAddr, Ipv4Addr};

use sluice_balance::{
    AddressMask, Change, ChosenBy, MaskError, Method, Persistence, PersistenceFilter,
    PersistenceKey, PersistenceKind, PersistenceTimeout, ServiceId, TimeoutError, VserverId,
};

use super::bench::{Bench, by_source, flow, sticky};
use crate::rig::{V, bind, vserver};

fn mask(v4: [u8; 4], v6: u64) -> AddressMask {
    AddressMask::new(Ipv4Addr::from(v4), v6).unwrap()
}

fn source(address: &str) -> PersistenceKey {
    PersistenceKey {
        src: Some(address.parse().unwrap()),
        dst: None,
    }
}

#[test]
fn masks_leave_the_bits_that_count() {
    let table = [
        (mask([255; 4], 128), "10.1.2.3", "10.1.2.3"),
        (mask([255, 255, 255, 0], 128), "10.1.2.3", "10.1.2.0"),
        (mask([255, 255, 254, 0], 128), "10.1.3.3", "10.1.2.0"),
        (mask([0, 0, 0, 255], 128), "10.1.2.3", "0.0.0.3"),
        (mask([0; 4], 128), "10.1.2.3", "0.0.0.0"),
        (mask([255, 0, 0, 0], 128), "::ffff:10.1.2.3", "10.0.0.0"),
        (mask([255, 0, 0, 0], 128), "::10.1.2.3", "::10.1.2.3"),
        (mask([0; 4], 128), "2001:db8::1:2", "2001:db8::1:2"),
        (mask([0; 4], 127), "2001:db8::1:3", "2001:db8::1:2"),
        (mask([0; 4], 64), "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        (mask([0; 4], 3), "ffff::1", "e000::"),
        (mask([0; 4], 1), "7fff::1", "::"),
    ];
    for (mask, address, expected) in table {
        let [address, expected] = [address, expected].map(|a| a.parse::<IpAddr>().unwrap());
        assert_eq!(mask.apply(address), expected, "{mask:?} {address}");
    }
}

#[test]
fn bounds_are_in_the_types() {
    for length in [0, 129, u64::MAX] {
        let mask = AddressMask::new(Ipv4Addr::BROADCAST, length);
        assert_eq!(mask, Err(MaskError(length)));
    }
    assert_eq!(
        MaskError(0).to_string(),
        "IPv6 mask length 0 is out of range 1–128"
    );
    for minutes in [0, 1, 1441, u64::MAX] {
        let timeout = PersistenceTimeout::new(minutes);
        assert_eq!(timeout, Err(TimeoutError(minutes)));
    }
    assert_eq!(
        TimeoutError(1).to_string(),
        "persistence timeout 1 is out of range 2–1440 minutes"
    );
}

#[test]
fn each_kind_looks_at_its_addresses_only() {
    // Two clients and two addresses dialled; each line is the services of the four flows, twice.
    let flows = [("192.0.2.1", "10.0.0.1"), ("192.0.2.2", "10.0.0.1")];
    let flows = flows
        .into_iter()
        .chain([("192.0.2.1", "10.0.0.2"), ("192.0.2.2", "10.0.0.2")]);
    let flows: Vec<_> = flows.map(|(src, dst)| flow(src, dst)).collect();
    let table = [
        (PersistenceKind::SourceIp, [1, 2, 1, 2]),
        (PersistenceKind::DestIp, [1, 1, 2, 2]),
        (PersistenceKind::SrcIpDestIp, [1, 2, 3, 4]),
    ];
    for (kind, expected) in table {
        let mut bench = Bench::new(
            5,
            Persistence {
                kind,
                ..by_source()
            },
        );
        for _ in 0..2 {
            for (flow, expected) in flows.iter().zip(expected) {
                let (reservation, _) = bench.open(V, flow, &[]).unwrap();
                assert_eq!(reservation.service(), ServiceId(expected), "{kind:?}");
                bench.close(reservation);
            }
        }
        let shown: Vec<_> = bench
            .rows()
            .into_iter()
            .map(|row| (row.kind, row.key))
            .collect();
        let mut keys: Vec<_> = flows
            .iter()
            .map(|flow| PersistenceKey {
                src: (kind != PersistenceKind::DestIp).then(|| flow.src.ip()),
                dst: (kind != PersistenceKind::SourceIp).then(|| flow.dst.ip()),
            })
            .map(|key| (kind, key))
            .collect();
        keys.dedup();
        keys.truncate(shown.len());
        assert_eq!(shown, keys);
    }
}

#[test]
fn clients_under_one_mask_share_an_entry_and_mapped_ones_are_ipv4() {
    let mask = mask([255, 255, 255, 0], 64);
    let mut bench = Bench::new(
        4,
        Persistence {
            mask,
            ..by_source()
        },
    );
    let clients = [
        "10.0.0.1",
        "10.0.0.2",
        "::ffff:10.0.0.3",
        "10.0.1.1",
        "2001:db8::1",
        "2001:db8::ffff",
        "2001:db8:0:1::1",
    ];
    let given = clients.map(|client| bench.come(client));
    assert_eq!(given, [1, 1, 1, 2, 3, 3, 4]);
    let told: Vec<_> = bench.told().into_iter().map(|row| row.0).collect();
    assert_eq!(
        told,
        ["10.0.0.0", "10.0.1.0", "2001:db8::", "2001:db8:0:1::"]
    );
}

#[test]
fn change_of_kind_or_mask_forgets_and_any_other_change_keeps() {
    let mut bench = Bench::new(3, by_source());
    let once = by_source();
    bench.come("10.0.0.1");
    bench.rig.apply(Change::SetVserver(
        V,
        sluice_balance::VserverSettings {
            method: Method::LeastConnection,
            ..sticky(once)
        },
    ));
    assert_eq!(bench.come_to(V, "10.0.0.1"), (1, ChosenBy::Persistence));
    let mask = mask([255, 255, 0, 0], 128);
    bench.set(Persistence { mask, ..once });
    assert_eq!(bench.counts(), (0, 0));
    assert_eq!(bench.come_to(V, "10.0.0.1").1, ChosenBy::Method);
    let kind = PersistenceKind::SrcIpDestIp;
    bench.set(Persistence { mask, kind, ..once });
    assert_eq!((bench.counts(), bench.rows()), ((0, 0), vec![]));
}

#[test]
fn virtual_servers_without_a_group_do_not_share_entries() {
    let mut bench = Bench::new(2, by_source());
    let other = VserverId(2);
    bench
        .rig
        .apply(Change::AddVserver(other, sticky(by_source())));
    for number in [2, 1] {
        bench.rig.apply(Change::Bind(bind(other, number, 1)));
    }
    assert_eq!(bench.come_to(V, "10.0.0.1"), (1, ChosenBy::Method));
    assert_eq!(bench.come_to(other, "10.0.0.1"), (2, ChosenBy::Method));
    assert_eq!(bench.come_to(V, "10.0.0.1"), (1, ChosenBy::Persistence));
    assert_eq!(bench.come_to(other, "10.0.0.1"), (2, ChosenBy::Persistence));

    let of = |vserver| PersistenceFilter {
        vserver: Some(vserver),
        ..PersistenceFilter::default()
    };
    let services = |bench: &mut Bench, filter: &PersistenceFilter| -> Vec<_> {
        bench
            .rows_of(filter)
            .iter()
            .map(|row| (row.vserver.0, row.service.0))
            .collect()
    };
    assert_eq!(services(&mut bench, &of(V)), [(1, 1)]);
    assert_eq!(services(&mut bench, &of(other)), [(2, 2)]);
    assert_eq!(services(&mut bench, &of(VserverId(9))), []);
    let first = PersistenceFilter {
        service: Some(ServiceId(1)),
        ..PersistenceFilter::default()
    };
    assert_eq!(services(&mut bench, &first), [(1, 1)]);
    let client = PersistenceFilter {
        key: Some(source("10.0.0.1")),
        ..PersistenceFilter::default()
    };
    assert_eq!(services(&mut bench, &client), [(1, 1), (2, 2)]);
}

#[test]
fn clearing_takes_one_client_one_virtual_server_or_all() {
    let other = VserverId(2);
    let filled = || {
        let subnets = mask([255, 255, 255, 0], 128);
        let mut bench = Bench::new(
            3,
            Persistence {
                mask: subnets,
                ..by_source()
            },
        );
        bench
            .rig
            .apply(Change::AddVserver(other, sticky(by_source())));
        bench.rig.apply(Change::Bind(bind(other, 1, 1)));
        for client in ["10.0.0.1", "10.0.1.1", "10.0.2.1"] {
            bench.come(client);
            bench.come_to(other, client);
        }
        bench
    };
    let table = [
        (None, None, 6, 0),
        (Some(V), None, 3, 3),
        (Some(other), None, 3, 3),
        // The other one keeps 10.0.0.1 apart from 10.0.0.77.
        (None, Some("10.0.0.77"), 1, 5),
        (None, Some("10.0.0.1"), 2, 4),
        (Some(V), Some("10.0.0.77"), 1, 5),
        (Some(other), Some("10.0.0.77"), 0, 6),
        (Some(VserverId(3)), None, 0, 6),
    ];
    for (vserver, client, cleared, left) in table {
        let mut bench = filled();
        let key = client.map(source);
        let now = bench.rig.now;
        let count = bench
            .rig
            .engine
            .clear_persistence(vserver, key.as_ref(), now);
        assert_eq!(count, cleared, "{vserver:?} {client:?}");
        assert_eq!(bench.rows().len(), left, "{vserver:?} {client:?}");
        let totals = bench.rig.engine.persistence_totals(now);
        assert_eq!(totals.entries, left as u64);
        assert!(bench.rig.engine.poll_timeout() > Some(now));
    }
    // A key without the address that the table looks at means nobody.
    let mut bench = filled();
    let by_destination = PersistenceKey {
        src: None,
        dst: Some("10.0.0.1".parse().unwrap()),
    };
    let now = bench.rig.now;
    let cleared = bench
        .rig
        .engine
        .clear_persistence(None, Some(&by_destination), now);
    assert_eq!(cleared, 0);
}

#[test]
fn cleared_client_is_balanced_anew_and_open_flows_go_on() {
    let mut bench = Bench::new(2, by_source());
    let (open, _) = bench.open(V, &flow("10.0.0.1", "10.9.9.9"), &[]).unwrap();
    let now = bench.rig.now;
    assert_eq!(bench.rig.engine.clear_persistence(Some(V), None, now), 1);
    assert_eq!(bench.rig.outputs(), []);
    assert_eq!(bench.come_to(V, "10.0.0.1"), (2, ChosenBy::Method));
    assert_eq!(bench.come_to(V, "10.0.0.1"), (2, ChosenBy::Persistence));
    assert_eq!(bench.rig.service(1).active, 1);
    bench.close(open);
}

#[test]
fn listing_shows_each_entry_once_while_others_come_and_go() {
    let mut bench = Bench::new(3, by_source());
    let address = |number: u32| Ipv4Addr::from(number).to_string();
    for number in 0..2500 {
        bench.come(&address(number));
    }
    let filter = PersistenceFilter::default();
    let now = bench.rig.now;
    let first = bench
        .rig
        .engine
        .persistence_rows(&filter, Default::default(), now);
    let mut shown: Vec<_> = first.rows.iter().map(|row| row.key).collect();
    let mut from = first.next;
    assert_eq!(shown.len(), 1024);
    while let Some(cursor) = from {
        // Some that were shown go, some that were not come again, new ones take free places.
        for number in 0..10 {
            let key = source(&address(number));
            bench.rig.engine.clear_persistence(None, Some(&key), now);
        }
        for number in 2000..2100 {
            bench.come(&address(number));
        }
        for number in 5000..5005 {
            bench.come(&address(number));
        }
        let page = bench.rig.engine.persistence_rows(&filter, cursor, now);
        assert!(page.rows.len() <= 1024);
        shown.extend(page.rows.iter().map(|row| row.key));
        from = page.next;
    }
    let mut lasting = shown.clone();
    lasting.retain(|key| *key < source(&address(2500)) && *key >= source(&address(10)));
    let expected: Vec<_> = (10..2500).map(|number| source(&address(number))).collect();
    assert_eq!(lasting, expected);
}

#[test]
fn persistence_turned_off_forgets_everyone() {
    let mut bench = Bench::new(2, by_source());
    bench.come("10.0.0.1");
    bench.rig.set_method(Method::RoundRobin);
    assert_eq!(bench.rig.vserver().persistence, None);
    assert_eq!(bench.rows(), []);
    bench.set(by_source());
    assert_eq!(bench.come_to(V, "10.0.0.1"), (2, ChosenBy::Method));
    bench.rig.apply(Change::RemoveVserver(V));
    assert_eq!(bench.rows(), []);
    bench.rig.apply(Change::AddVserver(
        VserverId(3),
        vserver(Method::RoundRobin),
    ));
}
