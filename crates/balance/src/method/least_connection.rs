//! LEASTCONNECTION and LEASTREQUEST: the fewest active connections.

use crate::service::Service;

/// Returns the places taken on the service now, by all virtual servers of the process.
///
/// At layer 4 a request is a connection, or a session, so LEASTREQUEST compares the same number.
///
/// Shape: exact at the moment of the choice, since a choice takes its place before the next.
/// Source: NetScaler docs, "Least connection method".
pub(super) fn load(service: &Service) -> u64 {
    service.active
}
