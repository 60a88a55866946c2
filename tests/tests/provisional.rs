//! Changes on trial, against the real daemon: confirmed they stay, otherwise they go, and flows stay
//! wherever their service and virtual server do.

use std::io::{Read, Write};
use std::net::TcpStream;

use sluice_tests::daemon::{Daemon, free_address};
use sluice_tests::rig::{Rig, eventually};
use sluice_tests::services::TcpService;

const DONE: &str = " Done\n";

/// What stands on trial in every test, with what undoes it: another method, a service more, another hash.
const CHANGES: &str = "apply -confirm 3600\n\
                       set lb vserver v1 -lbMethod RANDOM\n\
                       add service s9 127.0.0.9 TCP 9\n\
                       bind lb vserver v1 s9\n\
                       set lb parameter -lbHashAlgorithm PRAC\n";

const WAY_BACK: &str = "unbind lb vserver v1 s9\n\
                        set lb parameter -lbHashAlgorithm DEFAULT\n\
                        rm service s9\n\
                        rm server 127.0.0.9\n\
                        set lb vserver v1 -lbMethod LEASTCONNECTION\n";

fn exchange(mut client: &TcpStream) {
    client.write_all(b"hello").expect("the daemon reads");
    client.read_exact(&mut [0; 5]).expect("the service answers");
}

fn running(daemon: &Daemon) -> String {
    daemon.ok("show ns runningConfig")
}

#[test]
fn a_rollback_undoes_all_and_flows_go_on() {
    let service = TcpService::echo();
    let rig = Rig::tcp(&[service.address()], "");
    let before = running(&rig.daemon);
    let client = rig.connect();
    exchange(&client);
    let ran = rig.daemon.batch(CHANGES);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.out.starts_with("Changes are provisional for 3600 s: "),
        "{ran:?}"
    );
    // Who typed it is gone, and everybody sees that it is on trial.
    let left = rig.daemon.json("show ns config")["provisional_s"].as_u64();
    assert!(
        left.is_some_and(|left| left > 3000 && left <= 3600),
        "{left:?}"
    );
    let ran = rig.daemon.run("show ns rollbackcmd");
    assert_eq!(ran.out, format!("{WAY_BACK}{DONE}"));
    assert!(
        ran.err
            .starts_with("Warning: changes are provisional: undone in "),
        "{ran:?}"
    );
    let diff = rig.daemon.ok("diff ns config confirmed");
    assert!(diff.contains("\n+ bind lb vserver v1 s9\n"), "{diff}");
    exchange(&client);

    rig.daemon.ok("rollback");
    assert_eq!(running(&rig.daemon), before);
    assert_eq!(rig.daemon.ok("diff ns config confirmed"), DONE);
    assert!(rig.daemon.json("show ns config")["provisional_s"].is_null());
    exchange(&client);
    assert_eq!(rig.vserver("active"), 1);
    for line in ["rollback", "confirm"] {
        let ran = rig.daemon.run(line);
        assert_eq!(ran.err, "ERROR: No changes are provisional\n", "{line}");
    }
    drop(client);
    rig.finish();
}

#[test]
fn what_nobody_confirms_is_undone_by_itself() {
    let rig = Rig::tcp(&[], "");
    let before = running(&rig.daemon);
    assert_eq!(rig.daemon.batch(CHANGES).code, 0);
    // The limit is moved to one that comes; the way back stays.
    rig.daemon.ok("apply -confirm 1");
    eventually("the changes are undone", || running(&rig.daemon) == before);
    let log = rig.daemon.log().join("\n");
    assert!(log.contains("nobody has confirmed"), "{log}");
    assert_eq!(rig.daemon.run("confirm").code, 1);
}

