//! Golden texts of options that are shown whether or not they do something here.

use super::*;

const OF_A_VSERVER: &[(&str, &str)] = &[
    ("m", "MAC"),
    ("connfailover", "STATEFUL"),
    ("l2Conn", "OFF"),
    ("Listenpolicy", "None"),
    ("icmpVsrResponse", "PASSIVE"),
    ("RHIstate", "ACTIVE"),
    ("macmodeRetainvlan", "DISABLED"),
    ("dbsLb", "DISABLED"),
    ("dns64", "DISABLED"),
    ("bypassAAAA", "NO"),
    ("RecursionAvailable", "YES"),
    ("processLocal", "DISABLED"),
    ("td", "0"),
    ("retainConnectionsOnCluster", "NO"),
    ("toggleOrder", "ASCENDING"),
];

fn shown(service_type: &str, pairs: &[(&str, &str)]) -> String {
    let mut row = vserver(None);
    row.service_type = service_type.to_owned();
    row.settings = settings(pairs);
    let text = show(&[Row::Vserver(row)], Form::Single);
    let from = text.find("\tNo. of Bound").expect("the line before them");
    text[from..].split_once('\n').expect("a line").1.to_owned()
}

#[test]
fn options_of_a_virtual_server_stand_in_the_device_s_order() {
    let (before_names, after_names) = (
        "\tL2Conn: OFF
\tListen Policy: NONE
\tIcmpResponse: PASSIVE
\tRHIstate: ACTIVE
\tMac mode Retain Vlan: DISABLED
\tDBS_LB: DISABLED
",
        "\tProcess Local: DISABLED
\tTraffic Domain: 0
\tRetain Connections on Cluster: NO
\tOrder Sequence: ASCENDING
\tCurrent Active Order: None
",
    );
    assert_eq!(
        shown("TCP", OF_A_VSERVER),
        format!("\tMode: MAC\n\tConnection Failover: STATEFUL\n{before_names}{after_names}")
    );
    let names = "\tDNS64 Synthesis: DISABLED\n\tBypass AAAA: NO\n\tRecursion Available: YES\n";
    assert_eq!(
        shown("DNS", OF_A_VSERVER),
        format!("\tMode: MAC\n{before_names}{names}{after_names}")
    );
}

#[test]
fn a_profile_lists_its_options_as_they_are_typed() {
    let row = |name: &str| {
        Row::Profile(sluice_protocol::ProfileRow {
            name: name.to_owned(),
            settings: settings(&[("nagle", "ENABLED"), ("mss", "1460")]),
        })
    };
    let body = "\tmss: 1460\n\tnagle: ENABLED\n";
    assert_eq!(
        show(&[row("a"), row("b")], Form::List),
        format!("1)\tName: a\n{body}2)\tName: b\n{body}")
    );
    assert_eq!(
        show(&[row("a")], Form::Single),
        format!("\tName: a\n{body}")
    );
}

#[test]
fn a_kind_of_persistence_that_is_not_here_names_its_backup() {
    let mut pairs = vec![
        ("persistenceType", "COOKIEINSERT"),
        ("timeout", "0"),
        ("persistMask", "255.255.255.255"),
        ("persistenceBackup", "NONE"),
        ("backupPersistenceTimeout", "5"),
    ];
    let line = "\tMode: IP\n\tPersistence: COOKIEINSERT\tPersistence Timeout: 0 min\
                \tPersistence Backup: ";
    assert_eq!(shown("TCP", &pairs), format!("{line}NONE\n"));
    pairs[3].1 = "SOURCEIP";
    let backup = "SOURCEIP\tBackup Persistence Timeout: 5 min\n";
    assert_eq!(shown("TCP", &pairs), format!("{line}{backup}"));
}
