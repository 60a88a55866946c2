//! Typed rows of answers. The front end renders them; field names are the names in `--json`.
//!
//! `settings` holds the value in force of every option of the object, by the spelling of the table
//! (`cltTimeout` -> `9000`), defaults included.
//!
//! # States
//!
//! | `show` | `stat` |
//! |---|---|
//! | `UP` | `UP` |
//! | `DOWN` | `DOWN` |
//! | `UNKNOWN` | `UNKNOWN` |
//! | `OUT OF SERVICE` | `OFS` |
//! | `GOING OUT OF SERVICE` | `TROFS` |
//! | `DOWN WHEN GOING OUT OF SERVICE` | `TROFS_DOWN` |

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::{
    BoundGroup, Connection, Drain, ExplainOutcome, ExplainService, ExplainVserver, ServiceGroupRow,
    ServiceGroupStat, TcpInline,
};

/// One row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Row {
    /// A name, for completion.
    Name(String),
    /// One line of a configuration.
    Line(String),
    /// `show server`
    Server(ServerRow),
    /// `show service`
    Service(ServiceRow),
    /// `show lb vserver`
    Vserver(VserverRow),
    /// `stat service`, and per service of `stat server`
    ServiceStat(ServiceStat),
    /// `stat lb vserver`
    VserverStat(VserverStat),
    /// `stat protocol udp`
    UdpStat(UdpStat),
    /// `show lb group`
    Group(GroupRow),
    /// `show ns tcpProfile`, `show netProfile`, `show lb profile`
    Profile(ProfileRow),
    /// `show lb persistentSessions`
    PersistentSession(PersistentSession),
    /// A virtual server of `explain lb vserver`
    ExplainVserver(ExplainVserver),
    /// A service of the virtual server before it
    ExplainService(ExplainService),
    /// The end of `explain lb vserver`
    ExplainOutcome(ExplainOutcome),
    /// `show ns connectiontable`
    Connection(Connection),
    /// `show lb parameter`
    Parameter(ParameterRow),
    /// `show ns config`
    Config(ConfigStatus),
    /// `show serviceGroup`
    ServiceGroup(ServiceGroupRow),
    /// `stat serviceGroup`
    ServiceGroupStat(ServiceGroupStat),
    /// `show servicegroupbindings`
    ServiceGroupBinding(GroupMember),
}

/// A server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerRow {
    /// Its name.
    pub name: String,
    /// Its address.
    pub address: String,
    /// `ENABLED` or `DISABLED`.
    pub state: String,
    /// Its comment.
    pub comment: Option<String>,
    /// Its services, in the detailed form.
    pub services: Vec<ServerService>,
}

/// A service of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerService {
    /// Its name.
    pub name: String,
    /// Its address.
    pub address: String,
    /// Its port.
    pub port: String,
    /// Its type.
    pub service_type: String,
    /// Its state in the words of `show`.
    pub state: String,
    /// How it goes out of service, while the operator has it go.
    pub drain: Option<Drain>,
}

/// A service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceRow {
    /// Its name.
    pub name: String,
    /// The name of its server.
    pub server: String,
    /// Its address.
    pub address: String,
    /// Its port.
    pub port: String,
    /// Its type.
    pub service_type: String,
    /// Its state in the words of `show`.
    pub state: String,
    /// When the state last changed, milliseconds since 1970 UTC.
    pub state_change_unix_ms: u64,
    /// How long ago that was.
    pub state_age_ms: u64,
    /// How it goes out of service, while the operator has it go.
    pub drain: Option<Drain>,
    /// What its connections say of it, if they are asked.
    pub tcp_inline: Option<TcpInline>,
    /// Options in force.
    pub settings: BTreeMap<String, String>,
}

/// A virtual server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VserverRow {
    /// Its name.
    pub name: String,
    /// Its address; `0.0.0.0` when it has none.
    pub address: String,
    /// Its port; `0` when it has none.
    pub port: String,
    /// Its type.
    pub service_type: String,
    /// Its state in the words of `show`.
    pub state: String,
    /// The state with its backups taken into account.
    pub effective_state: String,
    /// Whether it stays DOWN until it is enabled, whatever its services are.
    pub held_down: bool,
    /// Whether it is UP and passes new clients on to its backup.
    pub spilling_over: bool,
    /// The order of services that takes the traffic; `None` where no service that is UP has one.
    pub active_order: Option<u64>,
    /// When the state last changed, milliseconds since 1970 UTC.
    pub state_change_unix_ms: u64,
    /// How long ago that was.
    pub state_age_ms: u64,
    /// Bound services.
    pub services_total: u64,
    /// Bound services that are UP.
    pub services_active: u64,
    /// Options in force.
    pub settings: BTreeMap<String, String>,
    /// The lb group it is in, whose persistence is its own then.
    pub group: Option<String>,
    /// Its start-up round robin, while that is in force.
    pub startup: Option<StartupRoundRobin>,
    /// The bound services that are no members of service groups, when one virtual server was asked for;
    /// else `None`.
    pub bound: Option<Vec<BoundService>>,
    /// The bound service groups, when one virtual server was asked for; else `None`.
    pub bound_groups: Option<Vec<BoundGroup>>,
}

