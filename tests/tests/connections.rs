//! `show ns connectiontable` over the real daemon: exactly the open flows, and why each is where it is.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};

use serde_json::Value;
use sluice_tests::rig::{Rig, ask, eventually};
use sluice_tests::services::{TcpService, UdpService, reset_on_close};
use socket2::{Domain, Socket, Type};

const SHOW: &str = "show ns connectiontable";

/// Services that say who they are, and a virtual server over them.
fn rig(options: &str) -> (Vec<TcpService>, Rig) {
    let services = vec![TcpService::hold(b"1"), TcpService::hold(b"2")];
    let addresses: Vec<SocketAddr> = services.iter().map(TcpService::address).collect();
    let rig = Rig::tcp(&addresses, options);
    (services, rig)
}

fn rows(rig: &Rig, line: &str) -> Vec<Value> {
    let document = rig.daemon.json(line);
    document.as_array().expect("rows").clone()
}

/// Returns the ports of the clients that are shown, in order.
fn ports(rig: &Rig, line: &str) -> Vec<u64> {
    let rows = rows(rig, line);
    let port = |row: &Value| row["source_port"].as_u64().expect("a port");
    rows.iter().map(port).collect()
}

fn port(client: &TcpStream) -> u64 {
    client.local_addr().expect("it is connected").port().into()
}

/// Returns name and rule of the service of the client of this port.
fn chosen(rig: &Rig, port: u64) -> (String, String) {
    let found = rows(rig, &format!("{SHOW} \"CONNECTION.SRCPORT.EQ({port})\""));
    let [row] = &found[..] else {
        panic!("{found:?}")
    };
    let word = |field: &str| row["service"][field].as_str().expect("a word").to_owned();
    (word("name"), word("rule"))
}

#[test]
fn a_connection_shows_both_its_ends_its_bytes_and_why_it_has_its_service() {
    let (services, rig) = rig("-lbMethod SOURCEIPHASH");
    assert_eq!(rig.daemon.json(SHOW), serde_json::json!([]));
    let (mut client, name) = rig.greeted([127, 0, 0, 11]);
    client.write_all(b"hello").expect("the daemon reads");
    eventually("the service's socket has the bytes", || {
        rows(&rig, SHOW)[0]["request_bytes"] == 5
    });
    let found = rows(&rig, SHOW);
    let [row] = &found[..] else {
        panic!("{found:?}")
    };
    let service = services[usize::from(name - b'1')].address();
    let mut expected = serde_json::json!({
        "source": "127.0.0.11",
        "source_port": port(&client),
        "destination": rig.listen.ip().to_string(),
        "destination_port": rig.listen.port(),
        "protocol": "TCP",
        "service_type": "TCP",
        "state": "ESTABLISHED",
        "vserver": "v1",
        "service": {
            "name": format!("s{}", char::from(name)),
            "address": service.ip().to_string(),
            "port": service.port(),
            "vserver": "v1",
            "diversion": null,
            "method": "SOURCEIPHASH",
            "rule": "the least hash score for its weight",
        },
        "request_bytes": 5,
        "response_bytes": 1,
    });
    for field in ["age_ms", "idle_ms"] {
        assert!(row[field].is_u64(), "{row}");
        expected[field] = row[field].clone();
    }
    assert_eq!(*row, expected);
    assert!(row["idle_ms"].as_u64() <= row["age_ms"].as_u64(), "{row}");

    let text = rig.daemon.ok("show connectiontable");
    let reason = "SOURCEIPHASH: the least hash score for its weight";
    assert!(text.starts_with("SRCIP "), "{text}");
    assert!(text.contains(reason), "{text}");
    drop(client);
    // The service does not close: of this side the end is shown.
    eventually("the client's end is shown", || {
        rows(&rig, SHOW)[0]["state"] == "CLOSE_WAIT"
    });
    drop(services);
    rig.daemon.ok("rm lb vserver v1");
}

