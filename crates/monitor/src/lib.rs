//! The wire side of monitors: one probe of one service, from the first packet to a report.
//!
//! A [`Probe`] says what to send and what to expect, [`run`] does it once and says how it ended,
//! with what was sent, received and compared. When probes start, how many must fail and what that
//! makes of a service is decided in the balancing core; names and options of monitors are the
//! configuration's.
//!
//! Invariants: a probe ends at its deadline whatever the other side does; it keeps no more than a
//! few kilobytes and looks at no more than [`LOOKED_AT`] bytes of an answer; it leaves no socket
//! and no process of its group behind.

mod agent;
mod dns;
mod http;
mod icmp;
mod probe;
mod prober;
mod report;
mod search;
mod seen;
mod stream;
mod sys;
mod tcp;
mod tls;
mod udp;
mod user;

use std::net::SocketAddr;

use tokio::time::{Instant, timeout_at};

pub use probe::{Check, Close, DnsQuery, Http, HttpEcv, Probe, Program, QueryType, TcpEcv, UdpEcv};
pub use prober::Prober;
pub use report::{Outcome, Report};
use seen::{Ended, Seen};

/// How many bytes of an answer are looked at: a pattern that comes later is not found.
///
/// Own choice: a page of text that says how a server is has a few kilobytes; what sends more is no
/// answer to a probe, and must not cost memory or time.
pub const LOOKED_AT: usize = 64 * 1024;

/// Probes `service` once and returns how that ended, at the latest at the deadline.
///
/// Dropped before it has ended, it closes its socket, and kills its program with its process group.
pub async fn run(probe: &Probe, service: SocketAddr, deadline: Instant) -> Report {
    let mut seen = Seen::new();
    // `timeout_at` asks the probe once even if the deadline has passed.
    let ended = match timeout_at(deadline, check(probe, service, &mut seen)).await {
        Ok(ended) => ended,
        Err(_) => seen.late(),
    };
    seen.report(ended)
}

async fn check(probe: &Probe, service: SocketAddr, seen: &mut Seen) -> Ended {
    match &probe.check {
        Check::Tcp => tcp::connects(probe, service, seen).await,
        Check::Ping => icmp::answers(probe.source, service.ip(), seen).await,
        Check::TcpEcv(ecv) => tcp::answers(probe, ecv, service, seen).await,
        Check::UdpEcv(ecv) => udp::answers(probe.source, ecv, service, seen).await,
        Check::Dns(query) => dns::answers(probe.source, query, service, seen).await,
        Check::DnsTcp(query) => dns::answers_over_tcp(probe, query, service, seen).await,
        Check::Http(http) => http::status(probe, http, service, seen).await,
        Check::HttpEcv(ecv) => http::answers(probe, ecv, service, seen).await,
        Check::User(program) => user::exits(program, service, seen).await,
        Check::Load => agent::reports(probe, service, seen).await,
    }
}
