//! `-secure YES`.

use std::net::SocketAddr;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, SupportedProtocolVersion, version};
use sluice_monitor::{Check, Http, Probe};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::{ask, ecv, nothing_more_happens, probe, read_some, serve, serve_pieces};

/// Serves one connection with a certificate that nobody has signed, for another name.
async fn serve_tls(version: &'static SupportedProtocolVersion, answer: &'static str) -> SocketAddr {
    let made = rcgen::generate_simple_self_signed(["somebody.example".to_owned()]).unwrap();
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let provider = Arc::new(ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[version])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], PrivateKeyDer::from(key))
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut stream = acceptor.accept(stream).await.unwrap();
        let length = stream.read(&mut [0; 4096]).await.unwrap_or_default();
        if length > 0 {
            stream.write_all(answer.as_bytes()).await.unwrap();
            stream.flush().await.unwrap();
        }
        // Without saying goodbye, as many servers do.
    });
    address
}

fn secure(mut probe: Probe) -> Probe {
    probe.secure = true;
    probe
}

#[tokio::test]
async fn any_certificate_is_taken_in_both_versions() {
    for version in [&version::TLS12, &version::TLS13] {
        let address = serve_tls(version, "").await;
        let report = ask(&secure(probe(Check::Tcp)), address).await;
        assert_eq!(report.text, "Success - SSL handshake completed.");

        let address = serve_tls(version, "+PONG").await;
        let report = ask(&secure(ecv("PING", "+PONG")), address).await;
        assert_eq!(report.text, "Success - Pattern found in response.");
        assert_eq!(
            (report.sent.as_str(), report.received.as_str()),
            ("PING", "+PONG")
        );

        let address = serve_tls(version, "HTTP/1.1 200 OK\r\n\r\n").await;
        let check = Check::Http(Http {
            request: "HEAD /".to_owned(),
            headers: String::new(),
            codes: vec![200..=200],
        });
        let report = ask(&secure(probe(check)), address).await;
        assert_eq!(report.text, "Success - HTTP response code 200 received.");
    }
}

#[tokio::test]
async fn end_without_goodbye_is_an_end() {
    let address = serve_tls(&version::TLS13, "-ERR").await;
    let report = ask(&secure(ecv("PING", "+PONG")), address).await;
    let text = "Failure - TCP connection closed before the expected answer.";
    assert_eq!(report.text, text);
}

#[tokio::test]
async fn service_without_tls_fails() {
    let address = serve_pieces(&[b"220 mail ready\r\n"]).await;
    let report = ask(&secure(probe(Check::Tcp)), address).await;
    assert!(
        report.text.starts_with("Failure - SSL handshake failed: "),
        "{}",
        report.text
    );

    let silent = serve(|mut stream| async move {
        read_some(&mut stream).await;
        nothing_more_happens().await;
    });
    let report = ask(&secure(probe(Check::Tcp)), silent.await).await;
    assert_eq!(
        report.text,
        "Failure - Time out during SSL handshake stage."
    );
}
