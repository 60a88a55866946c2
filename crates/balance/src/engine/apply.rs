//! How configuration takes effect: one function per change, and the states that follow.
//!
//! Order of outputs: an object's own state, then the flows that end with it, then the virtual
//! servers whose state follows, in the order in which they bound the service. The state an object
//! begins with is no change and makes no output.

use super::Engine;
use crate::service::{Service, ends_flows};
use crate::vserver::{Binding, Vserver};
use crate::{
    Bind, Change, CloseFlows, Instant, Output, Protocol, ServiceId, ServiceSettings, StartupReason,
    State, StateReason, VserverId, VserverSettings,
};

/// Why the state of a service is looked at again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cause {
    pub(super) reason: StateReason,
    /// Whether what is known of it still holds: it stays UP or DOWN while its monitors do not know.
    pub(super) keeps: bool,
}

impl Cause {
    /// The operator has changed something.
    pub(super) fn operator(keeps: bool) -> Self {
        let reason = StateReason::Operator;
        Self { reason, keeps }
    }

    /// Something has been found out.
    pub(super) fn by(reason: StateReason) -> Self {
        let keeps = true;
        Self { reason, keeps }
    }
}

impl Engine {
    /// Takes one step of a configuration change into effect.
    ///
    /// Counters, windows, cursors and active connections of everything that the change does not
    /// name stay as they are. A disabled virtual server keeps its listener.
    ///
    /// # Panics
    /// When the change adds what exists, or names what does not: the plan it comes from is broken.
    pub fn apply(&mut self, change: &Change, now: Instant) {
        let now = self.advance(now);
        // The time so far counts with the weights, states and settings it had.
        self.settle_ramps(now);
        match change {
            Change::AddService(id, settings) => self.add_service(*id, settings, now),
            Change::SetService(id, settings) => self.set_service(*id, settings, now),
            Change::DisableService(id, leave) => self.disable_service(*id, *leave, now),
            Change::RemoveService(id) => self.remove_service(*id),
            Change::AddVserver(id, settings) => self.add_vserver(*id, settings, now),
            Change::SetVserver(id, settings) => self.set_vserver(*id, settings, now),
            Change::EnableVserver(id) => self.enable_vserver(*id, now),
            Change::RemoveVserver(id) => self.remove_vserver(*id),
            Change::Bind(bind) => self.bind(bind, now),
            Change::SetWeight(bind) => self.set_weight(bind, now),
            Change::Unbind(vserver, service) => self.unbind(*vserver, *service, now),
            Change::EnableService(id) => self.forgive(*id, now),
            Change::SetPassive(settings) => self.set_passive(settings, now),
            Change::AddMonitor(id, settings) => self.monitors.add(*id, *settings),
            Change::SetMonitor(id, settings) => self.set_monitor(*id, settings, now),
            Change::RemoveMonitor(id) => self.monitors.remove(*id),
            Change::BindMonitor(bind) => self.bind_monitor(bind, now),
            Change::SetMonitorBinding(bind) => self.set_monitor_binding(bind, now),
            Change::UnbindMonitor(service, monitor) => {
                self.unbind_monitor(*service, *monitor, now);
            }
            Change::SetPersistenceLimit(limit) => self.persistence.set_limit(*limit),
            Change::SetStartupFactor(factor) => self.set_startup_factor(*factor),
            Change::SetConnectTries(_)
            | Change::SetServiceSockets(..)
            | Change::SetVserverSockets(..) => {}
        }
        for vserver in self.vservers.values_mut() {
            vserver.index.reset();
        }
    }

    fn add_service(&mut self, id: ServiceId, settings: &ServiceSettings, now: Instant) {
        self.services
            .insert(id, Service::new(settings.clone(), now));
        // The first service starts the sampling.
        self.sample();
    }

