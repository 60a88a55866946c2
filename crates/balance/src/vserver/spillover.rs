//! Whether a virtual server has enough: what its spillover compares.

use super::Vserver;
use crate::rate::{Recent, exceeds};
use crate::services::Services;
use crate::{Spillover, SpilloverMethod, State};

impl Vserver {
    /// Whether it passes new flows on although it is UP.
    pub(super) fn is_spilling(&self, services: &Services, recent: Recent) -> bool {
        let spillover = self.settings.backup.spillover.as_ref();
        self.state == State::Up && spillover.is_some_and(|own| self.spills(own, services, recent))
    }

    /// Whether one that is UP has enough.
    ///
    /// The flow that asks is not counted yet, so `>=` keeps the count from exceeding the threshold.
    pub(super) fn spills(
        &self,
        spillover: &Spillover,
        services: &Services,
        recent: Recent,
    ) -> bool {
        match spillover.method {
            SpilloverMethod::Connections(most) => self.active >= u64::from(most),
            SpilloverMethod::DynamicConnections => {
                let most = self.most_clients(services);
                most.is_some_and(|most| self.active >= most)
            }
            SpilloverMethod::Bandwidth(kbit_per_s) => {
                let bytes = self.rates.bytes_since(self.totals(), recent);
                exceeds(bytes, kbit_per_s, recent.age)
            }
            SpilloverMethod::Health(part) => {
                let health = self.health(services, |state| state == State::Up);
                health.is_below(part)
            }
        }
    }

    /// Returns how many flows the services that are UP may have together; none if there is no
    /// limit.
    fn most_clients(&self, services: &Services) -> Option<u64> {
        let bound = self
            .bindings
            .iter()
            .map(|binding| services.at(binding.slot));
        let up = bound.filter(|service| service.state == State::Up);
        up.map(|service| service.settings.max_client.map(u64::from))
            .sum()
    }
}
