//! How much of a virtual server is UP, as a part of the weight that is bound to it.

/// A part of a whole.
///
/// Units: percent, 0–100, default 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Percent(u8);

impl Percent {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// Makes a percentage.
    ///
    /// # Errors
    /// [`PercentError`] when `percent` is not in 0–100.
    pub fn new(percent: u64) -> Result<Self, PercentError> {
        match u8::try_from(percent) {
            Ok(percent @ 0..=100) => Ok(Self(percent)),
            _ => Err(PercentError(percent)),
        }
    }

    /// Returns the percentage as a number.
    pub const fn value(self) -> u64 {
        self.0 as u64
    }
}

/// A percentage outside 0–100.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PercentError(pub u64);

impl std::fmt::Display for PercentError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} percent is out of range 0–100", self.0)
    }
}

impl std::error::Error for PercentError {}

/// The weights of bound services.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Health {
    /// Of those that are UP.
    pub(crate) up: u64,
    /// Of all.
    pub(crate) bound: u64,
}

impl Health {
    /// Whether less than `part` of the weight is UP. Without services nothing is.
    ///
    /// `up / bound < part / 100` with both sides multiplied by both divisors.
    pub(crate) fn is_below(self, part: Percent) -> bool {
        self.up * 100 < part.value() * self.bound
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentage_is_0_to_100() {
        assert_eq!(Percent::new(0), Ok(Percent::ZERO));
        assert_eq!(Percent::new(100).map(Percent::value), Ok(100));
        for percent in [101, 256, u64::MAX] {
            assert_eq!(Percent::new(percent), Err(PercentError(percent)));
        }
    }

    #[test]
    fn health_is_below_a_part_that_it_does_not_reach() {
        let is_below = |up, bound, part| {
            let part = Percent::new(part).unwrap();
            Health { up, bound }.is_below(part)
        };
        assert!(is_below(1, 3, 34));
        assert!(!is_below(1, 3, 33));
        assert!(!is_below(3, 6, 50));
        assert!(is_below(2, 6, 34));
        assert!(!is_below(0, 6, 0));
    }
}
