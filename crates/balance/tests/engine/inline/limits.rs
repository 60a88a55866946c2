//! Who may not go out: half of the services at most, never the last one, and who is let off.

use sluice_balance::{
    Change, Leave, Method, MonitorId, MonitorSettings, Output, Percent, ProbeResult, ServiceId,
    State, VserverId, VserverSettings,
};

use super::bench::Bench;
use crate::rig::{bind, vserver};

fn states(bench: &mut Bench, count: u32) -> String {
    let letters = (1..=count).map(|service| match bench.state(service) {
        State::Up => 'U',
        State::Down => 'D',
        _ => 'o',
    });
    letters.collect()
}

#[test]
fn at_most_half_of_the_services_are_out_and_never_the_last() {
    for (services, expected) in [(1, "U"), (2, "DU"), (3, "DUU"), (4, "DDUU"), (5, "DDUUU")] {
        let mut bench = Bench::new(services);
        for service in 1..=services {
            bench.refuse(service, 3);
            // Nor later.
            if bench.state(service) == State::Up {
                bench.refuse(service, 300);
            }
        }
        assert_eq!(states(&mut bench, services), expected);
    }
}

#[test]
fn last_service_that_is_up_stays_although_fewer_than_half_are_out() {
    let mut bench = Bench::new(4);
    bench.rig.enable(3, false);
    bench.rig.enable(4, false);
    bench.refuse(1, 3);
    bench.refuse(2, 3);
    assert_eq!(states(&mut bench, 4), "DUoo");
}

#[test]
fn virtual_server_does_not_fall_below_its_health_threshold_by_it() {
    for (percent, expected) in [(75, "DUUU"), (76, "UUUU")] {
        let mut bench = Bench::new(4);
        let settings = VserverSettings {
            health_threshold: Percent::new(percent).unwrap(),
            ..vserver(Method::LeastConnection)
        };
        bench.rig.apply(Change::SetVserver(crate::rig::V, settings));
        bench.refuse(1, 3);
        bench.refuse(2, 3);
        assert_eq!(states(&mut bench, 4), expected, "{percent} %");
        assert_eq!(bench.rig.vserver().state, State::Up);
    }
}

#[test]
fn service_that_is_out_is_let_off_where_it_becomes_the_only_one() {
    let mut bench = Bench::new(2);
    bench.refuse(1, 3);
    let other = VserverId(2);
    bench
        .rig
        .apply(Change::AddVserver(other, vserver(Method::RoundRobin)));
    bench.rig.apply(Change::Bind(bind(other, 1, 1)));
    assert_eq!(bench.state(1), State::Up);
    let shown = bench.rig.engine.vserver_status(other, bench.rig.now);
    assert_eq!(shown.unwrap().state, State::Up);
}

#[test]
fn every_virtual_server_of_a_service_has_to_do_without_it() {
    let mut bench = Bench::new(4);
    let other = VserverId(2);
    bench
        .rig
        .apply(Change::AddVserver(other, vserver(Method::RoundRobin)));
    bench.rig.apply(Change::Bind(bind(other, 1, 1)));
    bench.refuse(1, 30);
    assert_eq!(bench.state(1), State::Up);
    bench.rig.apply(Change::Bind(bind(other, 2, 1)));
    bench.refuse(1, 3);
    assert_eq!(bench.state(1), State::Down);
    bench.refuse(2, 30);
    assert_eq!(bench.state(2), State::Up);
}

#[test]
fn who_is_out_or_on_trial_is_let_off_when_the_last_service_goes() {
    for on_trial in [false, true] {
        let ways: [fn(&mut Bench); 3] = [
            |bench| bench.rig.enable(2, false),
            |bench| bench.rig.unbind(2),
            |bench| {
                bench
                    .rig
                    .apply(Change::DisableService(ServiceId(2), Leave::AT_ONCE))
            },
        ];
        for way in ways {
            let mut bench = Bench::new(2);
            bench.refuse(1, 3);
            if on_trial {
                bench.rig.run_to(10_000);
                bench.hold(1);
            }
            bench.rig.outputs();
            way(&mut bench);
            assert_eq!(bench.state(1), State::Up);
            assert!(!bench.inline(1).is_on_trial);
            bench.hold(1);
            bench.hold(1);
            // The virtual server has been UP all the time.
            let outputs = bench.rig.outputs();
            let is_front = |output: &Output| matches!(output, Output::VserverState(..));
            assert!(!outputs.iter().any(is_front), "{outputs:?}");
            // How often it was out still counts.
            bench.rig.add_service(3);
            bench.rig.bind(3, 1);
            bench.rig.add_service(4);
            bench.rig.bind(4, 1);
            bench.refuse(1, 3);
            let until = bench.inline(1).out_until.unwrap();
            assert_eq!(until.duration_since(bench.rig.now).as_secs(), 20);
        }
    }
}

#[test]
fn monitor_that_takes_the_last_service_lets_the_other_off() {
    let mut bench = Bench::new(2);
    let monitor = MonitorId(1);
    let settings = MonitorSettings {
        retries: 1,
        ..MonitorSettings::default()
    };
    bench.rig.engine.handle_booted(bench.rig.now);
    bench.rig.run_to(1);
    bench.rig.apply(Change::AddMonitor(monitor, settings));
    bench
        .rig
        .apply(Change::BindMonitor(crate::health::bench::binding(2, 1)));
    bench.refuse(1, 3);
    assert_eq!(states(&mut bench, 2), "DU");
    bench.rig.run_to(2);
    let probe = bench
        .rig
        .outputs()
        .into_iter()
        .find_map(|output| match output {
            Output::StartProbe { probe, .. } => Some(probe),
            _ => None,
        });
    let now = bench.rig.now;
    bench
        .rig
        .engine
        .handle_probe(probe.unwrap(), ProbeResult::Failed, now);
    assert_eq!(states(&mut bench, 2), "UD");
    bench.hold(1);
    bench.hold(1);
}

#[test]
fn monitors_and_connections_are_both_heard() {
    let mut bench = Bench::new(2);
    bench.rig.engine.handle_booted(bench.rig.now);
    bench.rig.run_to(1);
    bench
        .rig
        .apply(Change::AddMonitor(MonitorId(1), MonitorSettings::default()));
    bench
        .rig
        .apply(Change::BindMonitor(crate::health::bench::binding(1, 1)));
    bench.refuse(1, 3);
    bench.rig.run_to(2);
    let probe = bench
        .rig
        .outputs()
        .into_iter()
        .find_map(|output| match output {
            Output::StartProbe { probe, .. } => Some(probe),
            _ => None,
        });
    let passed = ProbeResult::Passed {
        took: std::time::Duration::ZERO,
        load: None,
    };
    // A probe that passes says nothing of what connections have shown.
    let now = bench.rig.now;
    bench.rig.engine.handle_probe(probe.unwrap(), passed, now);
    assert_eq!(bench.state(1), State::Down);
    bench.rig.run_to(4_000);
    assert_eq!(bench.state(1), State::Down);
}
