//! Flows as a data plane would tell of them, named and filtered by typed commands.

use sluice_balance::{Diversion, Grounds, Method};
use sluice_command::{CONNECTION_STATES, parse};
use sluice_config::plan_line;

use super::*;

fn config() -> Config {
    let mut config = Config::new();
    for line in [
        "add service s1 10.0.0.1 TCP 8001",
        "add service s2 10.0.0.2 UDP 8002",
        "add lb vserver v1 TCP 10.0.0.10 80",
        "add lb vserver v2 UDP 10.0.0.10 53",
        "add lb vserver v3 TCP",
    ] {
        let plan = plan_line(&config, line).unwrap().unwrap();
        config.commit(plan);
    }
    config
}

/// A connection of v1 that v3, its backup, serves by s1.
fn connection(config: &Config, port: u16) -> FlowStatus {
    FlowStatus {
        protocol: Protocol::Tcp,
        client: SocketAddr::new("::ffff:192.0.2.1".parse().unwrap(), port),
        dialled_at: "10.0.0.10:80".parse().unwrap(),
        dialled: config.vserver("v1").unwrap().id(),
        service: Some(ChosenService {
            service: config.service("s1").unwrap().id(),
            address: "10.0.0.1:8001".parse().unwrap(),
            vserver: config.vserver("v3").unwrap().id(),
            diversion: Some(Diversion::Down),
            method: Method::LeastBandwidth,
            grounds: Some(Grounds::Least),
        }),
        state: FlowState::Established,
        age: Duration::from_millis(9_500),
        idle: Duration::from_millis(4_999),
        bytes: [3, 4],
    }
}

/// A session of v2 whose service has been removed.
fn session(config: &Config) -> FlowStatus {
    FlowStatus {
        protocol: Protocol::Udp,
        client: "192.0.2.1:1".parse().unwrap(),
        dialled_at: "10.0.0.10:53".parse().unwrap(),
        dialled: config.vserver("v2").unwrap().id(),
        service: Some(ChosenService {
            service: ServiceId(99),
            vserver: config.vserver("v2").unwrap().id(),
            diversion: None,
            method: Method::RoundRobin,
            grounds: None,
            ..connection(config, 1).service.unwrap()
        }),
        state: FlowState::Session,
        ..connection(config, 1)
    }
}

/// A connection without a service yet.
fn new(config: &Config) -> FlowStatus {
    FlowStatus {
        service: None,
        state: FlowState::AwaitsClient,
        ..connection(config, 5)
    }
}

fn listing(filter: &str, most: usize) -> Result<Listing, Fault> {
    let config = config();
    let flows = [session(&config), connection(&config, 7), new(&config)];
    let line = format!("show connectiontable {filter}");
    let command = parse(&line).unwrap().unwrap();
    // One part of all and an empty one behind it.
    let mut parts = vec![
        (Vec::new(), None),
        (flows.to_vec(), Some(FlowCursor::default())),
    ];
    show(&config, &command, most, |_| {
        let (rows, next) = parts.pop().unwrap();
        FlowPage { rows, next }
    })
}

fn rows(filter: &str) -> Vec<Connection> {
    let rows = listing(filter, MOST_SHOWN).unwrap().rows.into_iter();
    let row = |row| match row {
        Row::Connection(row) => row,
        other => panic!("{other:?}"),
    };
    rows.map(row).collect()
}

fn ports(filter: &str) -> Vec<u64> {
    rows(filter).iter().map(|row| row.source_port).collect()
}

#[test]
fn connections_come_before_sessions_with_the_names_of_what_is_configured() {
    let [first, second, third] = &rows("")[..] else {
        panic!()
    };
    assert_eq!(first.service, None);
    let expected = Connection {
        source: "192.0.2.1".to_owned(),
        source_port: 7,
        destination: "10.0.0.10".to_owned(),
        destination_port: 80,
        protocol: "TCP".to_owned(),
        service_type: Some("TCP".to_owned()),
        state: "ESTABLISHED".to_owned(),
        vserver: Some("v1".to_owned()),
        service: Some(ConnectionService {
            name: Some("s1".to_owned()),
            address: "10.0.0.1".to_owned(),
            port: 8001,
            vserver: Some("v3".to_owned()),
            diversion: Some("DOWN".to_owned()),
            method: "LEASTBANDWIDTH".to_owned(),
            rule: "the least value for its weight".to_owned(),
        }),
        age_ms: 9_500,
        idle_ms: 4_999,
        request_bytes: 3,
        response_bytes: 4,
    };
    assert_eq!(*second, expected);
    let chosen = third.service.as_ref().unwrap();
    assert_eq!(
        (chosen.name.as_ref(), chosen.rule.as_str()),
        (None, "persistence")
    );
    assert_eq!(
        (third.protocol.as_str(), third.state.as_str()),
        ("UDP", "NOT_APPLICABLE")
    );
}

#[test]
fn filter_asks_about_what_the_row_shows() {
    for (filter, expected) in [
        ("CONNECTION.SRCIP.EQ(192.0.2.1)", &[5, 7, 1][..]),
        ("CONNECTION.SRCPORT.EQ(7)", &[7]),
        ("CONNECTION.DSTPORT.EQ(53)", &[1]),
        ("CONNECTION.IDLETIME.EQ(4)", &[5, 7, 1]),
        ("CONNECTION.SERVICE_TYPE.EQ(UDP)", &[1]),
        ("CONNECTION.TCPSTATE.EQ(ESTABLISHED)", &[5, 7]),
        ("CONNECTION.SVCNAME.EQ(s1)", &[7]),
        ("CONNECTION.LB_VSERVER.NAME.EQ(v1)", &[5, 7]),
        ("CONNECTION.LB_VSERVER.NAME.EQ(v3)", &[7]),
        ("CONNECTION.LB_VSERVER.NAME.EQ(v4)", &[]),
    ] {
        assert_eq!(ports(&format!("\"{filter}\"")), expected, "{filter}");
    }
    assert_eq!(listing("\"CONNECTION.X.EQ(1)\"", 9).unwrap_err().code, 1097);
}

#[test]
fn what_does_not_fit_is_counted() {
    let cut = listing("", 2).unwrap();
    assert_eq!(cut.rows.len(), 2);
    let warning = "only 2 of 3 connections are shown";
    assert_eq!(cut.warning.as_deref(), Some(warning));
    assert_eq!(listing("", 3).unwrap().warning, None);
}

#[test]
fn every_state_is_one_that_a_filter_knows() {
    for each in [
        FlowState::AwaitsClient,
        FlowState::Connecting,
        FlowState::Established,
        FlowState::ClientFinished,
        FlowState::ServiceFinished,
        FlowState::Closing,
        FlowState::Session,
    ] {
        assert!(CONNECTION_STATES.contains(&state(each)), "{each:?}");
    }
}
