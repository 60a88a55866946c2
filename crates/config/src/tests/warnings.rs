//! What is accepted and does nothing says so, once, and only where it would have done something.

use super::{SITE, configured, planned, run};

#[test]
fn an_option_without_effect_warns_once() {
    let config = configured(SITE);
    let warnings = planned(&config, "set service s1 -usip YES -cip ENABLED X-Client").warnings;
    assert_eq!(
        warnings,
        [
            "-usip has no effect here [connections to a service always use an address of this \
             host]",
            "-cip has no effect here [HTTP headers are not touched]",
        ]
    );
}

/// Both objects have the option; the client's side belongs to the virtual server.
#[test]
fn the_client_timeout_of_a_service_warns_and_that_of_a_virtual_server_works() {
    let config = configured(SITE);
    let plan = planned(&config, "set service s1 -cltTimeout 5");
    assert_eq!(
        plan.warnings,
        ["-cltTimeout has no effect here [cltTimeout of the virtual server decides]"]
    );
    assert_eq!(plan.changes, []);
    let plan = planned(&config, "set lb vserver v1 -cltTimeout 5");
    assert_eq!((plan.warnings.len(), plan.changes.len()), (0, 1));
}

#[test]
fn an_option_without_effect_is_kept_and_saved() {
    let mut config = configured(SITE);
    run(
        &mut config,
        "set service s1 -usip YES -cip ENABLED X-Client",
    );
    assert!(config.render()[2].contains(" -cip ENABLED X-Client -usip YES "));
    assert_eq!(super::saved::reloaded(&config), config);
    run(&mut config, "unset service s1 -usip -cip");
    assert_eq!(config, configured(SITE));
}

#[test]
fn the_values_an_appliance_always_writes_warn_of_nothing() {
    let config = configured(SITE);
    let line = "add service s9 web1 TCP 99 -gslb NONE -maxClient 0 -maxReq 0 -cip DISABLED \
                -usip NO -useproxyport YES -sp OFF -cltTimeout 9000 -svrTimeout 9000 -CKA NO \
                -TCPB NO -CMP NO";
    assert_eq!(planned(&config, line).warnings, [""; 0]);
}

#[test]
fn slow_start_works_and_warns_of_nothing() {
    let config = configured(SITE);
    for line in [
        "add lb vserver v9 TCP -newServiceRequest 5",
        "set lb vserver v1 -newServiceRequest 5 PERCENT -newServiceRequestIncrementInterval 5",
    ] {
        assert_eq!(planned(&config, line).warnings, [""; 0], "{line}");
    }
}
