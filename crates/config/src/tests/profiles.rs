//! Profiles: who has one, what it means for sockets and hashes, and what is refused.

use std::time::Duration;

use sluice_balance::{Change, HashAlgorithm, KeepAlive, Sockets, TcpOptions};
use sluice_command::Noun;

use super::{SITE, configured, core, planned, refused, run};
use crate::Config;

fn service(config: &Config) -> Sockets {
    config.sockets_of(config.service("s1").unwrap())
}

#[test]
fn a_tcp_profile_reaches_those_that_name_it() {
    let mut config = configured(SITE);
    let options = "-nagle ENABLED -KA ENABLED -KAconnIdleTime 60 -KAprobeInterval 5 \
                   -KAmaxProbes 4 -mss 1400 -bufferSize 65536 -sendBuffsize 131072";
    run(&mut config, &format!("add ns tcpProfile t {options}"));
    let tcp = TcpOptions {
        nagle: true,
        keep_alive: Some(KeepAlive {
            idle: Some(Duration::from_secs(60)),
            interval: Some(Duration::from_secs(5)),
            probes: Some(4),
        }),
        max_segment: Some(1400),
        receive_buffer: Some(65_536),
        send_buffer: Some(131_072),
    };
    let sockets = Sockets { tcp, source: None };
    let (s1, v1) = (
        config.service("s1").unwrap().id(),
        config.vserver("v1").unwrap().id(),
    );
    let plan = run(&mut config, "set service s1 -tcpProfileName t");
    assert_eq!(plan.changes, [Change::SetServiceSockets(s1, sockets)]);
    let plan = run(&mut config, "set lb vserver v1 -tcpProfileName t");
    assert_eq!(plan.changes, [Change::SetVserverSockets(v1, sockets)]);

    let tcp = TcpOptions {
        nagle: false,
        ..tcp
    };
    let sockets = Sockets { tcp, source: None };
    let plan = run(&mut config, "set ns tcpProfile t -nagle DISABLED");
    assert_eq!(
        plan.changes,
        [
            Change::SetServiceSockets(s1, sockets),
            Change::SetVserverSockets(v1, sockets)
        ]
    );
    assert_eq!(
        planned(&config, "set ns tcpProfile t -WS ENABLED").warnings,
        ["-WS has no effect here [the system decides for all sockets]"]
    );
    assert_eq!(super::saved::reloaded(&config), config);
}

#[test]
fn the_default_tcp_profile_holds_where_no_other_is_named() {
    let mut config = configured(SITE);
    run(
        &mut config,
        "set ns tcpProfile nstcp_default_profile -mss 1460",
    );
    let mss = TcpOptions {
        max_segment: Some(1460),
        ..TcpOptions::default()
    };
    assert_eq!(service(&config).tcp, mss);
    let udp = config.sockets_of(config.service("u1").unwrap());
    assert_eq!(udp, Sockets::default());
    run(
        &mut config,
        "set service s1 -tcpProfileName nstcp_internal_apps",
    );
    assert_eq!(service(&config), Sockets::default());
    assert_eq!(
        config.render()[0],
        "set ns tcpProfile nstcp_default_profile -mss 1460"
    );
    assert_eq!(super::saved::reloaded(&config), config);
    assert_eq!(config.profiles(Noun::NsTcpProfile).len(), 10);
    run(
        &mut config,
        "unset ns tcpProfile nstcp_default_profile -mss",
    );
    run(&mut config, "unset service s1 -tcpProfileName");
    assert_eq!(config, configured(SITE));
}

#[test]
fn a_net_profile_is_the_source_of_services_and_of_virtual_servers() {
    let mut config = configured(SITE);
    run(&mut config, "add netProfile n -srcIP 10.0.0.77");
    run(&mut config, "set service s1 -netProfile n");
    run(&mut config, "set lb vserver v2 -netProfile n");
    let source = Some("10.0.0.77".parse().unwrap());
    assert_eq!(service(&config).source, source);
    let vserver = config.sockets_of_vserver(config.vserver("v2").unwrap());
    assert_eq!(vserver.source, source);
    assert_eq!(super::saved::reloaded(&config), config);
    assert_eq!(
        refused(&config, "rm netProfile n"),
        "315 Resource in use [service s1]"
    );
    run(&mut config, "unset service s1 -netProfile");
    assert_eq!(service(&config), Sockets::default());
}

#[test]
fn an_lb_profile_says_how_its_virtual_servers_hash() {
    let mut config = configured(SITE);
    run(
        &mut config,
        "add lb profile l -lbHashAlgorithm PRAC -lbHashFingers 9",
    );
    run(&mut config, "set lb vserver v1 -lbprofilename l");
    let hash = core(&config).hash.algorithm;
    assert!(matches!(hash, HashAlgorithm::Prac(_)), "{hash:?}");
    let plan = run(&mut config, "set lb profile l -lbHashAlgorithm DEFAULT");
    assert_eq!(plan.changes.len(), 1);
    assert_eq!(core(&config).hash.algorithm, HashAlgorithm::Default);
    let secret = "set lb profile l -cookiePassphrase hidden";
    run(&mut config, secret);
    let shown = &config.profiles(Noun::LbProfile)[0];
    assert!(!shown.options().contains_key("cookiePassphrase"));
    assert_eq!(super::saved::reloaded(&config), config);
}

#[test]
fn profiles_that_are_missing_in_use_or_shipped_are_refused() {
    let mut config = configured(SITE);
    run(&mut config, "add ns tcpProfile t -nagle ENABLED");
    run(&mut config, "set lb vserver v1 -tcpProfileName t");
    for (line, text) in [
        (
            "add lb vserver v9 TCP -netProfile nope",
            "3956 Netprofile does not exist [netProfile, nope]",
        ),
        (
            "set service s1 -tcpProfileName nope",
            "3248 Profile does not exist [profile, nope]",
        ),
        (
            "set service u1 -tcpProfileName t",
            "822 TCP profile cannot be set to this service type [tcpProfileName, t]",
        ),
        ("rm ns tcpProfile t", "315 Resource in use [lb vserver v1]"),
        (
            "rm ns tcpProfile nstcp_default_profile",
            "257 Operation not permitted [name, nstcp_default_profile: it is shipped]",
        ),
        (
            "set ns tcpProfile nope -nagle ENABLED",
            "258 No such resource [name, nope]",
        ),
        ("add ns tcpProfile t -mss 9", "273 Resource already exists"),
        (
            "add ns tcpProfile nstcp_default_profile -mss 9",
            "273 Resource already exists",
        ),
    ] {
        assert_eq!(refused(&config, line), text, "{line}");
    }
}
