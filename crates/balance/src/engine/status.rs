//! What the engine shows of itself. Showing changes no decision: it only moves the time on.

use super::Engine;
use crate::service::Service;
use crate::vserver::Vserver;
use crate::{Instant, ServiceId, ServiceStatus, Snapshot, VserverId, VserverStatus};

impl Engine {
    /// Shows everything.
    pub fn snapshot(&mut self, now: Instant) -> Snapshot {
        let now = self.advance(now);
        self.settle_ramps(now);
        self.persistence.sweep(now);
        let services = self.services.iter();
        let vservers = self.vservers.iter();
        Snapshot {
            services: services
                .map(|(id, service)| self.show_service(id, service))
                .collect(),
            vservers: vservers
                .map(|(id, vserver)| self.show_vserver(*id, vserver))
                .collect(),
        }
    }

    /// Shows one service.
    pub fn service_status(&mut self, id: ServiceId, now: Instant) -> Option<ServiceStatus> {
        self.advance(now);
        let service = self.services.get(id)?;
        Some(self.show_service(id, service))
    }

    /// Shows one virtual server.
    pub fn vserver_status(&mut self, id: VserverId, now: Instant) -> Option<VserverStatus> {
        let now = self.advance(now);
        self.persistence.sweep(now);
        let vserver = self.vservers.get_mut(&id)?;
        vserver.settle_ramps(&self.services, now);
        let vserver = self.vservers.get(&id)?;
        Some(self.show_vserver(id, vserver))
    }

    fn show_service(&self, id: ServiceId, service: &Service) -> ServiceStatus {
        let window = self.window_times.base_slot();
        let rate = self.rate_times.base_slot();
        let age = self.rate_times.base_age(self.now);
        ServiceStatus {
            monitors: self.monitors.status(id),
            inline: service.inline_status(&self.passive),
            ..service.status(id, self.now, window, rate, age)
        }
    }

    fn show_vserver(&self, id: VserverId, vserver: &Vserver) -> VserverStatus {
        let rate = self.rate_times.base_slot();
        let age = self.rate_times.base_age(self.now);
        let status = vserver.status(id, &self.services, rate, age, self.recent());
        VserverStatus {
            effective: self.effective_state(id, vserver),
            persistence: vserver.table(id).map(|key| self.persistence.status(key)),
            ..status
        }
    }
}
