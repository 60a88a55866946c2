//! The refusals of this crate: which text of the catalogue for what, with which details.
//!
//! An object that a command is about, or refers to, and that does not exist is always 258 with the
//! argument that named it; the reference has several texts for it and uses this one in its
//! transcripts.

use std::net::SocketAddr;

use sluice_command::{Command, Fault, Key, Noun, Verb, catalogue, quote, spec};

use crate::object::Service;

/// The object's name is taken.
pub(crate) fn exists(noun: &str, name: &str) -> Fault {
    Fault::new(catalogue::ALREADY_EXISTS).with_hint(format!("show {noun} {}", quote(name)))
}

/// Another service, or member of the service group, answers at this address.
pub(crate) fn same_endpoint(other: &Service) -> Fault {
    Fault::new(catalogue::ALREADY_EXISTS)
        .with_details(at_its_address(other))
        .with_hint(show(other))
}

/// What is bound to the virtual server as well answers at this address.
pub(crate) fn endpoint_of_other(vserver: &str, other: &Service) -> Fault {
    Fault::new(catalogue::ENDPOINT_OF_OTHER)
        .with_details(format!("lb vserver {vserver}, {}", at_its_address(other)))
        .with_hint(show(other))
}

/// What is to be bound answers where something that is bound already does.
pub(crate) fn endpoint_bound(vserver: &str, other: &Service) -> Fault {
    Fault::new(catalogue::ENDPOINT_BOUND)
        .with_details(format!("lb vserver {vserver}, {}", at_its_address(other)))
        .with_hint(show(other))
}

/// The other name of a server is that of another one.
pub(crate) fn server_name_exists(name: &str) -> Fault {
    Fault::new(catalogue::SERVER_NAME_EXISTS).with_hint(format!("show server {}", quote(name)))
}

/// The name of the service is that of a service group.
pub(crate) fn name_of_a_group(name: &str) -> Fault {
    Fault::new(catalogue::SERVICE_GROUP_EXISTS)
        .with_hint(format!("show serviceGroup {}", quote(name)))
}

/// The name of the service group is that of a service.
pub(crate) fn name_of_a_service(name: &str) -> Fault {
    Fault::new(catalogue::NAME_OF_A_SERVICE).with_hint(format!("show service {}", quote(name)))
}

/// The service group has this member.
pub(crate) fn is_member(group: &str, server: &str, port: u16) -> Fault {
    let (group, server) = (quote(group), quote(server));
    Fault::new(catalogue::ALREADY_EXISTS).with_hint(format!(
        "set serviceGroup {group} {server} {port} -weight <weight>"
    ))
}

/// The service group has no such member.
pub(crate) fn no_member(group: &str, server: &str, port: u16) -> Fault {
    Fault::new(catalogue::NO_SUCH_RESOURCE)
        .with_details(format!("serverName, {server}, {port}"))
        .with_hint(format!("show serviceGroup {}", quote(group)))
}

/// The service group has as many members as it may have.
pub(crate) fn too_many_members(group: &str, most: usize) -> Fault {
    Fault::new(catalogue::TOO_MANY_MEMBERS).with_details(format!("serviceGroup {group}, {most}"))
}

/// An option of members is given, and no member.
pub(crate) fn without_member(option: &str) -> Fault {
    Fault::new(catalogue::PREREQUISITE_MISSING)
        .with_details(format!("{option}, serverName"))
        .with_hint(format!(
            "set serviceGroup <serviceGroupName> <serverName> <port> -{option} ..."
        ))
}

/// An option of the service group is given, and a member.
pub(crate) fn of_whole_group(option: &str) -> Fault {
    Fault::new(catalogue::EXCLUSIVE_ARGUMENTS)
        .with_details(format!("serverName, {option}"))
        .with_hint(format!("-{option} is one of the whole service group"))
}

/// The service is bound already.
pub(crate) fn already_bound(vserver: &str, service: &str) -> Fault {
    let (vserver, service) = (quote(vserver), quote(service));
    Fault::new(catalogue::ALREADY_EXISTS).with_hint(format!(
        "set lb vserver {vserver} -weight <weight> {service}"
    ))
}

/// The service group is bound already; its members have weights of their own.
pub(crate) fn group_already_bound(group: &str) -> Fault {
    Fault::new(catalogue::ALREADY_EXISTS)
        .with_hint(format!("show servicegroupbindings {}", quote(group)))
}

/// Another virtual server listens here.
pub(crate) fn same_listener(vserver: &str, address: SocketAddr) -> Fault {
    Fault::new(catalogue::ADDRESS_IN_USE)
        .with_details(format!("lb vserver {vserver}, {address}"))
        .with_hint(format!("show lb vserver {}", quote(vserver)))
}

/// The virtual server is in another group.
pub(crate) fn in_other_group(group: &str, vserver: &str) -> Fault {
    let (quoted, vserver) = (quote(group), quote(vserver));
    Fault::new(catalogue::RESOURCE_IN_USE)
        .with_details(format!("lb group {group}"))
        .with_hint(format!("unbind lb group {quoted} {vserver}"))
}

