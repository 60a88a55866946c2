//! Planning what joins service groups to virtual servers: each member is bound as a service is.

use sluice_balance::{Change, Order, Weight};
use sluice_command::{Command, Fault};

use crate::binding::{self, core};
use crate::edit::Edit;
use crate::object::Vserver;
use crate::service_group::{GroupBinding, ServiceGroup};
use crate::{Config, Plan, chain, refusal};

impl Config {
    pub(crate) fn bind_group(
        &self,
        vserver: &Vserver,
        group: &ServiceGroup,
        command: &Command,
    ) -> Result<Plan, Fault> {
        binding::check_types(vserver.service_type, group.service_type)?;
        if group_binding(vserver, group).is_some() {
            return Err(refusal::group_already_bound(&group.name));
        }
        for member in self.members_of_service_group(group) {
            if let Some(other) = self.bound_at(vserver, member) {
                return Err(refusal::endpoint_bound(&vserver.name, other));
            }
        }
        self.check_room(vserver, group.members.len(), group.members.len())?;
        let bound = GroupBinding {
            group: group.number,
            weight: binding::weight(command)?.unwrap_or(Weight::DEFAULT),
            order: binding::order(command)?,
        };
        let mut plan = Plan::default();
        plan.warnings.extend(idle_weight(bound));
        plan.warnings
            .extend(chain::group_never_spills(&vserver.settings, group));
        plan.edits.push(Edit::BindGroup(vserver.id, bound));
        for member in self.members_of_service_group(group) {
            let binding = member.bound_by(bound);
            plan.changes.push(Change::Bind(core(vserver, binding)));
            plan.edits.push(Edit::Bind(vserver.id, binding));
        }
        Ok(plan)
    }

    pub(crate) fn unbind_group(
        &self,
        vserver: &Vserver,
        group: &ServiceGroup,
    ) -> Result<Plan, Fault> {
        if group_binding(vserver, group).is_none() {
            return Err(refusal::not_bound(&vserver.name, &group.name));
        }
        let mut plan = Plan::default();
        for member in self.members_of_service_group(group) {
            plan.changes.push(Change::Unbind(vserver.id, member.id));
            plan.edits.push(Edit::Unbind(vserver.id, member.id));
        }
        plan.edits.push(Edit::UnbindGroup(vserver.id, group.number));
        Ok(plan)
    }

    /// Plans another weight or order of a bound group; the order is that of members without their own.
    pub(crate) fn set_group_binding(
        &self,
        plan: &mut Plan,
        vserver: &Vserver,
        group: &ServiceGroup,
        (weight, order): (Option<Weight>, Option<Order>),
    ) -> Result<(), Fault> {
        let before = group_binding(vserver, group);
        let before = before.ok_or_else(|| refusal::not_bound(&vserver.name, &group.name))?;
        let after = GroupBinding {
            group: group.number,
            weight: weight.unwrap_or(before.weight),
            order: order.or(before.order),
        };
        if after == before {
            return Ok(());
        }
        plan.warnings
            .extend(weight.and_then(|_| idle_weight(after)));
        plan.edits.push(Edit::SetGroupBinding(vserver.id, after));
        for member in self.members_of_service_group(group) {
            let binding = member.bound_by(after);
            if binding != member.bound_by(before) {
                plan.changes.push(Change::SetWeight(core(vserver, binding)));
                plan.edits.push(Edit::SetBinding(vserver.id, binding));
            }
        }
        Ok(())
    }

    /// Returns the lines that bind the service groups of a virtual server.
    pub(crate) fn saved_group_bindings(&self, vserver: &Vserver) -> impl Iterator<Item = Command> {
        self.bound_groups(vserver).map(|(bound, group)| {
            binding::saved(&vserver.name, &group.name, bound.weight, bound.order)
        })
    }

    /// Returns the lines that make the members of all service groups.
    pub(crate) fn saved_members(&self) -> impl Iterator<Item = Command> {
        let groups = self.service_groups();
        let members = groups.flat_map(|group| self.members_of_service_group(group));
        members.filter_map(|member| Some(member.saved_member(member.member.as_ref()?)))
    }
}

/// Returns how a group is bound to a virtual server, if it is.
pub(crate) fn group_binding(vserver: &Vserver, group: &ServiceGroup) -> Option<GroupBinding> {
    let mut bound = vserver.groups.iter();
    bound.find(|bound| bound.group == group.number).copied()
}

fn idle_weight(bound: GroupBinding) -> Option<String> {
    let is_idle = bound.weight != Weight::DEFAULT;
    is_idle.then(|| {
        "-weight has no effect here [the members of a service group have weights of their own]"
            .to_owned()
    })
}
