//! What the core is told, exactly.

use std::time::Duration;

use sluice_balance::{
    Bind, Change, Leave, Method, Protocol, RampUnit, ServiceId, ServiceSettings, SlowStart,
    TokenRange, VserverId, VserverSettings,
};

use super::{SITE, configured, core, planned, run, tcp_service, tcp_vserver, weight};

const S1: ServiceId = ServiceId(1);
const S2: ServiceId = ServiceId(2);
const S3: ServiceId = ServiceId(3);
const U1: ServiceId = ServiceId(4);
const V1: VserverId = VserverId(1);
const V3: VserverId = VserverId(3);

#[test]
fn a_server_alone_tells_the_core_nothing() {
    let config = configured(&[]);
    assert_eq!(planned(&config, "add server web1 10.0.0.1").changes, []);
}

#[test]
fn a_new_service_has_the_defaults_of_its_type() {
    let config = configured(&["add server web1 10.0.0.1"]);
    let plan = planned(&config, "add service s1 web1 TCP 80");
    assert_eq!(
        plan.changes,
        [Change::AddService(S1, tcp_service("10.0.0.1:80"))]
    );
    let plan = planned(&config, "add service s1 2001:db8::1 UDP 53");
    let datagrams = ServiceSettings {
        protocol: Protocol::Udp,
        idle: Some(Duration::from_secs(120)),
        ..tcp_service("[2001:db8::1]:53")
    };
    assert_eq!(plan.changes, [Change::AddService(S1, datagrams)]);
}

#[test]
fn a_new_service_has_the_options_it_was_given() {
    let config = configured(&["add server web1 10.0.0.1"]);
    let line = "add service s1 web1 TCP 80 -maxClient 7 -svrTimeout 0 -downStateFlush DISABLED \
                -state DISABLED";
    let service = ServiceSettings {
        enabled: false,
        max_client: Some(7),
        idle: None,
        flush_on_down: false,
        ..tcp_service("10.0.0.1:80")
    };
    assert_eq!(
        planned(&config, line).changes,
        [Change::AddService(S1, service)]
    );
}

#[test]
fn a_new_virtual_server_has_the_defaults_of_its_type() {
    let config = configured(&[]);
    let plan = planned(&config, "add lb vserver v1 TCP 10.0.0.10 80");
    assert_eq!(
        plan.changes,
        [Change::AddVserver(V1, tcp_vserver(Some("10.0.0.10:80")))]
    );
    for line in ["add lb vserver v1 TCP", "add lb vserver v1 TCP 0.0.0.0 0"] {
        let plan = planned(&config, line);
        assert_eq!(plan.changes, [Change::AddVserver(V1, tcp_vserver(None))]);
    }
    let plan = planned(&config, "add lb vserver v1 TCP * 80");
    assert_eq!(
        plan.changes,
        [Change::AddVserver(V1, tcp_vserver(Some("0.0.0.0:80")))]
    );
    let plan = planned(&config, "add lb vserver v1 UDP :: 53");
    let datagrams = VserverSettings {
        protocol: Protocol::Udp,
        idle: Some(Duration::from_secs(120)),
        ..tcp_vserver(Some("[::]:53"))
    };
    assert_eq!(plan.changes, [Change::AddVserver(V1, datagrams)]);
}

#[test]
fn a_new_virtual_server_has_the_options_it_was_given() {
    let config = configured(&[]);
    let line = "add lb vserver v1 TCP 10.0.0.10 80 -lbMethod LEASTBANDWIDTH -cltTimeout 0 \
                -downStateFlush DISABLED -state DISABLED -newServiceRequest 25 PERCENT \
                -newServiceRequestIncrementInterval 5";
    let vserver = VserverSettings {
        enabled: false,
        method: Method::LeastBandwidth,
        idle: None,
        flush_on_down: false,
        slow_start: SlowStart {
            rate: 25,
            unit: RampUnit::Percent,
            interval: Duration::from_secs(5),
        },
        ..tcp_vserver(Some("10.0.0.10:80"))
    };
    assert_eq!(
        planned(&config, line).changes,
        [Change::AddVserver(V1, vserver)]
    );
}

#[test]
fn every_method_reaches_the_core() {
    for (word, method) in [
        ("ROUNDROBIN", Method::RoundRobin),
        ("LEASTCONNECTION", Method::LeastConnection),
        ("LEASTBANDWIDTH", Method::LeastBandwidth),
        ("LEASTPACKETS", Method::LeastPackets),
        ("LEASTREQUEST", Method::LeastRequest),
        ("SOURCEIPHASH", Method::SourceIpHash),
        ("DESTINATIONIPHASH", Method::DestinationIpHash),
        ("SRCIPDESTIPHASH", Method::SrcIpDestIpHash),
        ("SRCIPSRCPORTHASH", Method::SrcIpSrcPortHash),
        ("LEASTRESPONSETIME", Method::LeastResponseTime),
        ("TOKEN -dataLength 1", Method::Token(TokenRange::FIRST_BYTE)),
        ("RANDOM", Method::Random),
    ] {
        let config = configured(&[&format!("add lb vserver v1 TCP -lbMethod {word}")]);
        assert_eq!(core(&config).method, method);
    }
}

