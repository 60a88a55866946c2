//! What the core asks the data plane and the daemon to do.

use core::net::SocketAddr;

use crate::{Instant, Protocol, ServiceId, State, VserverId};

/// Which flows to end; a `None` matches all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloseFlows {
    /// Only those of this virtual server.
    pub vserver: Option<VserverId>,
    /// Only those of this service.
    pub service: Option<ServiceId>,
}

/// One thing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Serve this address, with the sockets prepared for it.
    OpenListener {
        /// For this virtual server.
        vserver: VserverId,
        /// With this protocol.
        protocol: Protocol,
        /// At this address.
        address: SocketAddr,
    },
    /// Stop serving the virtual server's address and close its sockets.
    CloseListener(VserverId),
    /// End flows now.
    CloseFlows(CloseFlows),
    /// A service changed state.
    ServiceState(ServiceId, State, Instant),
    /// A virtual server changed state.
    VserverState(VserverId, State, Instant),
    /// There are as many persistence entries as there may be: from now on clients that have none are
    /// balanced without one. Said again after the number has been an eighth below the limit.
    PersistenceFull {
        /// The most entries there may be.
        limit: u64,
        /// Since when.
        at: Instant,
    },
}
