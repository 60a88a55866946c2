//! Looking at the configuration, and writing it down.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use sluice_balance::{Order, ServiceId, ServiceSettings, VserverId, VserverSettings, Weight};
use sluice_command::{Command, ConfigNoun, Noun, render};

use crate::group::Group;
use crate::object::{Binding, Listen, Server, Service, ServiceType, Vserver};
use crate::profile::{KINDS, Profile, ProfileKind};
use crate::service_group::{Membership, ServiceGroup};
use crate::settings::Settings;
use crate::{Config, binding, chain, choosing, words};

impl Config {
    /// Walks all servers in the order of their creation.
    pub fn servers(&self) -> impl Iterator<Item = &Server> {
        self.objects.servers.iter()
    }

    /// Walks all services in the order of their creation, members of service groups among them.
    pub fn services(&self) -> impl Iterator<Item = &Service> {
        self.objects.services.iter()
    }

    /// Walks the services that are no members, in the order of their creation.
    pub fn own_services(&self) -> impl Iterator<Item = &Service> {
        self.services().filter(|service| service.member.is_none())
    }

    /// Walks all virtual servers in the order of their creation.
    pub fn vservers(&self) -> impl Iterator<Item = &Vserver> {
        self.objects.vservers.iter()
    }

    /// Returns the server of this exact name; an address is a name however it is written.
    pub fn server(&self, name: &str) -> Option<&Server> {
        self.objects.servers.named(&words::server_name(name))
    }

    /// Returns the service of this exact name that is no member of a service group.
    pub fn service(&self, name: &str) -> Option<&Service> {
        let service = self.objects.services.named(name);
        service.filter(|service| service.member.is_none())
    }

    /// Returns the virtual server of this exact name.
    pub fn vserver(&self, name: &str) -> Option<&Vserver> {
        self.objects.vservers.named(name)
    }

    /// Returns the service of this number.
    pub fn service_by_id(&self, id: ServiceId) -> Option<&Service> {
        self.objects.services.get(id.0)
    }

    /// Returns the virtual server of this number.
    pub fn vserver_by_id(&self, id: VserverId) -> Option<&Vserver> {
        self.objects.vservers.get(id.0)
    }

    /// Returns the server of a service.
    ///
    /// # Panics
    /// When the service is not one of this configuration.
    pub fn server_of(&self, service: &Service) -> &Server {
        let server = self.objects.servers.named(&service.server);
        server.expect("a server stays as long as it has services")
    }

    /// Walks the services of a server in the order of their creation.
    pub fn services_of(&self, server: &Server) -> impl Iterator<Item = &Service> {
        let services = self.objects.of_server.get(&server.name);
        let services = services.into_iter().flatten();
        services.filter_map(|service| self.service_by_id(*service))
    }

    /// Walks the virtual servers a service is bound to, in the order of their creation.
    pub fn vservers_of(&self, service: &Service) -> impl Iterator<Item = &Vserver> {
        let vservers = self.objects.of_service.get(&service.id);
        let vservers = vservers.into_iter().flatten();
        vservers.filter_map(|vserver| self.vserver_by_id(*vserver))
    }

    /// Returns whether a service, its service group and its server are enabled.
    pub fn takes_part(&self, service: &Service) -> bool {
        service.takes_part(self.server_of(service))
    }

    /// Returns what the core knows of a service.
    pub fn core_of(&self, service: &Service) -> ServiceSettings {
        service.core(self.server_of(service))
    }

    /// Returns the options in force of a virtual server, by the spelling of the table: its own, and
    /// those of the group it is in.
    pub fn vserver_options(&self, vserver: &Vserver) -> BTreeMap<String, String> {
        let mut options = vserver.settings.all();
        if let Some(group) = self.group_of(vserver) {
            let shared = choosing::OF_GROUP.into_iter();
            options.extend(shared.filter_map(|key| group.settings.shown(key)));
        }
        options
    }

    /// Returns what the core knows of a virtual server.
    pub fn core_of_vserver(&self, vserver: &Vserver) -> VserverSettings {
        let backup = self.backup_of(vserver).map(Vserver::id);
        vserver.core(
            &self.objects.parameter,
            self.lb_profile_of(vserver),
            self.group_of(vserver),
            backup,
        )
    }

