//! The process's descriptors: how many there may be, and who may take one more.
//!
//! Owns the numbers, not the descriptors. Clients take what they can get, so without a bound they would
//! take the last one, and nobody could get in any more to see why. The soft limit of open files is
//! divided like this:
//!
//! ```text
//! fixed | kept for the control socket and saving | TCP flows and pipes, UDP sessions
//! ```
//!
//! TCP leaves a share of the last part to UDP, and pipes leave most of theirs to flows; apart from that,
//! first come, first served. Invariant: what is claimed fits, but for as many places as there are
//! workers that claim at the same moment for TCP and for UDP; the kept part is larger than that.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The numbers. All workers share them.
#[derive(Debug)]
pub(crate) struct Descriptors {
    /// The soft limit.
    limit: usize,
    /// Open before the first client came: threads, control socket, log.
    base: AtomicUsize,
    /// Listening sockets.
    listening: AtomicUsize,
    flows: AtomicUsize,
    pipes: AtomicUsize,
    sessions: AtomicUsize,
}

/// What descriptors are claimed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// A TCP flow: a socket to the client and one to the service.
    Flow,
    /// A pipe: its two ends.
    Pipe,
    /// A UDP session: a socket to the service.
    Session,
}

/// Descriptors that somebody may have; given back when dropped, after they are closed.
#[derive(Debug)]
pub(crate) struct Claim {
    descriptors: Arc<Descriptors>,
    used_for: Use,
}

impl Descriptors {
    /// Divides `limit` descriptors; `None` is without limit.
    pub(crate) fn new(limit: Option<u64>) -> Self {
        let limit = limit.map_or(usize::MAX, |limit| {
            usize::try_from(limit).unwrap_or(usize::MAX)
        });
        Self {
            limit,
            base: AtomicUsize::new(0),
            listening: AtomicUsize::new(0),
            flows: AtomicUsize::new(0),
            pipes: AtomicUsize::new(0),
            sessions: AtomicUsize::new(0),
        }
    }

    /// Notes how many are open before there is a listening socket.
    pub(crate) fn set_base(&self, open: usize) {
        self.base.store(open, Ordering::Relaxed);
    }

    /// Notes how many sockets listen.
    pub(crate) fn set_listening(&self, sockets: usize) {
        self.listening.store(sockets, Ordering::Relaxed);
    }

    /// Returns how many UDP sessions there are.
    pub(crate) fn sessions(&self) -> usize {
        self.sessions.load(Ordering::Relaxed)
    }

    /// Claims the descriptors of a TCP flow. One flow there may always be: to try is better than never
    /// to serve anybody.
    pub(crate) fn claim_flow(self: &Arc<Self>) -> Option<Claim> {
        self.claim(Use::Flow, |flows| {
            let pipes = self.pipes.load(Ordering::Relaxed);
            flows == 0 || 2 * (flows + pipes + 1) <= self.tcp_room()
        })
    }

    /// Claims the descriptors of a pipe.
    pub(crate) fn claim_pipe(self: &Arc<Self>) -> Option<Claim> {
        self.claim(Use::Pipe, |pipes| {
            let (flows, room) = (self.flows.load(Ordering::Relaxed), self.tcp_room());
            2 * (flows + pipes + 1) <= room && 2 * (pipes + 1) <= room / PIPES_PART
        })
    }

    /// Claims the descriptor of a UDP session, of which there may be `most`.
    pub(crate) fn claim_session(self: &Arc<Self>, most: usize) -> Option<Claim> {
        self.claim(Use::Session, |sessions| {
            let tcp = 2 * (self.flows.load(Ordering::Relaxed) + self.pipes.load(Ordering::Relaxed));
            sessions < most && tcp.saturating_add(sessions + 1) <= self.room()
        })
    }

    /// Returns whether TCP has room for `more` descriptors.
    pub(crate) fn tcp_has_room_for(&self, more: usize) -> bool {
        let taken = self.flows.load(Ordering::Relaxed) + self.pipes.load(Ordering::Relaxed);
        2 * taken + more <= self.tcp_room()
    }

    fn claim(self: &Arc<Self>, used_for: Use, fits: impl Fn(usize) -> bool) -> Option<Claim> {
        let more = |claimed| fits(claimed).then_some(claimed + 1);
        self.count(used_for)
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .ok()?;
        Some(Claim {
            descriptors: Arc::clone(self),
            used_for,
        })
    }

