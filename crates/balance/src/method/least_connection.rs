//! LEASTCONNECTION and LEASTREQUEST: the fewest active connections.

use crate::fading::Moment;
use crate::service::Service;

/// Returns the places taken on the service now, by all virtual servers of the process, and those of flows
/// that it lately refused or ended without a byte: they would otherwise make it look free.
///
/// A connection that the service has finished with is none of these, although its client has not left
/// yet: it would be in the way of the same client's next one, and the service that was quick to answer
/// would look as busy as one that is not.
///
/// At layer 4 a request is a connection, or a session, so LEASTREQUEST compares the same number.
///
/// Shape: exact at the moment of the choice, since a choice takes its place before the next.
/// Source: NetScaler docs, "Least connection method"; failures: own choice, see `answers`.
#[inline]
pub(super) fn load(service: &Service, moment: Moment) -> u64 {
    service.busy() + service.answers.recent_failures(moment)
}
