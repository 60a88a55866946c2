//! The rows of `show ns connectiontable`: one for each open connection or UDP session.

use serde::{Deserialize, Serialize};

/// An open connection, or a UDP session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connection {
    /// The client's address.
    pub source: String,
    /// The client's port.
    pub source_port: u64,
    /// The address that the client dialled.
    pub destination: String,
    /// The port that the client dialled.
    pub destination_port: u64,
    /// `TCP` or `UDP`.
    pub protocol: String,
    /// The type of the virtual server; `None` if that has been removed.
    pub service_type: Option<String>,
    /// `SYN_SENT` while the service is being connected; then that of the client's side: `ESTABLISHED`,
    /// `CLOSE_WAIT`, `FIN_WAIT_2`, `CLOSING`. `NOT_APPLICABLE` for UDP.
    pub state: String,
    /// The virtual server that was dialled; `None` if it has been removed.
    pub vserver: Option<String>,
    /// The service and why it; `None` while the client's first bytes are waited for.
    pub service: Option<ConnectionService>,
    /// How long ago it began.
    pub age_ms: u64,
    /// How long nothing has moved.
    pub idle_ms: u64,
    /// Bytes that went to the service.
    pub request_bytes: u64,
    /// Bytes that came from the service.
    pub response_bytes: u64,
}

/// The service of a connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectionService {
    /// Its name; `None` if it has been removed.
    pub name: Option<String>,
    /// Where it was when it was chosen.
    pub address: String,
    /// Its port then.
    pub port: u64,
    /// The virtual server that serves, a backup perhaps; `None` if it has been removed.
    pub vserver: Option<String>,
    /// Why that is not the one that was dialled: `DOWN` or `SPILLOVER`.
    pub diversion: Option<String>,
    /// The method of the virtual server that serves, at that time.
    pub method: String,
    /// What decided, in the words of `explain lb vserver`.
    pub rule: String,
}
