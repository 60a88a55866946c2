//! What holds for all virtual servers: told to the core once, saved as one line.

use std::time::Duration;

use sluice_balance::{
    Change, Engine, Fingers, HashAlgorithm, HashSettings, Instant, PassiveSettings, Percent,
    VserverId,
};

use super::{SITE, configured, planned, refused, run};
use crate::Config;

#[test]
fn an_untouched_configuration_is_that_of_an_untouched_core() {
    let totals = Engine::new().persistence_totals(Instant::default());
    let config = Config::new();
    let options = config.parameter_options();
    assert_eq!(options["sessionsThreshold"], totals.limit.to_string());
    assert_eq!(
        config.objects.parameter.passive(),
        PassiveSettings::default()
    );
    let config = configured(&["add lb vserver v1 TCP"]);
    assert_eq!(super::core(&config).hash, HashSettings::default());
    assert_eq!(config.render().len(), 1);
}

#[test]
fn the_most_sessions_are_one_change_and_one_line() {
    let mut config = configured(SITE);
    let plan = run(&mut config, "set lb parameter -sessionsThreshold 300000");
    assert_eq!(plan.changes, [Change::SetPersistenceLimit(300_000)]);
    assert_eq!(plan.warnings, [""; 0]);
    assert_eq!(
        config.render()[6],
        "set lb parameter -sessionsThreshold 300000"
    );
    assert!(config.render()[5].starts_with("add service "));
    assert!(config.render()[7].starts_with("add lb vserver "));
    let same = planned(&config, "set lb parameter -sessionsThreshold 300000");
    assert_eq!(same.changes, []);
    let plan = run(&mut config, "unset lb parameter -sessionsThreshold");
    assert_eq!(plan.changes, [Change::SetPersistenceLimit(150_000)]);
    assert_eq!(config, configured(SITE));
}

