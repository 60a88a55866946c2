//! Planning commands on the members of service groups.

use std::net::SocketAddr;

use sluice_balance::{Change, Order, ServiceId, Weight};
use sluice_command::{Arg, Command, Fault, Key, Noun, Value, Verb};

use crate::binding::core;
use crate::edit::Edit;
use crate::object::{Binding, Service, Vserver};
use crate::plan::{room, without_options};
use crate::service::MOST_SERVICES;
use crate::service_group::{GroupBinding, Membership, ServiceGroup};
use crate::settings::Settings;
use crate::words::{self, command as line};
use crate::{Config, Plan, refusal};

impl Service {
    /// Returns the name of the service group it is a member of.
    pub fn group_name(&self) -> Option<&str> {
        self.member
            .as_ref()
            .map(|member| member.group_name.as_str())
    }

    /// Returns the options that are its own; of a member, those `bind serviceGroup` gives.
    pub(crate) fn own_settings(&self) -> &Settings {
        self.member
            .as_ref()
            .map_or(&self.settings, |member| &member.own)
    }

    /// Returns the options a member has of its own, in force, by the spelling of the table.
    pub fn own_options(&self) -> std::collections::BTreeMap<String, String> {
        self.own_settings().all()
    }

    /// Returns a member as it is while its group has these options and this state.
    pub(crate) fn of_group(&self, settings: &Settings, enabled: bool) -> Self {
        let mut changed = self.clone();
        changed.settings.clone_from(settings);
        if let Some(membership) = &mut changed.member {
            membership.group_enabled = enabled;
        }
        changed
    }

    /// Returns how a member is bound where its group is.
    pub(crate) fn bound_by(&self, of_group: GroupBinding) -> Binding {
        let own = self.own_settings();
        let weight = own.own_number(Key::Weight);
        let order = own.own_number(Key::Order);
        Binding {
            service: self.id,
            weight: weight.map_or(Weight::DEFAULT, |weight| {
                Weight::new(weight).expect("the row has its bounds")
            }),
            order: order
                .map(|order| Order::new(order).expect("the row has its bounds"))
                .or(of_group.order),
        }
    }

    /// Returns the line that makes a member.
    pub(crate) fn saved_member(&self, member: &Membership) -> Command {
        let positionals = [
            (Key::Name, Value::Text(member.group_name.clone())),
            words::server_value(&self.server),
            (Key::Port, Value::Port(self.address.port())),
        ];
        let options: Vec<Arg> = member.own.saved(self.enabled);
        line(Verb::Bind, Noun::ServiceGroup, positionals, options)
    }
}

impl Config {
    /// Returns the member of a service group at a port of a server, by name.
    pub fn member(&self, group: &ServiceGroup, server: &str, port: u16) -> Option<&Service> {
        let name = member_name(&group.name, &words::server_name(server), port);
        self.objects.services.named(&name)
    }

    pub(crate) fn bind_member(&self, command: &Command) -> Result<Plan, Fault> {
        let group = self.find_service_group(words::name(command)?)?;
        let mut plan = Plan::default();
        let server = self.named_server(&mut plan, command)?;
        let port = words::port(command)?;
        if self.member(group, &server.name, port).is_some() {
            return Err(refusal::is_member(&group.name, &server.name, port));
        }
        if group.members.len() >= MOST_MEMBERS {
            return Err(refusal::too_many_members(&group.name, MOST_MEMBERS));
        }
        let mut own = Settings::new(Noun::ServiceGroupMember, "");
        plan.take_options(command, &mut own)?;
        let member = Service {
            id: ServiceId(room(&self.objects.services, "services", MOST_SERVICES)?),
            name: member_name(&group.name, &server.name, port),
            server: server.name.clone(),
            service_type: group.service_type,
            address: SocketAddr::new(server.address, port),
            enabled: words::enabled(command)?,
            settings: group.settings.clone(),
            member: Some(Membership {
                group: group.number,
                group_name: group.name.clone(),
                group_enabled: group.enabled,
                own,
            }),
        };
        self.check_kind(&member)?;
        for vserver in self.vservers_of_service_group(group) {
            if let Some(other) = self.bound_at(vserver, &member) {
                return Err(refusal::endpoint_of_other(&vserver.name, other));
            }
        }
        self.check_rooms(group)?;
        plan.put_service(None, member.clone(), &server);
        for (vserver, bound) in self.bound_as(group) {
            let binding = member.bound_by(bound);
            plan.changes.push(Change::Bind(core(vserver, binding)));
            plan.edits.push(Edit::Bind(vserver.id, binding));
        }
        Ok(plan)
    }

