//! Cases of the field about ramps, methods and persistence, on a stepped clock, from typed commands to
//! choices.
//!
//! The numbers are those of our list of bug reports against other balancers and proxies.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use sluice_balance::{CloseReason, Selection};
use sluice_tests::sim::Sim;

/// Services `s1`, `s2`, … with these weights, bound to `v1` but for the last `unbound` of them.
fn site(weights: &[u32], unbound: usize, options: &str) -> Sim {
    let mut lines = format!("add lb vserver v1 TCP {options}\n");
    for (index, weight) in weights.iter().enumerate() {
        let number = index + 1;
        lines += &format!("add service s{number} 10.0.0.{number} TCP 80\n");
        if index < weights.len() - unbound {
            lines += &format!("bind lb vserver v1 s{number} -weight {weight}\n");
        }
    }
    Sim::with(&lines)
}

const MS: Duration = Duration::from_millis(1);

/// Lets `count` clients come and go at once, one each `pause`; returns who served how many.
fn offer(sim: &mut Sim, count: u32, pause: Duration) -> BTreeMap<String, u32> {
    let mut served = BTreeMap::new();
    for _ in 0..count {
        let selection = sim.connect("v1").expect("somebody is UP");
        *served.entry(sim.name(&selection)).or_default() += 1;
        sim.close(selection);
        sim.step(pause);
    }
    served
}

/// Which services of `v1` are new, by their place.
fn new(sim: &mut Sim) -> Vec<usize> {
    let bindings = sim.status("v1").bindings;
    let new = bindings.iter().enumerate();
    new.filter(|(_, binding)| binding.ramp.is_some())
        .map(|(place, _)| place + 1)
        .collect()
}

/// C29: a newcomer that joins another one begins a ramp of its own and leaves the other's alone.
#[test]
fn c29_a_second_newcomer_changes_nothing_for_the_first() {
    let options = "-lbMethod ROUNDROBIN -newServiceRequest 25 PERCENT \
                   -newServiceRequestIncrementInterval 15";
    let mut sim = Sim::with("");
    sim.type_lines("add lb vserver v1 TCP -lbMethod ROUNDROBIN");
    for number in 1..=4 {
        sim.type_lines(&format!("add service s{number} 10.0.0.{number} TCP 80"));
    }
    sim.type_lines("bind lb vserver v1 s1\nbind lb vserver v1 s2");
    sim.type_lines(&format!("set lb vserver v1 {options}"));
    sim.type_lines("bind lb vserver v1 s3");
    // What s3 and s4 got, in percent of an old service, in each step of 5 s at 100 clients/s.
    let mut shares = [Vec::new(), Vec::new()];
    for step in 0..18 {
        if step == 4 {
            sim.type_lines("bind lb vserver v1 s4");
        }
        let expected: &[usize] = match step {
            0..4 => &[3],
            4..12 => &[3, 4],
            12..16 => &[4],
            _ => &[],
        };
        assert_eq!(new(&mut sim), expected, "at {} s", step * 5);
        let served = offer(&mut sim, 500, 10 * MS);
        for (shares, name) in shares.iter_mut().zip(["s3", "s4"]) {
            shares.push(
                served
                    .get(name)
                    .map_or(0, |count| count * 100 / served["s1"]),
            );
        }
    }
    let about = |shares: &[u32], expected: &[u32]| {
        let close = |(share, expected): (&u32, &u32)| share.abs_diff(*expected) <= 1;
        assert_eq!(shares.len(), expected.len());
        assert!(shares.iter().zip(expected).all(close), "{shares:?}");
    };
    let full = [100; 9];
    about(
        &shares[0],
        &[&[25, 25, 25, 50, 50, 50, 75, 75, 75], &full[..]].concat(),
    );
    about(
        &shares[1],
        &[
            &[0, 0, 0, 0, 25, 25, 25, 50, 50, 50, 75, 75, 75],
            &full[..5],
        ]
        .concat(),
    );
}

/// C30: a newcomer gets its first client soon, whatever its weight, and never waits for long.
#[test]
fn c30_a_ramp_gives_a_little_not_nothing() {
    let options = "-lbMethod ROUNDROBIN -newServiceRequest 10 PERCENT \
                   -newServiceRequestIncrementInterval 3";
    let mut weights = [1; 20];
    weights[..9].fill(100);
    weights[19] = 100;
    let mut sim = site(&weights, 1, options);
    // Until the others, which were all new at once, are so no longer.
    offer(&mut sim, 2_000, 20 * MS);
    assert_eq!(new(&mut sim), [0; 0]);
    sim.type_lines("bind lb vserver v1 s20 -weight 100");
    let mut gaps = Vec::new();
    let mut since_last = 0;
    // 30 s of 50 clients/s; which of them the newcomer got.
    for _ in 0..1_500 {
        since_last += 1;
        if offer(&mut sim, 1, 20 * MS).contains_key("s20") {
            gaps.push(since_last);
            since_last = 0;
        }
    }
    assert!(gaps[0] <= 100, "the first came after {} clients", gaps[0]);
    // At a tenth of one of ten equal shares one client in a hundred is its own.
    assert!(gaps.iter().all(|gap| *gap <= 300), "{gaps:?}");
    let halves = gaps.split_at(gaps.len() / 2);
    let sum = |gaps: &[i32]| gaps.iter().sum::<i32>();
    assert!(sum(halves.1) < sum(halves.0), "it grows: {gaps:?}");
}

