//! What `show` and `stat` answer: the configuration and the core at one moment, as rows.
//!
//! Builds rows and nothing else; the front end lays them out. Objects come in the order of the
//! configuration, services of a virtual server in the order they were bound.

use std::collections::HashMap;
use std::time::{Duration, SystemTime};

use sluice_balance::{
    BindingStatus, Instant, PersistenceTotals, RampStatus, RampUnit, ServiceId, ServiceStatus,
    Snapshot, State, VserverId, VserverStatus,
};
use sluice_command::{Command, ConfigNoun, Fault, Key, Noun, Verb, catalogue};
use sluice_config::{Config, Service, Vserver};
use sluice_dataplane::UdpStatus;
use sluice_protocol::{Drain, ParameterRow, PersistenceStat, ProfileRow, Row, SlowStart, UdpStat};

use crate::drains::{self, Notable};
use crate::ns_conf::unix_ms;

mod service_group;
mod show;
mod stat;
mod tcp_inline;

/// Returns what `show lb parameter` answers.
pub(crate) fn parameter(config: &Config, totals: PersistenceTotals) -> Row {
    Row::Parameter(ParameterRow {
        settings: config.parameter_options(),
        persistence: PersistenceStat {
            sessions: totals.entries,
            sessions_max: totals.limit,
            table_full: totals.overflows,
        },
    })
}

/// Returns what `show` of profiles answers: all of an object, or the one that is named.
fn profiles(config: &Config, noun: Noun, name: Option<&str>) -> Result<Vec<Row>, Fault> {
    let all = config.profiles(noun);
    let named = |wanted: &str| all.iter().find(|profile| profile.name() == wanted);
    let chosen = chosen(name, named, all.iter())?;
    Ok(chosen
        .into_iter()
        .map(|profile| {
            Row::Profile(ProfileRow {
                name: profile.name().to_owned(),
                settings: profile.options(),
            })
        })
        .collect())
}

/// One moment.
pub(crate) struct View<'a> {
    config: &'a Config,
    now: Instant,
    wall: SystemTime,
    services: HashMap<ServiceId, (&'a Service, &'a ServiceStatus)>,
    vservers: HashMap<VserverId, &'a VserverStatus>,
    notable: Notable,
}

impl<'a> View<'a> {
    /// Joins what is configured with what the core says of it; `now` and `wall` are the same moment.
    ///
    /// # Panics
    /// When the core has not heard of a configured service: both get every change.
    pub(crate) fn new(
        config: &'a Config,
        snapshot: &'a Snapshot,
        now: Instant,
        wall: SystemTime,
    ) -> Self {
        let known: HashMap<_, _> = snapshot
            .services
            .iter()
            .map(|status| (status.id, status))
            .collect();
        let joined = config
            .services()
            .map(|service| (service.id(), (service, known[&service.id()])));
        Self {
            config,
            now,
            wall,
            services: joined.collect(),
            vservers: snapshot
                .vservers
                .iter()
                .map(|status| (status.id, status))
                .collect(),
            notable: Notable::new(),
        }
    }

    /// Adds the clients to name of services that go out of service.
    pub(crate) fn with_notable(self, notable: Notable) -> Self {
        Self { notable, ..self }
    }

    /// Returns the rows of a `show` or `stat` of servers, services, service groups or virtual servers: of all, or of
    /// the one that is named, then in the detailed form.
    ///
    /// # Errors
    /// The name is not that of an object.
    pub(crate) fn rows(&self, command: &Command) -> Result<Vec<Row>, Fault> {
        let name = command.text(Key::Name);
        let detail = name.is_some();
        let stat = command.verb == Verb::Stat;
        if let Noun::ServiceGroupMember | Noun::ServiceGroupBindings = command.noun {
            return self.service_groups(command);
        }
        match command.noun.configured() {
            Some(ConfigNoun::Server) => {
                let servers = chosen(name, |name| self.config.server(name), self.config.servers())?;
                Ok(if stat {
                    servers
                        .into_iter()
                        .flat_map(|server| self.server_stats(server))
                        .collect()
                } else {
                    servers
                        .into_iter()
                        .map(|server| self.server(server, detail))
                        .collect()
                })
            }
            Some(ConfigNoun::Service) => {
                let services = chosen(
                    name,
                    |name| self.config.service(name),
                    self.config.own_services(),
                )?;
                let row = |service| {
                    if stat {
                        self.service_stat(service)
                    } else {
                        self.service(service)
                    }
                };
                Ok(services.into_iter().map(row).collect())
            }
            Some(ConfigNoun::ServiceGroup) => self.service_groups(command),
            Some(ConfigNoun::LbVserver) => {
                let vservers = chosen(
                    name,
                    |name| self.config.vserver(name),
                    self.config.vservers(),
                )?;
                let row = |vserver| {
                    if stat {
                        self.vserver_stat(vserver, detail)
                    } else {
                        self.vserver(vserver, detail)
                    }
                };
                Ok(vservers.into_iter().map(row).collect())
            }
            Some(ConfigNoun::LbGroup) => {
                let groups = chosen(name, |name| self.config.group(name), self.config.groups())?;
                let row = |group| self.group(group, detail);
                Ok(groups.into_iter().map(row).collect())
            }
            Some(ConfigNoun::NsTcpProfile | ConfigNoun::NetProfile | ConfigNoun::LbProfile) => {
                profiles(self.config, command.noun, name)
            }
            Some(ConfigNoun::LbParameter) | None => Err(Fault::new(catalogue::NOT_VALID_HERE)),
        }
    }

