//! Backups, spillover and orders: from typed options to what the core is told, and back to a line.

use sluice_balance::{
    Backup, Bind, Change, Order, Orders, Percent, PersistenceTimeout, ServiceId, Spillover,
    SpilloverAction, SpilloverMethod, VserverId, VserverSettings,
};

use super::saved::reloaded;
use super::{SITE, configured, core, planned, refused, run, tcp_vserver, weight};
use crate::{Config, Verdict, check_file};

/// Returns what a virtual server with these options tells the core of its backups.
fn backup(options: &str) -> Backup {
    let lines = [
        "add lb vserver b TCP",
        &format!("add lb vserver v1 TCP {options}"),
    ];
    core(&configured(&lines)).backup
}

fn spillover(method: SpilloverMethod) -> Option<Spillover> {
    Some(Spillover {
        method,
        persistence: None,
        action: SpilloverAction::Drop,
    })
}

fn percent(percent: u64) -> Percent {
    Percent::new(percent).unwrap()
}

fn order(order: u64) -> Option<Order> {
    Some(Order::new(order).unwrap())
}

#[test]
fn every_option_of_backups_reaches_the_core() {
    assert_eq!(backup(""), Backup::default());
    assert_eq!(
        backup("-backupVServer b -disablePrimaryOnDown ENABLED"),
        Backup {
            vserver: Some(VserverId(1)),
            disable_primary_on_down: true,
            spillover: None,
        }
    );
    for (options, method) in [
        (
            "CONNECTION -soThreshold 100",
            SpilloverMethod::Connections(100),
        ),
        ("DYNAMICCONNECTION", SpilloverMethod::DynamicConnections),
        (
            "BANDWIDTH -soThreshold 4294967287",
            SpilloverMethod::Bandwidth(4_294_967_287),
        ),
        (
            "HEALTH -soThreshold 100",
            SpilloverMethod::Health(percent(100)),
        ),
    ] {
        let told = backup(&format!("-soMethod {options}"));
        assert_eq!(told.spillover, spillover(method), "{options}");
    }
    let all = "-soMethod CONNECTION -soThreshold 1 -soPersistence ENABLED -soPersistenceTimeOut \
               1440 -soBackupAction ACCEPT";
    let expected = Spillover {
        method: SpilloverMethod::Connections(1),
        persistence: Some(PersistenceTimeout::new(1440).unwrap()),
        action: SpilloverAction::Accept,
    };
    assert_eq!(backup(all).spillover, Some(expected));
    let usual = backup("-soMethod DYNAMICCONNECTION -soPersistence ENABLED").spillover;
    let kept = usual.and_then(|spillover| spillover.persistence);
    assert_eq!(kept, Some(PersistenceTimeout::DEFAULT));
}

#[test]
fn thresholds_and_orders_reach_the_core() {
    let mut config = configured(SITE);
    run(
        &mut config,
        "set lb vserver v1 -healthThreshold 50 -orderThreshold 2 -toggleOrder DESCENDING",
    );
    let told = core(&config);
    assert_eq!(told.health_threshold, percent(50));
    let orders = Orders {
        threshold: 2,
        descending: true,
    };
    assert_eq!(told.orders, orders);
    run(
        &mut config,
        "unset lb vserver v1 -healthThreshold -orderThreshold -toggleOrder",
    );
    assert_eq!(config, configured(SITE));

    let mut bind = Bind {
        vserver: VserverId(1),
        service: ServiceId(3),
        weight: weight(7),
        order: order(8192),
    };
    let plan = run(&mut config, "bind lb vserver v1 s3 -order 8192 -weight 7");
    assert_eq!(plan.changes, [Change::Bind(bind)]);
    bind.order = order(2);
    let plan = run(&mut config, "set lb vserver v1 -order 2 s3");
    assert_eq!(plan.changes, [Change::SetWeight(bind)]);
    bind.weight = weight(1);
    bind.order = order(3);
    let line = "set lb vserver v1 -weight 1 s3 -order 3 s3";
    assert_eq!(run(&mut config, line).changes, [Change::SetWeight(bind)]);
    assert_eq!(run(&mut config, line).changes, []);
    assert_eq!(
        config.render().last().unwrap(),
        "bind lb vserver v1 s3 -order 3"
    );
    // Two services by one command.
    let plan = run(&mut config, "set lb vserver v1 -weight 9 s1 -order 4 s2");
    let changed = |service, weight, order| {
        let vserver = VserverId(1);
        Change::SetWeight(Bind {
            vserver,
            service: ServiceId(service),
            weight,
            order,
        })
    };
    assert_eq!(
        plan.changes,
        [changed(1, weight(9), None), changed(2, weight(3), order(4))]
    );
}

