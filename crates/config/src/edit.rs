//! Taking a plan into effect: the objects and the indexes over them, kept in step in one place.
//!
//! An edit comes from a plan that was checked against this very state; one that does not fit is a
//! broken invariant and panics.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::SocketAddr;

use sluice_balance::{GroupId, Protocol, ServiceId, VserverId};

use crate::group::Group;
use crate::object::{Binding, Server, Service, Vserver};
use crate::parameter::Parameter;
use crate::profile::{Profile, ProfileKind, Profiles};
use crate::registry::Registry;
use crate::service_group::{GroupBinding, GroupNumber, ServiceGroup};

/// One step of a plan.
#[derive(Clone, Debug)]
pub(crate) enum Edit {
    /// Adds a server or replaces the one with its number.
    Server(Server),
    RemoveServer(String),
    /// Adds a service or replaces the one with its number; a new one that is a member comes last in its
    /// service group.
    Service(Service),
    /// Removes a service that is bound nowhere.
    RemoveService(ServiceId),
    /// Adds a virtual server or replaces all but the bindings of the one with its number.
    Vserver(Vserver),
    /// Removes a virtual server and its bindings.
    RemoveVserver(VserverId),
    Bind(VserverId, Binding),
    /// Changes the weight and the order of a bound service.
    SetBinding(VserverId, Binding),
    Unbind(VserverId, ServiceId),
    /// Adds a service group or replaces all but the members of the one with its number.
    ServiceGroup(ServiceGroup),
    /// Removes a service group without members that is bound nowhere.
    RemoveServiceGroup(GroupNumber),
    /// Notes that a service group is bound; its members are bound one by one.
    BindGroup(VserverId, GroupBinding),
    SetGroupBinding(VserverId, GroupBinding),
    UnbindGroup(VserverId, GroupNumber),
    Parameter(Parameter),
    /// Adds a profile or replaces the one of its name.
    Profile(Profile),
    RemoveProfile(ProfileKind, String),
    /// Adds a group or replaces all but the members of the one with its number.
    Group(Group),
    /// Removes a group; its members are in none then.
    RemoveGroup(GroupId),
    /// Puts a virtual server that is in no group into one.
    Join(GroupId, VserverId),
    /// Takes a virtual server out of its group.
    Leave(VserverId),
}

/// All objects, and the indexes that make checking a command cheap.
#[derive(Clone, Debug, Default)]
pub(crate) struct Objects {
    pub(crate) servers: Registry<Server>,
    pub(crate) services: Registry<Service>,
    pub(crate) vservers: Registry<Vserver>,
    pub(crate) service_groups: Registry<ServiceGroup>,
    pub(crate) groups: Registry<Group>,
    pub(crate) parameter: Parameter,
    pub(crate) profiles: Profiles,
    /// The group of each virtual server that is in one.
    pub(crate) group_of: BTreeMap<VserverId, GroupId>,
    /// The services of each server that has some.
    pub(crate) of_server: HashMap<String, BTreeSet<ServiceId>>,
    /// The virtual servers each bound service is bound to.
    pub(crate) of_service: BTreeMap<ServiceId, BTreeSet<VserverId>>,
    /// The virtual servers each bound service group is bound to.
    pub(crate) of_service_group: BTreeMap<GroupNumber, BTreeSet<VserverId>>,
    /// Who answers at an address: one service of its own, and members of different service groups.
    pub(crate) endpoints: HashMap<(SocketAddr, Protocol), BTreeSet<ServiceId>>,
    /// Who listens on an address.
    pub(crate) listeners: HashMap<(SocketAddr, Protocol), VserverId>,
    /// Bindings of all virtual servers.
    pub(crate) binding_count: usize,
}

