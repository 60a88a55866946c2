//! Service groups: what the core is told of members, what is refused, and the lines that are saved.

use proptest::prelude::*;
use std::time::Duration;

use sluice_balance::{Bind, Change, Leave, Order, ServiceId, ServiceSettings, VserverId};

use super::saved::reloaded;
use super::{configured, planned, refused, run, tcp_service, weight};
use crate::{Config, load_file};

const SITE: &[&str] = &[
    "add server h1 10.0.0.1",
    "add server h2 10.0.0.2",
    "add service s1 h1 TCP 80",
    "add serviceGroup g TCP -maxClient 7 -svrTimeout 60",
    "add lb vserver v1 TCP 10.0.0.10 80",
    "add lb vserver v2 TCP",
    "bind lb vserver v1 g",
    "bind serviceGroup g h1 8080",
    "bind serviceGroup g h2 8080 -weight 3 -order 2 -hashId 5",
];

/// A command on service groups over few names, so that many of them meet; for random sequences.
pub(super) fn line() -> impl Strategy<Value = String> {
    let group = || prop::sample::select(vec!["sg", "s1", "g2"]);
    let vserver = || prop::sample::select(vec!["v1", "v2", "v#3", "v4"]);
    let server = || prop::sample::select(vec!["h1", "h2", "\"h 3\"", "10.0.0.1", "2001:db8::1"]);
    let protocol = || prop::sample::select(vec!["TCP", "UDP"]);
    let switch = || prop::sample::select(vec!["enable", "disable"]);
    let port = || 1_u16..4;
    prop_oneof![
        3 => (group(), protocol(), group_option())
            .prop_map(|(g, t, o)| format!("add serviceGroup {g} {t} {o}")),
        6 => (group(), server(), port(), member_option())
            .prop_map(|(g, s, p, o)| format!("bind serviceGroup {g} {s} {p} {o}")),
        2 => (group(), server(), port())
            .prop_map(|(g, s, p)| format!("unbind serviceGroup {g} {s} {p}")),
        2 => (group(), server(), port(), 1_u8..=100)
            .prop_map(|(g, s, p, w)| format!("set serviceGroup {g} {s} {p} -weight {w} -order 3")),
        1 => (group(), server(), port())
            .prop_map(|(g, s, p)| format!("unset serviceGroup {g} {s} {p} -weight -hashId -order")),
        2 => group().prop_map(|g| format!("set serviceGroup {g} -maxClient 9 -comment \"a b\"")),
        1 => group().prop_map(|g| format!("unset serviceGroup {g} -maxClient -comment")),
        1 => group().prop_map(|g| format!("rm serviceGroup {g}")),
        1 => (switch(), group()).prop_map(|(word, g)| format!("{word} serviceGroup {g}")),
        1 => group().prop_map(|g| format!("disable serviceGroup {g} -delay 9 -graceFul YES")),
        1 => (switch(), group(), server(), port())
            .prop_map(|(word, g, s, p)| format!("{word} serviceGroup {g} {s} {p}")),
        5 => (vserver(), group()).prop_map(|(v, g)| format!("bind lb vserver {v} {g}")),
        1 => (vserver(), group()).prop_map(|(v, g)| format!("bind lb vserver {v} {g} -weight 3 -order 2")),
        1 => (vserver(), group()).prop_map(|(v, g)| format!("set lb vserver {v} -order 4 {g} -weight 2 {g}")),
        1 => (vserver(), group()).prop_map(|(v, g)| format!("unbind lb vserver {v} {g}")),
    ]
}

fn group_option() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "",
        "-maxClient 5 -cip ENABLED X-Forwarded-For",
        "-state DISABLED -sp ON",
        "-autoScale DISABLED -memberPort 80 -devno 7",
        "-maxBandwidth 3 -svrTimeout 0 -downStateFlush DISABLED",
    ])
}

fn member_option() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "",
        "-weight 3",
        "-state DISABLED -hashId 7",
        "-order 2 -CustomServerID x",
        "-weight 1 -dbsTTL 5 -nameServer 10.0.0.5 -devno 9",
    ])
}

fn member(address: &str) -> ServiceSettings {
    ServiceSettings {
        max_client: Some(7),
        idle: Some(Duration::from_secs(60)),
        ..tcp_service(address)
    }
}

fn bind(vserver: u32, service: u32, share: u64, order: Option<u64>) -> Bind {
    Bind {
        vserver: VserverId(vserver),
        service: ServiceId(service),
        weight: weight(share),
        order: order.map(|order| Order::new(order).unwrap()),
    }
}

