//! How clients stick to a service: the settings, each with its bounds in the type.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

/// The persistence of a virtual server.
///
/// All virtual servers of a group are meant to have the same one; where they differ, the last one
/// that was applied counts for all.
///
/// A change of `kind` or `mask` forgets all entries, because their keys mean something else then. A
/// new `timeout` counts at once, for entries that exist too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Persistence {
    /// What tells one client from another.
    pub kind: PersistenceKind,
    /// How many clients count as one.
    pub mask: AddressMask,
    /// How long an entry lives after its last use.
    pub timeout: PersistenceTimeout,
    /// What happens when the service that a client sticks to is at `maxClient` or `maxBandwidth`.
    pub skip: SkipPersistence,
    /// Whether clients are still taken to a service that is GOING OUT OF SERVICE.
    pub trofs: bool,
    /// The lb group whose table is used instead of an own one.
    pub group: Option<GroupId>,
}

/// What tells one client from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PersistenceKind {
    /// The client's address.
    SourceIp,
    /// The address the client dialled.
    DestIp,
    /// Both.
    SrcIpDestIp,
}

/// What happens when the service that a client sticks to is at `maxClient` or `maxBandwidth`.
///
/// Source: NetScaler's `skippersistency`, whose documentation names the values only. Own choice:
/// `None` skips nothing, because the client's state is on that service and nowhere else; who prefers
/// any service to none says so with one of the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SkipPersistence {
    /// The client is refused as when all services are full; its entry stays and is not renewed.
    #[default]
    None,
    /// The method chooses for this flow; the entry stays and is renewed.
    Bypass,
    /// The method chooses, and the client sticks to the new service.
    ReLb,
}

/// A group of virtual servers that share one table, by the number the configuration gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(pub u32);

/// Which bits of an address count.
///
/// Shape: any mask for IPv4, a prefix length of 1–128 for IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AddressMask {
    v4: Ipv4Addr,
    v6: u8,
}

impl AddressMask {
    /// All bits: every address stands for itself.
    pub const ALL: Self = Self {
        v4: Ipv4Addr::BROADCAST,
        v6: 128,
    };

    /// Makes a mask.
    ///
    /// # Errors
    /// [`MaskError`] when `v6_length` is not in 1–128.
    pub fn new(v4: Ipv4Addr, v6_length: u64) -> Result<Self, MaskError> {
        match u8::try_from(v6_length) {
            Ok(v6 @ 1..=128) => Ok(Self { v4, v6 }),
            _ => Err(MaskError(v6_length)),
        }
    }

    /// Returns the address without the bits that do not count; an IPv4-mapped one is IPv4.
    pub fn apply(self, address: IpAddr) -> IpAddr {
        match address.to_canonical() {
            IpAddr::V4(address) => IpAddr::V4(address & self.v4),
            IpAddr::V6(address) => {
                let mask = Ipv6Addr::from_bits(u128::MAX << (128 - self.v6));
                IpAddr::V6(address & mask)
            }
        }
    }
}

impl Default for AddressMask {
    fn default() -> Self {
        Self::ALL
    }
}

/// An IPv6 mask length outside 1–128.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaskError(pub u64);

impl std::fmt::Display for MaskError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "IPv6 mask length {} is out of range 1–128", self.0)
    }
}

impl std::error::Error for MaskError {}

/// How long an entry lives after its last use.
///
/// Units: minutes, 2–1440, default 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PersistenceTimeout(u16);

impl PersistenceTimeout {
    /// The time-out of a virtual server that names none.
    pub const DEFAULT: Self = Self(2);

    /// Makes a time-out.
    ///
    /// # Errors
    /// [`TimeoutError`] when `minutes` is not in 2–1440.
    pub fn new(minutes: u64) -> Result<Self, TimeoutError> {
        match u16::try_from(minutes) {
            Ok(minutes @ 2..=1440) => Ok(Self(minutes)),
            _ => Err(TimeoutError(minutes)),
        }
    }

    /// Returns the time-out as a duration.
    pub fn duration(self) -> Duration {
        Duration::from_secs(60 * u64::from(self.0))
    }
}

impl Default for PersistenceTimeout {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A persistence time-out outside 2–1440 minutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeoutError(pub u64);

impl std::fmt::Display for TimeoutError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "persistence timeout {} is out of range 2–1440 minutes",
            self.0
        )
    }
}

impl std::error::Error for TimeoutError {}
