//! What holds for all virtual servers: `lb parameter`.

use std::collections::BTreeMap;
use std::time::Duration;

use sluice_balance::{
    AddressMask, Change, Fingers, HashAlgorithm, HashSettings, PassiveSettings, Percent,
};
use sluice_command::{Command, ConfigVerb, Fault, Key, Noun, Verb};

use crate::edit::Edit;
use crate::object::Vserver;
use crate::plan::without_options;
use crate::profile::Profile;
use crate::settings::Settings;
use crate::words::command as line;
use crate::{Config, Plan, refusal};

/// The options of all virtual servers together: one set, at its defaults until it is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parameter {
    settings: Settings,
}

impl Parameter {
    /// Returns the most persistence entries.
    pub(crate) fn sessions(&self) -> u32 {
        let sessions = self.settings.number(Key::SessionsThreshold);
        u32::try_from(sessions).expect(TABLE)
    }

    /// Returns the requests per service that are given out in turn after a change.
    pub(crate) fn startup_factor(&self) -> u32 {
        let factor = self.settings.number(Key::StartupRrFactor);
        u32::try_from(factor).expect(TABLE)
    }

    /// Returns how services are watched by their own connections.
    pub(crate) fn passive(&self) -> PassiveSettings {
        let number = |key| u8::try_from(self.settings.number(key)).expect(TABLE);
        let seconds = |key| Duration::from_secs(self.settings.number(key));
        let share = self.settings.number(Key::TcpInlineShare);
        PassiveSettings {
            enabled: self.is(Key::TcpInline, "ENABLED"),
            retries: number(Key::TcpInlineRetries),
            share: Percent::new(share).expect(TABLE),
            sample: number(Key::TcpInlineSample),
            response_timeout: seconds(Key::TcpInlineRespTimeout),
            down_time: seconds(Key::TcpInlineDownTime),
            max_down_time: seconds(Key::TcpInlineMaxDownTime),
        }
    }

    /// Returns how many services are tried for one client while connects fail.
    pub(crate) fn connect_tries(&self) -> u8 {
        u8::try_from(self.settings.number(Key::ConnectTries)).expect(TABLE)
    }

    /// Returns how a virtual server hashes that looks at these bits of an address.
    ///
    /// A profile says how in its place, but for the ports.
    pub(crate) fn hash(&self, profile: Option<&Profile>, mask: AddressMask) -> HashSettings {
        let settings = profile.map_or(&self.settings, |profile| &profile.settings);
        let fingers = settings.number(Key::LbHashFingers);
        let fingers = Fingers::new(fingers).expect(TABLE);
        HashSettings {
            mask,
            use_port: self.is(Key::UsePortForHashLb, "YES"),
            algorithm: match settings.word(Key::LbHashAlgorithm).as_deref() {
                Some("PRAC") => HashAlgorithm::Prac(fingers),
                Some("JARH") => HashAlgorithm::Jarh(fingers),
                Some(_) | None => HashAlgorithm::Default,
            },
        }
    }

    /// Tells whether a service that is bound can be removed.
    pub(crate) fn lets_bound_go(&self) -> bool {
        self.is(Key::AllowBoundSvcRemoval, "ENABLED")
    }

    /// Returns the line that makes it so, if that takes one.
    pub(crate) fn saved(&self) -> Option<Command> {
        let options = self.settings.saved(true);
        (!options.is_empty()).then(|| line(Verb::Set, Noun::LbParameter, [], options))
    }

