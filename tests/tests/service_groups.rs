//! Service groups over the real daemon: traffic by the weights of members, members that come and go under
//! traffic, and the same after a restart.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use sluice_tests::daemon::Daemon;
use sluice_tests::rig::{Rig, ask};
use sluice_tests::services::{TcpService, UdpService};

/// A virtual server over a group with these members, by the addresses of their services.
fn rig(services: &[SocketAddr], weights: &[u64], options: &str) -> Rig {
    let rig = Rig::tcp(&[], options);
    let mut lines = "add serviceGroup sg TCP\nbind lb vserver v1 sg\n".to_owned();
    for (index, (service, weight)) in services.iter().zip(weights).enumerate() {
        // The first stands for itself, the others are on servers with names.
        let (ip, port) = (service.ip(), service.port());
        if index == 0 {
            lines += &format!("bind serviceGroup sg {ip} {port} -weight {weight}\n");
        } else {
            lines += &format!("add server h{index} {ip}\n");
            lines += &format!("bind serviceGroup sg h{index} {port} -weight {weight}\n");
        }
    }
    let ran = rig.daemon.batch(&lines);
    assert_eq!(ran.code, 0, "{ran:?}");
    rig
}

fn greetings(rig: &Rig, count: usize) -> BTreeMap<char, usize> {
    let mut counts = BTreeMap::new();
    for _ in 0..count {
        let name = char::from(rig.greeting_to([127, 0, 0, 1]));
        *counts.entry(name).or_default() += 1;
    }
    counts
}

#[test]
fn members_share_the_traffic_by_weight_and_a_disabled_one_gets_none() {
    let services = [TcpService::hold(b"1"), TcpService::hold(b"2")];
    let addresses = services.each_ref().map(TcpService::address);
    let rig = rig(&addresses, &[1, 3], "-lbMethod ROUNDROBIN");
    assert_eq!(greetings(&rig, 40), BTreeMap::from([('1', 10), ('2', 30)]));
    let port = addresses[1].port();
    let stat = rig.daemon.json("stat serviceGroup sg");
    assert_eq!(stat[0]["hits"], 40);
    let member = format!("stat serviceGroupMember sg h1 {port}");
    assert_eq!(rig.daemon.number(&member, "hits"), 30);

    rig.daemon.ok(&format!("disable serviceGroup sg h1 {port}"));
    assert_eq!(greetings(&rig, 5), BTreeMap::from([('1', 5)]));
    let shown = rig.daemon.ok("show serviceGroup sg");
    assert!(
        shown.contains("\tState: ENABLED\tEffective State: PARTIAL-UP"),
        "{shown}"
    );
    rig.daemon.ok(&format!("enable serviceGroup sg h1 {port}"));
    rig.daemon
        .ok(&format!("set serviceGroup sg h1 {port} -weight 1"));
    assert_eq!(greetings(&rig, 10), BTreeMap::from([('1', 5), ('2', 5)]));

    rig.daemon.ok("disable serviceGroup sg");
    let vserver = rig.daemon.json("show lb vserver v1");
    assert_eq!(vserver[0]["state"], "DOWN");
    rig.daemon.ok("enable serviceGroup sg");
    assert_eq!(greetings(&rig, 4).len(), 2);
}

#[test]
fn a_group_limits_each_of_its_members() {
    let services = [TcpService::hold(b"1"), TcpService::hold(b"2")];
    let addresses = services.each_ref().map(TcpService::address);
    let rig = rig(&addresses, &[1, 1], "-lbMethod ROUNDROBIN");
    rig.daemon.ok("set serviceGroup sg -maxClient 1");
    let first = rig.greeted([127, 0, 0, 1]);
    let second = rig.greeted([127, 0, 0, 1]);
    assert_ne!(first.1, second.1);
    let mut third = rig.connect();
    assert!(
        matches!(third.read(&mut [0; 1]), Ok(0) | Err(_)),
        "there is no room"
    );
    assert_eq!(rig.vserver("refused"), 1);
    rig.daemon.ok("unset serviceGroup sg -maxClient");
    rig.greeting_to([127, 0, 0, 1]);
    drop((first, second, third));
}

