//! Planning commands on servers. What happens to a server happens to all its services.

use std::collections::BTreeSet;
use std::net::IpAddr;

use sluice_balance::Change;
use sluice_command::{Command, ConfigVerb, Fault, Key, Noun};

use crate::edit::Edit;
use crate::object::Server;
use crate::plan::{room, without_options};
use crate::settings::Settings;
use crate::{Config, Plan, refusal, words};

impl Config {
    pub(crate) fn plan_server(&self, verb: ConfigVerb, command: &Command) -> Result<Plan, Fault> {
        match verb {
            ConfigVerb::Add => self.add_server(command),
            ConfigVerb::Set => self.set_server(command),
            ConfigVerb::Unset => self.unset_server(command),
            ConfigVerb::Rm => self.rm_servers(command),
            ConfigVerb::Enable => self.enable_servers(command),
            ConfigVerb::Disable => self.disable_servers(command),
            ConfigVerb::Bind | ConfigVerb::Unbind => Err(refusal::not_configuring()),
        }
    }

    fn add_server(&self, command: &Command) -> Result<Plan, Fault> {
        let name = words::server_name(words::name(command)?);
        if self.server(&name).is_some() {
            return Err(refusal::exists("server", &name));
        }
        let address = words::host(command, Key::Address)?;
        let address = address.ok_or_else(|| refusal::absent(command, Key::Address))?;
        let mut plan = Plan::default();
        let mut server = self.new_server(name, address)?;
        server.enabled = words::enabled(command)?;
        plan.take_options(command, &mut server.settings)?;
        plan.edits.push(Edit::Server(server));
        Ok(plan)
    }

    fn set_server(&self, command: &Command) -> Result<Plan, Fault> {
        let before = self.find_server(words::name(command)?)?;
        let mut after = before.clone();
        let mut plan = Plan::default();
        let options = plan.take_options(command, &mut after.settings)?;
        let address = words::host(command, Key::IpAddress)?;
        if options == 0 && address.is_none() {
            return Err(refusal::nothing_to_set());
        }
        after.address = address.unwrap_or(before.address);
        self.put_server(&mut plan, before, after)?;
        Ok(plan)
    }

    fn unset_server(&self, command: &Command) -> Result<Plan, Fault> {
        let before = self.find_server(words::name(command)?)?;
        let mut after = before.clone();
        after.settings = without_options(command, &before.settings)?;
        let mut plan = Plan::default();
        self.put_server(&mut plan, before, after)?;
        Ok(plan)
    }

    /// Refuses a server that has services: what would be lost with it (bindings, weights, options)
    /// is more than one word should take away, and the reference is not certain to do it either.
    fn rm_servers(&self, command: &Command) -> Result<Plan, Fault> {
        let mut plan = Plan::default();
        let mut gone = BTreeSet::new();
        for name in words::names(command)? {
            let server = self.find_server(name)?;
            if !gone.insert(server.number) {
                return Err(refusal::repeated("name", name));
            }
            let services: Vec<_> = self.services_of(server).collect();
            if !services.is_empty() {
                return Err(refusal::server_in_use(&services));
            }
            plan.edits.push(Edit::RemoveServer(server.name.clone()));
        }
        Ok(plan)
    }

    fn enable_servers(&self, command: &Command) -> Result<Plan, Fault> {
        let mut plan = Plan::default();
        for name in words::names(command)? {
            let before = self.find_server(name)?;
            let mut after = before.clone();
            after.enabled = true;
            self.put_server(&mut plan, before, after)?;
        }
        Ok(plan)
    }

    /// All services leave alike, those too that are on their way already.
    fn disable_servers(&self, command: &Command) -> Result<Plan, Fault> {
        let leave = words::leave(command);
        let mut plan = Plan::default();
        for name in words::names(command)? {
            let before = self.find_server(name)?;
            for service in self.services_of(before) {
                plan.changes.push(Change::DisableService(service.id, leave));
            }
            if before.enabled {
                let mut after = before.clone();
                after.enabled = false;
                plan.edits.push(Edit::Server(after));
            }
        }
        Ok(plan)
    }

    fn put_server(&self, plan: &mut Plan, before: &Server, after: Server) -> Result<(), Fault> {
        if *before == after {
            return Ok(());
        }
        for service in self.services_of(before) {
            let mut moved = service.clone();
            moved.address.set_ip(after.address);
            // The services of one server have different ports and move together.
            self.check_endpoint(&moved)?;
            plan.put_service(Some((service, before)), moved, &after);
        }
        plan.edits.push(Edit::Server(after));
        Ok(())
    }

    /// Returns the server a literal address stands for, and whether it is new: the server of that
    /// name, whatever its address is by now, else a new one of that name and address.
    pub(crate) fn server_at(&self, address: IpAddr) -> Result<(Server, bool), Fault> {
        let name = address.to_string();
        match self.server(&name) {
            Some(server) => Ok((server.clone(), false)),
            None => Ok((self.new_server(name, address)?, true)),
        }
    }

    pub(crate) fn find_server(&self, name: &str) -> Result<&Server, Fault> {
        let server = self.server(name);
        server.ok_or_else(|| refusal::missing("name", name, "server"))
    }

    fn new_server(&self, name: String, address: IpAddr) -> Result<Server, Fault> {
        Ok(Server {
            number: room(&self.objects.servers, "servers", MOST_SERVERS)?,
            name,
            address,
            enabled: true,
            settings: Settings::new(Noun::Server, ""),
        })
    }
}

/// As many as services: one host each is the most that makes sense.
const MOST_SERVERS: usize = 65_536;
