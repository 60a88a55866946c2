//! LRTM: the fewest connections, each counted with the time that monitors measure.

use crate::Instant;
use crate::fading::Moment;
use crate::service::Service;

/// Returns the active connections times the response time.
///
/// That is what monitors measured last, or the age of the oldest connection whose client waits,
/// whichever is more. A service without a measured time is taken to be as fast as is `usual`: as the
/// mean of the others. Flows that failed lately count as connections.
///
/// Units: nanoseconds, at least 1, so that connections always count.
/// Source: NetScaler docs, "Least response time method using monitors"; the rest is own choice, as for
/// LEASTRESPONSETIME.
#[inline]
pub(super) fn load(service: &Service, usual: u64, moment: Moment, now: Instant) -> u64 {
    let answers = &service.answers;
    let connections = service.busy() + answers.recent_failures(moment);
    let measured = service.monitored.time().unwrap_or(usual);
    connections.saturating_mul(measured.max(answers.waited(now)).max(1))
}
