//! TCP and TCP-ECV.

use std::io::ErrorKind;
use std::time::Duration;

use sluice_monitor::{Check, Close, Outcome, TcpEcv};
use socket2::SockRef;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::{LIMIT, ask, ecv, nothing_more_happens, probe, read_some, serve, serve_pieces};

#[tokio::test]
async fn connection_that_is_accepted_passes_and_is_closed_as_configured() {
    for (close, expected) in [
        (Close::Fin, Ok(0)),
        (Close::Reset, Err(ErrorKind::ConnectionReset)),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut probe = probe(Check::Tcp);
        probe.close = close;
        let report = ask(&probe, listener.local_addr().unwrap()).await;
        assert_eq!(report.text, "Success - TCP syn+ack received.");
        assert_eq!(report.outcome, Outcome::Passed);
        assert_eq!((report.sent.as_str(), report.received.as_str()), ("", ""));

        let (mut stream, _) = listener.accept().await.unwrap();
        let ended = stream.read(&mut [0; 8]).await;
        assert_eq!(ended.map_err(|error| error.kind()), expected);
    }
}

#[tokio::test]
async fn connection_that_is_refused_fails() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let report = ask(&probe(Check::Tcp), address).await;
    assert_eq!(report.outcome, Outcome::Failed);
    assert_eq!(report.text, "Failure - TCP connection refused.");
}

#[tokio::test]
async fn connection_that_is_not_answered_fails_at_the_deadline() {
    // A queue of one that is full lets no further connection in.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    SockRef::from(&listener).listen(0).unwrap();
    let address = listener.local_addr().unwrap();
    let _full = std::net::TcpStream::connect(address).unwrap();
    tokio::time::pause();
    let report = ask(&probe(Check::Tcp), address).await;
    assert_eq!(
        report.text,
        "Failure - Time out during TCP connection establishment stage."
    );
    assert_eq!(report.took.as_secs(), LIMIT.as_secs());
}

#[tokio::test]
async fn source_address_is_used() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut probe = probe(Check::Tcp);
    probe.source = Some("127.0.0.9".parse().unwrap());
    let report = ask(&probe, listener.local_addr().unwrap()).await;
    assert_eq!(report.outcome, Outcome::Passed, "{}", report.text);
    let (_, from) = listener.accept().await.unwrap();
    assert_eq!(from.ip(), probe.source.unwrap());

    // An address of documentation, which no machine has.
    probe.source = Some("192.0.2.1".parse().unwrap());
    let report = ask(&probe, listener.local_addr().unwrap()).await;
    let text = "Failure - TCP connection failed: cannot assign requested address.";
    assert_eq!(report.text, text);
}

#[tokio::test]
async fn source_address_is_used_over_ipv6() {
    let Ok(listener) = TcpListener::bind("[::1]:0").await else {
        return;
    };
    let mut probe = probe(Check::Tcp);
    probe.source = Some("::1".parse().unwrap());
    let report = ask(&probe, listener.local_addr().unwrap()).await;
    assert_eq!(report.outcome, Outcome::Passed, "{}", report.text);
}

#[tokio::test]
async fn pattern_is_found_across_segments_and_nul_bytes() {
    let address = serve_pieces(&[b"-\0+PO", b"N", b"G\r\n"]).await;
    let report = ask(&ecv("PING\r\n", "+PONG"), address).await;
    assert_eq!(report.text, "Success - Pattern found in response.");
    assert_eq!(report.sent, r"PING\r\n");
    assert!(
        report.received.starts_with(r"-\x00+PONG"),
        "{}",
        report.received
    );
    assert_eq!(report.compared, "contains \"+PONG\"");
}

#[tokio::test]
async fn answer_without_the_pattern_fails_when_it_ends() {
    let address = serve_pieces(&[b"-ERR"]).await;
    let report = ask(&ecv("PING\r\n", "+PONG"), address).await;
    let text = "Failure - TCP connection closed before the expected answer.";
    assert_eq!(
        (report.outcome, report.text.as_str()),
        (Outcome::Failed, text)
    );
    assert_eq!(report.received, "-ERR");
}

