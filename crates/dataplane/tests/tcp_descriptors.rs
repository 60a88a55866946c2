//! Descriptors, in a process of their own because their number and limit are the process's.

#![expect(
    clippy::unwrap_used,
    reason = "a step of a test's set-up that fails is to fail the test"
)]

mod tcp_rig;

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};
use socket2::{Domain, Socket, Type};

use tcp_rig::{PATIENCE, Rig, connect, echo, service};

/// One test, because the steps share the process's descriptors.
#[test]
fn descriptors_come_back_and_their_lack_only_makes_clients_wait() {
    short_connections_leave_no_descriptor();
    clients_wait_while_there_is_no_descriptor_and_are_served_after();
}

fn short_connections_leave_no_descriptor() {
    let mut rig = Rig::start(2);
    let vserver = rig.serve(&[echo()]);
    let before = descriptors();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for size in 0..500 {
                    let mut client = connect(vserver);
                    client.write_all(&vec![1; size]).unwrap();
                    client.read_exact(&mut vec![0; size]).unwrap();
                }
            });
        }
    });
    rig.wait_until_idle();
    assert_eq!(rig.service(1).hits, 2000);
    assert_eq!(rig.service(1).active, 0);
    // The service's threads close theirs when they see the end.
    rig.wait_until("descriptors return", |_| descriptors() <= before);
}

fn clients_wait_while_there_is_no_descriptor_and_are_served_after() {
    let served = service(|mut stream| {
        let _ = stream.write_all(b"x");
        let _ = stream.read(&mut [0; 1]);
    });
    let mut rig = Rig::start(1);
    let vserver = rig.serve(&[served]);
    let clients: Vec<_> = (0..40)
        .map(|_| Socket::new(Domain::IPV4, Type::STREAM, None).unwrap())
        .collect();
    let limit = getrlimit(Resource::Nofile);
    let highest = highest_descriptor();
    // Room for four flows: two descriptors each, and one for the service's own end.
    let current = Some(highest + 1 + 12);
    setrlimit(Resource::Nofile, Rlimit { current, ..limit }).unwrap();
    for client in &clients {
        client.connect(&vserver.into()).unwrap();
    }
    let used = processor_time();
    std::thread::sleep(Duration::from_secs(1));
    let used = processor_time() - used;
    assert!(
        used < Duration::from_millis(300),
        "{used:?} of processor time while saturated"
    );

    setrlimit(Resource::Nofile, limit).unwrap();
    let mut answered = 0;
    for client in clients {
        let mut client = TcpStream::from(client);
        client.set_read_timeout(Some(PATIENCE)).unwrap();
        match client.read(&mut [0; 1]) {
            Ok(1) => answered += 1,
            // The client for whom the last descriptor was taken, in each try.
            Ok(_) => panic!("a clean end without an answer"),
            Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
        }
    }
    assert!(answered >= 15, "{answered} of 40 clients were served");
    rig.wait_until_idle();
    let mut late = connect(vserver);
    late.read_exact(&mut [0; 1]).unwrap();
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn highest_descriptor() -> u64 {
    std::fs::read_dir("/proc/self/fd")
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .map(|name| name.parse::<u64>().unwrap())
        .max()
        .unwrap()
}

/// User and system time of this process, read without a descriptor: there may be none.
fn processor_time() -> Duration {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(used).unwrap()
}
