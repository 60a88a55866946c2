//! Types that are carried by connections or datagrams, over the real daemon.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use sluice_tests::daemon::{Daemon, free_address};
use sluice_tests::rig::{ask, be_patient};
use sluice_tests::services::{TcpService, UdpService};

/// Adds a service and a virtual server of a type, and returns where the latter listens.
fn serve(daemon: &Daemon, service_type: &str, service: SocketAddr) -> SocketAddr {
    let at = free_address();
    let (ip, port) = (service.ip(), service.port());
    let lines = format!(
        "add service s{service_type} {ip} {service_type} {port}\n\
         add lb vserver v{service_type} {service_type} {} {}\n\
         bind lb vserver v{service_type} s{service_type}\n",
        at.ip(),
        at.port()
    );
    let ran = daemon.batch(&lines);
    assert_eq!(ran.code, 0, "{ran:?}");
    at
}

#[test]
fn connections_of_every_carried_type_arrive_unchanged() {
    let daemon = Daemon::start();
    let service = [
        "HTTP",
        "SSL",
        "SSL_BRIDGE",
        "SSL_TCP",
        "MYSQL",
        "DNS_TCP",
        "RDP",
        "SYSLOGTCP",
    ];
    for service_type in service {
        let echo = TcpService::echo();
        let mut client = TcpStream::connect(serve(&daemon, service_type, echo.address())).unwrap();
        be_patient(&client);
        let said = [0, 255, 22, 3, 1, b'\n'];
        client.write_all(&said).unwrap();
        let mut heard = [1; 6];
        client.read_exact(&mut heard).unwrap();
        assert_eq!(heard, said, "{service_type}");
        let shown = daemon.ok(&format!("show service s{service_type}"));
        assert!(shown.contains(&format!(" - {service_type}\n")), "{shown}");
    }
}

#[test]
fn datagrams_of_every_carried_type_arrive_unchanged() {
    let daemon = Daemon::start();
    for service_type in [
        "DNS",
        "RADIUS",
        "SYSLOGUDP",
        "SIP_UDP",
        "DTLS",
        "QUIC_BRIDGE",
    ] {
        let echo = UdpService::echo();
        let at = serve(&daemon, service_type, echo.address());
        let client = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        client.connect(at).unwrap();
        assert_eq!(ask(&client, &[0, 255, 7]), [0, 255, 7], "{service_type}");
    }
}

#[test]
fn an_encrypted_client_is_not_sent_to_a_service_that_cannot_read_it() {
    let daemon = Daemon::start();
    daemon.ok("add service web 127.0.0.1 HTTP 80");
    let added = daemon.run("add lb vserver tls SSL");
    assert_eq!(added.code, 0, "{added:?}");
    assert!(
        added.err.contains("Warning: SSL runs as TCP here"),
        "{added:?}"
    );
    let refused = daemon.run("bind lb vserver tls web");
    assert_ne!(refused.code, 0);
    assert!(
        refused.err.contains(
            "ERROR: Service type mismatch between the vserver and service [vserver SSL, service \
             HTTP; nothing is encrypted or decrypted here]"
        ),
        "{refused:?}"
    );
    daemon.ok("save ns config");
    let saved = std::fs::read_to_string(daemon.config()).unwrap();
    assert!(saved.contains("\nadd lb vserver tls SSL "), "{saved}");
}
