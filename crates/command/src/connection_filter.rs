//! The filter of `show ns connectiontable`: `CONNECTION.SRCIP.EQ(10.0.0.1) && CONNECTION.DSTPORT.EQ(80)`.
//!
//! Owns the expression and what it says of one connection. Terms are joined by `&&`, which binds first,
//! and `||`. A term is `CONNECTION.<what>.<how>(<value>)`, or in the older form `<WHAT> == <value>`.
//! Words are read in either case, names exactly; a value may stand in double quotes.
//!
//! Source: command reference, `show ns connectiontable`, and for the older form that of release 10.

mod term;

use core::net::{IpAddr, SocketAddr};

use crate::{Fault, catalogue};
use term::{is_and, is_or, split, term};

/// What a filter asks about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionFilter {
    /// One of these groups has to hold, all conditions of it.
    any: Vec<Vec<Condition>>,
}

/// What a filter may look at of one connection.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionFacts<'a> {
    /// The client.
    pub source: SocketAddr,
    /// What it dialled.
    pub destination: SocketAddr,
    /// How long nothing has moved, in whole seconds.
    pub idle_s: u64,
    /// The type of the virtual server that was dialled.
    pub service_type: &'a str,
    /// One of [`CONNECTION_STATES`].
    pub state: &'a str,
    /// The name of the service; empty before there is one.
    pub service: &'a str,
    /// The names of the virtual server that was dialled and of the one that serves, often the same.
    pub vservers: [&'a str; 2],
}

/// The states that connections have here, of those of the reference.
pub const CONNECTION_STATES: [&str; 6] = [
    "SYN_SENT",
    "ESTABLISHED",
    "CLOSE_WAIT",
    "FIN_WAIT_2",
    "CLOSING",
    "NOT_APPLICABLE",
];

#[derive(Clone, Debug, PartialEq, Eq)]
enum Condition {
    Address(End, bool, IpAddr),
    Port(End, Comparison),
    IdleTime(Comparison),
    /// The word is so; or is not.
    State(bool, String),
    ServiceType(bool, String),
    Service(Naming, String),
    Vserver(Naming, String),
}

/// Which end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Source,
    Destination,
    Either,
}

/// What a number has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal(u64),
    NotEqual(u64),
    Greater(u64),
    GreaterOrEqual(u64),
    Less(u64),
    LessOrEqual(u64),
    Between(u64, u64),
}

/// How a name has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Naming {
    Equal,
    NotEqual,
    Contains,
    StartsWith,
    EndsWith,
}

impl ConnectionFilter {
    /// Reads an expression.
    ///
    /// # Errors
    /// 1097 with the first term that is none, and in a hint what it may be.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let group = |group: &str| split(group, is_and).into_iter().map(term).collect();
        let groups = split(text, is_or).into_iter().map(group);
        let any = groups.collect::<Result<_, String>>();
        any.map(|any| Self { any }).map_err(|why| {
            Fault::new(catalogue::INVALID_ARGUMENT_VALUE)
                .with_details(format!("filterexpression, {why}"))
                .with_hint("\"CONNECTION.SRCIP.EQ(10.0.0.1) && CONNECTION.SVCNAME.EQ(s1)\"")
                .with_hint(WORDS)
        })
    }

    /// Whether a connection is one of those that are asked for.
    pub fn matches(&self, facts: &ConnectionFacts<'_>) -> bool {
        let holds = |group: &Vec<Condition>| group.iter().all(|one| one.holds(facts));
        self.any.iter().any(holds)
    }
}

impl Condition {
    fn holds(&self, facts: &ConnectionFacts<'_>) -> bool {
        match self {
            Self::Address(end, is, address) => {
                let found = end.of(facts).any(|one| one.ip() == *address);
                found == *is
            }
            Self::Port(end, Comparison::NotEqual(port)) => {
                end.of(facts).all(|one| u64::from(one.port()) != *port)
            }
            Self::Port(end, comparison) => {
                let mut ports = end.of(facts).map(|one| u64::from(one.port()));
                ports.any(|port| comparison.holds(port))
            }
            Self::IdleTime(comparison) => comparison.holds(facts.idle_s),
            Self::State(is, state) => (facts.state == state) == *is,
            Self::ServiceType(is, name) => (facts.service_type == name) == *is,
            Self::Service(naming, name) => naming.holds(&[facts.service], name),
            Self::Vserver(naming, name) => naming.holds(&facts.vservers, name),
        }
    }
}

impl End {
    fn of(self, facts: &ConnectionFacts<'_>) -> impl Iterator<Item = SocketAddr> + use<> {
        let (source, destination) = match self {
            Self::Source => (Some(facts.source), None),
            Self::Destination => (None, Some(facts.destination)),
            Self::Either => (Some(facts.source), Some(facts.destination)),
        };
        source.into_iter().chain(destination)
    }
}

impl Comparison {
    fn holds(self, number: u64) -> bool {
        match self {
            Self::Equal(other) => number == other,
            Self::NotEqual(other) => number != other,
            Self::Greater(other) => number > other,
            Self::GreaterOrEqual(other) => number >= other,
            Self::Less(other) => number < other,
            Self::LessOrEqual(other) => number <= other,
            Self::Between(least, most) => (least..=most).contains(&number),
        }
    }
}

impl Naming {
    fn holds(self, names: &[&str], part: &str) -> bool {
        let mut names = names.iter();
        match self {
            Self::Equal => names.any(|name| *name == part),
            Self::NotEqual => names.all(|name| *name != part),
            Self::Contains => names.any(|name| name.contains(part)),
            Self::StartsWith => names.any(|name| name.starts_with(part)),
            Self::EndsWith => names.any(|name| name.ends_with(part)),
        }
    }
}

const WORDS: &str = "SRCIP DSTIP IP TCPSTATE SERVICE_TYPE with EQ NE; SRCPORT DSTPORT PORT IDLETIME \
                     with EQ NE GT GE LT LE BETWEEN; SVCNAME LB_VSERVER.NAME with EQ NE CONTAINS \
                     STARTSWITH ENDSWITH";

#[cfg(test)]
mod tests;
