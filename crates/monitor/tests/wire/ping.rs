//! PING.

use sluice_monitor::{Check, Outcome};

use super::{ask, probe};

#[tokio::test]
async fn loopback_answers_or_it_is_said_what_is_missing() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        if address.starts_with('[') && std::net::UdpSocket::bind(address).is_err() {
            continue;
        }
        let report = ask(&probe(Check::Ping), address.parse().unwrap()).await;
        if report.outcome == Outcome::Passed {
            assert_eq!(report.text, "Success - ICMP echo reply received.");
            assert!(report.took > std::time::Duration::ZERO);
        } else {
            assert!(
                report.text.starts_with("Failure - ICMP is not permitted: "),
                "{}",
                report.text
            );
            assert!(!rustix::process::geteuid().is_root(), "root may");
        }
    }
}

#[tokio::test]
async fn many_pings_at_once_hear_their_own_replies() {
    let pings = (0..50).map(|_| {
        tokio::spawn(async { ask(&probe(Check::Ping), "127.0.0.1:0".parse().unwrap()).await })
    });
    for ping in pings.collect::<Vec<_>>() {
        let report = ping.await.unwrap();
        let is_permitted = !report.text.contains("not permitted");
        assert_eq!(
            report.outcome == Outcome::Passed,
            is_permitted,
            "{}",
            report.text
        );
    }
}
