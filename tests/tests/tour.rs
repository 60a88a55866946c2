//! The configuration's life as an operator lives it: typed, shown, saved, killed, restarted.

use std::process::Stdio;
use std::sync::Arc;

use sluice_tests::daemon::{Daemon, daemon_command, free_address, new_folder};

/// The commands of the tour, for a free address.
fn lines() -> Vec<String> {
    let address = free_address();
    let (ip, port) = (address.ip(), address.port());
    vec![
        "add server web1 10.0.0.2".to_owned(),
        "add service s1 10.0.0.1 TCP 8001".to_owned(),
        format!("add lb vserver v1 TCP {ip} {port} -lbMethod LEASTBANDWIDTH"),
        "bind lb vserver v1 s1 -weight 3".to_owned(),
        "set lb vserver v1 -newServiceRequest 25 PERCENT -newServiceRequestIncrementInterval 5"
            .to_owned(),
    ]
}

const EXPECTED: &[&str] = &[
    "add server web1 10.0.0.2",
    "add server 10.0.0.1 10.0.0.1",
    "add service s1 10.0.0.1 TCP 8001",
    "-lbMethod LEASTBANDWIDTH",
    "-newServiceRequest 25 PERCENT -newServiceRequestIncrementInterval 5",
    "bind lb vserver v1 s1 -weight 3",
];

fn assert_tour(running: &str) {
    for expected in EXPECTED {
        assert!(
            running.contains(expected),
            "{expected} is missing in\n{running}"
        );
    }
    assert!(running.ends_with(" Done\n"), "{running}");
}

#[test]
fn typed_lines_and_a_batch_file_give_the_same_configuration() {
    let lines = lines();
    let typed = Daemon::start();
    for line in &lines {
        assert!(typed.ok(line).ends_with(" Done\n"), "{line}");
    }
    let running = typed.ok("show ns runningConfig");
    assert_tour(&running);
    drop(typed);

    let batched = Daemon::start();
    let ran = batched.batch(&(lines.join("\n") + "\n"));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(
        ran.err.lines().last(),
        Some("5 commands, 0 failed"),
        "{ran:?}"
    );
    assert_eq!(batched.ok("show ns runningConfig"), running);
}

#[test]
fn show_and_stat_name_what_was_configured() {
    let daemon = Daemon::start();
    for line in lines() {
        daemon.ok(&line);
    }
    let shown = daemon.ok("show lb vserver v1");
    for expected in [
        "\tState: UP\n",
        "\tClient Idle Timeout: 9000 sec\n",
        "\tNo. of Bound Services :  1 (Total) \t 1 (Active)\n",
        "\tConfigured Method: LEASTBANDWIDTH",
        "\tNew Service Startup Request Rate: 25 PERCENT, Increment Interval: 5\n",
        "1) s1 (10.0.0.1: 8001) - TCP State: UP\tWeight: 3\n",
    ] {
        assert!(
            shown.contains(expected),
            "{expected:?} is missing in\n{shown}"
        );
    }
    let stat = daemon.ok("stat lb vserver v1");
    assert!(stat.contains("Vserver hits"), "{stat}");
    assert_eq!(daemon.number("stat lb vserver v1", "hits"), 0);
    assert_eq!(daemon.number("stat service s1", "request_bytes"), 0);
}

#[test]
fn a_saved_configuration_survives_kill_9() {
    let daemon = Daemon::start();
    for line in lines() {
        daemon.ok(&line);
    }
    daemon.ok("save ns config");
    let before = daemon.ok("show ns runningConfig");
    daemon.ok("add server unsaved 10.0.0.9");
    let folder = daemon.kill();

    let daemon = Daemon::start_in(folder, &[]);
    assert_eq!(daemon.ok("show ns runningConfig"), before);
    let status = daemon.json("show ns config");
    let status = status.get(0).unwrap_or(&status);
    assert_eq!(status["unsaved"], false, "{status}");
    daemon.ok("add server later 10.0.0.10");
    let status = daemon.json("show ns config");
    let status = status.get(0).unwrap_or(&status);
    assert_eq!(status["unsaved"], true, "{status}");
}

#[test]
fn a_second_daemon_cannot_take_an_address() {
    let (first, second) = (Daemon::start(), Daemon::start());
    let address = free_address();
    let line = format!("add lb vserver v1 TCP {} {}", address.ip(), address.port());
    first.ok(&line);
    let before = second.ok("show ns runningConfig");
    let ran = second.run(&line);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.err.starts_with("ERROR: Address already in use"),
        "{ran:?}"
    );
    assert_eq!(second.ok("show ns runningConfig"), before);

    let udp = format!("add lb vserver v1 UDP {} {}", address.ip(), address.port());
    second.ok(&udp);
    first.ok("rm lb vserver v1");
    let ran = first.run(&udp);
    assert!(
        ran.err.starts_with("ERROR: Address already in use"),
        "{ran:?}"
    );
    first.ok(&line);
}

#[test]
fn a_second_daemon_on_the_same_control_socket_changes_nothing() {
    let daemon = Daemon::start_with("add server web1 10.0.0.2\n");
    let output = daemon_command(daemon.folder().path())
        .stdout(Stdio::null())
        .output()
        .expect("sluiced starts");
    assert_eq!(
        output.status.code(),
        Some(1),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(daemon.ok("show server").contains("web1"));
}

#[test]
fn a_bad_line_does_not_stop_the_boot_and_is_kept() {
    let daemon = Daemon::start_with(
        "add server web1 10.0.0.2\nadd nosuch vserver c1 HTTP 10.0.0.3 80\nadd server web2 10.0.0.4\n",
    );
    let log = daemon.log().join("\n");
    assert!(log.contains("ns.conf:2: ERROR: No such command"), "{log}");
    let shown = daemon.ok("show server");
    assert!(shown.contains("web1") && shown.contains("web2"), "{shown}");
    assert!(
        daemon
            .ok("show ns config")
            .contains("ns.conf:2: ERROR: No such command")
    );

    let before = std::fs::read_to_string(daemon.config()).expect("the file is ours");
    let ran = daemon.run("save ns config");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert_eq!(
        std::fs::read_to_string(daemon.config()).expect("the file is ours"),
        before
    );
    daemon.ok("save ns config -force");
    let saved = std::fs::read_to_string(daemon.config()).expect("the file is ours");
    assert!(
        saved.contains("\n# not loaded: add nosuch vserver c1 HTTP 10.0.0.3 80\n"),
        "{saved}"
    );
    assert!(saved.contains("add server web2 10.0.0.4\n"), "{saved}");
}

#[test]
fn strict_refuses_to_run_with_a_bad_line() {
    let folder = new_folder();
    std::fs::write(folder.path().join("ns.conf"), "add nonsense\n").expect("the folder is ours");
    let output = daemon_command(folder.path())
        .arg("--strict")
        .output()
        .expect("sluiced starts");
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("ns.conf:1: ERROR: "), "{text}");
    assert!(!text.lines().any(|line| line == "ready"), "{text}");
}

#[test]
fn sigterm_ends_with_status_0_and_removes_the_control_socket() {
    let daemon = Daemon::start();
    let (folder, socket) = (daemon.folder(), daemon.socket());
    assert!(socket.exists());
    assert_eq!(daemon.terminate(), Some(0));
    assert!(!socket.exists());
    drop(Arc::try_unwrap(folder));
}