    /// Returns the names of all objects of a noun, in the order of their creation.
    pub fn names(&self, noun: Noun) -> Vec<String> {
        match noun.configured() {
            Some(ConfigNoun::Server) => self.servers().map(|server| server.name.clone()).collect(),
            Some(ConfigNoun::Service) => self
                .own_services()
                .map(|service| service.name.clone())
                .collect(),
            Some(ConfigNoun::ServiceGroup) => self
                .service_groups()
                .map(|group| group.name.clone())
                .collect(),
            Some(ConfigNoun::LbVserver) => self
                .vservers()
                .map(|vserver| vserver.name.clone())
                .collect(),
            Some(ConfigNoun::LbGroup) => self.groups().map(|group| group.name.clone()).collect(),
            Some(ConfigNoun::NsTcpProfile | ConfigNoun::NetProfile | ConfigNoun::LbProfile) => {
                let profiles = self.profiles(noun).into_iter();
                profiles.map(|profile| profile.name).collect()
            }
            Some(ConfigNoun::LbParameter) | None => Vec::new(),
        }
    }

    /// Returns the running configuration as commands, one per line, in saved order.
    pub fn render(&self) -> Vec<String> {
        self.commands().iter().map(render).collect()
    }

    /// Returns the commands that make this configuration, in saved order: every object before what
    /// refers to it.
    pub fn commands(&self) -> Vec<Command> {
        let profiles = |kind| self.own_profiles(kind).map(Profile::saved);
        let shared = profiles(ProfileKind::Tcp).chain(profiles(ProfileKind::Net));
        let servers = shared.chain(self.servers().map(Server::saved));
        let services = self.own_services().map(Service::saved);
        let service_groups = self.service_groups().map(ServiceGroup::saved);
        let parameter = self.objects.parameter.saved();
        let vservers = self.vservers().map(|vserver| self.saved_vserver(vserver));
        let (vservers, backups): (Vec<_>, Vec<_>) = vservers.unzip();
        let groups = self.groups().map(Group::saved);
        let services = servers
            .chain(services)
            .chain(service_groups)
            .chain(parameter)
            .chain(profiles(ProfileKind::Lb));
        let mut commands: Vec<Command> = services
            .chain(vservers)
            .chain(backups.into_iter().flatten())
            .chain(groups)
            .collect();
        for vserver in self.vservers() {
            let bindings = self.own_bindings(vserver);
            commands.extend(bindings.map(|(binding, service)| {
                binding::saved(&vserver.name, &service.name, binding.weight, binding.order)
            }));
            commands.extend(self.saved_group_bindings(vserver));
        }
        for group in self.groups() {
            let members = self.members_of(group);
            commands.extend(members.map(|vserver| group.saved_member(&vserver.name)));
        }
        commands.extend(self.saved_members());
        commands
    }

    pub(crate) fn is_bound(&self, vserver: &Vserver, service: ServiceId) -> bool {
        let vservers = self.objects.of_service.get(&service);
        vservers.is_some_and(|vservers| vservers.contains(&vserver.id))
    }

    /// Returns the line that adds a virtual server, and the one that gives it its backup if that is
    /// added later.
    fn saved_vserver(&self, vserver: &Vserver) -> (Command, Option<Command>) {
        let mut add = vserver.saved();
        let is_later = |backup: &Vserver| backup.id > vserver.id;
        if !self.backup_of(vserver).is_some_and(is_later) {
            return (add, None);
        }
        let (now, later) = chain::split(std::mem::take(&mut add.args));
        add.args = now;
        (add, Some(chain::late(&vserver.name, later)))
    }

    /// Walks the bindings of services that are no members.
    fn own_bindings(&self, vserver: &Vserver) -> impl Iterator<Item = (Binding, &Service)> {
        let bindings = vserver.bindings.iter();
        let bound = bindings.map(|binding| {
            let service = self.service_by_id(binding.service);
            let service = service.expect("a service that goes is unbound first");
            (*binding, service)
        });
        bound.filter(|(_, service)| service.member.is_none())
    }
}

