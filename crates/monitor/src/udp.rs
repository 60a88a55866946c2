//! UDP-ECV: what is answered to a datagram.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};

use tokio::net::UdpSocket;

use crate::UdpEcv;
use crate::search::Search;
use crate::seen::{Ended, Seen};
use crate::stream::reason;
use crate::tcp::compared;

/// UDP-ECV: what is expected is in an answer; without that, nobody says the port is unreachable.
pub(crate) async fn answers(
    source: Option<IpAddr>,
    ecv: &UdpEcv,
    service: SocketAddr,
    seen: &mut Seen,
) -> Ended {
    seen.compared = compared(&ecv.recv, &[]);
    seen.waits_for(if ecv.recv.is_empty() {
        Ended::passed("No ICMP port unreachable received")
    } else {
        Ended::failed("Probe timed out: pattern not found in response")
    });
    converse(source, ecv, service, seen)
        .await
        .unwrap_or_else(|error| failed(&error))
}

async fn converse(
    source: Option<IpAddr>,
    ecv: &UdpEcv,
    service: SocketAddr,
    seen: &mut Seen,
) -> io::Result<Ended> {
    let socket = connected(source, service).await?;
    seen.begin();
    seen.sent.add(&ecv.send);
    socket.send(&ecv.send).await?;
    // A datagram is no longer than this.
    let mut buffer = vec![0; 65_536];
    loop {
        let length = socket.recv(&mut buffer).await?;
        let answer = &buffer[..length];
        seen.received.add(answer);
        if ecv.recv.is_empty() {
            return Ok(Ended::passed("Response received"));
        }
        // Each datagram is an answer of its own.
        if Search::new(&ecv.recv).feed(answer) {
            return Ok(Ended::passed("Pattern found in response"));
        }
    }
}

/// Returns a socket that hears the service alone, and what ICMP says of it.
///
/// # Errors
/// The source is no address of this machine, or there is no way to the service.
pub(crate) async fn connected(
    source: Option<IpAddr>,
    service: SocketAddr,
) -> io::Result<UdpSocket> {
    let any = match service {
        SocketAddr::V4(_) => IpAddr::from([0; 4]),
        SocketAddr::V6(_) => IpAddr::from([0; 16]),
    };
    let socket = UdpSocket::bind((source.unwrap_or(any), 0)).await?;
    socket.connect(service).await?;
    Ok(socket)
}

/// Says how a probe ended whose socket failed.
pub(crate) fn failed(error: &io::Error) -> Ended {
    if error.kind() == ErrorKind::ConnectionRefused {
        Ended::failed("ICMP port unreachable received")
    } else {
        Ended::failed(format!("UDP failed: {}", reason(error)))
    }
}