impl Objects {
    pub(crate) fn apply(&mut self, edit: Edit) {
        match edit {
            Edit::Server(server) => {
                let name = server.name().to_owned();
                let number = server.number;
                if let Some(old) = self.servers.put(number, &name, server) {
                    self.servers.forget(number, &old.name, &name);
                }
            }
            Edit::RemoveServer(name) => self.remove_server(&name),
            Edit::Service(service) => self.put_service(service),
            Edit::RemoveService(id) => self.remove_service(id),
            Edit::Vserver(vserver) => self.put_vserver(vserver),
            Edit::RemoveVserver(id) => self.remove_vserver(id),
            Edit::Bind(vserver, binding) => {
                self.bindings(vserver).push(binding);
                let of_service = self.of_service.entry(binding.service).or_default();
                of_service.insert(vserver);
                self.binding_count += 1;
            }
            Edit::SetBinding(vserver, binding) => {
                *self.binding(vserver, binding.service) = binding;
            }
            Edit::Unbind(vserver, service) => {
                let bindings = self.bindings(vserver);
                bindings.retain(|binding| binding.service != service);
                self.forget_binding(vserver, service);
            }
            Edit::ServiceGroup(group) => self.put_service_group(group),
            Edit::RemoveServiceGroup(number) => self.remove_service_group(number),
            Edit::BindGroup(vserver, binding) => {
                self.bound_groups(vserver).push(binding);
                let of_group = self.of_service_group.entry(binding.group).or_default();
                of_group.insert(vserver);
            }
            Edit::SetGroupBinding(vserver, binding) => {
                let mut groups = self.bound_groups(vserver).iter_mut();
                let known = groups.find(|known| known.group == binding.group);
                *known.expect("the plan found it bound") = binding;
            }
            Edit::UnbindGroup(vserver, group) => {
                self.bound_groups(vserver)
                    .retain(|bound| bound.group != group);
                self.forget_group_binding(vserver, group);
            }
            Edit::Parameter(parameter) => self.parameter = parameter,
            Edit::Profile(profile) => {
                let name = profile.name.clone();
                let profiles = self.profiles.entry(profile.kind).or_default();
                profiles.put(profile.number, &name, profile);
            }
            Edit::RemoveProfile(kind, name) => {
                let profiles = self.profiles.entry(kind).or_default();
                if let Some(number) = profiles.named(&name).map(|profile| profile.number) {
                    profiles.remove(number, &name);
                }
            }
            Edit::Group(group) => self.put_group(group),
            Edit::RemoveGroup(id) => self.remove_group(id),
            Edit::Join(id, vserver) => {
                let group = self.groups.get_mut(id.0);
                group
                    .expect("the plan found or made it")
                    .members
                    .push(vserver);
                self.group_of.insert(vserver, id);
            }
            Edit::Leave(vserver) => self.leave_group(vserver),
        }
    }

    fn remove_server(&mut self, name: &str) {
        let server = self.servers.named(name).expect("the plan found it");
        let number = server.number;
        self.servers.remove(number, name);
    }

    fn put_service(&mut self, service: Service) {
        let id = service.id();
        let of_server = self.of_server.entry(service.server().to_owned());
        of_server.or_default().insert(id);
        let name = service.name().to_owned();
        let server = service.server().to_owned();
        let endpoint = service.endpoint();
        let group = service.member.as_ref().map(|member| member.group);
        match self.services.put(id.0, &name, service) {
            Some(old) => {
                self.services.forget(id.0, &old.name, &name);
                self.leave_endpoint(old.endpoint(), id);
                if old.server() != server {
                    self.leave_server(old.server(), id);
                }
            }
            None => {
                if let Some(group) = group {
                    self.members(group).push(id);
                }
            }
        }
        self.endpoints.entry(endpoint).or_default().insert(id);
    }

    fn remove_service(&mut self, id: ServiceId) {
        let service = self.services.get(id.0).expect("the plan found it");
        let name = service.name().to_owned();
        let service = self.services.remove(id.0, &name);
        let service = service.expect("it was found under this number");
        self.leave_endpoint(service.endpoint(), id);
        self.leave_server(service.server(), id);
        if let Some(member) = service.member {
            self.members(member.group).retain(|member| *member != id);
        }
    }

    fn leave_endpoint(&mut self, endpoint: (SocketAddr, Protocol), service: ServiceId) {
        let services = self.endpoints.get_mut(&endpoint);
        let services = services.expect("a service is listed where it answers");
        services.remove(&service);
        if services.is_empty() {
            self.endpoints.remove(&endpoint);
        }
    }

    fn put_service_group(&mut self, mut group: ServiceGroup) {
        let number = group.number;
        if let Some(old) = self.service_groups.get_mut(number.0) {
            group.members = std::mem::take(&mut old.members);
        }
        let name = group.name.clone();
        if let Some(old) = self.service_groups.put(number.0, &name, group) {
            self.service_groups.forget(number.0, &old.name, &name);
        }
    }

    fn remove_service_group(&mut self, number: GroupNumber) {
        let group = self
            .service_groups
            .get(number.0)
            .expect("the plan found it");
        let name = group.name.clone();
        self.service_groups.remove(number.0, &name);
    }

