//! Services and servers that are disabled gradually.

use std::time::Duration;

use sluice_balance::{Change, Leave, ServiceId};

use super::{SITE, configured, planned, run};
use crate::plan_line;

const S1: ServiceId = ServiceId(1);
const S2: ServiceId = ServiceId(2);
const S3: ServiceId = ServiceId(3);

fn leave(delay: Option<u64>, graceful: bool) -> Leave {
    Leave {
        delay: delay.map(Duration::from_secs),
        graceful,
    }
}

#[test]
fn core_is_told_how_a_service_is_to_leave() {
    let config = configured(SITE);
    for (words, expected) in [
        ("", leave(None, false)),
        ("60", leave(Some(60), false)),
        ("0", leave(Some(0), false)),
        ("-graceFul YES", leave(None, true)),
        ("-graceFul NO", leave(None, false)),
        ("1998 -graceFul YES", leave(Some(1998), true)),
        ("4294967295 -gr no", leave(Some(4_294_967_295), false)),
    ] {
        let changes = planned(&config, &format!("disable service s1 {words}")).changes;
        assert_eq!(changes, [Change::DisableService(S1, expected)], "{words}");
        let changes = planned(&config, &format!("disable server web2 {words}")).changes;
        let both = [S2, S3].map(|id| Change::DisableService(id, expected));
        assert_eq!(changes, both, "{words}");
    }
}

#[test]
fn what_is_no_delay_is_refused_with_what_is() {
    let config = configured(SITE);
    for (words, text) in [
        ("s1 4294967296", "Integer not in range [delay, 4294967296]"),
        ("s1 soon", "Invalid argument value [delay, soon]"),
        ("s1 60 60", "Argument has too many values [delay, 60]"),
        (
            "s1 60 -graceFul MAYBE",
            "Invalid argument value [graceFul, MAYBE]",
        ),
        ("s1 -graceFul", "Required argument value missing [graceFul]"),
    ] {
        let refused = plan_line(&config, &format!("disable service {words}")).unwrap_err();
        assert_eq!(refused.to_string(), text, "{words}");
    }
}

#[test]
fn it_is_saved_as_disabled_from_the_first_moment() {
    let mut config = configured(&["add server web1 10.0.0.1", "add service s1 web1 TCP 80"]);
    run(&mut config, "disable service s1 60 -graceFul YES");
    assert!(config.render()[1].ends_with(" -state DISABLED"));
    let mut other = configured(&["add server web1 10.0.0.1", "add service s1 web1 TCP 80"]);
    run(&mut other, "disable service s1");
    assert_eq!(config, other);
    run(&mut config, "disable server web1 60");
    assert_eq!(
        config.render()[0],
        "add server web1 10.0.0.1 -state DISABLED"
    );
}

#[test]
fn service_of_a_server_that_is_disabled_stays_so_when_it_is_enabled_itself() {
    let mut config = configured(SITE);
    run(&mut config, "disable service s2 60");
    run(&mut config, "disable server web2 -graceFul YES");
    assert_eq!(planned(&config, "enable service s2").changes, []);
    let changes = planned(&config, "enable server web2").changes;
    assert!(
        matches!(changes[..], [Change::SetService(S3, _)]),
        "{changes:?}"
    );
}
