//! Identities and the weight of a binding.

/// A service, by the number the configuration gave it. Never used again after removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServiceId(pub u32);

/// A virtual server, by the number the configuration gave it. Never used again after removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VserverId(pub u32);

/// A monitor, by the number the configuration gave it. Never used again after removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MonitorId(pub u32);

/// One probe, by the number the engine gave it. Never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProbeId(pub u64);

/// The share of a service relative to the others of its virtual server.
///
/// Units: 1–100, default 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Weight(u8);

impl Weight {
    /// The weight of a binding that names none.
    pub const DEFAULT: Self = Self(1);

    /// Makes a weight.
    ///
    /// # Errors
    /// [`WeightError`] when `weight` is not in 1–100.
    pub fn new(weight: u64) -> Result<Self, WeightError> {
        match u8::try_from(weight) {
            Ok(weight @ 1..=100) => Ok(Self(weight)),
            _ => Err(WeightError(weight)),
        }
    }

    /// Returns the weight as a number.
    pub const fn value(self) -> u64 {
        self.0 as u64
    }
}

impl Default for Weight {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A weight outside 1–100.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeightError(pub u64);

impl std::fmt::Display for WeightError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "weight {} is out of range 1–100", self.0)
    }
}

impl std::error::Error for WeightError {}