#[test]
fn binding_weighing_and_unbinding_are_one_change_each() {
    let config = configured(SITE);
    let bind = |service, number| Bind {
        vserver: V1,
        service,
        weight: weight(number),
        order: None,
    };
    let changes = |line: &str| planned(&config, line).changes;
    assert_eq!(
        changes("bind lb vserver v1 s3"),
        [Change::Bind(bind(S3, 1))]
    );
    assert_eq!(
        changes("bind lb vserver v1 s3 -weight 100"),
        [Change::Bind(bind(S3, 100))]
    );
    assert_eq!(
        changes("set lb vserver v1 -weight 9 s2"),
        [Change::SetWeight(bind(S2, 9))]
    );
    assert_eq!(changes("set lb vserver v1 -weight 3 s2"), []);
    assert_eq!(changes("unbind lb vserver v1 s1"), [Change::Unbind(V1, S1)]);
}

#[test]
fn one_set_may_change_a_virtual_server_and_a_weight() {
    let config = configured(SITE);
    let plan = planned(
        &config,
        "set lb vserver v1 -weight 4 s1 -lbMethod ROUNDROBIN",
    );
    let vserver = VserverSettings {
        method: Method::RoundRobin,
        ..tcp_vserver(Some("10.0.0.10:80"))
    };
    let bind = Bind {
        vserver: V1,
        service: S1,
        weight: weight(4),
        order: None,
    };
    assert_eq!(
        plan.changes,
        [Change::SetVserver(V1, vserver), Change::SetWeight(bind)]
    );
}

#[test]
fn what_is_set_to_what_it_is_changes_nothing() {
    let config = configured(SITE);
    for line in [
        "set server web1 -IPAddress 10.0.0.1",
        "set service s1 -maxClient 0",
        "set service s1 -IPAddress 10.0.0.1",
        "set lb vserver v1 -lbMethod LEASTCONNECTION -cltTimeout 9000",
        "unset lb vserver v1 -lbMethod",
        "enable server web1",
    ] {
        let changes = planned(&config, line).changes;
        assert_eq!(changes, [], "{line}");
    }
}

#[test]
fn an_enabled_service_that_is_enabled_is_said_to_be_well() {
    let config = configured(SITE);
    let plan = planned(&config, "enable service s1");
    assert_eq!(plan.changes, [Change::EnableService(S1)]);
}

#[test]
fn a_moved_server_takes_all_its_services_along() {
    let mut config = configured(SITE);
    let plan = run(&mut config, "set server web2 -IPAddress 10.0.0.9");
    assert_eq!(
        plan.changes,
        [
            Change::SetService(S2, tcp_service("10.0.0.9:80")),
            Change::SetService(S3, tcp_service("10.0.0.9:81")),
        ]
    );
    // The old addresses are free, the new ones taken.
    run(&mut config, "add service old 10.0.0.2 TCP 80");
    run(&mut config, "add server web3 10.0.0.9");
    assert_eq!(
        super::refused(&config, "add service new web3 TCP 80"),
        "273 Resource already exists [service s2, 10.0.0.9:80]"
    );
}

#[test]
fn a_disabled_server_disables_its_services_and_enables_only_those_that_were() {
    let mut config = configured(SITE);
    let off = |id| Change::DisableService(id, Leave::AT_ONCE);
    let plan = run(&mut config, "disable service s3");
    assert_eq!(plan.changes, [off(S3)]);
    let plan = run(&mut config, "disable server web2");
    assert_eq!(plan.changes, [off(S2), off(S3)]);
    assert_eq!(run(&mut config, "enable service s3").changes, []);
    let plan = run(&mut config, "disable service s2");
    assert_eq!(plan.changes, [off(S2)], "it may be on its way");
    let plan = run(&mut config, "enable server web2");
    assert_eq!(
        plan.changes,
        [Change::SetService(S3, tcp_service("10.0.0.2:81"))]
    );
    let plan = run(&mut config, "enable service s2");
    assert_eq!(
        plan.changes,
        [Change::SetService(S2, tcp_service("10.0.0.2:80"))]
    );
}

#[test]
fn a_removed_service_is_unbound_everywhere_first() {
    let mut config = configured(SITE);
    run(&mut config, "bind lb vserver v3 s1");
    let plan = run(&mut config, "rm service s1");
    assert_eq!(
        plan.changes,
        [
            Change::Unbind(V1, S1),
            Change::Unbind(V3, S1),
            Change::RemoveService(S1),
        ]
    );
    let bound = |name: &str| config.vserver(name).unwrap().bindings().len();
    assert_eq!((bound("v1"), bound("v3")), (1, 0));
}

#[test]
fn a_removed_virtual_server_takes_its_bindings_along() {
    let mut config = configured(SITE);
    let plan = run(&mut config, "rm lb vserver v1 v3");
    assert_eq!(
        plan.changes,
        [Change::RemoveVserver(V1), Change::RemoveVserver(V3)]
    );
    let plan = run(&mut config, "rm service s1");
    assert_eq!(plan.changes, [Change::RemoveService(S1)]);
}

