//! The rows of service groups and their members.

use sluice_balance::{Order, State};
use sluice_command::{Command, Fault, Key, Noun, Verb, catalogue};
use sluice_config::{Service, ServiceGroup, Vserver};
use sluice_protocol::{
    BoundGroup, BoundService, GroupMember, Row, ServiceGroupMember, ServiceGroupRow,
    ServiceGroupStat, ServiceStat,
};

use super::tcp_inline::tcp_inline;
use super::{View, chosen, short, shown, up};

impl View<'_> {
    /// Returns the rows of a command about service groups.
    ///
    /// # Errors
    /// The name is not that of a group, or the member not one of it.
    pub(super) fn service_groups(&self, command: &Command) -> Result<Vec<Row>, Fault> {
        let name = command.text(Key::Name);
        let all = self.config.service_groups();
        let find = |name: &str| self.config.service_group(name);
        let groups = chosen(name, find, all).map_err(|fault| named(fault, name))?;
        let groups = groups.into_iter();
        if command.noun == Noun::ServiceGroupMember {
            let members = groups.map(|group| self.member_stat(group, command));
            return members.collect();
        }
        if command.noun == Noun::ServiceGroupBindings {
            let bound = groups.flat_map(|group| self.config.vservers_of_service_group(group));
            return Ok(bound.map(|vserver| self.bound_to(vserver)).collect());
        }
        let with_members = name.is_some() || command.arg(Key::IncludeMembers).is_some();
        let row = |group| match command.verb {
            Verb::Stat => self.service_group_stat(group, name.is_some()),
            _ => self.service_group(group, with_members),
        };
        Ok(groups.map(row).collect())
    }

    /// Returns the service groups of a virtual server.
    pub(super) fn bound_groups(
        &self,
        vserver: &Vserver,
        mut bound: Vec<(&Service, BoundService)>,
    ) -> (Vec<BoundService>, Vec<BoundGroup>) {
        let groups = self.config.bound_groups(vserver);
        let groups = groups.map(|(binding, group)| {
            let is_member = |(service, _): &mut (&Service, BoundService)| {
                service.group_name() == Some(group.name())
            };
            let members = bound.extract_if(.., is_member);
            let members = members.map(|(_, row)| row).collect();
            BoundGroup {
                name: group.name().to_owned(),
                order: binding.order.map(Order::value),
                members,
            }
        });
        let groups = groups.collect();
        (bound.into_iter().map(|(_, row)| row).collect(), groups)
    }

    fn service_group(&self, group: &ServiceGroup, with_members: bool) -> Row {
        let states = self.states(group);
        let members = self.config.members_of_service_group(group);
        Row::ServiceGroup(ServiceGroupRow {
            name: group.name().to_owned(),
            service_type: group.service_type().name().to_owned(),
            state: if group.is_enabled() {
                "ENABLED"
            } else {
                "DISABLED"
            }
            .to_owned(),
            effective_state: together(&states, shown),
            settings: group.options(),
            members_total: states.len() as u64,
            members_active: up(states.into_iter()),
            members: with_members.then(|| members.map(|member| self.member(member)).collect()),
        })
    }

    fn member(&self, member: &Service) -> ServiceGroupMember {
        let status = self.status(member);
        let (state_age_ms, state_change_unix_ms) = self.age(status.since);
        ServiceGroupMember {
            server: member.server().to_owned(),
            address: member.address().ip().to_string(),
            port: member.address().port().to_string(),
            state: shown(status.state),
            state_change_unix_ms,
            state_age_ms,
            drain: self.drain(status),
            tcp_inline: tcp_inline(&status.inline, self.now),
            settings: member.own_options(),
        }
    }

    fn service_group_stat(&self, group: &ServiceGroup, with_members: bool) -> Row {
        let states = self.states(group);
        let members = self.config.members_of_service_group(group);
        let members: Vec<ServiceStat> = members.map(|member| self.stat_of(member)).collect();
        let sum = |field: fn(&ServiceStat) -> u64| members.iter().map(field).sum();
        let active = up(states.iter().copied());
        Row::ServiceGroupStat(ServiceGroupStat {
            name: group.name().to_owned(),
            service_type: group.service_type().name().to_owned(),
            state: together(&states, short),
            members_active: active,
            members_inactive: states.len() as u64 - active,
            active: sum(|member| member.active),
            hits: sum(|member| member.hits),
            hits_per_s: sum(|member| member.hits_per_s),
            request_bytes: sum(|member| member.request_bytes),
            request_bytes_per_s: sum(|member| member.request_bytes_per_s),
            response_bytes: sum(|member| member.response_bytes),
            response_bytes_per_s: sum(|member| member.response_bytes_per_s),
            packets_received: sum(|member| member.packets_received),
            packets_sent: sum(|member| member.packets_sent),
            window_bytes: sum(|member| member.window_bytes),
            window_packets: sum(|member| member.window_packets),
            members: with_members.then_some(members),
        })
    }

    fn member_stat(&self, group: &ServiceGroup, command: &Command) -> Result<Row, Fault> {
        let server = match command.value(Key::Address) {
            Some(sluice_command::Value::Address(address)) => address.to_string(),
            Some(_) | None => command.text(Key::ServerName).unwrap_or_default().to_owned(),
        };
        let port = command.integer(Key::Port);
        let port = port.and_then(|port| u16::try_from(port).ok());
        let port = port.unwrap_or_default();
        let member = self.config.member(group, &server, port);
        let missing = || {
            Fault::new(catalogue::NO_SUCH_RESOURCE)
                .with_details(format!("serverName, {server}, {port}"))
        };
        let member = member.ok_or_else(missing)?;
        Ok(Row::ServiceStat(self.stat_of(member)))
    }

    fn bound_to(&self, vserver: &Vserver) -> Row {
        Row::ServiceGroupBinding(GroupMember {
            name: vserver.name().to_owned(),
            address: vserver.listen().address(),
            port: vserver.listen().port().to_string(),
            service_type: vserver.service_type().name().to_owned(),
            state: shown(self.vserver_status(vserver).state),
        })
    }

    fn states(&self, group: &ServiceGroup) -> Vec<State> {
        let members = self.config.members_of_service_group(group);
        members.map(|member| self.status(member).state).collect()
    }
}

