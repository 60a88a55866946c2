//! TCP and TCP-ECV: a connection, and what is answered in it.

use std::net::SocketAddr;

use crate::search::Search;
use crate::seen::{Ended, Seen, shown};
use crate::stream::{PIECE, Stream};
use crate::{Probe, TcpEcv};

/// TCP: a connection is accepted, and closed at once.
pub(crate) async fn connects(probe: &Probe, service: SocketAddr, seen: &mut Seen) -> Ended {
    match Stream::connect(probe, service, seen).await {
        Ok(_) => Ended::passed(connected(probe)),
        Err(ended) => ended,
    }
}

/// TCP-ECV: what is expected is in the answer.
pub(crate) async fn answers(
    probe: &Probe,
    ecv: &TcpEcv,
    service: SocketAddr,
    seen: &mut Seen,
) -> Ended {
    // What ends a probe early is how it ended, whichever way it came.
    converse(probe, ecv, service, seen)
        .await
        .unwrap_or_else(|ended| ended)
}

async fn converse(
    probe: &Probe,
    ecv: &TcpEcv,
    service: SocketAddr,
    seen: &mut Seen,
) -> Result<Ended, Ended> {
    let mut stream = Stream::connect(probe, service, seen).await?;
    if ecv.send.is_empty() && ecv.recv.is_empty() && ecv.trofs.is_empty() {
        return Ok(Ended::passed(connected(probe)));
    }
    seen.compared = compared(&ecv.recv, &ecv.trofs);
    seen.waits_for(Ended::failed(if ecv.recv.is_empty() {
        "Probe timed out: no answer"
    } else {
        "Probe timed out: pattern not found in response"
    }));
    stream.send(&ecv.send, seen).await?;
    let (mut recv, mut trofs) = (Search::new(&ecv.recv), Search::new(&ecv.trofs));
    let mut buffer = [0; PIECE];
    loop {
        let piece = stream.receive(&mut buffer, seen).await?;
        if piece.is_empty() {
            return Err(Ended::failed(
                "TCP connection closed before the expected answer",
            ));
        }
        // Of what comes together, going out of service is meant.
        if trofs.feed(piece) {
            return Ok(Ended::out_of_service("Trofs string found in response"));
        }
        if ecv.recv.is_empty() {
            return Ok(Ended::passed("Response received"));
        }
        if recv.feed(piece) {
            return Ok(Ended::passed("Pattern found in response"));
        }
    }
}

fn connected(probe: &Probe) -> &'static str {
    if probe.secure {
        "SSL handshake completed"
    } else {
        "TCP syn+ack received"
    }
}

/// Says in words what an answer is held against.
pub(crate) fn compared(recv: &[u8], trofs: &[u8]) -> String {
    let mut said = if recv.is_empty() {
        "any answer".to_owned()
    } else {
        format!("contains \"{}\"", shown(recv))
    };
    if !trofs.is_empty() {
        said.push_str(&format!(", trofs if it contains \"{}\"", shown(trofs)));
    }
    said
}
