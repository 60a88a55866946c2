//! LOAD.

use sluice_monitor::{Check, Outcome};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::{ask, probe, serve};

#[tokio::test]
async fn agent_says_its_load_by_a_line_or_by_ending() {
    for end in ["\n", "\r\n", ""] {
        let says = move |mut stream: TcpStream| async move {
            stream.write_all(b"30").await.unwrap();
            tokio::task::yield_now().await;
            stream
                .write_all(format!("%{end}").as_bytes())
                .await
                .unwrap();
            if !end.is_empty() {
                std::future::pending::<()>().await;
            }
        };
        let address = serve(says).await;
        let report = ask(&probe(Check::Load), address).await;
        assert_eq!(report.text, "Success - The agent says 30%.", "{end:?}");
        assert_eq!(report.load, Some(70));
    }
}

#[tokio::test]
async fn agent_that_does_not_end_its_line_fails() {
    let says = |mut stream: TcpStream| async move {
        let _ = stream.write_all(&[b'5'; 100_000]).await;
    };
    let report = ask(&probe(Check::Load), serve(says).await).await;
    assert_eq!(report.outcome, Outcome::Failed);
    assert_eq!(report.text, "Failure - The agent says more than a line.");
}
