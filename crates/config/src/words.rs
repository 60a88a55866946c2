//! Reading the arguments of a command, and making commands.
//!
//! The parser has checked every value against the table; a command that came another way may still
//! lack something or hold a wrong kind of value, which is refused here and never a panic.

use std::net::{IpAddr, Ipv4Addr};

use sluice_command::{Arg, Command, Fault, Key, Noun, Value, Verb};

use crate::object::{Listen, ServiceType};
use crate::refusal;
use crate::settings::text;

/// Returns the one name the command is about.
pub(crate) fn name(command: &Command) -> Result<&str, Fault> {
    word(command, Key::Name)
}

/// Returns all names the command is about.
pub(crate) fn names(command: &Command) -> Result<Vec<&str>, Fault> {
    let arg = command
        .arg(Key::Name)
        .ok_or_else(|| refusal::absent(command, Key::Name))?;
    let names = arg.values.iter().map(|value| match value {
        Value::Text(name) => Ok(name.as_str()),
        Value::Integer(_)
        | Value::Address(_)
        | Value::AnyAddress
        | Value::Port(_)
        | Value::AnyPort
        | Value::Choice(_) => Err(refusal::invalid("name", &text(std::slice::from_ref(value)))),
    });
    names.collect()
}

/// Returns the name of the service to bind or unbind.
pub(crate) fn service_name(command: &Command) -> Result<&str, Fault> {
    word(command, Key::ServiceName)
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

/// Returns where a virtual server is to listen.
pub(crate) fn listen(command: &Command) -> Result<Listen, Fault> {
    let nowhere = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    let address = listen_address(command, Key::Address)?.unwrap_or(nowhere);
    let port = match command.value(Key::Port) {
        None => 0,
        Some(Value::Port(port)) => *port,
        Some(other) => return Err(refusal::invalid("port", &text(std::slice::from_ref(other)))),
    };
    // A port is needed by every address but 0.0.0.0; `*` is no address in this sense.
    let named = command.value(Key::Address) == Some(&Value::AnyAddress) || address != nowhere;
    match (named, port, command.arg(Key::Port).is_some()) {
        (true, 0, false) => Err(refusal::absent(command, Key::Port)),
        (true, 0, true) => Err(refusal::invalid("port", "0")),
        (true, _, _) | (false, _, _) => Ok(Listen::new(address, port)),
    }
}

/// Returns the address to listen on that is stored under `key`; `None` when it was not given.
pub(crate) fn listen_address(command: &Command, key: Key) -> Result<Option<IpAddr>, Fault> {
    match command.value(key) {
        None => Ok(None),
        Some(Value::Address(address)) => Ok(Some(*address)),
        Some(Value::AnyAddress) => Ok(Some(IpAddr::V4(Ipv4Addr::UNSPECIFIED))),
        Some(other) => {
            let value = text(std::slice::from_ref(other));
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

fn word(command: &Command, key: Key) -> Result<&str, Fault> {
    command
        .text(key)
        .ok_or_else(|| refusal::absent(command, key))
}
