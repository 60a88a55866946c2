//! Groups: whose persistence the core is told, who may join, and the lines that are saved.

use sluice_balance::{
    AddressMask, Change, GroupId, Persistence, PersistenceKind, PersistenceTimeout,
    SkipPersistence, VserverId, VserverSettings,
};

use super::{configured, planned, refused, run, tcp_vserver};
use crate::Config;

const SITE: &[&str] = &[
    "add lb vserver v1 TCP",
    "add lb vserver v2 TCP -persistenceType DESTIP -timeout 30 -skippersistency Bypass",
    "add lb vserver v3 TCP",
];

fn shared(minutes: u64) -> Persistence {
    Persistence {
        kind: PersistenceKind::SourceIp,
        mask: AddressMask::ALL,
        timeout: PersistenceTimeout::new(minutes).unwrap(),
        skip: SkipPersistence::None,
        trofs: true,
        group: Some(GroupId(1)),
    }
}

fn told(id: u32, persistence: Option<Persistence>) -> Change {
    let settings = VserverSettings {
        persistence,
        ..tcp_vserver(None)
    };
    Change::SetVserver(VserverId(id), settings)
}

fn of(config: &Config, name: &str) -> Option<Persistence> {
    let vserver = config.vserver(name).unwrap();
    config.core_of_vserver(vserver).persistence
}

#[test]
fn the_persistence_of_a_group_takes_the_place_of_its_members_own() {
    let mut config = configured(SITE);
    let plan = run(
        &mut config,
        "add lb group g -persistenceType SOURCEIP -timeout 5",
    );
    assert_eq!((plan.changes.len(), plan.warnings.len()), (0, 0));
    let plan = run(&mut config, "bind lb group g v1 v2");
    let bypass = Persistence {
        skip: SkipPersistence::Bypass,
        trofs: true,
        ..shared(5)
    };
    assert_eq!(
        plan.changes,
        [told(1, Some(shared(5))), told(2, Some(bypass))]
    );
    assert_eq!(
        plan.warnings,
        ["-persistenceType DESTIP of lb vserver v2 has no effect while it is in lb group g"]
    );
    let options = config.vserver_options(config.vserver("v2").unwrap());
    assert_eq!(
        (
            &*options["persistenceType"],
            &*options["timeout"],
            &*options["skippersistency"]
        ),
        ("SOURCEIP", "5", "Bypass")
    );

    let plan = run(&mut config, "set lb group g -timeout 7");
    assert_eq!(plan.changes.len(), 2);
    assert_eq!(of(&config, "v1"), Some(shared(7)));
    let plan = run(&mut config, "unset lb group g -persistenceType");
    assert_eq!(plan.changes.len(), 2);
    assert_eq!((of(&config, "v1"), of(&config, "v2")), (None, None));
    run(&mut config, "set lb group g -persistenceType SOURCEIP");

    // Its own counts again for who leaves, by whatever way.
    let plan = run(&mut config, "unbind lb group g v1");
    assert_eq!(plan.changes, [told(1, None)]);
    run(&mut config, "rm lb group g");
    let own = of(&config, "v2").unwrap();
    assert_eq!((own.kind, own.group), (PersistenceKind::DestIp, None));
    assert_eq!(config, configured(SITE));
}

#[test]
fn a_group_comes_with_its_first_member_and_goes_with_its_last() {
    let mut config = configured(SITE);
    run(&mut config, "bind lb group g v1 v3");
    assert_eq!(
        config
            .group("g")
            .map(|group| config.members_of(group).count()),
        Some(2)
    );
    run(&mut config, "unbind lb group g v3");
    assert!(config.group("g").is_some());
    run(&mut config, "unbind lb group g v1");
    assert!(config.group("g").is_none());
    // One that was made without members, or whose members were removed, stays.
    run(&mut config, "add lb group g");
    run(&mut config, "bind lb group g v1");
    run(&mut config, "rm lb vserver v1");
    assert_eq!(
        config
            .group("g")
            .map(|group| config.members_of(group).count()),
        Some(0)
    );
    run(&mut config, "add lb vserver v1 TCP");
    assert!(config.group_of(config.vserver("v1").unwrap()).is_none());
}

#[test]
fn a_virtual_server_is_in_one_group_and_once() {
    let mut config = configured(SITE);
    run(&mut config, "bind lb group g v1");
    run(&mut config, "add lb group h");
    for (line, text) in [
        ("add lb group g", "273 Resource already exists"),
        ("bind lb group g v2 v1", "273 Resource already exists"),
        ("bind lb group h v2 v1", "315 Resource in use [lb group g]"),
        (
            "bind lb group h v2 nope",
            "258 No such resource [vServerName, nope]",
        ),
        (
            "unbind lb group h v1",
            "258 No such resource [vServerName, v1]",
        ),
        (
            "unbind lb group nope v1",
            "258 No such resource [name, nope]",
        ),
        (
            "set lb group nope -timeout 5",
            "258 No such resource [name, nope]",
        ),
    ] {
        assert_eq!(refused(&config, line), text, "{line}");
    }
}

#[test]
fn what_does_nothing_in_or_for_a_group_says_so() {
    let mut config = configured(SITE);
    run(&mut config, "bind lb group g v1");
    let warnings = |config: &Config, line: &str| planned(config, line).warnings;
    assert_eq!(
        warnings(&config, "set lb group g -timeout 5 -cookieName c"),
        [
            "-cookieName has no effect here [there are no cookies]",
            "-timeout has no effect with -persistenceType NONE",
        ]
    );
    let line = "set lb vserver v1 -timeout 5 -persistenceType SOURCEIP -skippersistency ReLb";
    let of_group =
        |option: &str| format!("-{option} has no effect while the virtual server is in lb group g");
    let all = ["persistenceType", "timeout", "skippersistency"].map(of_group);
    assert_eq!(warnings(&config, line), all);
    run(&mut config, "set lb group g -persistenceType SOURCEIP");
    assert_eq!(warnings(&config, line), all[..2]);
}

#[test]
fn groups_are_saved_behind_what_they_hold() {
    let mut config = configured(SITE);
    run(&mut config, "add service s1 10.0.0.1 TCP 80");
    run(&mut config, "bind lb vserver v1 s1");
    run(&mut config, "bind lb group g v2 v1");
    run(
        &mut config,
        "set lb group g -persistenceType SOURCEIP -persistMask 255.255.0.0",
    );
    run(&mut config, "add lb group \"h 2\" -rule \"x y\"");
    let lines = config.render();
    assert_eq!(
        lines[lines.len() - 5..],
        [
            "add lb group g -persistenceType SOURCEIP -persistMask 255.255.0.0",
            "add lb group \"h 2\" -rule \"x y\"",
            "bind lb vserver v1 s1",
            "bind lb group g v2",
            "bind lb group g v1",
        ]
    );
    assert_eq!(super::saved::reloaded(&config), config);
}
