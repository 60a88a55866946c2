//! What the core shows of itself at one moment.

use std::time::Duration;

use crate::{Instant, MonitorId, Order, PersistenceStatus, RampUnit, ServiceId, VserverId, Weight};

/// The state of a service or a virtual server; a virtual server has the first, second or fourth.
///
/// Source: NetScaler docs, "Load balancing", states of services.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// Takes new flows.
    Up,
    /// Cannot take new flows.
    Down,
    /// Not probed yet, and takes no new flows until it is.
    Unknown,
    /// Disabled by the operator.
    OutOfService,
    /// Being disabled: its flows go on, and it takes none but those of clients that stick to it.
    GoingOutOfService,
    /// Being disabled, and cannot take new flows.
    DownWhenGoingOutOfService,
}

/// The whole core at one moment. Rows are in the order of their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// All services.
    pub services: Vec<ServiceStatus>,
    /// All virtual servers.
    pub vservers: Vec<VserverStatus>,
}

/// One service at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceStatus {
    /// Which.
    pub id: ServiceId,
    /// Its state.
    pub state: State,
    /// Since when.
    pub since: Instant,
    /// How it goes out of service, while the operator has it go.
    pub drain: Option<DrainStatus>,
    /// Who put it into this state.
    pub reason: StateReason,
    /// Flows now.
    pub active: u64,
    /// Flows ever given to it.
    pub hits: u64,
    /// Flows per second over the last 7 s.
    pub hits_per_s: u64,
    /// Bytes sent to it.
    pub bytes_in: u64,
    /// Bytes received from it.
    pub bytes_out: u64,
    /// Bytes sent to it per second over the last 7 s.
    pub bytes_in_per_s: u64,
    /// Bytes received from it per second over the last 7 s.
    pub bytes_out_per_s: u64,
    /// Packets sent to it.
    pub packets_in: u64,
    /// Packets received from it.
    pub packets_out: u64,
    /// `N` of LEASTBANDWIDTH: bytes both ways over the last 14 s.
    pub window_bytes: u64,
    /// `N` of LEASTPACKETS: packets both ways over the last 14 s.
    pub window_packets: u64,
    /// Flows that could not be connected.
    pub connect_failures: u64,
    /// Flows that the service reset.
    pub service_resets: u64,
    /// Flows that the service closed without having sent a byte.
    pub service_closes: u64,
    /// Flows that the client reset.
    pub client_resets: u64,
    /// Flows ended by an idle limit.
    pub idle_closes: u64,
    /// Flows that this host had no port, descriptor or memory for; not the service's fault.
    pub local_failures: u64,
    /// The average time to the first byte of an answer, failures included; none before the first.
    pub response_time: Option<Duration>,
    /// How long the client has been waiting who has been for longest; none if nobody waits.
    pub longest_wait: Option<Duration>,
    /// Flows that failed lately and therefore count as connections where these are compared.
    pub recent_failures: u64,
    /// Whether it stands behind all others where traffic is compared, because it takes in and gives
    /// nothing back.
    pub stands_behind: bool,
    /// What its connections say of it.
    pub inline: InlineStatus,
    /// Its monitors in bind order.
    pub monitors: Vec<MonitorStatus>,
}

/// Who put a service into its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StateReason {
    /// The operator: a command, whether it named the service, its server or its monitors.
    Operator,
    /// A monitor, by what it found.
    Monitor(MonitorId),
    /// Its own connections, by how they went.
    Traffic,
}

/// What the connections of one service say of it at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InlineStatus {
    /// Whether they are asked: it is one of TCP, and [`PassiveSettings`](crate::PassiveSettings) say so.
    pub is_watched: bool,
    /// Until when it is DOWN because of them.
    pub out_until: Option<Instant>,
    /// Whether it is UP, but takes one flow at a time until one of them decides.
    pub is_on_trial: bool,
    /// Why it is out or on trial.
    pub because: Option<OutBecause>,
    /// Failures since the last success.
    pub failed_in_a_row: u32,
    /// Failures among the last connections that are looked at.
    pub failed: u32,
    /// How many connections these are.
    pub seen: u32,
    /// The last failure, and when it was.
    pub last_failure: Option<(InlineFailure, Instant)>,
    /// When it last answered a client for the first time on a connection.
    pub last_answer: Option<Instant>,
    /// Connections ever that said something.
    pub total: u64,
    /// Those of them that failed.
    pub failed_total: u64,
    /// How often it ever went out.
    pub times_out: u64,
}

/// How a connection showed that its service is not well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InlineFailure {
    /// The connect was refused or timed out.
    ConnectFailed,
    /// The service reset it with client data unanswered.
    Reset,
    /// The service closed it with client data unanswered.
    Closed,
    /// Client data was not answered in time.
    Silent,
    /// Client data was not answered until the client gave up, or an idle limit was reached.
    GaveUp,
}

/// Which rule took a service out because of its connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutBecause {
    /// So many failed one after the other.
    InARow(u32),
    /// Too large a share of them failed.
    Share {
        /// So many.
        failed: u32,
        /// Of the last so many.
        of: u32,
    },
    /// The one failed that was to decide whether it is well again.
    Trial,
}

