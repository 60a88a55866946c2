//! The key of an entry: the addresses that tell one client from another, masked.

use std::hash::{DefaultHasher, Hasher};
use std::net::{IpAddr, Ipv6Addr};

use super::settings::{Persistence, PersistenceKind};
use super::store::Hash;
use crate::FlowKey;

/// A key as people see it: masked addresses; one that the kind does not look at is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PersistenceKey {
    /// The client.
    pub src: Option<IpAddr>,
    /// The address that was dialled.
    pub dst: Option<IpAddr>,
}

/// A key as it is kept: IPv4 is IPv4-mapped, what does not count is `::`.
///
/// A masked IPv6 address is never IPv4-mapped, since the mask is applied to what is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    src: Ipv6Addr,
    dst: Ipv6Addr,
}

impl Key {
    /// Returns the key of a flow.
    pub(super) fn of_flow(flow: &FlowKey, settings: &Persistence) -> Self {
        Self::new(flow.src.ip(), flow.dst.ip(), settings)
    }

    /// Returns the key that a person means; none if it lacks an address that the kind looks at.
    pub(super) fn of_shown(shown: &PersistenceKey, settings: &Persistence) -> Option<Self> {
        let unused = IpAddr::V6(Ipv6Addr::UNSPECIFIED);
        let (src, dst) = match settings.kind {
            PersistenceKind::SourceIp => (shown.src?, unused),
            PersistenceKind::DestIp => (unused, shown.dst?),
            PersistenceKind::SrcIpDestIp => (shown.src?, shown.dst?),
        };
        Some(Self::new(src, dst, settings))
    }

    fn new(src: IpAddr, dst: IpAddr, settings: &Persistence) -> Self {
        let keep = |address| match settings.mask.apply(address) {
            IpAddr::V4(address) => address.to_ipv6_mapped(),
            IpAddr::V6(address) => address,
        };
        let unused = Ipv6Addr::UNSPECIFIED;
        let (src, dst) = match settings.kind {
            PersistenceKind::SourceIp => (keep(src), unused),
            PersistenceKind::DestIp => (unused, keep(dst)),
            PersistenceKind::SrcIpDestIp => (keep(src), keep(dst)),
        };
        Self { src, dst }
    }

    /// Shows the key.
    pub(super) fn shown(&self, kind: PersistenceKind) -> PersistenceKey {
        let src = Some(IpAddr::V6(self.src).to_canonical());
        let dst = Some(IpAddr::V6(self.dst).to_canonical());
        match kind {
            PersistenceKind::SourceIp => PersistenceKey { src, dst: None },
            PersistenceKind::DestIp => PersistenceKey { src: None, dst },
            PersistenceKind::SrcIpDestIp => PersistenceKey { src, dst },
        }
    }

    /// Returns the place of the key in the index. Who does not know `seed` cannot choose addresses
    /// that fall into one place. Nothing that is shown or decided depends on the hash.
    pub(super) fn hash(&self, seed: u64, table: u64) -> Hash {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(seed);
        hasher.write_u64(table);
        hasher.write_u128(self.src.to_bits());
        hasher.write_u128(self.dst.to_bits());
        let [a, b, c, d, ..] = hasher.finish().to_le_bytes();
        Hash(u32::from_le_bytes([a, b, c, d]))
    }
}
