//! Planning commands on virtual servers, but for their bindings.

use sluice_balance::{Change, VserverId};
use sluice_command::{Command, ConfigVerb, Fault, Key, Noun};

use crate::edit::Edit;
use crate::object::{Listen, Vserver};
use crate::plan::{room, without_options};
use crate::settings::Settings;
use crate::{Config, Plan, binding, chain, choosing, refusal, words};

impl Config {
    pub(crate) fn plan_vserver(&self, verb: ConfigVerb, command: &Command) -> Result<Plan, Fault> {
        match verb {
            ConfigVerb::Add => self.add_vserver(command),
            ConfigVerb::Set => self.set_vserver(command),
            ConfigVerb::Unset => self.unset_vserver(command),
            ConfigVerb::Rm => self.rm_vservers(command),
            ConfigVerb::Enable => self.switch_vservers(command, true),
            ConfigVerb::Disable => self.switch_vservers(command, false),
            ConfigVerb::Bind => self.bind(command),
            ConfigVerb::Unbind => self.unbind(command),
        }
    }

    fn add_vserver(&self, command: &Command) -> Result<Plan, Fault> {
        let name = words::name(command)?;
        if self.vserver(name).is_some() {
            return Err(refusal::exists("lb vserver", name));
        }
        let service_type = words::service_type(command)?;
        self.check_profiles(command, service_type.is_tcp())?;
        let number = room(&self.objects.vservers, "lb vservers", MOST_VSERVERS)?;
        let mut vserver = Vserver {
            id: VserverId(number),
            name: name.to_owned(),
            service_type,
            listen: words::listen(command)?,
            enabled: words::enabled(command)?,
            settings: Settings::new(Noun::LbVserver, service_type.name()),
            bindings: Vec::new(),
            groups: Vec::new(),
        };
        self.check_listener(&vserver)?;
        let mut plan = Plan::default();
        plan.warnings.extend(service_type.warning());
        plan.take_options(command, &mut vserver.settings)?;
        choosing::settle_token(command, &mut vserver.settings)?;
        choosing::check_timeout(&vserver.settings)?;
        choosing::check_backup_method(command, &vserver.settings)?;
        chain::check_spillover(command, &vserver.settings)?;
        self.check_backup(command, name, service_type)?;
        let idle = choosing::idle_options(command, &vserver.settings, None);
        plan.warnings.extend(idle);
        let idle = chain::idle_options(command, &vserver.settings);
        plan.warnings.extend(idle);
        self.put_vserver(&mut plan, None, vserver);
        Ok(plan)
    }

    fn set_vserver(&self, command: &Command) -> Result<Plan, Fault> {
        let before = self.find_vserver(words::name(command)?)?;
        self.check_profiles(command, before.service_type.is_tcp())?;
        let mut after = before.draft();
        let mut plan = Plan::default();
        let options = plan.take_options(command, &mut after.settings)?;
        let address = command.value(Key::IpAddress);
        if options == 0 && address.is_none() && !binding::is_changed(command) {
            return Err(refusal::nothing_to_set());
        }
        choosing::settle_token(command, &mut after.settings)?;
        choosing::check_timeout(&after.settings)?;
        choosing::check_backup_method(command, &after.settings)?;
        chain::forget_threshold(command, &before.settings, &mut after.settings);
        chain::check_spillover(command, &after.settings)?;
        self.check_backup(command, &before.name, before.service_type)?;
        plan.warnings
            .extend(self.idle_options(command, before, &after.settings));
        if let Some(address) = address {
            if before.listen == Listen::Nowhere {
                return Err(refusal::not_addressable(&before.name));
            }
            after.listen = words::listen_at(address, before.listen.port())?;
            self.check_listener(&after)?;
        }
        self.put_vserver(&mut plan, Some(before), after);
        self.set_bindings(&mut plan, before, command)?;
        Ok(plan)
    }

    fn unset_vserver(&self, command: &Command) -> Result<Plan, Fault> {
        let before = self.find_vserver(words::name(command)?)?;
        let mut after = before.draft();
        after.settings = without_options(command, &before.settings)?;
        chain::forget_threshold(command, &before.settings, &mut after.settings);
        chain::check_spillover(command, &after.settings)?;
        choosing::settle_token(command, &mut after.settings)?;
        choosing::check_timeout(&after.settings)?;
        let mut plan = Plan::default();
        self.put_vserver(&mut plan, Some(before), after);
        Ok(plan)
    }

    fn rm_vservers(&self, command: &Command) -> Result<Plan, Fault> {
        let mut plan = Plan::default();
        let names = words::names(command)?.into_iter();
        let gone = names.map(|name| self.find_vserver(name));
        let gone = gone.collect::<Result<Vec<_>, _>>()?;
        self.check_no_backups(&gone)?;
        for vserver in gone {
            plan.changes.push(Change::RemoveVserver(vserver.id));
            plan.edits.push(Edit::RemoveVserver(vserver.id));
        }
        Ok(plan)
    }

    fn switch_vservers(&self, command: &Command, enabled: bool) -> Result<Plan, Fault> {
        let mut plan = Plan::default();
        for name in words::names(command)? {
            let before = self.find_vserver(name)?;
            let mut after = before.draft();
            after.enabled = enabled;
            self.put_vserver(&mut plan, Some(before), after);
            if enabled {
                // Also when it is enabled already: it may be one that stays DOWN until this.
                plan.changes.push(Change::EnableVserver(before.id));
            }
        }
        Ok(plan)
    }

    /// Says which options of a `set` do nothing as things are then.
    fn idle_options(&self, command: &Command, before: &Vserver, after: &Settings) -> Vec<String> {
        let mut idle = choosing::idle_options(command, after, self.group_of(before));
        idle.extend(chain::idle_options(command, after));
        if command.arg(Key::SoMethod).is_some() {
            let bound = before.bindings.iter();
            let bound = bound.filter_map(|binding| self.service_by_id(binding.service));
            let own = bound.filter(|service| service.member.is_none());
            idle.extend(own.filter_map(|service| chain::never_spills(after, service)));
            let groups = self.bound_groups(before);
            idle.extend(groups.filter_map(|(_, group)| chain::group_never_spills(after, group)));
        }
        idle
    }

    fn check_listener(&self, vserver: &Vserver) -> Result<(), Fault> {
        let Some(listener) = vserver.listener() else {
            return Ok(());
        };
        let owner = self.objects.listeners.get(&listener);
        match owner.and_then(|owner| self.vserver_by_id(*owner)) {
            Some(owner) if owner.id != vserver.id => {
                Err(refusal::same_listener(&owner.name, listener.0))
            }
            Some(_) | None => Ok(()),
        }
    }

    pub(crate) fn find_vserver(&self, name: &str) -> Result<&Vserver, Fault> {
        let vserver = self.vserver(name);
        vserver.ok_or_else(|| refusal::missing("name", name, "lb vserver"))
    }
}

/// Each listens with a socket per worker; a process has 1,048,576 descriptors at most by default.
const MOST_VSERVERS: usize = 16_384;
