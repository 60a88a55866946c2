//! The tables of the shell's own settings, which last as long as the session.

use super::{ArgSpec, Choices, CommandSpec, Default, Kind, NounSpec, ON_OFF, once, row};
use crate::{Key, Noun, Verb};

pub(super) static MODE: NounSpec = NounSpec {
    noun: Noun::CliMode,
    group: Some("cli"),
    object: "mode",
    commands: &[
        CommandSpec {
            verb: Verb::Set,
            noun: Noun::CliMode,
            positionals: &[],
            own: &[],
            help: "Changes how this session prints answers",
        },
        CommandSpec {
            verb: Verb::Unset,
            noun: Noun::CliMode,
            positionals: &[],
            own: &[],
            help: "Gives settings of this session their defaults back",
        },
        CommandSpec {
            verb: Verb::Show,
            noun: Noun::CliMode,
            positionals: &[],
            own: &[],
            help: "Shows the settings of this session",
        },
    ],
    options: &[PAGE, TOTAL, COLOR, DISABLED_FEATURE_ACTION, TIMEOUT, REGEX],
    help: "How this session prints answers",
};

pub(super) static PROMPT: NounSpec = NounSpec {
    noun: Noun::CliPrompt,
    group: Some("cli"),
    object: "prompt",
    commands: &[
        CommandSpec {
            verb: Verb::Set,
            noun: Noun::CliPrompt,
            positionals: &[once(PROMPT_STRING)],
            own: &[],
            help: "Changes the prompt of this session",
        },
        CommandSpec {
            verb: Verb::Clear,
            noun: Noun::CliPrompt,
            positionals: &[],
            own: &[],
            help: "Makes the prompt > again",
        },
        CommandSpec {
            verb: Verb::Show,
            noun: Noun::CliPrompt,
            positionals: &[],
            own: &[],
            help: "Shows what the prompt is made of",
        },
    ],
    options: &[],
    help: "The prompt of this session",
};

pub(super) static ATTRIBUTE: NounSpec = NounSpec {
    noun: Noun::CliAttribute,
    group: Some("cli"),
    object: "attribute",
    commands: &[CommandSpec {
        verb: Verb::Show,
        noun: Noun::CliAttribute,
        positionals: &[],
        own: &[],
        help: "Shows how text is quoted",
    }],
    options: &[],
    help: "What the command language does with quotes",
};

const PAGE: ArgSpec = mode(
    Key::Page,
    "page",
    Kind::Choice(&ON_OFF),
    "OFF",
    "Whether long answers stop at each page",
)
.no_effect("the terminal scrolls, and grep shortens");
const TOTAL: ArgSpec = mode(
    Key::Total,
    "total",
    Kind::Choice(&ON_OFF),
    "OFF",
    "Whether a list begins with the number of its objects",
);
const COLOR: ArgSpec = mode(
    Key::Color,
    "color",
    Kind::Choice(&ON_OFF),
    "OFF",
    "Whether errors and warnings are coloured, on a terminal",
);
const DISABLED_FEATURE_ACTION: ArgSpec = mode(
    Key::DisabledFeatureAction,
    "disabledFeatureAction",
    Kind::Choice(&Choices {
        allowed: &[
            ("NONE", "the command is run"),
            ("ALLOW", "the command is run with a warning"),
            ("DENY", "the command is refused"),
        ],
        aliases: &[],
        elsewhere: &["HIDE"],
    }),
    "ALLOW",
    "What becomes of commands of a feature that is not enabled",
)
.no_effect("there are no features to enable");
const TIMEOUT: ArgSpec = row(
    Key::Timeout,
    "timeout",
    Kind::Integer {
        min: 0,
        max: 100_000_000,
        unit: "seconds",
    },
    "After how long a silent session ends, 0 for never",
)
.default(Default::Integer(900))
.set()
.unset()
.no_effect("a session ends when its terminal does");
const REGEX: ArgSpec = mode(
    Key::Regex,
    "regex",
    Kind::Choice(&ON_OFF),
    "ON",
    "Whether a name that begins with ^ is a regular expression",
)
.no_effect("a name is always a name");
const PROMPT_STRING: ArgSpec = row(
    Key::PromptString,
    "promptString",
    Kind::Text { min: 1, max: 63 },
    "The prompt before >, with %! for the number in the history, %u the user, %h the host, %t the \
     time, %T the time in 24 hours, %d the date, %s the node state",
);

const fn mode(
    key: Key,
    spelling: &'static str,
    kind: Kind,
    default: &'static str,
    help: &'static str,
) -> ArgSpec {
    row(key, spelling, kind, help)
        .default(Default::Choice(default))
        .set()
        .unset()
}
