//! The saved form, line by line.

use std::collections::BTreeMap;

use sluice_command::Noun;

use super::{SITE, configured, run};
use crate::{Config, check_file};

#[test]
fn a_site_is_saved_as_an_appliance_does() {
    let train = "-gslb NONE -maxClient 0 -maxReq 0 -cip DISABLED -usip NO -useproxyport YES \
                 -sp OFF -cltTimeout 9000 -svrTimeout 9000 -CKA NO -TCPB NO -CMP NO";
    let datagrams = "-gslb NONE -maxClient 0 -maxReq 0 -cip DISABLED -usip NO -useproxyport NO \
                     -sp OFF -cltTimeout 120 -svrTimeout 120 -CKA NO -TCPB NO -CMP NO";
    assert_eq!(
        configured(SITE).render(),
        [
            "add server web1 10.0.0.1",
            "add server web2 10.0.0.2",
            &format!("add service s1 web1 TCP 80 {train}"),
            &format!("add service s2 web2 TCP 80 {train}"),
            &format!("add service s3 web2 TCP 81 {train}"),
            &format!("add service u1 web1 UDP 53 {datagrams}"),
            "add lb vserver v1 TCP 10.0.0.10 80 -persistenceType NONE -cltTimeout 9000",
            "add lb vserver v2 UDP 10.0.0.10 80 -persistenceType NONE -cltTimeout 120",
            "add lb vserver v3 TCP 0.0.0.0 0 -persistenceType NONE -cltTimeout 9000",
            "bind lb vserver v1 s1",
            "bind lb vserver v1 s2 -weight 3",
        ]
    );
}

#[test]
fn options_are_saved_where_they_differ_in_the_order_of_the_table() {
    let config = configured(&[
        "add server web1 10.0.0.1 -comment \"first site\" -state DISABLED",
        "add service s1 10.0.0.2 TCP 80 -comment c -downStateFlush DISABLED -state DISABLED \
         -cip ENABLED X-Forwarded-For -maxClient 9",
        "add lb vserver v1 TCP * 80 -newServiceRequestIncrementInterval 5 -newServiceRequest 25 \
         PERCENT -state DISABLED -cltTimeout 60 -lbMethod LEASTBANDWIDTH",
        "add lb vserver v2 TCP :: 80 -newServiceRequestUnit PERCENT",
    ]);
    assert_eq!(
        config.render(),
        [
            "add server web1 10.0.0.1 -state DISABLED -comment \"first site\"",
            "add server 10.0.0.2 10.0.0.2",
            "add service s1 10.0.0.2 TCP 80 -gslb NONE -maxClient 9 -maxReq 0 -cip ENABLED \
             X-Forwarded-For -usip NO -useproxyport YES -sp OFF -cltTimeout 9000 -svrTimeout 9000 \
             -CKA NO -TCPB NO -CMP NO -state DISABLED -downStateFlush DISABLED -comment c",
            "add lb vserver v1 TCP * 80 -persistenceType NONE -lbMethod LEASTBANDWIDTH \
             -cltTimeout 60 -state DISABLED -newServiceRequest 25 PERCENT \
             -newServiceRequestIncrementInterval 5",
            "add lb vserver v2 TCP :: 80 -persistenceType NONE -cltTimeout 9000 \
             -newServiceRequest 0 PERCENT",
        ]
    );
}

#[test]
fn names_that_need_quotes_are_saved_with_them() {
    let config = configured(&[
        "add server \"web 1\" 10.0.0.1",
        "add service \"s 1\" \"web 1\" TCP 80",
        "add lb vserver \"1 SHOP_443\" TCP 10.0.0.10 443",
        "bind lb vserver \"1 SHOP_443\" \"s 1\"",
    ]);
    let lines = config.render();
    assert_eq!(lines[0], "add server \"web 1\" 10.0.0.1");
    assert!(lines[1].starts_with("add service \"s 1\" \"web 1\" TCP 80 "));
    assert_eq!(lines[3], "bind lb vserver \"1 SHOP_443\" \"s 1\"");
    assert_eq!(reloaded(&config), config);
}

