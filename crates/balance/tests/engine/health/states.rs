//! The states of services that are probed, why they have them, and what changes of configuration do.

use std::time::Duration;

use sluice_balance::{
    Change, CloseFlows, Instant, LastProbe, MonitorId, MonitorSettings, Output, ProbeId,
    ProbeResult, ServiceId, State, StateReason, VserverSettings, Weight,
};

use super::bench::{Bench, M, Manner, S, binding, every, monitor};
use crate::rig::{V, at, service, vserver};

const ANSWERS: Manner = Manner::Answers(0);

fn ms(at: Instant) -> u64 {
    at.as_nanos() / 1_000_000
}

/// Makes one service that is UP at 100 s, and forgets how it came there.
fn up(settings: MonitorSettings) -> Bench {
    let mut bench = Bench::probed(1, settings, ANSWERS);
    bench.rig.engine.handle_booted(bench.rig.now);
    bench.run_to(100_000);
    assert_eq!(bench.state(1), State::Up);
    bench.changes();
    bench.starts(1);
    bench
}

#[test]
fn service_is_unknown_until_its_first_success_and_gets_nothing() {
    let mut bench = Bench::probed(1, monitor(), Manner::Answers(7));
    assert_eq!((bench.state(1), bench.serves()), (State::Unknown, false));
    bench.run_to(6);
    assert_eq!((bench.state(1), bench.serves()), (State::Unknown, false));
    bench.run_to(7);
    assert_eq!((bench.state(1), bench.serves()), (State::Up, true));
    let shown = bench.rig.service(1);
    assert_eq!(
        (shown.since, shown.reason),
        (at(7), StateReason::Monitor(M))
    );
    let row = bench.row(1, 1);
    assert_eq!((row.state, row.probes, row.failed), (State::Up, 1, 0));
    assert_eq!(row.last, Some(LastProbe::Passed(at(7))));
    assert_eq!(row.response_time, Some(Duration::from_millis(7)));
    assert_eq!(
        (row.enabled, row.is_probed, row.passive),
        (true, true, false)
    );
}

#[test]
fn first_probe_starts_at_once_and_a_service_that_never_answers_is_down_after_its_retries() {
    let mut bench = Bench::probed(1, every(1_000, 500, 3), Manner::Silent);
    bench.run_to(10_000);
    let starts = bench.starts(1);
    assert_eq!(starts[0], 0);
    // Unknown to DOWN at the end of the third probe; then the pause.
    assert_eq!(
        bench.changes(),
        [(1, State::Unknown, 0), (1, State::Down, starts[2] + 500)]
    );
    assert_eq!(starts.len(), 3);
    bench.run_to(40_000);
    assert_eq!(bench.starts(1), [starts[2] + 500 + 30_000]);
    let row = bench.row(1, 1);
    assert_eq!((row.probes, row.failed, row.failed_in_a_row), (4, 4, 4));
}

#[test]
fn service_that_answers_again_is_up_after_its_success_retries_and_starts_anew() {
    let mut bench = up(MonitorSettings {
        success_retries: 3,
        down_time: Duration::from_secs(7),
        ..every(1_000, 500, 2)
    });
    bench.take(1, 1, Manner::Refuses);
    bench.run_to(105_000);
    bench.take(1, 1, ANSWERS);
    bench.run_to(120_000);
    let [(1, State::Down, down), (1, State::Up, came_up)] = bench.changes()[..] else {
        panic!("DOWN, then UP");
    };
    let starts = bench.starts(1);
    let after: Vec<_> = starts.iter().filter(|start| **start > down).collect();
    // The first after the pause, the second at the phase of the monitor, the third an interval later.
    assert_eq!(*after[0], down + 7_000);
    let gap = after[1] - after[0];
    assert!((500..=1_000).contains(&gap), "{gap} ms");
    assert_eq!((*after[2], came_up), (after[1] + 1_000, after[1] + 1_000));
}

