//! The worked tables of least bandwidth, from typed commands to choices, without a socket.

use std::time::Duration;

use sluice_tests::sim::Sim;

const MBIT: u64 = 1_000_000 / 8 * 14;

/// Three services whose `N` is 3, 5 and 2 Mbit/s, with the given weights.
fn rig(weights: [u32; 3]) -> (Sim, Vec<sluice_balance::Selection>) {
    let mut sim = Sim::with("add lb vserver v1 TCP -lbMethod LEASTCONNECTION");
    for (index, weight) in weights.iter().enumerate() {
        let number = index + 1;
        for line in [
            format!("add service S{number} 10.0.0.{number} TCP 80"),
            format!("bind lb vserver v1 S{number} -weight {weight}"),
        ] {
            sim.type_line(&line)
                .unwrap_or_else(|fault| panic!("{line}: {fault}"));
        }
    }
    (sim, Vec::new())
}

/// Returns the services chosen in eight requests, each of which adds 1 Mbit/s to its service unless
/// `free` says that it does not.
fn choices(weights: [u32; 3], free: impl Fn(usize) -> bool) -> Vec<String> {
    let (mut sim, mut open) = rig(weights);
    // The start values are put on the services by the services' own counters: one flow each.
    let mut counters = Vec::new();
    sim.type_line("set lb vserver v1 -lbMethod ROUNDROBIN")
        .expect("the method exists");
    while counters.len() < 3 {
        let selection = sim.connect("v1").expect("all are UP");
        let name = sim.name(&selection);
        if !counters.iter().any(|(known, _)| *known == name) {
            counters.push((name, std::sync::Arc::clone(&selection.service_counters)));
        }
        open.push(selection);
    }
    counters.sort_by(|a, b| a.0.cmp(&b.0));
    for ((_, counter), start) in counters.iter().zip([3, 5, 2]) {
        counter.add_out(start * MBIT, 1);
    }
    for selection in open.drain(..) {
        sim.close(selection);
    }
    // A cursor that stands before S1, as the tables want it: the virtual server is made anew.
    sim.type_line("rm lb vserver v1").expect("it exists");
    sim.type_line("add lb vserver v1 TCP -lbMethod LEASTBANDWIDTH")
        .expect("the name is free");
    for (index, weight) in weights.iter().enumerate() {
        let line = format!("bind lb vserver v1 S{} -weight {weight}", index + 1);
        sim.type_line(&line).expect("the service exists");
    }
    let mut chosen = Vec::new();
    for request in 0..8 {
        let selection = sim.connect("v1").expect("all are UP");
        chosen.push(sim.name(&selection));
        if !free(request) {
            // Either direction counts.
            let half = MBIT / 2;
            selection.service_counters.add_in(half, 1);
            selection.service_counters.add_out(MBIT - half, 1);
        }
        open.push(selection);
    }
    chosen
}

#[test]
fn least_bandwidth_follows_the_unweighted_table() {
    let expected = ["S3", "S1", "S3", "S1", "S3", "S1", "S2", "S3"];
    assert_eq!(choices([1, 1, 1], |_| false), expected);
}

#[test]
fn least_bandwidth_follows_the_weighted_table() {
    let expected = ["S3", "S3", "S3", "S3", "S3", "S1", "S3", "S2"];
    assert_eq!(choices([2, 3, 4], |request| request == 0), expected);
}

#[test]
fn a_burst_is_avoided_for_14_seconds_and_then_forgotten() {
    let mut sim = Sim::with(
        "add service S1 10.0.0.1 TCP 80\nadd service S2 10.0.0.2 TCP 80\n\
         add lb vserver v1 TCP -lbMethod LEASTBANDWIDTH\n\
         bind lb vserver v1 S1\nbind lb vserver v1 S2",
    );
    let burst = sim.connect("v1").expect("both are UP");
    assert_eq!(sim.name(&burst), "S1");
    burst.service_counters.add_out(100_000_000, 1);
    for _ in 0..13 {
        sim.step(Duration::from_secs(1));
        let probe = sim.connect("v1").expect("both are UP");
        assert_eq!(sim.name(&probe), "S2");
        sim.close(probe);
    }
    sim.step(Duration::from_millis(1250));
    let first = sim.connect("v1").expect("both are UP");
    let second = sim.connect("v1").expect("both are UP");
    let mut names = [sim.name(&first), sim.name(&second)];
    names.sort();
    assert_eq!(names, ["S1", "S2"]);
}
