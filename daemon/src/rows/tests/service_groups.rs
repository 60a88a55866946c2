//! The rows of service groups: members are named by their group and their address.

use sluice_protocol::{BoundGroup, ServiceGroupMember};

use super::*;

/// The world with a service group of two members on its first virtual server.
fn world() -> World {
    let mut world = World::new();
    for line in [
        "add serviceGroup sg TCP -maxClient 9",
        "bind lb vserver v1 sg -order 5",
        "bind serviceGroup sg h1 8101 -weight 4",
        "bind serviceGroup sg h2 8102",
    ] {
        world.run(line);
    }
    world
}

#[test]
fn a_group_is_shown_with_its_members_when_they_are_asked_for() {
    let mut world = world();
    let rows = world.rows("show serviceGroup").unwrap();
    let [Row::ServiceGroup(all)] = rows.as_slice() else {
        panic!("{rows:?}");
    };
    assert_eq!(
        (all.name.as_str(), all.service_type.as_str()),
        ("sg", "TCP")
    );
    assert_eq!(
        (all.state.as_str(), all.effective_state.as_str()),
        ("ENABLED", "PARTIAL-UP")
    );
    assert_eq!((all.members_total, all.members_active), (2, 1));
    assert_eq!(all.settings["maxClient"], "9");
    assert_eq!(all.members, None);
    for line in ["show serviceGroup sg", "show serviceGroup -includeMembers"] {
        let rows = world.rows(line).unwrap();
        let [Row::ServiceGroup(row)] = rows.as_slice() else {
            panic!("{rows:?}");
        };
        let members = row.members.as_deref().unwrap();
        let second = ServiceGroupMember {
            server: text("h2"),
            address: text("2001:db8::2"),
            port: text("8102"),
            state: text("OUT OF SERVICE"),
            state_change_unix_ms: 996_000,
            state_age_ms: 4_000,
            drain: None,
            tcp_inline: watched(),
            settings: members[1].settings.clone(),
        };
        assert_eq!(members[1], second);
        let weights: Vec<&str> = members
            .iter()
            .map(|member| member.settings["weight"].as_str())
            .collect();
        assert_eq!(weights, ["4", "1"]);
    }
    let fault = world.rows("show serviceGroup x").unwrap_err();
    assert_eq!(fault.to_string(), "No such resource [serviceGroupName, x]");
}

#[test]
fn a_virtual_server_shows_its_groups_apart_from_its_services() {
    let mut world = world();
    let rows = world.rows("show lb vserver v1").unwrap();
    let [Row::Vserver(row)] = rows.as_slice() else {
        panic!("{rows:?}");
    };
    let names = |bound: &[BoundService]| -> Vec<String> {
        let bound = bound.iter();
        bound
            .map(|row| format!("{} {}", row.name, row.port))
            .collect()
    };
    assert_eq!(names(row.bound.as_deref().unwrap()), ["s2 8002", "s3 8003"]);
    let [
        BoundGroup {
            name,
            order,
            members,
        },
    ] = row.bound_groups.as_deref().unwrap()
    else {
        panic!("{row:?}");
    };
    assert_eq!((name.as_str(), *order), ("sg", Some(5)));
    assert_eq!(names(members), ["sg 8101", "sg 8102"]);
    assert_eq!((members[0].weight, members[0].order), (4, Some(5)));
    assert_eq!((row.services_total, row.services_active), (4, 2));
    // A list of services has none of the members, their server has.
    assert_eq!(world.rows("show service").unwrap().len(), 3);
    let rows = world.rows("show server h1").unwrap();
    let [Row::Server(row)] = rows.as_slice() else {
        panic!("{rows:?}");
    };
    let services = row.services.iter();
    let services: Vec<_> = services
        .map(|s| (s.name.as_str(), s.port.as_str()))
        .collect();
    assert_eq!(services, [("s1", "8001"), ("s2", "8002"), ("sg", "8101")]);
}

#[test]
fn bindings_and_statistics_are_found_by_group_and_member() {
    let mut world = world();
    let rows = world.rows("show servicegroupbindings sg").unwrap();
    let [Row::ServiceGroupBinding(bound)] = rows.as_slice() else {
        panic!("{rows:?}");
    };
    assert_eq!((bound.name.as_str(), bound.port.as_str()), ("v1", "9000"));
    let rows = world.rows("stat serviceGroup sg").unwrap();
    let [Row::ServiceGroupStat(stat)] = rows.as_slice() else {
        panic!("{rows:?}");
    };
    assert_eq!(
        (
            stat.state.as_str(),
            stat.members_active,
            stat.members_inactive
        ),
        ("PARTIAL-UP", 1, 1)
    );
    let members = stat.members.as_deref().unwrap();
    assert_eq!(
        (members[0].name.as_str(), members[0].port.as_str()),
        ("sg", "8101")
    );
    let rows = world.rows("stat serviceGroupMember sg h2 8102").unwrap();
    let [Row::ServiceStat(stat)] = rows.as_slice() else {
        panic!("{rows:?}");
    };
    assert_eq!((stat.port.as_str(), stat.state.as_str()), ("8102", "OFS"));
    let fault = world.rows("stat serviceGroupMember sg h2 1").unwrap_err();
    assert_eq!(fault.to_string(), "No such resource [serverName, h2, 1]");
}