    pub(crate) fn unbind_member(&self, command: &Command) -> Result<Plan, Fault> {
        let (_, member) = self.find_member(command)?;
        let mut plan = Plan::default();
        self.remove_member(&mut plan, member);
        Ok(plan)
    }

    pub(crate) fn set_member(&self, command: &Command) -> Result<Plan, Fault> {
        let (group, before) = self.find_member(command)?;
        refuse_options_of_group(command, group)?;
        let mut own = before.own_settings().clone();
        let mut plan = Plan::default();
        if plan.take_options(command, &mut own)? == 0 {
            return Err(refusal::nothing_to_set());
        }
        self.put_member(&mut plan, group, before, own);
        Ok(plan)
    }

    pub(crate) fn unset_member(&self, command: &Command) -> Result<Plan, Fault> {
        let (group, before) = self.find_member(command)?;
        refuse_options_of_group(command, group)?;
        let own = without_options(command, before.own_settings())?;
        let mut plan = Plan::default();
        self.put_member(&mut plan, group, before, own);
        Ok(plan)
    }

    /// The core is told of one too that is disabled: it may be on its way still.
    pub(crate) fn disable_member(&self, command: &Command) -> Result<Plan, Fault> {
        let (_, before) = self.find_member(command)?;
        let mut after = before.clone();
        after.enabled = false;
        Ok(Plan {
            changes: vec![Change::DisableService(before.id, words::leave(command))],
            warnings: Vec::new(),
            edits: vec![Edit::Service(after)],
        })
    }

    pub(crate) fn enable_member(&self, command: &Command) -> Result<Plan, Fault> {
        let (_, before) = self.find_member(command)?;
        let mut after = before.clone();
        after.enabled = true;
        let server = self.server_of(before);
        let mut plan = Plan::default();
        plan.put_service(Some((before, server)), after, server);
        Ok(plan)
    }

    /// Walks the virtual servers of a service group, and how it is bound there.
    pub(crate) fn bound_as(
        &self,
        group: &ServiceGroup,
    ) -> impl Iterator<Item = (&Vserver, GroupBinding)> {
        let number = group.number;
        self.vservers_of_service_group(group)
            .filter_map(move |vserver| {
                let mut bound = vserver.groups.iter();
                let bound = bound.find(|bound| bound.group == number)?;
                Some((vserver, *bound))
            })
    }

    /// Gives a member its own options, and its bindings what follows from them.
    fn put_member(&self, plan: &mut Plan, group: &ServiceGroup, before: &Service, own: Settings) {
        let mut after = before.clone();
        if let Some(member) = &mut after.member {
            member.own = own;
        }
        let server = self.server_of(before);
        for (vserver, bound) in self.bound_as(group) {
            let binding = after.bound_by(bound);
            if binding != before.bound_by(bound) {
                plan.changes.push(Change::SetWeight(core(vserver, binding)));
                plan.edits.push(Edit::SetBinding(vserver.id, binding));
            }
        }
        plan.put_service(Some((before, server)), after, server);
    }

    fn find_member(&self, command: &Command) -> Result<(&ServiceGroup, &Service), Fault> {
        let group = self.find_service_group(words::name(command)?)?;
        let server = words::member_server(command)?;
        let port = words::port(command)?;
        let member = self.member(group, &server, port);
        let member = member.ok_or_else(|| refusal::no_member(&group.name, &server, port))?;
        Ok((group, member))
    }

    /// Refuses a member more where a virtual server of the group is full.
    fn check_rooms(&self, group: &ServiceGroup) -> Result<(), Fault> {
        let count = self.vservers_of_service_group(group).count();
        self.vservers_of_service_group(group)
            .try_for_each(|vserver| self.check_room(vserver, 1, count))
    }
}

/// Refuses an option of the whole group where a member is named.
fn refuse_options_of_group(command: &Command, group: &ServiceGroup) -> Result<(), Fault> {
    let mut args = command.args.iter();
    match args.find_map(|arg| group.settings.spelling(arg.key)) {
        Some(option) => Err(refusal::of_whole_group(option)),
        None => Ok(()),
    }
}

/// No name that can be typed has a question mark.
pub(crate) fn member_name(group: &str, server: &str, port: u16) -> String {
    format!("{group}?{server}?{port}")
}

/// As many as a virtual server may have.
const MOST_MEMBERS: usize = 8_192;