/// C31: where all are new at once nobody is, for the clients.
#[test]
fn c31_all_new_at_once_share_alike_and_refuse_nobody() {
    for unit in ["PER_SECOND", "PERCENT"] {
        let options = format!(
            "-lbMethod ROUNDROBIN -newServiceRequest 1 {unit} -newServiceRequestIncrementInterval 60"
        );
        let mut sim = site(&[1; 5], 0, &options);
        assert_eq!(new(&mut sim), [1, 2, 3, 4, 5], "{unit}");
        for second in 0..5 {
            let served = offer(&mut sim, 200, 5 * MS);
            let shares: Vec<u32> = served.into_values().collect();
            assert_eq!(shares, [40; 5], "{unit}, second {second}");
        }
    }
}

/// C33: a hash never leads to a service that is out, however many are, and moves nobody else.
#[test]
fn c33_a_hash_passes_over_all_who_are_out() {
    let mut sim = site(&[1; 8], 0, "-lbMethod SOURCEIPHASH");
    let homes = |sim: &mut Sim| -> Vec<String> {
        let clients = 0..500_u16;
        let homes = clients.map(|client| {
            let [high, low] = client.to_be_bytes();
            let selection = sim
                .connect_from([198, 51, high, low], "v1")
                .expect("one is UP");
            let name = sim.name(&selection);
            sim.close(selection);
            name
        });
        homes.collect()
    };
    let before = homes(&mut sim);
    for out in [2, 4, 7] {
        let out: Vec<String> = (1..=out).map(|number| format!("s{number}")).collect();
        for name in &out {
            sim.type_lines(&format!("disable service {name}"));
        }
        for (home, now) in before.iter().zip(homes(&mut sim)) {
            assert!(!out.contains(&now), "{now} is out");
            assert!(out.contains(home) || *home == now, "{home} to {now}");
        }
    }
    for number in 1..=7 {
        sim.type_lines(&format!("enable service s{number}"));
    }
    assert_eq!(homes(&mut sim), before);
}

/// C36: a service that closes at once looks idle, and does not get more than its share for it.
#[test]
fn c36_failing_fast_is_not_being_fast() {
    let mut sim = site(&[1; 3], 0, "-lbMethod LEASTCONNECTION");
    let mut open: VecDeque<(u64, Selection)> = VecDeque::new();
    let mut bad = 0;
    // 100 clients/s; s1 closes without a byte, the others answer after 100 ms.
    for client in 0..2_000_u64 {
        while open.front().is_some_and(|(since, _)| since + 10 <= client) {
            let (_, selection) = open.pop_front().expect("it was seen");
            sim.answer(&selection);
            sim.close(selection);
        }
        let selection = sim.connect("v1").expect("all are UP");
        sim.ask(&selection);
        if sim.name(&selection) == "s1" {
            bad += 1;
            sim.end(selection, CloseReason::ServiceClosed);
        } else {
            open.push_back((client, selection));
        }
        sim.step(10 * MS);
    }
    assert!(bad <= 2_000 / 3, "it got {bad} of 2000");
}

/// Lets 50 clients a second come for two minutes, who stay for so long after their answer; s2 takes
/// 300 ms to answer for the first 20 s, everybody else 5 ms. Returns for each client whether it was
/// given to s2, and the response times of s2 in milliseconds when it is slow and at the end.
fn slow_for_a_while(stays_ms: u64) -> (Vec<bool>, [u128; 2]) {
    let mut sim = site(&[1; 3], 0, "-lbMethod LEASTRESPONSETIME");
    let mut asked: Vec<(u64, Selection)> = Vec::new();
    let mut answered: VecDeque<(u64, Selection)> = VecDeque::new();
    let (mut chosen, mut slow) = (Vec::new(), 0);
    let time = |sim: &mut Sim| {
        let status = sim.service_status("s2");
        status.response_time.map_or(0, |time| time.as_millis())
    };
    for ms in 0..120_000_u64 {
        while answered.front().is_some_and(|(end, _)| *end <= ms) {
            let (_, selection) = answered.pop_front().expect("it was seen");
            sim.close(selection);
        }
        while let Some(next) = asked.iter().position(|(at, _)| *at <= ms) {
            let (_, selection) = asked.swap_remove(next);
            sim.answer(&selection);
            answered.push_back((ms + stays_ms, selection));
        }
        if ms % 20 == 0 {
            let selection = sim.connect("v1").expect("all are UP");
            sim.ask(&selection);
            let is_second = sim.name(&selection) == "s2";
            let takes = if is_second && ms < 20_000 { 300 } else { 5 };
            chosen.push(is_second);
            asked.push((ms + takes, selection));
        }
        if ms == 20_000 {
            slow = time(&mut sim);
        }
        sim.step(MS);
    }
    (chosen, [slow, time(&mut sim)])
}

