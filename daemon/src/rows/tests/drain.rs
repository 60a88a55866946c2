//! Rows of services that go out of service.

use std::time::Duration;

use sluice_balance::{
    CloseReason, Engine, FlowKey, Instant, Method, Protocol, Reservation, ServiceId, VserverId,
};
use sluice_dataplane::{ChosenService, FlowPage, FlowState, FlowStatus};
use sluice_protocol::{Drain, DrainClient, Row};

use super::{World, at_ms};
use crate::drains;
use crate::rows::View;

/// Takes places on the first virtual server.
fn places(engine: &mut Engine, count: usize, now: Instant) -> Vec<Reservation> {
    let flow = FlowKey {
        src: ([192, 0, 2, 1], 40_000).into(),
        dst: ([127, 0, 0, 1], 9000).into(),
        token: None,
    };
    let take = |_| engine.select(VserverId(1), &flow, &[], now).unwrap();
    (0..count)
        .map(take)
        .map(|chosen| chosen.reservation)
        .collect()
}

fn named(address: &str, age_ms: u64, idle_ms: u64) -> DrainClient {
    DrainClient {
        address: address.to_owned(),
        age_ms,
        idle_ms,
    }
}

fn connection(service: ServiceId, port: u16, age_ms: u64, idle_ms: u64) -> FlowStatus {
    let dialled_at = ([127, 0, 0, 1], 9000).into();
    FlowStatus {
        protocol: Protocol::Tcp,
        client: ([192, 0, 2, 1], port).into(),
        dialled_at,
        dialled: VserverId(1),
        service: Some(ChosenService {
            service,
            address: dialled_at,
            vserver: VserverId(1),
            diversion: None,
            method: Method::RoundRobin,
            grounds: None,
        }),
        state: FlowState::Established,
        age: Duration::from_millis(age_ms),
        idle: Duration::from_millis(idle_ms),
        bytes: [0; 2],
    }
}

#[test]
fn show_says_what_a_service_waits_for_and_how_long_that_may_take() {
    let mut world = World::new();
    let mut places = places(&mut world.engine, 4, at_ms(1_000));
    world.run("disable service s2 60 -graceFul YES");
    let first = places.remove(0);
    world
        .engine
        .handle_close(first, CloseReason::Finished, at_ms(3_000));
    let expected = Drain {
        graceful: true,
        age_ms: 4_000,
        left_ms: Some(56_000),
        clients: 3,
        last_client_ms: Some(12_000),
        oldest: Some(named("192.0.2.1:1", 9_000, 10)),
        idlest: Some(named("192.0.2.1:2", 7_000, 6_000)),
    };
    let snapshot = world.engine.snapshot(at_ms(5_000));
    let wall = std::time::UNIX_EPOCH;
    let (s1, s2) = (ServiceId(1), ServiceId(2));
    let flows = [
        connection(s2, 3, 8_000, 5_000),
        connection(s2, 1, 9_000, 10),
        connection(s1, 4, 99_000, 99_000),
        connection(s2, 2, 7_000, 6_000),
    ];
    let page = |_| FlowPage {
        rows: flows.to_vec(),
        next: None,
    };
    let rows = |line: &str| {
        let view = View::new(&world.config, &snapshot, at_ms(5_000), wall);
        let view = view.with_notable(drains::notable(&snapshot, page));
        view.rows(&sluice_command::parse(line).unwrap().unwrap())
            .unwrap()
    };
    let Row::Service(service) = &rows("show service s2")[0] else {
        panic!("a service was asked for");
    };
    assert_eq!(service.state, "GOING OUT OF SERVICE");
    assert_eq!(service.drain.as_ref(), Some(&expected));
    let Row::Server(server) = &rows("show server h1")[0] else {
        panic!("a server was asked for");
    };
    let shown: Vec<_> = server
        .services
        .iter()
        .map(|one| one.drain.clone())
        .collect();
    assert_eq!(shown, [None, Some(expected)]);
    let Row::ServiceStat(stat) = &rows("stat service s2")[0] else {
        panic!("a service was asked for");
    };
    assert_eq!((stat.state.as_str(), stat.active), ("TROFS", 3));
}
