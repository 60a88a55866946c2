//! What the connections of a service say of it, in the rows of `show` and `stat`.

use serde::{Deserialize, Serialize};

/// A service watched by its own connections: the monitor TCP-INLINE.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcpInline {
    /// `DOWN` while they keep the service so, else `UP`.
    pub state: String,
    /// Whether it takes one connection at a time until one of them decides.
    pub on_trial: bool,
    /// Why it is DOWN or on trial, such as `9 failures in a row`.
    pub reason: Option<String>,
    /// How long until a connection tries it, while it is DOWN.
    pub trial_ms: Option<u64>,
    /// Connections ever that said something.
    pub connections: u64,
    /// Those of them that failed.
    pub failed_total: u64,
    /// Those that failed since the last one that did not.
    pub failed_current: u64,
    /// Those that failed of the last `sample`.
    pub failed_lately: u64,
    /// Connections looked at for their share of failures.
    pub sample: u64,
    /// How often it ever went DOWN.
    pub times_down: u64,
    /// How the last of them went, such as `Failure - TCP connection failed`; `None` before the first.
    pub last_response: Option<String>,
    /// How long ago that was.
    pub last_response_age_ms: Option<u64>,
}