#[test]
fn the_bandwidth_of_a_service_is_limited() {
    let mut config = configured(SITE);
    let limit = |config: &Config| config.core_of(config.service("s1").unwrap()).max_bandwidth;
    assert_eq!(limit(&config), None);
    run(&mut config, "set service s1 -maxBandwidth 4294967287");
    assert_eq!(limit(&config), Some(4_294_967_287));
    assert!(config.render()[2].contains(" -CMP NO -maxBandwidth 4294967287"));
    run(&mut config, "set service s1 -maxBandwidth 0");
    assert_eq!(config, configured(SITE));
}

#[test]
fn what_cannot_be_a_backup_is_refused() {
    let config = configured(&[
        "add lb vserver v1 TCP",
        "add lb vserver v2 TCP -backupVServer v1",
        "add lb vserver v3 TCP -backupVServer v2",
        "add lb vserver u1 UDP",
        "add lb vserver tls SSL_BRIDGE",
        "add lb vserver dns DNS",
    ]);
    for (line, expected) in [
        (
            "set lb vserver v1 -backupVServer v3",
            "2144 The VIP is already a backup in the chain [backupVServer, v3]",
        ),
        (
            "set lb vserver v1 -backupVServer v1",
            "2144 The VIP is already a backup in the chain [backupVServer, v1]",
        ),
        (
            "add lb vserver v4 TCP -backupVServer v4",
            "2144 The VIP is already a backup in the chain [backupVServer, v4]",
        ),
        (
            "set lb vserver v1 -backupVServer nope",
            "258 No such resource [backupVServer, nope]",
        ),
        (
            "add lb vserver v4 TCP -backupVServer nope",
            "258 No such resource [backupVServer, nope]",
        ),
        (
            "set lb vserver v1 -backupVServer u1",
            "471 Vserver type mismatch. [vserver TCP, backup UDP]",
        ),
        (
            "set lb vserver v1 -backupVServer tls",
            "471 Vserver type mismatch. [vserver TCP, backup SSL_BRIDGE]",
        ),
        ("rm lb vserver v1", "315 Resource in use [lb vserver v2]"),
        ("rm lb vserver v1 v2", "315 Resource in use [lb vserver v3]"),
    ] {
        assert_eq!(refused(&config, line), expected, "{line}");
    }
    for line in [
        "rm lb vserver v1 v3 v2",
        "set lb vserver u1 -backupVServer dns",
        "set lb vserver v3 -backupVServer v1",
        "add lb vserver v4 TCP -backupVServer v3",
    ] {
        planned(&config, line);
    }
}

#[test]
fn a_spillover_has_the_threshold_of_its_method() {
    let mut config = configured(&["add lb vserver v1 TCP"]);
    let missing = "1288 Spill-over threshold should be a non-zero value [soThreshold]";
    for method in ["CONNECTION", "BANDWIDTH", "HEALTH"] {
        let line = format!("set lb vserver v1 -soMethod {method}");
        assert_eq!(refused(&config, &line), missing);
        let line = format!("add lb vserver v2 TCP -soMethod {method}");
        assert_eq!(refused(&config, &line), missing);
    }
    assert_eq!(
        refused(
            &config,
            "set lb vserver v1 -soMethod HEALTH -soThreshold 101"
        ),
        "1161 Integer not in range [soThreshold, 101]"
    );
    let not_allowed = "1291 Spill-over threshold cannot be set for dynamic connection spill- over \
                       method [soThreshold]";
    assert_eq!(
        refused(
            &config,
            "set lb vserver v1 -soMethod DYNAMICCONNECTION -soThreshold 5"
        ),
        not_allowed
    );
    run(
        &mut config,
        "set lb vserver v1 -soMethod CONNECTION -soThreshold 5000",
    );
    // 5000 connections are not 5000 kbit/s.
    assert_eq!(
        refused(&config, "set lb vserver v1 -soMethod BANDWIDTH"),
        missing
    );
    run(&mut config, "set lb vserver v1 -soThreshold 6000");
    assert_eq!(
        core(&config).backup.spillover,
        spillover(SpilloverMethod::Connections(6000))
    );
    assert_eq!(
        refused(&config, "unset lb vserver v1 -soThreshold"),
        missing
    );
    run(&mut config, "set lb vserver v1 -soMethod DYNAMICCONNECTION");
    assert_eq!(
        refused(&config, "set lb vserver v1 -soThreshold 5"),
        not_allowed
    );
    run(&mut config, "unset lb vserver v1 -soMethod");
    run(
        &mut config,
        "set lb vserver v1 -soMethod HEALTH -soThreshold 50",
    );
    run(&mut config, "unset lb vserver v1 -soMethod");
    assert_eq!(config, configured(&["add lb vserver v1 TCP"]));
}

