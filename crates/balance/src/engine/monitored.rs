//! What monitors report of services, for the methods that compare it.

use std::time::Duration;

use super::Engine;
use crate::monitored::MonitorValues;
use crate::{Instant, ServiceId, State};

impl Engine {
    /// Notes how long a service takes to answer its monitors; none if none measures it any more.
    ///
    /// LRTM compares it. A service that is gone is left out.
    pub fn handle_monitor_response(
        &mut self,
        service: ServiceId,
        time: Option<Duration>,
        now: Instant,
    ) {
        self.advance(now);
        self.note_values(service, |values| values.set_time(time));
    }

    /// Notes the load that a service reports; none if no monitor is active any more.
    ///
    /// CUSTOMLOAD compares it. While a service that is UP has none, its virtual servers of that method
    /// serve in turn. A service that is gone is left out.
    pub fn handle_load(&mut self, service: ServiceId, load: Option<u64>, now: Instant) {
        self.advance(now);
        self.note_values(service, |values| values.set_load(load));
    }

    /// Changes the values of a service, wherever they are compared.
    pub(super) fn note_values(&mut self, id: ServiceId, change: impl FnOnce(&mut MonitorValues)) {
        let Some(slot) = self.services.slot(id) else {
            return;
        };
        let service = self.services.at_mut(slot);
        let former = service.monitored;
        change(&mut service.monitored);
        let values = service.monitored;
        let is_up = service.state == State::Up;
        for id in &service.bound_by {
            if let Some(vserver) = self.vservers.get_mut(id) {
                if is_up {
                    vserver.monitored.replace(former, values);
                }
                vserver.index.note_values(slot);
            }
        }
    }
}
