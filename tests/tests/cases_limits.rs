//! Cases of the field about descriptors, memory and limits, against the real daemon.
//!
//! The numbers are those of our list of bug reports against other balancers and proxies.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use sluice_tests::daemon::{Daemon, free_address, limited_command, new_folder};
use sluice_tests::process::{processor_time, raise_descriptor_limit, resident, sockets};
use sluice_tests::rig::{Rig, be_patient, eventually};
use sluice_tests::services::{TcpService, reset_on_close};
use socket2::{Domain, Socket, Type};

fn echo(mut stream: &TcpStream) -> std::io::Result<()> {
    stream.write_all(b"x")?;
    stream.read_exact(&mut [0])
}

/// C54: without a descriptor left the daemon idles, says so once a second, answers the command line
/// and carries on; when descriptors are back, so are clients.
#[test]
fn c54_without_descriptors_the_daemon_neither_spins_nor_ends() {
    // Of two neighbours, one lets the last descriptor go to a client whose service gets none.
    thread::scope(|scope| {
        for limit in [64, 65] {
            scope.spawn(move || without_descriptors(limit));
        }
    });
}

fn without_descriptors(limit: u32) {
    let folder = Arc::new(new_folder());
    let mut command = limited_command(folder.path(), limit);
    let daemon = Daemon::launch(&mut command, folder);
    let service = TcpService::echo();
    let rig = Rig::with(daemon, "TCP", &[service.address()], "");
    let existing = rig.connect();
    echo(&existing).expect("the service answers");

    let flood: Vec<_> = (0..200).map(|_| rig.connect()).collect();
    eventually("descriptors run out", || {
        rig.daemon.log().iter().any(|line| line.contains("WARN"))
    });
    let (used, lines) = (processor_time(rig.daemon.pid()), rig.daemon.log().len());
    let started = Instant::now();
    for _ in 0..8 {
        echo(&existing).expect("existing flows go on");
        let asked = Instant::now();
        rig.daemon.ok("show ns version");
        let took = asked.elapsed();
        assert!(took < Duration::from_secs(1), "an answer took {took:?}");
        thread::sleep(Duration::from_millis(500));
    }
    let took = started.elapsed();
    let used = processor_time(rig.daemon.pid()) - used;
    let said = rig.daemon.log()[lines..].to_vec();
    assert!(used < took / 10, "{used:?} of processor time in {took:?}");
    assert!(
        said.len() as u64 <= took.as_secs() + 1,
        "in {took:?}: {said:#?}"
    );

    drop(flood);
    let released = Instant::now();
    let served = || echo(&rig.connect()).is_ok();
    eventually("new clients are served", served);
    let took = released.elapsed();
    assert!(took < Duration::from_secs(1), "after {took:?}");
    echo(&existing).expect("existing flows go on");
    drop(existing);
    rig.finish();
}

/// Connects a client that takes in little by itself.
fn connect_slowly(listen: SocketAddr) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("there are sockets");
    socket
        .set_recv_buffer_size(256 << 10)
        .expect("any size is legal");
    socket.connect(&listen.into()).expect("the daemon listens");
    let stream = TcpStream::from(socket);
    be_patient(&stream);
    stream
}

/// C56: clients that read slowly or not at all hold the service back; the daemon's memory stays.
#[test]
fn c56_memory_does_not_follow_the_speed_of_a_service() {
    const SLOW: usize = 50;
    let sent = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&sent);
    let fast = TcpService::start(move |mut stream| {
        let chunk = vec![7; 64 << 10];
        while stream.write_all(&chunk).is_ok() {
            count.fetch_add(chunk.len() as u64, Ordering::Relaxed);
        }
    });
    let rig = Rig::tcp(&[fast.address()], "");
    // The buffers of the workers and the tables grow once.
    let mut first = rig.connect();
    first.read_exact(&mut vec![0; 8 << 20]).expect("it is fast");
    let before = resident(rig.daemon.pid());

    let mut clients: Vec<_> = (0..SLOW).map(|_| connect_slowly(rig.listen)).collect();
    let mut most = 0;
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(4) {
        // Half of them read 10 KB/s, the others nothing.
        for client in &mut clients[..SLOW / 2] {
            client
                .read_exact(&mut [0; 1000])
                .expect("there is more than it reads");
        }
        let quick = Instant::now();
        first.read_exact(&mut vec![0; 1 << 20]).expect("it is fast");
        assert!(
            quick.elapsed() < Duration::from_secs(2),
            "held up by slow clients"
        );
        most = most.max(resident(rig.daemon.pid()));
        thread::sleep(Duration::from_millis(100));
    }
    let bound = 2 * (64 << 10) * SLOW as u64;
    assert!(
        most < before + bound,
        "{before} bytes before, {most} with slow clients"
    );
    // What all buffers on the way can hold was sent long ago; now the service waits for its clients.
    eventually("the service is held back", || {
        let held = sent.load(Ordering::Relaxed);
        thread::sleep(Duration::from_millis(300));
        sent.load(Ordering::Relaxed) == held
    });
    drop((first, clients));
    rig.finish();
}

