//! Profiles: options that several services and virtual servers share by naming them: `ns tcpProfile`,
//! `netProfile`, `lb profile`.
//!
//! Invariant: a profile that is named exists, since it is either shipped or cannot be removed meanwhile. A
//! shipped one is held only while it differs from its defaults.

use std::collections::BTreeMap;

use sluice_command::{Command, ConfigVerb, Fault, Key, Noun, Value, Verb};

use crate::edit::Edit;
use crate::object::Vserver;
use crate::plan::{room, without_options};
use crate::registry::Registry;
use crate::settings::Settings;
use crate::words::{self, command as line};
use crate::{Config, Plan, refusal};

/// What a profile is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ProfileKind {
    /// `ns tcpProfile`
    Tcp,
    /// `netProfile`
    Net,
    /// `lb profile`
    Lb,
}

/// All kinds, in saved order; those that are saved behind the services come last.
pub(crate) const KINDS: [ProfileKind; 3] = [ProfileKind::Tcp, ProfileKind::Net, ProfileKind::Lb];

/// A profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    pub(crate) kind: ProfileKind,
    pub(crate) number: u32,
    pub(crate) name: String,
    pub(crate) settings: Settings,
}

/// All profiles that are not as they are shipped.
pub(crate) type Profiles = BTreeMap<ProfileKind, Registry<Profile>>;

impl ProfileKind {
    /// Returns its object in the command language.
    pub(crate) fn noun(self) -> Noun {
        match self {
            Self::Tcp => Noun::NsTcpProfile,
            Self::Net => Noun::NetProfile,
            Self::Lb => Noun::LbProfile,
        }
    }

    fn of(noun: Noun) -> Option<Self> {
        KINDS.into_iter().find(|kind| kind.noun() == noun)
    }

    /// Returns the option that names one.
    fn option(self) -> Key {
        match self {
            Self::Tcp => Key::TcpProfileName,
            Self::Net => Key::NetProfile,
            Self::Lb => Key::LbProfileName,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Tcp => "ns tcpProfile",
            Self::Net => "netProfile",
            Self::Lb => "lb profile",
        }
    }

    fn shipped(self) -> &'static [&'static str] {
        match self {
            Self::Tcp => &SHIPPED_TCP,
            Self::Net | Self::Lb => &[],
        }
    }

    fn ships(self, name: &str) -> bool {
        self.shipped().contains(&name)
    }
}

impl Profile {
    fn new(kind: ProfileKind, number: u32, name: &str) -> Self {
        Self {
            kind,
            number,
            name: name.to_owned(),
            settings: Settings::new(kind.noun(), ""),
        }
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the options in force but for secrets, by the spelling of the table.
    pub fn options(&self) -> BTreeMap<String, String> {
        let mut options = self.settings.all();
        let rows = sluice_command::table::options(self.kind.noun()).iter();
        for secret in rows.filter(|row| row.secret) {
            options.remove(secret.spelling);
        }
        options
    }

    pub(crate) fn saved(&self) -> Command {
        let is_shipped = self.kind.ships(&self.name);
        let verb = if is_shipped { Verb::Set } else { Verb::Add };
        let name = [(Key::Name, Value::Text(self.name.clone()))];
        line(verb, self.kind.noun(), name, self.settings.saved(true))
    }
}

impl Config {
    /// Returns the profiles of an object such as `ns tcpProfile`: those that are shipped, then the others in
    /// the order of their creation. Nothing for other objects.
    pub fn profiles(&self, noun: Noun) -> Vec<Profile> {
        let Some(kind) = ProfileKind::of(noun) else {
            return Vec::new();
        };
        let shipped = kind.shipped().iter();
        let mut all: Vec<Profile> = shipped
            .filter_map(|name| self.any_profile(kind, name))
            .collect();
        let made = self.own_profiles(kind);
        all.extend(made.filter(|profile| !kind.ships(&profile.name)).cloned());
        all
    }

    /// Returns the profile of this exact name, also one that is as it was shipped.
    pub(crate) fn any_profile(&self, kind: ProfileKind, name: &str) -> Option<Profile> {
        let held = self.profile(kind, name).cloned();
        held.or_else(|| kind.ships(name).then(|| Profile::new(kind, 0, name)))
    }

    /// Returns the profile of this exact name, unless it is as it was shipped.
    pub(crate) fn profile(&self, kind: ProfileKind, name: &str) -> Option<&Profile> {
        self.objects.profiles.get(&kind)?.named(name)
    }

    /// Walks the profiles of a kind that are not as they were shipped, in the order of their creation.
    pub(crate) fn own_profiles(&self, kind: ProfileKind) -> impl Iterator<Item = &Profile> {
        let profiles = self.objects.profiles.get(&kind);
        profiles.into_iter().flat_map(Registry::iter)
    }

    /// Returns the `lb profile` that a virtual server names.
    pub(crate) fn lb_profile_of(&self, vserver: &Vserver) -> Option<&Profile> {
        let name = vserver.settings.own_word(Key::LbProfileName)?;
        self.profile(ProfileKind::Lb, name)
    }

    /// Refuses an option that names a profile which is not there, or which its type cannot have.
    pub(crate) fn check_profiles(&self, command: &Command, is_tcp: bool) -> Result<(), Fault> {
        for kind in KINDS {
            let Some(name) = command.text(kind.option()) else {
                continue;
            };
            if self.any_profile(kind, name).is_none() {
                return Err(refusal::no_such_profile(
                    kind == ProfileKind::Net,
                    name,
                    kind.words(),
                ));
            }
            if kind == ProfileKind::Tcp && !is_tcp {
                return Err(refusal::no_tcp_profile_here(name));
            }
        }
        Ok(())
    }

