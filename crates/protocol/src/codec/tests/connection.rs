//! A row of the connection table.

use crate::{Connection, ConnectionService, Row};

pub(super) fn row() -> Row {
    Row::Connection(Connection {
        source: "192.0.2.1".to_owned(),
        source_port: 40_000,
        destination: "10.0.0.9".to_owned(),
        destination_port: 80,
        protocol: "TCP".to_owned(),
        service_type: Some("HTTP".to_owned()),
        state: "ESTABLISHED".to_owned(),
        vserver: Some("v1".to_owned()),
        service: Some(ConnectionService {
            name: Some("s1".to_owned()),
            address: "10.0.0.1".to_owned(),
            port: 8080,
            vserver: None,
            diversion: Some("DOWN".to_owned()),
            method: "ROUNDROBIN".to_owned(),
            rule: "persistence".to_owned(),
        }),
        age_ms: u64::MAX,
        idle_ms: 1,
        request_bytes: 2,
        response_bytes: 3,
    })
}
