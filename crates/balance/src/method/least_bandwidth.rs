//! LEASTBANDWIDTH: the fewest bytes, both ways, over the last 14 s.

use crate::service::Service;

/// Returns `N`: the bytes to and from the service over the window.
///
/// Units: bytes; the same order as Mbit/s.
/// Source: NetScaler docs, "Least bandwidth method".
pub(super) fn load(service: &Service, base: usize) -> u64 {
    service.window.bytes(&service.counters, base)
}
