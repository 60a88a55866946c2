//! Golden texts of persistence: its lines, its sessions, groups, and what holds for all.

use super::*;
use sluice_protocol::{GroupMember, GroupRow, ParameterRow, PersistenceStat, PersistentSession};

#[test]
fn persistence_is_one_line_with_its_mask_and_timeout() {
    let line = |pairs: &[(&str, &str)]| {
        let mut row = vserver(None);
        row.settings.extend(settings(pairs));
        let text = show(&[Row::Vserver(row)], Form::Single);
        let line = text.lines().find(|line| line.contains("Persistence: "));
        line.unwrap().to_owned()
    };
    assert_eq!(
        line(&[("persistenceType", "SOURCEIP"), ("timeout", "15")]),
        "\tPersistence: SOURCEIP\tPersistence Mask: 255.255.255.255\tPersistence Timeout: 15 min"
    );
    assert_eq!(
        line(&[("persistenceType", "DESTIP"), ("v6persistmasklen", "64")]),
        "\tPersistence: DESTIP\tPersistence Mask: 255.255.255.255\tPersistence v6MaskLength: 64\t\
         Persistence Timeout: 2 min"
    );
}

#[test]
fn statistics_count_the_clients_that_stay_with_a_service() {
    let Row::VserverStat(mut stat) = vserver_stat(None) else {
        panic!("it is one");
    };
    stat.persistence = Some(PersistenceStat {
        sessions: 150_000,
        sessions_max: 150_000,
        table_full: 7,
    });
    let text = show(&[Row::VserverStat(stat)], Form::Single);
    let lines = "Current Persistence Sessions                      --               150000
Hits without Session, Table Full                  --                    7
Spill Over Threshold                              --                    0
";
    assert!(text.contains(lines), "{text}");
}

#[test]
fn parameters_show_the_options_there_are_and_the_persistence_table() {
    let row = Row::Parameter(ParameterRow {
        settings: settings(&[
            ("httpOnlyCookieFlag", "DISABLED"),
            ("usePortForHashLb", "NO"),
            ("lbHashAlgorithm", "JARH"),
            ("dbsttl", "7"),
            ("cookiePassphrase", "secret"),
            ("tcpInline", "ENABLED"),
            ("tcpInlineRetries", "9"),
            ("tcpInlineShare", "30"),
            ("tcpInlineSample", "100"),
            ("tcpInlineResptimeout", "5"),
            ("tcpInlineDownTime", "10"),
            ("tcpInlineMaxDownTime", "300"),
            ("connectTries", "3"),
        ]),
        persistence: PersistenceStat {
            sessions: 2,
            sessions_max: 150_000,
            table_full: 1,
        },
    });
    let expected = "Global LB parameters:
\tPersistence Cookie HttpOnly Flag: DISABLED
\tUse port for hash LB: NO
\tLB Hash Algorithm: JARH
\tTTL for Domain Based Server: 7 secs
\tTCP-INLINE: ENABLED
\tTCP-INLINE Retries: 9\tShare: 30 % of the last 100
\tTCP-INLINE Response Timeout: 5 secs
\tTCP-INLINE Down Time: 10 secs\tMaximum: 300 secs
\tConnect Tries: 3
\tSessions Threshold: 150000
\tCurrent Persistence Sessions: 2
\tHits without Session, Table Full: 1
";
    assert_eq!(show(&[row], Form::List), expected);
}

#[test]
fn sessions_are_a_table_as_wide_as_its_contents() {
    let first = PersistentSession {
        persistence_type: "SOURCEIP".to_owned(),
        source: Some("192.0.2.1".to_owned()),
        destination: None,
        vserver: "v1".to_owned(),
        service: "svc_1".to_owned(),
        timeout_s: 7,
        parameter: "192.0.2.1".to_owned(),
    };
    let second = PersistentSession {
        persistence_type: "SRCIPDESTIP".to_owned(),
        source: Some("2001:db8::1".to_owned()),
        destination: Some("2001:db8::a".to_owned()),
        vserver: "shop 443".to_owned(),
        timeout_s: 86_400,
        parameter: "2001:db8::1,2001:db8::a".to_owned(),
        ..first.clone()
    };
    let expected = "\
TYPE         SRC-IP       DST-IP       VSNAME    SERVICE  TIMEOUT  PERSISTENCE-PARAMETER
SOURCEIP     192.0.2.1    -            v1        svc_1    7        192.0.2.1
SRCIPDESTIP  2001:db8::1  2001:db8::a  shop 443  svc_1    86400    2001:db8::1,2001:db8::a
";
    let rows = [first, second].map(Row::PersistentSession);
    assert_eq!(show(&rows, Form::List), expected);
    assert_eq!(show(&rows, Form::Single), expected);
}

#[test]
fn a_group_is_its_persistence_and_its_virtual_servers() {
    let mut row = GroupRow {
        name: "g1".to_owned(),
        settings: settings(&[
            ("persistenceType", "SOURCEIP"),
            ("persistMask", "255.255.255.0"),
            ("timeout", "5"),
        ]),
        members_total: 1,
        members: None,
    };
    let body = "\tPersistence: SOURCEIP\tPersistence Mask: 255.255.255.0\tPersistence Timeout: \
                5 min\n\tNo. of Bound Virtual Servers :  1\n";
    assert_eq!(
        show(&[Row::Group(row.clone())], Form::List),
        format!("1)\tg1\n{body}")
    );
    row.members = Some(vec![GroupMember {
        name: "v1".to_owned(),
        address: "10.0.0.1".to_owned(),
        port: "80".to_owned(),
        service_type: "TCP".to_owned(),
        state: "DOWN".to_owned(),
    }]);
    assert_eq!(
        show(&[Row::Group(row)], Form::Single),
        format!("\tg1\n{body}1) v1 (10.0.0.1: 80) - TCP State: DOWN\n")
    );
    let member = VserverRow {
        group: Some("g1".to_owned()),
        ..vserver(None)
    };
    let text = show(&[Row::Vserver(member)], Form::Single);
    assert!(
        text.contains("\tPersistence: NONE\n\tPersistence Group: g1\n"),
        "{text}"
    );
}
