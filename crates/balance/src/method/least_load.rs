//! CUSTOMLOAD: the least load that monitors report.

use crate::service::Service;

/// Returns the load that was reported last.
///
/// Every service has one when loads are compared: while one that is UP has none, the virtual server
/// serves in turn.
///
/// Source: NetScaler docs, "Custom load method".
#[inline]
pub(super) fn load(service: &Service) -> u64 {
    service.monitored.load().unwrap_or(0)
}
