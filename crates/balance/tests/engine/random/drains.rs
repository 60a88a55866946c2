//! What the test knows of services that go out of service.

use std::collections::BTreeMap;

use sluice_balance::{Instant, Leave, ServiceId, ServiceStatus, State};

/// Whether each one waits for its last flow, and until when it waits at most.
#[derive(Default)]
pub(super) struct Drains(BTreeMap<ServiceId, (bool, Option<Instant>)>);

impl Drains {
    /// Takes note that a service with so many flows is disabled, which is out of service or not.
    pub(super) fn disable(
        &mut self,
        id: ServiceId,
        leave: Leave,
        (is_out, active): (bool, u64),
        now: Instant,
    ) {
        self.0.remove(&id);
        let waits = if leave.graceful {
            active > 0
        } else {
            leave.delay.is_some()
        };
        if waits && !is_out {
            let deadline = leave.delay.map(|delay| now + delay);
            self.0.insert(id, (leave.graceful, deadline));
        }
    }

    /// Takes note that a service was enabled, or is gone.
    pub(super) fn cancel(&mut self, id: ServiceId) {
        self.0.remove(&id);
    }

    /// Takes note that a service has so many flows after one has ended.
    pub(super) fn end_flow(&mut self, id: ServiceId, active: u64) {
        if active == 0 && self.0.get(&id).is_some_and(|(graceful, _)| *graceful) {
            self.0.remove(&id);
        }
    }

    /// Moves the time on.
    pub(super) fn pass(&mut self, now: Instant) {
        self.0
            .retain(|_, (_, deadline)| deadline.is_none_or(|deadline| deadline > now));
    }

    /// Whether a service that is disabled is on its way out.
    pub(super) fn has(&self, id: ServiceId) -> bool {
        self.0.contains_key(&id)
    }

    /// Compares what is shown of a service.
    pub(super) fn check(&self, row: &ServiceStatus) {
        let known = self.0.get(&row.id);
        assert_eq!(row.state == State::GoingOutOfService, known.is_some());
        let shown = row.drain.map(|drain| (drain.graceful, drain.deadline));
        assert_eq!(shown, known.copied());
        assert!(row.drain.is_none_or(|drain| drain.since >= row.since));
    }
}