#[test]
fn members_come_and_go_under_traffic_and_nobody_notices() {
    let stays = TcpService::echo();
    let comes = TcpService::echo();
    let rig = rig(&[stays.address()], &[1], "-lbMethod ROUNDROBIN");
    let stop = Arc::new(AtomicBool::new(false));
    let failures = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !stop.load(Ordering::Acquire) {
                    let mut client = rig.connect();
                    let mut answer = [0; 4];
                    let told = client.write_all(b"ping");
                    let told = told.and_then(|()| client.read_exact(&mut answer));
                    if told.is_err() || answer != *b"ping" {
                        failures.lock().unwrap().push(format!("{told:?}"));
                    }
                }
            });
        }
        let port = comes.address().port();
        let ip = comes.address().ip();
        rig.daemon.ok(&format!("add server fresh {ip}"));
        // One that is disabled first has no flow left when it goes.
        rig.daemon.ok("set lb vserver v1 -downStateFlush DISABLED");
        rig.daemon
            .ok("set serviceGroup sg -downStateFlush DISABLED");
        for _ in 0..3 {
            let before = comes.accepted();
            rig.daemon.ok(&format!("bind serviceGroup sg fresh {port}"));
            sluice_tests::rig::eventually("the new member has clients", || {
                comes.accepted() > before + 2
            });
            rig.daemon
                .ok(&format!("disable serviceGroup sg fresh {port}"));
            let member = format!("stat serviceGroupMember sg fresh {port}");
            sluice_tests::rig::eventually("it is left by its clients", || {
                rig.daemon.number(&member, "active") == 0
            });
            rig.daemon
                .ok(&format!("unbind serviceGroup sg fresh {port}"));
        }
        stop.store(true, Ordering::Release);
    });
    assert_eq!(*failures.lock().unwrap(), [] as [String; 0]);
    let group = rig.daemon.json("show serviceGroup sg");
    assert_eq!(group[0]["members_total"], 1);
    rig.finish();
}

#[test]
fn a_member_leaves_gradually_and_keeps_its_clients_until_they_go() {
    let services = [TcpService::echo(), TcpService::echo()];
    let addresses = services.each_ref().map(TcpService::address);
    let rig = rig(&addresses, &[1, 1], "-lbMethod ROUNDROBIN");
    let mut clients = [rig.connect(), rig.connect()];
    let talk = |client: &mut std::net::TcpStream| {
        client.write_all(b"ping").expect("the daemon reads");
        let mut answer = [0; 4];
        client.read_exact(&mut answer).expect("it is still served");
    };
    clients.iter_mut().for_each(talk);
    let port = addresses[1].port();
    rig.daemon.ok(&format!(
        "disable serviceGroup sg h1 {port} -delay 3600 -graceFul YES"
    ));
    let shown = rig.daemon.ok("show serviceGroup sg");
    assert!(shown.contains("GOING OUT OF SERVICE (Graceful (number of active clients: 1), Out"));
    clients.iter_mut().for_each(talk);
    let others = [rig.connect(), rig.connect()];
    assert_eq!(services[1].accepted(), 1);
    drop((clients, others));
    sluice_tests::rig::eventually("the last client has gone", || {
        let group = rig.daemon.json("show serviceGroup sg");
        group[0]["members"][1]["state"] == "OUT OF SERVICE"
    });
    rig.finish();
}

#[test]
fn datagrams_reach_the_members_of_a_group() {
    let services = [UdpService::echo(), UdpService::echo()];
    let rig = Rig::udp(&[], "-lbMethod ROUNDROBIN");
    rig.daemon.ok("add serviceGroup sg UDP");
    rig.daemon.ok("bind lb vserver v1 sg");
    for service in &services {
        let (ip, port) = (service.address().ip(), service.address().port());
        rig.daemon.ok(&format!("bind serviceGroup sg {ip} {port}"));
    }
    let clients = [rig.client(), rig.client()];
    for client in &clients {
        assert_eq!(ask(client, b"hello"), b"hello");
    }
    assert_eq!(services.each_ref().map(UdpService::received), [1, 1]);
}

#[test]
fn one_server_on_three_ports_is_three_members() {
    // Bug case C70.
    let services = [
        TcpService::hold(b"1"),
        TcpService::hold(b"2"),
        TcpService::hold(b"3"),
    ];
    let rig = Rig::tcp(&[], "-lbMethod ROUNDROBIN");
    let mut lines =
        "add server h 127.0.0.1\nadd serviceGroup sg TCP\nbind lb vserver v1 sg\n".to_owned();
    for service in &services {
        lines += &format!("bind serviceGroup sg h {}\n", service.address().port());
    }
    assert_eq!(rig.daemon.batch(&lines).code, 0);
    let each = |names: &[char]| names.iter().map(|name| (*name, 2)).collect();
    assert_eq!(greetings(&rig, 6), each(&['1', '2', '3']));
    let second = services[1].address().port();
    rig.daemon.ok(&format!("unbind serviceGroup sg h {second}"));
    assert_eq!(greetings(&rig, 4), each(&['1', '3']));
    rig.daemon.ok("save ns config");
    let lines = rig.daemon.ok("show ns runningConfig");
    let bound = lines
        .lines()
        .filter(|line| line.starts_with("bind serviceGroup"));
    assert_eq!(bound.count(), 2);
}