#[test]
fn what_does_nothing_says_so() {
    let config = configured(&["add lb vserver v1 TCP"]);
    let warnings = |options: &str| {
        let line = format!("set lb vserver v1 {options}");
        planned(&config, &line).warnings
    };
    assert_eq!(
        warnings(
            "-soThreshold 5 -soPersistence ENABLED -soPersistenceTimeOut 9 -soBackupAction drop"
        ),
        [
            "-soThreshold has no effect with -soMethod NONE",
            "-soPersistence has no effect with -soMethod NONE",
            "-soPersistenceTimeOut has no effect with -soMethod NONE",
            "-soBackupAction has no effect with -soMethod NONE",
        ]
    );
    assert_eq!(
        warnings(
            "-soMethod CONNECTION -soThreshold 5 -soPersistenceTimeOut 9 -soBackupAction REDIRECT"
        ),
        [
            "-soPersistenceTimeOut has no effect with -soPersistence DISABLED",
            "-soBackupAction REDIRECT has no effect here [clients are not sent elsewhere: as DROP]",
        ]
    );
    assert_eq!(
        warnings("-disablePrimaryOnDown ENABLED"),
        ["-disablePrimaryOnDown has no effect without -backupVServer"]
    );
    let none: [&str; 0] = [];
    assert_eq!(
        warnings("-soMethod CONNECTION -soThreshold 5 -soPersistence ENABLED -soBackupAction DROP"),
        none
    );
    assert_eq!(
        warnings("-disablePrimaryOnDown DISABLED -soPersistence DISABLED"),
        none
    );
}

#[test]
fn a_service_without_a_limit_keeps_its_virtual_server_from_spilling() {
    let mut config = configured(SITE);
    let warning = |service: &str| {
        format!(
            "No spillover on the vserver due to max client setting '0' on a bound service [{service}]"
        )
    };
    run(&mut config, "set service s1 -maxClient 5");
    let plan = run(&mut config, "set lb vserver v1 -soMethod DYNAMICCONNECTION");
    assert_eq!(plan.warnings, [warning("s2")]);
    let plan = planned(&config, "bind lb vserver v1 s3");
    assert_eq!(plan.warnings, [warning("s3")]);
    let plan = planned(&config, "set service s1 -maxClient 0");
    assert_eq!(plan.warnings, [warning("s1")]);
    let none: [&str; 0] = [];
    assert_eq!(
        planned(&config, "set service s2 -maxClient 1").warnings,
        none
    );
    assert_eq!(
        planned(&config, "set lb vserver v1 -cltTimeout 1").warnings,
        none
    );
}

#[test]
fn enabling_reaches_the_core_even_where_it_changes_nothing() {
    let mut config = configured(&["add lb vserver v1 TCP"]);
    let enable = Change::EnableVserver(VserverId(1));
    let line = "enable lb vserver v1";
    assert_eq!(
        planned(&config, line).changes,
        std::slice::from_ref(&enable)
    );
    run(&mut config, "disable lb vserver v1");
    let settings = Change::SetVserver(VserverId(1), tcp_vserver(None));
    assert_eq!(planned(&config, line).changes, [settings, enable]);
}

#[test]
fn lines_are_read_and_written_back_in_the_order_of_the_table() {
    for line in [
        "add lb vserver v1 TCP 10.0.0.1 80 -persistenceType NONE -cltTimeout 9000 -soMethod \
         CONNECTION -soPersistence ENABLED -soPersistenceTimeOut 5 -healthThreshold 30 \
         -soThreshold 100 -soBackupAction REDIRECT -orderThreshold 2 -toggleOrder DESCENDING",
        "add lb vserver v1 UDP 10.0.0.1 80 -persistenceType NONE -cltTimeout 120 \
         -disablePrimaryOnDown ENABLED",
    ] {
        assert_eq!(configured(&[line]).render(), [line]);
    }
}