/// Returns what members are together, in the reference's words: as each of them is; UP in part while one
/// is UP; DOWN in part while one is disabled. A group without members is DOWN.
fn together(states: &[State], word: fn(State) -> String) -> String {
    let has = |state| states.contains(&state);
    match states {
        [] => word(State::Down),
        [first, rest @ ..] if rest.iter().all(|state| state == first) => word(*first),
        _ if has(State::Up) => "PARTIAL-UP".to_owned(),
        _ if has(State::OutOfService) && has(State::Down) => "PARTIAL-DOWN".to_owned(),
        _ => word(State::Down),
    }
}

/// Names the argument as the table of service groups does.
fn named(fault: Fault, name: Option<&str>) -> Fault {
    match name {
        Some(name) => fault.with_details(format!("serviceGroupName, {name}")),
        None => fault,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_what_its_members_are_together() {
        let (up, down, out) = (State::Up, State::Down, State::OutOfService);
        for (states, text) in [
            (&[up, up][..], "UP"),
            (&[down, down], "DOWN"),
            (&[out], "OUT OF SERVICE"),
            (&[up, down], "PARTIAL-UP"),
            (&[out, up], "PARTIAL-UP"),
            (&[out, down], "PARTIAL-DOWN"),
            (&[down, State::Unknown], "DOWN"),
            (&[up, State::GoingOutOfService], "PARTIAL-UP"),
            (&[], "DOWN"),
        ] {
            assert_eq!(together(states, shown), text, "{states:?}");
        }
        assert_eq!(together(&[out, out], short), "OFS");
    }
}