/// C57: adding, removing and changing leaves no descriptor behind, and live connections alone.
#[test]
fn c57_changes_leave_no_descriptor_behind() {
    let service = TcpService::echo();
    let rig = Rig::tcp(&[service.address()], "");
    let clients: Vec<_> = (0..50).map(|_| rig.connect()).collect();
    clients
        .iter()
        .for_each(|client| echo(client).expect("the service answers"));
    let (tcp, udp) = (free_address(), free_address());
    let cycle = format!(
        "add lb vserver t2 TCP {} {}\nadd lb vserver u2 UDP {} {}\n\
         add service more 127.0.0.1 TCP 9\nbind lb vserver t2 more\nbind lb vserver v1 more\n\
         set lb vserver t2 -cltTimeout 100\nunbind lb vserver v1 more\n\
         rm lb vserver t2 u2\nrm service more\n",
        tcp.ip(),
        tcp.port(),
        udp.ip(),
        udp.port()
    );
    let before = rig.daemon.descriptors();
    let ran = rig.daemon.batch(&cycle.repeat(100));
    assert_eq!(ran.code, 0, "{}", ran.err);
    eventually("descriptors are back", || {
        rig.daemon.descriptors() <= before
    });
    clients
        .iter()
        .for_each(|client| echo(client).expect("live connections go on"));
    assert_eq!(rig.vserver("hits"), 50);
    drop(clients);
    rig.finish();
}

/// C58: no limit but that of the system's descriptors: thousands of connections to one service.
#[test]
fn c58_no_hidden_cap_on_connections() {
    const CLIENTS: usize = 2000;
    raise_descriptor_limit(3 * CLIENTS as u64);
    let service = TcpService::hold(b".");
    let rig = Rig::tcp(&[service.address()], "");
    let mut clients: Vec<_> = (0..CLIENTS).map(|_| rig.connect()).collect();
    for client in &mut clients {
        client.read_exact(&mut [0]).expect("the service greets");
    }
    assert_eq!(rig.service("s1", "active"), CLIENTS as u64);
    assert_eq!(rig.vserver("refused"), 0);
    assert_eq!(
        sockets(rig.daemon.pid()) / 2 / CLIENTS,
        1,
        "two sockets a flow"
    );
    drop((clients, service));
    rig.finish();
}

/// C59: a client for whom all services are full is reset at once and counted; nobody waits.
#[test]
fn c59_clients_beyond_max_client_are_refused_at_once() {
    let service = TcpService::hold(b".");
    let rig = Rig::tcp(&[service.address()], "");
    rig.daemon.ok("set service s1 -maxClient 10");
    let (served, refused): (Vec<_>, Vec<_>) = (0..100)
        .map(|_| {
            let mut client = rig.connect();
            let end = client.read(&mut [0]).map_err(|error| error.kind());
            (client, end)
        })
        .partition(|(_, end)| *end == Ok(1));
    assert_eq!((served.len(), refused.len()), (10, 90));
    let reset = |end: &Result<usize, ErrorKind>| *end == Err(ErrorKind::ConnectionReset);
    assert!(refused.iter().all(|(_, end)| reset(end)), "{refused:?}");
    assert_eq!(rig.vserver("refused"), 90);
    assert_eq!(rig.service("s1", "active"), 10);

    let second = TcpService::hold(b".");
    let at = second.address();
    rig.daemon
        .ok(&format!("add service s2 {} TCP {}", at.ip(), at.port()));
    rig.daemon.ok("bind lb vserver v1 s2");
    rig.connect()
        .read_exact(&mut [0])
        .expect("there is room again");
    drop((served, refused, service, second));
    rig.finish();
}

