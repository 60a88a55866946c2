//! Some services, some of them faulty, behind the product's own engine, on a clock of its own.
//!
//! Owns the calls that are under way and when they end. Who calls and when is up to the caller. Whatever
//! is random follows from the seed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use sluice_balance::{CloseReason, Instant, Selection};

use crate::random::Random;
use crate::sim::Sim;

/// What a good call takes on average; it takes from half of that to one and a half of it.
///
/// A fixed time would let all clients go round in step, which no real ones do.
pub const GOOD_CALL: Duration = Duration::from_millis(10);

/// How long a client waits for an answer.
pub const TIME_LIMIT: Duration = Duration::from_secs(1);

/// How long a service that fails fast takes to close the connection.
pub const FAST_FAILURE: Duration = Duration::from_micros(100);

/// What the faulty services do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// They accept and stay silent; the client gives up at [`TIME_LIMIT`].
    Hang,
    /// They accept and close.
    FastClose,
}

/// What an experiment sets up.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// As `-lbMethod` spells it.
    pub method: &'static str,
    /// How many services there are.
    pub services: usize,
    /// How many of them are faulty: the first ones.
    pub faulty: usize,
    /// What those do.
    pub fault: Fault,
    /// Whether the engine hears what the data plane tells it: first client data, first answers, and why
    /// a flow ended. Without, nothing is noticed of a failure, as the formulas suppose.
    pub reports: bool,
}

/// A call that has ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// Who called.
    pub caller: usize,
    /// Whether it failed.
    pub lost: bool,
}

/// The services and the calls under way.
pub struct Cluster {
    setup: Setup,
    sim: Sim,
    /// The source of all that is random, for callers too.
    pub random: Random,
    ends: BinaryHeap<Reverse<(Instant, usize)>>,
    calls: Vec<Option<Call>>,
    free: Vec<usize>,
}

struct Call {
    caller: usize,
    lost: bool,
    selection: Selection,
}

impl Cluster {
    /// Makes the services, idle.
    pub fn new(setup: Setup, seed: u64) -> Self {
        let mut sim = Sim::with_seed(
            seed,
            // The methods alone: services that go out because of their connections are measured with
            // real sockets.
            &format!(
                "set lb parameter -tcpInline DISABLED\nadd lb vserver v1 TCP -lbMethod {}",
                setup.method
            ),
        );
        for number in 1..=setup.services {
            // The port is the number, by which a choice is known again.
            sim.type_lines(&format!(
                "add service s{number} 10.0.0.{number} TCP {number}\nbind lb vserver v1 s{number}"
            ));
        }
        Self {
            setup,
            sim,
            random: Random::new(seed),
            ends: BinaryHeap::new(),
            calls: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Returns the time.
    pub fn now(&self) -> Instant {
        self.sim.now()
    }

    /// Returns a time from none up to `length`.
    pub fn random_time(&mut self, length: Duration) -> Duration {
        let nanos = u64::try_from(length.as_nanos()).expect("experiments are short");
        Duration::from_nanos(self.random.below(nanos))
    }

    /// Moves the time on to `until`, which is not before the end of any call under way.
    pub fn run_to(&mut self, until: Instant) {
        let length = until.duration_since(self.now());
        self.sim.step(length);
    }

    /// Starts a call; the engine says where.
    pub fn call(&mut self, caller: usize) {
        let selection = self.sim.connect("v1").expect("all services are UP");
        let lost = usize::from(selection.address.port()) <= self.setup.faulty;
        if self.setup.reports {
            self.sim.ask(&selection);
        }
        let length = match (lost, self.setup.fault) {
            (true, Fault::Hang) => TIME_LIMIT,
            (true, Fault::FastClose) => FAST_FAILURE,
            (false, Fault::Hang | Fault::FastClose) => GOOD_CALL / 2 + self.random_time(GOOD_CALL),
        };
        let call = Some(Call {
            caller,
            lost,
            selection,
        });
        let slot = self.free.pop().unwrap_or(self.calls.len());
        if slot == self.calls.len() {
            self.calls.push(call);
        } else {
            self.calls[slot] = call;
        }
        self.ends.push(Reverse((self.now() + length, slot)));
    }

    /// Returns when the next call ends, if any is under way.
    pub fn next_end(&self) -> Option<Instant> {
        self.ends.peek().map(|Reverse((end, _))| *end)
    }

    /// Lets the next call end; none if none is under way.
    pub fn end_next(&mut self) -> Option<Ended> {
        let Reverse((end, slot)) = self.ends.pop()?;
        self.run_to(end);
        self.free.push(slot);
        let call = self.calls[slot].take().expect("each call ends once");
        if !call.lost {
            call.selection.service_counters.add_out(ANSWER_BYTES, 1);
            if self.setup.reports {
                self.sim.answer(&call.selection);
            }
        }
        let reason = match (self.setup.reports && call.lost, self.setup.fault) {
            (true, Fault::Hang) => CloseReason::ClientReset,
            (true, Fault::FastClose) => CloseReason::ServiceClosed,
            (false, Fault::Hang | Fault::FastClose) => CloseReason::Finished,
        };
        self.sim.end(call.selection, reason);
        Some(Ended {
            caller: call.caller,
            lost: call.lost,
        })
    }
}

/// What an answer adds to the service's bytes.
const ANSWER_BYTES: u64 = 1_000;
