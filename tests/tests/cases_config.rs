//! Cases of the field about configuration, files and counters, against the real daemon.
//!
//! The numbers are those of our list of bug reports against other balancers and proxies.

use std::io::{Read, Write};
use std::process::Stdio;

use sluice_tests::daemon::{Daemon, Ran, free_address};
use sluice_tests::rig::{Rig, eventually};
use sluice_tests::services::TcpService;

fn exchange(rig: &Rig) {
    let mut client = rig.connect();
    client.write_all(b"hello").expect("the daemon reads");
    client.read_exact(&mut [0; 5]).expect("the service answers");
}

/// Runs lines through the standard input of `sluice`.
fn pipe(daemon: &Daemon, bytes: &[u8]) -> Ran {
    let mut command = daemon.sluice_command();
    command.stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("sluice runs");
    let mut input = child.stdin.take().expect("it is piped");
    input.write_all(bytes).expect("sluice reads");
    drop(input);
    let output = child.wait_with_output().expect("sluice is our child");
    Ran {
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
        code: output.status.code().unwrap_or(-1),
    }
}

/// Runs the bytes of a file through `sluice -f`.
fn file(daemon: &Daemon, bytes: &[u8]) -> Ran {
    let path = daemon.folder().path().join("lines");
    std::fs::write(&path, bytes).expect("the folder is ours");
    daemon.sluice(&["-f", path.to_str().expect("the folder's name is plain")])
}

/// Runs `line`, which must be refused with `text` and change nothing.
fn refused(daemon: &Daemon, line: &str, text: &str) {
    let before = daemon.ok("show ns runningConfig");
    let ran = daemon.run(line);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{line}: {ran:?}");
    assert!(ran.err.contains(text), "{line}: {text:?} is not in {ran:?}");
    assert_eq!(daemon.ok("show ns runningConfig"), before, "{line}");
}

/// C62: counters count on whatever else is changed.
#[test]
fn c62_counters_survive_changes() {
    let services: Vec<_> = (0..4).map(|_| TcpService::echo()).collect();
    let addresses: Vec<_> = services.iter().map(TcpService::address).collect();
    let rig = Rig::tcp(&addresses[..3], "-lbMethod ROUNDROBIN");
    let (other, fourth) = (free_address(), addresses[3]);
    let changes = [
        format!("add lb vserver v2 TCP {} {}", other.ip(), other.port()),
        "set lb vserver v1 -lbMethod LEASTBANDWIDTH".to_owned(),
        format!("add service s4 {} TCP {}", fourth.ip(), fourth.port()),
        "bind lb vserver v2 s1".to_owned(),
        "bind lb vserver v1 s4 -weight 2".to_owned(),
        "set lb vserver v1 -weight 5 s2".to_owned(),
        "set service s1 -maxClient 100 -comment changed".to_owned(),
        "disable service s3".to_owned(),
        "enable service s3".to_owned(),
        "unbind lb vserver v1 s4".to_owned(),
        "rm service s4".to_owned(),
        "unset lb vserver v1 -lbMethod".to_owned(),
        "rm lb vserver v2".to_owned(),
        "save ns config".to_owned(),
    ];
    let sum = |field: &str| -> u64 {
        let document = rig.daemon.json("stat service");
        let rows = document.as_array().expect("rows").iter();
        rows.map(|row| row[field].as_u64().expect("a number")).sum()
    };
    let mut exchanges = 0;
    // What s4 carried leaves with it.
    let mut gone = 0;
    for change in &changes {
        for _ in 0..6 {
            exchange(&rig);
            exchanges += 1;
        }
        eventually("the exchanges are over", || rig.vserver("active") == 0);
        if change == "rm service s4" {
            gone = rig.service("s4", "hits");
        }
        rig.daemon.ok(change);
        for field in ["request_bytes", "response_bytes"] {
            assert_eq!(rig.vserver(field), 5 * exchanges, "{field} after {change}");
            assert_eq!(sum(field), 5 * (exchanges - gone), "{field} after {change}");
        }
        assert_eq!(rig.vserver("hits"), exchanges, "after {change}");
        assert_eq!(sum("hits"), exchanges - gone, "after {change}");
    }
    assert!(gone > 0, "s4 carried nothing");
    rig.finish();
}