#[tokio::test]
async fn silence_fails_at_the_deadline() {
    let hold = |mut stream: TcpStream| async move {
        read_some(&mut stream).await;
        nothing_more_happens().await;
    };
    let report = ask(&ecv("PING", "+PONG"), serve(hold).await).await;
    let text = "Failure - Probe timed out: pattern not found in response.";
    assert_eq!(
        (report.outcome, report.text.as_str()),
        (Outcome::Failed, text)
    );
    assert_eq!(report.sent, "PING");
}

#[tokio::test]
async fn what_is_needed_without_a_pattern() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let report = ask(&ecv("", ""), listener.local_addr().unwrap()).await;
    assert_eq!(report.text, "Success - TCP syn+ack received.");

    let report = ask(&ecv("PING", ""), serve_pieces(&[b"?"]).await).await;
    assert_eq!(report.text, "Success - Response received.");

    let report = ask(&ecv("PING", ""), serve_pieces(&[]).await).await;
    assert_eq!(report.outcome, Outcome::Failed);
}

#[tokio::test]
async fn trofs_string_takes_the_service_out_of_service() {
    let mut probe = probe(Check::TcpEcv(TcpEcv {
        send: b"PING".to_vec(),
        recv: b"PONG".to_vec(),
        trofs: b"LEAVING".to_vec(),
    }));
    let report = ask(&probe, serve_pieces(&[b"PONG LEAVING"]).await).await;
    assert_eq!(report.text, "Success - Trofs string found in response.");
    assert_eq!(report.outcome, Outcome::OutOfService);

    let report = ask(&probe, serve_pieces(&[b"PONG"]).await).await;
    assert_eq!(report.outcome, Outcome::Passed);

    let Check::TcpEcv(ecv) = &mut probe.check else {
        unreachable!("it was made above");
    };
    ecv.recv.clear();
    let report = ask(&probe, serve_pieces(&[b"LEAVING"]).await).await;
    assert_eq!(report.outcome, Outcome::OutOfService);
}

#[tokio::test]
async fn endless_answer_ends_the_probe_and_not_the_memory() {
    let flood = |mut stream: TcpStream| async move {
        let piece = vec![b'x'; 64 * 1024];
        // 10 MiB, or until the probe has gone.
        for _ in 0..160 {
            if stream.write_all(&piece).await.is_err() {
                return;
            }
        }
        nothing_more_happens().await;
    };
    let report = ask(&ecv("PING", "+PONG"), serve(flood).await).await;
    let text = "Failure - Nothing expected in the first 65536 bytes of the answer.";
    assert_eq!(
        (report.outcome, report.text.as_str()),
        (Outcome::Failed, text)
    );
    assert!(report.received.len() < 300, "{}", report.received);
}

#[tokio::test]
async fn answer_of_a_byte_a_second_ends_at_the_deadline() {
    let trickle = |mut stream: TcpStream| async move {
        read_some(&mut stream).await;
        tokio::time::pause();
        while stream.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    };
    let report = ask(&ecv("PING", "+PONG"), serve(trickle).await).await;
    let text = "Failure - Probe timed out: pattern not found in response.";
    assert_eq!(
        (report.outcome, report.text.as_str()),
        (Outcome::Failed, text)
    );
    assert!(
        (1..=61).contains(&report.received.len()),
        "{}",
        report.received
    );
}

#[tokio::test]
async fn reset_fails() {
    let reset = |mut stream: TcpStream| async move {
        read_some(&mut stream).await;
        SockRef::from(&stream)
            .set_linger(Some(Duration::ZERO))
            .unwrap();
    };
    let report = ask(&ecv("PING", "+PONG"), serve(reset).await).await;
    let text = "Failure - TCP connection reset.";
    assert_eq!(
        (report.outcome, report.text.as_str()),
        (Outcome::Failed, text)
    );
}
