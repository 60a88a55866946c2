//! Whole loads in stepped time: a service that fails, is silent or slow, and one that has healed.

use sluice_balance::Method;

use super::traffic::{Clients, Conduct, Record, run};

const METHODS: [Method; 4] = [
    Method::LeastConnection,
    Method::LeastResponseTime,
    Method::LeastBandwidth,
    Method::LeastPackets,
];

/// 2,000 connections at 100 a second on three services; 1 is bad, the others answer in 100 ms.
fn fast_failure(method: Method, bad: Conduct) -> Record {
    run(method, 3, Clients::Every(10), 20_000, |number, _| {
        if number == 1 {
            bad
        } else {
            Conduct::Answers(100)
        }
    })
}

#[test]
fn service_that_closes_at_once_gets_far_less_than_its_share() {
    let counts = METHODS.map(|method| fast_failure(method, Conduct::Closes).count(1));
    assert_eq!(counts, [18, 3, 4, 4]);
}

#[test]
fn clients_of_a_service_that_refuses_are_all_served_by_others() {
    for method in METHODS {
        let record = fast_failure(method, Conduct::Refuses);
        // Those of the last 100 ms are still open.
        assert_eq!(
            (record.count(1), record.lost()),
            (0, (0, 1_990)),
            "{method:?}"
        );
    }
}

/// Two minutes on five services; 1 swallows everything, the others answer in 10 ms.
fn black_hole(method: Method, clients: Clients) -> (usize, usize) {
    let record = run(method, 5, clients, 120_000, |number, _| match number {
        1 => Conduct::Swallows,
        _ => Conduct::Answers(10),
    });
    record.lost()
}

#[test]
fn service_that_swallows_traffic_does_not_attract_it() {
    // 100 a second: what comes in the first second, then one every 5 s.
    let open = METHODS.map(|method| black_hole(method, Clients::Every(10)));
    assert_eq!(
        open,
        [(118, 11_998), (118, 11_998), (96, 11_999), (56, 11_999)]
    );
    // 20 clients, each with one flow after the other. All lose less than 1 %.
    let closed = METHODS.map(|method| black_hole(method, Clients::Loop(20)));
    let expected = [(476, 192_460), (122, 227_803), (43, 235_723), (43, 235_723)];
    assert_eq!(closed, expected);
}

#[test]
fn least_connection_loses_to_a_black_hole_what_theory_says() {
    // One call of 4 * 100 + 1, with five clients and one of them always in the hole: 0.249 %.
    let (lost, all) = black_hole(Method::LeastConnection, Clients::Loop(5));
    assert_eq!((lost, all), (119, 48_115));
    assert_eq!((all + lost / 2) / lost, 404);
}

/// Two minutes at 50 a second on three services; 2 is bad for 20 s, then like the others.
fn healed(method: Method, bad: Conduct, good: Conduct) -> Record {
    run(method, 3, Clients::Every(20), 120_000, |number, ms| {
        if number == 2 && ms < 20_000 {
            bad
        } else {
            good
        }
    })
}

#[test]
fn slow_service_gets_less_than_a_tenth_and_its_share_again_at_once() {
    let record = healed(
        Method::LeastResponseTime,
        Conduct::Answers(300),
        Conduct::Answers(5),
    );
    let slow = record.share(2, 0, 20_000);
    assert!(slow < 10.0, "{slow} % while slow");
    for from in (25_000..115_000).step_by(5_000) {
        let share = record.share(2, from, from + 5_000);
        assert!((32.0..35.0).contains(&share), "{share} % from {from} ms on");
    }
}

#[test]
fn healed_service_has_its_share_within_thirty_seconds() {
    for method in METHODS {
        for bad in [Conduct::Closes, Conduct::Refuses, Conduct::Swallows] {
            let record = healed(method, bad, Conduct::Answers(100));
            let while_bad = record.share(2, 1_000, 20_000);
            assert!(
                while_bad < 7.0,
                "{method:?}, {bad:?}: {while_bad} % while bad"
            );
            // 15 s at a time: methods with a memory of 14 s swing around it.
            for from in (50_000..105_000).step_by(5_000) {
                let share = record.share(2, from, from + 15_000);
                assert!(
                    (25.0..42.0).contains(&share),
                    "{method:?}, {bad:?}: {share} %"
                );
            }
        }
    }
}

#[test]
fn same_load_gives_the_same_choices() {
    let [one, other] = [(); 2].map(|()| {
        let record = healed(
            Method::LeastResponseTime,
            Conduct::Closes,
            Conduct::Answers(30),
        );
        record.choices()
    });
    assert_eq!(one, other);
}
