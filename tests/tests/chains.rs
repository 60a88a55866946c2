//! Backups, spillover, limits and orders as an operator sees them, over the real daemon; their rules
//! are traces of the core.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::thread;
use std::time::Duration;

use sluice_tests::rig::{Rig, ask, eventually};
use sluice_tests::services::{TcpService, UdpService};

/// A service that greets its clients and leaves when they do. A client that says something is sent
/// some 25 Mbit/s until it has gone.
fn greeter(name: &'static [u8]) -> TcpService {
    TcpService::start(move |mut stream| {
        let said = stream
            .write_all(name)
            .and_then(|()| stream.read(&mut [0]))
            .unwrap_or(0);
        while said > 0 && stream.write_all(&[0; 1 << 15]).is_ok() {
            thread::sleep(Duration::from_millis(10));
        }
    })
}

/// A virtual server `v1` over `names`, with `options`, and its backup `b1` over one service that is
/// called `b` and greets so.
struct Chain {
    _services: Vec<TcpService>,
    rig: Rig,
}

impl Chain {
    fn new(names: &[&'static [u8]], options: &str) -> Self {
        let mut services: Vec<_> = names.iter().map(|name| greeter(name)).collect();
        let addresses: Vec<SocketAddr> = services.iter().map(TcpService::address).collect();
        let rig = Rig::tcp(&addresses, "-lbMethod ROUNDROBIN");
        services.push(add_backup(&rig, "b1", "b", greeter(b"b")));
        rig.daemon
            .ok(&format!("set lb vserver v1 -backupVServer b1 {options}"));
        Self {
            _services: services,
            rig,
        }
    }

    fn ok(&self, line: &str) -> String {
        self.rig.daemon.ok(line)
    }

    /// Who greets the client with this last byte of its address, which goes at once.
    fn ask(&self, client: u8) -> u8 {
        self.rig.greeting_to([127, 0, 0, client])
    }

    /// Who greets this client, which stays.
    fn hold(&self, client: u8) -> (TcpStream, u8) {
        self.rig.greeted([127, 0, 0, client])
    }

    /// Who greets four clients in turn.
    fn four(&self) -> [u8; 4] {
        [11, 12, 13, 14].map(|client| self.ask(client))
    }

    /// Whether a client is turned away.
    fn refuses(&self, client: u8) -> bool {
        let mut stream = self.rig.connect_from([127, 0, 0, client]);
        !matches!(stream.read(&mut [0]), Ok(1))
    }

    fn wait_until_idle(&self) {
        eventually("nobody is served", || self.rig.vserver("active") == 0);
    }

    fn field(&self, line: &str, field: &str) -> String {
        let document = self.rig.daemon.json(line);
        document[0][field].as_str().unwrap_or_default().to_owned()
    }
}

/// Adds a virtual server that is not addressable over one service.
fn add_backup(rig: &Rig, vserver: &str, name: &str, service: TcpService) -> TcpService {
    let (ip, port) = (service.address().ip(), service.address().port());
    for line in [
        format!("add lb vserver {vserver} TCP"),
        format!("add service {name} {ip} TCP {port}"),
        format!("bind lb vserver {vserver} {name}"),
    ] {
        rig.daemon.ok(&line);
    }
    service
}

#[test]
fn the_first_of_the_chain_that_can_serves_while_the_primary_is_down() {
    let chain = Chain::new(&[b"1"], "");
    let last = add_backup(&chain.rig, "b2", "c", greeter(b"c"));
    chain.ok("set lb vserver b1 -backupVServer b2");
    assert_eq!(chain.ask(11), b'1');
    chain.ok("disable service s1");
    assert_eq!(chain.four(), *b"bbbb");
    let shown = chain.ok("show lb vserver v1");
    assert!(shown.contains("\n\tBackup: b1\n"), "{shown}");
    let states = |chain: &Chain| {
        let field = |field| chain.field("show lb vserver v1", field);
        (field("state"), field("effective_state"))
    };
    assert_eq!(states(&chain), ("DOWN".to_owned(), "UP".to_owned()));
    chain.ok("disable lb vserver b1");
    assert_eq!(chain.four(), *b"cccc");
    chain.ok("disable service c");
    assert!(chain.refuses(11));
    assert_eq!(states(&chain), ("DOWN".to_owned(), "DOWN".to_owned()));
    chain.ok("enable lb vserver b1");
    let (_client, served_by) = chain.hold(12);
    assert_eq!(served_by, b'b');

    chain.ok("enable service s1");
    assert_eq!(chain.four(), *b"1111");
    assert_eq!(chain.rig.vserver("down_backup_hits"), 9);
    assert_eq!(chain.rig.vserver("spillover_hits"), 0);
    assert_eq!(chain.rig.vserver("hits"), 5);
    assert_eq!(chain.rig.daemon.number("stat lb vserver b1", "hits"), 5);
    assert_eq!(chain.rig.daemon.number("stat lb vserver b2", "hits"), 4);
    drop(last);
}

#[test]
fn a_primary_that_was_down_is_held_until_it_is_enabled() {
    let chain = Chain::new(&[b"1"], "-disablePrimaryOnDown ENABLED");
    assert_eq!(chain.ask(11), b'1');
    chain.ok("disable service s1");
    chain.ok("enable service s1");
    assert_eq!(chain.four(), *b"bbbb");
    let shown = chain.ok("show lb vserver v1");
    for line in [
        "\n\tState: DOWN\n",
        "\n\tEffective State: UP\n",
        "\n\tHeld Down: until enable lb vserver v1\n",
        "\n\tDisable Primary Vserver On Down : ENABLED\n",
    ] {
        assert!(shown.contains(line), "{shown}");
    }
    chain.ok("enable lb vserver v1");
    assert_eq!(chain.four(), *b"1111");
    assert!(!chain.ok("show lb vserver v1").contains("Held Down"));
}

#[test]
fn clients_above_the_threshold_spill_over_and_stay_where_they_were_served() {
    let options = "-soMethod CONNECTION -soThreshold 2 -soPersistence ENABLED";
    let chain = Chain::new(&[b"1"], options);
    let first = [chain.hold(11), chain.hold(12)];
    assert_eq!(first.each_ref().map(|(_, by)| *by), *b"11");
    let shown = chain.ok("show lb vserver v1");
    assert!(shown.contains("\n\tSpilling Over: YES\n"), "{shown}");
    assert_eq!([chain.ask(13), chain.ask(13)], *b"bb");
    // Who was with the primary goes on there, threshold or not.
    let third = chain.hold(11);
    assert_eq!(third.1, b'1');
    let stat = chain.ok("stat lb vserver v1");
    for line in [
        "\nSpill Over Threshold                              --                    2\n",
        "\nSpill Over Hits                                   --                    2\n",
        "\nVserver Down Backup Hits                          --                    0\n",
    ] {
        assert!(stat.contains(line), "{stat}");
    }
    drop((first, third));
    chain.wait_until_idle();
    assert_eq!([chain.ask(13), chain.ask(14)], *b"b1");
    chain.wait_until_idle();
    chain.ok("set lb vserver v1 -soPersistence DISABLED");
    assert_eq!(chain.ask(13), b'1');
}

#[test]
fn without_a_backup_the_action_decides_what_becomes_of_a_spillover() {
    let chain = Chain::new(&[b"1"], "-soMethod CONNECTION -soThreshold 1");
    chain.ok("disable service b");
    let (client, by) = chain.hold(11);
    assert_eq!(by, b'1');
    assert!(chain.refuses(12), "no action is as DROP");
    chain.ok("set lb vserver v1 -soBackupAction ACCEPT");
    assert_eq!(chain.ask(12), b'1');
    let ran = chain
        .rig
        .daemon
        .run("set lb vserver v1 -soBackupAction REDIRECT");
    let warning = "Warning: -soBackupAction REDIRECT has no effect here [clients are not sent \
                   elsewhere: as DROP]\n";
    assert_eq!((ran.code, ran.err.as_str()), (0, warning));
    // The client that was accepted may not have gone yet; the first one has not.
    assert!(chain.refuses(12));
    chain.ok("enable service b");
    assert_eq!(chain.ask(12), b'b');
    drop(client);
}

#[test]
fn too_little_health_makes_a_virtual_server_down_or_lets_it_spill() {
    let chain = Chain::new(&[b"1", b"2"], "-healthThreshold 51");
    chain.ok("disable service s2");
    assert_eq!(chain.four(), *b"bbbb");
    assert_eq!(chain.field("show lb vserver v1", "state"), "DOWN");
    chain.ok("set lb vserver v1 -healthThreshold 50");
    assert_eq!(chain.four(), *b"1111");
    chain.ok("set lb vserver v1 -soMethod HEALTH -soThreshold 51");
    assert_eq!(chain.four(), *b"bbbb");
    assert_eq!(chain.field("show lb vserver v1", "state"), "UP");
    chain.ok("enable service s2");
    let mut by = chain.four();
    by.sort_unstable();
    assert_eq!(by, *b"1122");
    let counted = ["down_backup_hits", "spillover_hits"].map(|field| chain.rig.vserver(field));
    assert_eq!(counted, [4, 4]);
}

#[test]
fn services_of_the_first_order_serve_and_the_others_stand_by() {
    let chain = Chain::new(&[b"1", b"2", b"3", b"4"], "");
    for (service, order) in [("s1", 1), ("s2", 1), ("s3", 2), ("s4", 2)] {
        chain.ok(&format!("set lb vserver v1 -order {order} {service}"));
    }
    let served_by = || {
        let mut by = chain.four();
        by.sort_unstable();
        by
    };
    assert_eq!(served_by(), *b"1122");
    let shown = chain.ok("show lb vserver v1");
    assert!(shown.contains("\n\tCurrent Active Order: 1\n"), "{shown}");
    assert!(
        shown.contains(" State: UP\tWeight: 1 Order: 1\n"),
        "{shown}"
    );
    assert!(
        shown.contains(" State: UP\tWeight: 1 Order: 2 (standby)\n"),
        "{shown}"
    );
    chain.ok("disable service s1");
    assert_eq!(served_by(), *b"2222");
    chain.ok("set lb vserver v1 -orderThreshold 2");
    assert_eq!(served_by(), *b"3344");
    chain.ok("unset lb vserver v1 -orderThreshold");
    chain.ok("disable service s2");
    assert_eq!(served_by(), *b"3344");
    chain.ok("enable service s1");
    assert_eq!(served_by(), *b"1111");
    chain.ok("set lb vserver v1 -toggleOrder DESCENDING");
    assert_eq!(served_by(), *b"3344");
    let shown = chain.ok("show lb vserver v1");
    assert!(
        shown.contains("\n\tOrder Sequence: DESCENDING\n\tCurrent Active Order: 2\n"),
        "{shown}"
    );
    for service in ["s1", "s3", "s4"] {
        chain.ok(&format!("disable service {service}"));
    }
    assert_eq!(served_by(), *b"bbbb");
}

#[test]
fn services_at_max_client_leave_it_to_the_others_and_then_to_the_backup() {
    let chain = Chain::new(&[b"1", b"2"], "");
    for service in ["s1", "s2", "b"] {
        chain.ok(&format!("set service {service} -maxClient 1"));
    }
    let mut clients: Vec<_> = [11, 12, 13].map(|client| chain.hold(client)).into();
    let by: Vec<u8> = clients.iter().map(|(_, by)| *by).collect();
    assert_eq!(by, b"12b");
    assert!(chain.refuses(14));
    drop(clients.remove(0));
    eventually("s1 has room", || chain.rig.service("s1", "active") == 0);
    assert_eq!(chain.hold(14).1, b'1');
    assert_eq!(chain.rig.vserver("spillover_hits"), 1);
    assert_eq!(chain.rig.vserver("refused"), 1);
}

/// Lets a client take in all it is sent, on a thread that ends with the connection.
fn take_in(client: &TcpStream) -> thread::JoinHandle<()> {
    let mut client = client.try_clone().expect("there are descriptors");
    client.write_all(b"go").expect("the service reads");
    thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        while matches!(client.read(&mut buffer), Ok(1..)) {}
    })
}

