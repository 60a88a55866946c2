//! Going out of service: who is still taken, when it is over, which flows end with it.

use std::time::Duration;

use sluice_balance::{
    Backup, Change, Client, CloseFlows, CloseReason, Exclusion, Leave, Method, Outcome, Output,
    Percent, Persistence, Protocol, RampUnit, Refusal, ServiceId, ServiceSettings, SlowStart,
    State, VserverId, VserverSettings,
};

use crate::rig::{Rig, V, at, bind, flow, service, vserver};

mod sticky;

const S: ServiceId = ServiceId(1);

fn close(vserver: Option<VserverId>, service: Option<ServiceId>) -> Output {
    Output::CloseFlows(CloseFlows {
        vserver,
        dialled: None,
        service,
    })
}

fn state(rig: &mut Rig, number: u32) -> State {
    rig.service(number).state
}

fn is(service: ServiceId, state: State, ms: u64) -> Output {
    Output::ServiceState(service, state, at(ms))
}

#[test]
fn disabled_service_waits_for_what_it_is_told_to() {
    let going = State::GoingOutOfService;
    let out = State::OutOfService;
    for (delay, graceful, flows, expected) in [
        (None, false, 1, out),
        (Some(60_000), false, 1, going),
        (Some(60_000), false, 0, going),
        (None, true, 1, going),
        (None, true, 0, out),
        (Some(60_000), true, 1, going),
        (Some(60_000), true, 0, out),
        (Some(0), true, 1, out),
    ] {
        let mut rig = Rig::new(Method::RoundRobin, &[1]);
        rig.picks(flows);
        rig.disable(1, delay, graceful);
        let what = format!("{delay:?} {graceful} {flows}");
        assert_eq!(state(&mut rig, 1), expected, "{what}");
        let down = Output::VserverState(V, State::Down, at(0));
        assert_eq!(rig.outputs(), [is(S, expected, 0), down], "{what}");
    }
}

#[test]
fn service_that_goes_out_of_service_takes_no_newcomer_and_keeps_its_flows() {
    let mut rig = Rig::new(Method::LeastConnection, &[1, 1]);
    rig.picks(6);
    rig.disable(2, Some(60_000), true);
    assert_eq!(
        rig.outputs(),
        [is(ServiceId(2), State::GoingOutOfService, 0)]
    );
    assert_eq!(rig.picks(20), [1; 20]);
    assert_eq!((rig.service(2).active, rig.service(2).hits), (3, 3));
    let said = rig.engine.explain(V, &Client::default(), rig.now).unwrap();
    let excluded = &said.asked[0].candidates[1].exclusions;
    assert_eq!(*excluded, [Exclusion::GoingOutOfService]);
    rig.close(1, CloseReason::Finished);
    assert_eq!(rig.outputs(), []);
}

#[test]
fn deadline_is_exact_and_the_time_of_the_change() {
    for graceful in [true, false] {
        let mut rig = Rig::new(Method::RoundRobin, &[1, 1]);
        rig.picks(2);
        rig.jump_to(500);
        rig.disable(1, Some(1_998), graceful);
        rig.outputs();
        let mut asked = 0;
        while let Some(due) = rig.engine.poll_timeout().filter(|due| *due < at(2_498)) {
            rig.engine.handle_timeout(due);
            asked += 1;
        }
        assert!(asked > 0, "the windows have deadlines before");
        assert_eq!(rig.engine.poll_timeout(), Some(at(2_498)));
        rig.now = at(2_498) - Duration::from_nanos(1);
        assert_eq!(state(&mut rig, 1), State::GoingOutOfService);
        assert_eq!(rig.outputs(), []);
        rig.jump_to(2_498);
        rig.engine.handle_timeout(rig.now);
        assert_eq!(rig.outputs(), [is(S, State::OutOfService, 2_498)]);
        assert_eq!(rig.service(1).since, at(2_498));
        assert_eq!(rig.service(1).active, 1, "without a flush its flows go on");
    }
}

#[test]
fn late_call_changes_nothing_of_the_deadline() {
    let mut rig = Rig::new(Method::RoundRobin, &[1, 1]);
    rig.picks(2);
    rig.disable(1, Some(1_000), false);
    rig.outputs();
    rig.jump_to(9_000);
    // Whatever is asked first.
    assert_eq!(rig.pick(), 2);
    assert_eq!(rig.outputs(), [is(S, State::OutOfService, 1_000)]);
    assert_eq!(rig.service(1).since, at(1_000));
}