#[test]
fn a_member_is_a_service_of_the_core_bound_where_its_group_is() {
    let mut config = configured(&SITE[..8]);
    let plan = run(&mut config, SITE[8]);
    let second = ServiceSettings {
        hash_id: Some(5),
        ..member("10.0.0.2:8080")
    };
    assert_eq!(
        plan.changes,
        [
            Change::AddService(ServiceId(3), second),
            Change::Bind(bind(1, 3, 3, Some(2))),
        ]
    );
    let plan = run(&mut config, "bind lb vserver v2 g -order 9");
    assert_eq!(
        plan.changes,
        [
            Change::Bind(bind(2, 2, 1, Some(9))),
            Change::Bind(bind(2, 3, 3, Some(2))),
        ]
    );
    // An address becomes a server of that name.
    run(
        &mut config,
        "bind serviceGroup g 10.0.0.3 81 -state DISABLED",
    );
    assert!(config.server("10.0.0.3").is_some());
    let third = config.services().last().unwrap();
    assert_eq!(
        (third.name(), third.group_name()),
        ("g?10.0.0.3?81", Some("g"))
    );
    assert!(!config.takes_part(third));

    let plan = run(&mut config, "unbind lb vserver v2 g");
    let gone = |vserver, service| Change::Unbind(VserverId(vserver), ServiceId(service));
    assert_eq!(plan.changes, [gone(2, 2), gone(2, 3), gone(2, 4)]);
    let plan = run(&mut config, "unbind serviceGroup g h1 8080");
    assert_eq!(
        plan.changes,
        [gone(1, 2), Change::RemoveService(ServiceId(2))]
    );
    let plan = run(&mut config, "rm serviceGroup g");
    assert_eq!(
        plan.changes,
        [
            gone(1, 3),
            Change::RemoveService(ServiceId(3)),
            gone(1, 4),
            Change::RemoveService(ServiceId(4)),
        ]
    );
    assert!(config.vserver("v1").unwrap().bindings().is_empty());
}

#[test]
fn what_is_said_of_a_group_holds_for_every_member() {
    let mut config = configured(SITE);
    let plan = run(&mut config, "set serviceGroup g -maxClient 8");
    let (first, second) = (ServiceId(2), ServiceId(3));
    let eight = |address, hash_id| ServiceSettings {
        max_client: Some(8),
        hash_id,
        ..member(address)
    };
    assert_eq!(
        plan.changes,
        [
            Change::SetService(first, eight("10.0.0.1:8080", None)),
            Change::SetService(second, eight("10.0.0.2:8080", Some(5))),
        ]
    );
    let plan = run(&mut config, "disable serviceGroup g");
    assert_eq!(plan.changes.len(), 2);
    // One that is added now is out of service, too; each has a state of its own.
    run(&mut config, "bind serviceGroup g h2 8081");
    run(&mut config, "disable serviceGroup g h1 8080");
    let takes_part = |config: &Config| -> Vec<bool> {
        let group = config.service_group("g").unwrap();
        let members = config.members_of_service_group(group);
        members.map(|member| config.takes_part(member)).collect()
    };
    assert_eq!(takes_part(&config), [false, false, false]);
    run(&mut config, "enable serviceGroup g");
    assert_eq!(takes_part(&config), [false, true, true]);
    run(&mut config, "disable server h2");
    run(&mut config, "enable serviceGroup g h1 8080");
    assert_eq!(takes_part(&config), [true, false, false]);
}

#[test]
fn a_group_and_a_member_leave_as_they_are_told() {
    let mut config = configured(SITE);
    let leave = |delay: Option<u64>, graceful| Leave {
        delay: delay.map(Duration::from_secs),
        graceful,
    };
    let told = |member, leave| Change::DisableService(ServiceId(member), leave);
    let plan = run(&mut config, "disable serviceGroup g h2 8080 -delay 30");
    assert_eq!(plan.changes, [told(3, leave(Some(30), false))]);
    let line = "disable serviceGroup g -delay 60 -graceFul YES";
    let both = leave(Some(60), true);
    assert_eq!(
        run(&mut config, line).changes,
        [told(2, both), told(3, both)]
    );
    let saved = config.render();
    assert!(saved[3].ends_with(" -state DISABLED"), "{saved:?}");
    let plan = run(&mut config, "enable serviceGroup g");
    assert_eq!(
        plan.changes,
        [Change::SetService(ServiceId(2), member("10.0.0.1:8080"))]
    );
}

#[test]
fn a_members_own_options_are_changed_in_place() {
    let mut config = configured(SITE);
    let plan = run(&mut config, "set serviceGroup g h1 8080 -weight 5");
    assert_eq!(plan.changes, [Change::SetWeight(bind(1, 2, 5, None))]);
    // The order of the group is that of members without their own.
    let plan = run(&mut config, "set lb vserver v1 -order 7 g");
    assert_eq!(plan.changes, [Change::SetWeight(bind(1, 2, 5, Some(7)))]);
    let plan = run(&mut config, "unset serviceGroup g h2 8080 -order -hashId");
    assert_eq!(
        plan.changes,
        [
            Change::SetWeight(bind(1, 3, 3, Some(7))),
            Change::SetService(ServiceId(3), member("10.0.0.2:8080")),
        ]
    );
    let plan = planned(&config, "set serviceGroup g h2 8080 -weight 3");
    assert!(plan.changes.is_empty());
}

