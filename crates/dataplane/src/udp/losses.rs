//! What did not get through on UDP, and why: counts, never a reason to end anything.

use std::sync::atomic::{AtomicU64, Ordering};

/// Cumulative counts of what did not get through.
#[derive(Debug, Default)]
pub(super) struct Losses {
    limit: AtomicU64,
    refused: AtomicU64,
    local: AtomicU64,
    truncated: AtomicU64,
    full: AtomicU64,
    unsendable: AtomicU64,
    reported: AtomicU64,
}

/// Why something did not get through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    /// The limit on sessions.
    Limit,
    /// No service could be chosen.
    Refused,
    /// No socket, port or route for a new session.
    Local,
    /// Not received whole.
    Truncated,
    /// A socket buffer was full.
    Full,
    /// The system would not send it: too large, forbidden, unreachable.
    Unsendable,
    /// Not a datagram of ours: an error that the network reported for an earlier one.
    Reported,
}

impl Losses {
    /// Counts `count` losses.
    pub(super) fn add(&self, loss: Loss, count: usize) {
        self.counter(loss)
            .fetch_add(count as u64, Ordering::Relaxed);
    }

    /// Returns how many there were.
    pub(super) fn count(&self, loss: Loss) -> u64 {
        self.counter(loss).load(Ordering::Relaxed)
    }

    fn counter(&self, loss: Loss) -> &AtomicU64 {
        match loss {
            Loss::Limit => &self.limit,
            Loss::Refused => &self.refused,
            Loss::Local => &self.local,
            Loss::Truncated => &self.truncated,
            Loss::Full => &self.full,
            Loss::Unsendable => &self.unsendable,
            Loss::Reported => &self.reported,
        }
    }
}

/// The UDP sessions of the process at one moment, and the datagrams dropped since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UdpStatus {
    /// Sessions open.
    pub sessions: usize,
    /// The most sessions that may be open.
    pub limit: usize,
    /// Datagrams dropped because a session more would have exceeded the limit.
    pub dropped_limit: u64,
    /// Datagrams dropped because no service could be chosen.
    pub dropped_refused: u64,
    /// Datagrams dropped because a new session got no socket, port or route.
    pub dropped_local: u64,
    /// Datagrams dropped because they were not received whole.
    pub dropped_truncated: u64,
    /// Datagrams dropped because a socket buffer was full.
    pub dropped_full: u64,
    /// Datagrams that the system would not send: too large, forbidden, unreachable.
    pub dropped_unsendable: u64,
    /// Errors that services or networks reported, such as a port without a listener. They end
    /// nothing.
    pub errors: u64,
}
