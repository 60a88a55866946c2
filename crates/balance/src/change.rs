//! What the configuration tells the core: objects and bindings, by number.

use core::net::SocketAddr;
use std::time::Duration;

use crate::{
    Backup, HashSettings, Leave, MonitorBind, MonitorId, MonitorSettings, Order, Orders,
    PassiveSettings, Percent, Persistence, ServiceId, Sockets, TokenRange, VserverId, Weight,
};

/// What carries the flows of a service or a virtual server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// One flow is one connection.
    Tcp,
    /// One flow is one session: all datagrams of a client address to a listening address.
    Udp,
}

/// How a virtual server chooses among its services.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// In turn, weights interleaved.
    RoundRobin,
    /// Fewest active connections.
    LeastConnection,
    /// Fewest bytes, both ways, over the last 14 s.
    LeastBandwidth,
    /// Fewest packets, both ways, over the last 14 s.
    LeastPackets,
    /// Fewest requests that are under way. A request is a flow here, so it is as
    /// [`Self::LeastConnection`]; the name is kept because it is the operator's.
    LeastRequest,
    /// Fewest active connections, each counted with the time an answer takes.
    LeastResponseTime,
    /// Fewest active connections, each counted with the response time that monitors measure.
    LeastMonitorTime,
    /// Least load that monitors report.
    CustomLoad,
    /// At random, in proportion to the weights.
    Random,
    /// By a hash of the client's address.
    SourceIpHash,
    /// By a hash of the dialled address.
    DestinationIpHash,
    /// By a hash of both addresses.
    SrcIpDestIpHash,
    /// By a hash of the client's address and port.
    SrcIpSrcPortHash,
    /// By a hash of some bytes of the client's; without them as [`Self::LeastConnection`].
    Token(TokenRange),
}

impl Method {
    /// Whether new services of a virtual server with this method are brought in slowly.
    ///
    /// A method that maps a client to a service is exempt: holding a service back would move its
    /// clients to others.
    pub fn has_slow_start(self) -> bool {
        match self {
            Self::RoundRobin
            | Self::LeastConnection
            | Self::LeastBandwidth
            | Self::LeastPackets
            | Self::LeastRequest
            | Self::LeastResponseTime
            | Self::LeastMonitorTime
            | Self::CustomLoad
            | Self::Random => true,
            Self::SourceIpHash
            | Self::DestinationIpHash
            | Self::SrcIpDestIpHash
            | Self::SrcIpSrcPortHash
            | Self::Token(_) => false,
        }
    }

    /// Whether the method compares a number of each service.
    pub(crate) fn compares_load(self) -> bool {
        match self {
            Self::LeastConnection
            | Self::LeastBandwidth
            | Self::LeastPackets
            | Self::LeastRequest
            | Self::LeastResponseTime
            | Self::LeastMonitorTime
            | Self::CustomLoad => true,
            Self::RoundRobin
            | Self::Random
            | Self::SourceIpHash
            | Self::DestinationIpHash
            | Self::SrcIpDestIpHash
            | Self::SrcIpSrcPortHash
            | Self::Token(_) => false,
        }
    }
}

/// The unit of a slow-start rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RampUnit {
    /// Requests per second.
    #[default]
    PerSecond,
    /// Percent of what an existing service gets.
    Percent,
}

/// The slow start of new services on a virtual server.
///
/// Shape: a `rate` of 0 is off, an `interval` of zero manual.
///
/// A service is new there from a bind, an enable or a DOWN to UP on, if the rate is not 0 then.
/// Each new service has a limit of its own: `rate` under a manual one, else
/// `rate * (1 + whole intervals passed)`. Others share what it does not take.
///
/// Changed while services are new: a rate of 0 ends all ramps at once, another one counts at once
/// with the steps made; a new interval begins at the change, with the steps made; a change to
/// manual or of the unit goes back to the first step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SlowStart {
    /// The size of a step.
    pub rate: u32,
    /// What `rate` counts.
    pub unit: RampUnit,
    /// The time between two steps.
    pub interval: Duration,
}

/// All that the core and the data plane need to know of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceSettings {
    /// What carries its flows.
    pub protocol: Protocol,
    /// Where it listens.
    pub address: SocketAddr,
    /// Whether both the service and its server are enabled.
    pub enabled: bool,
    /// The most connections at one time; `None` is no limit.
    pub max_client: Option<u32>,
    /// The most kbit/s, both ways, at which it is given another flow; `None` is no limit.
    ///
    /// It is compared with what flowed over the last second, or up to two: samples are a second
    /// apart. Flows that are open are not slowed down.
    pub max_bandwidth: Option<u32>,
    /// What identifies it to the hash methods in place of its address.
    pub hash_id: Option<u64>,
    /// Whether monitors decide whether it is UP; without them it is UP while it is enabled.
    pub health_monitor: bool,
    /// What the weights of the monitors that find it well have to add up to for it to be UP; at 0 all
    /// of them have to.
    pub monitor_threshold: u32,
    /// How long the service's side may be silent; `None` is for ever.
    pub idle: Option<Duration>,
    /// Whether going down ends the connections.
    pub flush_on_down: bool,
    /// Whether its clients never get an answer, so that silence says nothing.
    pub is_one_way: bool,
}

