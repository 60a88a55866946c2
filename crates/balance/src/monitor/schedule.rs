//! When probes start: at once the first time, then each monitor of each service at a time of its
//! own.
//!
//! Owns the times, and nothing else. A binding has a phase, which follows from its numbers alone,
//! and its probes start where time has that phase in the interval, so that those of many services
//! are spread evenly over it, whenever they were bound and however late some start was:
//!
//! ```text
//!   first probe                        start of the interval + phase, again and again
//!      |            |                                |                                |
//!      +------------+--------------------------------+--------------------------------+-->
//!        half to a   <----------- interval ----------> <----------- interval --------->
//!        whole interval
//! ```
//!
//! Invariant: from one start to the next it is at least half an interval and never more than a
//! whole one, unless the probe itself takes longer.

use std::time::Duration;

use crate::{Instant, MonitorId, ServiceId};

/// Where in an interval the probes of a binding start, in parts of 2^64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Phase(u64);

impl Phase {
    /// Returns the phase of a monitor of a service.
    ///
    /// Numbers that follow each other lie as far from each other as they can: multiples of the two
    /// fractions of the plastic number fill a square evenly, as those of the golden ratio do a
    /// line.
    pub(super) fn of(service: ServiceId, monitor: MonitorId) -> Self {
        let of_service = u64::from(service.0).wrapping_mul(FRACTIONS[0]);
        let of_monitor = u64::from(monitor.0).wrapping_mul(FRACTIONS[1]);
        Self(of_service.wrapping_add(of_monitor))
    }

    /// Returns when the probe after one that started at `start` starts.
    pub(super) fn next(self, start: Instant, interval: Duration) -> Instant {
        let interval = nanos(interval);
        let place = start.as_nanos() % interval;
        let own = (u128::from(self.0) * u128::from(interval)) >> 64;
        let own = u64::try_from(own).expect("a part of the interval is not longer than it");
        let to_own = match own.checked_sub(place) {
            Some(ahead @ 1..) => ahead,
            Some(0) => interval,
            None => own + (interval - place),
        };
        // Too near: halfway to the one after.
        let length = if to_own < interval / 2 {
            to_own + (interval - to_own) / 2
        } else {
            to_own
        };
        start + Duration::from_nanos(length)
    }
}

/// Lets those that begin at one moment do so one behind the other.
#[derive(Debug, Default)]
pub(super) struct Beginnings {
    free: Instant,
}

impl Beginnings {
    /// Returns when one that would begin now may.
    pub(super) fn next(&mut self, now: Instant) -> Instant {
        let start = self.free.max(now);
        self.free = start + BEGINNING;
        start
    }
}

fn nanos(length: Duration) -> u64 {
    u64::try_from(length.as_nanos()).unwrap_or(u64::MAX).max(1)
}

/// The plastic number's powers -1 and -2, in parts of 2^64.
const FRACTIONS: [u64; 2] = [0xC13F_A9A9_02A6_328F, 0x91E1_0DA5_C79E_7B1C];

/// How long a first probe waits for each one that begins in the same moment.
///
/// Source: own choice: 10,000 services are probed within a second of the start, ten in a
/// millisecond.
const BEGINNING: Duration = Duration::from_micros(100);

#[cfg(test)]
mod tests;