/// One monitor of one service at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MonitorStatus {
    /// The monitor.
    pub monitor: MonitorId,
    /// What it has found since it last began to probe: UNKNOWN, UP, DOWN or GOING OUT OF SERVICE.
    pub state: State,
    /// Whether it is enabled for this service.
    pub enabled: bool,
    /// Whether it probes: it and the service are enabled too.
    pub is_probed: bool,
    /// What it adds to the sum that the monitor threshold asks for.
    pub weight: Weight,
    /// Whether it only reports.
    pub passive: bool,
    /// Probes ever started.
    pub probes: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// Those that failed since the last one that did not.
    pub failed_in_a_row: u64,
    /// How the last probe ended that has.
    pub last: Option<LastProbe>,
    /// How long the last answer took that was as it should be.
    pub response_time: Option<Duration>,
    /// How long answers take, the last ones together; what came too late counts with its limit.
    pub learned_time: Option<Duration>,
    /// The load that the last answer reported.
    pub load: Option<u64>,
    /// When the next probe starts; none while one is under way.
    pub next: Option<Instant>,
}

/// How a probe ended, and when; one of a reversed monitor the other way round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastProbe {
    /// The service answered as it should.
    Passed(Instant),
    /// It did not, or not in time.
    Failed(Instant),
    /// It answered that it goes out of service.
    OutOfService(Instant),
}

/// How a service goes out of service, at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrainStatus {
    /// Whether it is over with the last flow.
    pub graceful: bool,
    /// When it is over at the latest.
    pub deadline: Option<Instant>,
    /// When it began.
    pub since: Instant,
    /// When the last flow ends if their number goes on falling as over the last minute; `None` if it does
    /// not fall.
    pub last_flow: Option<Instant>,
}

/// One virtual server at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VserverStatus {
    /// Which.
    pub id: VserverId,
    /// Its own state.
    pub state: State,
    /// What clients see: UP while it or one of its chain of backups is UP, else its own state.
    pub effective: State,
    /// Whether it is DOWN until the operator enables it, whatever its services are.
    pub is_held_down: bool,
    /// Whether it is UP and spills: passes new flows on to its backups.
    pub is_spilling: bool,
    /// Since when it has its own state.
    pub since: Instant,
    /// Flows now.
    pub active: u64,
    /// Flows ever given to one of its services.
    pub hits: u64,
    /// Flows per second over the last 7 s.
    pub hits_per_s: u64,
    /// Flows refused because no service could be chosen, here or by a backup.
    pub refused: u64,
    /// Clients that had left before a service was chosen for them.
    pub aborted: u64,
    /// Flows dialled here that a backup was given because this one was DOWN or disabled.
    pub down_backup_hits: u64,
    /// Flows dialled here that a backup was given because this one had no room.
    pub spillover_hits: u64,
    /// Bytes towards the services.
    pub bytes_in: u64,
    /// Bytes from the services.
    pub bytes_out: u64,
    /// Bytes towards the services per second over the last 7 s.
    pub bytes_in_per_s: u64,
    /// Bytes from the services per second over the last 7 s.
    pub bytes_out_per_s: u64,
    /// Packets towards the services.
    pub packets_in: u64,
    /// Packets from the services.
    pub packets_out: u64,
    /// Its persistence, if it has one.
    pub persistence: Option<PersistenceStatus>,
    /// Its start-up round robin, while it serves its services in turn in place of its method.
    pub startup: Option<StartupStatus>,
    /// Its services in bind order.
    pub bindings: Vec<BindingStatus>,
}

/// The start-up round robin of a virtual server at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartupStatus {
    /// What began it.
    pub reason: StartupReason,
    /// Requests that are still to be given out in turn.
    pub left: u64,
}

/// What begins a start-up round robin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StartupReason {
    /// The virtual server was enabled.
    VserverEnabled,
    /// It has another method.
    MethodChanged,
    /// A service that it binds came UP.
    ServiceUp,
    /// A service was bound.
    ServiceBound,
    /// The factor was changed.
    FactorChanged,
}

/// One service of one virtual server at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BindingStatus {
    /// The service.
    pub service: ServiceId,
    /// Its share.
    pub weight: Weight,
    /// Who takes traffic before it.
    pub order: Option<Order>,
    /// Whether it takes flows only when those of a better order cannot.
    pub is_standby: bool,
    /// Its state.
    pub state: State,
    /// Flows this virtual server ever gave to it.
    pub hits: u64,
    /// Flows this virtual server has on it now.
    pub active: u64,
    /// Its slow start, while it is new here.
    pub ramp: Option<RampStatus>,
}

/// The slow start of one new service at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RampStatus {
    /// What `limit` counts.
    pub unit: RampUnit,
    /// The limit now: requests per second, or percent of what an existing service gets.
    pub limit: u64,
    /// Flows given to it since it became new.
    pub chosen: u64,
    /// Flows given to any service of the virtual server since then.
    pub requests: u64,
    /// Since when it is new.
    pub since: Instant,
    /// When the limit rises by a step; none under a manual limit.
    pub next_step: Option<Instant>,
    /// When it is no longer new if the load stays as it is; none under a manual limit.
    ///
    /// An estimate from the request rate for `PER_SECOND`, exact for `PERCENT`; with a method that
    /// compares a number the earliest, since the service has to catch up too.
    pub end: Option<Instant>,
}
