//! The table of the commands without an object: changes on trial, and what the shell itself carries out.

use super::{ArgSpec, CommandSpec, Default, Kind, NounSpec, Positional, Times, once, row};
use crate::{Key, Noun, Verb};

pub(super) static SHELL: NounSpec = NounSpec {
    noun: Noun::None,
    group: None,
    object: "",
    commands: &[
        command(
            Verb::Alias,
            &[any(NAME_AND_TEXT)],
            "Gives a command a name of its own, or lists the names",
        ),
        CommandSpec {
            own: &[CONFIRM],
            ..command(
                Verb::Apply,
                &[],
                "Makes all changes from now on provisional: they are undone unless confirmed in time",
            )
        },
        command(Verb::Confirm, &[], "Keeps the provisional changes"),
        command(
            Verb::Rollback,
            &[],
            "Undoes the provisional changes at once",
        ),
        CommandSpec {
            own: &[FILE_NAME, N_TIMES, OUT_FILE],
            ..command(Verb::Batch, &[], "Runs the commands of a file, one a line")
        },
        command(Verb::Cls, &[], "Clears the screen"),
        command(
            Verb::Config,
            &[any(WORDS)],
            "Is refused: there is no contextual mode, commands are typed in full",
        ),
        CommandSpec {
            own: &[ALL],
            ..command(
                Verb::Help,
                &[any(WORDS)],
                "Explains a command, a group of commands, or lists all",
            )
        },
        command(Verb::History, &[], "Lists earlier commands"),
        command(Verb::Man, &[any(WORDS)], "Explains a command at length"),
        command(
            Verb::Shell,
            &[any(PROGRAM)],
            "Runs a shell of the system, or one command of it, as the user who types",
        ),
        command(
            Verb::Source,
            &[once(FILE)],
            "Runs the commands of a file, one a line, and shows what they answer",
        ),
        command(
            Verb::Unalias,
            &[once(NAME)],
            "Takes a name of a command away",
        ),
        command(Verb::Whoami, &[], "Shows who is typing, and since when"),
        command(Verb::Exit, &[], "Ends the session"),
        command(Verb::Quit, &[], "Ends the session"),
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
/// A command without options of its own.
const fn command(
    verb: Verb,
    positionals: &'static [Positional],
    help: &'static str,
) -> CommandSpec {
    CommandSpec {
        verb,
        noun: Noun::None,
        positionals,
        own: &[],
        help,
    }
}

const fn any(arg: ArgSpec) -> Positional {
    Positional {
        arg,
        times: Times::Any,
    }
}

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
const ALL: ArgSpec = row(
    Key::All,
    "all",
    Kind::Flag,
    "Lists every command in one line",
);
const FILE: ArgSpec = row(
    Key::FileName,
    "fileName",
    Kind::Text { min: 1, max: 4095 },
    "The file with the commands",
);
const NAME: ArgSpec = row(
    Key::Pattern,
    "pattern",
    Kind::Text { min: 1, max: 1499 },
    "The name that an alias gave to a command",
);
const NAME_AND_TEXT: ArgSpec = row(
    Key::Words,
    "pattern",
    Kind::Text { min: 1, max: 1499 },
    "The name, and behind it the command it stands for, in quotes if it has options",
);
const PROGRAM: ArgSpec = row(
    Key::Words,
    "command",
    Kind::Text { min: 1, max: 4095 },
    "The command to run, in quotes if it has options",
);