#[test]
fn graceful_one_is_out_at_once_with_its_last_flow() {
    for (delay, early) in [(None, true), (Some(60_000), true), (Some(200), false)] {
        let mut rig = Rig::new(Method::RoundRobin, &[1, 1]);
        rig.picks(4);
        rig.disable(1, delay, true);
        rig.outputs();
        rig.jump_to(100);
        rig.close(1, CloseReason::Finished);
        assert_eq!(state(&mut rig, 1), State::GoingOutOfService);
        rig.jump_to(300);
        rig.close(1, CloseReason::ClientReset);
        let when = if early { 300 } else { 200 };
        assert_eq!(
            rig.outputs(),
            [is(S, State::OutOfService, when)],
            "{delay:?}"
        );
        assert_eq!(rig.service(1).drain, None);
        // No deadline is left behind.
        rig.run_to(100_000);
        assert_eq!(rig.outputs(), []);
    }
}

#[test]
fn last_flow_may_be_one_that_came_to_nothing() {
    let mut rig = Rig::new(Method::RoundRobin, &[1]);
    rig.pick();
    rig.disable(1, None, true);
    let place = rig.take(1);
    rig.engine.handle_unused(place, rig.now);
    assert_eq!(state(&mut rig, 1), State::OutOfService);
}

#[test]
fn service_that_only_waits_for_its_time_does_so_without_flows() {
    let mut rig = Rig::new(Method::RoundRobin, &[1]);
    rig.pick();
    rig.disable(1, Some(60_000), false);
    rig.close(1, CloseReason::Finished);
    assert_eq!(state(&mut rig, 1), State::GoingOutOfService);
    rig.run_to(60_000);
    assert_eq!(state(&mut rig, 1), State::OutOfService);
}

#[test]
fn last_word_counts() {
    let mut rig = Rig::new(Method::RoundRobin, &[1]);
    rig.pick();
    rig.disable(1, Some(60_000), false);
    rig.jump_to(10_000);
    rig.disable(1, Some(5_000), true);
    let shown = rig.service(1);
    assert_eq!(shown.since, at(0), "its state has not changed");
    let drain = shown.drain.unwrap();
    assert_eq!(
        (drain.graceful, drain.deadline, drain.since),
        (true, Some(at(15_000)), at(10_000))
    );
    rig.disable(1, None, true);
    assert_eq!(rig.service(1).drain.unwrap().deadline, None);
    rig.run_to(100_000);
    assert_eq!(state(&mut rig, 1), State::GoingOutOfService);
    rig.disable(1, None, false);
    assert_eq!(state(&mut rig, 1), State::OutOfService);
    // Who is out does not come back halfway.
    rig.outputs();
    rig.disable(1, Some(60_000), false);
    assert_eq!(
        (state(&mut rig, 1), rig.outputs()),
        (State::OutOfService, vec![])
    );
}

#[test]
fn enabling_cancels_and_brings_it_in_slowly() {
    let mut rig = Rig::new(Method::RoundRobin, &[1, 1]);
    let slow_start = SlowStart {
        rate: 10,
        unit: RampUnit::PerSecond,
        interval: Duration::ZERO,
    };
    let settings = VserverSettings {
        slow_start,
        ..vserver(Method::RoundRobin)
    };
    rig.apply(Change::SetVserver(V, settings));
    rig.picks(2);
    rig.disable(1, Some(60_000), true);
    rig.outputs();
    rig.jump_to(1_000);
    rig.enable(1, true);
    assert_eq!(rig.outputs(), [is(S, State::Up, 1_000)]);
    let ramp = rig.vserver().bindings[0].ramp.unwrap();
    assert_eq!((ramp.since, ramp.limit), (at(1_000), 10));
    rig.run_to(100_000);
    assert_eq!(rig.outputs(), [], "no deadline is left");
}

#[test]
fn other_settings_leave_it_on_its_way() {
    let mut rig = Rig::new(Method::RoundRobin, &[1]);
    rig.pick();
    rig.disable(1, Some(60_000), false);
    let before = rig.service(1);
    rig.set(1, |settings| {
        settings.enabled = false;
        settings.max_client = Some(1);
    });
    assert_eq!(rig.service(1), before);
    rig.unbind(1);
    rig.apply(Change::RemoveService(S));
    rig.outputs();
    rig.run_to(100_000);
    assert_eq!(rig.outputs(), [], "its deadline goes with it");
}

