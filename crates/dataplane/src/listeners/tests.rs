//! Plans that open, move and swap addresses, with real sockets on loopback.

use std::net::TcpListener;

use sluice_balance::{Backup, HashSettings, Method, Orders, Percent, SlowStart};

use super::*;

fn settings(protocol: Protocol, listen: SocketAddr) -> VserverSettings {
    VserverSettings {
        protocol,
        listen: Some(listen),
        enabled: true,
        method: Method::RoundRobin,
        hash: HashSettings::default(),
        idle: None,
        flush_on_down: false,
        health_threshold: Percent::ZERO,
        backup: Backup::default(),
        orders: Orders::default(),
        slow_start: SlowStart::default(),
        persistence: None,
    }
}

fn add(number: u32, listen: SocketAddr) -> Change {
    Change::AddVserver(VserverId(number), settings(Protocol::Tcp, listen))
}

/// An address of this test alone at which nobody listens.
fn free(text: &str) -> SocketAddr {
    let any: SocketAddr = text.parse().unwrap();
    TcpListener::bind(any).unwrap().local_addr().unwrap()
}

fn commit(listeners: &mut Listeners, mut prepared: Prepared, opens: &[(u32, SocketAddr)]) {
    for (number, _) in opens {
        listeners.remove(VserverId(*number));
    }
    for (number, address) in opens {
        listeners
            .open(VserverId(*number), Protocol::Tcp, *address, &mut prepared)
            .unwrap();
    }
    assert!(prepared.groups.is_empty(), "all that was prepared is used");
}

#[test]
fn foreign_listener_is_noticed_even_with_reuse_port() {
    let mut listeners = Listeners::new(2);
    let address = free("127.202.0.1:0");
    let _foreign = listen::open(Protocol::Tcp, address, 1).unwrap();
    let error = listeners.prepare(&[add(1, address)]).unwrap_err();
    assert!(matches!(
        error,
        PrepareError::AddressInUse { vserver: VserverId(1), address: found } if found == address
    ));
}

#[test]
fn address_that_is_not_local_is_told_with_the_reason() {
    let error = Listeners::new(1)
        .prepare(&[add(1, "192.0.2.1:80".parse().unwrap())])
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot listen on 192.0.2.1:80: Cannot assign requested address (os error 99)"
    );
}

#[test]
fn two_virtual_servers_of_one_plan_cannot_have_one_address() {
    let address = free("127.202.0.2:0");
    let plan = [add(1, address), add(2, address)];
    let error = Listeners::new(1).prepare(&plan).unwrap_err();
    assert!(matches!(
        error,
        PrepareError::AddressInUse {
            vserver: VserverId(2),
            ..
        }
    ));
}

#[test]
fn failed_plan_leaves_no_socket_open() {
    let (good, bad) = (free("127.202.0.3:0"), free("127.202.0.4:0"));
    let _foreign = TcpListener::bind(bad).unwrap();
    Listeners::new(2)
        .prepare(&[add(1, good), add(2, bad)])
        .unwrap_err();
    listen::probe(Protocol::Tcp, good).unwrap();
}

#[test]
fn address_that_moves_to_another_virtual_server_keeps_its_sockets() {
    let mut listeners = Listeners::new(2);
    let address = free("127.202.0.5:0");
    let prepared = listeners.prepare(&[add(1, address)]).unwrap();
    commit(&mut listeners, prepared, &[(1, address)]);
    let client = std::net::TcpStream::connect(address).unwrap();

    let plan = [Change::RemoveVserver(VserverId(1)), add(2, address)];
    let prepared = listeners.prepare(&plan).unwrap();
    listeners.remove(VserverId(1));
    commit(&mut listeners, prepared, &[(2, address)]);

    let Sockets::Tcp(sockets) = &listeners.open[&VserverId(2)].sockets else {
        panic!("asked for TCP");
    };
    let accepted = sockets
        .iter()
        .find_map(|socket| socket.accept().ok())
        .unwrap();
    assert_eq!(accepted.1, client.local_addr().unwrap());
}

#[test]
fn two_virtual_servers_swap_their_addresses() {
    let mut listeners = Listeners::new(1);
    let (one, two) = (free("127.202.0.6:0"), free("127.202.0.7:0"));
    let prepared = listeners.prepare(&[add(1, one), add(2, two)]).unwrap();
    commit(&mut listeners, prepared, &[(1, one), (2, two)]);

    let set =
        |number, address| Change::SetVserver(VserverId(number), settings(Protocol::Tcp, address));
    let prepared = listeners.prepare(&[set(1, two), set(2, one)]).unwrap();
    commit(&mut listeners, prepared, &[(1, two), (2, one)]);
    assert_eq!(listeners.open[&VserverId(1)].place.address, two);
}

#[test]
fn wildcard_replaces_an_address_of_its_port() {
    let mut listeners = Listeners::new(1);
    let one = free("127.202.0.8:0");
    let all = SocketAddr::new("0.0.0.0".parse().unwrap(), one.port());
    let prepared = listeners.prepare(&[add(1, one)]).unwrap();
    commit(&mut listeners, prepared, &[(1, one)]);
    assert!(listeners.prepare(&[add(2, all)]).is_err());

    let plan = [Change::RemoveVserver(VserverId(1)), add(2, all)];
    let prepared = listeners.prepare(&plan).unwrap();
    listeners.remove(VserverId(1));
    commit(&mut listeners, prepared, &[(2, all)]);
}

#[test]
fn address_that_does_not_change_is_left_alone() {
    let mut listeners = Listeners::new(1);
    let address = free("127.202.0.9:0");
    let prepared = listeners.prepare(&[add(1, address)]).unwrap();
    commit(&mut listeners, prepared, &[(1, address)]);
    let same = Change::SetVserver(VserverId(1), settings(Protocol::Tcp, address));
    assert!(listeners.prepare(&[same]).unwrap().groups.is_empty());
}

#[test]
fn an_address_that_is_given_up_is_kept_until_it_is_wanted_or_let_go() {
    let address: SocketAddr = {
        let free = TcpListener::bind("127.202.0.9:0").unwrap();
        free.local_addr().unwrap()
    };
    let mut listeners = Listeners::new(2);
    let open = |listeners: &mut Listeners| {
        let mut prepared = listeners.prepare(&[add(1, address)]).unwrap();
        let sockets = listeners.open(VserverId(1), Protocol::Tcp, address, &mut prepared);
        assert_eq!(sockets.unwrap().len(), 2);
        assert_eq!(listeners.sockets(), 2);
    };
    let taken = || TcpListener::bind(address).map(drop);
    listeners.keep_addresses(true);
    for _ in 0..2 {
        open(&mut listeners);
        listeners.remove(VserverId(1));
        assert_eq!(listeners.sockets(), 1);
        taken().unwrap_err();
    }
    // A plan that cannot be carried out changes nothing.
    let foreign = TcpListener::bind("127.202.0.10:0").unwrap();
    let bad = foreign.local_addr().unwrap();
    listeners
        .prepare(&[add(1, address), add(2, bad)])
        .unwrap_err();
    taken().unwrap_err();
    listeners.keep_addresses(false);
    taken().unwrap();
    open(&mut listeners);
    listeners.remove(VserverId(1));
    taken().unwrap();
}