    pub(crate) fn plan_profile(
        &self,
        kind: ProfileKind,
        verb: ConfigVerb,
        command: &Command,
    ) -> Result<Plan, Fault> {
        let name = words::name(command)?;
        match verb {
            ConfigVerb::Add => self.add_profile(kind, name, command),
            ConfigVerb::Set => self.set_profile(kind, name, command),
            ConfigVerb::Unset => self.unset_profile(kind, name, command),
            ConfigVerb::Rm => self.rm_profile(kind, name),
            ConfigVerb::Enable | ConfigVerb::Disable | ConfigVerb::Bind | ConfigVerb::Unbind => {
                Err(refusal::not_configuring())
            }
        }
    }

    fn add_profile(&self, kind: ProfileKind, name: &str, command: &Command) -> Result<Plan, Fault> {
        if self.any_profile(kind, name).is_some() {
            return Err(refusal::exists(kind.words(), name));
        }
        let mut profile = Profile::new(kind, self.new_number(kind)?, name);
        let mut plan = Plan::default();
        plan.take_options(command, &mut profile.settings)?;
        plan.edits.push(Edit::Profile(profile));
        Ok(plan)
    }

    fn set_profile(&self, kind: ProfileKind, name: &str, command: &Command) -> Result<Plan, Fault> {
        let mut after = self.profile_to_change(kind, name)?;
        let mut plan = Plan::default();
        if plan.take_options(command, &mut after.settings)? == 0 {
            return Err(refusal::nothing_to_set());
        }
        self.put_profile(&mut plan, after);
        Ok(plan)
    }

    fn unset_profile(
        &self,
        kind: ProfileKind,
        name: &str,
        command: &Command,
    ) -> Result<Plan, Fault> {
        let mut after = self.profile_to_change(kind, name)?;
        after.settings = without_options(command, &after.settings)?;
        let mut plan = Plan::default();
        self.put_profile(&mut plan, after);
        Ok(plan)
    }

    fn rm_profile(&self, kind: ProfileKind, name: &str) -> Result<Plan, Fault> {
        if kind.ships(name) {
            return Err(refusal::shipped(name));
        }
        let missing = || refusal::missing("name", name, kind.words());
        let profile = self.profile(kind, name).ok_or_else(missing)?;
        if let Some((noun, user)) = self.user_of(profile) {
            return Err(refusal::profile_in_use(noun, user));
        }
        let mut plan = Plan::default();
        plan.edits.push(Edit::RemoveProfile(kind, name.to_owned()));
        Ok(plan)
    }

    fn put_profile(&self, plan: &mut Plan, after: Profile) {
        if after.kind == ProfileKind::Lb {
            self.hash_by(plan, &after);
        }
        let is_as_shipped = after.kind.ships(&after.name) && after.settings.is_all_default();
        plan.edits.push(match is_as_shipped {
            true => Edit::RemoveProfile(after.kind, after.name),
            false => Edit::Profile(after),
        });
    }

    /// Tells the core how the virtual servers hash that name a profile.
    fn hash_by(&self, plan: &mut Plan, after: &Profile) {
        for vserver in self.vservers() {
            if vserver.settings.own_word(Key::LbProfileName) != Some(&after.name) {
                continue;
            }
            let backup = self.backup_of(vserver).map(Vserver::id);
            let group = self.group_of(vserver);
            let core = vserver.core(&self.objects.parameter, Some(after), group, backup);
            if self.core_of_vserver(vserver) != core {
                let change = sluice_balance::Change::SetVserver(vserver.id, core);
                plan.changes.push(change);
            }
        }
    }

    /// Returns who names a profile.
    fn user_of(&self, profile: &Profile) -> Option<(&'static str, &str)> {
        let names =
            |settings: &Settings| settings.own_word(profile.kind.option()) == Some(&profile.name);
        let service = self.services().find(|service| names(&service.settings));
        let service = service.map(|service| ("service", service.name()));
        service.or_else(|| {
            let vserver = self.vservers().find(|vserver| names(&vserver.settings));
            vserver.map(|vserver| ("lb vserver", vserver.name()))
        })
    }

    fn profile_to_change(&self, kind: ProfileKind, name: &str) -> Result<Profile, Fault> {
        let missing = || refusal::missing("name", name, kind.words());
        let mut profile = self.any_profile(kind, name).ok_or_else(missing)?;
        if self.profile(kind, name).is_none() {
            profile.number = self.new_number(kind)?;
        }
        Ok(profile)
    }

    fn new_number(&self, kind: ProfileKind) -> Result<u32, Fault> {
        match self.objects.profiles.get(&kind) {
            Some(profiles) => room(profiles, kind.words(), MOST_PROFILES),
            None => Ok(1),
        }
    }
}

/// The profile that holds where no other is named.
pub(crate) const DEFAULT_TCP: &str = "nstcp_default_profile";

/// The TCP profiles of an appliance; but for their names they are all as its default.
const SHIPPED_TCP: [&str; 10] = [
    DEFAULT_TCP,
    "nstcp_default_tcp_lfp",
    "nstcp_default_tcp_lnp",
    "nstcp_default_tcp_lan",
    "nstcp_default_tcp_lfp_thin_stream",
    "nstcp_default_tcp_lnp_thin_stream",
    "nstcp_default_tcp_lan_thin_stream",
    "nstcp_default_tcp_interactive_stream",
    "nstcp_internal_apps",
    "nstcp_default_XA_XD_profile",
];

/// More than anybody can tell apart.
const MOST_PROFILES: usize = 4096;
