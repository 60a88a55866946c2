//! The control protocol between shell and daemon.
//!
//! Frames over a Unix socket: a length (u32, big endian, at most [`FRAME_MAX`]), then one bincode
//! message. Both sides first send a [`Hello`]; then the client sends [`Request`]s one at a time and
//! gets for each any number of [`Reply::Row`] and [`Reply::Warning`], then exactly one [`Reply::Done`]
//! or [`Reply::Error`].
//!
//! The shape of [`Hello`] never changes, so that any two versions can tell each other apart.

mod client;
mod codec;
mod connection;
mod drain;
mod explain;
mod message;
mod paths;
mod rows;
mod service_group;
mod tcp_inline;

pub use client::{Client, ClientError, Event, Foreign, Outcome};
pub use codec::{DecodeError, EncodeError, FrameBuffer, FrameError, decode, encode, frame};
pub use connection::{Connection, ConnectionService};
pub use drain::{Drain, DrainClient};
pub use explain::{ExplainOutcome, ExplainService, ExplainVserver};
pub use message::{FRAME_MAX, Hello, Reply, Request, VERSION};
pub use paths::{config_of, default_config, default_socket, socket_of};
pub use rows::{
    BoundService, BoundStat, ConfigStatus, GroupMember, GroupRow, ParameterRow, PersistenceStat,
    PersistentSession, ProfileRow, Row, ServerRow, ServerService, ServiceRow, ServiceStat,
    SlowStart, StartupRoundRobin, UdpStat, VserverRow, VserverStat,
};
pub use service_group::{BoundGroup, ServiceGroupMember, ServiceGroupRow, ServiceGroupStat};
pub use tcp_inline::TcpInline;