/// A TCP virtual server with services 1 and 2 with a flow each, and these wishes to flush.
fn flushing(of_vserver: bool, of_services: bool, count: u32) -> Rig {
    let mut rig = Rig::empty();
    rig.apply(Change::AddVserver(
        V,
        VserverSettings {
            flush_on_down: of_vserver,
            ..vserver(Method::RoundRobin)
        },
    ));
    for number in 1..=count {
        let settings = ServiceSettings {
            flush_on_down: of_services,
            ..service()
        };
        rig.apply(Change::AddService(ServiceId(number), settings));
        rig.bind(number, 1);
        rig.pick();
    }
    rig.outputs();
    rig
}

#[test]
fn flows_are_spared_until_the_deadline_and_flushed_then_as_each_says() {
    let down = Output::VserverState(V, State::Down, at(0));
    for (of_vserver, of_service, expected) in [
        (false, false, vec![]),
        (false, true, vec![close(None, Some(S))]),
        // The virtual server went DOWN when the service began to go.
        (true, false, vec![close(Some(V), Some(S))]),
        (
            true,
            true,
            vec![close(None, Some(S)), close(Some(V), Some(S))],
        ),
    ] {
        let mut rig = flushing(of_vserver, of_service, 1);
        rig.disable(1, Some(100), false);
        assert_eq!(rig.outputs(), [is(S, State::GoingOutOfService, 0), down]);
        rig.run_to(100);
        let outputs = rig.outputs();
        assert_eq!(outputs[0], is(S, State::OutOfService, 100));
        assert_eq!(outputs[1..], expected, "{of_vserver} {of_service}");
    }
}

#[test]
fn virtual_server_that_stays_up_flushes_nothing() {
    let mut rig = flushing(true, false, 2);
    rig.disable(1, Some(100), false);
    rig.run_to(100);
    let expected = [
        is(S, State::GoingOutOfService, 0),
        is(S, State::OutOfService, 100),
    ];
    assert_eq!(rig.outputs(), expected);
}

#[test]
fn virtual_server_that_goes_down_spares_those_on_their_way_alone() {
    let mut rig = flushing(true, false, 2);
    rig.disable(1, None, true);
    rig.disable(2, None, false);
    let expected = [
        is(S, State::GoingOutOfService, 0),
        is(ServiceId(2), State::OutOfService, 0),
        Output::VserverState(V, State::Down, at(0)),
        close(Some(V), Some(ServiceId(2))),
    ];
    assert_eq!(rig.outputs(), expected);
}

#[test]
fn disabled_virtual_server_ends_flows_of_services_on_their_way_too() {
    let mut rig = flushing(true, false, 2);
    rig.disable(1, None, true);
    rig.outputs();
    let settings = VserverSettings {
        enabled: false,
        flush_on_down: true,
        ..vserver(Method::RoundRobin)
    };
    rig.apply(Change::SetVserver(V, settings));
    let expected = [
        Output::VserverState(V, State::OutOfService, at(0)),
        close(Some(V), None),
    ];
    assert_eq!(rig.outputs(), expected);
}

/// A UDP service and virtual server, and a second service if there is to be one.
fn datagrams(has_other: bool, persistence: Option<Persistence>) -> Rig {
    let mut rig = Rig::empty();
    let settings = VserverSettings {
        protocol: Protocol::Udp,
        persistence,
        ..vserver(Method::RoundRobin)
    };
    rig.apply(Change::AddVserver(V, settings));
    for number in 1..=1 + u32::from(has_other) {
        let settings = ServiceSettings {
            protocol: Protocol::Udp,
            ..service()
        };
        rig.apply(Change::AddService(ServiceId(number), settings));
        rig.bind(number, 1);
    }
    rig.pick();
    rig.outputs();
    rig
}

fn moves() -> Output {
    Output::MoveFlows(CloseFlows {
        vserver: Some(V),
        dialled: None,
        service: Some(S),
    })
}

