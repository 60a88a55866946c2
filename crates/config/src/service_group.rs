//! Service groups: `serviceGroup`.
//!
//! A member is a service like any other to the core: it has a number, it is bound to every virtual server
//! the group is bound to, and it counts for itself. It carries a copy of the options and the state of its
//! group, which every change of the group renews. Invariants: the members of a group are at different
//! addresses or ports; each is bound exactly where the group is; a group shares its name with no service.

use std::collections::BTreeMap;

use sluice_balance::{Change, Order, ServiceId, Weight};
use sluice_command::{Command, ConfigVerb, Fault, Key, Noun, Value, Verb};

use crate::edit::Edit;
use crate::object::{Service, ServiceType, Vserver};
use crate::plan::{room, without_options};
use crate::settings::Settings;
use crate::words::{self, command as line};
use crate::{Config, Plan, chain, refusal};

/// A service group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceGroup {
    pub(crate) number: GroupNumber,
    pub(crate) name: String,
    pub(crate) service_type: ServiceType,
    pub(crate) enabled: bool,
    pub(crate) settings: Settings,
    /// In the order in which they were bound.
    pub(crate) members: Vec<ServiceId>,
}

/// The number of a service group, never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupNumber(pub u32);

/// A service group of a virtual server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupBinding {
    /// The group.
    pub group: GroupNumber,
    /// As it was given; the members have weights of their own.
    pub weight: Weight,
    /// The order of those members that have none of their own.
    pub order: Option<Order>,
}

/// What makes a service a member of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Membership {
    pub(crate) group: GroupNumber,
    pub(crate) group_name: String,
    pub(crate) group_enabled: bool,
    /// The options of the member alone.
    pub(crate) own: Settings,
}

impl ServiceGroup {
    /// Returns its number.
    pub fn number(&self) -> GroupNumber {
        self.number
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns what its members speak.
    pub fn service_type(&self) -> ServiceType {
        self.service_type
    }

    /// Returns whether it is enabled; a member takes part when it and its server are, too.
    pub fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// Returns the options in force, by the spelling of the table.
    pub fn options(&self) -> BTreeMap<String, String> {
        self.settings.all()
    }

    pub(crate) fn saved(&self) -> Command {
        let positionals = [
            (Key::Name, Value::Text(self.name.clone())),
            (Key::ServiceType, self.service_type.value()),
        ];
        let options = self.settings.saved(self.enabled);
        line(Verb::Add, Noun::ServiceGroup, positionals, options)
    }

    /// Returns a copy to change; members come and go one by one.
    pub(crate) fn draft(&self) -> Self {
        Self {
            number: self.number,
            name: self.name.clone(),
            service_type: self.service_type,
            enabled: self.enabled,
            settings: self.settings.clone(),
            members: Vec::new(),
        }
    }
}

impl Membership {
    pub(crate) fn is_enabled(&self) -> bool {
        self.group_enabled
    }
}

impl Config {
    /// Walks all service groups in the order of their creation.
    pub fn service_groups(&self) -> impl Iterator<Item = &ServiceGroup> {
        self.objects.service_groups.iter()
    }

    /// Returns the service group of this exact name.
    pub fn service_group(&self, name: &str) -> Option<&ServiceGroup> {
        self.objects.service_groups.named(name)
    }

    /// Walks the members of a service group in the order in which they were bound.
    pub fn members_of_service_group(&self, group: &ServiceGroup) -> impl Iterator<Item = &Service> {
        let members = group.members.iter();
        members.filter_map(|member| self.service_by_id(*member))
    }

    /// Walks the virtual servers a service group is bound to, in the order of their creation.
    pub fn vservers_of_service_group(
        &self,
        group: &ServiceGroup,
    ) -> impl Iterator<Item = &Vserver> + use<'_> {
        let vservers = self.objects.of_service_group.get(&group.number);
        let vservers = vservers.into_iter().flatten();
        vservers.filter_map(|vserver| self.vserver_by_id(*vserver))
    }

    /// Walks the service groups of a virtual server in the order in which they were bound.
    pub fn bound_groups(
        &self,
        vserver: &Vserver,
    ) -> impl Iterator<Item = (GroupBinding, &ServiceGroup)> {
        let bound = vserver.groups.iter();
        bound.filter_map(|binding| Some((*binding, self.group_by_number(binding.group)?)))
    }

    pub(crate) fn group_by_number(&self, number: GroupNumber) -> Option<&ServiceGroup> {
        self.objects.service_groups.get(number.0)
    }

    pub(crate) fn plan_service_group(
        &self,
        verb: ConfigVerb,
        command: &Command,
    ) -> Result<Plan, Fault> {
        let of_member = words::is_member(command);
        match verb {
            ConfigVerb::Add => self.add_service_group(command),
            ConfigVerb::Set if of_member => self.set_member(command),
            ConfigVerb::Set => self.set_service_group(command),
            ConfigVerb::Unset if of_member => self.unset_member(command),
            ConfigVerb::Unset => self.unset_service_group(command),
            ConfigVerb::Rm => self.rm_service_groups(command),
            ConfigVerb::Enable if of_member => self.enable_member(command),
            ConfigVerb::Enable => self.enable_service_groups(command),
            ConfigVerb::Disable if of_member => self.disable_member(command),
            ConfigVerb::Disable => self.disable_service_groups(command),
            ConfigVerb::Bind => self.bind_member(command),
            ConfigVerb::Unbind => self.unbind_member(command),
        }
    }

