//! The tables of what is not an object: the configuration as a whole, the version, the process.

use super::{CommandSpec, Kind, NounSpec, row};
use crate::{Key, Noun, Verb};

pub(super) static CONFIG: NounSpec = NounSpec {
    noun: Noun::NsConfig,
    group: Some("ns"),
    object: "config",
    commands: &[
        CommandSpec {
            verb: Verb::Show,
            noun: Noun::NsConfig,
            positionals: &[],
            own: &[],
            help: "Shows when the configuration changed and was saved, and what failed at the start",
        },
        CommandSpec {
            verb: Verb::Save,
            noun: Noun::NsConfig,
            positionals: &[],
            own: &[row(
                Key::Force,
                "force",
                Kind::Flag,
                "Saves although lines of the configuration file failed at the start",
            )],
            help: "Writes the running configuration to the configuration file",
        },
    ],
    options: &[],
    help: "The configuration as a whole",
};

pub(super) static RUNNING_CONFIG: NounSpec = NounSpec {
    noun: Noun::NsRunningConfig,
    group: Some("ns"),
    object: "runningConfig",
    commands: &[CommandSpec {
        verb: Verb::Show,
        noun: Noun::NsRunningConfig,
        positionals: &[],
        own: &[],
        help: "Shows the running configuration as commands",
    }],
    options: &[],
    help: "The configuration in force, saved or not",
};

pub(super) static VERSION: NounSpec = NounSpec {
    noun: Noun::NsVersion,
    group: Some("ns"),
    object: "version",
    commands: &[CommandSpec {
        verb: Verb::Show,
        noun: Noun::NsVersion,
        positionals: &[],
        own: &[],
        help: "Shows the version of the daemon",
    }],
    options: &[],
    help: "The version of the product",
};

pub(super) static PROTOCOL_UDP: NounSpec = NounSpec {
    noun: Noun::ProtocolUdp,
    group: Some("protocol"),
    object: "udp",
    commands: &[CommandSpec {
        verb: Verb::Stat,
        noun: Noun::ProtocolUdp,
        positionals: &[],
        own: &[],
        help: "Shows the UDP sessions of the process, their limit, and what was dropped and why",
    }],
    options: &[],
    help: "UDP in the whole process",
};
