//! What all three algorithms promise: shares by weight, and that only a lost service's clients move.

use std::collections::BTreeSet;

use sluice_balance::{Change, Fingers, HashAlgorithm, Method, ServiceId};

use super::{ALGORITHMS, Bench, client, counts};
use crate::rig::{V, bind};

fn bench(algorithm: HashAlgorithm, weights: &[u64]) -> Bench {
    Bench::new(Method::SourceIpHash, algorithm, weights)
}

/// Asserts that each client of `lost` has another service now, and nobody else has.
fn assert_only_clients_of_lost_moved(before: &[u32], after: &[u32], lost: u32) {
    for (number, (old, new)) in before.iter().zip(after).enumerate() {
        assert_eq!(
            *old != *new,
            *old == lost,
            "client {number}: {old} to {new}"
        );
    }
}

#[test]
fn clients_of_a_service_that_goes_down_alone_move_to_all_others_and_return() {
    for algorithm in ALGORITHMS() {
        let mut bench = bench(algorithm, &[1; 8]);
        let before = bench.map(20_000);
        bench.enable(3, false);
        let without = bench.map(20_000);
        assert_only_clients_of_lost_moved(&before, &without, 3);
        let moved = before.iter().zip(&without).filter(|(old, _)| **old == 3);
        let heirs: BTreeSet<_> = moved.map(|(_, new)| *new).collect();
        assert_eq!(
            heirs,
            BTreeSet::from([1, 2, 4, 5, 6, 7, 8]),
            "{algorithm:?}"
        );
        bench.enable(3, true);
        assert_eq!(bench.map(20_000), before, "{algorithm:?}");
    }
}

#[test]
fn unbinding_moves_the_same_clients_as_going_down_and_binding_returns_them() {
    for algorithm in ALGORITHMS() {
        let mut bench = bench(algorithm, &[1, 2, 3, 4, 5, 6, 7, 8]);
        let before = bench.map(20_000);
        bench.enable(6, false);
        let down = bench.map(20_000);
        bench.enable(6, true);
        bench.apply(&Change::Unbind(V, ServiceId(6)));
        assert_eq!(bench.map(20_000), down, "{algorithm:?}");
        bench.bind(6, 6);
        assert_eq!(bench.map(20_000), before, "{algorithm:?}");
    }
}

#[test]
fn service_that_is_full_or_tried_already_counts_as_lost_for_newcomers() {
    for algorithm in ALGORITHMS() {
        let mut bench = bench(algorithm, &[1; 8]);
        let before = bench.map(2_000);
        bench.enable(5, false);
        let down = bench.map(2_000);
        bench.enable(5, true);
        bench.set(5, |settings| settings.max_client = Some(0));
        assert_eq!(bench.map(2_000), down, "{algorithm:?}");
        bench.set(5, |settings| settings.max_client = None);
        for number in (0..2_000).filter(|number| before[*number as usize] == 5) {
            let again = bench.try_pick(&client(number), &[ServiceId(5)]);
            assert_eq!(again, Ok(down[number as usize]));
        }
    }
}

#[test]
fn more_weight_takes_clients_from_all_others_and_moves_none_between_them() {
    for algorithm in ALGORITHMS() {
        let mut bench = bench(algorithm, &[10; 8]);
        let before = bench.map(20_000);
        bench.apply(&Change::SetWeight(bind(V, 2, 20)));
        let after = bench.map(20_000);
        let moved = || before.iter().zip(&after).filter(|(old, new)| old != new);
        assert!(moved().all(|(_, new)| *new == 2), "{algorithm:?}");
        let losers: BTreeSet<_> = moved().map(|(old, _)| *old).collect();
        assert_eq!(losers.len(), 7, "{algorithm:?}");
        // From 1/8 to 2/9 of 20,000: 1,944 clients, less or more by the points of a table.
        let count = moved().count();
        assert!((1_600..2_300).contains(&count), "{algorithm:?}: {count}");
    }
}

#[test]
fn dead_service_is_never_chosen_while_another_is_up() {
    for algorithm in ALGORITHMS() {
        let mut bench = bench(algorithm, &[1; 8]);
        let mut down = Vec::new();
        let mut last = bench.map(500);
        for stop in [[3, 6].as_slice(), &[1, 8], &[2, 5, 7]] {
            for &number in stop {
                bench.enable(number, false);
                down.push(number);
            }
            let now = bench.map(500);
            for (old, new) in last.iter().zip(&now) {
                assert!(!down.contains(new), "{algorithm:?}: {down:?}");
                assert!(old == new || stop.contains(old), "{old} was still up");
            }
            last = now;
        }
        assert_eq!(counts(&last).into_keys().collect::<Vec<_>>(), [4]);
    }
}

#[test]
fn rendezvous_shares_are_those_of_the_weights_within_four_sigma() {
    let weights = [1, 2, 3, 4, 10, 30, 50, 100];
    for method in [
        Method::SourceIpHash,
        Method::SrcIpDestIpHash,
        Method::SrcIpSrcPortHash,
    ] {
        let mut bench = Bench::new(method, HashAlgorithm::Default, &weights);
        let clients = 100_000;
        let counts = counts(&bench.map(clients));
        for (number, weight) in (1..).zip(weights) {
            let share = weight as f64 / 200.0;
            let expected = f64::from(clients) * share;
            let sigma = (expected * (1.0 - share)).sqrt();
            let off = f64::from(counts[&number]) - expected;
            assert!(
                off.abs() <= 4.0 * sigma,
                "{method:?}, weight {weight}: off by {off}"
            );
        }
    }
}

#[test]
fn table_shares_are_those_of_the_weights_within_four_sigma_of_clients_and_points() {
    let weights = [1_u64, 2, 3, 4, 5, 10];
    for fingers in [64, 256, 1024] {
        let fingers = Fingers::new(fingers).unwrap();
        for algorithm in [HashAlgorithm::Prac(fingers), HashAlgorithm::Jarh(fingers)] {
            let mut bench = bench(algorithm, &weights);
            let clients = 100_000;
            let counts = counts(&bench.map(clients));
            for (number, weight) in (1..).zip(weights) {
                let share = weight as f64 / 25.0;
                let expected = f64::from(clients) * share;
                let of_clients = expected * (1.0 - share);
                let points = (fingers.value() * weight) as f64;
                let of_points = expected * expected / points * (1.0 - share);
                let sigma = (of_clients + of_points).sqrt();
                let off = f64::from(counts[&number]) - expected;
                let limit = 4.0 * sigma;
                assert!(
                    off.abs() <= limit,
                    "{algorithm:?}, {weight}: {off} over {limit}"
                );
            }
        }
    }
}

#[test]
fn thousands_of_services_at_full_weight_fit_a_table() {
    for algorithm in &ALGORITHMS()[1..] {
        let mut bench = bench(*algorithm, &[100; 3_000]);
        let chosen = counts(&bench.map(3_000));
        assert!(chosen.len() > 1_500, "{algorithm:?}: {}", chosen.len());
    }
}

#[test]
fn table_that_finds_nobody_asks_all_services() {
    for algorithm in &ALGORITHMS()[1..] {
        let mut bench = bench(*algorithm, &[1; 2_000]);
        for number in 1..2_000 {
            bench.enable(number, false);
        }
        assert_eq!(bench.map(50), [2_000; 50], "{algorithm:?}");
    }
}
