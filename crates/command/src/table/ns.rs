//! The tables of what is not an object: the configuration as a whole, the version, the process.

use super::{
    ArgSpec, Choices, CommandSpec, Kind, NounSpec, Positional, Times, once, optional, row,
};
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
        CommandSpec {
            verb: Verb::Diff,
            noun: Noun::NsConfig,
            positionals: &[Positional {
                arg: COMPARED,
                times: Times::Any,
            }],
            own: &[OUT_TYPE, TEMPLATE, IGNORE_DEVICE_SPECIFIC],
            help: "Lists the commands that one configuration has (-) and another has instead (+)",
        },
        CommandSpec {
            verb: Verb::Clear,
            noun: Noun::NsConfig,
            positionals: &[once(LEVEL)],
            own: &[row(Key::Force, "force", Kind::Flag, "Does not ask first")],
            help: "Removes everything from the running configuration; the file stays until it is saved",
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
        own: &[row(
            Key::WithDefaults,
            "withDefaults",
            Kind::Flag,
            "Shows also what is at its default",
        )],
        help: "Shows the running configuration as commands",
    }],
    options: &[],
    help: "The configuration in force, saved or not",
};

pub(super) static SAVED_CONFIG: NounSpec = NounSpec {
    noun: Noun::NsSavedConfig,
    group: Some("ns"),
    object: "savedConfig",
    commands: &[CommandSpec {
        verb: Verb::Show,
        noun: Noun::NsSavedConfig,
        positionals: &[],
        own: &[],
        help: "Shows the configuration file as it stands on the disk",
    }],
    options: &[],
    help: "The configuration that the next start loads",
};

pub(super) static NS_CONF: NounSpec = NounSpec {
    noun: Noun::NsConf,
    group: Some("ns"),
    object: "ns.conf",
    commands: &[CommandSpec {
        verb: Verb::Show,
        noun: Noun::NsConf,
        positionals: &[],
        own: &[],
        help: "Shows the configuration file as it stands on the disk",
    }],
    options: &[],
    help: "Another name of ns savedConfig",
};

pub(super) static ROLLBACK_COMMAND: NounSpec = NounSpec {
    noun: Noun::NsRollbackCommand,
    group: Some("ns"),
    object: "rollbackcmd",
    commands: &[CommandSpec {
        verb: Verb::Show,
        noun: Noun::NsRollbackCommand,
        positionals: &[],
        own: &[],
        help: "Lists the commands that undo provisional changes; without such, those since the last save",
    }],
    options: &[],
    help: "The way back from the running configuration",
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

pub(super) static CONNECTION_TABLE: NounSpec = NounSpec {
    noun: Noun::NsConnectionTable,
    group: Some("ns"),
    object: "connectiontable",
    commands: &[CommandSpec {
        verb: Verb::Show,
        noun: Noun::NsConnectionTable,
        positionals: &[optional(FILTER)],
        own: &[],
        help: "Shows the open connections and UDP sessions, and why each has its service",
    }],
    options: &[],
    help: "The connections and UDP sessions that are open",
};

pub(super) static INFO: NounSpec = NounSpec {
    noun: Noun::NsInfo,
    group: Some("ns"),
    object: "info",
    commands: &[CommandSpec {
        verb: Verb::Show,
        noun: Noun::NsInfo,
        positionals: &[],
        own: &[],
        help: "Shows the version, the configuration as a whole, features and modes, for a report",
    }],
    options: &[],
    help: "What to know first about a running daemon",
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

const FILTER: ArgSpec = row(
    Key::FilterExpression,
    "filterexpression",
    Kind::Text { min: 1, max: 255 },
    "Which to show, in quotes: \"CONNECTION.SRCIP.EQ(10.0.0.1) && CONNECTION.SVCNAME.EQ(s1)\"; \
     SRCIP, DSTIP, IP, TCPSTATE and SERVICE_TYPE with EQ and NE, SRCPORT, DSTPORT, PORT and IDLETIME \
     also with GT, GE, LT, LE and BETWEEN, SVCNAME and LB_VSERVER.NAME with EQ, NE, CONTAINS, \
     STARTSWITH and ENDSWITH; joined by && and ||",
);

const LEVEL: ArgSpec = row(
    Key::Level,
    "level",
    Kind::Choice(&LEVELS),
    "What to forget beside the running configuration",
);

const COMPARED: ArgSpec = row(
    Key::Configs,
    "config",
    Kind::Choice(&CONFIGS),
    "What is compared, two at most; saved and running where they are left out",
);

const OUT_TYPE: ArgSpec = row(
    Key::OutType,
    "outtype",
    Kind::Choice(&OUT_TYPES),
    "How differences are written; --json gives them to programs",
);

const TEMPLATE: ArgSpec = row(
    Key::Template,
    "template",
    Kind::Flag,
    "Is refused: there are no templates to compare with",
);

const IGNORE_DEVICE_SPECIFIC: ArgSpec = row(
    Key::IgnoreDeviceSpecific,
    "ignoreDeviceSpecific",
    Kind::Flag,
    "Leaves out what belongs to one device alone; no command here does, so all are compared",
);

static OUT_TYPES: Choices = Choices {
    allowed: &[("cli", "as commands")],
    aliases: &[],
    elsewhere: &["xml"],
};

static LEVELS: Choices = Choices {
    allowed: &[
        ("basic", "lines of the file that do not run are kept"),
        ("extended", "lines of the file that do not run go too"),
        ("full", "the same as extended"),
    ],
    aliases: &[],
    elsewhere: &[],
};

static CONFIGS: Choices = Choices {
    allowed: &[
        ("running", "the configuration in force"),
        ("saved", "the configuration file"),
        ("confirmed", "what was in force before provisional changes"),
        ("ns.conf.0", "the file before the last save"),
        ("ns.conf.1", "the file before that"),
        ("ns.conf.2", "the file before that"),
        ("ns.conf.3", "the file before that"),
        ("ns.conf.4", "the oldest file that is kept"),
    ],
    aliases: &[("ns.conf", "saved")],
    elsewhere: &[],
};
