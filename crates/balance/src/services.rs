//! All services: found by number, then reached by slot.
//!
//! A binding keeps the slot, so that a choice among a hundred services looks nothing up. A slot is
//! reused after its service is gone; nothing keeps a slot beyond that, because a service is unbound
//! everywhere before it is removed.

use std::collections::BTreeMap;

use crate::ServiceId;
use crate::service::Service;

/// The place of a service in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Slot(usize);

/// The table of all services.
#[derive(Debug, Default)]
pub(crate) struct Services {
    slots: Vec<Option<Service>>,
    free: Vec<Slot>,
    by_id: BTreeMap<ServiceId, Slot>,
}

impl Services {
    /// Adds a service.
    ///
    /// # Panics
    /// When the number is taken.
    pub(crate) fn insert(&mut self, id: ServiceId, service: Service) {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            Slot(self.slots.len() - 1)
        });
        self.slots[slot.0] = Some(service);
        let former = self.by_id.insert(id, slot);
        assert!(former.is_none(), "service {} exists already", id.0);
    }

    /// Removes a service.
    pub(crate) fn remove(&mut self, id: ServiceId) -> Option<Service> {
        let slot = self.by_id.remove(&id)?;
        self.free.push(slot);
        self.slots[slot.0].take()
    }

    /// Returns the slot of a service.
    pub(crate) fn slot(&self, id: ServiceId) -> Option<Slot> {
        self.by_id.get(&id).copied()
    }

    /// Returns a service by number.
    pub(crate) fn get(&self, id: ServiceId) -> Option<&Service> {
        self.slot(id).map(|slot| self.at(slot))
    }

    /// Returns a service by number, to change it.
    pub(crate) fn get_mut(&mut self, id: ServiceId) -> Option<&mut Service> {
        self.slot(id).map(|slot| self.at_mut(slot))
    }

    /// Returns the service in a slot that is in use.
    pub(crate) fn at(&self, slot: Slot) -> &Service {
        self.slots[slot.0].as_ref().expect(IN_USE)
    }

    /// Returns the service in a slot that is in use, to change it.
    pub(crate) fn at_mut(&mut self, slot: Slot) -> &mut Service {
        self.slots[slot.0].as_mut().expect(IN_USE)
    }

    /// Goes over all services in the order of their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (ServiceId, &Service)> {
        self.by_id.iter().map(|(&id, &slot)| (id, self.at(slot)))
    }

    /// Goes over all services in no order that matters, to sample them.
    pub(crate) fn all_mut(&mut self) -> impl Iterator<Item = &mut Service> {
        self.slots.iter_mut().flatten()
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }
}

const IN_USE: &str = "a service is unbound everywhere before its slot becomes free";

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, SocketAddr};

    use super::*;
    use crate::{Instant, Protocol, ServiceSettings};

    fn service(port: u16) -> Service {
        let settings = ServiceSettings {
            protocol: Protocol::Tcp,
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
            enabled: true,
            max_client: None,
            max_bandwidth: None,
            hash_id: None,
            health_monitor: true,
            monitor_threshold: 0,
            is_one_way: false,
            idle: None,
            flush_on_down: false,
        };
        Service::new(settings, Instant::default())
    }

    fn port(services: &Services, id: u32) -> Option<u16> {
        services
            .get(ServiceId(id))
            .map(|service| service.settings.address.port())
    }

    #[test]
    fn freed_slot_is_reused_and_the_old_number_stays_unknown() {
        let mut services = Services::default();
        services.insert(ServiceId(1), service(1));
        services.insert(ServiceId(2), service(2));
        let slot = services.slot(ServiceId(1));
        assert!(services.remove(ServiceId(1)).is_some());
        assert!(services.remove(ServiceId(1)).is_none());
        services.insert(ServiceId(3), service(3));
        assert_eq!(services.slot(ServiceId(3)), slot);
        let ports = [1, 2, 3].map(|id| port(&services, id));
        assert_eq!(ports, [None, Some(2), Some(3)]);
    }
}
