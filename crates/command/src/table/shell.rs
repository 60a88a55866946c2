//! The table of the commands without an object, which the shell itself carries out.

use super::{ArgSpec, CommandSpec, Default, Kind, NounSpec, Positional, Times, row};
use crate::{Key, Noun, Verb};

pub(super) static SHELL: NounSpec = NounSpec {
    noun: Noun::None,
    group: None,
    object: "",
    commands: &[
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
    help: "Commands of the shell itself",
};

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
