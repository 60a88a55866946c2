//! The data plane: moves bytes. Owns sockets, workers, timers and the only clock; asks
//! `sluice_balance::Engine` for every decision.

mod clock;
mod descriptors;
mod flow_rows;
mod listen;
mod listeners;
mod pipes;
mod plane;
mod relay;
mod shared;
mod sockets;
mod sys;
mod tcp;
mod timers;
mod token;
mod udp;
mod worker;

pub use flow_rows::{ChosenService, FlowCursor, FlowPage, FlowState, FlowStatus};
pub use listeners::Prepared;
pub use plane::{Dataplane, Options, PrepareError};
pub use udp::UdpStatus;
