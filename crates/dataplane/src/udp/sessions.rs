//! The UDP sessions of the process: which there are, how many there may be.
//!
//! Owns the table that all workers share and the bound on sessions. Does not own a session's life:
//! the worker that made a session reads its replies and ends it. Invariants: one session a key;
//! never more sessions than the limit; a guard of the table is never held across another call to
//! the table, to the engine or to the system.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use dashmap::{DashMap, Entry};
use sluice_balance::{Counters, Instant, Selection, VserverId};

use super::losses::{Loss, Losses, UdpStatus};
use crate::descriptors::{Claim, Descriptors};

/// What makes datagrams one session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SessionKey {
    /// The virtual server that was dialled.
    pub(super) vserver: VserverId,
    /// Where the client sends from.
    pub(super) client: SocketAddr,
    /// The local address that the client dialled, never a wildcard.
    pub(super) dialled: SocketAddr,
}

/// One session: the socket towards its service, and when it was last used.
///
/// Any worker may send through the socket; only the owner receives from it.
#[derive(Debug)]
pub(super) struct Session {
    socket: UdpSocket,
    /// Nanoseconds of the last datagram either way, or [`ENDED`].
    activity: AtomicU64,
    /// Whether a datagram of the client has been handed to the service.
    asked: AtomicBool,
    /// Whether the next datagram of the client is to begin another session.
    leaves: AtomicBool,
    /// Bytes in and out of this session alone.
    bytes: [AtomicU64; 2],
    service_counters: Arc<Counters>,
    vserver_counters: Arc<Counters>,
    _place: Claim,
}

impl Session {
    /// Makes a session that is in use at `now`.
    pub(super) fn new(
        socket: UdpSocket,
        selection: &Selection,
        place: Claim,
        now: Instant,
    ) -> Self {
        Self {
            socket,
            activity: AtomicU64::new(mark(now)),
            asked: AtomicBool::new(false),
            leaves: AtomicBool::new(false),
            bytes: [AtomicU64::new(0), AtomicU64::new(0)],
            service_counters: Arc::clone(&selection.service_counters),
            vserver_counters: Arc::clone(&selection.vserver_counters),
            _place: place,
        }
    }

    /// Returns the socket, connected to the service.
    pub(super) fn socket(&self) -> &UdpSocket {
        &self.socket
    }

    /// Notes that a datagram passes at `now`; `false` when the session has ended.
    ///
    /// Whoever has heard `true` before sending can be sure that the session did not run out first.
    pub(super) fn touch(&self, now: Instant) -> bool {
        let later = |last| (last != ENDED).then_some(mark(now).max(last));
        self.activity
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, later)
            .is_ok()
    }

    /// Returns when a datagram last passed.
    pub(super) fn last_activity(&self) -> Instant {
        Instant::from_nanos(self.activity.load(Ordering::Acquire))
    }

    /// Ends the session unless it has been used since `seen`; returns whether it has ended.
    pub(super) fn end_if_unused_since(&self, seen: Instant) -> bool {
        let seen = seen.as_nanos();
        self.activity
            .compare_exchange(seen, ENDED, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }

    /// Ends the session: no worker sends through it from now on.
    pub(super) fn end(&self) {
        self.activity.store(ENDED, Ordering::Release);
    }

    /// Whether it has ended: its client has another, or will have.
    pub(super) fn has_ended(&self) -> bool {
        self.activity.load(Ordering::Acquire) == ENDED
    }

    /// Says whether the next datagram of its client is to begin another session.
    pub(super) fn set_leaving(&self, leaves: bool) {
        self.leaves.store(leaves, Ordering::Relaxed);
    }

    /// Whether the next datagram of its client is to begin another session.
    pub(super) fn is_leaving(&self) -> bool {
        self.leaves.load(Ordering::Relaxed)
    }

    /// Notes that the system took a datagram towards the service; returns whether it is the first.
    pub(super) fn ask(&self) -> bool {
        !self.asked.load(Ordering::Relaxed) && !self.asked.swap(true, Ordering::Relaxed)
    }

    /// Returns how many bytes went in and came out.
    pub(super) fn bytes(&self) -> [u64; 2] {
        [0, 1].map(|way: usize| self.bytes[way].load(Ordering::Relaxed))
    }

    /// Counts datagrams that the system took towards the service.
    pub(super) fn add_in(&self, bytes: u64, packets: u64) {
        self.bytes[0].fetch_add(bytes, Ordering::Relaxed);
        self.service_counters.add_in(bytes, packets);
        self.vserver_counters.add_in(bytes, packets);
    }

    /// Counts datagrams that came from the service.
    pub(super) fn add_out(&self, bytes: u64, packets: u64) {
        self.bytes[1].fetch_add(bytes, Ordering::Relaxed);
        self.service_counters.add_out(bytes, packets);
        self.vserver_counters.add_out(bytes, packets);
    }
}

