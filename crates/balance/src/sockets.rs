//! What the sockets of a service or of a virtual server's clients are to be like.
//!
//! The core decides nothing by it: it stands among the changes so that one plan tells everything.

use core::net::IpAddr;
use std::time::Duration;

/// The sockets of a service, or of the clients of a virtual server.
/// Shape: the default is what the data plane does by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sockets {
    /// Options of TCP.
    pub tcp: TcpOptions,
    /// The address of this host that services are connected to from; of a virtual server for services that
    /// have none of their own.
    pub source: Option<IpAddr>,
}

/// What a TCP socket is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TcpOptions {
    /// Whether small segments wait for each other.
    pub nagle: bool,
    /// Whether and how an idle connection is probed.
    pub keep_alive: Option<KeepAlive>,
    /// The greatest segment, in bytes; `None` is what the way allows.
    pub max_segment: Option<u32>,
    /// The receive buffer, in bytes; `None` lets the system choose.
    pub receive_buffer: Option<u32>,
    /// The send buffer, in bytes; `None` lets the system choose.
    pub send_buffer: Option<u32>,
}

/// How an idle connection is probed; `None` is as the system does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct KeepAlive {
    /// How long it is idle before.
    pub idle: Option<Duration>,
    /// The time between two probes.
    pub interval: Option<Duration>,
    /// How many without an answer end it.
    pub probes: Option<u32>,
}
