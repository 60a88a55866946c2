//! Persistence as an operator sees it, over the real daemon; its rules are traces of the core.

use std::io::Read;
use std::net::{SocketAddr, TcpStream};

use sluice_tests::rig::Rig;
use sluice_tests::services::TcpService;
use socket2::{Domain, Socket, Type};

/// Connects from an address of loopback's own network, and returns what the service greets with.
fn greeting(rig: &Rig, from: [u8; 4]) -> u8 {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("there are sockets");
    let from = SocketAddr::from((from, 0));
    socket.bind(&from.into()).expect("127/8 is loopback");
    socket
        .connect(&rig.listen.into())
        .expect("the daemon listens");
    let mut stream = TcpStream::from(socket);
    sluice_tests::rig::be_patient(&stream);
    let mut first = [0];
    stream.read_exact(&mut first).expect("a service greets");
    first[0]
}

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
    let ask = |last| greeting(&rig, [127, 0, 0, last]);
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
