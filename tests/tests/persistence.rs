//! Persistence as an operator sees it, over the real daemon; its rules are traces of the core.

use std::net::SocketAddr;

use sluice_tests::rig::Rig;
use sluice_tests::services::TcpService;

/// Services that say who they are, and a virtual server over them.
fn rig(options: &str) -> (Vec<TcpService>, Rig) {
    let services = vec![
        TcpService::hold(b"1"),
        TcpService::hold(b"2"),
        TcpService::hold(b"3"),
    ];
    let addresses: Vec<SocketAddr> = services.iter().map(TcpService::address).collect();
    let rig = Rig::tcp(&addresses, &format!("-lbMethod ROUNDROBIN {options}"));
    (services, rig)
}

#[test]
fn clients_stay_with_their_service_and_are_counted() {
    let (_services, rig) = rig("-persistenceType SOURCEIP -timeout 15");
    let ask = |last| rig.greeting_to([127, 0, 0, last]);
    assert_eq!([ask(11), ask(12), ask(13)], *b"123");
    assert_eq!([ask(13), ask(11), ask(11), ask(12)], *b"3112");
    let shown = rig.daemon.ok("show lb vserver v1");
    let line = "\tPersistence: SOURCEIP\tPersistence Mask: 255.255.255.255\tPersistence Timeout: \
                15 min\n";
    assert!(shown.contains(line), "{shown}");
    let stat = rig.daemon.ok("stat lb vserver v1");
    let line = "\nCurrent Persistence Sessions                      --                    3\n";
    assert!(stat.contains(line), "{stat}");

    // Hundreds of clients become one.
    rig.daemon
        .ok("set lb vserver v1 -persistMask 255.255.255.0");
    let first = ask(11);
    assert_eq!([ask(12), ask(99), ask(13)], [first; 3]);
    rig.daemon.ok("unset lb vserver v1 -persistenceType");
    let after: Vec<u8> = (0..3).map(|_| ask(11)).collect();
    assert!((b'1'..=b'3').all(|name| after.contains(&name)), "{after:?}");
}

#[test]
fn a_full_table_is_seen_and_keeps_who_is_in_it() {
    let (_services, rig) = rig("-persistenceType SOURCEIP");
    let ask = |last| rig.greeting_to([127, 0, 0, last]);
    rig.daemon.ok("set lb parameter -sessionsThreshold 2");
    assert_eq!([ask(11), ask(12)], *b"12");
    // Who finds no room is balanced, and those who did stay.
    assert_eq!([ask(13), ask(13), ask(11), ask(12)], *b"3112");
    let shown = rig.daemon.json("show lb parameter");
    assert_eq!(shown["settings"]["sessionsThreshold"], "2");
    let table = &shown["persistence"];
    let numbers = [
        &table["sessions"],
        &table["sessions_max"],
        &table["table_full"],
    ];
    assert_eq!(numbers.map(|number| number.as_u64()), [Some(2); 3]);
    let text = rig.daemon.ok("show lb parameter");
    assert!(
        text.contains("\n\tHits without Session, Table Full: 2\n"),
        "{text}"
    );
    sluice_tests::rig::eventually("the log says so", || {
        let log = rig.daemon.log().join("\n");
        log.matches("no room for more persistence entries").count() == 1
    });
    let saved = rig.daemon.ok("show ns runningConfig");
    assert!(
        saved.contains("\nset lb parameter -sessionsThreshold 2\nadd lb vserver "),
        "{saved}"
    );
}

#[test]
fn sessions_are_listed_and_forgotten_by_hand() {
    let (_services, rig) = rig("-persistenceType SOURCEIP -timeout 1440");
    let ask = |last| rig.greeting_to([127, 0, 0, last]);
    assert_eq!(rig.daemon.ok("show lb persistentSessions"), " Done\n");
    assert_eq!([ask(11), ask(12)], *b"12");
    let shown = rig.daemon.json("show lb persistentSessions v1");
    let rows = shown.as_array().expect("rows");
    let field = |name: &str| -> Vec<String> {
        let mut values: Vec<_> = rows.iter().map(|row| row[name].to_string()).collect();
        values.sort();
        values
    };
    assert_eq!(field("parameter"), ["\"127.0.0.11\"", "\"127.0.0.12\""]);
    assert_eq!(field("service"), ["\"s1\"", "\"s2\""]);
    let left = rows[0]["timeout_s"].as_u64().expect("a number");
    assert!((86_000..=86_400).contains(&left), "{left}");
    let text = rig.daemon.ok("show persistentSessions");
    let line = "\nSOURCEIP  127.0.0.12  -       v1      s2       86";
    assert!(text.contains(line), "{text}");

    // The turn is at s3: a forgotten client shows it.
    rig.daemon
        .ok("clear lb persistentSessions v1 -persistenceParameter 127.0.0.11");
    assert_eq!([ask(12), ask(11)], *b"23");
    let ran = rig
        .daemon
        .run("clear lb persistentSessions -persistenceParameter 127.0.0.99");
    assert_eq!(
        (ran.code, ran.err.as_str()),
        (0, "Warning: there is no such session\n")
    );
    rig.daemon.ok("clear lb persistentSessions");
    assert_eq!(
        rig.daemon.json("show lb persistentSessions v1"),
        serde_json::json!([])
    );
}

#[test]
fn a_group_keeps_a_client_with_its_service_behind_all_its_virtual_servers() {
    let (_services, mut rig) = rig("");
    let first = rig.listen;
    let second = sluice_tests::daemon::free_address();
    let (ip, port) = (second.ip(), second.port());
    for line in [
        &format!("add lb vserver v2 TCP {ip} {port} -lbMethod ROUNDROBIN"),
        "bind lb vserver v2 s3",
        "bind lb vserver v2 s2",
        "bind lb vserver v2 s1",
        "add lb group g -persistenceType SOURCEIP",
        "bind lb group g v1 v2",
    ] {
        rig.daemon.ok(line);
    }
    let mut ask = |listen, last| {
        rig.listen = listen;
        rig.greeting_to([127, 0, 0, last])
    };
    assert_eq!([ask(first, 11), ask(second, 11), ask(second, 11)], *b"111");
    assert_eq!([ask(second, 12), ask(first, 12), ask(first, 11)], *b"331");
    rig.listen = first;
    let shown = rig.daemon.ok("show lb vserver v2");
    assert!(
        shown.contains("\tPersistence: SOURCEIP\tPersistence Mask: "),
        "{shown}"
    );
    assert!(shown.contains("\n\tPersistence Group: g\n"), "{shown}");
    let sessions = rig.daemon.json("show lb persistentSessions v2");
    assert_eq!(sessions.as_array().map(Vec::len), Some(2));
    let group = rig.daemon.ok("show lb group g");
    assert!(
        group.contains(&format!("\n2) v2 ({ip}: {port}) - TCP State: UP\n")),
        "{group}"
    );
    rig.daemon.ok("unbind lb group g v1 v2");
    assert_eq!(rig.daemon.ok("show lb group"), " Done\n");
    assert_eq!(
        rig.daemon.json("show lb persistentSessions"),
        serde_json::json!([])
    );
}