#[test]
fn how_hashes_work_is_told_to_every_virtual_server() {
    let mut config = configured(&["add lb vserver v1 TCP", "add lb vserver v2 UDP"]);
    let line = "set lb parameter -lbHashAlgorithm JARH -lbHashFingers 64 -usePortForHashLb NO";
    let plan = run(&mut config, line);
    let expected = HashSettings {
        use_port: false,
        algorithm: HashAlgorithm::Jarh(Fingers::new(64).unwrap()),
        ..HashSettings::default()
    };
    let told: Vec<_> = plan
        .changes
        .iter()
        .map(|change| match change {
            Change::SetVserver(id, settings) => (*id, settings.hash),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(told, [(VserverId(1), expected), (VserverId(2), expected)]);
    // One that comes later, and one that is changed later, have it too.
    run(&mut config, "add lb vserver v3 TCP");
    run(&mut config, "set lb vserver v1 -lbMethod SOURCEIPHASH");
    for vserver in config.vservers() {
        assert_eq!(config.core_of_vserver(vserver).hash, expected);
    }
    run(&mut config, "set lb parameter -lbHashAlgorithm PRAC");
    let fingers = Fingers::new(64).unwrap();
    assert_eq!(
        super::core(&config).hash.algorithm,
        HashAlgorithm::Prac(fingers)
    );
    assert_eq!(
        config.render()[0],
        "set lb parameter -usePortForHashLb NO -lbHashAlgorithm PRAC -lbHashFingers 64"
    );
}

#[test]
fn a_bound_service_stays_where_it_may_not_go() {
    let mut config = configured(SITE);
    run(
        &mut config,
        "set lb parameter -allowBoundSvcRemoval DISABLED",
    );
    assert_eq!(
        refused(&config, "rm service s1"),
        "315 Resource in use [lb vserver v1]"
    );
    run(&mut config, "rm service s3");
    run(&mut config, "unbind lb vserver v1 s1");
    run(&mut config, "rm service s1");
    run(&mut config, "unset lb parameter -allowBoundSvcRemoval");
    run(&mut config, "rm service s2");
}

#[test]
fn the_startup_factor_is_one_change_and_warns_of_nothing() {
    let mut config = configured(SITE);
    let plan = run(&mut config, "set lb parameter -startupRRFactor 5");
    assert_eq!(plan.changes, [Change::SetStartupFactor(5)]);
    assert_eq!(plan.warnings, [""; 0]);
    assert_eq!(config.render()[6], "set lb parameter -startupRRFactor 5");
    let same = planned(&config, "set lb parameter -startupRRFactor 5");
    assert_eq!(same.changes, []);
    let plan = run(&mut config, "unset lb parameter -startupRRFactor");
    assert_eq!(plan.changes, [Change::SetStartupFactor(0)]);
    assert_eq!(config, configured(SITE));
}

#[test]
fn how_connections_are_watched_is_one_change_and_one_line() {
    let mut config = configured(SITE);
    let line = "set lb parameter -tcpInlineRetries 5 -tcpInlineShare 50 -tcpInlineSample 20 \
        -tcpInlineResptimeout 2 -tcpInlineDownTime 3 -tcpInlineMaxDownTime 60";
    let plan = run(&mut config, line);
    let settings = PassiveSettings {
        enabled: true,
        retries: 5,
        share: Percent::new(50).unwrap(),
        sample: 20,
        response_timeout: Duration::from_secs(2),
        down_time: Duration::from_secs(3),
        max_down_time: Duration::from_secs(60),
    };
    assert_eq!(plan.changes, [Change::SetPassive(settings)]);
    assert_eq!(plan.warnings, [""; 0]);
    assert_eq!(config.render()[6], line);
    assert_eq!(super::saved::reloaded(&config), config);
    let plan = run(&mut config, "set lb parameter -tcpInline DISABLED");
    let off = PassiveSettings {
        enabled: false,
        ..settings
    };
    assert_eq!(plan.changes, [Change::SetPassive(off)]);
    let plan = run(
        &mut config,
        "unset lb parameter -tcpInline -tcpInlineRetries -tcpInlineShare -tcpInlineSample \
            -tcpInlineResptimeout -tcpInlineDownTime -tcpInlineMaxDownTime",
    );
    assert_eq!(
        plan.changes,
        [Change::SetPassive(PassiveSettings::default())]
    );
    assert_eq!(config, configured(SITE));
}

#[test]
fn watching_that_has_no_effect_says_so() {
    let config = configured(&[]);
    for (options, warnings) in [
        (
            "-tcpInline DISABLED -tcpInlineRetries 3 -tcpInlineDownTime 20",
            vec![
                "-tcpInlineRetries has no effect with -tcpInline DISABLED",
                "-tcpInlineDownTime has no effect with -tcpInline DISABLED",
            ],
        ),
        (
            "-tcpInlineShare 0 -tcpInlineSample 50",
            vec!["-tcpInlineSample has no effect with -tcpInlineShare 0"],
        ),
        (
            "-tcpInlineDownTime 60 -tcpInlineMaxDownTime 59",
            vec!["-tcpInlineMaxDownTime has no effect with a shorter time than -tcpInlineDownTime"],
        ),
        ("-tcpInlineDownTime 60 -tcpInlineMaxDownTime 60", vec![]),
    ] {
        let line = format!("set lb parameter {options}");
        assert_eq!(planned(&config, &line).warnings, warnings, "{line}");
    }
}

#[test]
fn connect_tries_are_one_change_and_one_line() {
    let mut config = configured(SITE);
    let plan = run(&mut config, "set lb parameter -connectTries 1");
    assert_eq!(plan.changes, [Change::SetConnectTries(1)]);
    assert_eq!(config.render()[6], "set lb parameter -connectTries 1");
    let plan = run(&mut config, "unset lb parameter -connectTries");
    assert_eq!(plan.changes, [Change::SetConnectTries(3)]);
    assert_eq!(config, configured(SITE));
}

#[test]
fn what_does_nothing_is_kept_and_says_so() {
    let mut config = configured(&[]);
    let line = "set lb parameter -consolidatedLConn NO -maxPipelineNat 5 -undefAction RESET";
    assert_eq!(
        run(&mut config, line).warnings,
        [
            "-consolidatedLConn has no effect here [they are always counted together]",
            "-maxPipelineNat has no effect here [requests of a session are not counted]",
            "-undefAction has no effect here [there are no rules]",
        ]
    );
    assert_eq!(config.render(), [line]);
    assert_eq!(super::saved::reloaded(&config), config);
    assert_eq!(
        planned(&config, "set lb parameter -lbHashFingers 9").warnings,
        ["-lbHashFingers has no effect with -lbHashAlgorithm DEFAULT"]
    );
    let defaults = "set lb parameter -consolidatedLConn YES -startupRRFactor 0 -lbHashFingers 256";
    assert_eq!(planned(&config, defaults).warnings, [""; 0]);
}
