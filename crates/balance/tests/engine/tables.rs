//! The worked tables of the metric methods: every choice, and the numbers seen before it.

use sluice_balance::Method;

use crate::rig::Rig;

/// The unit of the tables. Its size is of no matter; it is split over both directions.
const UNIT: u64 = 1_000_000;

fn add_units(rig: &Rig, service: u32, units: u64) {
    let bytes = units * UNIT;
    rig.traffic(service, bytes / 4, bytes - bytes / 4);
}

fn start(weights: &[u64]) -> Rig {
    let rig = Rig::new(Method::LeastBandwidth, weights);
    for (service, units) in [(1, 3), (2, 5), (3, 2)] {
        add_units(&rig, service, units);
    }
    rig
}

/// Returns `Nw` in hundredths, rounded: `16666.67` is `1_666_667`.
fn weighted(load: u64, weight: u64) -> u64 {
    (load * 1_000_000 + weight / 2) / weight
}

#[test]
fn least_bandwidth_follows_the_worked_table() {
    let mut rig = start(&[1, 1, 1]);
    let mut rows = Vec::new();
    for _ in 0..8 {
        let seen: Vec<_> = rig.window_bytes(3).iter().map(|n| n / UNIT).collect();
        let chosen = rig.pick();
        add_units(&rig, chosen, 1);
        let index = usize::try_from(chosen).unwrap() - 1;
        let after = rig.service(chosen).window_bytes / UNIT;
        rows.push((chosen, seen[index], after, seen));
    }
    let expected = [
        (3, 2, 3, vec![3, 5, 2]),
        (1, 3, 4, vec![3, 5, 3]),
        (3, 3, 4, vec![4, 5, 3]),
        (1, 4, 5, vec![4, 5, 4]),
        (3, 4, 5, vec![5, 5, 4]),
        (1, 5, 6, vec![5, 5, 5]),
        (2, 5, 6, vec![6, 5, 5]),
        (3, 5, 6, vec![6, 6, 5]),
    ];
    assert_eq!(rows, expected);
}

#[test]
fn least_bandwidth_with_weights_follows_the_worked_table() {
    let weights = [2, 3, 4];
    let mut rig = start(&weights);
    let mut rows = Vec::new();
    for request in 1..=8 {
        let seen = rig.window_bytes(3);
        let nw = [0, 1, 2].map(|i| weighted(seen[i] / UNIT, weights[i]));
        let chosen = rig.pick();
        if request > 1 {
            add_units(&rig, chosen, 1);
        }
        rows.push((nw, chosen));
    }
    let expected = [
        ([1_500_000, 1_666_667, 500_000], 3),
        ([1_500_000, 1_666_667, 500_000], 3),
        ([1_500_000, 1_666_667, 750_000], 3),
        ([1_500_000, 1_666_667, 1_000_000], 3),
        ([1_500_000, 1_666_667, 1_250_000], 3),
        ([1_500_000, 1_666_667, 1_500_000], 1),
        ([2_000_000, 1_666_667, 1_500_000], 3),
        ([2_000_000, 1_666_667, 1_750_000], 2),
    ];
    assert_eq!(rows, expected);
}

#[test]
fn least_packets_follows_the_same_table_in_packets() {
    let mut rig = Rig::new(Method::LeastPackets, &[1, 1, 1]);
    for (service, packets) in [(1, 3), (2, 5), (3, 2)] {
        rig.packets(service, packets);
    }
    let mut rows = Vec::new();
    for _ in 0..8 {
        let seen = [1, 2, 3].map(|service| rig.service(service).window_packets);
        let chosen = rig.pick();
        rig.packets(chosen, 1);
        rows.push((seen, chosen));
    }
    let expected = [
        ([3, 5, 2], 3),
        ([3, 5, 3], 1),
        ([4, 5, 3], 3),
        ([4, 5, 4], 1),
        ([5, 5, 4], 3),
        ([5, 5, 5], 1),
        ([6, 5, 5], 2),
        ([6, 6, 5], 3),
    ];
    assert_eq!(rows, expected);
}

#[test]
fn least_packets_does_not_look_at_bytes() {
    let mut rig = Rig::new(Method::LeastPackets, &[1, 1]);
    rig.traffic(1, 1_000_000, 0);
    rig.packets(2, 2);
    assert_eq!(rig.pick(), 1);
}

#[test]
fn least_connection_follows_the_worked_table() {
    let mut rig = Rig::new(Method::LeastConnection, &[1, 1, 1]);
    rig.set_active(1, 3);
    rig.set_active(2, 15);
    let rows: Vec<_> = (0..8)
        .map(|_| {
            let seen = [1, 2, 3].map(|service| rig.service(service).active);
            (seen, rig.pick())
        })
        .collect();
    let expected = [
        ([3, 15, 0], 3),
        ([3, 15, 1], 3),
        ([3, 15, 2], 3),
        ([3, 15, 3], 1),
        ([4, 15, 3], 3),
        ([4, 15, 4], 1),
        ([5, 15, 4], 3),
        ([5, 15, 5], 1),
    ];
    assert_eq!(rows, expected);
}

#[test]
fn least_connection_with_weights_follows_the_worked_table() {
    let weights = [2, 3, 4];
    let mut rig = Rig::new(Method::LeastConnection, &weights);
    rig.set_active(1, 3);
    rig.set_active(2, 15);
    let rows: Vec<_> = (0..10)
        .map(|_| {
            let seen = [1, 2, 3].map(|service| rig.service(service).active);
            let nw = [0, 2].map(|i| weighted(seen[i], weights[i]) / 100);
            (nw, rig.pick())
        })
        .collect();
    let expected = [
        ([15_000, 0], 3),
        ([15_000, 2_500], 3),
        ([15_000, 5_000], 3),
        ([15_000, 7_500], 3),
        ([15_000, 10_000], 3),
        ([15_000, 12_500], 3),
        ([15_000, 15_000], 1),
        ([20_000, 15_000], 3),
        ([20_000, 17_500], 3),
        ([20_000, 20_000], 1),
    ];
    assert_eq!(rows, expected);
}

#[test]
fn least_connection_keeps_equal_services_within_one_of_each_other() {
    let mut rig = Rig::new(Method::LeastConnection, &[1, 1, 1, 1]);
    for opened in 1..=40_u64 {
        rig.pick();
        let active = [1, 2, 3, 4].map(|service| rig.service(service).active);
        let bounds = (active.iter().min().copied(), active.iter().max().copied());
        assert_eq!(bounds, (Some(opened / 4), Some(opened.div_ceil(4))));
    }
}

#[test]
fn idle_services_are_served_in_turn_whatever_their_weights() {
    for method in [Method::LeastBandwidth, Method::LeastPackets] {
        let mut rig = Rig::new(method, &[2, 3, 4]);
        assert_eq!(rig.picks(7), [1, 2, 3, 1, 2, 3, 1], "{method:?}");
    }
    let mut rig = Rig::new(Method::LeastConnection, &[2, 3, 4]);
    assert_eq!(rig.picks(3), [1, 2, 3]);
}
