//! The rows of `show`.

use sluice_balance::{Order, StartupReason, StartupStatus, State, VserverStatus};
use sluice_config::{Group, Server, Service, Vserver};
use sluice_protocol::{
    BoundService, GroupMember, GroupRow, Row, ServerRow, ServerService, ServiceRow,
    StartupRoundRobin, VserverRow,
};

use super::tcp_inline::tcp_inline;
use super::{View, shown, up};

impl View<'_> {
    pub(super) fn server(&self, server: &Server, detail: bool) -> Row {
        let services = self.config.services_of(server).filter(|_| detail);
        Row::Server(ServerRow {
            name: server.name().to_owned(),
            address: server.address().to_string(),
            state: if server.is_enabled() {
                "ENABLED"
            } else {
                "DISABLED"
            }
            .to_owned(),
            comment: server.comment(),
            services: services
                .map(|service| self.server_service(service))
                .collect(),
        })
    }

    fn server_service(&self, service: &Service) -> ServerService {
        ServerService {
            name: label(service),
            address: service.address().ip().to_string(),
            port: service.address().port().to_string(),
            service_type: service.service_type().name().to_owned(),
            state: shown(self.status(service).state),
            drain: self.drain(self.status(service)),
        }
    }

    pub(super) fn service(&self, service: &Service) -> Row {
        let status = self.status(service);
        let (state_age_ms, state_change_unix_ms) = self.age(status.since);
        Row::Service(ServiceRow {
            name: service.name().to_owned(),
            server: service.server().to_owned(),
            address: service.address().ip().to_string(),
            port: service.address().port().to_string(),
            service_type: service.service_type().name().to_owned(),
            state: shown(status.state),
            state_change_unix_ms,
            state_age_ms,
            drain: self.drain(status),
            tcp_inline: tcp_inline(&status.inline, self.now),
            settings: service.options(),
        })
    }

    pub(super) fn vserver(&self, vserver: &Vserver, detail: bool) -> Row {
        let status = self.vserver_status(vserver);
        let (state_age_ms, state_change_unix_ms) = self.age(status.since);
        let bound = status.bindings.iter().map(|binding| {
            let (service, _) = self.services[&binding.service];
            let row = BoundService {
                name: label(service),
                address: service.address().ip().to_string(),
                port: service.address().port().to_string(),
                service_type: service.service_type().name().to_owned(),
                state: shown(binding.state),
                weight: binding.weight.value(),
                order: binding.order.map(Order::value),
                standby: binding.is_standby,
                slow_start: self.slow_start(binding),
            };
            (service, row)
        });
        let bound = detail.then(|| self.bound_groups(vserver, bound.collect()));
        let (bound, bound_groups) = bound.unzip();
        Row::Vserver(VserverRow {
            name: vserver.name().to_owned(),
            address: vserver.listen().address(),
            port: vserver.listen().port().to_string(),
            service_type: vserver.service_type().name().to_owned(),
            state: shown(status.state),
            effective_state: shown(status.effective),
            held_down: status.is_held_down,
            spilling_over: status.is_spilling,
            active_order: active_order(status),
            state_change_unix_ms,
            state_age_ms,
            services_total: status.bindings.len() as u64,
            services_active: up(status.bindings.iter().map(|binding| binding.state)),
            settings: self.config.vserver_options(vserver),
            group: self
                .config
                .group_of(vserver)
                .map(|group| group.name().to_owned()),
            startup: status.startup.map(startup),
            bound,
            bound_groups,
        })
    }

    pub(super) fn group(&self, group: &Group, detail: bool) -> Row {
        let members = || self.config.members_of(group);
        Row::Group(GroupRow {
            name: group.name().to_owned(),
            settings: group.options(),
            members_total: members().count() as u64,
            members: detail.then(|| {
                members()
                    .map(|vserver| self.group_member(vserver))
                    .collect()
            }),
        })
    }

    fn group_member(&self, vserver: &Vserver) -> GroupMember {
        GroupMember {
            name: vserver.name().to_owned(),
            address: vserver.listen().address(),
            port: vserver.listen().port().to_string(),
            service_type: vserver.service_type().name().to_owned(),
            state: shown(self.vserver_status(vserver).state),
        }
    }
}

/// Returns what a service is called beside its address: a member by the name of its service group.
pub(super) fn label(service: &Service) -> String {
    let group = service.group_name();
    group.unwrap_or_else(|| service.name()).to_owned()
}

/// Returns the order that takes the traffic of a virtual server.
fn active_order(status: &VserverStatus) -> Option<u64> {
    let mut bindings = status.bindings.iter();
    let found = bindings.find(|binding| binding.state == State::Up && !binding.is_standby);
    found?.order.map(Order::value)
}

fn startup(status: StartupStatus) -> StartupRoundRobin {
    let reason = match status.reason {
        StartupReason::VserverEnabled => "Vserver is Enabled",
        StartupReason::MethodChanged => "LB method has changed",
        StartupReason::ServiceUp => "Bound service's state changed to UP",
        StartupReason::ServiceBound => "A new service is bound",
        StartupReason::FactorChanged => "Startup RR factor has changed",
    };
    StartupRoundRobin {
        reason: reason.to_owned(),
        requests_left: status.left,
    }
}
