//! What a service is to a hash: address and port, the address alone, or its `hashId`.

use std::net::{Ipv4Addr, SocketAddr};

use sluice_balance::{HashAlgorithm, Method};

use super::{ALGORITHMS, Bench, counts};

fn bench(algorithm: HashAlgorithm, services: usize) -> Bench {
    Bench::new(Method::SourceIpHash, algorithm, &vec![1; services])
}

fn address(last: u8, port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::new(10, 2, 0, last), port))
}

/// Counts the differences of two mappings.
fn moved(one: &[u32], other: &[u32]) -> usize {
    one.iter().zip(other).filter(|(a, b)| a != b).count()
}

#[test]
fn another_port_is_another_service_unless_ports_do_not_count() {
    for algorithm in ALGORITHMS() {
        for (use_port, stays) in [(true, false), (false, true)] {
            let mut bench = bench(algorithm, 5);
            bench.set_hash(|hash| hash.use_port = use_port);
            let before = bench.map(1_000);
            bench.set(2, |settings| settings.address.set_port(9000));
            assert_eq!(
                bench.map(1_000) == before,
                stays,
                "{algorithm:?}, {use_port}"
            );
        }
    }
}

#[test]
fn hash_id_keeps_its_clients_whatever_the_address() {
    for algorithm in ALGORITHMS() {
        let mut bench = bench(algorithm, 5);
        let without = bench.map(1_000);
        bench.set(2, |settings| settings.hash_id = Some(77));
        let before = bench.map(1_000);
        assert!(moved(&without, &before) > 100, "{algorithm:?}");
        bench.set(2, |settings| {
            settings.hash_id = Some(77);
            settings.address = address(200, 1);
        });
        assert_eq!(bench.map(1_000), before, "{algorithm:?}");
        bench.set_hash(|hash| hash.use_port = false);
        let addresses = bench.map(1_000);
        let of_service = |map: &[u32]| map.iter().map(|chosen| *chosen == 2).collect::<Vec<_>>();
        assert_ne!(
            of_service(&addresses),
            of_service(&without),
            "{algorithm:?}"
        );
    }
}

#[test]
fn services_of_one_address_share_its_clients_and_stand_in_for_each_other() {
    for algorithm in ALGORITHMS() {
        let mut bench = bench(algorithm, 4);
        bench.set_hash(|hash| hash.use_port = false);
        let alone = bench.map(8_000);
        // A fifth service, at the second one's address.
        let mut bench = Bench::new(Method::SourceIpHash, algorithm, &[1; 5]);
        bench.set_hash(|hash| hash.use_port = false);
        let at_second = super::settings_of(2).address.ip();
        bench.set(5, |settings| {
            settings.address = SocketAddr::new(at_second, 9000)
        });
        let shared = bench.map(8_000);
        for (old, new) in alone.iter().zip(&shared) {
            assert!(
                old == new || (*old, *new) == (2, 5),
                "{algorithm:?}: {old} to {new}"
            );
        }
        let counts = counts(&shared);
        let (second, fifth) = (counts[&2], counts[&5]);
        let even = (second + fifth) / 2;
        assert!(
            second.abs_diff(even) < even / 4,
            "{algorithm:?}: {second}, {fifth}"
        );

        bench.set(5, |settings| {
            settings.address = SocketAddr::new(at_second, 9000);
            settings.enabled = false;
        });
        assert_eq!(bench.map(8_000), alone, "{algorithm:?}");
    }
}

#[test]
fn services_of_one_hash_id_share_its_clients() {
    for (algorithm, use_port) in ALGORITHMS()
        .into_iter()
        .flat_map(|a| [(a, true), (a, false)])
    {
        let mut bench = bench(algorithm, 4);
        bench.set_hash(|hash| hash.use_port = use_port);
        for number in [2, 3] {
            bench.set(number, |settings| settings.hash_id = Some(9));
        }
        let shared = counts(&bench.map(8_000));
        // A third of all clients for the two together, half of that for each.
        for number in [2, 3] {
            assert!(
                (900..1_800).contains(&shared[&number]),
                "{algorithm:?}: {shared:?}"
            );
        }
    }
}