/// There is no such object.
pub(crate) fn missing(argument: &str, name: &str, noun: &str) -> Fault {
    Fault::new(catalogue::NO_SUCH_RESOURCE)
        .with_details(format!("{argument}, {name}"))
        .with_hint(format!("show {noun}"))
}

/// The server has services.
pub(crate) fn server_in_use(services: &[&Service]) -> Fault {
    let listed = &services[..services.len().min(LISTED)];
    let mut details = String::new();
    for (index, service) in listed.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| listed[before]);
        let is_first = before.is_none_or(|before| before.member.is_some());
        details.push_str(if index > 0 { ", " } else { "" });
        details.push_str(&label(service, is_first));
    }
    if services.len() > LISTED {
        details.push_str(&format!(" and {} more", services.len() - LISTED));
    }
    let hints = listed.iter().map(|service| match service.group_name() {
        None => format!("rm service {}", quote(&service.name)),
        Some(group) => {
            let (group, server) = (quote(group), quote(&service.server));
            let port = service.address.port();
            format!("unbind serviceGroup {group} {server} {port}")
        }
    });
    hints.fold(
        Fault::new(catalogue::RESOURCE_IN_USE).with_details(details),
        Fault::with_hint,
    )
}

/// Names a service in a list; of several in a row, the first alone says that they are services.
fn label(service: &Service, is_first: bool) -> String {
    match service.group_name() {
        None if !is_first => service.name.clone(),
        None => format!("service {}", service.name),
        Some(group) => format!("serviceGroup {group} {}", service.address.port()),
    }
}

fn at_its_address(service: &Service) -> String {
    match service.group_name() {
        None => format!("service {}, {}", service.name, service.address),
        Some(group) => format!("serviceGroup {group}, {}", service.address),
    }
}

fn show(service: &Service) -> String {
    match service.group_name() {
        None => format!("show service {}", quote(&service.name)),
        Some(group) => format!("show serviceGroup {}", quote(group)),
    }
}

/// The service is bound, and what is bound may not go.
pub(crate) fn service_in_use(vserver: &str, service: &str) -> Fault {
    let (quoted, service) = (quote(vserver), quote(service));
    Fault::new(catalogue::RESOURCE_IN_USE)
        .with_details(format!("lb vserver {vserver}"))
        .with_hint(format!("unbind lb vserver {quoted} {service}"))
}

/// `set` or `unset` names no option.
pub(crate) fn nothing_to_set() -> Fault {
    Fault::new(catalogue::NO_ARGUMENTS_TO_SET)
}

/// The service is not bound to the virtual server.
pub(crate) fn not_bound(vserver: &str, service: &str) -> Fault {
    Fault::new(catalogue::NOT_BOUND)
        .with_details(format!("serviceName, {service}"))
        .with_hint(format!("show lb vserver {}", quote(vserver)))
}

/// Service and virtual server carry different things; only an end of TLS could join them.
pub(crate) fn type_mismatch(vserver: &str, service: &str, needs_tls: bool) -> Fault {
    let why = if needs_tls {
        "; nothing is encrypted or decrypted here"
    } else {
        ""
    };
    Fault::new(catalogue::TYPE_MISMATCH)
        .with_details(format!("vserver {vserver}, service {service}{why}"))
}

/// There is room for no more of these.
pub(crate) fn limit(what: &str, most: usize) -> Fault {
    Fault::new(catalogue::LIMIT_REACHED).with_details(format!("{what}, {most}"))
}

/// A virtual server without a port cannot get an address.
pub(crate) fn not_addressable(vserver: &str) -> Fault {
    let vserver = quote(vserver);
    Fault::new(catalogue::ADDRESS_CHANGE_NOT_PERMITTED)
        .with_details("port, 0")
        .with_hint(format!(
            "The port cannot be changed: rm lb vserver {vserver}, then add it with address and port"
        ))
}

/// An argument has a value it cannot have.
pub(crate) fn invalid(argument: &str, value: &str) -> Fault {
    Fault::new(catalogue::INVALID_ARGUMENT_VALUE).with_details(format!("{argument}, {value}"))
}

/// The method in place of another would be that other.
pub(crate) fn same_backup_method(method: &str) -> Fault {
    Fault::new(catalogue::SAME_BACKUP_METHOD).with_details(format!("backupLBMethod, {method}"))
}

/// The spillover compares with a threshold, and there is none.
pub(crate) fn no_spill_threshold() -> Fault {
    Fault::new(catalogue::NO_SPILL_THRESHOLD)
        .with_details("soThreshold")
        .with_hint("give -soThreshold with this -soMethod")
}

/// A part of the weight is a percentage.
pub(crate) fn no_percentage(threshold: u64) -> Fault {
    Fault::new(catalogue::NOT_IN_RANGE)
        .with_details(format!("soThreshold, {threshold}"))
        .with_hint("soThreshold is 1-100 percent with -soMethod HEALTH")
}

