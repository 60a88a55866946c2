//! The connection table as a person reads it.

use super::{Form, Row, show};
use sluice_protocol::{Connection, ConnectionService};

fn connection(port: u64) -> Connection {
    Connection {
        source: "192.0.2.1".to_owned(),
        source_port: port,
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
            vserver: Some("v2".to_owned()),
            diversion: None,
            method: "ROUNDROBIN".to_owned(),
            rule: "its turn in the round".to_owned(),
        }),
        age_ms: 61_999,
        idle_ms: 999,
        request_bytes: 5,
        response_bytes: 1_234_567,
    }
}

#[test]
fn connections_are_a_table_that_says_why_each_has_its_service() {
    let by = |port, rule: &str, diversion: Option<&str>| {
        let mut row = connection(port);
        let service = row.service.as_mut().unwrap();
        service.rule = rule.to_owned();
        service.diversion = diversion.map(str::to_owned);
        row
    };
    let mut removed = connection(4);
    (removed.service_type, removed.vserver) = (None, None);
    removed.service.as_mut().unwrap().name = None;
    let new = Connection {
        service: None,
        ..connection(50_000)
    };
    let rows = [
        connection(1),
        by(2, "persistence", Some("DOWN")),
        by(3, "chance, by weight", Some("SPILLOVER")),
        removed,
        new,
    ];
    let expected = "\
SRCIP      SRCPORT  DSTIP     DSTPORT  SVCTYPE  IDLTIME  AGE  STATE        VSNAME  SVCNAME  SVCIP     SVCPORT  BYTES-IN  BYTES-OUT  REASON
192.0.2.1  1        10.0.0.9  80       HTTP     0        61   ESTABLISHED  v1      s1       10.0.0.1  8080     5         1234567    ROUNDROBIN: its turn in the round
192.0.2.1  2        10.0.0.9  80       HTTP     0        61   ESTABLISHED  v1      s1       10.0.0.1  8080     5         1234567    persistence (backup v2, primary down)
192.0.2.1  3        10.0.0.9  80       HTTP     0        61   ESTABLISHED  v1      s1       10.0.0.1  8080     5         1234567    ROUNDROBIN: chance, by weight (backup v2, spillover)
192.0.2.1  4        10.0.0.9  80       TCP      0        61   ESTABLISHED  -       -        10.0.0.1  8080     5         1234567    ROUNDROBIN: its turn in the round
192.0.2.1  50000    10.0.0.9  80       HTTP     0        61   ESTABLISHED  v1      -        -         -        5         1234567    no service yet
";
    assert_eq!(show(&rows.map(Row::Connection), Form::List), expected);
}