    /// Says which options of a command do nothing together with the others.
    fn idle_options(&self, command: &Command) -> Vec<String> {
        let settings = &self.settings;
        let seconds = |key| settings.number(key);
        let is_unhashed = self.is(Key::LbHashAlgorithm, "DEFAULT");
        let is_unwatched = self.is(Key::TcpInline, "DISABLED");
        let has_no_share = seconds(Key::TcpInlineShare) == 0;
        let is_longest = seconds(Key::TcpInlineMaxDownTime) < seconds(Key::TcpInlineDownTime);
        let longest = "a shorter time than -tcpInlineDownTime";
        let mut rules = vec![
            (Key::LbHashFingers, is_unhashed, "-lbHashAlgorithm DEFAULT"),
            (Key::TcpInlineSample, has_no_share, "-tcpInlineShare 0"),
            (Key::TcpInlineMaxDownTime, is_longest, longest),
        ];
        let watched = INLINE.map(|key| (key, is_unwatched, "-tcpInline DISABLED"));
        rules.extend(watched);
        let idle = rules.into_iter().filter(|(_, holds, _)| *holds);
        idle.filter_map(|(key, _, with)| {
            let option = settings.given(command, key)?;
            Some(format!("-{option} has no effect with {with}"))
        })
        .collect()
    }

    fn is(&self, key: Key, word: &str) -> bool {
        self.settings.word(key).as_deref() == Some(word)
    }
}

impl Default for Parameter {
    fn default() -> Self {
        Self {
            settings: Settings::new(Noun::LbParameter, ""),
        }
    }
}

impl Config {
    /// Returns the options of all virtual servers together, by the spelling of the table.
    pub fn parameter_options(&self) -> BTreeMap<String, String> {
        self.objects.parameter.settings.all()
    }

    pub(crate) fn plan_parameter(
        &self,
        verb: ConfigVerb,
        command: &Command,
    ) -> Result<Plan, Fault> {
        match verb {
            ConfigVerb::Set => self.set_parameter(command),
            ConfigVerb::Unset => self.unset_parameter(command),
            ConfigVerb::Add
            | ConfigVerb::Rm
            | ConfigVerb::Enable
            | ConfigVerb::Disable
            | ConfigVerb::Bind
            | ConfigVerb::Unbind => Err(refusal::not_configuring()),
        }
    }

    fn set_parameter(&self, command: &Command) -> Result<Plan, Fault> {
        let mut after = self.objects.parameter.clone();
        let mut plan = Plan::default();
        if plan.take_options(command, &mut after.settings)? == 0 {
            return Err(refusal::nothing_to_set());
        }
        let idle = after.idle_options(command);
        plan.warnings.extend(idle);
        self.put_parameter(&mut plan, after);
        Ok(plan)
    }

    fn unset_parameter(&self, command: &Command) -> Result<Plan, Fault> {
        let settings = without_options(command, &self.objects.parameter.settings)?;
        let mut plan = Plan::default();
        self.put_parameter(&mut plan, Parameter { settings });
        Ok(plan)
    }

    fn put_parameter(&self, plan: &mut Plan, after: Parameter) {
        let before = &self.objects.parameter;
        if before.sessions() != after.sessions() {
            let limit = Change::SetPersistenceLimit(after.sessions());
            plan.changes.push(limit);
        }
        if before.startup_factor() != after.startup_factor() {
            let factor = Change::SetStartupFactor(after.startup_factor());
            plan.changes.push(factor);
        }
        if before.passive() != after.passive() {
            plan.changes.push(Change::SetPassive(after.passive()));
        }
        if before.connect_tries() != after.connect_tries() {
            let tries = Change::SetConnectTries(after.connect_tries());
            plan.changes.push(tries);
        }
        for vserver in self.vservers() {
            let group = self.group_of(vserver);
            let backup = self.backup_of(vserver).map(Vserver::id);
            let profile = self.lb_profile_of(vserver);
            let core = vserver.core(&after, profile, group, backup);
            if vserver.core(before, profile, group, backup) != core {
                plan.changes.push(Change::SetVserver(vserver.id, core));
            }
        }
        plan.edits.push(Edit::Parameter(after));
    }
}

/// What says how services are watched, if they are.
const INLINE: [Key; 6] = [
    Key::TcpInlineRetries,
    Key::TcpInlineShare,
    Key::TcpInlineSample,
    Key::TcpInlineRespTimeout,
    Key::TcpInlineDownTime,
    Key::TcpInlineMaxDownTime,
];

const TABLE: &str = "the table has the bounds of the core";