/// The backup is the virtual server itself, or has it as a backup.
pub(crate) fn backup_in_chain(backup: &str) -> Fault {
    Fault::new(catalogue::BACKUP_IN_CHAIN)
        .with_details(format!("backupVServer, {backup}"))
        .with_hint(format!("show lb vserver {}", quote(backup)))
}

/// The backup carries something else.
pub(crate) fn backup_type_mismatch(vserver_type: &str, backup_type: &str) -> Fault {
    Fault::new(catalogue::VSERVER_TYPE_MISMATCH)
        .with_details(format!("vserver {vserver_type}, backup {backup_type}"))
}

/// A virtual server that stays has it as its backup.
pub(crate) fn backup_in_use(vserver: &str) -> Fault {
    let quoted = quote(vserver);
    Fault::new(catalogue::RESOURCE_IN_USE)
        .with_details(format!("lb vserver {vserver}"))
        .with_hint(format!("unset lb vserver {quoted} -backupVServer"))
}

/// A name stands twice.
pub(crate) fn repeated(argument: &str, name: &str) -> Fault {
    Fault::new(catalogue::ARGUMENT_REPEATED)
        .with_details(format!("{argument}, {name}"))
        .with_hint(format!("give {name} once"))
}

/// The method is TOKEN, and nothing says how long a token is.
pub(crate) fn token_without_length() -> Fault {
    Fault::new(catalogue::PREREQUISITE_MISSING)
        .with_details("lbMethod==TOKEN, dataLength")
        .with_hint("-lbMethod TOKEN -dataLength <bytes>")
}

/// The token is described, and the method is another.
pub(crate) fn place_without_token(argument: &str) -> Fault {
    Fault::new(catalogue::PREREQUISITE_MISSING).with_details(format!("{argument}, lbMethod==TOKEN"))
}

/// There is no profile of that name.
pub(crate) fn no_such_profile(is_net: bool, name: &str, noun: &str) -> Fault {
    let (code, argument) = if is_net {
        (catalogue::NO_SUCH_NET_PROFILE, "netProfile")
    } else {
        (catalogue::NO_SUCH_PROFILE, "profile")
    };
    Fault::new(code)
        .with_details(format!("{argument}, {name}"))
        .with_hint(format!("show {noun}"))
}

/// What is no TCP has no TCP profile.
pub(crate) fn no_tcp_profile_here(name: &str) -> Fault {
    Fault::new(catalogue::NO_TCP_PROFILE_HERE).with_details(format!("tcpProfileName, {name}"))
}

/// What is shipped stays.
pub(crate) fn shipped(name: &str) -> Fault {
    Fault::new(catalogue::NOT_PERMITTED).with_details(format!("name, {name}: it is shipped"))
}

/// Somebody names the profile.
pub(crate) fn profile_in_use(noun: &str, user: &str) -> Fault {
    Fault::new(catalogue::RESOURCE_IN_USE)
        .with_details(format!("{noun} {user}"))
        .with_hint(format!("show {noun} {}", quote(user)))
}

/// Entries last for minutes; only a cookie lasts for as long as its client.
pub(crate) fn no_persistence_timeout(minutes: u64) -> Fault {
    Fault::new(catalogue::PERSISTENCE_TIMEOUT).with_details(format!("timeout, {minutes}"))
}

/// A host cannot have this address.
pub(crate) fn no_host_address(argument: &str, value: &str) -> Fault {
    Fault::new(catalogue::INVALID_ADDRESS).with_details(format!("{argument}, {value}"))
}

/// An argument that must be there is not.
pub(crate) fn absent(command: &Command, key: Key) -> Fault {
    let argument = spelling(command.verb, command.noun, key);
    Fault::new(catalogue::ARGUMENT_MISSING).with_details(argument)
}

/// An option lacks one of its values.
pub(crate) fn without_value(command: &Command, key: Key) -> Fault {
    let argument = spelling(command.verb, command.noun, key);
    Fault::new(catalogue::VALUE_MISSING).with_details(argument)
}

/// The command does not configure anything.
pub(crate) fn not_configuring() -> Fault {
    Fault::new(catalogue::NOT_VALID_HERE)
        .with_hint("A configuration holds add, set, unset, rm, enable, disable, bind and unbind, and rename changes it")
}

/// Names an argument as the table does.
fn spelling(verb: Verb, noun: Noun, key: Key) -> String {
    let command = spec(verb, noun);
    let positional = command.and_then(|command| {
        let mut rows = command.positionals.iter().map(|positional| &positional.arg);
        rows.find(|row| row.key == key)
    });
    let row = positional.or_else(|| command.and_then(|command| command.option(key)));
    row.map_or_else(|| format!("{key:?}"), |row| row.spelling.to_owned())
}

/// How many names fit into a message a person reads.
const LISTED: usize = 5;
