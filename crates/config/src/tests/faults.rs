//! Every refusal, with its exact text, and nothing changed.

use sluice_command::{Arg, Command, Key, Noun, Value, Verb};

use super::{SITE, configured, refused, run};
use crate::{Config, plan_line};

#[test]
fn every_refusal_has_its_text_and_changes_nothing() {
    let config = configured(SITE);
    for (line, fault) in [
        // names that are taken
        ("add server web1 10.9.9.9", "273 Resource already exists"),
        ("add service s1 web2 TCP 99", "273 Resource already exists"),
        (
            "add lb vserver v1 TCP 10.9.9.9 80",
            "273 Resource already exists",
        ),
        ("bind lb vserver v1 s1", "273 Resource already exists"),
        (
            "bind lb vserver v1 s1 -weight 5",
            "273 Resource already exists",
        ),
        // addresses that are taken
        (
            "add service s9 web1 TCP 80",
            "273 Resource already exists [service s1, 10.0.0.1:80]",
        ),
        (
            "add service s9 10.0.0.1 TCP 80",
            "273 Resource already exists [service s1, 10.0.0.1:80]",
        ),
        (
            "set service s2 -IPAddress 10.0.0.1",
            "273 Resource already exists [service s1, 10.0.0.1:80]",
        ),
        (
            "set server web2 -IPAddress 10.0.0.1",
            "273 Resource already exists [service s1, 10.0.0.1:80]",
        ),
        (
            "add lb vserver v9 TCP 10.0.0.10 80",
            "304 Address already in use [lb vserver v1, 10.0.0.10:80]",
        ),
        // names that do not exist
        (
            "set server nope -comment x",
            "258 No such resource [name, nope]",
        ),
        (
            "unset server nope -comment",
            "258 No such resource [name, nope]",
        ),
        ("rm server nope", "258 No such resource [name, nope]"),
        ("enable server nope", "258 No such resource [name, nope]"),
        ("disable server WEB1", "258 No such resource [name, WEB1]"),
        (
            "add service s9 nope TCP 80",
            "258 No such resource [serverName, nope]",
        ),
        (
            "set service nope -maxClient 1",
            "258 No such resource [name, nope]",
        ),
        (
            "unset service nope -maxClient",
            "258 No such resource [name, nope]",
        ),
        ("rm service nope", "258 No such resource [name, nope]"),
        ("enable service nope", "258 No such resource [name, nope]"),
        ("disable service nope", "258 No such resource [name, nope]"),
        (
            "set lb vserver nope -cltTimeout 1",
            "258 No such resource [name, nope]",
        ),
        (
            "unset lb vserver nope -cltTimeout",
            "258 No such resource [name, nope]",
        ),
        ("rm lb vserver nope", "258 No such resource [name, nope]"),
        (
            "enable lb vserver nope",
            "258 No such resource [name, nope]",
        ),
        (
            "disable lb vserver nope",
            "258 No such resource [name, nope]",
        ),
        (
            "bind lb vserver nope s1",
            "258 No such resource [name, nope]",
        ),
        (
            "bind lb vserver v1 nope",
            "258 No such resource [serviceName, nope]",
        ),
        (
            "unbind lb vserver nope s1",
            "258 No such resource [name, nope]",
        ),
        (
            "unbind lb vserver v1 nope",
            "258 No such resource [serviceName, nope]",
        ),
        (
            "set lb vserver v1 -weight 2 nope",
            "258 No such resource [serviceName, nope]",
        ),
        // all or nothing
        ("rm server nope web1", "258 No such resource [name, nope]"),
        ("rm lb vserver v1 nope", "258 No such resource [name, nope]"),
        // what does not fit together
        ("rm server web1", "315 Resource in use [service s1, u1]"),
        (
            "bind lb vserver v1 u1",
            "1304 Service type mismatch between the vserver and service [vserver TCP, service UDP]",
        ),
        (
            "bind lb vserver v2 s1",
            "1304 Service type mismatch between the vserver and service [vserver UDP, service TCP]",
        ),
        (
            "unbind lb vserver v1 s3",
            "1303 Service not bound to Vserver [serviceName, s3]",
        ),
        (
            "set lb vserver v1 -weight 2 s3",
            "1303 Service not bound to Vserver [serviceName, s3]",
        ),
        // what does not configure
        ("show server", "1129 Command not valid here"),
        ("save ns config", "1129 Command not valid here"),
        ("stat lb vserver", "1129 Command not valid here"),
        ("quit", "1129 Command not valid here"),
    ] {
        assert_eq!(refused(&config, line), fault, "{line}");
    }
}