#[test]
fn a_backup_is_saved_behind_the_line_that_adds_it() {
    let mut config = configured(&[
        "add lb vserver v1 TCP -comment c",
        "add lb vserver v2 TCP -backupVServer v1 -disablePrimaryOnDown ENABLED",
        "add lb vserver \"v 3\" TCP",
    ]);
    run(
        &mut config,
        "set lb vserver v1 -backupVServer \"v 3\" -disablePrimaryOnDown ENABLED",
    );
    assert_eq!(
        config.render(),
        [
            "add lb vserver v1 TCP 0.0.0.0 0 -persistenceType NONE -cltTimeout 9000 -comment c",
            "add lb vserver v2 TCP 0.0.0.0 0 -persistenceType NONE -cltTimeout 9000 \
             -backupVServer v1 -disablePrimaryOnDown ENABLED",
            "add lb vserver \"v 3\" TCP 0.0.0.0 0 -persistenceType NONE -cltTimeout 9000",
            "set lb vserver v1 -backupVServer \"v 3\" -disablePrimaryOnDown ENABLED",
        ]
    );
    assert_eq!(reloaded(&config), config);
    let expected = VserverSettings {
        backup: Backup {
            vserver: Some(VserverId(3)),
            disable_primary_on_down: true,
            spillover: None,
        },
        ..tcp_vserver(None)
    };
    assert_eq!(core(&config), expected);
}

/// The verdict on each line of a file: `ok`, its warnings, or its fault.
fn verdicts(text: &str) -> Vec<String> {
    let report = check_file(text.as_bytes());
    let verdicts = report.lines.iter().map(|line| match &line.verdict {
        Verdict::Done(warnings) if warnings.is_empty() => "ok".to_owned(),
        Verdict::Done(warnings) => warnings.join("; "),
        Verdict::Skipped(feature) => format!("skipped, {feature}"),
        Verdict::Error(fault) => fault.to_string(),
    });
    verdicts.collect()
}

#[test]
fn a_file_may_name_a_backup_before_it_adds_it() {
    let text = "add lb vserver v1 TCP -backupVServer v2 -disablePrimaryOnDown ENABLED\n\
                # a comment\n\
                add lb vserver v2 TCP -backupVServer v3\n\
                add lb vserver v3 TCP\n\
                set lb vserver v1 -comment c\n";
    assert_eq!(verdicts(text), ["ok"; 4]);
}

#[test]
fn a_file_whose_backup_never_comes_or_cannot_be_one_fails_at_that_line() {
    let missing = "No such resource [backupVServer, v9]";
    let circle = "The VIP is already a backup in the chain [backupVServer, v3]";
    let text = "add lb vserver v1 TCP -backupVServer v9\n\
                add lb vserver v2 TCP -backupVServer v3\n\
                add lb vserver v3 TCP -backupVServer v2\n\
                add lb vserver v4 TCP -backupVServer v4\n\
                set lb vserver v4 -backupVServer v9\n\
                bind lb vserver v1 nope\n";
    let itself = "The VIP is already a backup in the chain [backupVServer, v4]";
    let nobody = "No such resource [serviceName, nope]";
    assert_eq!(
        verdicts(text),
        [missing, circle, "ok", itself, missing, nobody]
    );
}

#[test]
fn a_later_line_has_the_last_word_on_a_backup() {
    // v1 gets its backup as soon as that exists, not at the end.
    let mut config = Config::new();
    let mut loader = crate::Loader::default();
    let lines = [
        "add lb vserver v1 TCP -backupVServer v2",
        "add lb vserver v2 TCP",
        "unset lb vserver v1 -backupVServer",
    ];
    let mut late = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let plan = loader.plan(&config, index + 1, line).unwrap().unwrap();
        config.commit(plan);
        for line in loader.handle_done() {
            run(&mut config, &line.text);
            late.push(line);
        }
    }
    assert_eq!(loader.finish(), []);
    let line = crate::LateLine {
        number: 1,
        text: "set lb vserver v1 -backupVServer v2".to_owned(),
    };
    assert_eq!(late, [line]);
    assert_eq!(
        config,
        configured(&["add lb vserver v1 TCP", "add lb vserver v2 TCP"])
    );
}

#[test]
fn a_name_that_stands_twice_is_refused_whatever_it_names() {
    let mut config = configured(SITE);
    run(&mut config, "bind lb group g v1");
    let repeated = |name: &str| format!("10001 Argument specified more than once [name, {name}]");
    for (noun, name) in [("lb vserver", "v1"), ("server", "web2"), ("lb group", "g")] {
        let line = format!("rm {noun} {name} {name}");
        assert_eq!(refused(&config, &line), repeated(name), "{line}");
    }
    for verb in ["bind", "unbind"] {
        assert_eq!(
            refused(&config, &format!("{verb} lb group g v1 v1")),
            "10001 Argument specified more than once [vServerName, v1]"
        );
    }
    // Two spellings of one address.
    let config = configured(&["add server 2001:db8::1 2001:db8::1"]);
    assert_eq!(
        refused(&config, "rm server 2001:db8::1 2001:DB8::1"),
        repeated("2001:DB8::1")
    );
}