    fn set_service(&mut self, id: ServiceId, settings: &ServiceSettings, now: Instant) {
        let service = self.services.get_mut(id).expect(PLANNED);
        let moved = settings.address != service.settings.address;
        let was_enabled = service.settings.enabled;
        let identity = service.identity;
        service.set(settings.clone());
        let moves_clients = service.identity != identity;
        if moves_clients {
            for vserver in service.bound_by.clone() {
                let vserver = self.vservers.get_mut(&vserver).expect(PLANNED);
                vserver.drop_hash_table();
            }
        }
        if settings.enabled {
            self.cancel_drain(id);
        }
        if moved || !(was_enabled && settings.enabled) {
            let service = self.services.get_mut(id).expect(PLANNED);
            service.inline.let_off(true, now);
            self.renote_inline(id);
        }
        self.restart_probes(id, moved, now);
        self.settle_service(id, Cause::operator(self.is_booted && !moved), now);
        // A TCP connection to the former address ends by itself; a UDP flow would go on there.
        if moved && settings.protocol == Protocol::Udp {
            self.close_flows(None, Some(id));
        }
    }

    fn remove_service(&mut self, id: ServiceId) {
        self.cancel_drain(id);
        self.drop_inline(id);
        self.monitors.unbind_all(id, &mut self.outputs);
        let service = self.services.remove(id).expect(PLANNED);
        assert!(service.bound_by.is_empty(), "service {} is bound", id.0);
        self.close_flows(None, Some(id));
    }

    fn set_startup_factor(&mut self, factor: u32) {
        self.startup_factor = factor;
        for vserver in self.vservers.values_mut() {
            vserver.set_startup_factor(factor);
        }
    }

    fn add_vserver(&mut self, id: VserverId, settings: &VserverSettings, now: Instant) {
        let mut vserver = Vserver::new(settings.clone(), now);
        vserver.set_startup_factor(self.startup_factor);
        let former = self.vservers.insert(id, vserver);
        assert!(former.is_none(), "virtual server {} exists already", id.0);
        self.join_persistence(id, now);
        self.set_keeping(id, None, now);
        self.open_listener(id, settings);
    }

    fn set_vserver(&mut self, id: VserverId, settings: &VserverSettings, now: Instant) {
        let vserver = self.vservers.get_mut(&id).expect(PLANNED);
        let former = (vserver.settings.listen, vserver.settings.protocol);
        let table = vserver.table(id);
        let keeps = vserver.keeps(id);
        vserver.set(settings.clone(), &self.services, now);
        self.set_persistence(id, table, now);
        self.set_keeping(id, keeps, now);
        if former != (settings.listen, settings.protocol) {
            let (listen, protocol) = former;
            if listen.is_some() {
                self.outputs.push_back(Output::CloseListener(id));
                // Their answers would have to come from the address that is given up.
                if protocol == Protocol::Udp {
                    self.close_dialled(id);
                }
            }
            self.open_listener(id, settings);
        }
        self.update_vserver(id, now);
    }

    fn enable_vserver(&mut self, id: VserverId, now: Instant) {
        let vserver = self.vservers.get_mut(&id).expect(PLANNED);
        if std::mem::take(&mut vserver.is_held_down) {
            vserver.start_up(StartupReason::VserverEnabled);
        }
        self.update_vserver(id, now);
    }

    fn remove_vserver(&mut self, id: VserverId) {
        let vserver = self.vservers.remove(&id).expect(PLANNED);
        self.drop_persistence(id, &vserver);
        if let Some(keeps) = vserver.keeps(id) {
            self.persistence.leave(id, keeps);
        }
        for binding in &vserver.bindings {
            let service = self.services.at_mut(binding.slot);
            service.bound_by.retain(|bound_by| *bound_by != id);
        }
        if vserver.settings.listen.is_some() {
            self.outputs.push_back(Output::CloseListener(id));
        }
        self.close_flows(Some(id), None);
        if vserver.diverted.active > 0 {
            self.close_dialled(id);
        }
    }

