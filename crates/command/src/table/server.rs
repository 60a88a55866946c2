//! The table of `server`: a host, by its address.

use super::accepted;
use super::{
    ArgSpec, CommandSpec, DELAY, GRACEFUL, Kind, NounSpec, comment, devno, many, once, optional,
    row, state,
};
use crate::{Key, Noun, Verb};

pub(super) static SERVER: NounSpec = NounSpec {
    noun: Noun::Server,
    group: None,
    object: "server",
    commands: &[
        CommandSpec {
            verb: Verb::Add,
            noun: Noun::Server,
            positionals: &[once(NEW_NAME), once(ADDRESS)],
            own: &[],
            help: "Adds a server",
        },
        CommandSpec {
            verb: Verb::Set,
            noun: Noun::Server,
            positionals: &[once(NAME)],
            own: &[IP_ADDRESS],
            help: "Changes a server; a new address moves all its services",
        },
        CommandSpec {
            verb: Verb::Unset,
            noun: Noun::Server,
            positionals: &[once(NAME)],
            own: &[],
            help: "Returns options of a server to their defaults",
        },
        CommandSpec {
            verb: Verb::Rm,
            noun: Noun::Server,
            positionals: &[many(NAME)],
            own: &[],
            help: "Removes servers",
        },
        CommandSpec {
            verb: Verb::Enable,
            noun: Noun::Server,
            positionals: &[once(NAME)],
            own: &[],
            help: "Enables a server and its services",
        },
        CommandSpec {
            verb: Verb::Disable,
            noun: Noun::Server,
            positionals: &[once(NAME), optional(DELAY)],
            own: &[GRACEFUL],
            help: "Takes a server and all its services out of service, at once or gradually",
        },
        CommandSpec {
            verb: Verb::Rename,
            noun: Noun::Server,
            positionals: &[once(NAME), once(OTHER_NAME)],
            own: &[],
            help: "Gives a server another name; its flows and bindings go on",
        },
        CommandSpec {
            verb: Verb::Show,
            noun: Noun::Server,
            positionals: &[optional(NAME)],
            own: &[],
            help: "Shows all servers, or one with its services",
        },
        CommandSpec {
            verb: Verb::Stat,
            noun: Noun::Server,
            positionals: &[optional(NAME)],
            own: &[],
            help: "Shows the statistics of the services of all servers, or of one",
        },
    ],
    options: &[
        state("Whether its services take part at first"),
        comment(),
        accepted::TRAFFIC_DOMAIN,
        devno(),
    ],
    help: "A host that runs services, by its address",
};

const OTHER_NAME: ArgSpec = row(
    Key::NewName,
    "newName",
    Kind::NewName(Noun::Server),
    "Its other name",
);
const NEW_NAME: ArgSpec = row(
    Key::Name,
    "name",
    Kind::NewName(Noun::Server),
    "The name of the new server; an IP address is a name too",
);
const NAME: ArgSpec = row(
    Key::Name,
    "name",
    Kind::Name(Noun::Server),
    "The name of the server",
);
const ADDRESS: ArgSpec = row(
    Key::Address,
    "IPAddress",
    Kind::Address,
    "Its IPv4 or IPv6 address",
);
const IP_ADDRESS: ArgSpec = row(
    Key::IpAddress,
    "IPAddress",
    Kind::Address,
    "Its new IPv4 or IPv6 address",
);
