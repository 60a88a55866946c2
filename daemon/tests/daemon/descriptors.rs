//! Few descriptors and many clients: who can still get in.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::running::{PATIENCE, Running, free_port, in_folder};

/// The operator, a save and a UDP client find a descriptor while TCP clients wait for theirs.
#[test]
fn tcp_clients_cannot_take_the_descriptors_of_everybody_else() {
    for limit in [64, 128] {
        let folder = tempfile::tempdir().unwrap();
        let mut limited = Command::new("sh");
        let script = format!("ulimit -n {limit} && exec \"$0\" \"$@\"");
        limited.args(["-c", &script, env!("CARGO_BIN_EXE_sluiced")]);
        in_folder(&mut limited, folder.path());
        let daemon = Running::spawn(&mut limited, folder.path());
        let (tcp, udp) = (greeting_service(), UdpSocket::bind("127.0.0.1:0").unwrap());
        udp.set_read_timeout(Some(PATIENCE)).unwrap();
        let (tcp_port, udp_port) = (free_port(), free_port());
        let mut shell = daemon.client();
        for line in [
            format!("add service s1 127.0.0.1 TCP {tcp}"),
            format!("add lb vserver v1 TCP 127.0.0.1 {tcp_port}"),
            "bind lb vserver v1 s1".to_owned(),
            format!(
                "add service s2 127.0.0.1 UDP {}",
                udp.local_addr().unwrap().port()
            ),
            format!("add lb vserver v2 UDP 127.0.0.1 {udp_port}"),
            "bind lb vserver v2 s2".to_owned(),
        ] {
            shell.ok(&line);
        }
        drop(shell);

        let mut clients: Vec<_> = (0..limit)
            .map(|_| TcpStream::connect(("127.0.0.1", tcp_port)).unwrap())
            .collect();
        daemon.wait_for_line("cannot take more clients for now: TCP has its part");
        let mut first = clients.remove(0);
        greeted(&mut first);
        let asked = Instant::now();
        // Several at a time: scripts do not wait for each other.
        let shells: Vec<_> = (0..3).map(|_| daemon.client()).collect();
        daemon.ok("show lb vserver");
        daemon.ok("save ns config");
        daemon.ok("disable service s1");
        daemon.ok("enable service s1");
        let took = asked.elapsed();
        assert!(took < Duration::from_secs(2), "answers took {took:?}");
        drop(shells);
        let client = UdpSocket::bind("127.0.0.1:0").unwrap();
        client.send_to(b"x", ("127.0.0.1", udp_port)).unwrap();
        assert_eq!(udp.recv(&mut [0; 8]).unwrap(), 1, "limit {limit}");

        // Whoever waited is served when others leave.
        clients.push(first);
        while let Some(mut last) = clients.pop() {
            if clients.len() < 3 {
                greeted(&mut last);
            }
        }
    }
}

/// Greets each connection with a byte and holds it until the client leaves; returns the port.
fn greeting_service() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                // A client that has left meanwhile makes no difference.
                let _ = stream.write_all(b"x");
                let _ = stream.read(&mut [0]);
            });
        }
    });
    port
}

fn greeted(client: &mut TcpStream) {
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    client.read_exact(&mut [0]).unwrap();
}
