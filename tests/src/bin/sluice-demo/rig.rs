//! The daemon, the services, and the commands that join them.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use sluice_protocol::Client;
use sluice_tests::daemon::{Daemon, free_address};
use sluice_tests::services::{TcpService, UdpService};

/// All that the demonstration runs against.
pub(crate) struct Rig {
    daemon: Daemon,
    lines: Vec<String>,
    /// The TCP virtual server.
    pub(crate) tcp: SocketAddr,
    /// The UDP virtual server.
    pub(crate) udp: SocketAddr,
    /// The TCP virtual server of the echo service.
    pub(crate) tcp_echo: SocketAddr,
    _tcp_services: Vec<TcpService>,
    _udp_services: Vec<UdpService>,
}

/// What a request to each of the three services moves: unequal, so that equal bandwidth means
/// unequal numbers of requests.
pub(crate) const TCP_ANSWERS: [(&str, usize); 3] = [
    ("light", 16 << 10),
    ("medium", 64 << 10),
    ("heavy", 256 << 10),
];

/// How many datagrams of 1,200 bytes each UDP service answers with.
pub(crate) const UDP_ANSWERS: [(&str, usize); 3] = [("one", 1), ("four", 4), ("eight", 8)];

/// A request that is answered without end, until the client leaves.
pub(crate) const ENDLESS: u8 = b'E';

impl Rig {
    /// Starts services and daemon, and configures it.
    pub(crate) fn start() -> Result<Self, String> {
        let daemon = Daemon::start();
        let (tcp, udp, tcp_echo) = (free_address(), free_address(), free_address());
        let mut tcp_services: Vec<_> = TCP_ANSWERS
            .iter()
            .map(|(_, size)| answering(*size))
            .collect();
        let udp_services: Vec<_> = UDP_ANSWERS
            .iter()
            .map(|(_, count)| {
                let count = *count;
                UdpService::start(move |_, _| vec![vec![b'u'; 1200]; count])
            })
            .collect();
        let echo = TcpService::echo();
        let mut lines = Vec::new();
        let method = "-lbMethod LEASTBANDWIDTH";
        lines.push(format!(
            "add lb vserver web TCP {} {} {method}",
            tcp.ip(),
            tcp.port()
        ));
        for ((name, _), service) in TCP_ANSWERS.iter().zip(&tcp_services) {
            lines.push(add_service(name, "TCP", service.address()));
            lines.push(format!("bind lb vserver web {name}"));
        }
        lines.push(format!(
            "add lb vserver media UDP {} {} {method}",
            udp.ip(),
            udp.port()
        ));
        for ((name, _), service) in UDP_ANSWERS.iter().zip(&udp_services) {
            lines.push(add_service(name, "UDP", service.address()));
            lines.push(format!("bind lb vserver media {name}"));
        }
        lines.push(format!(
            "add lb vserver echo TCP {} {}",
            tcp_echo.ip(),
            tcp_echo.port()
        ));
        lines.push(add_service("echo1", "TCP", echo.address()));
        lines.push("bind lb vserver echo echo1".to_owned());
        tcp_services.push(echo);
        Ok(Self {
            daemon,
            lines,
            tcp,
            udp,
            tcp_echo,
            _tcp_services: tcp_services,
            _udp_services: udp_services,
        })
    }

    /// Types the commands, and shows them.
    pub(crate) fn show_commands(&self) -> Result<(), String> {
        println!("Typed into `sluice`:\n");
        for line in &self.lines {
            let ran = self.daemon.run(line);
            if ran.code != 0 {
                return Err(format!("{line}: {}", ran.err));
            }
            print!("  > {line}\n  {}", ran.out);
        }
        Ok(())
    }

    /// Connects to the daemon's control socket, as the shell does.
    pub(crate) fn client(&self) -> Result<Client, String> {
        Client::connect(self.daemon.socket()).map_err(|error| error.to_string())
    }

    /// Ends the daemon as an operator would.
    pub(crate) fn stop(self) -> Result<(), String> {
        match self.daemon.terminate() {
            Some(0) => Ok(()),
            status => Err(format!("the daemon ended with status {status:?}")),
        }
    }
}

fn add_service(name: &str, kind: &str, address: SocketAddr) -> String {
    format!(
        "add service {name} {} {kind} {}",
        address.ip(),
        address.port()
    )
}

/// A service that answers every request byte with `size` bytes, and [`ENDLESS`] without end.
fn answering(size: usize) -> TcpService {
    TcpService::start(move |mut stream: TcpStream| {
        let answer = vec![b'a'; size];
        let mut request = [0];
        while let Ok(1) = stream.read(&mut request) {
            while stream.write_all(&answer).is_ok() && request[0] == ENDLESS {}
        }
    })
}