/// C64: a file with a mistake changes what its good lines say and nothing else, names the line and
/// the reason, and a running daemon serves on.
#[test]
fn c64_a_bad_file_does_not_hurt_a_running_daemon() {
    let service = TcpService::echo();
    let rig = Rig::tcp(&[service.address()], "");
    let client = rig.connect();
    let before = rig.daemon.ok("show ns runningConfig");
    let table = [
        (
            "frobnicate server s1",
            "3: ERROR: No such command [frobnicate]",
        ),
        (
            "set lb vserver v1 -cltTimeout",
            "3: ERROR: Required argument value missing",
        ),
        (
            "add service s1 127.0.0.1 TCP 80",
            "3: ERROR: Resource already exists",
        ),
        (
            "add service s9 127.0.0.1 TCP 65536",
            "3: ERROR: Integer not in range [port, 65536]",
        ),
        (
            "add lb vserver v9 TCP 127.0.0.1",
            "3: ERROR: Required argument missing [port]",
        ),
        ("add server \"half a na", "3: ERROR: Unmatched quote"),
    ];
    for (line, text) in table {
        // Nothing after the line: a truncated last one looks like this.
        let ran = file(&rig.daemon, format!("# a comment\n\n{line}").as_bytes());
        assert_eq!(ran.code, 1, "{line}: {ran:?}");
        assert!(
            ran.err.contains(&format!("lines:{text}")),
            "{line}: {ran:?}"
        );
        assert_eq!(
            ran.err.lines().last(),
            Some("1 commands, 1 failed"),
            "{ran:?}"
        );
        assert_eq!(rig.daemon.ok("show ns runningConfig"), before, "{line}");
    }
    let ran = file(&rig.daemon, b"");
    assert_eq!((ran.code, ran.err.as_str()), (0, "0 commands, 0 failed\n"));
    let folder = rig.daemon.folder();
    for path in [folder.path(), std::path::Path::new("/nonexistent")] {
        let name = path.to_str().expect("plain names");
        let ran = rig.daemon.sluice(&["-f", name]);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains(name), "{ran:?}");
    }
    assert_eq!(rig.daemon.ok("show ns runningConfig"), before);

    // The good lines around a bad one count, and --stop-on-error ends at it.
    let lines = b"set lb vserver v1 -comment one\nnonsense\nset lb vserver v1 -comment two\n";
    let comment = || rig.daemon.json("show ns runningConfig").to_string();
    let path = folder.path().join("lines");
    std::fs::write(&path, lines).expect("the folder is ours");
    let name = path.to_str().expect("the folder's name is plain");
    let ran = rig.daemon.sluice(&["--stop-on-error", "-f", name]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(comment().contains("-comment one"), "{}", comment());
    assert_eq!(file(&rig.daemon, lines).code, 1);
    assert!(comment().contains("-comment two"), "{}", comment());

    (&client).write_all(b"hello").expect("the daemon reads");
    (&client)
        .read_exact(&mut [0; 5])
        .expect("the service answers");
    drop(client);
    rig.finish();
}

/// C66: a link-local address, with a zone or without, is refused with the reason until zones are
/// supported; it is not accepted and then fails at each connect.
#[test]
fn c66_link_local_addresses_are_refused_with_a_hint() {
    let daemon = Daemon::start();
    let table = [
        (
            "add service s6 fe80::1%lo TCP 8000",
            "with a zone are not supported yet",
        ),
        ("add service s6 fe80::1 TCP 8000", "needs a zone"),
        (
            "add service s6 fe80::1%lo UDP 8000",
            "with a zone are not supported yet",
        ),
        (
            "add server h6 fe80::1%lo",
            "with a zone are not supported yet",
        ),
        ("add server h6 fe80::1", "needs a zone"),
        (
            "add lb vserver v6 TCP fe80::1%lo 80",
            "with a zone are not supported yet",
        ),
    ];
    for (line, hint) in table {
        refused(&daemon, line, "ERROR: Invalid IPv6 address");
        refused(&daemon, line, hint);
    }
}

