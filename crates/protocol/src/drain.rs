//! How a service goes out of service, in the rows of `show`.

use serde::{Deserialize, Serialize};

/// A service that goes out of service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drain {
    /// Whether it is out of service with its last client.
    pub graceful: bool,
    /// How long it has been going.
    pub age_ms: u64,
    /// How long until it is out of service at the latest; `None` is as long as it takes.
    pub left_ms: Option<u64>,
    /// Clients it has: connections and UDP sessions.
    pub clients: u64,
    /// How long until the last client is gone if they go on leaving as over the last minute; `None` if
    /// they do not get fewer.
    pub last_client_ms: Option<u64>,
    /// Who has been there for longest, if anybody is there.
    pub oldest: Option<DrainClient>,
    /// Who has been silent for longest.
    pub idlest: Option<DrainClient>,
}

/// A client of a service that goes out of service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrainClient {
    /// Its address and port.
    pub address: String,
    /// How long it has been there.
    pub age_ms: u64,
    /// How long nothing has passed either way.
    pub idle_ms: u64,
}
