//! One flow: who asks, what was chosen for it, how it ended.

use core::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use crate::waiting::FlowSlot;
use crate::{Counters, Method, ServiceId, Token, VserverId};

/// What a choice may look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FlowKey {
    /// The client.
    pub src: SocketAddr,
    /// The address the client dialled.
    pub dst: SocketAddr,
    /// What its first bytes say, if the virtual server looks at them and they came in time.
    pub token: Option<Token>,
}

/// The place taken on a service by one flow.
///
/// Given back once, with `Engine::handle_close` or, if no flow came of it, `Engine::handle_unused`:
/// both consume it. It stays valid when what it names is removed or unbound meanwhile.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a reservation that is not given back keeps its connection active for ever"]
pub struct Reservation {
    /// Who serves the flow.
    pub(crate) vserver: VserverId,
    /// Who was dialled.
    pub(crate) dialled: VserverId,
    /// Why the two differ.
    pub(crate) diversion: Option<Diversion>,
    pub(crate) service: ServiceId,
    /// The serial of the binding it was given through.
    pub(crate) binding: u64,
    /// Its number among the choices of the virtual server.
    pub(crate) choice: u64,
    /// The entry of its flow.
    pub(crate) flow: FlowSlot,
    /// What a service in its slow start paid for it; none if the service was not new.
    pub(crate) paid: Option<u32>,
    /// Whether it is the flow's first place here, which the virtual server counted as a hit.
    pub(crate) first: bool,
}

impl Reservation {
    /// Returns the virtual server that serves the flow.
    pub fn vserver(&self) -> VserverId {
        self.vserver
    }

    /// Returns the virtual server that the client dialled: the one that serves the flow, or one of
    /// whose chain of backups that is.
    pub fn dialled(&self) -> VserverId {
        self.dialled
    }

    /// Returns why a backup serves the flow; none if the dialled virtual server does.
    pub fn diversion(&self) -> Option<Diversion> {
        self.diversion
    }

    /// Returns the service of the flow.
    pub fn service(&self) -> ServiceId {
        self.service
    }
}

/// A choice, with all the data plane needs to carry the flow.
#[derive(Debug)]
pub struct Selection {
    /// The place taken.
    pub reservation: Reservation,
    /// Where to connect to.
    pub address: SocketAddr,
    /// Counts the flow's traffic on the service.
    pub service_counters: Arc<Counters>,
    /// Counts the flow's traffic on the virtual server.
    pub vserver_counters: Arc<Counters>,
    /// How long the client's side may be silent.
    pub client_idle: Option<Duration>,
    /// How long the service's side may be silent.
    pub service_idle: Option<Duration>,
    /// What decided.
    pub rule: ChosenBy,
    /// The method of the virtual server that serves the flow.
    pub method: Method,
    /// By what the method found the service; none if the client sticks to it.
    pub grounds: Option<Grounds>,
}

/// What decided on the service of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChosenBy {
    /// The client sticks to it.
    Persistence,
    /// The virtual server's method.
    Method,
}

/// By what a method found a service, as far as a choice knows without a look at all services: how many
/// were equal, or were left out, only [`Engine::explain`](crate::Engine::explain) finds out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Grounds {
    /// The service's turn.
    Turn,
    /// The least value for its weight.
    Least,
    /// Chance.
    Chance,
    /// The hash of the client with each service.
    Hash,
    /// The place of the client's hash in a table.
    HashTable,
}

/// Why a flow is served by a backup of the virtual server that was dialled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Diversion {
    /// That one is DOWN, or disabled.
    Down,
    /// That one has no room: it spills, or all its services that are UP are full or failed this
    /// flow; or the client keeps to the backup since it had none.
    Spillover,
}

/// Why no service could be chosen: what keeps the virtual server that was dialled from taking the
/// flow, none of its backups being able to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// The virtual server is gone.
    NoVserver,
    /// The virtual server is disabled.
    OutOfService,
    /// No bound service is UP (or none is bound).
    Down,
    /// The virtual server is UP and spills.
    Spilling,
    /// Every service that is UP is at `maxClient` or `maxBandwidth`, or was excluded by the caller; or
    /// the one that the client sticks to is at a limit, and its persistence is not to be skipped.
    Full,
}

/// How a flow ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CloseReason {
    /// Both sides finished, or a UDP session ran out.
    Finished,
    /// The service could not be connected to: refused, unreachable or timed out.
    ConnectFailed,
    /// The client reset.
    ClientReset,
    /// The service reset.
    ServiceReset,
    /// The service closed first, without having sent a byte.
    ServiceClosed,
    /// An idle limit was reached.
    IdleLimit,
    /// The configuration or a shutdown ended it.
    Flushed,
    /// The balancer had no socket, port or memory for it; not the service's fault.
    Local,
}
