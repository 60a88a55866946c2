//! The rows about service groups.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::{BoundService, Drain, ServiceStat, TcpInline};

/// A service group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceGroupRow {
    /// Its name.
    pub name: String,
    /// Its type.
    pub service_type: String,
    /// `ENABLED` or `DISABLED`.
    pub state: String,
    /// What its members are together: a word of `show`, `PARTIAL-UP` or `PARTIAL-DOWN`.
    pub effective_state: String,
    /// Options in force.
    pub settings: BTreeMap<String, String>,
    /// How many members it has.
    pub members_total: u64,
    /// How many of them are UP.
    pub members_active: u64,
    /// The members, where they were asked for; else `None`.
    pub members: Option<Vec<ServiceGroupMember>>,
}

/// A member of a service group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceGroupMember {
    /// The name of its server.
    pub server: String,
    /// Its address.
    pub address: String,
    /// Its port.
    pub port: String,
    /// Its state in the words of `show`.
    pub state: String,
    /// When the state last changed, milliseconds since 1970 UTC.
    pub state_change_unix_ms: u64,
    /// How long ago that was.
    pub state_age_ms: u64,
    /// How it goes out of service, while it does.
    pub drain: Option<Drain>,
    /// What its connections say of it, if they are asked.
    pub tcp_inline: Option<TcpInline>,
    /// The options in force that are its own.
    pub settings: BTreeMap<String, String>,
}

/// A service group of a virtual server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoundGroup {
    /// Its name, which is also that of its members here.
    pub name: String,
    /// The order of members that have none of their own.
    pub order: Option<u64>,
    /// Its members.
    pub members: Vec<BoundService>,
}

/// Statistics of a service group: those of its members together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(
    missing_docs,
    reason = "the fields are the sums of those of ServiceStat"
)]
pub struct ServiceGroupStat {
    pub name: String,
    pub service_type: String,
    /// What its members are together: a word of `stat`, `PARTIAL-UP` or `PARTIAL-DOWN`.
    pub state: String,
    pub members_active: u64,
    pub members_inactive: u64,
    pub active: u64,
    pub hits: u64,
    pub hits_per_s: u64,
    pub request_bytes: u64,
    pub request_bytes_per_s: u64,
    pub response_bytes: u64,
    pub response_bytes_per_s: u64,
    pub packets_received: u64,
    pub packets_sent: u64,
    pub window_bytes: u64,
    pub window_packets: u64,
    /// The members, when one group was asked for; else `None`.
    pub members: Option<Vec<ServiceStat>>,
}
