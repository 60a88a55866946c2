//! Slow start as an operator sees it, over the real daemon; its exact counts are traces of the core.

use std::io::{Read, Write};
use std::net::TcpStream;

use sluice_tests::daemon::{Daemon, free_address};
use sluice_tests::services::TcpService;

#[test]
fn a_new_service_is_held_back_shown_and_let_go() {
    let (old, new) = (TcpService::echo(), TcpService::echo());
    let daemon = Daemon::start();
    let listen = free_address();
    let (ip, port) = (listen.ip(), listen.port());
    let request = || {
        let mut client = TcpStream::connect(listen).expect("the daemon listens");
        client.write_all(b"x").expect("the daemon reads");
        client.read_exact(&mut [0]).expect("a service answers");
    };
    daemon.ok(&format!(
        "add lb vserver v1 TCP {ip} {port} -lbMethod ROUNDROBIN"
    ));
    for (name, service) in [("old", &old), ("new", &new)] {
        let (ip, port) = (service.address().ip(), service.address().port());
        daemon.ok(&format!("add service {name} {ip} TCP {port}"));
    }
    daemon.ok("bind lb vserver v1 old");
    let warnings = daemon
        .run("set lb vserver v1 -newServiceRequest 10 PERCENT")
        .err;
    assert_eq!(warnings, "", "the option works, so nobody is warned");
    daemon.ok("bind lb vserver v1 new");
    // Credit of one at the start, then a tenth of what the old one gets: 1 + 10 of 111.
    for _ in 0..111 {
        request();
    }
    assert_eq!((old.accepted(), new.accepted()), (100, 11));
    let shown = daemon.ok("show lb vserver v1");
    let line = "\tSlow start: at most 10 PERCENT, 11 of 111 requests in ";
    assert!(shown.contains(line), "{shown}");
    assert!(
        daemon
            .ok("stat lb vserver v1")
            .contains("\nnew: at most 10 PERCENT, 11 of 111")
    );

    daemon.ok("set lb vserver v1 -newServiceRequest 0");
    assert!(!daemon.ok("show lb vserver v1").contains("Slow start"));
    for _ in 0..20 {
        request();
    }
    assert_eq!((old.accepted(), new.accepted()), (110, 21));
}

#[test]
fn a_startup_factor_serves_in_turn_and_says_so_until_its_requests_are_given_out() {
    let services = [TcpService::echo(), TcpService::echo()];
    let daemon = Daemon::start();
    let listen = free_address();
    daemon.ok("set lb parameter -startupRRFactor 3");
    daemon.ok(&format!(
        "add lb vserver v1 TCP {} {} -lbMethod LEASTCONNECTION",
        listen.ip(),
        listen.port()
    ));
    for (name, service) in ["s1", "s2"].into_iter().zip(&services) {
        let (ip, port) = (service.address().ip(), service.address().port());
        daemon.ok(&format!("add service {name} {ip} TCP {port}"));
        daemon.ok(&format!("bind lb vserver v1 {name}"));
    }
    let current = "\tConfigured Method: LEASTCONNECTION\n\
                   \tCurrent Method: Round Robin, Reason: A new service is bound\t\
                   BackupMethod: ROUNDROBIN\n\
                   \tRequests left of Round Robin: 6\n";
    let shown = daemon.ok("show lb vserver v1");
    assert!(shown.contains(current), "{shown}");
    for _ in 0..6 {
        let mut client = TcpStream::connect(listen).expect("the daemon listens");
        client.write_all(b"x").expect("the daemon reads");
        client.read_exact(&mut [0]).expect("a service answers");
    }
    let accepted = services.each_ref().map(TcpService::accepted);
    assert_eq!(accepted, [3, 3]);
    let shown = daemon.ok("show lb vserver v1");
    assert!(
        shown.contains("\tConfigured Method: LEASTCONNECTION\tBackupMethod"),
        "{shown}"
    );
    assert!(!shown.contains("Round Robin,"), "{shown}");
}

#[test]
fn a_restart_with_a_saved_configuration_ramps_nothing() {
    let daemon = Daemon::start();
    for line in [
        "add lb vserver v1 TCP -newServiceRequest 5 PER_SECOND",
        "add service s1 127.0.0.1 TCP 8001",
        "bind lb vserver v1 s1",
        "save ns config",
    ] {
        daemon.ok(line);
    }
    let ramping = "\tSlow start: at most 5 PER_SECOND, 0 of 0 requests in ";
    assert!(daemon.ok("show lb vserver v1").contains(ramping));
    let daemon = Daemon::start_in(daemon.kill(), &[]);
    assert!(!daemon.ok("show lb vserver v1").contains("Slow start"));
    daemon.ok("disable service s1");
    daemon.ok("enable service s1");
    assert!(
        daemon.ok("show lb vserver v1").contains(ramping),
        "enabled anew is new"
    );
}