#[test]
fn a_virtual_server_cannot_move_onto_another_or_without_a_port() {
    let mut config = configured(SITE);
    run(&mut config, "add lb vserver v4 TCP 10.0.0.11 80");
    let fault = |config: &Config, name| config.plan(&moved(name)).unwrap_err().to_string();
    assert_eq!(
        fault(&config, "v4"),
        "Address already in use [lb vserver v1, 10.0.0.10:80]"
    );
    assert_eq!(
        fault(&config, "v3"),
        "IP address change not permitted on this entity [port, 0]"
    );
    run(&mut config, "rm lb vserver v1");
    let plan = config.plan(&moved("v4")).unwrap();
    assert_eq!(plan.changes.len(), 1);
    config.commit(plan);
    run(&mut config, "add lb vserver v1 TCP 10.0.0.11 80");
    let listen = config.vserver("v4").unwrap().listen();
    assert_eq!(listen.socket(), Some("10.0.0.10:80".parse().unwrap()));
}

/// `set lb vserver NAME -IPAddress 10.0.0.10`
fn moved(name: &str) -> Command {
    let address = Value::Address("10.0.0.10".parse().unwrap());
    Command {
        verb: Verb::Set,
        noun: Noun::LbVserver,
        args: vec![
            arg(Key::Name, vec![Value::Text(name.to_owned())]),
            arg(Key::IpAddress, vec![address]),
        ],
    }
}

#[test]
fn a_server_with_many_services_names_some_of_them() {
    let mut config = configured(&["add server web1 10.0.0.1"]);
    for port in 1..=7 {
        run(&mut config, &format!("add service s{port} web1 TCP {port}"));
    }
    assert_eq!(
        refused(&config, "rm server web1"),
        "315 Resource in use [service s1, s2, s3, s4, s5 and 2 more]"
    );
}

#[test]
fn a_hint_can_be_typed_as_it_stands() {
    let config = configured(&[
        "add service \"s 1\" 10.0.0.1 TCP 80",
        "add lb vserver \"v 1\" TCP",
        "bind lb vserver \"v 1\" \"s 1\"",
    ]);
    for (line, hint) in [
        ("add lb vserver \"v 1\" TCP", "show lb vserver \"v 1\""),
        ("add service s2 10.0.0.1 TCP 80", "show service \"s 1\""),
        ("rm server 10.0.0.1", "rm service \"s 1\""),
        (
            "bind lb vserver \"v 1\" \"s 1\"",
            "set lb vserver \"v 1\" -weight <weight> \"s 1\"",
        ),
        ("rm server nope", "show server"),
    ] {
        let fault = plan_line(&config, line).unwrap_err();
        assert_eq!(fault.fault().hints, [hint], "{line}");
    }
}

#[test]
fn a_virtual_server_takes_no_more_services_than_it_may() {
    let mut config = configured(&["add server h1 10.0.0.1", "add lb vserver v TCP"]);
    for number in 1..=8193 {
        let plan = plan_line(&config, &format!("add service s{number} h1 TCP {number}"));
        config.commit(plan.unwrap().unwrap());
    }
    for number in 1..=8192 {
        let plan = plan_line(&config, &format!("bind lb vserver v s{number}"));
        config.commit(plan.unwrap().unwrap());
    }
    assert_eq!(
        refused(&config, "bind lb vserver v s8193"),
        "434 Maximum services bound to vserver exceeded [lb vserver v, 8192]"
    );
    let plan = plan_line(&config, "unbind lb vserver v s1")
        .unwrap()
        .unwrap();
    config.commit(plan);
    run(&mut config, "bind lb vserver v s8193");
}

