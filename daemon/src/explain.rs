//! What `explain lb vserver` answers: the core's explanation with names in it, as rows.

use sluice_balance::{
    Asked, CandidateStatus, Client, DecidedBy, Diversion, EntryEffect, EntryStatus, Exclusion,
    Explanation, Grounds, Instant, Method, MethodChoice, Missing, Outcome, Refusal, ServiceId,
    Unit, Verdict, VserverId,
};
use sluice_command::{Command, Fault, Key, Value, catalogue};
use sluice_config::Config;
use sluice_protocol::{ExplainOutcome, ExplainService, ExplainVserver, Row};

use crate::rows::{self, shown};

/// Returns what `command` asks; `ask` says what the core says.
///
/// # Errors
/// There is no virtual server of that name.
pub(crate) fn rows(
    config: &Config,
    command: &Command,
    now: Instant,
    ask: impl FnOnce(VserverId, &Client) -> Option<Explanation>,
) -> Result<Vec<Row>, Fault> {
    let name = command.text(Key::Name).unwrap_or_default();
    let missing = || Fault::new(catalogue::NO_SUCH_RESOURCE).with_details(format!("name, {name}"));
    let vserver = config.vserver(name).ok_or_else(missing)?;
    let said = ask(vserver.id(), &client(command)).ok_or_else(missing)?;
    let names = Names(config);
    let mut rows = Vec::new();
    for one in &said.asked {
        rows.push(Row::ExplainVserver(names.vserver_row(one)));
        let services = one.candidates.iter();
        rows.extend(services.map(|row| Row::ExplainService(names.service_row(row, now))));
    }
    rows.push(Row::ExplainOutcome(names.outcome(&said)));
    Ok(rows)
}

fn client(command: &Command) -> Client {
    let address = |key| match command.value(key) {
        Some(Value::Address(address)) => Some(*address),
        Some(
            Value::Text(_)
            | Value::Integer(_)
            | Value::AnyAddress
            | Value::Port(_)
            | Value::AnyPort
            | Value::Choice(_),
        )
        | None => None,
    };
    let port = command.integer(Key::SrcPort);
    Client {
        src: address(Key::SrcIp),
        src_port: port.and_then(|port| u16::try_from(port).ok()),
        dst: address(Key::DestIp),
    }
}

/// Finds the names of what the core knows by number.
struct Names<'a>(&'a Config);

impl Names<'_> {
    fn vserver(&self, id: VserverId) -> String {
        let found = self.0.vserver_by_id(id);
        found.map(|own| own.name().to_owned()).unwrap_or_default()
    }

    fn service(&self, id: ServiceId) -> String {
        let found = self.0.service_by_id(id);
        found.map(|own| own.name().to_owned()).unwrap_or_default()
    }

    fn vserver_row(&self, one: &Asked) -> ExplainVserver {
        ExplainVserver {
            vserver: self.vserver(one.vserver),
            verdict: verdict(one.verdict).to_owned(),
            method: method(one.method).to_owned(),
            persistence: one.entry.map(|entry| self.entry(entry)),
            rule: one.rule.map(rule),
            unit: one.unit.map(|unit| unit_text(unit).to_owned()),
        }
    }

    fn entry(&self, entry: EntryStatus) -> String {
        let service = self.service(entry.service);
        match entry.effect {
            EntryEffect::Decides => format!("the client stays with {service}"),
            EntryEffect::Refuses => format!("the client stays with {service}, which has no room"),
            EntryEffect::Bypassed => {
                format!("the client stays with {service}, which has no room: another this time")
            }
            EntryEffect::Moves => {
                format!("the client stayed with {service}, which cannot take it: it moves")
            }
        }
    }

    fn service_row(&self, row: &CandidateStatus, now: Instant) -> ExplainService {
        let most = |value: u128| u64::try_from(value).unwrap_or(u64::MAX);
        ExplainService {
            service: self.service(row.service),
            state: shown(row.state),
            weight: row.weight.value(),
            order: row.order.map(sluice_balance::Order::value),
            value: row.value,
            value_for_weight: row.weighted.map(most),
            stands_behind: row.stands_behind,
            slow_start: row.ramp.map(|ramp| rows::slow_start(&ramp, now)),
            excluded: row.exclusions.iter().map(exclusion).collect(),
            next: row.is_chosen,
        }
    }

    fn outcome(&self, said: &Explanation) -> ExplainOutcome {
        let (word, vserver, diversion) = match said.outcome {
            Outcome::Service {
                vserver, diversion, ..
            } => ("SERVICE", Some(vserver), diversion),
            Outcome::Chance { vserver, diversion } => ("CHANCE", Some(vserver), diversion),
            Outcome::Unknown {
                vserver, diversion, ..
            } => ("UNKNOWN", Some(vserver), diversion),
            Outcome::Refused(_) => ("REFUSED", None, None),
        };
        let (service, missing, refused) = match said.outcome {
            Outcome::Service { service, .. } => (Some(service), Missing::default(), None),
            Outcome::Chance { .. } => (None, Missing::default(), None),
            Outcome::Unknown { missing, .. } => (None, missing, None),
            Outcome::Refused(reason) => (None, Missing::default(), Some(reason)),
        };
        ExplainOutcome {
            outcome: word.to_owned(),
            vserver: vserver.map(|id| self.vserver(id)),
            service: service.map(|id| self.service(id)),
            diversion: diversion.map(|why| diversion_word(why).to_owned()),
            refusal: refused.map(|why| refusal(why).to_owned()),
            missing: options(missing),
            assumed_without: options(said.assumed_without),
        }
    }
}

