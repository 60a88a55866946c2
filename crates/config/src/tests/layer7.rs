//! What looks into what clients send: kept, and something of Layer 4 in its place, or said to be lost.

use std::time::Duration;

use sluice_balance::{Method, PersistenceKind};

use super::{SITE, configured, core, planned, refused, run};

const COOKIE: &str = "-persistenceType COOKIEINSERT has no effect here [there are no cookies: ";

fn kind_and_timeout(config: &crate::Config) -> Option<(PersistenceKind, Duration)> {
    let persistence = core(config).persistence?;
    Some((persistence.kind, persistence.timeout.duration()))
}

#[test]
fn a_kind_of_persistence_that_is_not_here_gives_way_to_its_backup() {
    let mut config = configured(&[]);
    let line = "add lb vserver v1 TCP -persistenceType COOKIEINSERT -timeout 0";
    let warnings = run(&mut config, line).warnings;
    assert_eq!(
        warnings,
        [format!("{COOKIE}clients do not stay with a service]")]
    );
    assert_eq!(core(&config).persistence, None);

    let line = "set lb vserver v1 -persistenceBackup SOURCEIP -backupPersistenceTimeout 5";
    let warnings = run(&mut config, line).warnings;
    let counts = format!("{COOKIE}-persistenceBackup SOURCEIP counts]");
    assert_eq!(warnings, [counts]);
    let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
    assert_eq!(
        kind_and_timeout(&config),
        Some((PersistenceKind::SourceIp, minutes(5)))
    );
    // What has been said is not said again.
    let plan = planned(&config, "set lb vserver v1 -cltTimeout 5");
    assert_eq!(plan.warnings, [""; 0]);
    assert_eq!(
        config.render(),
        [
            "add lb vserver v1 TCP 0.0.0.0 0 -persistenceType COOKIEINSERT -timeout 0 \
             -persistenceBackup SOURCEIP -backupPersistenceTimeout 5 -cltTimeout 9000"
        ]
    );
    assert_eq!(super::saved::reloaded(&config), config);

    run(
        &mut config,
        "set lb vserver v1 -persistenceType DESTIP -timeout 9",
    );
    let plan = run(&mut config, "set lb vserver v1 -backupPersistenceTimeout 7");
    assert_eq!(
        plan.warnings,
        ["-backupPersistenceTimeout has no effect with -persistenceType DESTIP"]
    );
    assert_eq!(
        kind_and_timeout(&config),
        Some((PersistenceKind::DestIp, minutes(9)))
    );
}

#[test]
fn a_group_can_have_such_a_kind_too() {
    let mut config = configured(SITE);
    run(&mut config, "bind lb group g v1");
    let line =
        "set lb group g -persistenceType COOKIEINSERT -timeout 0 -persistenceBackup SOURCEIP";
    let warnings = run(&mut config, line).warnings;
    assert_eq!(
        warnings,
        [format!("{COOKIE}-persistenceBackup SOURCEIP counts]")]
    );
    assert_eq!(
        kind_and_timeout(&config),
        Some((PersistenceKind::SourceIp, Duration::from_secs(120)))
    );
}

#[test]
fn only_a_cookie_lasts_for_no_minutes() {
    let config = configured(&[
        "add lb vserver v1 TCP -persistenceType COOKIEINSERT -timeout 0",
        "add lb vserver v2 TCP -persistenceType SOURCEIP",
        "add lb group g -persistenceType COOKIEINSERT -timeout 1",
    ]);
    let text = |minutes| {
        format!(
            "2136 Timeout value out of range; enter a value between 2 minutes and 1440 minutes \
             [timeout, {minutes}]"
        )
    };
    for (line, minutes) in [
        (
            "add lb vserver v3 TCP -persistenceType SOURCEIP -timeout 0",
            0,
        ),
        ("set lb vserver v2 -timeout 1", 1),
        ("set lb vserver v1 -persistenceType DESTIP", 0),
        ("set lb group g -persistenceType SOURCEIP", 1),
    ] {
        assert_eq!(refused(&config, line), text(minutes), "{line}");
    }
    planned(
        &config,
        "set lb vserver v1 -persistenceType DESTIP -timeout 2",
    );
    planned(&config, "unset lb vserver v1 -persistenceType");
}

#[test]
fn a_method_that_is_not_here_gives_way_to_its_backup() {
    let mut config = configured(&[]);
    let warnings = run(&mut config, "add lb vserver v1 TCP -lbMethod URLHASH").warnings;
    let warning =
        |why: &str, backup: &str| format!("-lbMethod {why}: -backupLBMethod {backup} decides]");
    let urls = "URLHASH has no effect here [URLs and domains are not looked at";
    assert_eq!(warnings, [warning(urls, "ROUNDROBIN")]);
    assert_eq!(core(&config).method, Method::RoundRobin);
    for (backup, method) in [
        ("LEASTCONNECTION", Method::LeastConnection),
        ("LEASTRESPONSETIME", Method::LeastResponseTime),
        ("SOURCEIPHASH", Method::SourceIpHash),
        ("LEASTBANDWIDTH", Method::LeastBandwidth),
        ("LEASTPACKETS", Method::LeastPackets),
    ] {
        let line = format!("set lb vserver v1 -backupLBMethod {backup}");
        assert_eq!(run(&mut config, &line).warnings, [warning(urls, backup)]);
        assert_eq!(core(&config).method, method);
    }
    let line = "set lb vserver v1 -lbMethod TOKEN -rule CLIENT.UDP.RADIUS.USERNAME";
    let rules = "TOKEN has no effect here [there are no rules";
    assert_eq!(
        run(&mut config, line).warnings,
        [
            "-rule has no effect here [there are no rules]".to_owned(),
            warning(rules, "LEASTPACKETS"),
        ]
    );
    assert_eq!(core(&config).method, Method::LeastPackets);
    assert_eq!(super::saved::reloaded(&config), config);
    assert_eq!(
        refused(&config, "unset lb vserver v1 -rule"),
        "1093 Argument pre-requisite missing [lbMethod==TOKEN, dataLength]"
    );
}

#[test]
fn what_would_let_somebody_in_who_is_kept_out_is_refused() {
    for (option, value) in [
        ("Authentication", "ON"),
        ("authn401", "ON"),
        ("Listenpolicy", "CLIENT.IP.SRC.IN_SUBNET(10.0.0.0/8)"),
    ] {
        let line = format!("add lb vserver v TCP -{option} {value}");
        let refused = crate::plan_line(&configured(&[]), &line).unwrap_err();
        assert_eq!(
            refused.to_string(),
            format!("Invalid argument value [{option}, {value}]")
        );
    }
    let off = "add lb vserver v TCP -Authentication OFF -authn401 OFF -Listenpolicy NONE";
    let plan = planned(&configured(&[]), off);
    assert_eq!(plan.warnings, [""; 0]);
}