#[test]
fn state_comes_out_with_the_flows_that_end_and_the_virtual_servers_that_follow() {
    let mut bench = up(monitor());
    bench.rig.set(1, |settings| settings.flush_on_down = true);
    bench.take(1, 1, Manner::Refuses);
    bench.drain();
    bench.outputs.clear();
    bench.run_to(130_000);
    let shown = bench.rig.service(1);
    assert_eq!(
        (shown.state, shown.reason),
        (State::Down, StateReason::Monitor(M))
    );
    let flows = CloseFlows {
        vserver: None,
        dialled: None,
        service: Some(S),
    };
    let expected = [
        Output::ServiceState(S, State::Down, shown.since),
        Output::CloseFlows(flows),
        Output::VserverState(V, State::Down, shown.since),
    ];
    assert_eq!(bench.outputs, expected);
    assert!(!bench.serves());
}

#[test]
fn disabled_service_is_not_probed_and_begins_again_when_enabled() {
    let mut bench = up(monitor());
    bench.take(1, 1, Manner::Silent);
    bench.run_to(105_000);
    let flight = bench.started.last().unwrap().probe;
    bench.rig.enable(1, false);
    bench.drain();
    assert_eq!(bench.cancelled, [flight]);
    let shown = bench.rig.service(1);
    assert_eq!(
        (shown.state, shown.reason),
        (State::OutOfService, StateReason::Operator)
    );
    let row = bench.row(1, 1);
    assert_eq!(
        (row.state, row.is_probed, row.next),
        (State::Unknown, false, None)
    );
    bench.starts(1);
    bench.run_to(1_000_000);
    assert_eq!(bench.starts(1), [0; 0]);
    // A late word of the probe that was given up changes nothing.
    let passed = ProbeResult::Passed {
        took: Duration::ZERO,
        load: None,
    };
    bench.rig.engine.handle_probe(flight, passed, bench.rig.now);
    assert_eq!(bench.state(1), State::OutOfService);
    bench.take(1, 1, Manner::Answers(3));
    bench.changes();
    bench.rig.enable(1, true);
    bench.run_to(1_000_100);
    let expected = [(1, State::Unknown, 1_000_000), (1, State::Up, 1_000_003)];
    assert_eq!(
        (bench.changes(), bench.starts(1)),
        (expected.to_vec(), vec![1_000_000])
    );
}

#[test]
fn service_without_health_monitor_is_up_and_not_probed() {
    let mut bench = Bench::probed(1, monitor(), Manner::Refuses);
    bench.run_to(60_000);
    assert_eq!(bench.state(1), State::Down);
    bench.starts(1);
    bench.rig.set(1, |settings| settings.health_monitor = false);
    bench.run_to(120_000);
    assert_eq!((bench.state(1), bench.starts(1)), (State::Up, vec![]));
    bench.rig.set(1, |settings| settings.enabled = false);
    assert_eq!(bench.state(1), State::OutOfService);
}

#[test]
fn passive_monitor_only_reports() {
    let mut bench = Bench::new(1);
    bench.add(1, monitor());
    bench.bind_with(1, 1, |bind| bind.passive = true);
    assert_eq!(bench.state(1), State::Up);
    bench.take(1, 1, Manner::Refuses);
    bench.run_to(60_000);
    assert_eq!(
        (bench.state(1), bench.row(1, 1).state),
        (State::Up, State::Down)
    );
    let bind = binding(1, 1);
    bench.apply(Change::SetMonitorBinding(bind));
    assert_eq!(bench.state(1), State::Down);
    assert_eq!(bench.rig.service(1).reason, StateReason::Operator);
}

#[test]
fn disabled_binding_and_disabled_monitor_probe_nothing_and_decide_nothing() {
    let mut bench = up(every(1_000, 500, 1));
    bench.take(1, 1, Manner::Refuses);
    bench.run_to(102_000);
    assert_eq!(bench.state(1), State::Down);
    let off = |bench: &mut Bench, enabled| {
        bench.apply(Change::SetMonitorBinding(sluice_balance::MonitorBind {
            enabled,
            ..binding(1, 1)
        }));
    };
    let off_everywhere = |bench: &mut Bench, enabled| {
        let settings = MonitorSettings {
            enabled,
            ..every(1_000, 500, 1)
        };
        bench.apply(Change::SetMonitor(M, settings));
    };
    let ways: [fn(&mut Bench, bool); 2] = [off, off_everywhere];
    for set in ways {
        bench.starts(1);
        set(&mut bench, false);
        assert_eq!(bench.state(1), State::Up, "nobody says otherwise");
        bench.run_to(ms(bench.rig.now) + 10_000);
        assert_eq!((bench.state(1), bench.starts(1)), (State::Up, vec![]));
        let now = ms(bench.rig.now);
        set(&mut bench, true);
        assert_eq!(bench.state(1), State::Up, "what was known holds");
        bench.run_to(now + 10);
        assert_eq!((bench.state(1), bench.starts(1)), (State::Down, vec![now]));
    }
}