/// All sessions of the process.
#[derive(Debug)]
pub(crate) struct Sessions {
    table: DashMap<SessionKey, Arc<Session>>,
    limit: AtomicUsize,
    descriptors: Arc<Descriptors>,
    losses: Losses,
    /// Nanoseconds of the last complaint in the log.
    complained: AtomicU64,
}

impl Sessions {
    /// Makes an empty table for as many sessions as `limit` descriptors allow.
    pub(crate) fn new(limit: Option<u64>, descriptors: Arc<Descriptors>) -> Self {
        Self {
            table: DashMap::new(),
            limit: AtomicUsize::new(limit_for(limit)),
            descriptors,
            losses: Losses::default(),
            complained: AtomicU64::new(0),
        }
    }

    /// Sets the limit; sessions beyond it go on.
    pub(crate) fn set_limit(&self, limit: usize) {
        self.limit.store(limit, Ordering::Relaxed);
    }

    /// Shows the sessions and the drops of the process.
    pub(crate) fn status(&self) -> UdpStatus {
        UdpStatus {
            sessions: self.descriptors.sessions(),
            limit: self.limit.load(Ordering::Relaxed),
            dropped_limit: self.losses.count(Loss::Limit),
            dropped_refused: self.losses.count(Loss::Refused),
            dropped_local: self.losses.count(Loss::Local),
            dropped_truncated: self.losses.count(Loss::Truncated),
            dropped_full: self.losses.count(Loss::Full),
            dropped_unsendable: self.losses.count(Loss::Unsendable),
            errors: self.losses.count(Loss::Reported),
        }
    }

    /// Returns the counters of what did not get through.
    pub(super) fn losses(&self) -> &Losses {
        &self.losses
    }

    /// Takes the place of one more session, unless the limit is reached or descriptors run short.
    pub(super) fn claim(&self) -> Option<Claim> {
        self.descriptors
            .claim_session(self.limit.load(Ordering::Relaxed))
    }

    /// Finds the session of `key`, whichever worker owns it, and marks it as used.
    pub(super) fn find(&self, key: &SessionKey, now: Instant) -> Option<Arc<Session>> {
        let session = self.table.get(key).map(|entry| Arc::clone(&entry))?;
        session.touch(now).then_some(session)
    }

    /// Enters a new session, unless another worker was faster: then returns that one's, marked as
    /// used.
    pub(super) fn enter(
        &self,
        key: SessionKey,
        session: &Arc<Session>,
        now: Instant,
    ) -> Option<Arc<Session>> {
        match self.table.entry(key) {
            Entry::Vacant(vacant) => {
                vacant.insert(Arc::clone(session));
                None
            }
            Entry::Occupied(mut occupied) => {
                if occupied.get().touch(now) {
                    return Some(Arc::clone(occupied.get()));
                }
                // It has ended, and its owner has not got round to removing it.
                occupied.insert(Arc::clone(session));
                None
            }
        }
    }

    /// Removes `session`, if it is still the one of `key`.
    pub(super) fn remove(&self, key: &SessionKey, session: &Arc<Session>) {
        self.table
            .remove_if(key, |_, held| Arc::ptr_eq(held, session));
    }

    /// Whether a complaint may be logged at `now`: once a second in the whole process.
    pub(super) fn may_complain(&self, now: Instant) -> bool {
        let last = self.complained.load(Ordering::Relaxed);
        let quiet = now.duration_since(Instant::from_nanos(last));
        (last == 0 || quiet >= COMPLAINT_INTERVAL)
            && self
                .complained
                .compare_exchange(last, mark(now).max(1), Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }
}

/// Half of the descriptors are for sessions, one each; the others are left to connections, which
/// need two each, to listeners and to the control socket.
///
/// Units: sessions for a soft limit of `descriptors`; `None` is unlimited.
fn limit_for(descriptors: Option<u64>) -> usize {
    let half = descriptors.map_or(LIMIT_MAX as u64, |descriptors| descriptors / 2);
    usize::try_from(half).map_or(LIMIT_MAX, |half| half.min(LIMIT_MAX))
}

/// The instant as it is stored, distinct from [`ENDED`].
fn mark(now: Instant) -> u64 {
    now.as_nanos().min(ENDED - 1)
}

/// The most sessions however many descriptors there are.
///
/// Own choice: about 1 GiB of kernel and user memory at some kilobytes a session.
const LIMIT_MAX: usize = 262_144;
/// Stands for the activity of a session that has ended; the clock gets there after 584 years.
const ENDED: u64 = u64::MAX;
const COMPLAINT_INTERVAL: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests;
