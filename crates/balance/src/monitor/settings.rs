//! What the configuration tells of monitors, and what comes back from their probes.

use std::time::Duration;

use crate::{MonitorId, ServiceId, Weight};

/// One `lb monitor`, as far as the core decides: when to probe and what the results mean. What a
/// probe sends and expects is not known here.
///
/// The limits of the numbers are the command language's; what lies outside is taken for the nearest
/// number that makes sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MonitorSettings {
    /// Whether it probes at all.
    pub enabled: bool,
    /// From one probe of a service to the next, start to start.
    pub interval: Duration,
    /// The longest that a probe may take.
    pub response_timeout: Duration,
    /// From a failed probe of a service that is DOWN to the next.
    pub down_time: Duration,
    /// Of how many probes in a row the failed ones are counted, 1–127.
    pub retries: u8,
    /// How many of them must have failed to make a service DOWN; 0 is all of them.
    pub failure_retries: u8,
    /// How many probes in a row must have passed to bring a service that is DOWN back, 1–32.
    pub success_retries: u8,
    /// Whether a probe that fails has passed, and the other way round.
    pub reverse: bool,
    /// LRTM: whether it learns how long a service takes to answer.
    pub learns_response_time: bool,
    /// By how much a probe may exceed the learned response time before it has failed; zero is up to
    /// `response_timeout`, as for a monitor that learns nothing.
    pub deviation: Duration,
    /// Whether a probe has passed that has heard nothing in time, as of a datagram that needs no
    /// answer.
    pub silence_passes: bool,
}

impl MonitorSettings {
    /// Returns how many of the last probes are looked at.
    pub(crate) fn looked_at(&self) -> u32 {
        u32::from(self.retries.clamp(1, 127))
    }

    /// Returns how many of them must have failed.
    pub(crate) fn failures_to_down(&self) -> u32 {
        match u32::from(self.failure_retries) {
            0 => self.looked_at(),
            some => some.min(self.looked_at()),
        }
    }

    /// Returns how many must have passed in a row.
    pub(crate) fn successes_to_up(&self) -> u8 {
        self.success_retries.max(1)
    }

    /// Returns the interval: at least a millisecond, so that there are other things to do.
    pub(crate) fn spacing(&self) -> Duration {
        self.interval.max(Duration::from_millis(1))
    }
}

/// The settings that a monitor has unless it is told otherwise.
///
/// Source: NetScaler docs, "lb monitor".
impl Default for MonitorSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            interval: Duration::from_secs(5),
            response_timeout: Duration::from_secs(2),
            down_time: Duration::from_secs(30),
            retries: 3,
            failure_retries: 0,
            success_retries: 1,
            reverse: false,
            learns_response_time: false,
            deviation: Duration::ZERO,
            silence_passes: false,
        }
    }
}

/// One monitor of one service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MonitorBind {
    /// The service.
    pub service: ServiceId,
    /// The monitor.
    pub monitor: MonitorId,
    /// Whether it probes this service.
    pub enabled: bool,
    /// What it adds to the sum that `monitor_threshold` asks for.
    pub weight: Weight,
    /// Whether it only reports, and the state of the service does not depend on it.
    pub passive: bool,
}

/// How a probe ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeResult {
    /// The service answered as it should.
    Passed {
        /// How long that took.
        took: Duration,
        /// The load it reported, if it was asked for one.
        load: Option<u64>,
    },
    /// It did not.
    Failed,
    /// It answered that it is going out of service.
    OutOfService,
}