#[test]
fn a_service_or_a_virtual_server_with_enough_traffic_gets_no_new_clients() {
    let chain = Chain::new(&[b"1", b"2"], "");
    chain.ok("set service s1 -maxBandwidth 1000");
    let shown = chain.ok("show service s1");
    assert!(shown.contains("\tMax Bandwidth: 1000 kbits\n"), "{shown}");
    let (client, by) = chain.hold(11);
    assert_eq!(by, b'1');
    let reader = take_in(&client);
    eventually("s1 has enough", || chain.four() == *b"2222");
    chain.ok("set lb vserver v1 -soMethod BANDWIDTH -soThreshold 1000");
    eventually("v1 has enough", || chain.four() == *b"bbbb");
    client
        .shutdown(std::net::Shutdown::Both)
        .expect("it is connected");
    reader.join().expect("it reads only");
    eventually("the traffic is forgotten", || {
        let mut by = chain.four();
        by.sort_unstable();
        by == *b"1122"
    });
}

/// A UDP service that answers with its name.
fn named(name: &'static [u8]) -> UdpService {
    UdpService::start(move |_, _| vec![name.to_vec()])
}

#[test]
fn datagrams_of_new_clients_go_to_the_backup_too() {
    let (main, spare) = (named(b"1"), named(b"b"));
    let rig = Rig::udp(&[main.address()], "");
    let (ip, port) = (spare.address().ip(), spare.address().port());
    for line in [
        "add lb vserver b1 UDP",
        &format!("add service b {ip} UDP {port}"),
        "bind lb vserver b1 b",
        "set lb vserver v1 -backupVServer b1 -soMethod CONNECTION -soThreshold 1",
    ] {
        rig.daemon.ok(line);
    }
    let clients: Vec<UdpSocket> = (0..3).map(|_| rig.client()).collect();
    assert_eq!(ask(&clients[0], b"?"), b"1");
    // The socket is connected: an answer from another address than the dialled one is not received.
    assert_eq!(ask(&clients[1], b"?"), b"b");
    assert_eq!(ask(&clients[0], b"?"), b"1");
    rig.daemon.ok("unset lb vserver v1 -soMethod");
    rig.daemon.ok("disable service s1");
    assert_eq!(ask(&clients[0], b"?"), b"b");
    rig.daemon.ok("enable service s1");
    // A session stays where it is; a new one goes to the primary.
    assert_eq!(ask(&clients[0], b"?"), b"b");
    assert_eq!(ask(&clients[2], b"?"), b"1");
    assert_eq!(
        ["spillover_hits", "down_backup_hits"].map(|field| rig.vserver(field)),
        [1, 1]
    );
}