    fn status(&self, service: &Service) -> &ServiceStatus {
        self.services[&service.id()].1
    }

    fn vserver_status(&self, vserver: &Vserver) -> &VserverStatus {
        self.vservers[&vserver.id()]
    }

    /// Returns how a service goes out of service, if the operator has it go.
    fn drain(&self, status: &ServiceStatus) -> Option<Drain> {
        let until = |at: Instant| millis_up(at.duration_since(self.now));
        let notable = self.notable.get(&status.id);
        status.drain.map(|drain| Drain {
            graceful: drain.graceful,
            age_ms: millis(self.now.duration_since(drain.since)),
            left_ms: drain.deadline.map(until),
            clients: status.active,
            last_client_ms: drain.last_flow.map(until),
            oldest: notable.map(|known| drains::client(&known.oldest)),
            idlest: notable.map(|known| drains::client(&known.idlest)),
        })
    }

    /// Returns the slow start of a bound service, while it is new.
    fn slow_start(&self, binding: &BindingStatus) -> Option<SlowStart> {
        binding.ramp.map(|ramp| slow_start(&ramp, self.now))
    }

    /// Returns how long ago `since` was and when that was, milliseconds since 1970 UTC.
    fn age(&self, since: Instant) -> (u64, u64) {
        let age_ms = millis(self.now.duration_since(since));
        (age_ms, unix_ms(self.wall).saturating_sub(age_ms))
    }
}

/// Returns the slow start of a service that is new.
pub(crate) fn slow_start(ramp: &RampStatus, now: Instant) -> SlowStart {
    let unit = match ramp.unit {
        RampUnit::PerSecond => "PER_SECOND",
        RampUnit::Percent => "PERCENT",
    };
    SlowStart {
        limit: ramp.limit,
        unit: unit.to_owned(),
        requests: ramp.chosen,
        requests_total: ramp.requests,
        age_ms: millis(now.duration_since(ramp.since)),
        next_step_ms: ramp.next_step.map(|at| millis(at.duration_since(now))),
        end_ms: ramp.end.map(|at| millis(at.duration_since(now))),
    }
}

fn millis(length: Duration) -> u64 {
    u64::try_from(length.as_millis()).unwrap_or(u64::MAX)
}

/// Rounded up: what has not come yet is not there.
fn millis_up(length: Duration) -> u64 {
    u64::try_from(length.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

/// Returns the answer of `stat protocol udp`.
pub(crate) fn udp(status: &UdpStatus) -> UdpStat {
    UdpStat {
        sessions: status.sessions as u64,
        session_limit: status.limit as u64,
        dropped_at_limit: status.dropped_limit,
        dropped_refused: status.dropped_refused,
        dropped_without_socket: status.dropped_local,
        dropped_truncated: status.dropped_truncated,
        dropped_buffer_full: status.dropped_full,
        dropped_unsendable: status.dropped_unsendable,
        errors_reported: status.errors,
    }
}

/// Returns the answer of `show ns version`.
pub(crate) fn version() -> String {
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    format!("Sluice {}, {os} {arch}", env!("CARGO_PKG_VERSION"))
}

/// Picks the named object, or all.
fn chosen<'a, T>(
    name: Option<&str>,
    find: impl FnOnce(&str) -> Option<&'a T>,
    all: impl Iterator<Item = &'a T>,
) -> Result<Vec<&'a T>, Fault> {
    let Some(name) = name else {
        return Ok(all.collect());
    };
    let missing = || Fault::new(catalogue::NO_SUCH_RESOURCE).with_details(format!("name, {name}"));
    Ok(vec![find(name).ok_or_else(missing)?])
}

/// The state as `show` spells it.
pub(crate) fn shown(state: State) -> String {
    match state {
        State::Up => "UP",
        State::Down => "DOWN",
        State::Unknown => "UNKNOWN",
        State::OutOfService => "OUT OF SERVICE",
        State::GoingOutOfService => "GOING OUT OF SERVICE",
        State::DownWhenGoingOutOfService => "DOWN WHEN GOING OUT OF SERVICE",
    }
    .to_owned()
}

/// The state as `stat` spells it.
fn short(state: State) -> String {
    match state {
        State::Up => "UP",
        State::Down => "DOWN",
        State::Unknown => "UNKNOWN",
        State::OutOfService => "OFS",
        State::GoingOutOfService => "TROFS",
        State::DownWhenGoingOutOfService => "TROFS_DOWN",
    }
    .to_owned()
}

/// Counts those that are UP.
fn up(states: impl Iterator<Item = State>) -> u64 {
    states
        .filter(|state| *state == State::Up)
        .fold(0, |count, _| count + 1)
}

#[cfg(test)]
mod tests;
