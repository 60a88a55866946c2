//! Planning commands on services.

use std::net::{IpAddr, SocketAddr};

use sluice_balance::{Change, ServiceId};
use sluice_command::{Command, ConfigVerb, Fault, Key, Noun};

use crate::edit::Edit;
use crate::object::{Server, Service, Vserver};
use crate::plan::{room, without_options};
use crate::settings::Settings;
use crate::{Config, Plan, chain, refusal, words};

impl Config {
    pub(crate) fn plan_service(&self, verb: ConfigVerb, command: &Command) -> Result<Plan, Fault> {
        match verb {
            ConfigVerb::Add => self.add_service(command),
            ConfigVerb::Set => self.set_service(command),
            ConfigVerb::Unset => self.unset_service(command),
            ConfigVerb::Rm => self.rm_services(command),
            ConfigVerb::Enable => self.enable_services(command),
            ConfigVerb::Disable => self.disable_services(command),
            ConfigVerb::Bind | ConfigVerb::Unbind => Err(refusal::not_configuring()),
        }
    }

    fn add_service(&self, command: &Command) -> Result<Plan, Fault> {
        let name = words::name(command)?;
        if self.service(name).is_some() {
            return Err(refusal::exists("service", name));
        }
        if self.service_group(name).is_some() {
            return Err(refusal::name_of_a_group(name));
        }
        let service_type = words::service_type(command)?;
        self.check_profiles(command, service_type.is_tcp())?;
        let port = words::port(command)?;
        let mut plan = Plan::default();
        let server = self.named_server(&mut plan, command)?;
        let mut service = Service {
            id: ServiceId(room(&self.objects.services, "services", MOST_SERVICES)?),
            name: name.to_owned(),
            server: server.name.clone(),
            service_type,
            address: SocketAddr::new(server.address, port),
            enabled: words::enabled(command)?,
            settings: Settings::new(Noun::Service, service_type.name()),
            member: None,
        };
        self.check_endpoint(&service)?;
        plan.warnings.extend(service_type.warning());
        plan.take_options(command, &mut service.settings)?;
        plan.put_service(None, service, &server);
        Ok(plan)
    }

    fn set_service(&self, command: &Command) -> Result<Plan, Fault> {
        let before = self.find_service("name", words::name(command)?)?;
        self.check_profiles(command, before.service_type.is_tcp())?;
        let mut after = before.clone();
        let mut plan = Plan::default();
        let options = plan.take_options(command, &mut after.settings)?;
        let address = words::host(command, Key::IpAddress)?;
        let server = self.server_of(before);
        let server = match address {
            // It stays on its server, whatever that is called.
            Some(address) if address == server.address => server.clone(),
            Some(address) => self.literal_server(&mut plan, address)?,
            None if options > 0 => server.clone(),
            None => return Err(refusal::nothing_to_set()),
        };
        after.server.clone_from(&server.name);
        after.address.set_ip(server.address);
        self.check_endpoint(&after)?;
        if command.arg(Key::MaxClient).is_some() {
            let bound_to = self.vservers_of(before);
            let idle = bound_to.filter_map(|v| chain::never_spills(&v.settings, &after));
            plan.warnings.extend(idle);
        }
        plan.put_service(Some((before, self.server_of(before))), after, &server);
        Ok(plan)
    }

    fn unset_service(&self, command: &Command) -> Result<Plan, Fault> {
        let before = self.find_service("name", words::name(command)?)?;
        let mut after = before.clone();
        after.settings = without_options(command, &before.settings)?;
        let mut plan = Plan::default();
        let server = self.server_of(before);
        plan.put_service(Some((before, server)), after, server);
        Ok(plan)
    }

    /// A bound service is unbound everywhere, which is the reference's default.
    fn rm_services(&self, command: &Command) -> Result<Plan, Fault> {
        let mut plan = Plan::default();
        for name in words::names(command)? {
            let service = self.find_service("name", name)?;
            let bound = self.vservers_of(service).next();
            if let Some(vserver) = bound.filter(|_| !self.objects.parameter.lets_bound_go()) {
                return Err(refusal::service_in_use(&vserver.name, &service.name));
            }
            for vserver in self.vservers_of(service) {
                plan.changes.push(Change::Unbind(vserver.id, service.id));
                plan.edits.push(Edit::Unbind(vserver.id, service.id));
            }
            plan.changes.push(Change::RemoveService(service.id));
            plan.edits.push(Edit::RemoveService(service.id));
        }
        Ok(plan)
    }

