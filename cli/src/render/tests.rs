//! Golden texts: tabs, blanks and labels exactly as in the reference.

mod chains;
mod connection;
mod drain;
mod explain;
mod options;
mod persistence;
mod service_groups;
mod statistics;
mod tcp_inline;

use super::*;
use sluice_protocol::{
    BoundService, BoundStat, ConfigStatus, ServerRow, ServerService, ServiceRow, SlowStart,
    StartupRoundRobin, VserverRow, VserverStat,
};
use std::collections::BTreeMap;

fn show(rows: &[Row], form: Form) -> String {
    text(rows, form, &TimeZone::UTC)
}

fn settings(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    let owned = pairs
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    owned.collect()
}

fn vserver(bound: Option<Vec<BoundService>>) -> VserverRow {
    VserverRow {
        name: "v1".to_owned(),
        address: "10.0.0.1".to_owned(),
        port: "80".to_owned(),
        service_type: "TCP".to_owned(),
        state: "UP".to_owned(),
        effective_state: "UP".to_owned(),
        held_down: false,
        spilling_over: false,
        active_order: None,
        state_change_unix_ms: 1_657_616_613_000,
        state_age_ms: 3_176_600,
        services_total: 2,
        services_active: 1,
        settings: settings(&[
            ("cltTimeout", "9000"),
            ("downStateFlush", "ENABLED"),
            ("comment", "text"),
            ("appflowLog", "ENABLED"),
            ("lbMethod", "LEASTBANDWIDTH"),
            ("persistenceType", "NONE"),
            ("timeout", "2"),
            ("persistMask", "255.255.255.255"),
            ("v6persistmasklen", "128"),
            ("skippersistency", "None"),
            ("trofsPersistence", "ENABLED"),
            ("newServiceRequest", "25"),
            ("newServiceRequestUnit", "PERCENT"),
            ("newServiceRequestIncrementInterval", "5"),
        ]),
        group: None,
        startup: None,
        bound,
        bound_groups: None,
    }
}

fn bound(name: &str, state: &str, weight: u64) -> BoundService {
    BoundService {
        name: name.to_owned(),
        address: "10.0.1.1".to_owned(),
        port: "80".to_owned(),
        service_type: "TCP".to_owned(),
        state: state.to_owned(),
        weight,
        order: None,
        standby: false,
        slow_start: None,
    }
}

const VSERVER_BODY: &str = "\tState: UP
\tLast state change was at Tue Jul 12 09:03:33 2022
\tTime since last state change: 0 days, 00:52:56.600
\tEffective State: UP
\tClient Idle Timeout: 9000 sec
\tDown state flush: ENABLED
\tComment: \"text\"
\tAppflow logging: ENABLED
\tNo. of Bound Services :  2 (Total) \t 1 (Active)
\tConfigured Method: LEASTBANDWIDTH\tBackupMethod: ROUNDROBIN
\tMode: IP
\tPersistence: NONE
\tSkip Persistency: None
\tNew Service Startup Request Rate: 25 PERCENT, Increment Interval: 5
\tTROFS Persistence honored: ENABLED
";

#[test]
fn no_rows_are_no_text() {
    assert_eq!(show(&[], Form::List), "");
}

#[test]
fn a_list_of_virtual_servers_is_numbered() {
    let rows = [Row::Vserver(vserver(None)), Row::Vserver(vserver(None))];
    let expected = format!(
        "1)\tv1 (10.0.0.1:80) - TCP\tType: ADDRESS \n{VSERVER_BODY}\
         2)\tv1 (10.0.0.1:80) - TCP\tType: ADDRESS \n{VSERVER_BODY}"
    );
    assert_eq!(show(&rows, Form::List), expected);
}

#[test]
fn one_virtual_server_lists_its_services() {
    let services = vec![bound("svc1", "UP", 1), bound("svc2", "DOWN", 3)];
    let expected = format!(
        "\tv1 (10.0.0.1:80) - TCP\tType: ADDRESS \n{VSERVER_BODY}\
         1) svc1 (10.0.1.1: 80) - TCP State: UP\tWeight: 1\n\
         2) svc2 (10.0.1.1: 80) - TCP State: DOWN\tWeight: 3\n"
    );
    let row = Row::Vserver(vserver(Some(services)));
    assert_eq!(show(&[row], Form::Single), expected);
}