/// C38: a service that was slow for a while and is as fast as the others again has its share again.
#[test]
fn c38_a_slow_while_does_not_stick() {
    // With and without connections that count beside the response time.
    for stays_ms in [0, 200] {
        let (chosen, times) = slow_for_a_while(stays_ms);
        let share = |from: usize, to: usize| {
            let part = &chosen[from * 50..to * 50];
            100 * part.iter().filter(|second| **second).count() / part.len()
        };
        assert!(share(0, 20) < 10, "{} % of {stays_ms} ms", share(0, 20));
        for (from, to) in [(50, 80), (80, 120)] {
            assert!(
                (25..=41).contains(&share(from, to)),
                "{} %",
                share(from, to)
            );
        }
        assert!(times[0] > 200 && times[1] <= 6, "{times:?}");
    }
}

/// C44: who returns from maintenance, or is added, is chosen at once.
#[test]
fn c44_a_service_that_returns_gets_traffic() {
    let mut sim = site(&[1; 4], 1, "-lbMethod LEASTCONNECTION");
    let long: Vec<Selection> = (0..200)
        .map(|_| sim.connect("v1").expect("all are UP"))
        .collect();
    sim.type_lines("disable service s3");
    let served = offer(&mut sim, 300, 10 * MS);
    assert!(!served.contains_key("s3"));
    sim.step(Duration::from_secs(10));
    sim.type_lines("enable service s3");
    sim.type_lines("bind lb vserver v1 s4");
    // s4 has nothing, and each of its clients goes before the next comes.
    assert_eq!(offer(&mut sim, 300, MS)["s4"], 300);
    sim.type_lines("disable service s4");
    let held = (0..66).map(|_| sim.connect("v1").expect("three are UP"));
    let held: Vec<Selection> = held.collect();
    assert!(held.iter().all(|one| sim.name(one) != "s4"));
    for selection in long.into_iter().chain(held) {
        sim.close(selection);
    }
    let served = offer(&mut sim, 300, MS);
    let shares: Vec<u32> = served.into_values().collect();
    assert_eq!(shares, [100; 3]);
}

/// Who serves a client that stays with a service, and goes at once.
fn ask(sim: &mut Sim, client: u8) -> String {
    let selection = sim
        .connect_from([192, 0, 2, client], "v1")
        .expect("all are UP");
    let name = sim.name(&selection);
    sim.close(selection);
    name
}

fn sessions(sim: &mut Sim) -> u64 {
    let persistence = sim.status("v1").persistence;
    persistence.expect("it was configured").entries
}

/// C48: a client that comes again in time keeps its service, with or without a connection open; the
/// time begins with its last new connection.
#[test]
fn c48_an_entry_lives_by_its_last_use() {
    let mut sim = site(
        &[1; 4],
        0,
        "-lbMethod ROUNDROBIN -persistenceType SOURCEIP -timeout 2",
    );
    let first = sim.connect_from([192, 0, 2, 1], "v1").expect("all are UP");
    let (home, idle) = (sim.name(&first), ask(&mut sim, 2));
    for _ in 0..4 {
        sim.step(Duration::from_secs(50));
        assert_eq!(ask(&mut sim, 1), home);
        // Others move the turn.
        ask(&mut sim, 3);
    }
    assert_eq!(sessions(&mut sim), 2, "client 2 has not come for 200 s");
    let open = sim.connect_from([192, 0, 2, 2], "v1").expect("all are UP");
    let second = sim.name(&open);
    assert_ne!(second, idle, "the turn has moved");
    sim.step(Duration::from_secs(90));
    assert_eq!(ask(&mut sim, 2), second);
    sim.step(Duration::from_secs(119));
    assert_eq!(ask(&mut sim, 2), second);
    sim.close(open);
    sim.close(first);
}

/// C49: each use renews an entry for the whole time-out, and then it is gone.
#[test]
fn c49_a_use_renews_an_entry() {
    let mut sim = site(
        &[1; 2],
        0,
        "-lbMethod ROUNDROBIN -persistenceType SOURCEIP -timeout 2",
    );
    let home = ask(&mut sim, 1);
    for _ in 0..2 {
        sim.step(Duration::from_secs(80));
        assert_eq!(ask(&mut sim, 1), home);
    }
    sim.step(Duration::from_secs(119));
    assert_eq!(sessions(&mut sim), 1);
    sim.step(Duration::from_secs(2));
    assert_eq!(sessions(&mut sim), 0);
}
