//! Golden texts of `show` and `stat` about service groups.

use sluice_protocol::{
    BoundGroup, GroupMember, ServiceGroupMember, ServiceGroupRow, ServiceGroupStat,
};

use super::*;

fn group(members: Option<Vec<ServiceGroupMember>>) -> Row {
    Row::ServiceGroup(ServiceGroupRow {
        name: "sg1".to_owned(),
        service_type: "TCP".to_owned(),
        state: "ENABLED".to_owned(),
        effective_state: "PARTIAL-UP".to_owned(),
        settings: settings(&[
            ("maxClient", "0"),
            ("maxReq", "0"),
            ("maxBandwidth", "0"),
            ("usip", "NO"),
            ("CKA", "NO"),
            ("TCPB", "NO"),
            ("CMP", "NO"),
            ("cltTimeout", "9000"),
            ("svrTimeout", "9000"),
            ("cip", "DISABLED"),
            ("sp", "OFF"),
            ("downStateFlush", "ENABLED"),
            ("appflowLog", "ENABLED"),
        ]),
        members_total: 2,
        members_active: 1,
        members,
    })
}

const BODY: &str = "sg1 - TCP\n\
\tState: ENABLED\tEffective State: PARTIAL-UP\n\
\tMax Conn: 0\tMax Req: 0\tMax Bandwidth: 0 kbits\n\
\tUse Source IP: NO\n\
\tClient Keepalive(CKA): NO\n\
\tTCP Buffering(TCPB): NO\n\
\tHTTP Compression(CMP): NO\n\
\tIdle timeout: Client: 9000 sec\tServer: 9000 sec\n\
\tClient IP: DISABLED \n\
\tSP: OFF\n\
\tDown state flush: ENABLED\n\
\tAppflow logging: ENABLED\n";

#[test]
fn a_service_group_has_the_lines_of_the_reference() {
    assert_eq!(show(&[group(None)], Form::List), format!("1)\t{BODY}"));
    let member = |server: &str, state: &str, more: &[(&str, &str)]| {
        let own = [("CustomServerID", "\"None\""), ("weight", "1")];
        ServiceGroupMember {
            server: server.to_owned(),
            address: "172.31.9.120".to_owned(),
            port: "30379".to_owned(),
            state: state.to_owned(),
            state_change_unix_ms: 1_657_616_613_000,
            state_age_ms: 3_176_600,
            drain: None,
            tcp_inline: None,
            settings: settings(&[&own[..], more].concat()),
        }
    };
    let members = vec![
        member("172.31.9.120", "UP", &[]),
        member("h2", "OUT OF SERVICE", &[("order", "2"), ("hashId", "7")]),
    ];
    let since = "\t\tLast state change was at Tue Jul 12 09:03:33 2022 \n\
                 \t\tTime since last state change: 0 days, 00:52:56.600\n";
    assert_eq!(
        show(&[group(Some(members))], Form::Single),
        format!(
            "\t{BODY}\n\n\
             \t1)    172.31.9.120:30379\tState: UP\tServer Name: 172.31.9.120\tServer ID: None\t\
             Weight: 1\n{since}\n\
             \t2)    172.31.9.120:30379\tState: OUT OF SERVICE\tServer Name: h2\tServer ID: None\t\
             Weight: 1\tHash Id: 7\tOrder: 2\n{since}"
        )
    );
}

#[test]
fn a_virtual_server_lists_its_service_groups_behind_its_services() {
    let groups = vec![
        BoundGroup {
            name: "sg1".to_owned(),
            order: None,
            members: vec![bound("sg1", "UP", 1)],
        },
        BoundGroup {
            name: "empty".to_owned(),
            order: None,
            members: Vec::new(),
        },
    ];
    let row = VserverRow {
        bound_groups: Some(groups),
        ..vserver(Some(vec![bound("svc1", "UP", 3)]))
    };
    let text = show(&[Row::Vserver(row)], Form::Single);
    let end = "1) svc1 (10.0.1.1: 80) - TCP State: UP\tWeight: 3\n\
               \nBound Service Groups:\n\
               1)\tGroup Name: sg1\n\n\
               \t\t1) sg1 (10.0.1.1: 80) - TCP State: UP\tWeight: 1\n\
               2)\tGroup Name: empty\n\n";
    assert!(text.ends_with(end), "{text}");
}

#[test]
fn bindings_of_a_service_group_are_virtual_servers() {
    let row = |name: &str| {
        Row::ServiceGroupBinding(GroupMember {
            name: name.to_owned(),
            address: "10.0.0.1".to_owned(),
            port: "80".to_owned(),
            service_type: "TCP".to_owned(),
            state: "UP".to_owned(),
        })
    };
    assert_eq!(
        show(&[row("v1"), row("v2")], Form::Single),
        "1) v1 (10.0.0.1: 80) - TCP State: UP\n2) v2 (10.0.0.1: 80) - TCP State: UP\n"
    );
}

#[test]
fn statistics_of_a_service_group_are_sums_with_its_members_below() {
    let mut row = ServiceGroupStat {
        name: "sg1".to_owned(),
        service_type: "TCP".to_owned(),
        state: "UP".to_owned(),
        members_active: 2,
        members_inactive: 1,
        active: 3,
        hits: 4,
        hits_per_s: 5,
        request_bytes: 6,
        request_bytes_per_s: 125_000,
        response_bytes: 8,
        response_bytes_per_s: 125_000,
        packets_received: 10,
        packets_sent: 11,
        window_bytes: 1_750_000,
        window_packets: 13,
        members: None,
    };
    let summary = "                              Type         State actSvcs inactSvcs    Req/s   \
                   Active   Mbit/s (14 s)\n\
                   sg1                            TCP            UP       2         1      5/s        \
                   3           1.000\n";
    assert_eq!(
        show(&[Row::ServiceGroupStat(row.clone())], Form::List),
        format!("\nService Group(s) Summary\n{summary}\n")
    );
    row.members = Some(Vec::new());
    let text = show(&[Row::ServiceGroupStat(row)], Form::Single);
    let start = format!("\nService Group Summary\n{summary}\nService Group Statistics\n");
    assert!(text.starts_with(&start), "{text}");
    for (label, total) in [("Service hits", "4"), ("Total Packets sent", "11")] {
        let mut lines = text.lines();
        let line = lines.find(|line| line.starts_with(label)).unwrap();
        assert!(line.ends_with(&format!(" {total}")), "{line}");
    }
}