/// A virtual server that serves in turn in place of its method.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartupRoundRobin {
    /// What began it, in the words of the reference.
    pub reason: String,
    /// Requests still to be given out in turn.
    pub requests_left: u64,
}

/// A bound service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoundService {
    /// Its name.
    pub name: String,
    /// Its address.
    pub address: String,
    /// Its port.
    pub port: String,
    /// Its type.
    pub service_type: String,
    /// Its state in the words of `show`.
    pub state: String,
    /// Its weight.
    pub weight: u64,
    /// Its order.
    pub order: Option<u64>,
    /// Whether it takes clients only when services of a better order cannot.
    pub standby: bool,
    /// Its slow start, while it is new on the virtual server.
    pub slow_start: Option<SlowStart>,
}

/// The slow start of a new service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlowStart {
    /// The limit now: requests per second, or percent of what an existing service gets.
    pub limit: u64,
    /// What `limit` counts: `PER_SECOND` or `PERCENT`.
    pub unit: String,
    /// Requests it got since it is new.
    pub requests: u64,
    /// Requests of the whole virtual server since then.
    pub requests_total: u64,
    /// How long it has been new.
    pub age_ms: u64,
    /// How long until the limit rises; `None` under a manual limit.
    pub next_step_ms: Option<u64>,
    /// How long until it is no longer new, an estimate; `None` under a manual limit.
    pub end_ms: Option<u64>,
}

/// Statistics of a service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(
    missing_docs,
    reason = "the fields are those of sluice_balance::ServiceStatus, documented there"
)]
pub struct ServiceStat {
    pub name: String,
    pub address: String,
    pub port: String,
    pub service_type: String,
    /// Its state in the words of `stat`.
    pub state: String,
    pub active: u64,
    pub hits: u64,
    pub hits_per_s: u64,
    pub request_bytes: u64,
    pub request_bytes_per_s: u64,
    pub response_bytes: u64,
    pub response_bytes_per_s: u64,
    pub packets_received: u64,
    pub packets_sent: u64,
    /// `N` of LEASTBANDWIDTH: bytes both ways over the last 14 s.
    pub window_bytes: u64,
    /// `N` of LEASTPACKETS.
    pub window_packets: u64,
    pub connect_failures: u64,
    pub service_resets: u64,
    /// Flows that it closed without having sent a byte.
    pub service_closes: u64,
    pub client_resets: u64,
    pub idle_closes: u64,
    /// Flows that this host had no port, descriptor or memory for; not the service's fault.
    pub local_failures: u64,
    /// The average time to the first byte of an answer, in microseconds; none before the first.
    pub response_time_us: Option<u64>,
    /// How long the client waits that has waited for longest; none if nobody waits.
    pub longest_wait_us: Option<u64>,
    /// Flows that failed lately and count as connections.
    pub recent_failures: u64,
    /// Whether others come first where traffic is compared, because it gives nothing back.
    pub stands_behind: bool,
    /// What its connections say of it, if they are asked.
    pub tcp_inline: Option<TcpInline>,
}

/// Statistics of a virtual server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(
    missing_docs,
    reason = "the fields are those of sluice_balance::VserverStatus, documented there"
)]
pub struct VserverStat {
    pub name: String,
    pub address: String,
    pub port: String,
    pub service_type: String,
    /// Its state in the words of `stat`.
    pub state: String,
    /// Percent of the bound weight that is UP.
    pub health: u64,
    pub services_active: u64,
    pub services_inactive: u64,
    pub active: u64,
    pub hits: u64,
    pub hits_per_s: u64,
    pub refused: u64,
    pub aborted: u64,
    pub held_down: bool,
    pub spilling_over: bool,
    /// `soThreshold`, 0 where there is none.
    pub spillover_threshold: u64,
    pub spillover_hits: u64,
    pub down_backup_hits: u64,
    pub request_bytes: u64,
    pub request_bytes_per_s: u64,
    pub response_bytes: u64,
    pub response_bytes_per_s: u64,
    pub packets_received: u64,
    pub packets_sent: u64,
    /// Its persistence, if clients stay with a service.
    pub persistence: Option<PersistenceStat>,
    /// The bound services, when one virtual server was asked for; else `None`.
    pub bound: Option<Vec<BoundStat>>,
}

