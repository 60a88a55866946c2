//! How a virtual server hashes: masks, what identifies a service, and the algorithm.

use crate::AddressMask;

/// How the hash and token methods of a virtual server work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HashSettings {
    /// Which bits of an address are looked at (`netmask`, `v6netmasklen`), by the methods that look
    /// at one address alone.
    pub mask: AddressMask,
    /// Whether a service is identified by its address and port, or by its address alone
    /// (`usePortForHashLb`). Services of one address then share what it gets.
    pub use_port: bool,
    /// How a service is found (`lbHashAlgorithm`).
    pub algorithm: HashAlgorithm,
}

impl Default for HashSettings {
    /// Whole addresses, ports, and the default algorithm.
    fn default() -> Self {
        Self {
            mask: AddressMask::ALL,
            use_port: true,
            algorithm: HashAlgorithm::default(),
        }
    }
}

/// How a hash finds a service. All respect weights, and none moves the clients of a service that stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum HashAlgorithm {
    /// Rendezvous: every service is scored for the client, and the best of those that can take it
    /// has it. Shares are exact; the time is proportional to the services.
    #[default]
    Default,
    /// A table of a prime number of slots over which each service's points are scattered, and
    /// rendezvous among those that meet in a slot. Fast however many services there are.
    Prac(Fingers),
    /// A ring with each service's points on it, and a jump table into the ring: the next point
    /// decides. Fast however many services there are.
    Jarh(Fingers),
}

/// The points that a service of weight 1 has in a table (`lbHashFingers`).
///
/// The more, the closer are the shares to the weights: within about `1 / sqrt(fingers * weight)`.
/// Units: 1–1024, default 256.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingers(u16);

impl Fingers {
    /// Makes a number of fingers.
    ///
    /// # Errors
    /// [`FingersError`] when it is not in 1–1024.
    pub fn new(fingers: u64) -> Result<Self, FingersError> {
        match u16::try_from(fingers) {
            Ok(fingers @ 1..=1024) => Ok(Self(fingers)),
            _ => Err(FingersError(fingers)),
        }
    }

    /// Returns the number.
    pub const fn value(self) -> u64 {
        self.0 as u64
    }
}

impl Default for Fingers {
    fn default() -> Self {
        Self(256)
    }
}

/// Fingers outside 1–1024.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FingersError(pub u64);

impl std::fmt::Display for FingersError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} fingers are out of range 1–1024", self.0)
    }
}

impl std::error::Error for FingersError {}
