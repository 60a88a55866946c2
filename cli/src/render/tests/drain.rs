//! Golden texts of services that go out of service.

use sluice_protocol::{Drain, DrainClient, Row, ServerRow, ServerService, ServiceRow};

use super::{Form, settings, show};

fn drain(graceful: bool, left_ms: Option<u64>, clients: u64, last_client_ms: Option<u64>) -> Drain {
    Drain {
        graceful,
        age_ms: 2_000,
        left_ms,
        clients,
        last_client_ms,
        oldest: None,
        idlest: None,
    }
}

/// With the clients that stand out.
fn named(drain: Drain) -> Drain {
    let client = |address: &str, age_ms, idle_ms| DrainClient {
        address: address.to_owned(),
        age_ms,
        idle_ms,
    };
    Drain {
        oldest: Some(client("192.0.2.1:1", 3_600_999, 0)),
        idlest: Some(client("[2001:db8::1]:2", 9_000, 8_999)),
        ..drain
    }
}

fn service(drain: Option<Drain>) -> Row {
    Row::Service(ServiceRow {
        name: "s1".to_owned(),
        server: "h1".to_owned(),
        address: "10.0.0.1".to_owned(),
        port: "80".to_owned(),
        service_type: "TCP".to_owned(),
        state: "GOING OUT OF SERVICE".to_owned(),
        state_change_unix_ms: 1_434_093_002_000,
        state_age_ms: 2_000,
        drain,
        tcp_inline: None,
        settings: settings(&[]),
    })
}

#[test]
fn state_says_what_the_service_waits_for_and_the_line_below_how_long_that_may_take() {
    for (drain, expected) in [
        (
            drain(true, None, 1, None),
            "\tState: GOING OUT OF SERVICE   Graceful (number of active clients: 1)\n\
             \tClients: 1 left, never gone at the present rate\n",
        ),
        (
            drain(true, Some(1_998_000), 1, Some(59_001)),
            "\tState: GOING OUT OF SERVICE (Graceful (number of active clients: 1), \
             Out Of Service in 1998 seconds)\n\
             \tClients: 1 left, gone in 60 seconds at the present rate\n",
        ),
        (
            drain(false, Some(1), 12, Some(0)),
            "\tState: GOING OUT OF SERVICE (Out Of Service in 1 seconds)\n\
             \tClients: 12 left, gone in 0 seconds at the present rate\n",
        ),
        (
            drain(false, Some(60_000), 0, None),
            "\tState: GOING OUT OF SERVICE (Out Of Service in 60 seconds)\n\
             \tClients: 0 left\n",
        ),
    ] {
        let text = show(&[service(Some(drain))], Form::Single);
        let expected = format!(
            "\ts1 (10.0.0.1:80) - TCP\n{expected}\tLast state change was at Fri Jun 12 07:10:02 \
             2015\n"
        );
        assert!(text.starts_with(&expected), "{text}");
    }
}

#[test]
fn without_a_drain_the_state_stands_alone() {
    // A monitor may say that a service goes out of service.
    let text = show(&[service(None)], Form::Single);
    assert!(
        text.contains("\tState: GOING OUT OF SERVICE\n\tLast"),
        "{text}"
    );
}

#[test]
fn server_shows_it_with_its_services() {
    let row = Row::Server(ServerRow {
        name: "h1".to_owned(),
        address: "10.0.0.1".to_owned(),
        state: "DISABLED".to_owned(),
        comment: None,
        services: vec![ServerService {
            name: "s1".to_owned(),
            address: "10.0.0.1".to_owned(),
            port: "80".to_owned(),
            service_type: "TCP".to_owned(),
            state: "GOING OUT OF SERVICE".to_owned(),
            drain: Some(named(drain(true, Some(60_000), 3, Some(10_000)))),
        }],
    });
    assert_eq!(
        show(&[row], Form::Single),
        "\tName:             h1      State:DISABLED\n\tIPAddress:   10.0.0.1\n\n\
         \t1)\ts1 (10.0.0.1:80) - TCP\n\
         \t\tState: GOING OUT OF SERVICE (Graceful (number of active clients: 3), Out Of Service in \
         60 seconds)\n\
         \t\tClients: 3 left, gone in 10 seconds at the present rate\n\
         \t\tOldest client: 192.0.2.1:1, 3600 seconds; idlest client: [2001:db8::1]:2, 8 seconds \
         without traffic\n"
    );
}
