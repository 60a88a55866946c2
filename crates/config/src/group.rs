//! Groups of virtual servers that share one persistence: `lb group`.
//!
//! Invariant: a virtual server is in one group at most. The persistence of the group takes the place of
//! its own, which is kept and counts again when it leaves.

use std::collections::{BTreeMap, BTreeSet};

use sluice_balance::{Change, GroupId, VserverId};
use sluice_command::{Command, ConfigVerb, Fault, Key, Noun, Value, Verb};

use crate::edit::Edit;
use crate::object::Vserver;
use crate::plan::{room, without_options};
use crate::settings::Settings;
use crate::words::{self, command as line};
use crate::{Config, Plan, choosing, refusal};

/// A group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    pub(crate) id: GroupId,
    pub(crate) name: String,
    pub(crate) settings: Settings,
    pub(crate) members: Vec<VserverId>,
}

impl Group {
    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the options in force, by the spelling of the table.
    pub fn options(&self) -> BTreeMap<String, String> {
        self.settings.all()
    }

    pub(crate) fn saved(&self) -> Command {
        let name = [(Key::Name, Value::Text(self.name.clone()))];
        line(Verb::Add, Noun::LbGroup, name, self.settings.saved(true))
    }

    /// Returns the line that puts a virtual server of this name into it.
    pub(crate) fn saved_member(&self, vserver: &str) -> Command {
        let words = [
            (Key::Name, Value::Text(self.name.clone())),
            (Key::VserverName, Value::Text(vserver.to_owned())),
        ];
        line(Verb::Bind, Noun::LbGroup, words, Vec::new())
    }

    /// Returns a copy to change; members come and go one by one.
    pub(crate) fn draft(&self) -> Self {
        Self {
            id: self.id,
            name: self.name.clone(),
            settings: self.settings.clone(),
            members: Vec::new(),
        }
    }
}

impl Config {
    /// Walks all groups in the order of their creation.
    pub fn groups(&self) -> impl Iterator<Item = &Group> {
        self.objects.groups.iter()
    }

    /// Returns the group of this exact name.
    pub fn group(&self, name: &str) -> Option<&Group> {
        self.objects.groups.named(name)
    }

    /// Returns the group a virtual server is in.
    pub fn group_of(&self, vserver: &Vserver) -> Option<&Group> {
        let id = self.objects.group_of.get(&vserver.id)?;
        self.objects.groups.get(id.0)
    }

    /// Walks the virtual servers of a group, in the order in which they joined.
    pub fn members_of(&self, group: &Group) -> impl Iterator<Item = &Vserver> {
        let members = group.members.iter();
        members.filter_map(|member| self.vserver_by_id(*member))
    }

    pub(crate) fn plan_group(&self, verb: ConfigVerb, command: &Command) -> Result<Plan, Fault> {
        match verb {
            ConfigVerb::Add => self.add_group(command),
            ConfigVerb::Set => self.set_group(command),
            ConfigVerb::Unset => self.unset_group(command),
            ConfigVerb::Rm => self.rm_groups(command),
            ConfigVerb::Bind => self.join_group(command),
            ConfigVerb::Unbind => self.leave_group(command),
            ConfigVerb::Enable | ConfigVerb::Disable => Err(refusal::not_configuring()),
        }
    }

    fn add_group(&self, command: &Command) -> Result<Plan, Fault> {
        let name = words::name(command)?;
        if self.group(name).is_some() {
            return Err(refusal::exists("lb group", name));
        }
        let mut group = self.new_group(name)?;
        let mut plan = Plan::default();
        plan.take_options(command, &mut group.settings)?;
        choosing::check_timeout(&group.settings)?;
        let idle = choosing::idle_group_options(command, &group.settings);
        plan.warnings.extend(idle);
        plan.edits.push(Edit::Group(group));
        Ok(plan)
    }

    fn set_group(&self, command: &Command) -> Result<Plan, Fault> {
        let before = self.find_group(words::name(command)?)?;
        let mut after = before.draft();
        let mut plan = Plan::default();
        if plan.take_options(command, &mut after.settings)? == 0 {
            return Err(refusal::nothing_to_set());
        }
        choosing::check_timeout(&after.settings)?;
        let idle = choosing::idle_group_options(command, &after.settings);
        plan.warnings.extend(idle);
        self.put_group(&mut plan, before, after);
        Ok(plan)
    }