#[test]
fn what_is_saved_is_there_again_after_a_restart() {
    let services = [TcpService::hold(b"1"), TcpService::hold(b"2")];
    let addresses = services.each_ref().map(TcpService::address);
    let rig = rig(&addresses, &[1, 4], "-lbMethod ROUNDROBIN");
    rig.daemon
        .ok("set serviceGroup sg -svrTimeout 60 -comment \"a b\"");
    let port = addresses[1].port();
    rig.daemon
        .ok(&format!("set serviceGroup sg h1 {port} -hashId 7 -order 2"));
    rig.daemon.ok("save ns config");
    let running = rig.daemon.ok("show ns runningConfig");
    assert!(running.contains(&format!(
        "\nbind serviceGroup sg h1 {port} -weight 4 -hashId 7 -order 2\n"
    )));
    let listen = rig.listen;
    let Rig { daemon, .. } = rig;
    let folder = daemon.kill();
    let daemon = Daemon::start_in(folder, &[]);
    assert_eq!(daemon.ok("show ns runningConfig"), running);
    assert_eq!(daemon.ok("diff ns config"), " Done\n");
    let mut client = std::net::TcpStream::connect(listen).expect("it listens again");
    sluice_tests::rig::be_patient(&client);
    let mut greeting = [0];
    client.read_exact(&mut greeting).expect("a member greets");
    // The member without an order comes last.
    assert_eq!(greeting, *b"2");
}

#[test]
fn trials_and_clearing_take_groups_with_them() {
    let service = TcpService::hold(b"1");
    let rig = rig(&[service.address()], &[2], "");
    let before = rig.daemon.ok("show ns runningConfig");
    let held = rig.greeted([127, 0, 0, 1]);
    rig.daemon.ok("apply -confirm 3600");
    rig.daemon.ok("set serviceGroup sg -maxClient 9");
    let (ip, port) = (service.address().ip(), service.address().port());
    rig.daemon
        .ok(&format!("set serviceGroup sg {ip} {port} -weight 7"));
    rig.daemon.ok("add serviceGroup other TCP");
    rig.daemon.ok("rollback");
    assert_eq!(rig.daemon.ok("show ns runningConfig"), before);
    // It was changed in place and back: whoever was connected still is.
    let member = format!("stat serviceGroupMember sg {ip} {port}");
    assert_eq!(rig.daemon.number(&member, "active"), 1);
    drop(held);
    rig.daemon.ok("clear ns config -force basic");
    assert_eq!(rig.daemon.ok("show ns runningConfig"), " Done\n");
}

#[test]
fn a_service_that_is_a_member_is_told_apart_where_names_are_listed() {
    let services = [TcpService::hold(b"1"), TcpService::hold(b"2")];
    let addresses = services.each_ref().map(TcpService::address);
    let rig = rig(&addresses, &[1, 1], "-persistenceType SOURCEIP");
    let name = rig.greeting_to([127, 0, 0, 9]);
    let server = if name == b'1' { "127.0.0.1" } else { "h1" };
    let port = addresses[usize::from(name - b'1')].port();
    let own = format!("sg?{server}?{port}");
    let sessions = rig.daemon.json("show lb persistentSessions");
    assert_eq!(sessions[0]["service"], own.as_str());
    let explained = rig.daemon.ok("explain lb vserver v1 -srcIP 127.0.0.9");
    assert!(explained.contains(&own), "{explained}");
}

#[test]
fn objects_that_are_renamed_keep_their_clients() {
    let service = TcpService::echo();
    let rig = rig(&[service.address()], &[2], "");
    let mut client = rig.connect();
    let talk = |client: &mut std::net::TcpStream| {
        client.write_all(b"ping").expect("the daemon reads");
        client.read_exact(&mut [0; 4]).expect("it is still served");
    };
    talk(&mut client);
    rig.daemon.ok("rename serviceGroup sg \"other group\"");
    rig.daemon.ok("rename server 127.0.0.1 home");
    rig.daemon.ok("rename lb vserver v1 w1");
    talk(&mut client);
    let port = service.address().port();
    let member = format!("stat serviceGroupMember \"other group\" home {port}");
    assert_eq!(rig.daemon.number(&member, "active"), 1);
    let running = rig.daemon.ok("show ns runningConfig");
    let end = format!(
        "bind lb vserver w1 \"other group\"\n\
         bind serviceGroup \"other group\" home {port} -weight 2\n Done\n"
    );
    assert!(running.ends_with(&end), "{running}");
    let ran = rig.daemon.run("rename lb vserver v1 x");
    assert_eq!(
        ran.err,
        "ERROR: No such resource [name, v1]\n  show lb vserver\n"
    );
}