/// As saved configurations of an appliance may have it, whether they are booted, checked or run.
#[test]
fn a_file_that_is_run_may_name_a_backup_before_it_adds_it() {
    let daemon = sluice_tests::daemon::Daemon::start();
    let ran = daemon.batch(
        "add lb vserver v1 TCP -backupVServer b1\n\
         add lb vserver b1 TCP -backupVServer b2 -disablePrimaryOnDown ENABLED\n\
         add lb vserver b2 TCP\n\
         add lb vserver v2 TCP -backupVServer b1\n",
    );
    let expected = (0, "6 commands, 0 failed\n");
    assert_eq!((ran.code, ran.err.as_str()), expected);
    let saved = daemon.ok("show ns runningConfig");
    for line in [
        "\nset lb vserver v1 -backupVServer b1\n",
        "\nset lb vserver b1 -backupVServer b2 -disablePrimaryOnDown ENABLED\n",
    ] {
        assert!(saved.contains(line), "{saved}");
    }
    let ran = daemon.batch("add lb vserver v3 TCP -backupVServer b9\nrm lb vserver v1\n");
    let failed = ran.err.starts_with("batch:1: ERROR: ") || ran.err.contains("/batch:1: ERROR: ");
    assert!(failed, "{ran:?}");
    assert!(
        ran.err
            .contains("ERROR: No such resource [backupVServer, b9]\n"),
        "{ran:?}"
    );
    assert!(ran.err.ends_with("\n3 commands, 1 failed\n"), "{ran:?}");
}

#[test]
fn a_saved_file_brings_the_chain_back() {
    let chain = Chain::new(&[b"1"], "-disablePrimaryOnDown ENABLED");
    chain.ok("add lb vserver v0 TCP -soMethod HEALTH -soThreshold 50 -backupVServer v1");
    let before = chain.ok("show ns runningConfig");
    let line =
        "\nset lb vserver v1 -backupVServer b1 -disablePrimaryOnDown ENABLED\nbind lb vserver ";
    assert!(before.contains(line), "{before}");
    chain.ok("save ns config");
    let again = sluice_tests::daemon::Daemon::start_in(chain.rig.daemon.kill(), &[]);
    assert_eq!(again.ok("show ns runningConfig"), before);
    assert_eq!(
        again.json("show ns config")["boot_failures"],
        serde_json::json!([])
    );
    assert!(
        !again.log().join("\n").contains("Warning"),
        "{:?}",
        again.log()
    );
}
