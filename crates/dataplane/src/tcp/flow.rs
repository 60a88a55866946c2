//! One TCP flow of a worker, from accept to close.
//!
//! ```text
//! accept -> Connecting -- connected ---------------------> Relaying -- done, reset, idle --> Closed
//!               |  ^ refused or timed out, tries left         |
//!               +--+                                          +-- flushed --> Closed
//!               +-- client gone, no service, no try left ------------------> Closed
//! ```
//!
//! With a ring, a flow that has operations in flight waits for their end between these and `Closed`.
//!
//! Where a token decides, the client's first bytes are waited for before a service is chosen: see
//! `first_bytes`. A closed flow keeps its place in the table until the batch of events is over, because an event of
//! its sockets may still be in that batch.

use std::os::fd::OwnedFd;

use sluice_balance::{CloseFlows, FlowKey, Instant, Protocol, Selection, ServiceId, VserverId};

use super::driver::Legs;
use super::first_bytes::FirstBytes;
use super::in_flight::InFlight;
use crate::descriptors::Claim;
use crate::flow_rows::{FlowState, FlowStatus, ServiceEnd};
use crate::relay::{Outcome, Ready, Relay};
use crate::ring::Lent;
use crate::timers::Timer;

/// One flow.
#[derive(Debug)]
pub(super) struct Flow {
    pub(super) stage: Stage,
    pub(super) timer: Timer,
    /// What it has with the ring; nothing without one.
    pub(super) in_flight: InFlight,
    accepted_at: Instant,
    /// Whether it waits in the backlog for its next turn.
    pub(super) queued: bool,
    /// Its descriptors; `None` once they are closed.
    pub(super) claim: Option<Claim>,
}

/// How far a flow is.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all flows are in the large variant, a box would only be one more allocation"
)]
pub(super) enum Stage {
    /// A service is being chosen or connected, or the client's first bytes are waited for.
    Connecting(Box<Connecting>),
    /// Bytes go to and fro.
    Relaying(Legs, Relay),
    /// It is over, and what it has in flight is being ended.
    Ending(Box<Remains>),
    /// Nothing is left.
    Closed,
}

/// A flow whose service is not connected yet. The client's bytes wait in its socket.
#[derive(Debug)]
pub(super) struct Connecting {
    pub(super) client: OwnedFd,
    pub(super) vserver: VserverId,
    pub(super) key: FlowKey,
    /// Whether a service can be chosen.
    pub(super) first_bytes: FirstBytes,
    /// Services that did not answer.
    pub(super) tried: Vec<ServiceId>,
    /// What the client's socket has told so far.
    pub(super) client_ready: Ready,
    /// Whether the client's socket has been registered.
    pub(super) registered: bool,
    /// What the ring has received of the client.
    pub(super) early: Option<Early>,
    pub(super) attempt: Option<Attempt>,
}

/// The end of a receive that the relay has not asked for yet.
#[derive(Debug)]
pub(super) struct Early {
    pub(super) outcome: Outcome,
    pub(super) lent: Option<Lent>,
}

/// What must not go before all that is in flight has ended.
#[derive(Debug, Default)]
pub(super) struct Remains {
    pub(super) sockets: [Option<OwnedFd>; 2],
    pub(super) lent: [Option<Lent>; 2],
}

/// A connect under way.
#[derive(Debug)]
pub(super) struct Attempt {
    pub(super) service: OwnedFd,
    pub(super) selection: Selection,
    pub(super) deadline: Instant,
}

impl Flow {
    pub(super) fn new(connecting: Connecting, claim: Claim, now: Instant) -> Self {
        Self {
            accepted_at: now,
            stage: Stage::Connecting(Box::new(connecting)),
            timer: Timer::default(),
            in_flight: InFlight::default(),
            queued: false,
            claim: Some(claim),
        }
    }

    /// Whether `which` is about this flow.
    pub(super) fn matches(&self, which: CloseFlows) -> bool {
        let reservation = match &self.stage {
            Stage::Connecting(connecting) => match &connecting.attempt {
                Some(attempt) => &attempt.selection.reservation,
                None => return false,
            },
            Stage::Relaying(legs, _) => &legs.reservation,
            Stage::Ending(_) | Stage::Closed => return false,
        };
        which.matches(reservation)
    }

    /// Says how it stands at `now`; nothing once it is closed.
    pub(super) fn status(&self, now: Instant) -> Option<FlowStatus> {
        let age = now.duration_since(self.accepted_at);
        Some(match &self.stage {
            Stage::Connecting(connecting) => FlowStatus {
                protocol: Protocol::Tcp,
                client: connecting.key.src,
                dialled_at: connecting.key.dst,
                dialled: connecting.vserver,
                service: connecting.attempt.as_ref().map(|attempt| {
                    let chosen = &attempt.selection;
                    ServiceEnd::new(chosen).chosen(&chosen.reservation)
                }),
                state: match connecting.attempt {
                    Some(_) => FlowState::Connecting,
                    None => FlowState::AwaitsClient,
                },
                age,
                idle: age,
                bytes: [0; 2],
            },
            Stage::Relaying(legs, relay) => FlowStatus {
                protocol: Protocol::Tcp,
                client: legs.ends.client(),
                dialled_at: legs.ends.dialled_at(),
                dialled: legs.reservation.dialled(),
                service: Some(legs.ends.service.chosen(&legs.reservation)),
                state: relay.state(),
                age,
                idle: now.duration_since(relay.moved_at()),
                bytes: legs.traffic.bytes(),
            },
            Stage::Ending(_) | Stage::Closed => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_flow_is_small() {
        assert!(size_of::<Flow>() <= 512, "{} bytes", size_of::<Flow>());
    }
}