#[test]
fn a_state_of_its_own_is_saved_not_what_comes_of_it() {
    let mut config = configured(SITE);
    run(&mut config, "disable server web2");
    run(&mut config, "disable service s1");
    let lines = config.render();
    assert_eq!(lines[1], "add server web2 10.0.0.2 -state DISABLED");
    let disabled = lines
        .iter()
        .filter(|line| line.contains("DISABLED -"))
        .count();
    // Four services have `-cip DISABLED`; s2 and s3 are out of service and enabled themselves.
    assert_eq!(disabled, 4);
    assert!(lines[2].ends_with("-state DISABLED"));
    let loaded = reloaded(&config);
    assert_eq!(loaded, config);
    let takes_part = |name: &str| loaded.takes_part(loaded.service(name).unwrap());
    assert!(!takes_part("s1") && !takes_part("s2") && !takes_part("s3") && takes_part("u1"));
}

#[test]
fn options_show_what_is_in_force() {
    let config = configured(&[
        "add service s1 10.0.0.1 UDP 53 -maxClient 7",
        "add lb vserver v1 TCP -newServiceRequest 5 PERCENT",
    ]);
    let options = config.service("s1").unwrap().options();
    let of = |options: &BTreeMap<String, String>, name: &str| options.get(name).cloned();
    assert_eq!(of(&options, "maxClient").as_deref(), Some("7"));
    assert_eq!(of(&options, "svrTimeout").as_deref(), Some("120"));
    assert_eq!(of(&options, "usip").as_deref(), Some("NO"));
    assert_eq!(of(&options, "comment"), None);
    assert_eq!(of(&options, "state"), None);
    let options = config.vserver_options(config.vserver("v1").unwrap());
    assert_eq!(of(&options, "lbMethod").as_deref(), Some("LEASTCONNECTION"));
    assert_eq!(of(&options, "newServiceRequest").as_deref(), Some("5"));
    assert_eq!(
        of(&options, "newServiceRequestUnit").as_deref(),
        Some("PERCENT")
    );
}

#[test]
fn ten_thousand_services_load() {
    let mut text = String::new();
    for host in 0..100 {
        text.push_str(&format!("add server h{host} 10.0.0.{host}\n"));
        for port in 0..100 {
            text.push_str(&format!(
                "add service s{host}_{port} h{host} TCP {}\n",
                8000 + port
            ));
        }
    }
    for vserver in 0..1000 {
        let port = 10_000 + vserver;
        text.push_str(&format!("add lb vserver v{vserver} TCP 10.1.0.1 {port}\n"));
        for service in 0..10 {
            let number = vserver * 10 + service;
            let (host, port) = (number / 100, number % 100);
            text.push_str(&format!("bind lb vserver v{vserver} s{host}_{port}\n"));
        }
    }
    // 10.0.0.0 is a host address like any other here.
    let report = check_file(text.as_bytes());
    assert_eq!(
        (report.lines.len(), report.failed(), report.warned()),
        (21_100, 0, 0)
    );
}

/// Saves a configuration and reads it again.
pub(super) fn reloaded(config: &Config) -> Config {
    let lines = config.render();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let loaded = configured(&lines);
    assert_eq!(loaded.render(), lines);
    loaded
}

#[test]
fn names_are_listed_by_noun_in_the_order_of_creation() {
    let config = configured(SITE);
    assert_eq!(config.names(Noun::Server), ["web1", "web2"]);
    assert_eq!(config.names(Noun::Service), ["s1", "s2", "s3", "u1"]);
    assert_eq!(config.names(Noun::LbVserver), ["v1", "v2", "v3"]);
    assert_eq!(config.names(Noun::NsConfig), [""; 0]);
}