/// Two configurations are equal when they have the same objects in the same order with the same
/// options and bindings; the numbers behind the names are not looked at, nor how the members of service
/// groups stand among the other services of a virtual server, which no saved line tells.
impl PartialEq for Config {
    fn eq(&self, other: &Self) -> bool {
        self.objects.parameter == other.objects.parameter
            && KINDS.into_iter().all(|kind| {
                let views = |config: &Self| -> Vec<Command> {
                    config.own_profiles(kind).map(Profile::saved).collect()
                };
                views(self) == views(other)
            })
            && self
                .servers()
                .map(server_view)
                .eq(other.servers().map(server_view))
            && self
                .own_services()
                .map(service_view)
                .eq(other.own_services().map(service_view))
            && self
                .service_groups()
                .map(|group| service_group_view(self, group))
                .eq(other
                    .service_groups()
                    .map(|group| service_group_view(other, group)))
            && self
                .vservers()
                .map(|vserver| vserver_view(self, vserver))
                .eq(other.vservers().map(|vserver| vserver_view(other, vserver)))
            && self
                .groups()
                .map(|group| group_view(self, group))
                .eq(other.groups().map(|group| group_view(other, group)))
    }
}

impl Eq for Config {}

fn server_view(server: &Server) -> (&str, std::net::IpAddr, bool, &Settings) {
    let Server {
        number: _,
        name,
        address,
        enabled,
        settings,
    } = server;
    (name, *address, *enabled, settings)
}

type ServiceView<'a> = (
    &'a str,
    &'a str,
    ServiceType,
    SocketAddr,
    bool,
    (&'a Settings, Option<(&'a str, bool, &'a Settings)>),
);

fn service_view(service: &Service) -> ServiceView<'_> {
    let Service {
        id: _,
        name,
        server,
        service_type,
        address,
        enabled,
        settings,
        member,
    } = service;
    let member = member.as_ref().map(membership_view);
    let options = (settings, member);
    (name, server, *service_type, *address, *enabled, options)
}

fn membership_view(member: &Membership) -> (&str, bool, &Settings) {
    let Membership {
        group: _,
        group_name,
        group_enabled,
        own,
    } = member;
    (group_name, *group_enabled, own)
}

type ServiceGroupView<'a> = (
    &'a str,
    ServiceType,
    bool,
    &'a Settings,
    Vec<ServiceView<'a>>,
);

fn service_group_view<'a>(config: &'a Config, group: &'a ServiceGroup) -> ServiceGroupView<'a> {
    let ServiceGroup {
        number: _,
        name,
        service_type,
        enabled,
        settings,
        members: _,
    } = group;
    let members = config.members_of_service_group(group).map(service_view);
    (name, *service_type, *enabled, settings, members.collect())
}

fn group_view<'a>(config: &'a Config, group: &'a Group) -> (&'a str, &'a Settings, Vec<&'a str>) {
    let Group {
        id: _,
        name,
        settings,
        members: _,
    } = group;
    let members = config.members_of(group).map(Vserver::name);
    (name, settings, members.collect())
}

type VserverView<'a> = (
    &'a str,
    ServiceType,
    Listen,
    bool,
    &'a Settings,
    Vec<BoundView<'a>>,
);

type BoundView<'a> = (&'a str, Weight, Option<Order>);

fn vserver_view<'a>(config: &'a Config, vserver: &'a Vserver) -> VserverView<'a> {
    let Vserver {
        id: _,
        name,
        service_type,
        listen,
        enabled,
        settings,
        bindings: _,
        groups: _,
    } = vserver;
    let services = config
        .own_bindings(vserver)
        .map(|(binding, service)| (service.name.as_str(), binding.weight, binding.order));
    let groups = config
        .bound_groups(vserver)
        .map(|(bound, group)| (group.name.as_str(), bound.weight, bound.order));
    // A service and a service group cannot have one name.
    let bound = services.chain(groups).collect();
    (name, *service_type, *listen, *enabled, settings, bound)
}