#[test]
fn filters_pick_connections_and_all_are_gone_when_they_have_ended() {
    let (_services, rig) = rig("-lbMethod ROUNDROBIN");
    let clients = [11, 12, 13].map(|last| rig.greeted([127, 0, 0, last]));
    assert_eq!(clients.each_ref().map(|(_, name)| *name), *b"121");
    let [first, second, third] = clients.each_ref().map(|(client, _)| port(client));
    assert_eq!(ports(&rig, SHOW), [first, second, third]);
    let only = |filter: &str| ports(&rig, &format!("{SHOW} \"{filter}\""));
    assert_eq!(only("CONNECTION.SVCNAME.EQ(s1)"), [first, third]);
    assert_eq!(only("CONNECTION.SRCIP.EQ(127.0.0.12)"), [second]);
    assert_eq!(only("CONNECTION.SRCIP.NE(127.0.0.12)"), [first, third]);
    let quoted = r#"CONNECTION.LB_VSERVER.NAME.EQ(\"v1\") && CONNECTION.SVCNAME.EQ(\"s2\")"#;
    assert_eq!(only(quoted), [second]);
    assert_eq!(
        only("SVCNAME == s2 || SOURCEIP == 127.0.0.13"),
        [second, third]
    );
    assert!(only("CONNECTION.LB_VSERVER.NAME.EQ(v2)").is_empty());
    assert!(only("CONNECTION.SERVICE_TYPE.EQ(UDP)").is_empty());
    assert_eq!(
        rig.daemon
            .run(&format!("{SHOW} \"CONNECTION.VLANID.EQ(1)\""))
            .code,
        1
    );
    for (client, _) in &clients {
        reset_on_close(client);
    }
    drop(clients);
    eventually("nothing is shown", || rows(&rig, SHOW).is_empty());
    assert_eq!(
        rig.daemon.ok(SHOW),
        rig.daemon.ok("show lb persistentSessions")
    );
    rig.finish();
}

#[test]
fn persistence_is_the_reason_from_the_second_connection_on() {
    let (_services, rig) = rig("-lbMethod ROUNDROBIN -persistenceType SOURCEIP");
    let clients = [11, 11, 12].map(|last| rig.greeted([127, 0, 0, last]));
    assert_eq!(clients.each_ref().map(|(_, name)| *name), *b"112");
    let reasons = clients
        .each_ref()
        .map(|(client, _)| chosen(&rig, port(client)));
    let turn = "its turn in the round".to_owned();
    let expected = [
        ("s1".to_owned(), turn.clone()),
        ("s1".to_owned(), "persistence".to_owned()),
        ("s2".to_owned(), turn),
    ];
    assert_eq!(reasons, expected);
    for (client, _) in &clients {
        reset_on_close(client);
    }
    drop(clients);
    rig.finish();
}

#[test]
fn a_backup_is_named_with_why_it_serves() {
    let (_services, rig) = rig("-lbMethod LEASTCONNECTION");
    let spare = TcpService::hold(b"b");
    let (ip, port) = (spare.address().ip(), spare.address().port());
    let lines = format!(
        "add lb vserver b1 TCP -lbMethod RANDOM\n\
         add service b {ip} TCP {port}\n\
         bind lb vserver b1 b\n\
         set lb vserver v1 -backupVServer b1\n\
         disable lb vserver v1\n"
    );
    let ran = rig.daemon.batch(&lines);
    assert_eq!(ran.code, 0, "{ran:?}");
    // One that is disabled goes on listening for its backup.
    let (client, name) = rig.greeted([127, 0, 0, 11]);
    assert_eq!(name, b'b');
    let row = &rows(&rig, SHOW)[0];
    assert_eq!(row["vserver"], "v1");
    let service = &row["service"];
    let words = ["name", "vserver", "diversion", "method", "rule"].map(|field| &service[field]);
    let expected = ["b", "b1", "DOWN", "RANDOM", "chance, by weight"];
    assert_eq!(words, expected.map(Value::from).each_ref());
    let text = rig.daemon.ok(SHOW);
    assert!(text.contains("(backup b1, primary down)"), "{text}");
    // Who dialled v1 is found by either name.
    for name in ["v1", "b1"] {
        let filter = format!("\"CONNECTION.LB_VSERVER.NAME.EQ({name})\"");
        assert_eq!(rows(&rig, &format!("{SHOW} {filter}")).len(), 1);
    }
    reset_on_close(&client);
    drop(client);
    rig.finish();
}

