//! The sessions that one worker owns: it reads their replies, and it ends them.
//!
//! Owns the places taken on services and the deadlines. Invariant: exactly one deadline for each
//! session that has an idle limit.
//!
//! The idle rule: a session runs out once no datagram has passed in either direction for the
//! shorter of the client's and the service's idle limit; `None` is no limit. The limits are those
//! at the time the session began; a drain shortens them. A reply that waits unread counts as passed: it is read first.
//!
//! A session that is to leave its service has a short limit, and ends with the next datagram of its client,
//! which begins another under the same key. It is read until its limit is over even so: answers may be under
//! way. Until then the key is that of the new one.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use slab::Slab;
use sluice_balance::{Instant, Protocol, Reservation};

use super::expiry::{Expiry, Handle};
use super::sessions::{Session, SessionKey};
use crate::flow_rows::{FlowState, FlowStatus, PART, ServiceEnd};

/// One session of this worker.
#[derive(Debug)]
pub(super) struct Flow {
    /// Its key.
    pub(super) key: SessionKey,
    /// What all workers use of it.
    pub(super) session: Arc<Session>,
    /// The place on its service.
    pub(super) reservation: Reservation,
    /// Where the service is, and why that one.
    pub(super) service: ServiceEnd,
    /// When it began.
    pub(super) began: Instant,
    /// The listener, by its place, that replies leave through.
    pub(super) listener: usize,
    /// How long it may be silent.
    pub(super) idle: Option<Duration>,
    /// Whether it waits for its next turn of reading.
    pub(super) waiting: bool,
    /// Whether a datagram of the service has come.
    pub(super) answered: bool,
}

impl Flow {
    fn status(&self, now: Instant) -> FlowStatus {
        FlowStatus {
            protocol: Protocol::Udp,
            client: self.key.client,
            dialled_at: self.key.dialled,
            dialled: self.key.vserver,
            service: Some(self.service.chosen(&self.reservation)),
            state: FlowState::Session,
            age: now.duration_since(self.began),
            idle: now.duration_since(self.session.last_activity()),
            bytes: self.session.bytes(),
        }
    }
}

/// All sessions of this worker.
#[derive(Debug, Default)]
pub(super) struct Flows {
    flows: Slab<(u64, Flow)>,
    by_key: HashMap<SessionKey, usize>,
    expiry: Expiry,
    serial: u64,
}

impl Flows {
    /// Returns how many there are.
    pub(super) fn len(&self) -> usize {
        self.flows.len()
    }

    /// Finds a session by its key.
    pub(super) fn find(&self, key: &SessionKey) -> Option<&Arc<Session>> {
        let index = self.by_key.get(key)?;
        self.flows.get(*index).map(|(_, flow)| &flow.session)
    }

    /// Returns the place on its service of the session of `key`, if this worker owns it.
    pub(super) fn reservation(&self, key: &SessionKey) -> Option<&Reservation> {
        let index = self.by_key.get(key)?;
        self.at(*index).map(|flow| &flow.reservation)
    }

    /// Returns the session at a place.
    pub(super) fn at(&self, index: usize) -> Option<&Flow> {
        self.flows.get(index).map(|(_, flow)| flow)
    }

    /// Returns the session at a place.
    pub(super) fn at_mut(&mut self, index: usize) -> Option<&mut Flow> {
        self.flows.get_mut(index).map(|(_, flow)| flow)
    }

    /// Returns the places of the sessions that `matches`.
    pub(super) fn matching(&self, matches: impl Fn(&Flow) -> bool) -> Vec<usize> {
        self.flows
            .iter()
            .filter(|(_, (_, flow))| matches(flow))
            .map(|(index, _)| index)
            .collect()
    }

    /// Shows the sessions at a part of the places, from `from` on, and where the next part begins.
    pub(super) fn list(&self, from: usize, now: Instant) -> (Vec<FlowStatus>, Option<usize>) {
        let end = from + PART;
        let flows = (from..end).filter_map(|index| Some(self.at(index)?.status(now)));
        (
            flows.collect(),
            (end < self.flows.capacity()).then_some(end),
        )
    }

