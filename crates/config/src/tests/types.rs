//! Types other than TCP and UDP: what carries them, what they warn of, and what may be joined.

use sluice_balance::Protocol;

use super::{configured, planned, refused, saved::reloaded};

#[test]
fn a_type_runs_on_what_carries_it_with_its_own_idle_limits() {
    for (service_type, protocol, client, service) in [
        ("HTTP", Protocol::Tcp, 180, 360),
        ("SSL_BRIDGE", Protocol::Tcp, 180, 360),
        ("SSL_TCP", Protocol::Tcp, 9000, 9000),
        ("MYSQL", Protocol::Tcp, 9000, 9000),
        ("DNS_TCP", Protocol::Tcp, 180, 360),
        ("DNS", Protocol::Udp, 120, 120),
        ("RADIUS", Protocol::Udp, 120, 120),
        ("DTLS", Protocol::Udp, 120, 120),
    ] {
        let add_service = format!("add service s1 10.0.0.1 {service_type} 80");
        let add_vserver = format!("add lb vserver v1 {service_type} 10.0.0.10 80");
        let config = configured(&[&add_service, &add_vserver, "bind lb vserver v1 s1"]);
        let vserver = super::core(&config);
        let service_core = config.core_of(config.service("s1").unwrap());
        assert_eq!(vserver.protocol, protocol, "{service_type}");
        assert_eq!(service_core.protocol, protocol, "{service_type}");
        let seconds = |idle: Option<std::time::Duration>| idle.unwrap().as_secs();
        assert_eq!(seconds(vserver.idle), client, "{service_type}");
        assert_eq!(seconds(service_core.idle), service, "{service_type}");
        assert_eq!(reloaded(&config), config, "{service_type}");
    }
}

#[test]
fn what_is_lost_at_layer_4_is_said_of_services_and_virtual_servers() {
    let config = configured(&[]);
    let requests = "HTTP runs as TCP here [requests inside a connection are not looked at]";
    let encrypted =
        "SSL runs as TCP here [it is not decrypted and needs services of an encrypted type]";
    for (line, warnings) in [
        ("add lb vserver v TCP", &[][..]),
        ("add lb vserver v DNS", &[]),
        ("add lb vserver v SSL_BRIDGE", &[]),
        ("add lb vserver v HTTP", &[requests]),
        ("add lb vserver v SSL", &[encrypted]),
        ("add service s 10.0.0.1 HTTP 80", &[requests]),
    ] {
        assert_eq!(planned(&config, line).warnings, warnings, "{line}");
    }
}

#[test]
fn an_appliance_s_own_web_lines_warn_of_their_type_alone() {
    let config = configured(&[]);
    let line = "add service s9 10.0.0.1 HTTP 80 -gslb NONE -maxClient 0 -maxReq 0 -cip DISABLED \
                -usip NO -useproxyport YES -sp OFF -cltTimeout 180 -svrTimeout 360 -CKA NO \
                -TCPB NO -CMP NO";
    assert_eq!(planned(&config, line).warnings.len(), 1);
}

/// Every virtual server with every service: only the same type, or two that stay encrypted.
#[test]
fn only_ends_that_understand_each_other_are_joined() {
    let types = [
        "TCP",
        "HTTP",
        "SSL",
        "SSL_BRIDGE",
        "SSL_TCP",
        "UDP",
        "DNS",
        "DTLS",
    ];
    let encrypted = ["SSL", "SSL_BRIDGE", "SSL_TCP"];
    let mut config = configured(&[]);
    for (at, name) in types.iter().enumerate() {
        super::run(&mut config, &format!("add lb vserver v{name} {name}"));
        let line = format!("add service s{name} 10.0.0.1 {name} {}", at + 1);
        super::run(&mut config, &line);
    }
    for vserver in types {
        for service in types {
            let line = format!("bind lb vserver v{vserver} s{service}");
            let over_tls = encrypted.contains(&vserver) && encrypted.contains(&service);
            if vserver == service || over_tls {
                planned(&config, &line);
                continue;
            }
            let ends = [vserver, service].map(|name| encrypted.contains(&name) || name == "DTLS");
            let why = if ends[0] == ends[1] {
                ""
            } else {
                "; nothing is encrypted or decrypted here"
            };
            let expected = format!(
                "1304 Service type mismatch between the vserver and service \
                 [vserver {vserver}, service {service}{why}]"
            );
            assert_eq!(refused(&config, &line), expected);
        }
    }
}
