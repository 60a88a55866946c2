//! What the core asks the data plane and the daemon to do.

use core::net::SocketAddr;

use crate::{Instant, MonitorId, ProbeId, Protocol, Reservation, ServiceId, State, VserverId};

/// Which flows to end or to move; a `None` matches all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloseFlows {
    /// Only those that this virtual server serves.
    pub vserver: Option<VserverId>,
    /// Only those whose clients dialled this virtual server, whoever serves them.
    pub dialled: Option<VserverId>,
    /// Only those of this service.
    pub service: Option<ServiceId>,
}

impl CloseFlows {
    /// Whether the flow that a reservation was made for is one of them.
    pub fn matches(&self, reservation: &Reservation) -> bool {
        let Self {
            vserver,
            dialled,
            service,
        } = *self;
        vserver.is_none_or(|id| id == reservation.vserver)
            && dialled.is_none_or(|id| id == reservation.dialled)
            && service.is_none_or(|id| id == reservation.service)
    }
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
    /// Let UDP sessions choose a service anew with the next datagram of their client, and end those over
    /// which nothing passes any more.
    MoveFlows(CloseFlows),
    /// A service changed state.
    ServiceState(ServiceId, State, Instant),
    /// A virtual server changed state.
    VserverState(VserverId, State, Instant),
    /// Start a probe and tell [`Engine::handle_probe`](crate::Engine::handle_probe) how it ended.
    StartProbe {
        /// The number to tell it by.
        probe: ProbeId,
        /// Which service.
        service: ServiceId,
        /// By which monitor.
        monitor: MonitorId,
        /// When it is too late to tell: the probe has failed.
        deadline: Instant,
    },
    /// Give up a probe: nobody waits for its end any more.
    CancelProbe(ProbeId),
    /// There are as many persistence entries as there may be: from now on clients that have none are
    /// balanced without one. Said again after the number has been an eighth below the limit.
    PersistenceFull {
        /// The most entries there may be.
        limit: u64,
        /// Since when.
        at: Instant,
    },
}