/// All that the core and the data plane need to know of a virtual server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VserverSettings {
    /// What carries its flows.
    pub protocol: Protocol,
    /// Where clients reach it; `None` is a virtual server that is not addressable.
    pub listen: Option<SocketAddr>,
    /// Whether it takes clients.
    pub enabled: bool,
    /// How it chooses.
    pub method: Method,
    /// How it does so by a hash.
    pub hash: HashSettings,
    /// How long the client's side may be silent; `None` is for ever.
    pub idle: Option<Duration>,
    /// Whether going down ends the connections.
    pub flush_on_down: bool,
    /// Who serves its flows when it cannot.
    pub backup: Backup,
    /// How much of the bound weight has to be UP for the virtual server to be UP. With less it is
    /// DOWN; at 0 one service is enough.
    pub health_threshold: Percent,
    /// Which orders of its services take traffic.
    pub orders: Orders,
    /// How new services are brought in.
    pub slow_start: SlowStart,
    /// Whether and how clients stick to a service.
    pub persistence: Option<Persistence>,
}

/// One service of one virtual server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bind {
    /// The virtual server.
    pub vserver: VserverId,
    /// The service.
    pub service: ServiceId,
    /// Its share.
    pub weight: Weight,
    /// Who takes traffic before it; see [`Orders`].
    pub order: Option<Order>,
}

/// One step of a configuration change. Steps are valid by construction of the plan they come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A service now exists.
    AddService(ServiceId, ServiceSettings),
    /// A service has these settings from now on. Enabled it takes part at once; disabled it goes on
    /// going out of service if it does so, else it is OUT OF SERVICE at once.
    SetService(ServiceId, ServiceSettings),
    /// The operator disabled a service, in this way.
    DisableService(ServiceId, Leave),
    /// A service, unbound everywhere before, is gone.
    RemoveService(ServiceId),
    /// A virtual server now exists.
    AddVserver(VserverId, VserverSettings),
    /// A virtual server has these settings from now on.
    SetVserver(VserverId, VserverSettings),
    /// The operator enabled a virtual server, whether or not it was disabled: it need not stay DOWN.
    EnableVserver(VserverId),
    /// A virtual server and its bindings are gone.
    RemoveVserver(VserverId),
    /// A service joins a virtual server, last in bind order.
    Bind(Bind),
    /// A bound service has this weight and order from now on.
    SetWeight(Bind),
    /// A service leaves a virtual server.
    Unbind(VserverId, ServiceId),
    /// The operator enabled a service, whether or not it was disabled: what its connections have said
    /// of it is forgotten.
    EnableService(ServiceId),
    /// Services are watched like this by their own connections from now on; before, as they are by
    /// default. What has been seen of them stays, unless they are watched no more.
    SetPassive(PassiveSettings),
    /// So many services are tried for one client whose connect fails, at least 1. The core has no use
    /// for it.
    SetConnectTries(u8),
    /// A monitor now exists.
    AddMonitor(MonitorId, MonitorSettings),
    /// A monitor has these settings from now on, or probes in another way. What it has found stays; a
    /// service that it has found DOWN is probed at once.
    SetMonitor(MonitorId, MonitorSettings),
    /// A monitor, unbound everywhere before, is gone.
    RemoveMonitor(MonitorId),
    /// A monitor probes a service from now on, and is last in bind order.
    BindMonitor(MonitorBind),
    /// A monitor of a service has this weight and these states from now on.
    SetMonitorBinding(MonitorBind),
    /// A monitor leaves a service.
    UnbindMonitor(ServiceId, MonitorId),
    /// All virtual servers together may have this many persistence entries. Those that exist stay.
    SetPersistenceLimit(u32),
    /// After a change, a virtual server whose method compares a number gives out so many requests
    /// for each of its services in turn, unless it has a slow start; 0 is off. This is such a change.
    SetStartupFactor(u32),
    /// The sockets to a service are like this from the next flow on. The core has no use for it.
    SetServiceSockets(ServiceId, Sockets),
    /// The sockets of the clients of a virtual server are like this from the next flow on. The core has no
    /// use for it.
    SetVserverSockets(VserverId, Sockets),
}
