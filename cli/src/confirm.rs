//! Asking before a command that takes much away. Only a person at a terminal is asked; elsewhere the daemon
//! refuses such a command without `-force`.

use std::io::{self, BufRead, IsTerminal};

use sluice_command::{Arg, Command, Key, Noun, Verb};

use crate::output::Output;
use crate::runner::Place;

/// Tells whether `command` needs a confirmation that can be asked for.
pub(crate) fn is_wanted(command: &Command, place: Place<'_>) -> bool {
    let typed = match place {
        Place::Words | Place::Prompt { .. } => io::stdin().is_terminal(),
        Place::File { .. } => false,
    };
    let clears = command.verb == Verb::Clear && command.noun == Noun::NsConfig;
    typed && clears && command.arg(Key::Force).is_none()
}

/// Asks, and returns the command as if it had been given with `-force`; `None` if the answer is no.
pub(crate) fn ask(command: &Command, output: &mut Output) -> Option<Command> {
    output.out("Are you sure you want to clear the configuration (Y/N)? [N]:");
    let mut answer = String::new();
    // What cannot be read is no yes.
    let _ = io::stdin().lock().read_line(&mut answer);
    is_yes(&answer).then(|| {
        let mut command = command.clone();
        command.args.push(Arg {
            key: Key::Force,
            values: Vec::new(),
        });
        command
    })
}

fn is_yes(answer: &str) -> bool {
    let answer = answer.trim();
    answer.eq_ignore_ascii_case("y") || answer.eq_ignore_ascii_case("yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_yes_is_yes() {
        for answer in ["y\n", "Y", " yes\r\n", "YES"] {
            assert!(is_yes(answer), "{answer:?}");
        }
        for answer in ["", "\n", "n", "yo", "y es"] {
            assert!(!is_yes(answer), "{answer:?}");
        }
    }
}
