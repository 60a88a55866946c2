//! Cases of the field about backups and persistence, against the real daemon.
//!
//! The numbers are those of our list of bug reports against other balancers and proxies.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use sluice_tests::daemon::Daemon;
use sluice_tests::rig::Rig;
use sluice_tests::services::TcpService;

/// A service that greets, echoes, and leaves when its client does.
fn greeter(name: &'static [u8]) -> TcpService {
    TcpService::start(move |mut stream| {
        let mut buffer = [0; 64];
        let mut alive = stream.write_all(name).is_ok();
        while alive {
            let n = stream.read(&mut buffer).unwrap_or(0);
            alive = n > 0 && stream.write_all(&buffer[..n]).is_ok();
        }
    })
}

fn addresses(services: &[TcpService]) -> Vec<SocketAddr> {
    services.iter().map(TcpService::address).collect()
}

fn echoes(mut client: &TcpStream) -> bool {
    client.write_all(b"x").is_ok() && matches!(client.read(&mut [0]), Ok(1))
}

/// C47: there is no option to shed a backup's flows, so they go on when the primary is back, and are
/// seen; only new clients go to the primary.
#[test]
fn c47_flows_on_the_backup_go_on_and_are_listed() {
    let services = [greeter(b"1"), greeter(b"b")];
    let rig = Rig::tcp(&addresses(&services), "");
    for line in [
        "unbind lb vserver v1 s2",
        "add lb vserver b1 TCP",
        "bind lb vserver b1 s2",
        "set lb vserver v1 -backupVServer b1",
        "disable service s1",
    ] {
        rig.daemon.ok(line);
    }
    let long: Vec<_> = (1..=3).map(|host| rig.greeted([127, 0, 0, host])).collect();
    assert!(long.iter().all(|(_, by)| *by == b'b'));
    rig.daemon.ok("enable service s1");
    assert_eq!(rig.greeting_to([127, 0, 0, 9]), b'1');
    assert!(long.iter().all(|(client, _)| echoes(client)));
    assert_eq!(rig.daemon.number("stat lb vserver b1", "active"), 3);
    drop(long);
    rig.finish();
}

/// Ends the clients of a case, also when it fails.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// C50: one service may serve both a virtual server and its backup; whatever fails and comes back in
/// whatever order, nobody is refused while any service is UP.
#[test]
fn c50_a_service_of_both_the_primary_and_the_backup() {
    let services = [greeter(b"1"), greeter(b"2"), greeter(b"3")];
    let flush = "-downStateFlush DISABLED";
    let rig = Rig::tcp(&addresses(&services), flush);
    let mut lines = format!("add lb vserver b1 TCP {flush}\nbind lb vserver b1 s1\n");
    for service in ["s1", "s2", "s3"] {
        lines += &format!("set service {service} {flush}\n");
    }
    lines += "set lb vserver v1 -backupVServer b1\n";
    assert_eq!(rig.daemon.batch(&lines).code, 0);
    let state = |vserver: &str, field: &str| {
        let shown = rig.daemon.json(&format!("show lb vserver {vserver}"));
        shown[0][field].as_str().unwrap_or_default().to_owned()
    };
    let (ended, asked) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        let clients = scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                rig.greeting_to([127, 0, 0, 5]);
                asked.fetch_add(1, Ordering::Relaxed);
                thread::sleep(Duration::from_millis(2));
            }
        });
        let end = End(&ended);
        for (line, own, backup) in [
            ("disable service s2", "UP", "UP"),
            ("disable service s3", "UP", "UP"),
            ("set lb vserver v1 -healthThreshold 50", "DOWN", "UP"),
            ("unset lb vserver v1 -healthThreshold", "UP", "UP"),
            ("enable service s3", "UP", "UP"),
            ("disable service s1", "UP", "DOWN"),
            ("enable service s1", "UP", "UP"),
            ("disable service s3", "UP", "UP"),
            ("enable service s2", "UP", "UP"),
            ("enable service s3", "UP", "UP"),
        ] {
            rig.daemon.ok(line);
            assert_eq!(state("v1", "state"), own, "{line}");
            assert_eq!(state("b1", "state"), backup, "{line}");
            assert_eq!(state("v1", "effective_state"), "UP", "{line}");
            // Some clients come in each situation.
            let so_far = asked.load(Ordering::Relaxed);
            sluice_tests::rig::eventually("clients come", || {
                clients.is_finished() || asked.load(Ordering::Relaxed) > so_far + 5
            });
        }
        drop(end);
        clients.join().expect("nobody was refused");
    });
    assert_eq!(rig.vserver("refused"), 0);
    rig.finish();
}

/// C51: a service that is removed while it is out leaves nothing behind.
#[test]
fn c51_a_service_removed_while_it_is_out_is_gone() {
    let services = [greeter(b"1"), greeter(b"2")];
    let rig = Rig::tcp(&addresses(&services), "-lbMethod ROUNDROBIN");
    rig.daemon.ok("add lb vserver b1 TCP");
    rig.daemon.ok("bind lb vserver b1 s1");
    rig.daemon.ok("disable service s1");
    rig.daemon.ok("rm service s1");
    for _ in 0..500 {
        assert_eq!(rig.greeting_to([127, 0, 0, 5]), b'2');
    }
    assert_eq!(services[0].accepted(), 0);
    for line in [
        "show service",
        "show lb vserver v1",
        "show lb vserver b1",
        "stat service",
        "stat lb vserver v1",
        "show ns runningConfig",
    ] {
        let shown = rig.daemon.ok(line);
        assert!(!shown.contains("s1"), "{line}: {shown}");
    }
    rig.finish();
}

/// C52: whichever worker serves a client renews its one entry.
#[test]
fn c52_an_entry_is_one_for_all_workers() {
    let services = [greeter(b"1"), greeter(b"2"), greeter(b"3")];
    let rig = Rig::with(
        Daemon::start_args(&["--workers", "8"]),
        "TCP",
        &addresses(&services),
        "-lbMethod ROUNDROBIN -persistenceType SOURCEIP -timeout 2",
    );
    let home = rig.greeting_to([127, 0, 0, 7]);
    for _ in 0..10 {
        thread::sleep(Duration::from_millis(300));
        for _ in 0..4 {
            assert_eq!(rig.greeting_to([127, 0, 0, 7]), home);
        }
        // Another client moves the turn.
        rig.greeting_to([127, 0, 0, 8]);
    }
    let renewed = Instant::now();
    for client in [7, 8] {
        rig.greeting_to([127, 0, 0, client]);
    }
    let rows = rig.daemon.json("show lb persistentSessions v1");
    let since = renewed.elapsed().as_secs();
    let rows = rows.as_array().expect("rows");
    assert_eq!(rows.len(), 2);
    // They began over 3 s before: unrenewed they would have less left. Begun seconds count.
    let left: Vec<_> = rows.iter().map(|row| row["timeout_s"].as_u64()).collect();
    let whole = Some(120 - since);
    assert!(left.iter().all(|left| *left >= whole), "{left:?}");
    rig.finish();
}