/// The persistence of a virtual server, in an lb group that of the group; or of all together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersistenceStat {
    /// Clients that stay with a service now.
    pub sessions: u64,
    /// The most there may be, of all virtual servers together.
    pub sessions_max: u64,
    /// Requests that were balanced without persistence because there were as many.
    pub table_full: u64,
}

/// A group of virtual servers that share one persistence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupRow {
    /// Its name.
    pub name: String,
    /// Options in force.
    pub settings: BTreeMap<String, String>,
    /// How many virtual servers are in it.
    pub members_total: u64,
    /// Its virtual servers, when one group was asked for; else `None`.
    pub members: Option<Vec<GroupMember>>,
}

/// A virtual server of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupMember {
    /// Its name.
    pub name: String,
    /// Its address; `0.0.0.0` when it has none.
    pub address: String,
    /// Its port; `0` when it has none.
    pub port: String,
    /// Its type.
    pub service_type: String,
    /// Its state in the words of `show`.
    pub state: String,
}

/// A profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileRow {
    /// Its name.
    pub name: String,
    /// Options in force, but for secrets.
    pub settings: BTreeMap<String, String>,
}

/// A client that stays with a service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersistentSession {
    /// `SOURCEIP`, `DESTIP` or `SRCIPDESTIP`.
    pub persistence_type: String,
    /// The client's address, masked, if it counts.
    pub source: Option<String>,
    /// The address the client dialled, masked, if it counts.
    pub destination: Option<String>,
    /// The virtual server that used it last, one of its lb group.
    pub vserver: String,
    /// The service.
    pub service: String,
    /// How long it lives if it is not used, begun seconds included.
    pub timeout_s: u64,
    /// What `clear lb persistentSessions -persistenceParameter` takes for it.
    pub parameter: String,
}

/// What holds for all virtual servers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParameterRow {
    /// Options in force.
    pub settings: BTreeMap<String, String>,
    /// The persistence of all virtual servers together.
    pub persistence: PersistenceStat,
}

/// A bound service in the statistics of its virtual server. `hits` and `active` are those through this
/// virtual server; the windows are the service's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(
    missing_docs,
    reason = "the fields are those of sluice_balance::BindingStatus and ServiceStatus"
)]
pub struct BoundStat {
    pub name: String,
    pub address: String,
    pub port: String,
    pub service_type: String,
    pub state: String,
    pub weight: u64,
    pub order: Option<u64>,
    pub standby: bool,
    pub hits: u64,
    pub active: u64,
    pub window_bytes: u64,
    pub window_packets: u64,
    /// Its slow start, while it is new on the virtual server.
    pub slow_start: Option<SlowStart>,
}

/// The configuration as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigStatus {
    /// Where `save ns config` writes.
    pub path: String,
    /// Now, milliseconds since 1970 UTC.
    pub system_unix_ms: u64,
    /// When the running configuration last changed; `None` when never since the start.
    pub changed_unix_ms: Option<u64>,
    /// When it was last saved; `None` when never since the start.
    pub saved_unix_ms: Option<u64>,
    /// Whether the running configuration differs from the saved file.
    pub unsaved: bool,
    /// Lines of the boot file that failed: `FILE:LINE: ERROR: ...`.
    pub boot_failures: Vec<String>,
    /// Lines of the boot file about features that are not here: how many, by feature.
    pub skipped: BTreeMap<String, u64>,
    /// How long provisional changes can still be confirmed, begun seconds included; `None` when there is
    /// nothing to confirm.
    pub provisional_s: Option<u64>,
    /// What could not be undone of the last provisional changes.
    pub not_undone: Vec<String>,
}

/// UDP in the whole process, since it started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UdpStat {
    /// Sessions open.
    pub sessions: u64,
    /// The most sessions that may be open.
    pub session_limit: u64,
    /// Datagrams dropped because a session more would have exceeded the limit.
    pub dropped_at_limit: u64,
    /// Datagrams dropped because no service could be chosen.
    pub dropped_refused: u64,
    /// Datagrams dropped because a new session got no socket, port or route.
    pub dropped_without_socket: u64,
    /// Datagrams dropped because they were not received whole.
    pub dropped_truncated: u64,
    /// Datagrams dropped because a socket's buffer was full.
    pub dropped_buffer_full: u64,
    /// Datagrams that the system would not send.
    pub dropped_unsendable: u64,
    /// Errors that services or networks reported; they end nothing.
    pub errors_reported: u64,
}
