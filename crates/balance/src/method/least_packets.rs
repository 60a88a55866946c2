//! LEASTPACKETS: the fewest packets, both ways, over the last 14 s.

use crate::service::Service;

/// Returns `N`: the packets to and from the service over the window.
///
/// Source: NetScaler docs, "Least packets method".
pub(super) fn load(service: &Service, base: usize) -> u64 {
    service.window.packets(&service.counters, base)
}