#[test]
fn tcp_and_udp_share_a_port_and_any_address_is_a_listener_of_its_own() {
    let mut config = configured(&[
        "add lb vserver t TCP 10.0.0.10 53",
        "add lb vserver u UDP 10.0.0.10 53",
        "add lb vserver t_any TCP * 53",
        "add lb vserver t_any6 TCP :: 53",
        "add lb vserver none1 TCP",
        "add lb vserver none2 TCP 0.0.0.0 0",
        "add service st 10.0.0.1 TCP 53",
        "add service su 10.0.0.1 UDP 53",
    ]);
    assert_eq!(
        refused(&config, "add lb vserver again TCP * 53"),
        "304 Address already in use [lb vserver t_any, 0.0.0.0:53]"
    );
    assert_eq!(
        refused(&config, "add lb vserver again TCP :: 53"),
        "304 Address already in use [lb vserver t_any6, [::]:53]"
    );
    run(&mut config, "rm lb vserver t_any");
    run(&mut config, "add lb vserver again TCP * 53");
}

#[test]
fn a_name_or_address_is_free_again_once_its_owner_is_gone() {
    let mut config = configured(SITE);
    for line in [
        "rm service s1",
        "add service s1 web1 TCP 80",
        "rm service s1",
        "add service other web1 TCP 80",
        "rm lb vserver v1",
        "add lb vserver v1 TCP 10.0.0.10 80",
        "rm service other",
        "rm service u1",
        "rm server web1",
        "add server web1 10.0.0.7",
    ] {
        run(&mut config, line);
    }
}

/// Commands that no parser lets through: the socket is open to more than our shell.
#[test]
fn a_command_that_was_never_parsed_is_a_fault_and_not_a_panic() {
    let config = configured(SITE);
    let keys = [
        Key::Name,
        Key::Address,
        Key::ServerName,
        Key::ServiceType,
        Key::Port,
        Key::ServiceName,
        Key::IpAddress,
        Key::State,
        Key::MaxClient,
        Key::CltTimeout,
        Key::LbMethod,
        Key::Weight,
        Key::SessionsThreshold,
        Key::VserverName,
        Key::PersistenceType,
        Key::LbHashFingers,
        Key::NewServiceRequest,
        Key::NewServiceRequestUnit,
        Key::Words,
    ];
    let values = [
        vec![],
        vec![Value::Text("s1".to_owned())],
        vec![Value::Text("v1".to_owned())],
        vec![Value::Choice("TCP".to_owned())],
        vec![Value::Integer(u64::MAX)],
        vec![Value::Integer(0), Value::Integer(0)],
        vec![Value::AnyAddress],
        vec![Value::AnyPort],
        vec![Value::Port(0)],
    ];
    for verb in VERBS {
        for noun in NOUNS {
            assert_no_panic(&config, verb, noun, vec![]);
            for first in keys {
                for values in &values {
                    let name = Value::Text("v1".to_owned());
                    let mut args = vec![arg(first, values.clone())];
                    assert_no_panic(&config, verb, noun, args.clone());
                    args.insert(0, arg(Key::Name, vec![name]));
                    assert_no_panic(&config, verb, noun, args);
                }
            }
        }
    }
}

fn arg(key: Key, values: Vec<Value>) -> Arg {
    Arg { key, values }
}

fn assert_no_panic(config: &Config, verb: Verb, noun: Noun, args: Vec<Arg>) {
    let command = Command { verb, noun, args };
    if let Ok(plan) = config.plan(&command) {
        let mut changed = config.clone();
        changed.commit(plan);
        for service in changed.services() {
            changed.core_of(service);
        }
    }
}

const VERBS: [Verb; 9] = [
    Verb::Add,
    Verb::Set,
    Verb::Unset,
    Verb::Rm,
    Verb::Enable,
    Verb::Disable,
    Verb::Bind,
    Verb::Unbind,
    Verb::Show,
];

const NOUNS: [Noun; 7] = [
    Noun::None,
    Noun::Server,
    Noun::Service,
    Noun::ServiceGroup,
    Noun::LbVserver,
    Noun::LbParameter,
    Noun::LbGroup,
];

#[test]
fn set_and_unset_without_options_are_refused() {
    let config = configured(SITE);
    for noun in [Noun::Server, Noun::Service, Noun::LbVserver] {
        let name = match noun {
            Noun::Server => "web1",
            Noun::Service => "s1",
            _ => "v1",
        };
        for verb in [Verb::Set, Verb::Unset] {
            let command = Command {
                verb,
                noun,
                args: vec![arg(Key::Name, vec![Value::Text(name.to_owned())])],
            };
            let fault = config.plan(&command).unwrap_err();
            assert_eq!(
                (fault.code, fault.to_string().as_str()),
                (431, "No arguments to set")
            );
        }
    }
}
