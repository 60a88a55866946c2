//! Objects that get other names: everything that names them follows, and the core hears of nothing.

use proptest::prelude::*;

use super::saved::reloaded;
use super::{configured, refused, run};

/// A command that renames, over the few names of random sequences.
pub(super) fn line() -> impl Strategy<Value = String> {
    let of = |noun: &'static str, names: &[&'static str]| {
        let name = prop::sample::select(names.to_vec());
        (name.clone(), name).prop_map(move |(old, new)| format!("rename {noun} {old} {new}"))
    };
    prop_oneof![
        of(
            "server",
            &["h1", "h2", "\"h 3\"", "10.0.0.1", "2001:db8::1"]
        ),
        of("service", &["s1", "s2", "\"s 4\"", "sg"]),
        of("serviceGroup", &["sg", "s1", "g2"]),
        of("lb vserver", &["v1", "v2", "v#3", "v4"]),
        of("lb group", &["g1", "\"g 2\""]),
    ]
}

const SITE: &[&str] = &[
    "add server h1 10.0.0.1",
    "add server 10.0.0.2 10.0.0.2",
    "add service s1 h1 TCP 80",
    "add serviceGroup g TCP",
    "add lb vserver v1 TCP",
    "add lb vserver v2 TCP -backupVServer v1",
    "bind lb vserver v1 s1",
    "bind lb vserver v1 g",
    "bind serviceGroup g h1 8080 -weight 3",
    "bind serviceGroup g 10.0.0.2 8080",
    "add lb group p -persistenceType SOURCEIP",
    "bind lb group p v2",
];

#[test]
fn what_names_an_object_follows_and_the_core_hears_of_nothing() {
    let mut config = configured(SITE);
    for line in [
        "rename server h1 web1",
        "rename server 10.0.0.2 web2",
        "rename service s1 t1",
        "rename serviceGroup g k",
        "rename lb vserver v1 w1",
        "rename lb group p q",
    ] {
        let plan = run(&mut config, line);
        assert_eq!((plan.changes.len(), plan.warnings.len()), (0, 0), "{line}");
    }
    let other = configured(&[
        "add server web1 10.0.0.1",
        "add server web2 10.0.0.2",
        "add service t1 web1 TCP 80",
        "add serviceGroup k TCP",
        "add lb vserver w1 TCP",
        "add lb vserver v2 TCP -backupVServer w1",
        "bind lb vserver w1 t1",
        "bind lb vserver w1 k",
        "bind serviceGroup k web1 8080 -weight 3",
        "bind serviceGroup k web2 8080",
        "add lb group q -persistenceType SOURCEIP",
        "bind lb group q v2",
    ]);
    assert_eq!(config.render(), other.render());
    assert_eq!(config, other);
    assert_eq!(reloaded(&config), config);
    // It is found by its other name, and its former one is free.
    let group = config.service_group("k").unwrap();
    let member = config.member(group, "web1", 8080).unwrap();
    assert_eq!(
        (member.name(), member.group_name()),
        ("k?web1?8080", Some("k"))
    );
    assert!(config.server("h1").is_none() && config.service("s1").is_none());
    run(&mut config, "add server h1 10.0.0.1");
    run(&mut config, "add service s1 h1 TCP 81");
    run(&mut config, "unbind serviceGroup k web1 8080");
    run(&mut config, "rm lb vserver v2");
    run(&mut config, "rm lb vserver w1");
}

#[test]
fn names_that_are_taken_are_refused() {
    let mut config = configured(SITE);
    run(&mut config, "add service s2 h1 TCP 81");
    for (line, text) in [
        (
            "rename server h1 10.0.0.2",
            "433 Server name already exists",
        ),
        ("rename server h9 h8", "258 No such resource [name, h9]"),
        ("rename service s1 s2", "273 Resource already exists"),
        ("rename service s1 s1", "273 Resource already exists"),
        (
            "rename service s1 g",
            "1263 Service group with this name already exists",
        ),
        (
            "rename serviceGroup g s1",
            "432 Name conflicts with an existing service or service group member name",
        ),
        ("rename lb vserver v1 v2", "273 Resource already exists"),
        ("rename lb group p p", "273 Resource already exists"),
    ] {
        assert_eq!(refused(&config, line), text, "{line}");
    }
}
