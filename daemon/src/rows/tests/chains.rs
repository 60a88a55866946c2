//! Backups, spillover and orders in the rows.

use super::*;

#[test]
fn backups_and_orders_are_shown_as_the_core_has_them() {
    let mut world = World::new();
    for line in [
        "add lb vserver v3 TCP -soMethod HEALTH -soThreshold 100 -backupVServer v1",
        "bind lb vserver v3 s1 -order 5",
        "bind lb vserver v3 s2 -order 2",
        "bind lb vserver v3 s3 -order 1",
        "add lb vserver v4 TCP -backupVServer v3 -disablePrimaryOnDown ENABLED",
    ] {
        world.run(line);
    }
    let rows = world.rows("show lb vserver v3").unwrap();
    let [Row::Vserver(row)] = rows.as_slice() else {
        panic!("{rows:?}");
    };
    assert!(row.spilling_over && !row.held_down);
    // s3 is disabled: its order has nobody.
    assert_eq!(row.active_order, Some(2));
    let bound = row.bound.as_ref().unwrap().iter();
    let orders: Vec<_> = bound.map(|one| (one.order.unwrap(), one.standby)).collect();
    assert_eq!(orders, [(5, true), (2, false), (1, true)]);
    let rows = world.rows("stat lb vserver v3").unwrap();
    let [Row::VserverStat(stat)] = rows.as_slice() else {
        panic!("{rows:?}");
    };
    assert_eq!((stat.spilling_over, stat.spillover_threshold), (true, 100));
    let bound = stat.bound.as_ref().unwrap().iter();
    let orders: Vec<_> = bound.map(|one| (one.order.unwrap(), one.standby)).collect();
    assert_eq!(orders, [(5, true), (2, false), (1, true)]);

    // It is DOWN; its chain is not.
    let states = |world: &mut World| {
        let rows = world.rows("show lb vserver v4").unwrap();
        let [Row::Vserver(row)] = rows.as_slice() else {
            panic!("{rows:?}");
        };
        (
            row.state.clone(),
            row.effective_state.clone(),
            row.held_down,
        )
    };
    assert_eq!(states(&mut world), (text("DOWN"), text("UP"), false));
    world.run("bind lb vserver v4 s1");
    assert_eq!(states(&mut world), (text("UP"), text("UP"), false));
    world.run("unbind lb vserver v4 s1");
    world.run("bind lb vserver v4 s1");
    assert_eq!(states(&mut world), (text("DOWN"), text("UP"), true));
    world.run("enable lb vserver v4");
    assert_eq!(states(&mut world), (text("UP"), text("UP"), false));
}
