//! The data plane: moves bytes. Owns sockets, workers, timers and the only clock; asks
//! `sluice_balance::Engine` for every decision.

mod clock;
mod listen;
mod plane;
mod relay;
mod shared;
mod sys;
mod token;
mod udp;

pub use plane::{Dataplane, Options, PrepareError, Prepared};
