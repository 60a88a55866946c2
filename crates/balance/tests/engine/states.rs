//! States, and what is asked of the data plane when they or the objects change.

use std::net::{Ipv4Addr, SocketAddr};

use sluice_balance::{
    Change, CloseFlows, Method, Output, Protocol, ServiceId, ServiceSettings, State, VserverId,
    VserverSettings,
};

use crate::rig::{Rig, V, at, bind, service, vserver};

const S: ServiceId = ServiceId(1);

fn close(vserver: Option<VserverId>, service: Option<ServiceId>) -> Output {
    Output::CloseFlows(CloseFlows {
        vserver,
        dialled: None,
        service,
    })
}

fn close_dialled(vserver: VserverId) -> Output {
    Output::CloseFlows(CloseFlows {
        vserver: None,
        dialled: Some(vserver),
        service: None,
    })
}

fn address(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

fn open(protocol: Protocol, port: u16) -> Output {
    Output::OpenListener {
        vserver: V,
        protocol,
        address: address(port),
    }
}

fn listening(protocol: Protocol, port: u16) -> VserverSettings {
    VserverSettings {
        protocol,
        listen: Some(address(port)),
        ..vserver(Method::RoundRobin)
    }
}

/// A virtual server with one service, both of `protocol` and with the same wish to flush.
fn pair(protocol: Protocol, flush_on_down: bool) -> (Rig, VserverSettings, ServiceSettings) {
    let front = VserverSettings {
        flush_on_down,
        ..listening(protocol, 90)
    };
    let behind = ServiceSettings {
        protocol,
        flush_on_down,
        ..service()
    };
    let mut rig = Rig::empty();
    rig.apply(Change::AddVserver(V, front.clone()));
    rig.apply(Change::AddService(S, behind.clone()));
    rig.apply(Change::Bind(bind(V, 1, 1)));
    rig.outputs();
    rig.jump_to(500);
    (rig, front, behind)
}

fn disable_service(rig: &mut Rig, settings: &ServiceSettings) -> Vec<Output> {
    let enabled = false;
    rig.apply(Change::SetService(
        S,
        ServiceSettings {
            enabled,
            ..settings.clone()
        },
    ));
    rig.outputs()
}

fn disable_vserver(rig: &mut Rig, settings: &VserverSettings) -> Vec<Output> {
    let enabled = false;
    rig.apply(Change::SetVserver(
        V,
        VserverSettings {
            enabled,
            ..settings.clone()
        },
    ));
    rig.outputs()
}

#[test]
fn vserver_is_up_while_one_of_its_services_is() {
    let mut rig = Rig::empty();
    rig.apply(Change::AddVserver(V, vserver(Method::RoundRobin)));
    assert_eq!(rig.vserver().state, State::Down);
    rig.add_service(1);
    rig.add_service(2);
    assert_eq!(rig.outputs(), []);
    rig.jump_to(100);
    rig.bind(1, 1);
    rig.bind(2, 1);
    assert_eq!(rig.outputs(), [Output::VserverState(V, State::Up, at(100))]);
    rig.jump_to(200);
    rig.enable(1, false);
    let first = Output::ServiceState(S, State::OutOfService, at(200));
    assert_eq!(rig.outputs(), [first]);
    rig.jump_to(300);
    rig.enable(2, false);
    let second = Output::ServiceState(ServiceId(2), State::OutOfService, at(300));
    let down = Output::VserverState(V, State::Down, at(300));
    assert_eq!(rig.outputs(), [second, down]);
    let shown = rig.vserver();
    assert_eq!((shown.state, shown.since), (State::Down, at(300)));
    assert_eq!(
        (rig.service(1).state, rig.service(1).since),
        (State::OutOfService, at(200))
    );
    rig.jump_to(400);
    rig.enable(1, true);
    let up = Output::ServiceState(S, State::Up, at(400));
    assert_eq!(
        rig.outputs(),
        [up, Output::VserverState(V, State::Up, at(400))]
    );
}

#[test]
fn disabled_service_is_never_chosen_and_rejoins_when_enabled() {
    let mut rig = Rig::new(Method::LeastConnection, &[1, 1]);
    rig.picks(6);
    rig.enable(2, false);
    assert_eq!(rig.picks(3), [1, 1, 1]);
    assert_eq!(rig.service(2).active, 3);
    rig.enable(2, true);
    assert_eq!(rig.picks(4), [2, 2, 2, 1]);
}

#[test]
fn disabled_tcp_service_ends_its_flows_only_when_it_flushes() {
    let state = Output::ServiceState(S, State::OutOfService, at(500));
    let down = Output::VserverState(V, State::Down, at(500));
    let (mut rig, _, settings) = pair(Protocol::Tcp, false);
    assert_eq!(disable_service(&mut rig, &settings), [state, down]);

    let (mut rig, _, settings) = pair(Protocol::Tcp, true);
    let expected = [state, close(None, Some(S)), down, close(Some(V), None)];
    assert_eq!(disable_service(&mut rig, &settings), expected);
}

#[test]
fn disabled_udp_service_ends_its_flows_whatever_its_settings() {
    let (mut rig, _, settings) = pair(Protocol::Udp, false);
    let state = Output::ServiceState(S, State::OutOfService, at(500));
    let down = Output::VserverState(V, State::Down, at(500));
    let expected = [state, close(None, Some(S)), down];
    assert_eq!(disable_service(&mut rig, &settings), expected);
}

#[test]
fn disabled_vserver_keeps_its_listener_and_ends_flows_as_told() {
    let state = Output::VserverState(V, State::OutOfService, at(500));
    let (mut rig, settings, _) = pair(Protocol::Tcp, false);
    assert_eq!(disable_vserver(&mut rig, &settings), [state]);

    for (protocol, flush) in [(Protocol::Tcp, true), (Protocol::Udp, false)] {
        let (mut rig, settings, _) = pair(protocol, flush);
        let expected = [state, close(Some(V), None)];
        assert_eq!(
            disable_vserver(&mut rig, &settings),
            expected,
            "{protocol:?}"
        );
        rig.jump_to(600);
        rig.apply(Change::SetVserver(V, settings));
        assert_eq!(rig.outputs(), [Output::VserverState(V, State::Up, at(600))]);
    }
}

#[test]
fn disabling_a_vserver_that_is_down_still_ends_what_is_left() {
    let (mut rig, front, behind) = pair(Protocol::Udp, false);
    disable_service(&mut rig, &behind);
    let state = Output::VserverState(V, State::OutOfService, at(500));
    assert_eq!(
        disable_vserver(&mut rig, &front),
        [state, close(Some(V), None)]
    );
}

#[test]
fn settings_that_change_no_state_make_no_output() {
    let (mut rig, front, behind) = pair(Protocol::Tcp, true);
    let limited = ServiceSettings {
        max_client: Some(1),
        ..behind
    };
    rig.apply(Change::SetService(S, limited));
    let other = VserverSettings {
        method: Method::LeastBandwidth,
        ..front
    };
    rig.apply(Change::SetVserver(V, other));
    assert_eq!(rig.outputs(), []);
    assert_eq!(rig.vserver().since, at(0));
}

#[test]
fn listener_follows_the_address() {
    for protocol in [Protocol::Tcp, Protocol::Udp] {
        let mut rig = Rig::empty();
        rig.apply(Change::AddVserver(V, listening(protocol, 90)));
        assert_eq!(rig.outputs(), [open(protocol, 90)]);
        rig.apply(Change::SetVserver(V, listening(protocol, 91)));
        let mut expected = vec![Output::CloseListener(V), open(protocol, 91)];
        if protocol == Protocol::Udp {
            expected.insert(1, close_dialled(V));
        }
        assert_eq!(rig.outputs(), expected);
        rig.apply(Change::RemoveVserver(V));
        assert_eq!(
            rig.outputs(),
            [Output::CloseListener(V), close(Some(V), None)]
        );
    }
}

#[test]
fn disabled_vserver_listens_from_the_start() {
    let mut rig = Rig::empty();
    let settings = VserverSettings {
        enabled: false,
        ..listening(Protocol::Tcp, 90)
    };
    rig.apply(Change::AddVserver(V, settings));
    assert_eq!(rig.vserver().state, State::OutOfService);
    assert_eq!(rig.outputs(), [open(Protocol::Tcp, 90)]);
}

#[test]
fn vserver_without_an_address_opens_and_closes_no_listener() {
    let mut rig = Rig::empty();
    rig.apply(Change::AddVserver(V, vserver(Method::RoundRobin)));
    assert_eq!(rig.outputs(), []);
    rig.apply(Change::SetVserver(V, listening(Protocol::Tcp, 90)));
    assert_eq!(rig.outputs(), [open(Protocol::Tcp, 90)]);
    rig.apply(Change::SetVserver(V, vserver(Method::RoundRobin)));
    assert_eq!(rig.outputs(), [Output::CloseListener(V)]);
    rig.apply(Change::RemoveVserver(V));
    assert_eq!(rig.outputs(), [close(Some(V), None)]);
}

#[test]
fn nothing_goes_on_using_what_is_removed_or_unbound() {
    let (mut rig, _, _) = pair(Protocol::Tcp, false);
    rig.unbind(1);
    let down = Output::VserverState(V, State::Down, at(500));
    assert_eq!(rig.outputs(), [close(Some(V), Some(S)), down]);
    rig.apply(Change::RemoveService(S));
    assert_eq!(rig.outputs(), [close(None, Some(S))]);
    assert!(rig.engine.service_status(S, at(500)).is_none());
}

#[test]
fn udp_flows_leave_the_former_address_of_a_service() {
    for (protocol, expected) in [
        (Protocol::Tcp, vec![]),
        (Protocol::Udp, vec![close(None, Some(S))]),
    ] {
        let (mut rig, _, settings) = pair(protocol, false);
        let moved = ServiceSettings {
            address: address(81),
            ..settings
        };
        rig.apply(Change::SetService(S, moved));
        assert_eq!(rig.outputs(), expected, "{protocol:?}");
    }
}

#[test]
fn has_output_says_whether_poll_output_returns_something() {
    let mut rig = Rig::empty();
    assert!(!rig.engine.has_output());
    rig.apply(Change::AddVserver(V, listening(Protocol::Tcp, 90)));
    assert!(rig.engine.has_output());
    rig.outputs();
    assert!(!rig.engine.has_output());
}
