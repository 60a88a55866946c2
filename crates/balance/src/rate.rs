//! Rates: flows and bytes per second over the last 7 s, for people; bytes over the last second or
//! two, for the limits that are given in kbit/s.
//!
//! Owns one object's samples of its cumulative numbers, 1 s apart. The difference against the
//! newest sample that is at least 7 s old is divided by that sample's real age (7 s to 8 s), so a
//! steady rate shows as what it is. In its first 7 s an object is divided by 7 s as well: its rate
//! rises from zero instead of starting with a guess.

use std::time::Duration;

/// The baseline of what flowed just now: the newest sample that is at least a second old.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recent {
    /// Its slot.
    pub(crate) slot: usize,
    /// Its age: 1 s to 2 s while samples are on time.
    pub(crate) age: Duration,
}

/// The cumulative numbers of one object, or their rates per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) hits: u64,
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
}

/// The samples of one object.
#[derive(Clone, Debug)]
pub(crate) struct Rates {
    samples: Box<[Totals; RATE_SLOTS]>,
}

impl Rates {
    /// Makes the samples of an object that is being added, all its numbers zero.
    pub(crate) fn new() -> Self {
        Self {
            samples: Box::new([Totals::default(); RATE_SLOTS]),
        }
    }

    /// Keeps a sample.
    pub(crate) fn record(&mut self, slot: usize, totals: Totals) {
        self.samples[slot] = totals;
    }

    /// Returns the bytes both ways since the baseline.
    pub(crate) fn bytes_since(&self, totals: Totals, base: Recent) -> u64 {
        let Totals {
            bytes_in,
            bytes_out,
            ..
        } = self.samples[base.slot];
        let old = bytes_in + bytes_out;
        (totals.bytes_in + totals.bytes_out).saturating_sub(old)
    }

    /// Returns the rates since the baseline in slot `base`, which is `age` old.
    ///
    /// `hits` can be below the baseline after places were given back unused; that shows as zero.
    pub(crate) fn per_second(&self, totals: Totals, base: usize, age: Duration) -> Totals {
        let old = self.samples[base];
        Totals {
            hits: per_second(totals.hits.saturating_sub(old.hits), age),
            bytes_in: per_second(totals.bytes_in.saturating_sub(old.bytes_in), age),
            bytes_out: per_second(totals.bytes_out.saturating_sub(old.bytes_out), age),
        }
    }
}

/// Whether so many bytes in so long a time are more than `kbit_per_s`.
///
/// `bytes * 8 / 1000 / (nanos / 10^9) > kbit_per_s`, both sides multiplied by `nanos`.
pub(crate) fn exceeds(bytes: u64, kbit_per_s: u32, time: Duration) -> bool {
    u128::from(bytes) * 8_000_000 > u128::from(kbit_per_s).saturating_mul(time.as_nanos())
}

/// Divides and rounds to the nearest whole number.
fn per_second(amount: u64, age: Duration) -> u64 {
    let nanos = age.as_nanos().max(1);
    let rate = (u128::from(amount) * NANOS_PER_S + nanos / 2) / nanos;
    u64::try_from(rate).unwrap_or(u64::MAX)
}

const NANOS_PER_S: u128 = 1_000_000_000;

/// How far the bytes that are held against a limit reach back.
///
/// Source: own choice: short enough that a limit is not overrun for long, long enough that one
/// burst of packets is none.
pub(crate) const RECENT_SPAN: Duration = Duration::from_secs(1);

/// How far a rate reaches back.
///
/// Source: NetScaler docs, "stat lb vserver": rates are over the last 7 s.
pub(crate) const RATE_SPAN: Duration = Duration::from_secs(7);

/// The time between two samples.
pub(crate) const RATE_STEP: Duration = Duration::from_secs(1);

/// `RATE_SPAN / RATE_STEP + 2`, as the timeline demands.
pub(crate) const RATE_SLOTS: usize = 9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_is_rounded_to_the_nearest() {
        assert_eq!(per_second(3, Duration::from_secs(7)), 0);
        assert_eq!(per_second(4, Duration::from_secs(7)), 1);
        assert_eq!(per_second(700, Duration::from_secs(7)), 100);
        assert_eq!(per_second(750, Duration::from_millis(7500)), 100);
    }

    #[test]
    fn limit_is_exceeded_by_the_first_byte_above_it() {
        // 8 kbit/s are 1,000 bytes a second.
        let second = Duration::from_secs(1);
        assert!(!exceeds(1_000, 8, second));
        assert!(exceeds(1_001, 8, second));
        assert!(!exceeds(1_500, 8, Duration::from_millis(1_500)));
        assert!(exceeds(1_501, 8, Duration::from_millis(1_500)));
        assert!(exceeds(u64::MAX, u32::MAX, Duration::from_secs(1)));
        assert!(!exceeds(0, 0, Duration::ZERO));
    }

    #[test]
    fn rate_of_extreme_numbers_neither_wraps_nor_divides_by_zero() {
        assert_eq!(per_second(u64::MAX, Duration::ZERO), u64::MAX);
        assert_eq!(per_second(u64::MAX, Duration::from_secs(1)), u64::MAX);
    }
}