/// C60: `maxClient` is exact whatever happens at the same time, and a service that comes back from
/// maintenance still has its old clients.
#[test]
fn c60_max_client_is_never_exceeded() {
    const LIMIT: u64 = 10;
    struct Load {
        now: AtomicU64,
        most: AtomicU64,
    }
    let loads: Vec<_> = (0..3)
        .map(|_| {
            Arc::new(Load {
                now: AtomicU64::new(0),
                most: AtomicU64::new(0),
            })
        })
        .collect();
    let services: Vec<_> = loads
        .iter()
        .map(|load| {
            let load = Arc::clone(load);
            TcpService::start(move |mut stream| {
                let now = load.now.fetch_add(1, Ordering::SeqCst) + 1;
                load.most.fetch_max(now, Ordering::SeqCst);
                let mut buffer = [0; 16];
                while let Ok(n @ 1..) = stream.read(&mut buffer) {
                    if stream.write_all(&buffer[..n]).is_err() {
                        break;
                    }
                }
                // Before the socket closes, so that the daemon cannot know it earlier than we do.
                load.now.fetch_sub(1, Ordering::SeqCst);
            })
        })
        .collect();
    let addresses: Vec<_> = services.iter().map(TcpService::address).collect();
    let rig = Rig::tcp(&addresses, "-lbMethod LEASTCONNECTION");
    for name in ["s1", "s2", "s3"] {
        // Clients stay when their service is disabled: they are what a careless count forgets.
        rig.daemon.ok(&format!(
            "set service {name} -maxClient {LIMIT} -downStateFlush DISABLED"
        ));
    }
    let done = AtomicBool::new(false);
    let served = AtomicU64::new(0);
    thread::scope(|scope| {
        for _ in 0..60 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    // A client for whom there is no room may be reset before it knows that it is in.
                    let Ok(client) = TcpStream::connect(rig.listen) else {
                        continue;
                    };
                    be_patient(&client);
                    if echo(&client).is_ok() {
                        served.fetch_add(1, Ordering::Relaxed);
                        thread::sleep(Duration::from_millis(20));
                    }
                }
            });
        }
        for leave in ["", "600 -graceFul YES"].repeat(25) {
            rig.daemon.ok(&format!("disable service s2 {leave}"));
            rig.daemon.ok("enable service s2");
        }
        done.store(true, Ordering::Relaxed);
    });
    let most: Vec<_> = loads
        .iter()
        .map(|load| load.most.load(Ordering::SeqCst))
        .collect();
    assert_eq!(
        most,
        [LIMIT; 3],
        "{} clients served",
        served.load(Ordering::Relaxed)
    );
    rig.finish();
}

/// C61: clients that have gone before they were accepted do not stop the listener, nor make it spin.
#[test]
fn c61_aborted_clients_in_the_queue_do_not_stop_the_listener() {
    let service = TcpService::echo();
    let rig = Rig::tcp(&[service.address()], "");
    for _ in 0..3 {
        rig.daemon.signal(Signal::STOP);
        for number in 0..200 {
            let client = rig.connect();
            if number % 2 == 0 {
                reset_on_close(&client);
            }
        }
        let good: Vec<_> = (0..20).map(|_| rig.connect()).collect();
        rig.daemon.signal(Signal::CONT);
        for client in &good {
            echo(client).expect("the listener goes on");
        }
    }
    eventually("all have gone", || rig.vserver("active") == 0);
    let used = processor_time(rig.daemon.pid());
    thread::sleep(Duration::from_millis(500));
    let used = processor_time(rig.daemon.pid()) - used;
    assert!(
        used <= Duration::from_millis(50),
        "{used:?} in 0.5 s of silence"
    );
    let log = rig.daemon.log().join("\n");
    assert!(!log.contains("WARN") && !log.contains("ERROR"), "{log}");
    rig.finish();
}
