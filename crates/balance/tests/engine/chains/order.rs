//! `-order` of bound services, `orderThreshold` and `toggleOrder`.

use std::time::Duration;

use sluice_balance::{
    AddressMask, Bind, Change, Fingers, HashAlgorithm, Method, Order, Orders, Persistence,
    PersistenceKind, PersistenceTimeout, RampUnit, Refusal, ServiceId, SkipPersistence, SlowStart,
    TokenRange, VserverId,
};

use super::bench::Bench;
use crate::rig;

/// Virtual server 1 with services 1, 2, ... of these orders; 0 is none.
fn bench(orders: &[u64]) -> Bench {
    let mut bench = Bench::chain(&[&[]]);
    for (service, order) in (1..).zip(orders) {
        bench.bind(1, service, 1);
        set_order(&mut bench, service, *order);
    }
    bench
}

fn set_order(bench: &mut Bench, service: u32, order: u64) {
    let order = (order > 0).then(|| Order::new(order).unwrap());
    let bind = rig::bind(VserverId(1), service, 1);
    bench.apply(Change::SetWeight(Bind { order, ..bind }));
}

/// Returns who serves the next flows.
fn served(bench: &mut Bench, count: usize) -> Vec<u32> {
    let places = bench.picks(count);
    places.into_iter().map(|(_, service)| service).collect()
}

/// Returns who serves one of the next eight flows.
fn servers(bench: &mut Bench) -> Vec<u32> {
    let mut servers = served(bench, 8);
    servers.sort_unstable();
    servers.dedup();
    servers
}

fn standbys(bench: &mut Bench) -> Vec<u32> {
    let bindings = bench.vserver(1).bindings.into_iter();
    let standbys = bindings.filter(|binding| binding.is_standby);
    standbys.map(|binding| binding.service.0).collect()
}

#[test]
fn only_the_best_order_with_a_service_that_is_up_takes_traffic() {
    let mut bench = bench(&[20, 10, 20, 10, 30, 0]);
    assert_eq!(served(&mut bench, 4), [2, 4, 2, 4]);
    assert_eq!(standbys(&mut bench), [1, 3, 5, 6]);
    bench.enable(&[2], false);
    assert_eq!(served(&mut bench, 2), [4, 4]);
    bench.enable(&[4], false);
    assert_eq!(servers(&mut bench), [1, 3]);
    assert_eq!(standbys(&mut bench), [2, 4, 5, 6]);
    bench.enable(&[1, 3], false);
    assert_eq!(servers(&mut bench), [5]);
    bench.enable(&[5], false);
    assert_eq!(servers(&mut bench), [6]);
    bench.enable(&[4], true);
    assert_eq!(servers(&mut bench), [4]);
    bench.enable(&[4, 6], false);
    assert_eq!(bench.pick(), Err(Refusal::Down));
}

#[test]
fn without_an_order_nobody_stands_by() {
    let mut bench = bench(&[0, 0]);
    assert_eq!(served(&mut bench, 4), [1, 2, 1, 2]);
    assert_eq!(standbys(&mut bench), []);
}

#[test]
fn toggled_order_begins_with_the_largest_number_and_ends_with_none() {
    let mut bench = bench(&[1, 2, 8192, 0]);
    let descending = Orders {
        descending: true,
        threshold: 0,
    };
    bench.set(1, |settings| settings.orders = descending);
    for expected in [3, 2, 1, 4] {
        assert_eq!(servers(&mut bench), [expected]);
        bench.enable(&[expected], false);
    }
    bench.enable(&[1, 2, 3, 4], true);
    bench.set(1, |settings| settings.orders = Orders::default());
    for expected in [1, 2, 3, 4] {
        assert_eq!(servers(&mut bench), [expected]);
        bench.enable(&[expected], false);
    }
}

#[test]
fn order_with_fewer_services_up_than_the_threshold_is_passed_over() {
    let mut bench = bench(&[1, 1, 1, 2, 2, 3, 3]);
    let orders = Orders {
        threshold: 2,
        descending: false,
    };
    bench.set(1, |settings| settings.orders = orders);
    assert_eq!(servers(&mut bench), [1, 2, 3]);
    bench.enable(&[1], false);
    assert_eq!(servers(&mut bench), [2, 3]);
    bench.enable(&[2], false);
    assert_eq!(servers(&mut bench), [4, 5]);
    bench.enable(&[5], false);
    assert_eq!(servers(&mut bench), [6, 7]);
    // No order reaches it: the first with any is better than a refusal.
    bench.enable(&[7], false);
    assert_eq!(servers(&mut bench), [3]);
    bench.enable(&[3], false);
    assert_eq!(servers(&mut bench), [4]);
}

#[test]
fn change_of_an_order_counts_at_once() {
    let mut bench = bench(&[1, 2]);
    assert_eq!(servers(&mut bench), [1]);
    set_order(&mut bench, 1, 3);
    assert_eq!(servers(&mut bench), [2]);
    set_order(&mut bench, 1, 2);
    assert_eq!(servers(&mut bench), [1, 2]);
    set_order(&mut bench, 2, 0);
    assert_eq!(servers(&mut bench), [1]);
    bench.apply(Change::Unbind(VserverId(1), ServiceId(1)));
    assert_eq!(servers(&mut bench), [2]);
}