#[test]
fn several_monitors_all_have_to_find_a_service_well_or_enough_weight_of_them() {
    let mut bench = Bench::new(1);
    for (number, weight) in [(1, 2), (2, 3), (3, 4)] {
        bench.add(number, every(1_000, 500, 1));
        bench.take(1, number, ANSWERS);
        bench.bind_with(1, number, |bind| bind.weight = Weight::new(weight).unwrap());
    }
    bench.run_to(2_000);
    assert_eq!(bench.state(1), State::Up);
    bench.take(1, 2, Manner::Refuses);
    bench.run_to(4_000);
    let shown = bench.rig.service(1);
    assert_eq!(shown.state, State::Down);
    assert_eq!(shown.reason, StateReason::Monitor(MonitorId(2)));
    // 2 and 4 are left.
    for (threshold, state) in [
        (6, State::Up),
        (7, State::Down),
        (1, State::Up),
        (0, State::Down),
    ] {
        bench
            .rig
            .set(1, |settings| settings.monitor_threshold = threshold);
        assert_eq!(bench.state(1), state, "{threshold}");
    }
    bench.apply(Change::SetMonitorBinding(sluice_balance::MonitorBind {
        enabled: false,
        ..binding(1, 2)
    }));
    assert_eq!(bench.state(1), State::Up);
    let ids = bench.rig.service(1).monitors;
    let ids: Vec<_> = ids.iter().map(|row| row.monitor.0).collect();
    assert_eq!(ids, [1, 2, 3]);
}

#[test]
fn service_that_says_so_goes_out_of_service_until_it_answers_normally() {
    let mut bench = up(every(1_000, 500, 2));
    bench.take(1, 1, Manner::GoesOut);
    bench.run_to(102_000);
    assert_eq!(
        (bench.state(1), bench.serves()),
        (State::GoingOutOfService, false)
    );
    assert_eq!(bench.row(1, 1).state, State::GoingOutOfService);
    bench.add(2, every(1_000, 500, 1));
    bench.take(1, 2, Manner::Refuses);
    bench.bind(1, 2);
    bench.run_to(103_000);
    assert_eq!(bench.state(1), State::DownWhenGoingOutOfService);
    bench.unbind(1, 2);
    assert_eq!(bench.state(1), State::GoingOutOfService);
    bench.take(1, 1, ANSWERS);
    bench.run_to(105_000);
    assert_eq!((bench.state(1), bench.serves()), (State::Up, true));
}

#[test]
fn known_state_outlives_a_change_of_monitors() {
    let mut bench = up(every(1_000, 500, 2));
    // UP stays UP while the new one, and later only it, does not know.
    bench.add(2, every(1_000, 500, 2));
    bench.take(1, 2, Manner::Answers(400));
    bench.bind(1, 2);
    bench.unbind(1, 1);
    assert_eq!((bench.state(1), bench.changes()), (State::Up, vec![]));
    bench.take(1, 2, Manner::Refuses);
    bench.run_to(110_000);
    assert_eq!(bench.state(1), State::Down);
    // DOWN stays DOWN.
    bench.changes();
    bench.bind(1, 1);
    bench.unbind(1, 2);
    assert_eq!((bench.state(1), bench.changes()), (State::Down, vec![]));
    bench.run_to(110_001);
    assert_eq!(bench.changes(), [(1, State::Up, 110_000)]);
    // Without any it is UP; one that is bound in that moment has to find that first.
    bench.take(1, 1, Manner::Refuses);
    bench.run_to(115_000);
    bench.unbind(1, 1);
    bench.bind(1, 1);
    assert_eq!((bench.state(1), bench.serves()), (State::Unknown, false));
}

