//! The table of `lb group`: virtual servers whose clients stay with one server behind all of them.
//!
//! The options are saved in the order of the reference's synopsis.

use std::net::Ipv4Addr;

use super::{
    ArgSpec, Choices, CommandSpec, Default, ENABLED_DISABLED, Kind, MASK_LENGTH, MINUTES_OR_COOKIE,
    NounSpec, PERSISTENCE_MINUTES, many, once, optional, row,
};
use crate::{Key, Noun, Verb};

pub(super) static LB_GROUP: NounSpec = NounSpec {
    noun: Noun::LbGroup,
    group: Some("lb"),
    object: "group",
    commands: &[
        CommandSpec {
            verb: Verb::Add,
            noun: Noun::LbGroup,
            positionals: &[once(NEW_NAME)],
            own: &[],
            help: "Adds a group without virtual servers",
        },
        CommandSpec {
            verb: Verb::Set,
            noun: Noun::LbGroup,
            positionals: &[once(NAME)],
            own: &[],
            help: "Changes the persistence of a group",
        },
        CommandSpec {
            verb: Verb::Unset,
            noun: Noun::LbGroup,
            positionals: &[once(NAME)],
            own: &[],
            help: "Returns options of a group to their defaults",
        },
        CommandSpec {
            verb: Verb::Rm,
            noun: Noun::LbGroup,
            positionals: &[many(NAME)],
            own: &[],
            help: "Removes groups; their virtual servers have their own persistence again",
        },
        CommandSpec {
            verb: Verb::Bind,
            noun: Noun::LbGroup,
            positionals: &[once(NAME), many(VSERVER)],
            own: &[],
            help: "Puts virtual servers into a group, which is made if there is none",
        },
        CommandSpec {
            verb: Verb::Unbind,
            noun: Noun::LbGroup,
            positionals: &[once(NAME), many(VSERVER)],
            own: &[],
            help: "Takes virtual servers out of a group, which goes with the last one",
        },
        CommandSpec {
            verb: Verb::Rename,
            noun: Noun::LbGroup,
            positionals: &[once(NAME), once(OTHER_NAME)],
            own: &[],
            help: "Gives a group another name; its flows and bindings go on",
        },
        CommandSpec {
            verb: Verb::Show,
            noun: Noun::LbGroup,
            positionals: &[optional(NAME)],
            own: &[],
            help: "Shows all groups, or one with its virtual servers",
        },
    ],
    options: &[
        row(
            Key::PersistenceType,
            "persistenceType",
            Kind::Choice(&PERSISTENCE),
            "How a client stays with its server",
        )
        .default(Default::Choice("NONE"))
        .set()
        .unset(),
        row(
            Key::PersistenceBackup,
            "persistenceBackup",
            Kind::Choice(&BACKUP),
            "The persistence in place of one that looks into what clients send",
        )
        .default(Default::Choice("NONE"))
        .set()
        .unset(),
        row(
            Key::BackupPersistenceTimeout,
            "backupPersistenceTimeout",
            PERSISTENCE_MINUTES,
            "How long a client stays with its server by that persistence",
        )
        .default(Default::Integer(2))
        .set()
        .unset(),
        row(
            Key::PersistMask,
            "persistMask",
            Kind::Netmask,
            "Which bits of IPv4 addresses tell one client from another",
        )
        .default(Default::Netmask(Ipv4Addr::BROADCAST))
        .set()
        .unset(),
        row(
            Key::CookieName,
            "cookieName",
            Kind::Text { min: 1, max: 127 },
            "The name of persistence cookies",
        )
        .set()
        .unset()
        .no_effect(NO_COOKIES),
        row(
            Key::V6PersistMaskLen,
            "v6persistmasklen",
            MASK_LENGTH,
            "How many leading bits of IPv6 addresses tell one client from another",
        )
        .default(Default::Integer(128))
        .set()
        .unset(),
        row(
            Key::CookieDomain,
            "cookieDomain",
            Kind::Text { min: 1, max: 127 },
            "The domain of persistence cookies",
        )
        .set()
        .unset()
        .no_effect(NO_COOKIES),
        row(
            Key::Timeout,
            "timeout",
            MINUTES_OR_COOKIE,
            "How long a client stays with its server after its last new connection",
        )
        .default(Default::Integer(2))
        .set()
        .unset(),
        row(
            Key::Rule,
            "rule",
            Kind::Text { min: 1, max: 1499 },
            "The expression that tells one client from another",
        )
        .set()
        .unset()
        .no_effect("there are no rules"),
        row(
            Key::UseVserverPersistency,
            "useVserverPersistency",
            Kind::Choice(&ENABLED_DISABLED),
            "Whether each virtual server tells its clients apart in its own way",
        )
        .default(Default::Choice("DISABLED"))
        .set()
        .unset()
        .no_effect("the persistence of the group counts for all"),
    ],
    help: "Virtual servers whose clients stay with one server behind all of them",
};

const OTHER_NAME: ArgSpec = row(
    Key::NewName,
    "newName",
    Kind::NewName(Noun::LbGroup),
    "Its other name",
);
const NEW_NAME: ArgSpec = row(
    Key::Name,
    "name",
    Kind::NewName(Noun::LbGroup),
    "The name of the new group",
);
const NAME: ArgSpec = row(
    Key::Name,
    "name",
    Kind::Name(Noun::LbGroup),
    "The name of the group",
);
const VSERVER: ArgSpec = row(
    Key::VserverName,
    "vServerName",
    Kind::Name(Noun::LbVserver),
    "The name of a virtual server",
);

const PERSISTENCE: Choices = Choices {
    allowed: &[
        ("SOURCEIP", "a client is its address"),
        ("NONE", "every connection is chosen for on its own"),
        ("COOKIEINSERT", "not here: as persistenceBackup says"),
        ("RULE", "not here: as persistenceBackup says"),
    ],
    aliases: &[],
    elsewhere: &[],
};

const BACKUP: Choices = Choices {
    allowed: &[
        ("SOURCEIP", "a client is its address"),
        ("NONE", "every connection is chosen for on its own"),
    ],
    aliases: &[],
    elsewhere: &[],
};

const NO_COOKIES: &str = "there are no cookies";
