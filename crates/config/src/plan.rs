//! Planning and committing: what is common to all objects.

use sluice_balance::{Change, ServiceId, ServiceSettings};
use sluice_command::{Command, ConfigNoun, ConfigVerb, Fault, Verb};

use crate::edit::{Edit, Objects};
use crate::object::{Server, Service, Vserver};
use crate::profile::ProfileKind;
use crate::refusal;
use crate::registry::Registry;
use crate::settings::Settings;

/// What a command will do. Made against one state of a [`Config`] and committed before the next
/// plan.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// What the core and the data plane have to do, in this order.
    pub changes: Vec<Change>,
    /// What the operator should know: the text after `Warning: `.
    pub warnings: Vec<String>,
    pub(crate) edits: Vec<Edit>,
}

/// All configured objects.
#[derive(Clone, Debug, Default)]
pub struct Config {
    pub(crate) objects: Objects,
}

impl Config {
    /// Makes an empty configuration.
    pub fn new() -> Self {
        Self::default()
    }

    /// Checks a configuring command (`add|set|unset|rm|enable|disable|bind|unbind|rename`) against the
    /// configuration and works out what it changes. A command with several names does all or
    /// nothing.
    ///
    /// # Errors
    /// The fault of the reference; nothing has changed.
    pub fn plan(&self, command: &Command) -> Result<Plan, Fault> {
        if command.verb == Verb::Rename {
            return self.plan_rename(command);
        }
        let verb = command.verb.configuring();
        let (Some(verb), Some(noun)) = (verb, command.noun.configured()) else {
            return Err(refusal::not_configuring());
        };
        let mut plan = self.plan_noun(noun, verb, command)?;
        self.plan_sockets(&mut plan);
        Ok(plan)
    }

    fn plan_noun(
        &self,
        noun: ConfigNoun,
        verb: ConfigVerb,
        command: &Command,
    ) -> Result<Plan, Fault> {
        match noun {
            ConfigNoun::Server => self.plan_server(verb, command),
            ConfigNoun::Service => self.plan_service(verb, command),
            ConfigNoun::ServiceGroup => self.plan_service_group(verb, command),
            ConfigNoun::LbVserver => self.plan_vserver(verb, command),
            ConfigNoun::LbParameter => self.plan_parameter(verb, command),
            ConfigNoun::LbGroup => self.plan_group(verb, command),
            ConfigNoun::NsTcpProfile => self.plan_profile(ProfileKind::Tcp, verb, command),
            ConfigNoun::NetProfile => self.plan_profile(ProfileKind::Net, verb, command),
            ConfigNoun::LbProfile => self.plan_profile(ProfileKind::Lb, verb, command),
        }
    }

    /// Plans to add or change a virtual server; `after` has no bindings.
    pub(crate) fn put_vserver(&self, plan: &mut Plan, before: Option<&Vserver>, after: Vserver) {
        let core = self.core_of_vserver(&after);
        match before {
            None => plan.changes.push(Change::AddVserver(after.id, core)),
            Some(before) if self.core_of_vserver(before) != core => {
                plan.changes.push(Change::SetVserver(after.id, core));
            }
            Some(_) => {}
        }
        plan.edits.push(Edit::Vserver(after));
    }

    /// Takes a plan into effect.
    ///
    /// # Panics
    /// When the plan was made against another state and does not fit this one.
    pub fn commit(&mut self, plan: Plan) {
        for edit in plan.edits {
            self.objects.apply(edit);
        }
    }
}

impl Plan {
    /// Adds or changes a service; the core hears of it only when something changes for the core.
    pub(crate) fn put_service(
        &mut self,
        before: Option<(&Service, &Server)>,
        after: Service,
        server: &Server,
    ) {
        let core = after.core(server);
        match before {
            None => self.changes.push(Change::AddService(after.id, core)),
            Some((service, server)) => self.set_service(after.id, service.core(server), core),
        }
        if before.is_none_or(|(service, _)| *service != after) {
            self.edits.push(Edit::Service(after));
        }
    }

    fn set_service(&mut self, id: ServiceId, before: ServiceSettings, after: ServiceSettings) {
        if before != after {
            self.changes.push(Change::SetService(id, after));
        }
    }

    /// Sets the options a command gives, and returns how many there were.
    pub(crate) fn take_options(
        &mut self,
        command: &Command,
        settings: &mut Settings,
    ) -> Result<usize, Fault> {
        let mut count = 0;
        for arg in &command.args {
            if settings.has(arg.key) {
                self.warnings.extend(settings.set(arg)?);
                count += 1;
            }
        }
        Ok(count)
    }
}

/// Returns settings with the options a command names at their defaults.
pub(crate) fn without_options(command: &Command, settings: &Settings) -> Result<Settings, Fault> {
    let mut rest = settings.clone();
    let mut named = command
        .args
        .iter()
        .filter(|arg| settings.has(arg.key))
        .peekable();
    if named.peek().is_none() {
        return Err(refusal::nothing_to_set());
    }
    for arg in named {
        rest.unset(arg.key);
    }
    Ok(rest)
}

/// Returns the number for a new object, unless there are as many as there may be.
pub(crate) fn room<T>(registry: &Registry<T>, what: &str, most: usize) -> Result<u32, Fault> {
    match registry.next() {
        Some(number) if registry.len() < most => Ok(number),
        Some(_) | None => Err(refusal::limit(what, most)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_until_there_are_as_many_as_may_be() {
        let mut registry = Registry::default();
        for number in 1..=2 {
            assert_eq!(room(&registry, "things", 2), Ok(number));
            registry.put(number, &format!("n{number}"), ());
        }
        let fault = room(&registry, "things", 2).unwrap_err();
        assert_eq!(fault.code, 1072);
        assert_eq!(
            fault.to_string(),
            "Maximum resource limit reached [things, 2]"
        );
        registry.remove(1, "n1");
        assert_eq!(room(&registry, "things", 2), Ok(3));
    }
}
