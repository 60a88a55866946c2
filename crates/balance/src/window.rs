//! `N` of LEASTBANDWIDTH and LEASTPACKETS: the traffic of one service over the last 14 s.
//!
//! Owns a service's samples of its own cumulative counters. When they are taken, and which one is
//! the baseline, says the [`Timeline`](crate::timeline::Timeline) that all services share.
//!
//! `N = counter now - newest sample that is at least 14 s old`. The newest byte counts at once. A
//! byte is forgotten between 14 s and 14.25 s after it flowed, since samples are 250 ms apart; if
//! the samples around it were further apart because nobody called the engine, it is kept longer by
//! that gap at most. `N` never leaves out a byte of the last 14 s.
//!
//! Before 14 s have passed since the service was added, the baseline is the counter at the add,
//! which is zero: a service and its counters begin together.

use std::time::Duration;

use crate::Counters;

/// The traffic of a service, both ways together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Traffic {
    pub(crate) bytes: u64,
    pub(crate) packets: u64,
}

impl Traffic {
    /// Reads the cumulative traffic.
    pub(crate) fn of(counters: &Counters) -> Self {
        Self {
            bytes: counters.bytes_in() + counters.bytes_out(),
            packets: counters.packets_in() + counters.packets_out(),
        }
    }
}

/// The samples of one service.
#[derive(Debug)]
pub(crate) struct Window {
    samples: Box<[Traffic; WINDOW_SLOTS]>,
}

impl Window {
    /// Makes the window of a service that is being added.
    pub(crate) fn new() -> Self {
        Self {
            samples: Box::new([Traffic::default(); WINDOW_SLOTS]),
        }
    }

    /// Keeps a sample.
    pub(crate) fn record(&mut self, slot: usize, traffic: Traffic) {
        self.samples[slot] = traffic;
    }

    /// Returns `N` in bytes, with the baseline in slot `base`.
    pub(crate) fn bytes(&self, counters: &Counters, base: usize) -> u64 {
        let total = counters.bytes_in() + counters.bytes_out();
        total.saturating_sub(self.samples[base].bytes)
    }

    /// Returns `N` in packets, with the baseline in slot `base`.
    pub(crate) fn packets(&self, counters: &Counters, base: usize) -> u64 {
        let total = counters.packets_in() + counters.packets_out();
        total.saturating_sub(self.samples[base].packets)
    }
}

/// How far the window reaches back.
///
/// Source: NetScaler docs, "Least bandwidth method".
pub(crate) const WINDOW_SPAN: Duration = Duration::from_secs(14);

/// The time between two samples, which bounds the error of `N`.
///
/// Source: own choice: under 2 % of the span, at 928 bytes a service.
pub(crate) const WINDOW_STEP: Duration = Duration::from_millis(250);

/// `WINDOW_SPAN / WINDOW_STEP + 2`, as the timeline demands.
pub(crate) const WINDOW_SLOTS: usize = 58;
