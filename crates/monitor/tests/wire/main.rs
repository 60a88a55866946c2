//! Each type of probe against real sockets on the loopback, with answers as they should be and not.
//!
//! Where nothing more can happen, the server stops the clock, and the deadline comes at once.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod agent;
mod dns;
mod http;
mod ping;
mod prober;
mod tcp;
mod tls;
mod udp;
mod user;

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use sluice_monitor::{Check, Close, Probe, Report, TcpEcv, run};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

/// Far more than anything here takes.
const LIMIT: Duration = Duration::from_secs(60);

fn probe(check: Check) -> Probe {
    Probe {
        check,
        secure: false,
        close: Close::Fin,
        source: None,
    }
}

fn ecv(send: &str, recv: &str) -> Probe {
    probe(Check::TcpEcv(TcpEcv {
        send: send.into(),
        recv: recv.into(),
        trofs: Vec::new(),
    }))
}

async fn ask(probe: &Probe, service: SocketAddr) -> Report {
    run(probe, service, Instant::now() + LIMIT).await
}

/// Serves one connection and returns where.
async fn serve<F: Future<Output = ()> + Send>(
    handle: impl FnOnce(TcpStream) -> F + Send + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        handle(stream).await;
    });
    address
}

/// Serves one connection with these pieces of an answer, each in a segment of its own.
async fn serve_pieces(pieces: &[&'static [u8]]) -> SocketAddr {
    let pieces = pieces.to_vec();
    serve(move |mut stream| async move {
        stream.set_nodelay(true).unwrap();
        read_some(&mut stream).await;
        for piece in pieces {
            stream.write_all(piece).await.unwrap();
            tokio::task::yield_now().await;
        }
    })
    .await
}

/// Reads some of a request and returns it.
async fn read_some(stream: &mut TcpStream) -> Vec<u8> {
    let mut buffer = vec![0; 4096];
    let length = stream.read(&mut buffer).await.unwrap();
    buffer.truncate(length);
    buffer
}

/// Lets the deadline come at once, and keeps what is open so until then.
async fn nothing_more_happens() {
    tokio::time::pause();
    std::future::pending().await
}