#[test]
fn a_connection_to_a_service_that_does_not_answer_yet_is_shown_as_such() {
    // A queue for one connection, which is taken: a further connect waits until somebody accepts.
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("there are sockets");
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    socket.bind(&any.into()).expect("loopback has a free port");
    socket.listen(0).expect("it is bound");
    let listener = TcpListener::from(socket);
    let address = listener.local_addr().expect("it is bound");
    let filler = TcpStream::connect(address).expect("there is room for one");
    let rig = Rig::tcp(&[address], "");
    let client = rig.connect();
    eventually("the client is shown", || !rows(&rig, SHOW).is_empty());
    let row = &rows(&rig, SHOW)[0];
    assert_eq!(row["state"], "SYN_SENT");
    assert_eq!(row["service"]["name"], "s1");
    assert_eq!(row["source_port"], port(&client));
    reset_on_close(&client);
    drop(client);
    eventually("nothing is shown", || rows(&rig, SHOW).is_empty());
    drop((listener, filler));
    rig.finish();
}

#[test]
fn a_client_whose_first_bytes_are_awaited_has_no_service() {
    let (_services, rig) = rig("-lbMethod TOKEN -dataLength 4");
    // Many, because each is waited for a second only and this machine may be busy.
    let clients: Vec<_> = (0..50).map(|_| rig.connect()).collect();
    let filter = format!("{SHOW} \"CONNECTION.SVCNAME.NE(s1) && CONNECTION.SVCNAME.NE(s2)\"");
    let shown = rows(&rig, &filter);
    assert!(
        shown.iter().all(|row| row["service"].is_null()),
        "{shown:?}"
    );
    let mut client = rig.connect();
    client.write_all(b"abcd").expect("the daemon reads");
    client.read_exact(&mut [0]).expect("a service greets");
    assert_eq!(
        chosen(&rig, port(&client)).1,
        "the least hash score for its weight"
    );
    for client in clients.iter().chain([&client]) {
        reset_on_close(client);
    }
    drop((clients, client));
    rig.finish();
}

#[test]
fn a_side_that_has_finished_shows() {
    let service = TcpService::start(|mut stream| {
        let _ = stream.write_all(b"1");
        let _ = stream.shutdown(Shutdown::Write);
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    });
    let rig = Rig::tcp(&[service.address()], "");
    let (client, _) = rig.greeted([127, 0, 0, 11]);
    eventually("the service's end is shown", || {
        rows(&rig, SHOW)[0]["state"] == "FIN_WAIT_2"
    });
    drop(client);
    eventually("nothing is shown", || rows(&rig, SHOW).is_empty());
    rig.finish();
}

#[test]
fn a_udp_session_is_shown_until_it_ends() {
    let services = [UdpService::echo(), UdpService::echo()];
    let addresses = services.each_ref().map(UdpService::address);
    let rig = Rig::udp(&addresses, "-lbMethod ROUNDROBIN -persistenceType SOURCEIP");
    let clients = [rig.client(), rig.client()];
    for client in &clients {
        assert_eq!(ask(client, b"hello"), b"hello");
    }
    assert_eq!(ask(&clients[0], b"again"), b"again");
    let port =
        |client: &std::net::UdpSocket| u64::from(client.local_addr().expect("it is bound").port());
    let [first, second] = clients.each_ref().map(port);
    let mut both = [first, second];
    both.sort_unstable();
    assert_eq!(ports(&rig, SHOW), both);
    let turn = ("s1".to_owned(), "its turn in the round".to_owned());
    assert_eq!(chosen(&rig, first), turn);
    let stays = ("s1".to_owned(), "persistence".to_owned());
    assert_eq!(chosen(&rig, second), stays);
    let found = rows(&rig, &format!("{SHOW} \"CONNECTION.SRCPORT.EQ({first})\""));
    let row = &found[0];
    assert_eq!(
        (&row["protocol"], &row["state"]),
        (&"UDP".into(), &"NOT_APPLICABLE".into())
    );
    assert_eq!(
        (&row["request_bytes"], &row["response_bytes"]),
        (&10.into(), &10.into())
    );
    assert_eq!(row["service"]["port"], addresses[0].port());
    rig.daemon.ok("rm lb vserver v1");
    assert_eq!(rows(&rig, SHOW), Vec::<Value>::new());
}