    fn enable_services(&self, command: &Command) -> Result<Plan, Fault> {
        let mut plan = Plan::default();
        for name in words::names(command)? {
            let before = self.find_service("name", name)?;
            let mut after = before.clone();
            after.enabled = true;
            let server = self.server_of(before);
            if before.enabled {
                // It may be DOWN because of its connections: the operator knows better.
                plan.changes.push(Change::EnableService(before.id));
            }
            plan.put_service(Some((before, server)), after, server);
        }
        Ok(plan)
    }

    /// The core is told of those too that are disabled: they may be on their way still.
    fn disable_services(&self, command: &Command) -> Result<Plan, Fault> {
        let leave = words::leave(command);
        let mut plan = Plan::default();
        for name in words::names(command)? {
            let before = self.find_service("name", name)?;
            plan.changes.push(Change::DisableService(before.id, leave));
            if before.enabled {
                let mut after = before.clone();
                after.enabled = false;
                plan.edits.push(Edit::Service(after));
            }
        }
        Ok(plan)
    }

    /// Returns the server a new service is put on.
    pub(crate) fn named_server(&self, plan: &mut Plan, command: &Command) -> Result<Server, Fault> {
        let Some(name) = command.text(Key::ServerName) else {
            let address = words::host(command, Key::Address)?;
            let address = address.ok_or_else(|| refusal::absent(command, Key::ServerName))?;
            return self.literal_server(plan, address);
        };
        let server = self.server(name).cloned();
        server.ok_or_else(|| refusal::missing("serverName", name, "server"))
    }

    fn literal_server(&self, plan: &mut Plan, address: IpAddr) -> Result<Server, Fault> {
        let (server, new) = self.server_at(address)?;
        if new {
            plan.edits.push(Edit::Server(server.clone()));
        }
        Ok(server)
    }

    /// Refuses a service that would answer where one of its kind does (another service, a member of the
    /// same service group), or one that is bound to the same virtual server.
    pub(crate) fn check_endpoint(&self, service: &Service) -> Result<(), Fault> {
        self.check_kind(service)?;
        self.vservers_of(service)
            .try_for_each(|vserver| self.check_beside(vserver, service))
    }

    /// Refuses a service that would answer where one of its kind does.
    pub(crate) fn check_kind(&self, service: &Service) -> Result<(), Fault> {
        let group = |service: &Service| service.member.as_ref().map(|member| member.group);
        let mut others = self.others_at(service);
        match others.find(|other| group(other) == group(service)) {
            Some(other) => Err(refusal::same_endpoint(other)),
            None => Ok(()),
        }
    }

    fn check_beside(&self, vserver: &Vserver, service: &Service) -> Result<(), Fault> {
        match self.bound_at(vserver, service) {
            Some(other) => Err(refusal::endpoint_of_other(&vserver.name, other)),
            None => Ok(()),
        }
    }

    /// Returns the other service that is bound to a virtual server and answers where this one does.
    pub(crate) fn bound_at(&self, vserver: &Vserver, service: &Service) -> Option<&Service> {
        let mut others = self.others_at(service);
        others.find(|other| self.is_bound(vserver, other.id))
    }

    fn others_at(&self, service: &Service) -> impl Iterator<Item = &Service> {
        let at = self.objects.endpoints.get(&service.endpoint());
        let (at, own) = (at.into_iter().flatten(), service.id);
        at.filter(move |id| **id != own)
            .filter_map(|id| self.service_by_id(*id))
    }

    pub(crate) fn find_service(&self, argument: &str, name: &str) -> Result<&Service, Fault> {
        let service = self.service(name);
        service.ok_or_else(|| refusal::missing(argument, name, "service"))
    }
}

/// A port range's worth; the data plane keeps a line of counters for each.
pub(crate) const MOST_SERVICES: usize = 65_536;
