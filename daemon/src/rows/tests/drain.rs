//! Rows of services that go out of service.

use sluice_balance::{CloseReason, Engine, FlowKey, Instant, Reservation, VserverId};
use sluice_protocol::{Drain, Row};

use super::{World, at_ms};
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
    };
    let snapshot = world.engine.snapshot(at_ms(5_000));
    let wall = std::time::UNIX_EPOCH;
    let rows = |line: &str| {
        let view = View::new(&world.config, &snapshot, at_ms(5_000), wall);
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