#[test]
fn next_order_takes_what_a_full_one_cannot_or_has_failed() {
    let mut bench = bench(&[1, 1, 2, 3]);
    bench.max_client(1, 1);
    bench.max_client(2, 2);
    bench.max_client(3, 1);
    assert_eq!(served(&mut bench, 6), [1, 2, 2, 3, 4, 4]);
    bench.close((1, 2));
    assert_eq!(served(&mut bench, 2), [2, 4]);
    for (tried, expected) in [(vec![1, 2], 4), (vec![1, 2, 4], 3)] {
        if expected == 3 {
            bench.close((1, 3));
        }
        let next = bench.select(1, &tried, 1).unwrap();
        assert_eq!(next.reservation.service(), ServiceId(expected));
        bench.keep(next.reservation);
    }
    bench.max_client(4, 1);
    assert_eq!(bench.pick(), Err(Refusal::Full));
}

#[test]
fn every_method_keeps_to_the_order() {
    for method in METHODS {
        for algorithm in [
            HashAlgorithm::Default,
            HashAlgorithm::Prac(Fingers::default()),
            HashAlgorithm::Jarh(Fingers::default()),
        ] {
            let mut bench = bench(&[2, 1, 2, 1, 1]);
            bench.set(1, |settings| {
                settings.method = method;
                settings.hash.algorithm = algorithm;
            });
            let by_clients = |bench: &mut Bench| {
                let places = (0..200).map(|host| bench.open(host).unwrap().1);
                places.collect::<std::collections::BTreeSet<_>>()
            };
            assert!(
                by_clients(&mut bench).is_subset(&[2, 4, 5].into()),
                "{method:?}"
            );
            bench.enable(&[2, 4, 5], false);
            assert!(
                by_clients(&mut bench).is_subset(&[1, 3].into()),
                "{method:?}"
            );
        }
    }
}

const METHODS: [Method; 9] = [
    Method::RoundRobin,
    Method::LeastConnection,
    Method::LeastBandwidth,
    Method::LeastPackets,
    Method::Random,
    Method::SourceIpHash,
    Method::SrcIpDestIpHash,
    Method::SrcIpSrcPortHash,
    Method::Token(TokenRange::FIRST_BYTE),
];

#[test]
fn client_sticks_to_a_service_of_a_worse_order_as_long_as_that_is_up() {
    let mut bench = bench(&[1, 2]);
    let persistence = Persistence {
        kind: PersistenceKind::SourceIp,
        mask: AddressMask::ALL,
        timeout: PersistenceTimeout::DEFAULT,
        skip: SkipPersistence::None,
        trofs: true,
        group: None,
    };
    bench.set(1, |settings| settings.persistence = Some(persistence));
    assert_eq!(bench.open(7), Ok((1, 1)));
    bench.enable(&[1], false);
    assert_eq!(bench.open(7), Ok((1, 2)));
    bench.enable(&[1], true);
    assert_eq!(
        [7, 8].map(|host| bench.open(host)),
        [Ok((1, 2)), Ok((1, 1))]
    );
    bench.enable(&[2], false);
    assert_eq!(bench.open(7), Ok((1, 1)));
}

#[test]
fn service_that_takes_traffic_because_others_went_is_not_new() {
    let mut bench = bench(&[1, 2, 2]);
    slow_start(&mut bench);
    bench.enable(&[1], false);
    assert_eq!(served(&mut bench, 4), [2, 3, 2, 3]);
    assert!(
        bench
            .vserver(1)
            .bindings
            .iter()
            .all(|binding| binding.ramp.is_none())
    );
    // Who comes back is new, and alone in its order: nobody shares what it may not take.
    bench.enable(&[1], true);
    assert_eq!(served(&mut bench, 4), [1, 1, 1, 1]);
    assert!(bench.vserver(1).bindings[0].ramp.is_some());
}

#[test]
fn new_service_is_limited_by_the_others_of_its_order_alone() {
    let mut bench = bench(&[1, 1, 2, 2]);
    slow_start(&mut bench);
    bench.enable(&[2], false);
    bench.enable(&[2], true);
    let flows: Vec<_> = (0..100)
        .map(|tenth: u64| {
            bench.jump_to(tenth * 100);
            bench.pick().unwrap().1
        })
        .collect();
    // One flow a second, from the first on, of ten a second.
    assert_eq!(flows.iter().filter(|service| **service == 2).count(), 10);
    assert_eq!(flows.iter().filter(|service| **service == 1).count(), 90);
}

/// One flow a second, by hand.
fn slow_start(bench: &mut Bench) {
    bench.set(1, |settings| {
        settings.slow_start = SlowStart {
            rate: 1,
            unit: RampUnit::PerSecond,
            interval: Duration::ZERO,
        };
    });
}

#[test]
fn spillover_and_backups_count_all_orders() {
    let mut bench = Bench::chain(&[&[1, 2], &[3]]);
    set_order(&mut bench, 1, 1);
    set_order(&mut bench, 2, 2);
    bench.max_client(1, 1);
    bench.max_client(2, 1);
    assert_eq!(bench.picks(3), [(1, 1), (1, 2), (2, 3)]);
    bench.close((1, 2));
    assert_eq!(bench.pick(), Ok((1, 2)));
}
