//! Whether a virtual server can do without a service that its connections show to be down.

use super::{Binding, Vserver};
use crate::service::Service;
use crate::services::Services;
use crate::{Percent, ServiceId, State};

impl Vserver {
    /// Whether a bound service may go out: with it, at most half of the services are out or on trial,
    /// one is left that is well, and the weight that is UP does not fall below the health threshold.
    pub(crate) fn can_spare(&self, id: ServiceId, services: &Services) -> bool {
        let others = self.bindings.iter().filter(|binding| binding.service != id);
        let service = |binding: &Binding| services.at(binding.slot);
        let suspects = others
            .clone()
            .filter(|one| service(one).inline.is_suspect());
        let mut well = others.clone().filter(|one| is_well(service(one)));
        (suspects.count() + 1) * 2 <= self.bindings.len()
            && well.next().is_some()
            && !self.would_fall_below(id, services)
    }

    /// Whether a service is left that takes whatever it is given.
    pub(crate) fn has_one_that_is_well(&self, services: &Services) -> bool {
        let mut bound = self.bindings.iter().map(|one| services.at(one.slot));
        bound.any(is_well)
    }

    fn would_fall_below(&self, id: ServiceId, services: &Services) -> bool {
        let threshold = self.settings.health_threshold;
        if threshold == Percent::ZERO || self.state != State::Up {
            return false;
        }
        let mut health = self.health(services, |state| state == State::Up);
        let own = self.bindings.iter().find(|binding| binding.service == id);
        health.up -= own.map_or(0, |binding| binding.weight.value());
        health.is_below(threshold)
    }
}

fn is_well(service: &Service) -> bool {
    service.state == State::Up && !service.inline.is_suspect()
}