#[test]
fn udp_sessions_move_if_they_have_somewhere_to_go_and_do_not_stick() {
    let going = is(S, State::GoingOutOfService, 0);
    let down = Output::VserverState(V, State::Down, at(0));
    let with = |trofs| {
        Some(Persistence {
            trofs,
            ..sticky::by_source()
        })
    };
    for (has_other, persistence, expected) in [
        (true, None, vec![going, moves()]),
        (false, None, vec![going, down]),
        (true, with(true), vec![going]),
        (true, with(false), vec![going, moves()]),
    ] {
        let mut rig = datagrams(has_other, persistence);
        rig.disable(1, Some(100), false);
        assert_eq!(rig.outputs(), expected);
        rig.run_to(100);
        // A session has no other end than this.
        assert_eq!(
            rig.outputs(),
            [is(S, State::OutOfService, 100), close(None, Some(S))]
        );
    }
}

#[test]
fn udp_sessions_move_to_a_backup() {
    let mut rig = datagrams(false, None);
    let other = VserverId(2);
    let backup = VserverSettings {
        protocol: Protocol::Udp,
        ..vserver(Method::RoundRobin)
    };
    rig.apply(Change::AddVserver(other, backup.clone()));
    let settings = ServiceSettings {
        protocol: Protocol::Udp,
        ..service()
    };
    rig.apply(Change::AddService(ServiceId(2), settings));
    rig.apply(Change::Bind(bind(other, 2, 1)));
    let backup = VserverSettings {
        backup: Backup {
            vserver: Some(other),
            ..Backup::default()
        },
        ..backup
    };
    rig.apply(Change::SetVserver(V, backup));
    rig.outputs();
    rig.disable(1, None, true);
    assert_eq!(rig.outputs().last(), Some(&moves()));
}

#[test]
fn virtual_server_does_not_count_it_as_up() {
    let mut rig = Rig::new(Method::RoundRobin, &[1, 1, 2]);
    let settings = VserverSettings {
        health_threshold: Percent::new(50).unwrap(),
        ..vserver(Method::RoundRobin)
    };
    rig.apply(Change::SetVserver(V, settings));
    rig.picks(3);
    rig.disable(1, Some(60_000), false);
    rig.disable(2, Some(60_000), false);
    assert_eq!(rig.vserver().state, State::Up);
    rig.disable(3, Some(60_000), false);
    assert_eq!(rig.vserver().state, State::Down);
    assert_eq!(rig.try_pick(&[]), Err(Refusal::Down));
    rig.enable(1, true);
    assert_eq!(rig.vserver().state, State::Down, "a quarter of the weight");
    rig.enable(3, true);
    assert_eq!(rig.vserver().state, State::Up);
}

#[test]
fn shows_how_fast_its_flows_end() {
    let mut rig = Rig::new(Method::RoundRobin, &[1]);
    rig.picks(10);
    rig.disable(1, Some(600_000), true);
    assert_eq!(rig.service(1).drain.unwrap().last_flow, None);
    rig.jump_to(4_000);
    rig.close(1, CloseReason::Finished);
    rig.close(1, CloseReason::Finished);
    // 2 in 4 s, 8 are left.
    assert_eq!(rig.service(1).drain.unwrap().last_flow, Some(at(20_000)));
    let leave = Leave::AT_ONCE;
    rig.apply(Change::DisableService(S, leave));
    assert_eq!(rig.service(1).drain, None);
}

#[test]
fn backup_takes_newcomers_while_the_primary_goes_out_of_service() {
    let mut rig = Rig::new(Method::RoundRobin, &[1]);
    let other = VserverId(2);
    rig.apply(Change::AddVserver(other, vserver(Method::RoundRobin)));
    rig.add_service(2);
    rig.apply(Change::Bind(bind(other, 2, 1)));
    let settings = VserverSettings {
        backup: Backup {
            vserver: Some(other),
            ..Backup::default()
        },
        ..vserver(Method::RoundRobin)
    };
    rig.apply(Change::SetVserver(V, settings));
    rig.pick();
    rig.disable(1, None, true);
    let chosen = rig.engine.select(V, &flow(), &[], rig.now).unwrap();
    assert_eq!(chosen.reservation.service(), ServiceId(2));
    let said = rig.engine.explain(V, &Client::default(), rig.now).unwrap();
    assert!(matches!(
        said.outcome,
        Outcome::Service {
            service: ServiceId(2),
            ..
        }
    ));
}