#[test]
fn a_method_is_shown_with_its_backup_and_what_it_hashes() {
    let lines = |method: &str| {
        let mut row = vserver(None);
        row.settings.extend(settings(&[
            ("lbMethod", method),
            ("backupLBMethod", "LEASTPACKETS"),
            ("netmask", "255.255.255.0"),
            ("v6netmasklen", "64"),
            ("dataLength", "8"),
            ("dataOffset", "0"),
        ]));
        let text = show(&[Row::Vserver(row)], Form::Single);
        let from = text.find("\tConfigured").unwrap();
        let to = text.find("\tMode").unwrap();
        text[from..to].to_owned()
    };
    assert_eq!(
        lines("SOURCEIPHASH"),
        "\tConfigured Method: SOURCEIPHASH\tBackupMethod: LEASTPACKETS\n\
         \tNetmask: 255.255.255.0\tv6 Netmask Length: 64\n"
    );
    assert_eq!(
        lines("SRCIPDESTIPHASH"),
        "\tConfigured Method: SRCIPDESTIPHASH\tBackupMethod: LEASTPACKETS\n"
    );
    assert_eq!(
        lines("TOKEN"),
        "\tConfigured Method: TOKEN\tBackupMethod: LEASTPACKETS\n\
         \tData Length: 8\tData Offset: 0\n"
    );
    assert_eq!(
        lines("ROUNDROBIN"),
        "\tConfigured Method: ROUNDROBIN\tBackupMethod: NONE\n"
    );
}

#[test]
fn a_start_up_round_robin_is_shown_as_the_method_in_force() {
    let mut row = vserver(None);
    row.startup = Some(StartupRoundRobin {
        reason: "Bound service's state changed to UP".to_owned(),
        requests_left: 12,
    });
    let text = show(&[Row::Vserver(row)], Form::Single);
    let lines = "\tConfigured Method: LEASTBANDWIDTH\n\
                 \tCurrent Method: Round Robin, Reason: Bound service's state changed to UP\t\
                 BackupMethod: ROUNDROBIN\n\
                 \tRequests left of Round Robin: 12\n\
                 \tMode: IP\n";
    assert!(text.contains(lines), "{text}");
}

#[test]
fn a_virtual_server_without_an_address_says_so_and_prints_no_absent_option() {
    let row = VserverRow {
        address: "0.0.0.0".to_owned(),
        port: "0".to_owned(),
        settings: settings(&[
            ("lbMethod", "ROUNDROBIN"),
            ("newServiceRequest", "0 PER_SECOND"),
        ]),
        ..vserver(None)
    };
    let expected = "\tv1 (0.0.0.0:0) - TCP\tType: ADDRESS 
\tState: UP
\tLast state change was at Tue Jul 12 09:03:33 2022
\tTime since last state change: 0 days, 00:52:56.600
\tEffective State: UP  ARP:DISABLED
\tNo. of Bound Services :  2 (Total) \t 1 (Active)
\tConfigured Method: ROUNDROBIN\tBackupMethod: NONE
\tMode: IP
\tNew Service Startup Request Rate: 0 PER_SECOND, Increment Interval: 0
";
    assert_eq!(show(&[Row::Vserver(row)], Form::Single), expected);
}

#[test]
fn a_service_shows_the_options_it_has() {
    let row = Row::Service(ServiceRow {
        name: "svc1".to_owned(),
        server: "printserver-1".to_owned(),
        address: "10.100.30.231".to_owned(),
        port: "80".to_owned(),
        service_type: "TCP".to_owned(),
        state: "UP".to_owned(),
        state_change_unix_ms: 1_434_093_002_000,
        state_age_ms: 1_171_550,
        drain: None,
        tcp_inline: None,
        settings: settings(&[
            ("CustomServerID", "\"None\""),
            ("maxClient", "0"),
            ("maxReq", "0"),
            ("usip", "NO"),
            ("CKA", "NO"),
            ("TCPB", "NO"),
            ("CMP", "NO"),
            ("cltTimeout", "9000"),
            ("svrTimeout", "9000"),
            ("cip", "DISABLED"),
            ("sp", "OFF"),
            ("downStateFlush", "ENABLED"),
            ("hashId", "7"),
            ("appflowLog", "ENABLED"),
        ]),
    });
    let expected = "1)\tsvc1 (10.100.30.231:80) - TCP
\tState: UP
\tLast state change was at Fri Jun 12 07:10:02 2015
\tTime since last state change: 0 days, 00:19:31.550
\tServer Name: printserver-1
\tServer ID : None 
\tMax Conn: 0\tMax Req: 0
\tUse Source IP: NO
\tClient Keepalive(CKA): NO
\tTCP Buffering(TCPB): NO
\tHTTP Compression(CMP): NO
\tIdle timeout: Client: 9000 sec\tServer: 9000 sec
\tClient IP: DISABLED
\tSP: OFF
\tDown state flush: ENABLED
\tHash Id: 7
\tAppflow logging: ENABLED
";
    assert_eq!(show(&[row], Form::List), expected);
}

