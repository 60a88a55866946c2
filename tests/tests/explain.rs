//! What `explain lb vserver` says, and that the real next client goes there.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use serde_json::Value;
use sluice_tests::rig::Rig;
use sluice_tests::services::TcpService;

/// Services that say who they are, and a virtual server over them.
fn rig(options: &str) -> (Vec<TcpService>, Rig) {
    let service = |name: &'static [u8]| {
        TcpService::start(move |mut stream| {
            // A client may leave before it is greeted.
            let _ = stream.write_all(name);
            let _ = std::io::copy(&mut stream, &mut std::io::sink());
        })
    };
    let services = vec![service(b"1"), service(b"2"), service(b"3")];
    let addresses: Vec<SocketAddr> = services.iter().map(TcpService::address).collect();
    let rig = Rig::tcp(&addresses, options);
    (services, rig)
}

/// Opens a client and returns it with the name of its service.
fn open(rig: &Rig) -> (TcpStream, String) {
    let mut client = rig.connect();
    let mut greeting = [0];
    client.read_exact(&mut greeting).expect("a service greets");
    (client, format!("s{}", char::from(greeting[0])))
}

/// Returns the rows that have a field.
fn rows(rig: &Rig, line: &str, field: &str) -> Vec<Value> {
    let document = rig.daemon.json(line);
    let all = document.as_array().expect("rows").iter();
    all.filter(|row| !row[field].is_null()).cloned().collect()
}

fn services(rig: &Rig, line: &str) -> Vec<Value> {
    rows(rig, line, "weight")
}

/// Returns the service that is said to be next.
fn next(rig: &Rig, line: &str) -> String {
    let outcome = rows(rig, line, "outcome");
    outcome[0]["service"].as_str().unwrap_or("-").to_owned()
}

const ASK: &str = "explain lb vserver v1";

#[test]
fn fewest_connections_are_shown_and_the_next_client_goes_where_it_was_said() {
    let (_services, rig) = rig("-lbMethod LEASTCONNECTION");
    let mut clients: Vec<_> = (0..4).map(|_| open(&rig)).collect();
    // s1 has two now; one more of s2 and s3 would be even, so one of s2 goes.
    clients.retain(|(_, service)| service != "s2");
    sluice_tests::rig::eventually("the flow has ended", || rig.bound("active") == [2, 0, 1]);
    let values: Vec<_> = services(&rig, ASK)
        .iter()
        .map(|row| row["value"].clone())
        .collect();
    assert_eq!(values, [2, 0, 1]);
    for expected in ["s2", "s3", "s2"] {
        assert_eq!(next(&rig, ASK), expected);
        assert_eq!(next(&rig, ASK), expected);
        let client = open(&rig);
        assert_eq!(client.1, expected);
        clients.push(client);
    }
    let text = rig.daemon.ok(ASK);
    assert!(text.contains("\n\tValue: connections now\n"), "{text}");
    drop(clients);
    rig.finish();
}

#[test]
fn a_turn_is_told_without_being_taken_and_who_is_disabled_is_left_out() {
    let (_services, rig) = rig("-lbMethod ROUNDROBIN");
    let mut clients = vec![open(&rig)];
    let hits = rig.vserver("hits");
    for _ in 0..4 {
        assert_eq!(next(&rig, ASK), "s2");
    }
    assert_eq!(rig.vserver("hits"), hits);
    rig.daemon.ok("disable service s2");
    let left_out: Vec<_> = services(&rig, ASK)
        .iter()
        .map(|row| row["excluded"].to_string())
        .collect();
    assert_eq!(left_out, ["[]", "[\"disabled\"]", "[]"]);
    assert_eq!(next(&rig, ASK), "s3");
    clients.push(open(&rig));
    assert_eq!(clients[1].1, "s3");
    drop(clients);
    rig.finish();
}

#[test]
fn a_client_that_stays_with_its_service_is_asked_about_by_its_address() {
    let (_services, rig) = rig("-lbMethod ROUNDROBIN -persistenceType SOURCEIP");
    assert_eq!(rig.greeting_to([127, 0, 0, 11]), b'1');
    assert_eq!(rig.greeting_to([127, 0, 0, 12]), b'2');
    let about = format!("{ASK} -srcIP 127.0.0.11");
    assert_eq!(next(&rig, &about), "s1");
    let vserver = &rows(&rig, &about, "verdict")[0];
    assert_eq!(vserver["rule"], "persistence");
    assert_eq!(vserver["persistence"], "the client stays with s1");
    let outcome = &rows(&rig, ASK, "outcome")[0];
    assert_eq!(outcome["assumed_without"], serde_json::json!(["-srcIP"]));
    assert_eq!(next(&rig, ASK), "s3");
    assert_eq!(rig.greeting_to([127, 0, 0, 11]), b'1');
    assert_eq!(rig.greeting_to([127, 0, 0, 13]), b'3');
    rig.finish();
}

#[test]
fn a_hash_says_what_it_has_to_be_told_and_then_where_that_client_goes() {
    let (_services, rig) = rig("-lbMethod SOURCEIPHASH");
    let outcome = &rows(&rig, ASK, "outcome")[0];
    assert_eq!(outcome["outcome"], "UNKNOWN");
    assert_eq!(outcome["missing"], serde_json::json!(["-srcIP"]));
    for last in 1..20 {
        let said = next(&rig, &format!("{ASK} -srcIP 127.0.0.{last}"));
        let greeting = rig.greeting_to([127, 0, 0, last]);
        assert_eq!(said, format!("s{}", char::from(greeting)));
    }
    rig.finish();
}

#[test]
fn a_new_service_shows_its_limit_and_is_held_back_after_its_first_client() {
    let (_services, rig) = rig("-lbMethod ROUNDROBIN");
    rig.daemon.ok("unbind lb vserver v1 s3");
    // One request in a while that no test takes: the second is never due.
    rig.daemon
        .ok("set lb vserver v1 -newServiceRequest 1 PERCENT");
    rig.daemon.ok("bind lb vserver v1 s3");
    assert_eq!(next(&rig, ASK), "s3");
    let first = open(&rig);
    assert_eq!(first.1, "s3");
    let row = services(&rig, ASK)[2].clone();
    assert_eq!(
        row["excluded"],
        serde_json::json!(["held back by slow start"])
    );
    let start = &row["slow_start"];
    assert_eq!(
        (&start["limit"], &start["requests"]),
        (&Value::from(1), &Value::from(1))
    );
    assert_eq!(start["unit"], "PERCENT");
    let said = next(&rig, ASK);
    let second = open(&rig);
    assert_eq!(second.1, said);
    drop((first, second));
    rig.finish();
}

#[test]
fn a_name_that_is_none_is_refused_as_by_show() {
    let (_services, rig) = rig("");
    let refused = |line| {
        let ran = rig.daemon.run(line);
        (ran.code, ran.err)
    };
    assert_eq!(
        refused("explain lb vserver nope"),
        refused("show lb vserver nope")
    );
    assert_eq!(refused("explain lb vserver nope").0, 1);
    rig.finish();
}