    /// Takes a new session in; returns its place.
    pub(super) fn insert(&mut self, flow: Flow) -> usize {
        self.serial += 1;
        let (key, deadline) = (flow.key, deadline(&flow));
        let index = self.flows.insert((self.serial, flow));
        self.by_key.insert(key, index);
        if let Some(at) = deadline {
            self.expiry.set(
                at,
                Handle {
                    index,
                    serial: self.serial,
                },
            );
        }
        index
    }

    /// Ends the session at a place and takes it out.
    pub(super) fn remove(&mut self, index: usize) -> Option<Flow> {
        let (_, flow) = self.flows.try_remove(index)?;
        flow.session.end();
        if self.by_key.get(&flow.key) == Some(&index) {
            self.by_key.remove(&flow.key);
        }
        let flows = &self.flows;
        self.expiry
            .shrink(flows.len(), |handle| is_alive(flows, handle));
        Some(flow)
    }

    /// Returns when a session may have run out.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.expiry.next()
    }

    /// Lets no session be silent for longer than `limit` from now on.
    pub(super) fn shorten(&mut self, limit: Duration, now: Instant) {
        for (_, (_, flow)) in &mut self.flows {
            flow.idle = Some(flow.idle.map_or(limit, |idle| idle.min(limit)));
        }
        self.set_deadlines(now);
    }

    /// Lets the sessions that `matches` leave their service.
    pub(super) fn let_go(&mut self, matches: impl Fn(&Flow) -> bool, now: Instant) {
        for (_, (_, flow)) in &self.flows {
            if matches(flow) {
                flow.session.set_leaving(true);
            }
        }
        self.set_deadlines(now);
    }

    /// Sets all deadlines anew; what has ended and is still read gets the whole time for it again.
    fn set_deadlines(&mut self, now: Instant) {
        self.expiry = Expiry::default();
        for (index, (serial, flow)) in &self.flows {
            let at = if flow.session.has_ended() {
                Some(now + LEAVING_IDLE)
            } else {
                deadline(flow)
            };
            if let Some(at) = at {
                let serial = *serial;
                self.expiry.set(at, Handle { index, serial });
            }
        }
    }

    /// Finds a session that seems to have run out; the caller reads it and then calls `expire`.
    pub(super) fn pop_due(&mut self, now: Instant) -> Option<usize> {
        while let Some(handle) = self.expiry.pop_due(now) {
            if !is_alive(&self.flows, handle) {
                continue;
            }
            match self.at(handle.index).and_then(deadline) {
                Some(at) if at > now => self.expiry.set(at, handle),
                Some(_) => return Some(handle.index),
                None => {}
            }
        }
        None
    }

    /// Takes out the session that `pop_due` gave, or sets its deadline again if it is in use after
    /// all.
    pub(super) fn expire(&mut self, index: usize, now: Instant) -> Option<Flow> {
        let (serial, flow) = self.flows.get(index)?;
        let seen = flow.session.last_activity();
        let is_over = deadline(flow).is_some_and(|at| at <= now);
        if flow.session.has_ended() || is_over && flow.session.end_if_unused_since(seen) {
            return self.remove(index);
        }
        let (serial, again) = (*serial, deadline(flow)?);
        self.expiry.set(again, Handle { index, serial });
        None
    }
}

fn is_alive(flows: &Slab<(u64, Flow)>, handle: Handle) -> bool {
    flows
        .get(handle.index)
        .is_some_and(|(serial, _)| *serial == handle.serial)
}

/// When a session runs out; at once if it has ended, at the deadline that was set while it had not.
fn deadline(flow: &Flow) -> Option<Instant> {
    if flow.session.has_ended() {
        return Some(Instant::default());
    }
    let leaving = flow.session.is_leaving().then_some(LEAVING_IDLE);
    let idle = flow.idle.into_iter().chain(leaving).min()?;
    Some(flow.session.last_activity() + idle)
}

/// How long a session may be silent that is to leave its service: an answer under way takes less.
pub(super) const LEAVING_IDLE: Duration = Duration::from_secs(2);
