//! Reading the arguments of a command, and making commands.
//!
//! The parser has checked every value against the table; a command that came another way may still
//! lack something or hold a wrong kind of value, which is refused here and never a panic.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use sluice_balance::Leave;
use sluice_command::{Arg, Command, Fault, Key, Noun, Value, Verb};

use crate::object::{Listen, ServiceType};
use crate::refusal;
use crate::settings::text;

/// Returns the one name the command is about.
pub(crate) fn name(command: &Command) -> Result<&str, Fault> {
    word(command, Key::Name)
}

/// Returns the name that an object is to get.
pub(crate) fn new_name(command: &Command) -> Result<&str, Fault> {
    word(command, Key::NewName)
}

/// Returns all names the command is about, each of which stands once.
pub(crate) fn names(command: &Command) -> Result<Vec<&str>, Fault> {
    words(command, Key::Name, "name")
}

/// Returns the names of the virtual servers to put into a group or take out of it.
pub(crate) fn vserver_names(command: &Command) -> Result<Vec<&str>, Fault> {
    words(command, Key::VserverName, "vServerName")
}

/// Returns how services are to leave that are disabled.
pub(crate) fn leave(command: &Command) -> Leave {
    Leave {
        delay: command.integer(Key::Delay).map(Duration::from_secs),
        graceful: command.text(Key::GraceFul) == Some("YES"),
    }
}

/// Returns the name of the service to bind or unbind.
pub(crate) fn service_name(command: &Command) -> Result<&str, Fault> {
    word(command, Key::ServiceName)
}

/// Returns whether a command names a member of a service group.
pub(crate) fn is_member(command: &Command) -> bool {
    let keys = [Key::ServerName, Key::Address, Key::Port];
    keys.iter().any(|key| command.arg(*key).is_some())
}

/// Returns the name of the server of a member; one that is called like an address is named by it.
pub(crate) fn member_server(command: &Command) -> Result<String, Fault> {
    match host(command, Key::Address)? {
        Some(address) => Ok(address.to_string()),
        None => word(command, Key::ServerName).map(server_name),
    }
}

/// Returns a server as the commands on services name it.
pub(crate) fn server_value(name: &str) -> (Key, Value) {
    match name.parse() {
        Ok(address) => (Key::Address, Value::Address(address)),
        Err(_) => (Key::ServerName, Value::Text(name.to_owned())),
    }
}

/// Returns what the object speaks.
pub(crate) fn service_type(command: &Command) -> Result<ServiceType, Fault> {
    let name = word(command, Key::ServiceType)?;
    ServiceType::named(name).ok_or_else(|| refusal::invalid("serviceType", name))
}

/// Returns the port of a service.
pub(crate) fn port(command: &Command) -> Result<u16, Fault> {
    match command.value(Key::Port) {
        Some(Value::Port(port)) if *port > 0 => Ok(*port),
        Some(other) => Err(refusal::invalid("port", &text(std::slice::from_ref(other)))),
        None => Err(refusal::absent(command, Key::Port)),
    }
}

/// Returns the address of a host that is stored under `key`; `None` when it was not given.
pub(crate) fn host(command: &Command, key: Key) -> Result<Option<IpAddr>, Fault> {
    match command.value(key) {
        None => Ok(None),
        Some(Value::Address(address)) if !address.is_unspecified() => Ok(Some(*address)),
        Some(other) => {
            let value = text(std::slice::from_ref(other));
            Err(refusal::no_host_address("IPAddress", &value))
        }
    }
}

/// Returns where a new virtual server is to listen. `0.0.0.0` is no address; it goes with port 0.
pub(crate) fn listen(command: &Command) -> Result<Listen, Fault> {
    let port = match command.value(Key::Port) {
        None => None,
        Some(Value::Port(port)) => Some(*port),
        Some(other) => return Err(refusal::invalid("port", &text(std::slice::from_ref(other)))),
    };
    match (command.value(Key::Address), port) {
        (None | Some(&Value::Address(NOWHERE)), None | Some(0)) => Ok(Listen::Nowhere),
        (None, Some(_)) => Err(refusal::absent(command, Key::Address)),
        (Some(_), None) => Err(refusal::absent(command, Key::Port)),
        (Some(_), Some(0)) => Err(refusal::invalid("port", "0")),
        (Some(value), Some(port)) => listen_at(value, port),
    }
}

/// Returns where to listen with this address and port.
pub(crate) fn listen_at(value: &Value, port: u16) -> Result<Listen, Fault> {
    match value {
        Value::AnyAddress => Ok(Listen::Any(port)),
        Value::Address(address) if *address != NOWHERE => {
            Ok(Listen::At(SocketAddr::new(*address, port)))
        }
        Value::Text(_)
        | Value::Integer(_)
        | Value::Address(_)
        | Value::Port(_)
        | Value::AnyPort
        | Value::Choice(_) => {
            let value = text(std::slice::from_ref(value));
            Err(refusal::no_host_address("IPAddress", &value))
        }
    }
}

/// Returns whether a new object is enabled.
pub(crate) fn enabled(command: &Command) -> Result<bool, Fault> {
    match command.text(Key::State) {
        None if command.arg(Key::State).is_some() => Err(refusal::invalid("state", "")),
        None | Some("ENABLED") => Ok(true),
        Some("DISABLED") => Ok(false),
        Some(other) => Err(refusal::invalid("state", other)),
    }
}

/// Returns a server's name as it is kept: one that is an address is written as addresses are.
pub(crate) fn server_name(name: &str) -> String {
    match name.parse::<IpAddr>() {
        Ok(address) => address.to_string(),
        Err(_) => name.to_owned(),
    }
}

/// Makes a command.
pub(crate) fn command(
    verb: Verb,
    noun: Noun,
    positionals: impl IntoIterator<Item = (Key, Value)>,
    options: Vec<Arg>,
) -> Command {
    let positionals = positionals.into_iter().map(|(key, value)| Arg {
        key,
        values: vec![value],
    });
    let mut args: Vec<Arg> = positionals.collect();
    args.extend(options);
    Command { verb, noun, args }
}

fn words<'a>(command: &'a Command, key: Key, argument: &str) -> Result<Vec<&'a str>, Fault> {
    let arg = command
        .arg(key)
        .ok_or_else(|| refusal::absent(command, key))?;
    let names = arg.values.iter().map(|value| match value {
        Value::Text(name) => Ok(name.as_str()),
        Value::Integer(_)
        | Value::Address(_)
        | Value::AnyAddress
        | Value::Port(_)
        | Value::AnyPort
        | Value::Choice(_) => {
            let value = text(std::slice::from_ref(value));
            Err(refusal::invalid(argument, &value))
        }
    });
    let names = names.collect::<Result<Vec<_>, _>>()?;
    let mut seen = BTreeSet::new();
    match names.iter().find(|name| !seen.insert(**name)) {
        Some(name) => Err(refusal::repeated(argument, name)),
        None => Ok(names),
    }
}

fn word(command: &Command, key: Key) -> Result<&str, Fault> {
    command
        .text(key)
        .ok_or_else(|| refusal::absent(command, key))
}

/// The address of a virtual server that has none.
const NOWHERE: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
