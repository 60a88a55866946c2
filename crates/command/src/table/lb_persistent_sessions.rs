//! The table of `lb persistentSessions`: which client stays with which service.

use super::{ArgSpec, CommandSpec, Kind, NounSpec, optional, row};
use crate::{Key, Noun, Verb};

pub(super) static LB_PERSISTENT_SESSIONS: NounSpec = NounSpec {
    noun: Noun::LbPersistentSessions,
    group: Some("lb"),
    object: "persistentSessions",
    commands: &[
        CommandSpec {
            verb: Verb::Show,
            noun: Noun::LbPersistentSessions,
            positionals: &[optional(VSERVER)],
            own: &[],
            help: "Shows which clients stay with which services, everywhere or on one virtual \
                   server",
        },
        CommandSpec {
            verb: Verb::Clear,
            noun: Noun::LbPersistentSessions,
            positionals: &[optional(VSERVER)],
            own: &[row(
                Key::PersistenceParameter,
                "persistenceParameter",
                Kind::Text { min: 1, max: 127 },
                "The client alone, as show writes it: an address, or two with a comma between",
            )],
            help: "Forgets which clients stay with which services; open connections go on",
        },
    ],
    options: &[],
    help: "Which client stays with which service",
};

const VSERVER: ArgSpec = row(
    Key::Name,
    "vServer",
    Kind::Name(Noun::LbVserver),
    "The name of the virtual server; that of its group counts where it is in one",
);
