//! The balancing core: which service, how much, until when.
//!
//! Owns every decision of the balancer and the state these need: method cursors, the 14 s traffic
//! window, active connections, object states. Knows nothing of names, sockets, threads or clocks:
//! `now` is an argument, what to do comes out as values. Same inputs, same outputs, on any machine.
//!
//! Inputs are [`Engine::apply`] (configuration) and `handle_*` (what happened to a connection); the
//! question is [`Engine::select`]; outputs are `poll_*`.

mod change;
mod counters;
mod engine;
mod flow;
mod ids;
mod method;
mod output;
mod rate;
mod service;
mod services;
mod snapshot;
mod time;
mod timeline;
mod vserver;
mod window;

pub use change::{
    Bind, Change, Method, Protocol, RampUnit, ServiceSettings, SlowStart, VserverSettings,
};
pub use counters::Counters;
pub use engine::Engine;
pub use flow::{CloseReason, FlowKey, Refusal, Reservation, Selection};
pub use ids::{ServiceId, VserverId, Weight, WeightError};
pub use output::{CloseFlows, Output};
pub use snapshot::{BindingStatus, ServiceStatus, Snapshot, State, VserverStatus};
pub use time::Instant;