#[test]
fn what_has_no_effect_is_said_once() {
    let mut config = configured(SITE);
    let warned = |config: &Config, line: &str| planned(config, line).warnings;
    assert_eq!(
        warned(&config, "bind lb vserver v2 g -weight 2"),
        ["-weight has no effect here [the members of a service group have weights of their own]"]
    );
    assert_eq!(
        warned(&config, "bind serviceGroup g h1 90 -CustomServerID x"),
        ["-CustomServerID has no effect here [there is no persistence by identifier]"]
    );
    assert_eq!(
        warned(&config, "set serviceGroup g -usip YES"),
        ["-usip has no effect here [connections to a service always use an address of this host]"]
    );
    run(&mut config, "set lb vserver v1 -soMethod DYNAMICCONNECTION");
    assert_eq!(
        warned(&config, "set serviceGroup g -maxClient 0"),
        ["No spillover on the vserver due to max client setting '0' on a bound service [g]"]
    );
}

#[test]
fn refusals_have_the_texts_of_the_reference() {
    let mut config = configured(SITE);
    run(&mut config, "add serviceGroup u UDP");
    run(&mut config, "add serviceGroup k TCP");
    run(&mut config, "bind serviceGroup k h1 8080");
    run(&mut config, "add service s2 h2 TCP 8080");
    run(&mut config, "add server twin 10.0.0.1");
    for (line, text) in [
        ("add serviceGroup g TCP", "273 Resource already exists"),
        (
            "add serviceGroup s1 TCP",
            "432 Name conflicts with an existing service or service group member name",
        ),
        (
            "add service g h1 TCP 99",
            "1263 Service group with this name already exists",
        ),
        ("bind serviceGroup g h1 8080", "273 Resource already exists"),
        (
            "bind serviceGroup g twin 8080",
            "273 Resource already exists [serviceGroup g, 10.0.0.1:8080]",
        ),
        (
            "bind serviceGroup x h1 80",
            "258 No such resource [serviceGroupName, x]",
        ),
        (
            "bind serviceGroup g x 80",
            "258 No such resource [serverName, x]",
        ),
        (
            "bind serviceGroup g",
            "1095 Required argument missing [serverName]",
        ),
        (
            "unbind serviceGroup g",
            "1095 Required argument missing [serverName]",
        ),
        (
            "unbind serviceGroup g h2 80",
            "258 No such resource [serverName, h2, 80]",
        ),
        (
            "bind lb vserver v1 u",
            "1304 Service type mismatch between the vserver and service [vserver TCP, service UDP]",
        ),
        ("bind lb vserver v1 g", "273 Resource already exists"),
        (
            "unbind lb vserver v2 g",
            "1303 Service not bound to Vserver [serviceName, g]",
        ),
        (
            "set lb vserver v2 -order 2 g",
            "1303 Service not bound to Vserver [serviceName, g]",
        ),
        (
            "bind lb vserver v1 k",
            "429 IP, port conflict with an entity already bound to the vserver \
             [lb vserver v1, serviceGroup g, 10.0.0.1:8080]",
        ),
        (
            "bind lb vserver v1 s2",
            "429 IP, port conflict with an entity already bound to the vserver \
             [lb vserver v1, serviceGroup g, 10.0.0.2:8080]",
        ),
        (
            "rm server h1",
            "315 Resource in use [service s1, serviceGroup g 8080, serviceGroup k 8080]",
        ),
        (
            "set serviceGroup g -weight 3",
            "1093 Argument pre-requisite missing [weight, serverName]",
        ),
        (
            "set serviceGroup g h1 8080 -maxClient 3",
            "1092 Arguments cannot both be specified [serverName, maxClient]",
        ),
    ] {
        assert_eq!(refused(&config, line), text, "{line}");
    }
    // Groups that share an address are no trouble until one virtual server has both.
    run(&mut config, "bind lb vserver v2 k");
    run(&mut config, "bind lb vserver v1 s1");
    assert_eq!(
        refused(&config, "bind serviceGroup g h1 80"),
        "428 IP, port conflict with another entity bound to the same vserver \
         [lb vserver v1, service s1, 10.0.0.1:80]"
    );
    run(&mut config, "bind serviceGroup g h2 80");
    assert_eq!(
        refused(&config, "set server h2 -IPAddress 10.0.0.1"),
        "273 Resource already exists [serviceGroup g, 10.0.0.1:8080]"
    );
    run(
        &mut config,
        "set lb parameter -allowBoundSvcRemoval DISABLED",
    );
    assert_eq!(
        refused(&config, "rm serviceGroup g"),
        "315 Resource in use [lb vserver v1]"
    );
}