    fn bind(&mut self, bind: &Bind, now: Instant) {
        let slot = self.services.slot(bind.service).expect(PLANNED);
        let vserver = self.vservers.get_mut(&bind.vserver).expect(PLANNED);
        self.binding_serial += 1;
        vserver.bind(Binding {
            service: bind.service,
            slot,
            weight: bind.weight,
            order: bind.order,
            active: 0,
            hits: 0,
            serial: self.binding_serial,
            ramp: None,
        });
        vserver.start_ramp(bind.service, &self.services, now);
        vserver.start_up(StartupReason::ServiceBound);
        self.services.at_mut(slot).bound_by.push(bind.vserver);
        self.let_off_last(&[bind.vserver], now);
        self.update_vserver(bind.vserver, now);
    }

    fn set_weight(&mut self, bind: &Bind, now: Instant) {
        let vserver = self.vservers.get_mut(&bind.vserver).expect(PLANNED);
        assert!(
            vserver.set_weight(bind),
            "service {} is not bound",
            bind.service.0
        );
        self.update_vserver(bind.vserver, now);
    }

    fn unbind(&mut self, id: VserverId, service: ServiceId, now: Instant) {
        let vserver = self.vservers.get_mut(&id).expect(PLANNED);
        assert!(
            vserver.unbind(service),
            "service {} is not bound",
            service.0
        );
        let table = vserver.table(id);
        let bound_by = &mut self.services.get_mut(service).expect(PLANNED).bound_by;
        bound_by.retain(|bound_by| *bound_by != id);
        if let Some(table) = table {
            self.persistence.unbind(table, service, bound_by);
        }
        self.close_flows(Some(id), Some(service));
        self.let_off_last(&[id], now);
        self.update_vserver(id, now);
    }

    /// Starts or drops what new services get, for a service whose state has become `state`.
    pub(super) fn update_ramp(
        &mut self,
        id: VserverId,
        service: ServiceId,
        state: State,
        now: Instant,
    ) {
        let vserver = self.vservers.get_mut(&id).expect(PLANNED);
        match state {
            State::Up => {
                vserver.start_ramp(service, &self.services, now);
                vserver.start_up(StartupReason::ServiceUp);
            }
            State::Down
            | State::Unknown
            | State::OutOfService
            | State::GoingOutOfService
            | State::DownWhenGoingOutOfService => vserver.drop_ramp(service),
        }
    }

    /// Brings the state of a virtual server up to date, with what follows from a change of it.
    pub(super) fn update_vserver(&mut self, id: VserverId, now: Instant) {
        let vserver = self.vservers.get_mut(&id).expect(PLANNED);
        let Some(former) = vserver.update_state(&self.services, now) else {
            return;
        };
        let state = vserver.state;
        let VserverSettings {
            protocol,
            flush_on_down,
            ..
        } = vserver.settings;
        self.outputs.push_back(Output::VserverState(id, state, now));
        if ends_flows(protocol, flush_on_down, former, state) {
            match state {
                State::Down => self.close_down(id),
                State::Up
                | State::Unknown
                | State::OutOfService
                | State::GoingOutOfService
                | State::DownWhenGoingOutOfService => self.close_flows(Some(id), None),
            }
        }
    }

    fn open_listener(&mut self, id: VserverId, settings: &VserverSettings) {
        if let Some(address) = settings.listen {
            self.outputs.push_back(Output::OpenListener {
                vserver: id,
                protocol: settings.protocol,
                address,
            });
        }
    }

    pub(super) fn close_flows(&mut self, vserver: Option<VserverId>, service: Option<ServiceId>) {
        let flows = CloseFlows {
            vserver,
            dialled: None,
            service,
        };
        self.outputs.push_back(Output::CloseFlows(flows));
    }

    fn close_dialled(&mut self, id: VserverId) {
        let flows = CloseFlows {
            vserver: None,
            dialled: Some(id),
            service: None,
        };
        self.outputs.push_back(Output::CloseFlows(flows));
    }
}

const PLANNED: &str = "a plan names only objects and bindings that exist";
