//! Sums in which the past counts less and less: half as much every [`HALF_LIFE`].
//!
//! Owns the weights. Nothing is scaled down as time passes; what comes later weighs more instead. Within
//! a half-life the weight of an amount rises in a straight line from 1 to 2, then sums are halved and it
//! begins at 1 again, so that a sum is the same whether it is looked at once or often:
//!
//! ```text
//!   weight 2 |      /|      /|      /
//!            |    /  |    /  |    /         sum(now) = sum of amount * weight(then) / weight(now),
//!          1 |  /    |  /    |  /                      halved once for each half-life between
//!            +-------+-------+-------> time
//! ```
//!
//! The line lies up to 6 % above the curve `2^t`; nobody needs the curve. Weights are in units of 2^-16,
//! sums finer by so much that no halving loses anything that counts.

use std::time::Duration;

use crate::Instant;

/// A moment, as these sums see it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Half-lives since the origin.
    epoch: u64,
    /// The weight of an amount, in units of 2^-16: from 2^16 to 2^17.
    weight: u64,
}

impl Moment {
    /// Returns what `now` is.
    pub(crate) fn of(now: Instant) -> Self {
        let nanos = now.as_nanos();
        Self {
            epoch: nanos / HALF_LIFE_NANOS,
            weight: ONE + nanos % HALF_LIFE_NANOS * ONE / HALF_LIFE_NANOS,
        }
    }

    /// Returns what is left now of something that was whole at the moment `then`.
    ///
    /// Units: 2^-16.
    pub(crate) fn left_of(self, then: Self) -> u64 {
        let halvings = self.epoch.saturating_sub(then.epoch);
        (then.weight * ONE / self.weight)
            .checked_shr(u32::try_from(halvings).unwrap_or(u32::MAX))
            .unwrap_or(0)
    }
}

/// A fading sum.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sum {
    /// Weighted as of `epoch`, in units of 2^-48.
    value: u128,
    epoch: u64,
}

impl Sum {
    /// Adds an amount; moments come in order.
    pub(crate) fn add(&mut self, amount: u64, moment: Moment) {
        let weighted = u128::from(amount) * u128::from(moment.weight);
        self.value = self.as_of(moment) + (weighted << FINER);
        self.epoch = moment.epoch;
    }

    /// Returns the sum, rounded to the nearest whole number.
    #[inline]
    pub(crate) fn at(&self, moment: Moment) -> u64 {
        if self.value == 0 {
            return 0;
        }
        let weight = u128::from(moment.weight) << FINER;
        let rounded = (self.as_of(moment) + weight / 2) / weight;
        u64::try_from(rounded).unwrap_or(u64::MAX)
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    fn as_of(&self, moment: Moment) -> u128 {
        let halvings = moment.epoch.saturating_sub(self.epoch);
        let halvings = u32::try_from(halvings).unwrap_or(u32::MAX);
        self.value.checked_shr(halvings).unwrap_or(0)
    }
}

/// The average of times; recent ones count most.
///
/// It fades as well: while no time is added, what it says gives way to what is usual elsewhere.
#[derive(Clone, Debug, Default)]
pub(crate) struct AverageTime {
    total: Sum,
    count: Sum,
    /// The average when the last time was added, in nanoseconds.
    average: u64,
    /// When that was; none before the first.
    last: Option<Moment>,
}

impl AverageTime {
    /// Adds a time.
    pub(crate) fn add(&mut self, time: Duration, moment: Moment) {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.total.add(nanos.min(LONGEST_NANOS), moment);
        self.count.add(1, moment);
        let average = self.total.value / self.count.value;
        self.average = u64::try_from(average).unwrap_or(LONGEST_NANOS);
        self.last = Some(moment);
    }

    /// Returns the average of the times added, in nanoseconds.
    pub(crate) fn average(&self) -> Option<u64> {
        self.last.map(|_| self.average)
    }

    /// Returns the time to expect now, in nanoseconds: from the average, right after a time was added,
    /// to what is `usual`, long after.
    #[inline]
    pub(crate) fn expected(&self, usual: u64, moment: Moment) -> u64 {
        let Some(last) = self.last else {
            return usual;
        };
        let left = moment.left_of(last);
        // 46 bits times 16, twice, with weights that add up to one.
        (self.average * left + usual.min(LONGEST_NANOS) * (ONE - left)) / ONE
    }
}

/// How long it takes the past to count half.
///
/// Source: own choice: 7 s to one half is 10 s to one e-th, after which a service that was avoided is
/// tried again.
const HALF_LIFE: Duration = Duration::from_secs(7);

const HALF_LIFE_NANOS: u64 = HALF_LIFE.as_nanos() as u64;

/// The weight of an amount at the beginning of a half-life.
const ONE: u64 = 1 << 16;

/// How many bits more than weights sums have.
const FINER: u32 = 32;

/// The longest time that an average tells from longer ones, 19 hours, so that products fit 64 bits.
const LONGEST_NANOS: u64 = 1 << 46;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Moment {
        Moment::of(Instant::from_nanos(ms * 1_000_000))
    }

    #[test]
    fn sum_is_half_after_a_half_life_wherever_that_begins() {
        // Begun anywhere: the line has corners, the halving has none.
        for start in [0, 3_500, 7_000, 70_000] {
            let mut sum = Sum::default();
            sum.add(4_000, at(start));
            let later = [0, 7_000, 14_000, 70_000].map(|ms| sum.at(at(start + ms)));
            assert_eq!(later, [4_000, 2_000, 1_000, 4], "from {start} ms");
        }
        let mut sum = Sum::default();
        sum.add(4_000, at(0));
        // 2 / 3 on the line, not 2^-0.5.
        assert_eq!(sum.at(at(3_500)), 2_667);
    }

    #[test]
    fn amounts_of_different_times_add_up() {
        let mut sum = Sum::default();
        for ms in [0, 7_000, 14_000] {
            sum.add(100, at(ms));
        }
        assert_eq!(sum.at(at(14_000)), 175);
        assert_eq!(sum.at(at(u64::MAX / 1_000_000)), 0);
        sum.clear();
        assert_eq!(sum.at(at(14_000)), 0);
    }

    #[test]
    fn average_counts_recent_times_most() {
        let ms = Duration::from_millis;
        let mut average = AverageTime::default();
        assert_eq!(average.average(), None);
        average.add(ms(300), at(0));
        average.add(ms(100), at(0));
        assert_eq!(average.average(), Some(200_000_000));
        // Two times that weigh a quarter, and two that weigh one.
        average.add(ms(50), at(14_000));
        average.add(ms(50), at(14_000));
        assert_eq!(average.average(), Some(80_000_000));
    }

    #[test]
    fn expected_time_fades_to_the_usual_one() {
        let mut average = AverageTime::default();
        assert_eq!(average.expected(20, at(0)), 20);
        average.add(Duration::from_nanos(100), at(7_000));
        let later = [7_000, 14_000, 21_000, 700_000].map(|ms| average.expected(20, at(ms)));
        assert_eq!(later, [100, 60, 40, 20]);
    }

    #[test]
    fn longest_times_do_not_overflow() {
        let mut average = AverageTime::default();
        average.add(Duration::MAX, at(0));
        assert_eq!(average.average(), Some(LONGEST_NANOS));
        assert_eq!(average.expected(u64::MAX, at(3_000)), LONGEST_NANOS);
    }
}
