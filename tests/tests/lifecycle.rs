//! From the running configuration to the file and back, against the real daemon.

use std::io::{Read, Write};

use sluice_tests::daemon::Daemon;
use sluice_tests::rig::Rig;
use sluice_tests::services::TcpService;

const DONE: &str = " Done\n";

#[test]
fn running_saved_and_earlier_configurations_can_be_compared() {
    let daemon = Daemon::start();
    assert_eq!(daemon.ok("diff ns config"), DONE);
    assert_eq!(
        daemon.ok("show ns savedConfig"),
        DONE,
        "nothing was saved yet"
    );
    daemon.ok("add server a 10.0.0.1");
    assert_eq!(
        daemon.ok("diff ns config"),
        format!("+ add server a 10.0.0.1\n{DONE}")
    );
    daemon.ok("save ns config");
    assert_eq!(daemon.ok("diff ns config"), DONE);
    assert_eq!(
        daemon.ok("show ns.conf"),
        format!("add server a 10.0.0.1\n{DONE}")
    );
    daemon.ok("set server a -IPAddress 10.0.0.2");
    let moved = "- add server a 10.0.0.1\n+ add server a 10.0.0.2\n";
    assert_eq!(daemon.ok("diff ns config"), format!("{moved}{DONE}"));
    assert_eq!(
        daemon.ok("show ns rollbackcmd"),
        format!("set server a -IPAddress 10.0.0.1\n{DONE}")
    );
    let ran = daemon.run("diff ns config ns.conf.0");
    assert_eq!(
        (ran.code, ran.err.as_str()),
        (1, "ERROR: No such file [ns.conf.0]\n")
    );
    daemon.ok("save ns config");
    assert_eq!(
        daemon.ok("diff ns config ns.conf.0 saved"),
        format!("{moved}{DONE}")
    );
    daemon.ok("rm server a");
    daemon.ok("save ns config");
    assert_eq!(
        daemon.ok("diff config ns.conf.1 ns.conf.0"),
        format!("{moved}{DONE}")
    );
    assert_eq!(
        daemon.json("diff ns config ns.conf.0"),
        serde_json::json!(["- add server a 10.0.0.2"])
    );
}

#[test]
fn a_configuration_is_cleared_as_a_whole_and_only_on_purpose() {
    let service = TcpService::echo();
    let rig = Rig::tcp(&[service.address()], "");
    rig.daemon.ok("set lb parameter -lbHashAlgorithm PRAC");
    rig.daemon.ok("save ns config");
    let ran = rig.daemon.run("clear ns config basic");
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{ran:?}");
    assert!(
        ran.err.contains("  clear ns config basic -force\n"),
        "{ran:?}"
    );
    let mut client = rig.connect();
    client.write_all(b"hello").expect("the daemon reads");
    client.read_exact(&mut [0; 5]).expect("the service answers");

    rig.daemon.ok("clear ns config -force basic");
    assert_eq!(rig.daemon.ok("show ns runningConfig"), DONE);
    assert!(
        std::net::TcpStream::connect(rig.listen).is_err(),
        "nobody listens any more"
    );
    // The file is as it was, and so is what comes back from it.
    let saved = rig.daemon.ok("show ns savedConfig");
    assert!(saved.contains("bind lb vserver v1 s1\n"), "{saved}");
    let back = rig.daemon.ok("show ns rollbackcmd");
    assert_eq!(
        rig.daemon.batch(back.trim_end_matches(DONE)).code,
        0,
        "{back}"
    );
    assert_eq!(rig.daemon.ok("diff ns config"), DONE);
    let mut client = rig.connect();
    client.write_all(b"hello").expect("the daemon reads");
    client.read_exact(&mut [0; 5]).expect("the service answers");
    drop(client);
    rig.finish();
}

#[test]
fn clearing_keeps_the_lines_that_failed_unless_they_are_to_go_too() {
    let text = "add server a 10.0.0.1\nnosuch\n";
    for (level, failures) in [("basic", 1), ("extended", 0), ("full", 0)] {
        let daemon = Daemon::start_with(text);
        daemon.ok(&format!("clear ns config {level} -force"));
        let status = daemon.json("show ns config");
        let listed = status["boot_failures"].as_array().expect("rows").len();
        assert_eq!(listed, failures, "{level}");
        assert_eq!(
            daemon.run("save ns config").code,
            i32::from(failures > 0),
            "{level}"
        );
    }
}

#[test]
fn defaults_can_be_shown_and_typed() {
    let daemon = Daemon::start();
    daemon.ok("add lb vserver v1 TCP");
    let all = daemon.ok("show ns runningConfig -withDefaults");
    assert!(all.contains(" -state ENABLED"), "{all}");
    assert!(all.contains("set lb parameter -"), "{all}");
    let before = daemon.ok("show ns runningConfig");
    daemon.ok("clear ns config full -force");
    let ran = daemon.batch(all.trim_end_matches(DONE));
    assert_eq!(
        (ran.code, ran.err.as_str()),
        (0, "2 commands, 0 failed\n"),
        "{ran:?}"
    );
    assert_eq!(daemon.ok("show ns runningConfig"), before);
}
