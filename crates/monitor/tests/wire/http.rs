//! HTTP and HTTP-ECV.

use std::time::Duration;

use sluice_monitor::{Check, Http, HttpEcv, Outcome, Probe};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::{ask, nothing_more_happens, probe, read_some, serve, serve_pieces};

fn http() -> Probe {
    probe(Check::Http(Http {
        request: "HEAD /".to_owned(),
        headers: String::new(),
        codes: vec![200..=200, 301..=304],
    }))
}

fn ecv(recv: &str) -> Probe {
    probe(Check::HttpEcv(HttpEcv {
        send: "GET /health".to_owned(),
        headers: "X-Probe: yes\r\n".to_owned(),
        recv: recv.into(),
        trofs_code: Some(503),
        trofs: Vec::new(),
    }))
}

#[tokio::test]
async fn status_is_one_of_those_that_pass() {
    let address = serve_pieces(&[b"HTTP/1.1 302 Fou", b"nd\r\nA: b\r\n\r", b"\n"]).await;
    let report = ask(&http(), address).await;
    assert_eq!(report.text, "Success - HTTP response code 302 received.");
    assert_eq!(report.compared, "status 200 301-304");
    assert!(
        report
            .sent
            .starts_with(r"HEAD / HTTP/1.1\r\nHost: 127.0.0.1:"),
        "{}",
        report.sent
    );

    let report = ask(&http(), serve_pieces(&[b"HTTP/1.0 404 No\r\n\r\n"]).await).await;
    let text = "Failure - HTTP response code 404 received.";
    assert_eq!(
        (report.outcome, report.text.as_str()),
        (Outcome::Failed, text)
    );

    let interim: &[u8] =
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\n\r\n";
    let report = ask(&http(), serve_pieces(&[interim]).await).await;
    assert_eq!(report.text, "Success - HTTP response code 200 received.");
}

#[tokio::test]
async fn what_is_no_http_fails() {
    let report = ask(&http(), serve_pieces(&[b"220 mail\0 ready\r\n"]).await).await;
    assert_eq!(report.outcome, Outcome::Failed);
    assert!(
        report.text.starts_with("Failure - No HTTP response: "),
        "{}",
        report.text
    );

    let report = ask(&http(), serve_pieces(&[b"HTTP/1.1 200 OK\r\nA: b"]).await).await;
    let text = "Failure - TCP connection closed before the HTTP response.";
    assert_eq!(
        (report.outcome, report.text.as_str()),
        (Outcome::Failed, text)
    );
}

#[tokio::test]
async fn head_that_does_not_end_fails() {
    let flood = |mut stream: TcpStream| async move {
        read_some(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nA: ").await;
        for _ in 0..160 {
            if stream.write_all(&[b'x'; 64 * 1024]).await.is_err() {
                return;
            }
        }
    };
    let report = ask(&http(), serve(flood).await).await;
    let text = "Failure - HTTP response head is longer than 16384 bytes.";
    assert_eq!(
        (report.outcome, report.text.as_str()),
        (Outcome::Failed, text)
    );
}

#[tokio::test]
async fn pattern_is_looked_for_in_the_body_across_chunks() {
    let head: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX: ready\r\n\r\n";
    let address = serve_pieces(&[head, b"3\r\nrea\r\n", b"2\r\ndy\r\n0\r\n\r\n"]).await;
    let report = ask(&ecv("ready"), address).await;
    assert_eq!(report.text, "Success - Pattern found in response.");
    assert!(
        report.sent.contains(r"\r\nX-Probe: yes\r\n"),
        "{}",
        report.sent
    );

    // In the head alone it does not count.
    let address = serve_pieces(&[head, b"2\r\nno\r\n0\r\n\r\n"]).await;
    let report = ask(&ecv("ready"), address).await;
    assert_eq!(report.text, "Failure - Pattern not found in response.");

    let address = serve_pieces(&[head, b"9\r\nrea"]).await;
    let report = ask(&ecv("ready"), address).await;
    assert_eq!(
        report.text,
        "Failure - TCP connection closed within the response."
    );
}

#[tokio::test]
async fn pattern_is_looked_for_up_to_the_length_or_the_end() {
    let known: &[u8] = b"HTTP/1.1 500 Bad\r\nContent-Length: 5\r\n\r\nready";
    let report = ask(&ecv("ready"), serve_pieces(&[known]).await).await;
    assert_eq!(report.text, "Success - Pattern found in response.");
    // What is behind the body is not of it.
    let known: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nready";
    let report = ask(&ecv("ready"), serve_pieces(&[known]).await).await;
    assert_eq!(report.text, "Failure - Pattern not found in response.");
    let to_the_end: &[u8] = b"HTTP/1.0 200 OK\r\n\r\nre";
    let report = ask(&ecv("ready"), serve_pieces(&[to_the_end, b"ady"]).await).await;
    assert_eq!(report.text, "Success - Pattern found in response.");
}

#[tokio::test]
async fn trofs_code_and_string_take_the_service_out_of_service() {
    let report = ask(
        &ecv("ready"),
        serve_pieces(&[b"HTTP/1.1 503 No\r\n\r\nready"]).await,
    )
    .await;
    let text = "Success - Trofs code 503 received.";
    assert_eq!(
        (report.outcome, report.text.as_str()),
        (Outcome::OutOfService, text)
    );

    let mut probe = ecv("ready");
    let Check::HttpEcv(ecv) = &mut probe.check else {
        unreachable!("it was made above");
    };
    ecv.trofs = b"leaving".to_vec();
    let leaves: &[&'static [u8]] = &[b"HTTP/1.1 200 OK\r\n\r\nready", b", but lea", b"ving"];
    let report = ask(&probe, serve_pieces(leaves).await).await;
    assert_eq!(report.outcome, Outcome::OutOfService, "{}", report.text);
    let stays: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nready";
    let report = ask(&probe, serve_pieces(&[stays]).await).await;
    assert_eq!(report.outcome, Outcome::Passed, "{}", report.text);
}

#[tokio::test]
async fn large_and_slow_bodies_end() {
    let flood = |mut stream: TcpStream| async move {
        read_some(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
        for _ in 0..160 {
            if stream.write_all(&[b'x'; 64 * 1024]).await.is_err() {
                return;
            }
        }
    };
    let report = ask(&ecv("ready"), serve(flood).await).await;
    let text = "Failure - Nothing expected in the first 65536 bytes of the answer.";
    assert_eq!(
        (report.outcome, report.text.as_str()),
        (Outcome::Failed, text)
    );

    let trickle = |mut stream: TcpStream| async move {
        read_some(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
        tokio::time::pause();
        while stream.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    };
    let report = ask(&ecv("ready"), serve(trickle).await).await;
    assert!(
        report.text.starts_with("Failure - Probe timed out: "),
        "{}",
        report.text
    );
}

#[tokio::test]
async fn silence_fails_at_the_deadline() {
    let hold = |mut stream: TcpStream| async move {
        read_some(&mut stream).await;
        nothing_more_happens().await;
    };
    let report = ask(&http(), serve(hold).await).await;
    assert_eq!(report.text, "Failure - Probe timed out: no HTTP response.");
}
