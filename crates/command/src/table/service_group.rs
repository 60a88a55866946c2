//! The table of `serviceGroup`: services that share their options and are bound as one, and of what is
//! asked about it by other words (`serviceGroupMember`, `servicegroupbindings`).
//!
//! A member is named by its server and its port. What is said of the group holds for every member; a
//! member has a few options of its own, which `bind` gives and `set` changes.

mod options;

use super::{
    ArgSpec, CommandSpec, DELAY, GRACEFUL, Kind, NounSpec, once, optional, row, service, together,
};
use crate::{Key, Noun, Verb};

use options::{MEMBER_OPTIONS, OPTIONS};

pub(super) static SERVICE_GROUP: NounSpec = NounSpec {
    noun: Noun::ServiceGroup,
    group: None,
    object: "serviceGroup",
    commands: &[
        CommandSpec {
            verb: Verb::Add,
            noun: Noun::ServiceGroup,
            positionals: &[once(NEW_NAME), once(service::SERVICE_TYPE)],
            own: &[],
            help: "Adds a service group without members",
        },
        CommandSpec {
            verb: Verb::Set,
            noun: Noun::ServiceGroup,
            positionals: &[once(NAME), optional(SERVER), together(PORT)],
            own: options::OF_MEMBER,
            help: "Changes a service group, or one member of it",
        },
        CommandSpec {
            verb: Verb::Unset,
            noun: Noun::ServiceGroup,
            positionals: &[once(NAME), optional(SERVER), together(PORT)],
            own: options::OF_MEMBER,
            help: "Returns options of a service group, or of one member, to their defaults",
        },
        CommandSpec {
            verb: Verb::Rm,
            noun: Noun::ServiceGroup,
            positionals: &[once(NAME)],
            own: &[],
            help: "Removes a service group with its members and unbinds it everywhere",
        },
        CommandSpec {
            verb: Verb::Bind,
            noun: Noun::ServiceGroup,
            positionals: &[once(NAME), optional(SERVER), together(PORT)],
            own: MEMBER_OPTIONS,
            help: "Makes a port of a server a member; an address becomes a server",
        },
        CommandSpec {
            verb: Verb::Unbind,
            noun: Noun::ServiceGroup,
            positionals: &[once(NAME), optional(SERVER), together(PORT)],
            own: &[],
            help: "Removes a member",
        },
        CommandSpec {
            verb: Verb::Enable,
            noun: Noun::ServiceGroup,
            positionals: &[once(NAME), optional(SERVER), together(PORT)],
            own: &[],
            help: "Enables a service group, or one member of it",
        },
        CommandSpec {
            verb: Verb::Disable,
            noun: Noun::ServiceGroup,
            positionals: &[once(NAME), optional(SERVER), together(PORT)],
            own: &[DELAY, GRACEFUL],
            help: "Takes a service group, or one member of it, out of service",
        },
        CommandSpec {
            verb: Verb::Rename,
            noun: Noun::ServiceGroup,
            positionals: &[once(NAME), once(OTHER_NAME)],
            own: &[],
            help: "Gives a service group another name; its flows and bindings go on",
        },
        CommandSpec {
            verb: Verb::Show,
            noun: Noun::ServiceGroup,
            positionals: &[optional(NAME)],
            own: &[options::INCLUDE_MEMBERS],
            help: "Shows all service groups, or one with its members",
        },
        CommandSpec {
            verb: Verb::Stat,
            noun: Noun::ServiceGroup,
            positionals: &[optional(NAME)],
            own: &[],
            help: "Shows the statistics of all service groups, or of one and its members",
        },
    ],
    options: OPTIONS,
    help: "Services that share their options and are bound to virtual servers as one",
};

/// Its options are those a member has of its own; only `bind serviceGroup` and the like take them.
pub(super) static MEMBER: NounSpec = NounSpec {
    noun: Noun::ServiceGroupMember,
    group: None,
    object: "serviceGroupMember",
    commands: &[CommandSpec {
        verb: Verb::Stat,
        noun: Noun::ServiceGroupMember,
        positionals: &[once(NAME), once(SERVER), once(PORT)],
        own: &[],
        help: "Shows the statistics of one member of a service group",
    }],
    options: MEMBER_OPTIONS,
    help: "A member of a service group",
};

pub(super) static BINDINGS: NounSpec = NounSpec {
    noun: Noun::ServiceGroupBindings,
    group: None,
    object: "servicegroupbindings",
    commands: &[CommandSpec {
        verb: Verb::Show,
        noun: Noun::ServiceGroupBindings,
        positionals: &[once(NAME)],
        own: &[],
        help: "Shows the virtual servers that a service group is bound to",
    }],
    options: &[],
    help: "Where a service group is bound",
};

const OTHER_NAME: ArgSpec = row(
    Key::NewName,
    "newName",
    Kind::NewName(Noun::ServiceGroup),
    "Its other name",
);
const NEW_NAME: ArgSpec = row(
    Key::Name,
    "serviceGroupName",
    Kind::NewName(Noun::ServiceGroup),
    "The name of the new service group",
);
const NAME: ArgSpec = row(
    Key::Name,
    "serviceGroupName",
    Kind::Name(Noun::ServiceGroup),
    "The name of the service group",
);
const SERVER: ArgSpec = row(
    Key::ServerName,
    "serverName",
    Kind::AddressOrName(Noun::Server),
    "The server of a member, by its name or by its IPv4 or IPv6 address",
);
const PORT: ArgSpec = row(Key::Port, "port", Kind::Port, "The port of a member");
