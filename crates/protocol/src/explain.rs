//! The rows of `explain lb vserver`: for each virtual server that is asked one row and then its
//! services, and one row with the outcome at the end. No row grows with the number of services.

use serde::{Deserialize, Serialize};

use crate::SlowStart;

/// A virtual server that is asked to take the flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExplainVserver {
    /// Its name.
    pub vserver: String,
    /// `SERVES`, `KEEPS`, `ACCEPTS`, `OUT OF SERVICE`, `DOWN`, `SPILLING`, `FULL` or `STICKY`.
    pub verdict: String,
    /// Its method.
    pub method: String,
    /// What the client's persistence entry says, if it has one.
    pub persistence: Option<String>,
    /// What decides if it serves the flow.
    pub rule: Option<String>,
    /// What the values of its services count; `None` if nothing is compared.
    pub unit: Option<String>,
}

/// A service of a virtual server that is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExplainService {
    /// Its name.
    pub service: String,
    /// Its state in the words of `show`.
    pub state: String,
    /// Its weight.
    pub weight: u64,
    /// Its order, if it has one.
    pub order: Option<u64>,
    /// What the method looks at.
    pub value: Option<u64>,
    /// `value * 10000 / weight`, rounded down, where that is compared; at most 2^64 - 1.
    pub value_for_weight: Option<u64>,
    /// Whether it stands behind all others because it takes traffic in and gives none back.
    pub stands_behind: bool,
    /// Its slow start, while it is new.
    pub slow_start: Option<SlowStart>,
    /// Why the method leaves it out; empty if it takes part.
    pub excluded: Vec<String>,
    /// Whether it gets the next client.
    pub next: bool,
}

/// What becomes of the flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExplainOutcome {
    /// `SERVICE`, `CHANCE`, `UNKNOWN` or `REFUSED`.
    pub outcome: String,
    /// The virtual server that serves it.
    pub vserver: Option<String>,
    /// The service that gets it, if there is one answer.
    pub service: Option<String>,
    /// Why that is not the virtual server that was asked about: `DOWN` or `SPILLOVER`.
    pub diversion: Option<String>,
    /// Why nobody takes it.
    pub refusal: Option<String>,
    /// The options that have to be given for an answer.
    pub missing: Vec<String>,
    /// The options that could change the answer: without them it is that of a client without a
    /// persistence entry. `token` stands for the bytes a client begins with, which cannot be given.
    pub assumed_without: Vec<String>,
}