#[test]
fn a_server_pads_its_name_by_form_and_lists_its_services() {
    let mut row = ServerRow {
        name: "printserver-1".to_owned(),
        address: "10.100.30.231".to_owned(),
        state: "ENABLED".to_owned(),
        comment: None,
        services: Vec::new(),
    };
    assert_eq!(
        show(&[Row::Server(row.clone())], Form::List),
        "1)\tName:     printserver-1      State:ENABLED\n\tIPAddress:   10.100.30.231\n"
    );
    row.comment = Some("left rack".to_owned());
    row.services.push(ServerService {
        name: "svc1".to_owned(),
        address: "10.100.30.231".to_owned(),
        port: "80".to_owned(),
        service_type: "TCP".to_owned(),
        state: "UP".to_owned(),
        drain: None,
    });
    assert_eq!(
        show(&[Row::Server(row)], Form::Single),
        "\tName:             printserver-1      State:ENABLED\n\tIPAddress:   10.100.30.231\n\
         \tComment: \"left rack\"\n\n\t1)\tsvc1 (10.100.30.231:80) - TCP\n\t\tState: UP\n"
    );
}

fn vserver_stat(bound: Option<Vec<BoundStat>>) -> Row {
    Row::VserverStat(VserverStat {
        name: "v1".to_owned(),
        address: "172.17.0.6".to_owned(),
        port: "10080".to_owned(),
        service_type: "TCP".to_owned(),
        state: "UP".to_owned(),
        health: 100,
        services_active: 2,
        services_inactive: 0,
        active: 3,
        hits: 12,
        hits_per_s: 2,
        refused: 1,
        aborted: 8,
        held_down: false,
        spilling_over: false,
        spillover_threshold: 0,
        spillover_hits: 0,
        down_backup_hits: 0,
        request_bytes: 1_073_741_824,
        request_bytes_per_s: 1024,
        response_bytes: 99,
        response_bytes_per_s: 0,
        packets_received: 7,
        packets_sent: 8,
        persistence: None,
        bound,
    })
}

#[test]
fn the_configuration_tells_what_is_unsaved_and_what_failed() {
    let row = Row::Config(ConfigStatus {
        path: "/etc/sluice/ns.conf".to_owned(),
        system_unix_ms: 1_434_094_166_000,
        changed_unix_ms: Some(1_434_093_601_000),
        saved_unix_ms: None,
        unsaved: true,
        boot_failures: vec!["ns.conf:3: ERROR: No such resource\x1b[2J".to_owned()],
        skipped: [("cs vserver".to_owned(), 3), ("ssl".to_owned(), 1)].into(),
        provisional_s: Some(42),
        not_undone: vec!["not undone: x".to_owned()],
    });
    let expected = "\tConfiguration File: /etc/sluice/ns.conf
\t                   System Time: Fri Jun 12 07:29:26 2015
\t      Last Config Changed Time: Fri Jun 12 07:20:01 2015
\t        Last Config Saved Time: not since the start
\tConfig Changed since Last Saved Config: TRUE
\tChanges are provisional: undone in 42 s unless confirmed
\tnot undone: x
\tLines of features that are not here: 4 (cs vserver 3, ssl 1)
\tLines that failed at boot: 1
\t\tns.conf:3: ERROR: No such resource\\x1b[2J
";
    assert_eq!(show(&[row], Form::List), expected);
}

#[test]
fn lines_are_printed_as_they_are() {
    let rows = [Row::Line("add server a 1.1.1.1".to_owned())];
    assert_eq!(show(&rows, Form::List), "add server a 1.1.1.1\n");
}

#[test]
fn slow_start_of_a_new_service_is_shown_with_its_limit_its_share_and_its_end() {
    let mut ramp = SlowStart {
        limit: 50,
        unit: "PERCENT".to_owned(),
        requests: 12,
        requests_total: 340,
        age_ms: 7_999,
        next_step_ms: Some(2_001),
        end_ms: Some(12_001),
    };
    let mut service = bound("s2", "UP", 3);
    service.slow_start = Some(ramp.clone());
    let row = vserver(Some(vec![bound("s1", "UP", 1), service]));
    let shown = show(&[Row::Vserver(row)], Form::Single);
    let expected = "\
1) s1 (10.0.1.1: 80) - TCP State: UP\tWeight: 1
2) s2 (10.0.1.1: 80) - TCP State: UP\tWeight: 3
\tSlow start: at most 50 PERCENT, 12 of 340 requests in 7 s, next step in 3 s, full share in about 13 s
";
    assert!(shown.ends_with(expected), "{shown}");

    ramp.unit = "PER_SECOND".to_owned();
    ramp.next_step_ms = None;
    ramp.end_ms = None;
    assert_eq!(
        vserver::slow_start_now(&ramp),
        "at most 50 PER_SECOND, 12 of 340 requests in 7 s, until the rate is changed"
    );
}