#[test]
fn numbers_are_never_used_again() {
    let mut config = configured(SITE);
    run(&mut config, "rm service u1");
    run(&mut config, "rm lb vserver v3");
    let service = run(&mut config, "add service u1 web1 UDP 53").changes;
    assert!(matches!(service[..], [Change::AddService(ServiceId(5), _)]));
    let vserver = run(&mut config, "add lb vserver v3 TCP").changes;
    assert!(matches!(vserver[..], [Change::AddVserver(VserverId(4), _)]));
    assert_eq!(config.service_by_id(U1), None);
    assert_eq!(config.vserver_by_id(V3), None);
}

#[test]
fn three_ports_of_one_server_stay_three_services() {
    let mut config = configured(&[
        "add server h 10.0.0.1",
        "add service a h TCP 8001",
        "add service b h TCP 8002",
        "add service c h TCP 8003",
        "add lb vserver v TCP 10.0.0.10 80",
        "bind lb vserver v a",
        "bind lb vserver v b",
        "bind lb vserver v c",
    ]);
    run(&mut config, "unbind lb vserver v b");
    let bindings = config.vserver("v").unwrap().bindings();
    let ports = bindings.iter().map(|binding| {
        let service = config.service_by_id(binding.service).unwrap();
        service.address().port()
    });
    assert_eq!(ports.collect::<Vec<_>>(), [8001, 8003]);
}

#[test]
fn a_service_on_an_address_makes_a_server_of_that_name_once() {
    let mut config = configured(&["add server web1 10.0.0.1"]);
    run(&mut config, "add service a 10.0.0.1 TCP 80");
    run(&mut config, "add service b 10.0.0.1 TCP 81");
    assert_eq!(
        config.names(sluice_command::Noun::Server),
        ["web1", "10.0.0.1"]
    );
    let server = config.server("10.0.0.1").unwrap();
    assert_eq!(config.services_of(server).count(), 2);
    // The name decides, not the address behind it.
    run(&mut config, "set server 10.0.0.1 -IPAddress 10.0.0.5");
    let plan = run(&mut config, "add service c 10.0.0.1 TCP 82");
    assert_eq!(
        plan.changes,
        [Change::AddService(S3, tcp_service("10.0.0.5:82"))]
    );
}

#[test]
fn an_address_is_one_name_however_it_is_written() {
    let mut config = configured(&["add server 2001:DB8:0::1 2001:db8::1"]);
    run(&mut config, "add service a 2001:0db8::0001 TCP 80");
    assert_eq!(config.servers().count(), 1);
    assert_eq!(config.service("a").unwrap().server(), "2001:db8::1");
    assert!(config.server("2001:db8:0:0::1").is_some());
}

#[test]
fn a_service_moves_to_another_address() {
    let mut config = configured(SITE);
    let plan = run(
        &mut config,
        "set service s1 -IPAddress 10.0.0.7 -maxClient 3",
    );
    let moved = ServiceSettings {
        max_client: Some(3),
        ..tcp_service("10.0.0.7:80")
    };
    assert_eq!(plan.changes, [Change::SetService(S1, moved)]);
    assert_eq!(config.service("s1").unwrap().server(), "10.0.0.7");
    assert_eq!(
        super::refused(&config, "rm server web1"),
        "315 Resource in use [service u1]"
    );
}

#[test]
fn set_without_a_unit_keeps_the_unit() {
    let mut config = configured(&["add lb vserver v1 TCP -newServiceRequest 25 PERCENT"]);
    run(&mut config, "set lb vserver v1 -newServiceRequest 10");
    let slow_start = core(&config).slow_start;
    assert_eq!((slow_start.rate, slow_start.unit), (10, RampUnit::Percent));
    run(&mut config, "unset lb vserver v1 -newServiceRequest");
    let slow_start = core(&config).slow_start;
    assert_eq!((slow_start.rate, slow_start.unit), (0, RampUnit::Percent));
    run(
        &mut config,
        "set lb vserver v1 -newServiceRequestRate 5 REQUESTS",
    );
    let slow_start = core(&config).slow_start;
    assert_eq!((slow_start.rate, slow_start.unit), (5, RampUnit::PerSecond));
}

#[test]
fn unset_returns_to_the_default() {
    let mut config = configured(SITE);
    let before = config.clone();
    run(
        &mut config,
        "set service s1 -maxClient 5 -svrTimeout 1 -comment x",
    );
    run(
        &mut config,
        "set lb vserver v1 -lbMethod ROUNDROBIN -cltTimeout 1",
    );
    assert_ne!(config, before);
    let plan = run(
        &mut config,
        "unset service s1 -maxClient -svrTimeout -comment",
    );
    assert_eq!(
        plan.changes,
        [Change::SetService(S1, tcp_service("10.0.0.1:80"))]
    );
    let plan = run(&mut config, "unset lb vserver v1 -lbMethod -cltTimeout");
    assert_eq!(
        plan.changes,
        [Change::SetVserver(V1, tcp_vserver(Some("10.0.0.10:80")))]
    );
    assert_eq!(config, before);
}
