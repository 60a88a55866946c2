//! The tables of the `ns` group: the configuration as a whole, and the version.

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