    fn unset_group(&self, command: &Command) -> Result<Plan, Fault> {
        let before = self.find_group(words::name(command)?)?;
        let mut after = before.draft();
        after.settings = without_options(command, &before.settings)?;
        choosing::check_timeout(&after.settings)?;
        let mut plan = Plan::default();
        self.put_group(&mut plan, before, after);
        Ok(plan)
    }

    fn rm_groups(&self, command: &Command) -> Result<Plan, Fault> {
        let mut plan = Plan::default();
        for name in words::names(command)? {
            let group = self.find_group(name)?;
            for vserver in self.members_of(group) {
                self.move_vserver(&mut plan, vserver, None);
            }
            plan.edits.push(Edit::RemoveGroup(group.id));
        }
        Ok(plan)
    }

    fn join_group(&self, command: &Command) -> Result<Plan, Fault> {
        let name = words::name(command)?;
        let mut plan = Plan::default();
        let group = match self.group(name) {
            Some(group) => group.draft(),
            None => {
                let group = self.new_group(name)?;
                plan.edits.push(Edit::Group(group.clone()));
                group
            }
        };
        for name in words::vserver_names(command)? {
            let vserver = self.find_named_vserver(name)?;
            match self.group_of(vserver) {
                Some(other) if other.id != group.id => {
                    return Err(refusal::in_other_group(&other.name, name));
                }
                Some(_) => return Err(refusal::exists("lb group", &group.name)),
                None => {}
            }
            plan.warnings.extend(choosing::overruled(vserver, &group));
            self.move_vserver(&mut plan, vserver, Some(&group));
            plan.edits.push(Edit::Join(group.id, vserver.id));
        }
        Ok(plan)
    }

    fn leave_group(&self, command: &Command) -> Result<Plan, Fault> {
        let group = self.find_group(words::name(command)?)?;
        let mut plan = Plan::default();
        let mut left: BTreeSet<VserverId> = group.members.iter().copied().collect();
        for name in words::vserver_names(command)? {
            let vserver = self.find_named_vserver(name)?;
            if !left.remove(&vserver.id) {
                return Err(refusal::missing("vServerName", name, "lb group"));
            }
            self.move_vserver(&mut plan, vserver, None);
            plan.edits.push(Edit::Leave(vserver.id));
        }
        if left.is_empty() {
            plan.edits.push(Edit::RemoveGroup(group.id));
        }
        Ok(plan)
    }

    fn put_group(&self, plan: &mut Plan, before: &Group, after: Group) {
        for vserver in self.members_of(before) {
            self.move_vserver(plan, vserver, Some(&after));
        }
        plan.edits.push(Edit::Group(after));
    }

    /// Tells the core of a virtual server what it is in a group, or in none, if that is something else.
    fn move_vserver(&self, plan: &mut Plan, vserver: &Vserver, group: Option<&Group>) {
        let backup = self.backup_of(vserver).map(Vserver::id);
        let core = vserver.core(
            &self.objects.parameter,
            self.lb_profile_of(vserver),
            group,
            backup,
        );
        if self.core_of_vserver(vserver) != core {
            plan.changes.push(Change::SetVserver(vserver.id, core));
        }
    }

    fn new_group(&self, name: &str) -> Result<Group, Fault> {
        Ok(Group {
            id: GroupId(room(&self.objects.groups, "lb groups", MOST_GROUPS)?),
            name: name.to_owned(),
            settings: Settings::new(Noun::LbGroup, ""),
            members: Vec::new(),
        })
    }

    pub(crate) fn find_group(&self, name: &str) -> Result<&Group, Fault> {
        let group = self.group(name);
        group.ok_or_else(|| refusal::missing("name", name, "lb group"))
    }

    fn find_named_vserver(&self, name: &str) -> Result<&Vserver, Fault> {
        let vserver = self.vserver(name);
        vserver.ok_or_else(|| refusal::missing("vServerName", name, "lb vserver"))
    }
}

/// As many as virtual servers: a group of one is the smallest that makes sense.
const MOST_GROUPS: usize = 16_384;