#[test]
fn what_is_confirmed_stays_and_only_then_can_be_saved() {
    let rig = Rig::tcp(&[], "");
    rig.daemon.ok("save ns config");
    assert_eq!(rig.daemon.batch(CHANGES).code, 0);
    let changed = running(&rig.daemon);
    let saved = rig.daemon.ok("show ns savedConfig");
    for line in ["save ns config", "save ns config -force"] {
        let ran = rig.daemon.run(line);
        assert!(
            ran.err.starts_with("ERROR: Changes are provisional ["),
            "{ran:?}"
        );
        assert!(
            ran.err.ends_with(" s left]\n  confirm\n  rollback\n"),
            "{ran:?}"
        );
    }
    assert_eq!(rig.daemon.ok("show ns savedConfig"), saved);
    rig.daemon.ok("confirm");
    assert_eq!(running(&rig.daemon), changed);
    rig.daemon.ok("save ns config");
    assert_eq!(rig.daemon.ok("diff ns config"), DONE);
}

#[test]
fn a_restart_ends_the_trial_at_what_was_saved() {
    let rig = Rig::tcp(&[], "");
    rig.daemon.ok("save ns config");
    let saved = running(&rig.daemon);
    assert_eq!(rig.daemon.batch(CHANGES).code, 0);
    let daemon = Daemon::start_in(rig.daemon.kill(), &["--strict"]);
    assert_eq!(running(&daemon), saved);
    assert_eq!(daemon.run("confirm").code, 1);
}

#[test]
fn an_address_that_is_given_up_on_trial_is_nobody_elses() {
    let service = TcpService::echo();
    let rig = Rig::tcp(&[service.address()], "");
    let client = rig.connect();
    exchange(&client);
    let before = running(&rig.daemon);
    let taken = || std::net::TcpListener::bind(rig.listen);
    rig.daemon.ok("apply -confirm 3600");
    rig.daemon.ok("rm lb vserver v1");
    let refused = taken().expect_err("it is kept");
    assert_eq!(refused.kind(), std::io::ErrorKind::AddrInUse);
    let refused = TcpStream::connect(rig.listen).expect_err("nobody listens");
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
    // Our own virtual servers can have it, and give it up again.
    let (ip, port) = (rig.listen.ip(), rig.listen.port());
    rig.daemon
        .ok(&format!("add lb vserver other TCP {ip} {port}"));
    rig.daemon.ok("rm lb vserver other");
    rig.daemon.ok("rollback");
    assert_eq!(running(&rig.daemon), before);
    exchange(&rig.connect());

    rig.daemon.ok("apply -confirm 3600");
    rig.daemon.ok("rm lb vserver v1");
    rig.daemon.ok("confirm");
    taken().expect("it is free once that is confirmed");
}

#[test]
fn an_address_that_is_lost_on_trial_is_reported_and_the_rest_comes_back() {
    // The one kind that cannot be kept: a socket there would swallow datagrams.
    let port = free_address().port();
    let daemon = Daemon::start();
    daemon.ok(&format!("add lb vserver u1 UDP * {port}"));
    daemon.ok("add server a 10.0.0.1");
    daemon.ok("apply -confirm 3600");
    daemon.ok("rm lb vserver u1");
    daemon.ok("rm server a");
    let taken = std::net::UdpSocket::bind(("0.0.0.0", port)).expect("nobody has it");
    let ran = daemon.run("rollback");
    assert_eq!(ran.code, 0, "{ran:?}");
    let start = format!("Warning: not undone: add lb vserver u1 UDP * {port} ");
    assert!(ran.err.starts_with(&start), "{ran:?}");
    assert!(ran.err.contains("Address already in use"), "{ran:?}");
    assert_eq!(running(&daemon), format!("add server a 10.0.0.1\n{DONE}"));
    let status = daemon.json("show ns config");
    assert_eq!(status["not_undone"].as_array().map(Vec::len), Some(1));
    drop(taken);
}

#[test]
fn lines_that_were_made_good_on_trial_are_back_with_what_was_before() {
    let daemon = Daemon::start_with("add service s1 h TCP 80\nadd cs vserver c HTTP\n");
    daemon.ok("apply -confirm 3600");
    daemon.ok("add server h 10.0.0.1");
    daemon.ok("add service s1 h TCP 80");
    daemon.ok("clear ns config full -force");
    daemon.ok("rollback");
    let status = daemon.json("show ns config");
    assert_eq!(status["boot_failures"].as_array().map(Vec::len), Some(1));
    assert_eq!(status["skipped"]["cs vserver"], 1);
}