fn options(missing: Missing) -> Vec<String> {
    let words = [
        (missing.src, "-srcIP"),
        (missing.src_port, "-srcPort"),
        (missing.dst, "-destIP"),
        (missing.token, "token"),
    ];
    let words = words.iter().filter(|(is_missing, _)| *is_missing);
    words.map(|(_, word)| (*word).to_owned()).collect()
}

fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Serves => "SERVES",
        Verdict::Keeps => "KEEPS",
        Verdict::Accepts => "ACCEPTS",
        Verdict::OutOfService => "OUT OF SERVICE",
        Verdict::Down => "DOWN",
        Verdict::Spilling => "SPILLING",
        Verdict::Full => "FULL",
        Verdict::Sticky => "STICKY",
    }
}

pub(crate) fn method(method: Method) -> &'static str {
    match method {
        Method::RoundRobin => "ROUNDROBIN",
        Method::LeastConnection => "LEASTCONNECTION",
        Method::LeastRequest => "LEASTREQUEST",
        Method::LeastBandwidth => "LEASTBANDWIDTH",
        Method::LeastPackets => "LEASTPACKETS",
        Method::LeastResponseTime => "LEASTRESPONSETIME",
        Method::LeastMonitorTime => "LRTM",
        Method::CustomLoad => "CUSTOMLOAD",
        Method::Random => "RANDOM",
        Method::SourceIpHash => "SOURCEIPHASH",
        Method::DestinationIpHash => "DESTINATIONIPHASH",
        Method::SrcIpDestIpHash => "SRCIPDESTIPHASH",
        Method::SrcIpSrcPortHash => "SRCIPSRCPORTHASH",
        Method::Token(_) => "TOKEN",
    }
}

fn rule(rule: DecidedBy) -> String {
    let (choice, limits_lifted) = match rule {
        DecidedBy::Persistence => return PERSISTENCE.to_owned(),
        DecidedBy::Method {
            choice,
            limits_lifted,
        } => (choice, limits_lifted),
    };
    let text = match choice {
        MethodChoice::Turn => grounds(Grounds::Turn).to_owned(),
        MethodChoice::NewOutOfTurn => "new, and its slow start allows it: out of turn".to_owned(),
        MethodChoice::Least { ties: 0 | 1 } => grounds(Grounds::Least).to_owned(),
        MethodChoice::Least { ties } => format!(
            "{}; of {ties} equal ones the first in bind order after the service chosen last",
            grounds(Grounds::Least)
        ),
        MethodChoice::Chance => grounds(Grounds::Chance).to_owned(),
        MethodChoice::Hash => grounds(Grounds::Hash).to_owned(),
        MethodChoice::HashTable => grounds(Grounds::HashTable).to_owned(),
    };
    if limits_lifted {
        format!(
            "{text}; only services held back by slow start are left, so their limits are lifted"
        )
    } else {
        text
    }
}

/// Says by what a method found a service.
pub(crate) fn grounds(grounds: Grounds) -> &'static str {
    match grounds {
        Grounds::Turn => "its turn in the round",
        Grounds::Least => "the least value for its weight",
        Grounds::Chance => "chance, by weight",
        Grounds::Hash => "the least hash score for its weight",
        Grounds::HashTable => "the place of the hash in the table",
    }
}

fn unit_text(unit: Unit) -> &'static str {
    match unit {
        Unit::RoundRequests => "requests of the round so far, of as many as the weight",
        Unit::Connections => "connections now",
        Unit::Bytes => "bytes both ways over the last 14 s",
        Unit::Packets => "packets both ways over the last 14 s",
        Unit::ConnectionNanoseconds => "connections now x nanoseconds of response time",
        Unit::Load => "load as monitors report it",
        Unit::HashScore => "hash score",
        Unit::Weight => "weight, of the sum of those that are not left out",
    }
}

fn exclusion(exclusion: &Exclusion) -> String {
    match exclusion {
        Exclusion::Down => "down".to_owned(),
        Exclusion::Unknown => "not probed yet".to_owned(),
        Exclusion::OutOfService => "disabled".to_owned(),
        Exclusion::GoingOutOfService => "going out of service".to_owned(),
        Exclusion::OnTrial => "on trial with one connection".to_owned(),
        Exclusion::MaxClient(most) => format!("at maxClient {most}"),
        Exclusion::MaxBandwidth(most) => format!("over maxBandwidth {most} kbit/s"),
        Exclusion::SlowStart => "held back by slow start".to_owned(),
        Exclusion::Standby => "standing by for a better order".to_owned(),
    }
}

pub(crate) fn diversion_word(diversion: Diversion) -> &'static str {
    match diversion {
        Diversion::Down => "DOWN",
        Diversion::Spillover => "SPILLOVER",
    }
}

fn refusal(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::NoVserver => "the virtual server is gone",
        Refusal::OutOfService => "the virtual server is disabled",
        Refusal::Down => "no service is UP",
        Refusal::Spilling => "the virtual server spills and no backup can take it",
        Refusal::Full => "no service has room",
    }
}

/// What decides for a client that stays with its service.
pub(crate) const PERSISTENCE: &str = "persistence";

#[cfg(test)]
mod tests;