#[test]
fn service_at_another_address_is_probed_there_before_it_gets_anything() {
    let mut bench = up(every(1_000, 500, 2));
    bench.take(1, 1, Manner::Silent);
    bench.run_to(101_000);
    let flight = bench.started.last().unwrap().probe;
    bench.rig.set(1, |settings| settings.address.set_port(81));
    bench.drain();
    assert_eq!(
        (bench.state(1), bench.cancelled.clone()),
        (State::Unknown, vec![flight])
    );
    bench.take(1, 1, ANSWERS);
    bench.starts(1);
    bench.run_to(101_001);
    assert_eq!(
        (bench.state(1), bench.starts(1)),
        (State::Up, vec![101_000])
    );
}

#[test]
fn service_that_is_down_is_probed_at_once_when_its_monitor_is_changed() {
    let mut bench = up(every(1_000, 500, 1));
    bench.take(1, 1, Manner::Refuses);
    bench.run_to(105_000);
    assert_eq!(bench.state(1), State::Down);
    bench.take(1, 1, ANSWERS);
    bench.starts(1);
    bench.apply(Change::SetMonitor(M, every(60_000, 500, 1)));
    bench.run_to(105_001);
    assert_eq!(
        (bench.state(1), bench.starts(1)),
        (State::Up, vec![105_000])
    );
    // A shorter interval counts at once, a longer one from the next probe on.
    bench.apply(Change::SetMonitor(M, every(1_000, 500, 1)));
    bench.run_to(107_000);
    assert_eq!(bench.starts(1).len(), 2);
}

#[test]
fn removed_service_and_unbound_monitor_give_up_their_probes() {
    let mut bench = Bench::probed(2, monitor(), Manner::Silent);
    bench.run_to(100);
    let flights: Vec<_> = bench.started.iter().map(|one| one.probe).collect();
    bench.rig.unbind(1);
    bench.apply(Change::RemoveService(S));
    bench.unbind(2, 1);
    assert_eq!(
        (bench.cancelled.clone(), bench.state(2)),
        (flights, State::Up)
    );
    bench.apply(Change::RemoveMonitor(M));
    for probe in 0..9 {
        let engine = &mut bench.rig.engine;
        engine.handle_probe(ProbeId(probe), ProbeResult::Failed, bench.rig.now);
    }
    bench.starts(1);
    bench.run_to(100_000);
    assert_eq!((bench.state(2), bench.starts(1)), (State::Up, vec![]));
}

#[test]
fn state_of_a_service_behind_several_virtual_servers_reaches_all() {
    let mut bench = up(every(1_000, 500, 1));
    let other = sluice_balance::VserverId(2);
    let settings = VserverSettings {
        flush_on_down: true,
        ..vserver(sluice_balance::Method::LeastConnection)
    };
    bench.apply(Change::AddVserver(other, settings));
    bench.apply(Change::Bind(crate::rig::bind(other, 1, 1)));
    bench.outputs.clear();
    bench.take(1, 1, Manner::Refuses);
    bench.run_to(102_000);
    let at = bench.rig.service(1).since;
    let flows = CloseFlows {
        vserver: Some(other),
        dialled: None,
        service: None,
    };
    let expected = [
        Output::ServiceState(S, State::Down, at),
        Output::VserverState(V, State::Down, at),
        Output::VserverState(other, State::Down, at),
        Output::CloseFlows(flows),
    ];
    assert_eq!(bench.outputs, expected);
}

#[test]
fn service_that_is_added_with_a_monitor_in_one_plan_is_never_up_before() {
    let mut bench = up(monitor());
    bench.apply(Change::AddService(ServiceId(2), service()));
    bench.bind(2, 1);
    bench.rig.bind(2, 1);
    assert_eq!(bench.state(2), State::Unknown);
    bench.run_to(100_100);
    assert_eq!(bench.state(2), State::Unknown);
}
