//! The table of the commands without an object: changes on trial, and what the shell itself carries out.

use super::{ArgSpec, CommandSpec, Default, Kind, NounSpec, Positional, Times, row};
use crate::{Key, Noun, Verb};

pub(super) static SHELL: NounSpec = NounSpec {
    noun: Noun::None,
    group: None,
    object: "",
    commands: &[
        CommandSpec {
            verb: Verb::Apply,
            noun: Noun::None,
            positionals: &[],
            own: &[CONFIRM],
            help: "Makes all changes from now on provisional: they are undone unless confirmed in time",
        },
        CommandSpec {
            verb: Verb::Confirm,
            noun: Noun::None,
            positionals: &[],
            own: &[],
            help: "Keeps the provisional changes",
        },
        CommandSpec {
            verb: Verb::Rollback,
            noun: Noun::None,
            positionals: &[],
            own: &[],
            help: "Undoes the provisional changes at once",
        },
        CommandSpec {
            verb: Verb::Batch,
            noun: Noun::None,
            positionals: &[],
            own: &[FILE_NAME, N_TIMES, OUT_FILE],
            help: "Runs the commands of a file, one a line",
        },
        CommandSpec {
            verb: Verb::Help,
            noun: Noun::None,
            positionals: &[Positional {
                arg: WORDS,
                times: Times::Any,
            }],
            own: &[],
            help: "Explains a command, a group of commands, or lists all",
        },
        CommandSpec {
            verb: Verb::Exit,
            noun: Noun::None,
            positionals: &[],
            own: &[],
            help: "Ends the session",
        },
        CommandSpec {
            verb: Verb::Quit,
            noun: Noun::None,
            positionals: &[],
            own: &[],
            help: "Ends the session",
        },
    ],
    options: &[],
    help: "Changes on trial, and commands of the shell itself",
};

const CONFIRM: ArgSpec = row(
    Key::Confirm,
    "confirm",
    Kind::Integer {
        min: 1,
        max: 86_400,
        unit: "seconds",
    },
    "How long there is to confirm, counted from this command",
)
.required();
const FILE_NAME: ArgSpec = row(
    Key::FileName,
    "fileName",
    Kind::Text { min: 1, max: 4095 },
    "The file with the commands",
)
.required();
const N_TIMES: ArgSpec = row(
    Key::NTimes,
    "ntimes",
    Kind::Integer {
        min: 0,
        max: u32::MAX as u64,
        unit: "times",
    },
    "How often the file is run",
)
.default(Default::Integer(1));
const OUT_FILE: ArgSpec = row(
    Key::OutFile,
    "outfile",
    Kind::PlainFile,
    "The file in the current folder that takes the output, instead of the terminal",
);
const WORDS: ArgSpec = row(
    Key::Words,
    "command",
    Kind::Text { min: 1, max: 255 },
    "The words of a command, a verb, or a group such as lb",
);
