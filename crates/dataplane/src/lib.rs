//! The data plane: moves bytes. Owns sockets, workers, timers and the only clock; asks
//! `sluice_balance::Engine` for every decision.

mod clock;
mod descriptors;
mod driver;
mod flow_rows;
mod listen;
mod listeners;
mod pipes;
mod plane;
mod reactor;
mod relay;
mod ring;
mod shared;
mod sockets;
mod sys;
mod tcp;
mod timers;
mod token;
mod udp;
mod worker;

pub use driver::Driver;
pub use flow_rows::{ChosenService, FlowCursor, FlowPage, FlowState, FlowStatus};
pub use listeners::Prepared;
pub use plane::{Dataplane, Options, PrepareError};
pub use udp::UdpStatus;