const FIVE: &str = "add server a 10.0.0.1\n\
                    add server b 10.0.0.2 -comment \"two words\"\n\
                    add service s1 a TCP 80\n\
                    add service s2 b TCP 80\n\
                    add lb vserver v1 TCP";

/// What `show ns runningConfig` says of [`FIVE`].
fn five() -> String {
    let daemon = Daemon::start();
    assert_eq!(daemon.batch(&format!("{FIVE}\n")).code, 0);
    let running = daemon.ok("show ns runningConfig");
    assert_eq!(running.lines().count(), 6, "{running}");
    running
}

/// C67: the last line of a file counts without a line end, from a file, a pipe and at the start.
#[test]
fn c67_the_last_line_needs_no_line_end() {
    let expected = five();
    for run in [file, pipe] {
        let daemon = Daemon::start();
        let ran = run(&daemon, FIVE.as_bytes());
        assert_eq!(
            (ran.code, ran.err.as_str()),
            (0, "5 commands, 0 failed\n"),
            "{ran:?}"
        );
        assert_eq!(daemon.ok("show ns runningConfig"), expected);
    }
    let daemon = Daemon::start_with(FIVE);
    assert_eq!(daemon.ok("show ns runningConfig"), expected);
}

/// C68: Windows line ends, a byte order mark, trailing blanks and tabs do not matter; a no-break
/// space is an error with line and column.
#[test]
fn c68_files_from_windows_are_read_alike() {
    let expected = five();
    let lines = |end: &str| FIVE.replace('\n', end) + end;
    let variants = [
        lines("\r\n"),
        format!("\u{feff}{}", lines("\n")),
        format!("\u{feff}{}", lines("\r\n")),
        lines(" \t \n"),
        lines("\t\r\n"),
    ];
    for text in &variants {
        for run in [file, pipe] {
            let daemon = Daemon::start();
            let ran = run(&daemon, text.as_bytes());
            assert_eq!(
                (ran.code, ran.err.as_str()),
                (0, "5 commands, 0 failed\n"),
                "{text:?}"
            );
            assert_eq!(daemon.ok("show ns runningConfig"), expected, "{text:?}");
        }
        let daemon = Daemon::start_with(text);
        assert_eq!(daemon.ok("show ns runningConfig"), expected, "{text:?}");
    }

    let text = "add server a 10.0.0.1\r\nadd\u{a0}server b 10.0.0.2\r\n";
    let (place, column) = ("2: ERROR: Invalid character [", "column 4, U+00A0]");
    let daemon = Daemon::start();
    for run in [file, pipe] {
        let ran = run(&daemon, text.as_bytes());
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(
            ran.err.contains(place) && ran.err.contains(column),
            "{ran:?}"
        );
    }
    let log = Daemon::start_with(text).log().join("\n");
    assert!(log.contains(&format!("ns.conf:{place}")), "{log}");
    assert!(log.contains(column), "{log}");
}

/// C69: what exists is refused and changes nothing; TCP and UDP share a port.
#[test]
fn c69_duplicates_are_refused_without_side_effects() {
    let service = TcpService::echo();
    let rig = Rig::tcp(&[service.address()], "");
    let (ip, port) = (rig.listen.ip(), rig.listen.port());
    let (to, at) = (service.address().ip(), service.address().port());
    exchange(&rig);
    let twice = [
        format!("add service s1 {to} TCP 1"),
        format!("add service other {to} TCP {at}"),
        format!("add server {to} {to}"),
        "bind lb vserver v1 s1".to_owned(),
        "bind lb vserver v1 s1 -weight 9".to_owned(),
        "add lb vserver v1 TCP 127.0.0.1 1".to_owned(),
    ];
    for line in &twice {
        refused(&rig.daemon, line, "ERROR: Resource already exists");
    }
    let line = format!("add lb vserver v2 TCP {ip} {port}");
    refused(&rig.daemon, &line, "ERROR: Address already in use");
    rig.daemon.ok(&format!("add lb vserver u1 UDP {ip} {port}"));
    let line = format!("add lb vserver u2 UDP {ip} {port}");
    refused(&rig.daemon, &line, "ERROR: Address already in use");
    rig.daemon.ok(&format!("add service u1 {to} UDP {at}"));
    rig.daemon.ok("bind lb vserver u1 u1");
    exchange(&rig);
    assert_eq!(rig.vserver("hits"), 2);
    assert_eq!(rig.daemon.number("stat lb vserver u1", "hits"), 0);
    rig.daemon.ok("rm lb vserver u1");
    rig.finish();
}