    fn count(&self, used_for: Use) -> &AtomicUsize {
        match used_for {
            Use::Flow => &self.flows,
            Use::Pipe => &self.pipes,
            Use::Session => &self.sessions,
        }
    }

    /// What clients may have.
    fn room(&self) -> usize {
        let base = self.base.load(Ordering::Relaxed);
        let listening = self.listening.load(Ordering::Relaxed);
        let kept = (self.limit / KEPT_PART).clamp(KEPT_MIN, KEPT_MAX);
        self.limit.saturating_sub(kept + base + listening)
    }

    /// What TCP may have of it: all but the sessions there are, or the share of UDP.
    fn tcp_room(&self) -> usize {
        let share = (self.limit / UDP_PART).clamp(UDP_MIN, UDP_MAX);
        self.room().saturating_sub(self.sessions().max(share))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.descriptors
            .count(self.used_for)
            .fetch_sub(1, Ordering::Relaxed);
    }
}

/// The control socket's 64 clients and the files of a save, where the limit allows that; else an eighth,
/// and never less than a save, some clients and the workers that claim at the same moment need.
const KEPT_PART: usize = 8;
const KEPT_MIN: usize = 8;
const KEPT_MAX: usize = 72;

/// TCP leaves 1/64 to UDP, so that names can be looked up through us while TCP is at its limit.
const UDP_PART: usize = 64;
const UDP_MIN: usize = 2;
const UDP_MAX: usize = 1024;

/// Of the descriptors of TCP a quarter may be pipes: without a pipe a flow is slower, without
/// descriptors there is none.
const PIPES_PART: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    /// A process of this limit with 25 descriptors open and 2 listening.
    fn limited(limit: u64) -> Arc<Descriptors> {
        let descriptors = Arc::new(Descriptors::new(Some(limit)));
        descriptors.set_base(25);
        descriptors.set_listening(2);
        descriptors
    }

    fn all<T>(claim: impl FnMut() -> Option<T>) -> Vec<T> {
        std::iter::from_fn(claim).collect()
    }

    #[test]
    fn tcp_leaves_a_reserve_and_a_share_of_udp() {
        for (limit, flows, sessions) in [
            (56, 9, 3),
            (112, 34, 3),
            (1024, 454, 17),
            (20_000, 9794, 313),
        ] {
            let descriptors = limited(limit);
            let tcp = all(|| descriptors.claim_flow());
            let udp = all(|| descriptors.claim_session(usize::MAX));
            assert_eq!((tcp.len(), udp.len()), (flows, sessions), "{limit}");
            assert!(descriptors.claim_flow().is_none() && descriptors.claim_pipe().is_none());
        }
    }

    #[test]
    fn what_ends_makes_room_for_another() {
        let descriptors = limited(112);
        let mut flows = all(|| descriptors.claim_flow());
        flows.pop();
        assert!(descriptors.tcp_has_room_for(2));
        let again = descriptors.claim_flow();
        assert!(again.is_some() && descriptors.claim_flow().is_none());
        descriptors.set_listening(4);
        drop(again);
        assert!(descriptors.claim_flow().is_none(), "two more listen");
    }

    #[test]
    fn sessions_beyond_the_share_are_at_the_cost_of_tcp() {
        let descriptors = limited(1024);
        let sessions = all(|| descriptors.claim_session(512));
        assert_eq!(sessions.len(), 512);
        assert_eq!(all(|| descriptors.claim_flow()).len(), 206);
    }

    #[test]
    fn pipes_take_a_quarter_at_most() {
        let descriptors = limited(1024);
        let pipes = all(|| descriptors.claim_pipe());
        assert_eq!(pipes.len(), 113);
        assert_eq!(all(|| descriptors.claim_flow()).len(), 454 - 113);
        drop(pipes);
        assert!(descriptors.claim_flow().is_some());
    }

    #[test]
    fn limit_that_is_used_up_at_the_start_leaves_one_flow() {
        let descriptors = limited(20);
        let flow = descriptors.claim_flow();
        assert!(flow.is_some() && descriptors.claim_flow().is_none());
        assert!(descriptors.claim_pipe().is_none());
        drop(flow);
        assert!(descriptors.claim_flow().is_some());
    }

    #[test]
    fn without_limit_there_is_always_room() {
        let descriptors = Arc::new(Descriptors::new(None));
        descriptors.set_base(25);
        assert!(descriptors.tcp_has_room_for(usize::MAX / 4));
    }
}
