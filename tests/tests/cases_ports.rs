//! Cases of the field about local ports, against the real daemon in a network of its own.
//!
//! The numbers are those of our list of bug reports against other balancers and proxies.

use std::io::{ErrorKind, Read};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use sluice_tests::namespace::{in_namespace, set_kernel};
use sluice_tests::process::processor_time;
use sluice_tests::rig::{Rig, be_patient, eventually};
use sluice_tests::services::{TcpService, reset_on_close};
use socket2::{Domain, Socket, Type};

/// C55: without a local port left for its service a client is refused at once; the daemon idles, counts
/// it under its own reason, and serves the next one as soon as a port is free.
#[test]
fn c55_without_local_ports_clients_are_refused_and_nothing_spins() {
    in_namespace(|| {
        let service = TcpService::hold(b"x");
        let rig = Rig::tcp(&[service.address()], "");
        set_kernel(
            "ipv4/ip_local_port_range",
            &format!("{} {}", PORTS.0, PORTS.1),
        );
        let ports = usize::from(PORTS.1 - PORTS.0) + 1;

        let mut served = Vec::new();
        let mut refused = 0;
        for client in 0..80 {
            match greeted(&rig, client) {
                Some(stream) => served.push(stream),
                None => refused += 1,
            }
        }
        assert_eq!((served.len(), refused), (ports, 80 - ports));
        assert_eq!(rig.service("s1", "local_failures"), refused as u64);
        assert_eq!(rig.service("s1", "connect_failures"), 0);

        let (used, started) = (processor_time(rig.daemon.pid()), Instant::now());
        thread::sleep(Duration::from_secs(1));
        let (used, took) = (processor_time(rig.daemon.pid()) - used, started.elapsed());
        assert!(used < took / 10, "{used:?} of processor time in {took:?}");
        let log = rig.daemon.log();
        let complaints = log
            .iter()
            .filter(|line| line.contains("no local port is left"));
        assert!((1..=2).contains(&complaints.count()), "{log:#?}");

        served.iter().for_each(reset_on_close);
        drop(served);
        let released = Instant::now();
        eventually("new clients are served", || {
            let served = greeted(&rig, 100);
            served.as_ref().is_some_and(|stream| {
                reset_on_close(stream);
                true
            })
        });
        let took = released.elapsed();
        assert!(took < Duration::from_secs(1), "after {took:?}");
        rig.finish();
    });
}

/// Connects a client with a port outside those that the daemon may use, and returns it if a service
/// greets it; none if it is reset, which is to come at once.
fn greeted(rig: &Rig, client: u16) -> Option<TcpStream> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("there are sockets");
    socket.set_reuse_address(true).expect("the socket is new");
    let own = SocketAddr::from(([127, 0, 0, 2], FIRST_CLIENT + client));
    socket.bind(&own.into()).expect("the port is free");
    let started = Instant::now();
    socket
        .connect(&rig.listen.into())
        .expect("the daemon listens");
    let mut stream = TcpStream::from(socket);
    be_patient(&stream);
    match stream.read(&mut [0]) {
        Ok(1) => Some(stream),
        Ok(_) => panic!("a client is closed without a reset"),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::ConnectionReset);
            assert!(started.elapsed() < Duration::from_secs(1));
            None
        }
    }
}

/// The first and the last port that the kernel gives.
const PORTS: (u16, u16) = (40_000, 40_049);

const FIRST_CLIENT: u16 = 50_000;
