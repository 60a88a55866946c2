//! What a client saw, in one line of JSON.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// The result of one run of a client. What a kind of client does not measure is 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sample {
    /// Connections, requests or datagrams per second that were answered; bits per second for bulk.
    pub(crate) rate: f64,
    /// All that was done, warm-up included, in the unit that the processor time is divided by:
    /// connections, requests, datagrams or bytes.
    pub(crate) operations: u64,
    /// The time of an answer, in microseconds: the median.
    pub(crate) p50_us: f64,
    /// The time of an answer, in microseconds, that 1 of 100 is above.
    pub(crate) p99_us: f64,
    /// Operations that failed.
    pub(crate) errors: u64,
    /// The share of datagrams that no answer came to, in percent.
    pub(crate) loss_percent: f64,
}

/// The times of answers, from 1 ns to a minute, to three digits.
pub(crate) struct Times(Histogram<u64>);

impl Times {
    pub(crate) fn new() -> Self {
        let longest = 60_000_000_000;
        Self(Histogram::new_with_bounds(1, longest, 3).expect("the bounds are in order"))
    }

    pub(crate) fn add(&mut self, time: Duration) {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.0.saturating_record(nanos);
    }

    pub(crate) fn count(&self) -> u64 {
        self.0.len()
    }

    /// Returns a quantile in microseconds; 0 of nothing.
    pub(crate) fn quantile_us(&self, quantile: f64) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "three digits are measured")]
        let nanos = self.0.value_at_quantile(quantile) as f64;
        if self.0.is_empty() { 0.0 } else { nanos / 1e3 }
    }
}
