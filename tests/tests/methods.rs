//! Methods as an operator sees them, over the real daemon; what they choose are traces of the core.

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
    let rig = Rig::tcp(&addresses, options);
    (services, rig)
}

#[test]
fn a_hash_gives_a_client_its_service_and_moves_those_of_a_lost_one_alone() {
    let (_services, rig) = rig("-lbMethod SOURCEIPHASH");
    let ask = |last| rig.greeting_to([127, 0, 1, last]);
    let before: Vec<u8> = (1..=30).map(ask).collect();
    assert!(
        (b'1'..=b'3').all(|name| before.contains(&name)),
        "{before:?}"
    );
    assert_eq!((1..=30).map(ask).collect::<Vec<_>>(), before);
    rig.daemon.ok("disable service s2");
    let without: Vec<u8> = (1..=30).map(ask).collect();
    for (before, without) in before.iter().zip(&without) {
        let stays = *before != b'2';
        assert_eq!(before == without, stays, "{before} {without}");
    }
    rig.daemon.ok("enable service s2");
    assert_eq!((1..=30).map(ask).collect::<Vec<_>>(), before);

    let shown = rig.daemon.ok("show lb vserver v1");
    let lines = "\tConfigured Method: SOURCEIPHASH\tBackupMethod: ROUNDROBIN\n\
                 \tNetmask: 255.255.255.255\tv6 Netmask Length: 128\n";
    assert!(shown.contains(lines), "{shown}");
    rig.daemon.ok("set lb vserver v1 -netmask 255.255.255.0");
    let first = ask(1);
    assert_eq!((1..=30).map(ask).collect::<Vec<_>>(), [first; 30]);
}

#[test]
fn chance_gives_every_service_some_clients() {
    let (_services, rig) = rig("-lbMethod RANDOM");
    let chosen: Vec<u8> = (1..=100)
        .map(|last| rig.greeting_to([127, 0, 1, last]))
        .collect();
    // None of three services in a hundred throws: less than once in 10^17 runs.
    assert!(
        (b'1'..=b'3').all(|name| chosen.contains(&name)),
        "{chosen:?}"
    );
}
