//! LEASTRESPONSETIME: the fewest connections, each counted with the time an answer takes.

use crate::Instant;
use crate::fading::Moment;
use crate::service::Service;

/// Returns the active connections times the time to the first byte of an answer.
///
/// That is the average, or the age of the oldest connection whose client waits, whichever is more. A
/// service that has not been measured lately is taken to be as fast as is `usual` on the virtual
/// server. Flows that failed lately count as connections.
///
/// Units: nanoseconds. Those of a hundred thousand connections that take an hour fit; more is the most.
/// Source: NetScaler docs, "Least response time method"; the rest is own choice, see `answers`.
#[inline]
pub(super) fn load(service: &Service, usual: u64, moment: Moment, now: Instant) -> u64 {
    let answers = &service.answers;
    let connections = service.busy() + answers.recent_failures(moment);
    connections.saturating_mul(answers.expected_time(usual, moment, now))
}

/// Returns what [`load`] is not below from `now` until `end`, if no flow ends or is answered and the
/// usual time is at least `usual`.
///
/// Connections that failures count as become fewer. The average goes to the usual time, up or down: it
/// is least at one of the ends.
#[inline]
pub(super) fn bound(
    service: &Service,
    usual: u64,
    (moment, end): (Moment, Moment),
    now: Instant,
) -> u64 {
    let answers = &service.answers;
    let connections = service.busy() + answers.recent_failures(end);
    let times = [moment, end].map(|at| answers.expected_time(usual, at, now));
    connections.saturating_mul(times[0].min(times[1]))
}
