//! Every refusal says what the reference says, and changes nothing.

use sluice_tests::daemon::{Daemon, free_address};

/// Runs `line`, which must fail with `text` as its first line of errors and leave everything as it is.
fn refuse(daemon: &Daemon, line: &str, text: &str) {
    let before = daemon.ok("show ns runningConfig");
    let ran = daemon.run(line);
    assert_eq!(ran.code, 1, "{line}: {ran:?}");
    assert_eq!(ran.out, "", "{line}");
    let error = ran.err.lines().find(|line| line.starts_with("ERROR: "));
    assert_eq!(error, Some(text), "{line}: {ran:?}");
    assert_eq!(daemon.ok("show ns runningConfig"), before, "{line}");
}

#[test]
fn refusals_have_the_text_of_the_reference_and_change_nothing() {
    let daemon = Daemon::start();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let taken = taken
        .local_addr()
        .map(|address| (taken, address))
        .expect("it is bound");
    let free = free_address().port();
    daemon.ok("add server s1 10.0.0.1");
    daemon.ok("add service svc1 s1 TCP 80");
    daemon.ok("add service udp1 s1 UDP 80");
    daemon.ok(&format!("add lb vserver v1 TCP 127.0.0.1 {free}"));
    daemon.ok("bind lb vserver v1 svc1");

    refuse(
        &daemon,
        "add server s1 10.0.0.2",
        "ERROR: Resource already exists",
    );
    refuse(
        &daemon,
        "add service svc1 s1 TCP 81",
        "ERROR: Resource already exists",
    );
    refuse(
        &daemon,
        "bind lb vserver v1 svc1",
        "ERROR: Resource already exists",
    );
    refuse(
        &daemon,
        "show lb vserver nope",
        "ERROR: No such resource [name, nope]",
    );
    refuse(
        &daemon,
        "set lb vserver v1 -nosuch 1",
        "ERROR: No such argument [-nosuch]",
    );
    refuse(&daemon, "set lb vserver v1", "ERROR: No arguments to set");
    refuse(
        &daemon,
        "add server s2",
        "ERROR: Required argument missing [IPAddress]",
    );
    refuse(
        &daemon,
        "add server",
        "ERROR: Required argument missing [name]",
    );
    refuse(
        &daemon,
        "add server s2 1.2.3",
        "ERROR: Invalid IP address [IPAddress, 1.2.3]",
    );
    refuse(
        &daemon,
        "frobnicate server s1",
        "ERROR: No such command [frobnicate]",
    );
    let port = taken.1.port();
    let address = format!("ERROR: Address already in use [127.0.0.1:{port}]");
    refuse(
        &daemon,
        &format!("add lb vserver v2 TCP 127.0.0.1 {port}"),
        &address,
    );
    let own = format!("ERROR: Address already in use [lb vserver v1, 127.0.0.1:{free}]");
    refuse(
        &daemon,
        &format!("add lb vserver v2 TCP 127.0.0.1 {free}"),
        &own,
    );
    refuse(
        &daemon,
        "bind lb vserver v1 udp1",
        "ERROR: Service type mismatch between the vserver and service [vserver TCP, service UDP]",
    );
}

#[test]
fn numbers_and_addresses_out_of_range_are_refused() {
    let daemon = Daemon::start();
    daemon.ok("add server s1 10.0.0.1");
    daemon.ok("add service svc1 s1 TCP 80");
    daemon.ok("add lb vserver v1 TCP");
    let before = daemon.ok("show ns runningConfig");
    let mut lines = Vec::new();
    for port in [
        "0",
        "65536",
        "-1",
        "080",
        "8e3",
        "\"\"",
        "99999999999999999999",
    ] {
        lines.push(format!("add service bad s1 TCP {port}"));
    }
    for weight in ["0", "101", "99999999999", "-1", "1.5", "\"\""] {
        lines.push(format!("bind lb vserver v1 svc1 -weight {weight}"));
    }
    for address in [
        "1.2.3",
        "010.0.0.1",
        "1.2.3.4.5",
        "::1%",
        "\"\"",
        "1.2.3.4/24",
        "<IP>",
    ] {
        lines.push(format!("add server bad {address}"));
    }
    for timeout in ["-1", "1e400", "31536001", "\"\""] {
        lines.push(format!("set lb vserver v1 -cltTimeout {timeout}"));
    }
    for line in &lines {
        let ran = daemon.run(line);
        assert_eq!(ran.code, 1, "{line}: {ran:?}");
        assert!(ran.err.contains("ERROR: "), "{line}: {ran:?}");
        assert_eq!(daemon.ok("show ns runningConfig"), before, "{line}");
    }
}

#[test]
fn a_batch_goes_on_after_an_error_and_names_its_line() {
    let daemon = Daemon::start();
    let ran = daemon
        .batch("add server s1 10.0.0.1\r\n# note\r\n\r\nadd nonsense\r\nadd server s2 10.0.0.2");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.err.contains("batch:4: ERROR: No such command"),
        "{ran:?}"
    );
    assert_eq!(
        ran.err.lines().last(),
        Some("3 commands, 1 failed"),
        "{ran:?}"
    );
    let shown = daemon.ok("show server");
    assert!(
        shown.contains("s1") && shown.contains("s2") && !shown.contains('\r'),
        "{shown}"
    );

    let ran = daemon.sluice(&["--stop-on-error", "-f", "/nonexistent"]);
    assert_eq!(ran.code, 2, "{ran:?}");
}
