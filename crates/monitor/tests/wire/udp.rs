//! UDP-ECV.

use std::net::SocketAddr;

use sluice_monitor::{Check, Outcome, Probe, UdpEcv};
use tokio::net::UdpSocket;

use super::{LIMIT, ask, nothing_more_happens, probe};

fn ecv(send: &str, recv: &str) -> Probe {
    probe(Check::UdpEcv(UdpEcv {
        send: send.into(),
        recv: recv.into(),
    }))
}

/// Answers one datagram with these.
async fn serve(answers: &'static [&'static [u8]]) -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    tokio::spawn(async move {
        let (_, from) = socket.recv_from(&mut [0; 64]).await.unwrap();
        for answer in answers {
            socket.send_to(answer, from).await.unwrap();
        }
        // Once the probe has read what is there.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        nothing_more_happens().await;
    });
    address
}

#[tokio::test]
async fn pattern_is_looked_for_in_each_datagram() {
    let report = ask(&ecv("hi", "ready"), serve(&[b"", b"rea", b"\0ready"]).await).await;
    assert_eq!(report.text, "Success - Pattern found in response.");
    assert_eq!(
        (report.sent.as_str(), report.received.as_str()),
        ("hi", r"rea\x00ready")
    );

    let report = ask(&ecv("hi", "ready"), serve(&[b"rea", b"dy"]).await).await;
    let text = "Failure - Probe timed out: pattern not found in response.";
    assert_eq!(
        (report.outcome, report.text.as_str()),
        (Outcome::Failed, text)
    );
}

#[tokio::test]
async fn silence_passes_without_a_pattern() {
    let report = ask(&ecv("hi", ""), serve(&[]).await).await;
    let text = "Success - No ICMP port unreachable received.";
    assert_eq!(
        (report.outcome, report.text.as_str()),
        (Outcome::Passed, text)
    );
    assert_eq!(report.took.as_secs(), LIMIT.as_secs());
}

#[tokio::test]
async fn any_answer_passes_without_a_pattern() {
    let report = ask(&ecv("", ""), serve(&[b"?"]).await).await;
    assert_eq!(report.text, "Success - Response received.");
}

#[tokio::test]
async fn closed_port_fails_with_a_pattern_and_without() {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    drop(socket);
    for recv in ["", "ready"] {
        let report = ask(&ecv("hi", recv), address).await;
        let text = "Failure - ICMP port unreachable received.";
        assert_eq!(
            (report.outcome, report.text.as_str()),
            (Outcome::Failed, text)
        );
    }
}

#[tokio::test]
async fn answer_of_somebody_else_does_not_count() {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    tokio::spawn(async move {
        let (_, from) = socket.recv_from(&mut [0; 64]).await.unwrap();
        let other = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        // A connected socket does not take it, and the kernel may say so.
        let _ = other.send_to(b"ready", from).await;
        nothing_more_happens().await;
    });
    let report = ask(&ecv("hi", "ready"), address).await;
    assert_eq!(
        (report.outcome, report.received.as_str()),
        (Outcome::Failed, "")
    );
}
