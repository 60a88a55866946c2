//! What is known of a probe that has ended.

use std::time::Duration;

/// One probe that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// How it ended.
    pub outcome: Outcome,
    /// The load that was reported, if the check asks for one.
    pub load: Option<u64>,
    /// The last response, such as `Success - TCP syn+ack received.`
    pub text: String,
    /// The first bytes of what was sent, escaped; empty if nothing was.
    pub sent: String,
    /// The first bytes of what was received, escaped; empty if nothing was.
    pub received: String,
    /// What the answer was held against, in words; empty if it came to nothing of the kind.
    pub compared: String,
    /// From what the check measures from (the first packet, or the request) to its end.
    pub took: Duration,
}

/// How a probe ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// As it should.
    Passed,
    /// Otherwise.
    Failed,
    /// The server says that it goes out of service.
    OutOfService,
}