    fn add_service_group(&self, command: &Command) -> Result<Plan, Fault> {
        let name = words::name(command)?;
        if self.service_group(name).is_some() {
            return Err(refusal::exists("serviceGroup", name));
        }
        if self.service(name).is_some() {
            return Err(refusal::name_of_a_service(name));
        }
        let service_type = words::service_type(command)?;
        let number = room(&self.objects.service_groups, "serviceGroups", MOST_GROUPS)?;
        let mut group = ServiceGroup {
            number: GroupNumber(number),
            name: name.to_owned(),
            service_type,
            enabled: words::enabled(command)?,
            settings: Settings::new(Noun::ServiceGroup, service_type.name()),
            members: Vec::new(),
        };
        let mut plan = Plan::default();
        plan.warnings.extend(service_type.warning());
        plan.take_options(command, &mut group.settings)?;
        plan.edits.push(Edit::ServiceGroup(group));
        Ok(plan)
    }

    fn set_service_group(&self, command: &Command) -> Result<Plan, Fault> {
        let before = self.find_service_group(words::name(command)?)?;
        refuse_options_of_members(command)?;
        let mut after = before.draft();
        let mut plan = Plan::default();
        if plan.take_options(command, &mut after.settings)? == 0 {
            return Err(refusal::nothing_to_set());
        }
        if command.arg(Key::MaxClient).is_some() {
            let bound_to = self.vservers_of_service_group(before);
            let idle = bound_to.filter_map(|v| chain::group_never_spills(&v.settings, &after));
            plan.warnings.extend(idle);
        }
        self.put_service_group(&mut plan, before, after);
        Ok(plan)
    }

    fn unset_service_group(&self, command: &Command) -> Result<Plan, Fault> {
        let before = self.find_service_group(words::name(command)?)?;
        refuse_options_of_members(command)?;
        let mut after = before.draft();
        after.settings = without_options(command, &before.settings)?;
        let mut plan = Plan::default();
        self.put_service_group(&mut plan, before, after);
        Ok(plan)
    }

    /// A bound group is unbound everywhere, which is the reference's default; its members go with it.
    fn rm_service_groups(&self, command: &Command) -> Result<Plan, Fault> {
        let mut plan = Plan::default();
        for name in words::names(command)? {
            let group = self.find_service_group(name)?;
            let bound = self.vservers_of_service_group(group).next();
            if let Some(vserver) = bound.filter(|_| !self.objects.parameter.lets_bound_go()) {
                return Err(refusal::service_in_use(&vserver.name, &group.name));
            }
            for member in self.members_of_service_group(group) {
                self.remove_member(&mut plan, member);
            }
            for vserver in self.vservers_of_service_group(group) {
                plan.edits.push(Edit::UnbindGroup(vserver.id, group.number));
            }
            plan.edits.push(Edit::RemoveServiceGroup(group.number));
        }
        Ok(plan)
    }

    fn enable_service_groups(&self, command: &Command) -> Result<Plan, Fault> {
        let mut plan = Plan::default();
        for name in words::names(command)? {
            let before = self.find_service_group(name)?;
            let mut after = before.draft();
            after.enabled = true;
            self.put_service_group(&mut plan, before, after);
        }
        Ok(plan)
    }

    /// All members leave alike, those too that are on their way already.
    fn disable_service_groups(&self, command: &Command) -> Result<Plan, Fault> {
        let leave = words::leave(command);
        let mut plan = Plan::default();
        for name in words::names(command)? {
            let before = self.find_service_group(name)?;
            for member in self.members_of_service_group(before) {
                plan.changes.push(Change::DisableService(member.id, leave));
                plan.edits
                    .push(Edit::Service(member.of_group(&before.settings, false)));
            }
            let mut after = before.draft();
            after.enabled = false;
            plan.edits.push(Edit::ServiceGroup(after));
        }
        Ok(plan)
    }

    /// Changes a group, and with it what its members carry of it.
    fn put_service_group(&self, plan: &mut Plan, before: &ServiceGroup, after: ServiceGroup) {
        for member in self.members_of_service_group(before) {
            let changed = member.of_group(&after.settings, after.enabled);
            let server = self.server_of(member);
            plan.put_service(Some((member, server)), changed, server);
        }
        plan.edits.push(Edit::ServiceGroup(after));
    }

    /// Unbinds a member everywhere and removes it.
    pub(crate) fn remove_member(&self, plan: &mut Plan, member: &Service) {
        for vserver in self.vservers_of(member) {
            plan.changes.push(Change::Unbind(vserver.id, member.id));
            plan.edits.push(Edit::Unbind(vserver.id, member.id));
        }
        plan.changes.push(Change::RemoveService(member.id));
        plan.edits.push(Edit::RemoveService(member.id));
    }

    pub(crate) fn find_service_group(&self, name: &str) -> Result<&ServiceGroup, Fault> {
        let group = self.service_group(name);
        group.ok_or_else(|| refusal::missing("serviceGroupName", name, "serviceGroup"))
    }
}

/// Refuses an option of members where no member is named.
fn refuse_options_of_members(command: &Command) -> Result<(), Fault> {
    let members = Settings::new(Noun::ServiceGroupMember, "");
    let mut args = command.args.iter();
    match args.find_map(|arg| members.spelling(arg.key)) {
        Some(option) => Err(refusal::without_member(option)),
        None => Ok(()),
    }
}

/// As many as virtual servers.
const MOST_GROUPS: usize = 16_384;