#[test]
fn a_moved_server_meets_nobody_on_a_virtual_server() {
    let config = configured(&[
        "add server h1 10.0.0.1",
        "add server h2 10.0.0.2",
        "add service s1 h1 TCP 80",
        "add serviceGroup g TCP",
        "add lb vserver v1 TCP",
        "bind serviceGroup g h2 80",
        "bind lb vserver v1 g",
        "bind lb vserver v1 s1",
    ]);
    let conflict = "428 IP, port conflict with another entity bound to the same vserver ";
    assert_eq!(
        refused(&config, "set server h2 -IPAddress 10.0.0.1"),
        format!("{conflict}[lb vserver v1, service s1, 10.0.0.1:80]")
    );
    assert_eq!(
        refused(&config, "set service s1 -IPAddress 10.0.0.2"),
        format!("{conflict}[lb vserver v1, serviceGroup g, 10.0.0.2:80]")
    );
}

#[test]
fn saved_lines_have_the_order_and_the_form_of_the_reference() {
    let mut config = configured(SITE);
    run(&mut config, "bind lb vserver v1 s1");
    run(&mut config, "disable serviceGroup g h2 8080");
    let train = "-maxReq 0 -cip DISABLED -usip NO -useproxyport YES -cltTimeout 9000 \
                 -svrTimeout 60 -CKA NO -TCPB NO -CMP NO";
    let lines = config.render();
    let lines: Vec<&str> = lines.iter().map(String::as_str).skip(3).collect();
    assert_eq!(
        lines,
        [
            &*format!("add serviceGroup g TCP -maxClient 7 {train}"),
            "add lb vserver v1 TCP 10.0.0.10 80 -persistenceType NONE -cltTimeout 9000",
            "add lb vserver v2 TCP 0.0.0.0 0 -persistenceType NONE -cltTimeout 9000",
            "bind lb vserver v1 s1",
            "bind lb vserver v1 g",
            "bind serviceGroup g h1 8080",
            "bind serviceGroup g h2 8080 -weight 3 -hashId 5 -state DISABLED -order 2",
        ]
    );
    assert_eq!(reloaded(&config), config);
}

#[test]
fn a_line_as_an_appliance_saves_it_loads() {
    let saved = "\
add server web1 10.0.0.1 -devno 3
add serviceGroup sg HTTP -maxClient 0 -maxReq 0 -cip ENABLED X-Forwarded-For -usip NO -useproxyport YES -cltTimeout 180 -svrTimeout 360 -CKA YES -TCPB NO -CMP NO -appflowLog DISABLED -devno 5
add lb vserver v HTTP 10.0.0.9 80 -persistenceType NONE -cltTimeout 180
bind lb vserver v sg
bind serviceGroup sg web1 80 -CustomServerID \"\\\"None\\\"\" -devno 9
bind servicegroup sg 10.0.0.2 80 -state disabled -weight 50
";
    let (config, report) = load_file(saved.as_bytes());
    assert_eq!(report.failed(), 0, "{report:?}");
    let bound = config.vserver("v").unwrap().bindings();
    assert_eq!(bound.len(), 2);
    assert_eq!(reloaded(&config), config);
}

#[test]
fn the_way_changes_members_in_place_where_it_can() {
    let present = configured(SITE);
    let mut other = configured(SITE);
    run(&mut other, "set serviceGroup g h1 8080 -weight 9 -hashId 3");
    run(&mut other, "unset serviceGroup g h2 8080 -order");
    run(&mut other, "disable serviceGroup g h2 8080");
    run(&mut other, "set serviceGroup g -maxClient 1");
    run(&mut other, "bind serviceGroup g h2 90");
    let way = present.way_to(&other);
    assert!(way.arrives);
    let lines: Vec<String> = way.commands.iter().map(sluice_command::render).collect();
    assert_eq!(
        lines,
        [
            "set serviceGroup g -maxClient 1",
            "set serviceGroup g h1 8080 -weight 9 -hashId 3",
            "unset serviceGroup g h2 8080 -order",
            "disable serviceGroup g h2 8080",
            "bind serviceGroup g h2 90",
        ]
    );
    let back = other.way_to(&present);
    assert!(back.arrives);
    let mut reached = other.clone();
    reached.commit(back.plan);
    assert_eq!(reached, present);
    // Another type cannot be had in place.
    let mut other = configured(&SITE[..3]);
    run(&mut other, "add serviceGroup g UDP");
    let way = present.way_to(&other);
    assert!(way.arrives);
}