    fn members(&mut self, group: GroupNumber) -> &mut Vec<ServiceId> {
        let group = self.service_groups.get_mut(group.0);
        &mut group
            .expect("a group stays as long as it has members")
            .members
    }

    fn bound_groups(&mut self, vserver: VserverId) -> &mut Vec<GroupBinding> {
        let vserver = self.vservers.get_mut(vserver.0);
        &mut vserver.expect("the plan found it").groups
    }

    fn forget_group_binding(&mut self, vserver: VserverId, group: GroupNumber) {
        let vservers = self.of_service_group.get_mut(&group);
        let vservers = vservers.expect("a bound group knows where");
        vservers.remove(&vserver);
        if vservers.is_empty() {
            self.of_service_group.remove(&group);
        }
    }

    fn leave_server(&mut self, server: &str, service: ServiceId) {
        let services = self.of_server.get_mut(server);
        let services = services.expect("a service is listed at its server");
        services.remove(&service);
        if services.is_empty() {
            self.of_server.remove(server);
        }
    }

    fn put_vserver(&mut self, mut vserver: Vserver) {
        let id = vserver.id();
        let listener = vserver.listener();
        if let Some(old) = self.vservers.get_mut(id.0) {
            vserver.bindings = std::mem::take(&mut old.bindings);
            vserver.groups = std::mem::take(&mut old.groups);
        }
        let name = vserver.name().to_owned();
        let old = self.vservers.put(id.0, &name, vserver);
        if let Some(old) = &old {
            self.vservers.forget(id.0, &old.name, &name);
        }
        if let Some(listener) = old.and_then(|old| old.listener()) {
            release(&mut self.listeners, listener, id);
        }
        if let Some(listener) = listener {
            self.listeners.insert(listener, id);
        }
    }

    fn remove_vserver(&mut self, id: VserverId) {
        let vserver = self.vservers.get(id.0).expect("the plan found it");
        let name = vserver.name().to_owned();
        let vserver = self.vservers.remove(id.0, &name);
        let vserver = vserver.expect("it was found under this number");
        for binding in vserver.bindings() {
            self.forget_binding(id, binding.service);
        }
        for bound in &vserver.groups {
            self.forget_group_binding(id, bound.group);
        }
        self.leave_group(id);
        if let Some(listener) = vserver.listener() {
            release(&mut self.listeners, listener, id);
        }
    }

    fn put_group(&mut self, mut group: Group) {
        let id = group.id;
        if let Some(old) = self.groups.get_mut(id.0) {
            group.members = std::mem::take(&mut old.members);
        }
        let name = group.name.clone();
        if let Some(old) = self.groups.put(id.0, &name, group) {
            self.groups.forget(id.0, &old.name, &name);
        }
    }

    fn remove_group(&mut self, id: GroupId) {
        let group = self.groups.get(id.0).expect("the plan found it");
        let name = group.name.clone();
        let group = self.groups.remove(id.0, &name);
        for member in group.expect("it was found under this number").members {
            self.group_of.remove(&member);
        }
    }

    /// Takes a virtual server out of its group, if it is in one.
    fn leave_group(&mut self, vserver: VserverId) {
        if let Some(id) = self.group_of.remove(&vserver) {
            let group = self.groups.get_mut(id.0);
            let members = &mut group.expect("a group knows its members").members;
            members.retain(|member| *member != vserver);
        }
    }

    fn bindings(&mut self, vserver: VserverId) -> &mut Vec<Binding> {
        let vserver = self.vservers.get_mut(vserver.0);
        &mut vserver.expect("the plan found it").bindings
    }

    fn binding(&mut self, vserver: VserverId, service: ServiceId) -> &mut Binding {
        let mut bindings = self.bindings(vserver).iter_mut();
        let binding = bindings.find(|binding| binding.service == service);
        binding.expect("the plan found it bound")
    }

    fn forget_binding(&mut self, vserver: VserverId, service: ServiceId) {
        let vservers = self.of_service.get_mut(&service);
        let vservers = vservers.expect("a bound service knows where");
        vservers.remove(&vserver);
        if vservers.is_empty() {
            self.of_service.remove(&service);
        }
        self.binding_count -= 1;
    }
}

/// Gives up an address, unless somebody else has it by now.
fn release<T: PartialEq>(
    owners: &mut HashMap<(SocketAddr, Protocol), T>,
    address: (SocketAddr, Protocol),
    owner: T,
) {
    if owners.get(&address) == Some(&owner) {
        owners.remove(&address);
    }
}