/// C70: services that differ in their port alone are different ones, also after save and load.
#[test]
fn c70_ports_of_one_server_stay_apart() {
    let lines = "add server h 10.0.0.1\n\
                 add service p1 h TCP 8001\nadd service p2 h TCP 8002\nadd service p3 h TCP 8003\n\
                 add lb vserver v1 TCP\n\
                 bind lb vserver v1 p1\nbind lb vserver v1 p2\nbind lb vserver v1 p3\n";
    let daemon = Daemon::start();
    assert_eq!(daemon.batch(lines).code, 0);
    let ports = |daemon: &Daemon| {
        let document = daemon.json("show lb vserver v1");
        let rows = document[0]["bound"].as_array().expect("rows").iter();
        rows.map(|row| row["port"].as_str().expect("a port").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(ports(&daemon), ["8001", "8002", "8003"]);
    daemon.ok("unbind lb vserver v1 p2");
    assert_eq!(ports(&daemon), ["8001", "8003"]);
    // What is there already is refused line by line; p2 comes back.
    let ran = daemon.batch(lines);
    assert_eq!(
        ran.err.lines().last(),
        Some("8 commands, 7 failed"),
        "{ran:?}"
    );
    assert_eq!(ports(&daemon), ["8001", "8003", "8002"]);
    daemon.ok("unbind lb vserver v1 p2");
    daemon.ok("save ns config");
    let daemon = Daemon::start_in(daemon.kill(), &["--strict"]);
    assert_eq!(ports(&daemon), ["8001", "8003"]);
}

/// C71: what is out of range is refused with the range, and changes nothing.
///
/// Forms that are no numbers or addresses at all are tested where all refusals are.
#[test]
fn c71_a_refusal_names_the_permitted_range() {
    let daemon = Daemon::start();
    let lines = "add server h 10.0.0.1\nadd service s1 h TCP 80\nadd lb vserver v1 TCP\n";
    assert_eq!(daemon.batch(lines).code, 0);
    let table: &[(&str, &[&str], &str)] = &[
        (
            "add service bad h TCP {}",
            &["0", "65536", "-1", "080", "8e3", "\"\""],
            "port is 1-65535",
        ),
        (
            "add lb vserver bad TCP 10.0.0.2 {}",
            &["0", "65536", "-1"],
            "port is 1-65535",
        ),
        (
            "bind lb vserver v1 s1 -weight {}",
            &["0", "101", "99999999999", "\"-1\"", "01"],
            "weight is 1-100",
        ),
        (
            "set lb vserver v1 -cltTimeout {}",
            &["31536001", "1e400", "\"-1\"", "0x10"],
            "cltTimeout is 0-31536000 seconds",
        ),
        (
            "set service s1 -maxClient {}",
            &["4294967295", "99999999999999999999999"],
            "maxClient is 0-4294967294",
        ),
        (
            "set lb vserver v1 -newServiceRequestIncrementInterval {}",
            &["3601", "\"-1\"", "1e400", "1.5"],
            "newServiceRequestIncrementInterval is 0-3600 seconds",
        ),
        (
            "add server bad {}",
            &["1.2.3", "010.0.0.1", "1.2.3.4.5", "::1%", "255.0.255.256"],
            "ERROR: Invalid IP",
        ),
    ];
    for (line, values, text) in table {
        for value in *values {
            refused(&daemon, &line.replace("{}", value), text);
        }
    }
    // The documented edges are valid.
    for line in [
        "set lb vserver v1 -cltTimeout 31536000",
        "set lb vserver v1 -cltTimeout 0",
        "set service s1 -maxClient 4294967294",
        "bind lb vserver v1 s1 -weight 100",
        "add service edge h TCP 65535",
    ] {
        daemon.ok(line);
    }
}
