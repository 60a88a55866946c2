//! What the operator wants of sockets reaches the sockets of flows.

#![expect(
    clippy::unwrap_used,
    reason = "a step of a test's set-up that fails is to fail the test"
)]

mod tcp_rig;

use std::io::{Read, Write};
use std::net::IpAddr;

use sluice_balance::{Change, ServiceId, Sockets, VserverId};

use tcp_rig::{Rig, connect, service};

fn from(address: &str) -> Sockets {
    Sockets {
        source: Some(address.parse().unwrap()),
        ..Sockets::default()
    }
}

/// Starts a service that tells each client which address it sees.
fn mirror() -> std::net::SocketAddr {
    service(|mut stream| {
        let seen = stream.peer_addr().unwrap().ip().to_string();
        let _ = stream.write_all(seen.as_bytes());
    })
}

#[test]
fn services_see_the_source_that_is_wanted_from_the_next_connection_on() {
    let mut rig = Rig::start(1);
    let vserver = rig.serve(&[mirror()]);
    let seen = || -> IpAddr {
        let mut text = String::new();
        connect(vserver).read_to_string(&mut text).unwrap();
        text.parse().unwrap()
    };
    let before = seen();
    let (first, second) = ("127.211.0.1", "127.211.0.2");
    rig.apply(&[Change::SetVserverSockets(VserverId(1), from(first))])
        .unwrap();
    assert_eq!(seen().to_string(), first);
    rig.apply(&[Change::SetServiceSockets(ServiceId(1), from(second))])
        .unwrap();
    assert_eq!(seen().to_string(), second);
    rig.apply(&[
        Change::SetServiceSockets(ServiceId(1), Sockets::default()),
        Change::SetVserverSockets(VserverId(1), Sockets::default()),
    ])
    .unwrap();
    assert_eq!(seen(), before);
}

#[test]
fn a_source_that_the_host_has_not_refuses_the_client_and_blames_no_service() {
    let mut rig = Rig::start(1);
    let vserver = rig.serve(&[mirror()]);
    // TEST-NET-1: no host has it.
    let nowhere = from("192.0.2.1");
    rig.apply(&[Change::SetServiceSockets(ServiceId(1), nowhere)])
        .unwrap();
    let ended = connect(vserver).read(&mut [0; 1]);
    assert!(ended.is_err() || ended.is_ok_and(|bytes| bytes == 0));
    assert_eq!(rig.service(1).connect_failures, 0);
}
