//! Giving objects other names: `rename`.
//!
//! The object keeps its number, so that its flows, counters and bindings go on and the core hears of
//! nothing; what refers to it by its name follows.

use sluice_command::{Arg, Command, ConfigNoun, Fault, Key, Value};

use crate::edit::Edit;
use crate::member::member_name;
use crate::object::Vserver;
use crate::{Config, Plan, refusal, words};

impl Config {
    pub(crate) fn plan_rename(&self, command: &Command) -> Result<Plan, Fault> {
        let (old, new) = (words::name(command)?, words::new_name(command)?);
        let edits = match command.noun.configured() {
            Some(ConfigNoun::Server) => self.rename_server(old, new)?,
            Some(ConfigNoun::Service) => self.rename_service(old, new)?,
            Some(ConfigNoun::ServiceGroup) => self.rename_service_group(old, new)?,
            Some(ConfigNoun::LbVserver) => self.rename_vserver(old, new)?,
            Some(ConfigNoun::LbGroup) => self.rename_group(old, new)?,
            Some(
                ConfigNoun::LbParameter
                | ConfigNoun::LbProfile
                | ConfigNoun::NetProfile
                | ConfigNoun::NsTcpProfile,
            )
            | None => return Err(refusal::not_configuring()),
        };
        Ok(Plan {
            changes: Vec::new(),
            warnings: Vec::new(),
            edits,
        })
    }

    fn rename_server(&self, old: &str, new: &str) -> Result<Vec<Edit>, Fault> {
        let before = self.find_server(old)?;
        let name = words::server_name(new);
        if self.server(&name).is_some() {
            return Err(refusal::server_name_exists(&name));
        }
        let mut after = before.clone();
        after.name.clone_from(&name);
        let mut edits = vec![Edit::Server(after)];
        for service in self.services_of(before) {
            let mut moved = service.clone();
            moved.server.clone_from(&name);
            if let Some(member) = &moved.member {
                moved.name = member_name(&member.group_name, &name, moved.address.port());
            }
            edits.push(Edit::Service(moved));
        }
        Ok(edits)
    }

    fn rename_service(&self, old: &str, new: &str) -> Result<Vec<Edit>, Fault> {
        let before = self.find_service("name", old)?;
        if self.service(new).is_some() {
            return Err(refusal::exists("service", new));
        }
        if self.service_group(new).is_some() {
            return Err(refusal::name_of_a_group(new));
        }
        let mut after = before.clone();
        new.clone_into(&mut after.name);
        Ok(vec![Edit::Service(after)])
    }

    fn rename_service_group(&self, old: &str, new: &str) -> Result<Vec<Edit>, Fault> {
        let before = self.find_service_group(old)?;
        if self.service_group(new).is_some() {
            return Err(refusal::exists("serviceGroup", new));
        }
        if self.service(new).is_some() {
            return Err(refusal::name_of_a_service(new));
        }
        let mut after = before.draft();
        new.clone_into(&mut after.name);
        let mut edits = vec![Edit::ServiceGroup(after)];
        for member in self.members_of_service_group(before) {
            let mut moved = member.clone();
            moved.name = member_name(new, &member.server, member.address.port());
            if let Some(membership) = &mut moved.member {
                new.clone_into(&mut membership.group_name);
            }
            edits.push(Edit::Service(moved));
        }
        Ok(edits)
    }

    fn rename_vserver(&self, old: &str, new: &str) -> Result<Vec<Edit>, Fault> {
        let before = self.find_vserver(old)?;
        if self.vserver(new).is_some() {
            return Err(refusal::exists("lb vserver", new));
        }
        let mut after = before.draft();
        new.clone_into(&mut after.name);
        let mut edits = vec![Edit::Vserver(after)];
        let follows =
            |vserver: &&Vserver| vserver.settings.own_word(Key::BackupVserver) == Some(old);
        for vserver in self.vservers().filter(follows) {
            let mut changed = vserver.draft();
            changed.settings.set(&Arg {
                key: Key::BackupVserver,
                values: vec![Value::Text(new.to_owned())],
            })?;
            edits.push(Edit::Vserver(changed));
        }
        Ok(edits)
    }

    fn rename_group(&self, old: &str, new: &str) -> Result<Vec<Edit>, Fault> {
        let before = self.find_group(old)?;
        if self.group(new).is_some() {
            return Err(refusal::exists("lb group", new));
        }
        let mut after = before.draft();
        new.clone_into(&mut after.name);
        Ok(vec![Edit::Group(after)])
    }
}
