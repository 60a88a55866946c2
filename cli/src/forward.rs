//! Virtual servers of a file whose backup stands further down, as a saved configuration may have it.
//!
//! They are added without it and get it as soon as it has been added, or at the end of the file,
//! where the daemon says what is wrong with it. Typed commands do not wait: there the daemon refuses.

use std::collections::BTreeMap;

use sluice_command::{Key, Noun, Verb, parse, render};
use sluice_config::split_backup;

use crate::names::Names;

/// The commands of one file that wait for a virtual server.
#[derive(Debug, Default)]
pub(crate) struct Forward {
    /// By the name of the virtual server.
    waiting: BTreeMap<String, Vec<Late>>,
    /// The virtual server that the line read last adds, and what that line leaves for later.
    current: Option<(String, Option<(String, Late)>)>,
}

/// A command that has waited.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Late {
    /// The line it comes from.
    pub(crate) number: u64,
    /// What to run.
    pub(crate) text: String,
}

impl Forward {
    /// Returns what to run of a line now; `names` tells which virtual servers exist.
    pub(crate) fn take(&mut self, number: u64, line: String, names: &Names) -> String {
        self.current = None;
        // Most lines are something else, and need not be read twice.
        if !line.trim_start().starts_with(['a', 'A']) {
            return line;
        }
        let Ok(Some(command)) = parse(&line) else {
            return line;
        };
        if (command.verb, command.noun) != (Verb::Add, Noun::LbVserver) {
            return line;
        }
        let name = command.text(Key::Name).unwrap_or_default().to_owned();
        let split = split_backup(&command);
        let split = split.filter(|split| !names.of(Noun::LbVserver).contains(&split.backup));
        let Some(split) = split else {
            self.current = Some((name, None));
            return line;
        };
        let text = render(&split.later);
        self.current = Some((name, Some((split.backup, Late { number, text }))));
        render(&split.now)
    }

    /// Says that the line has been run with success; returns what can be run now.
    pub(crate) fn handle_done(&mut self) -> Vec<Late> {
        let Some((name, late)) = self.current.take() else {
            return Vec::new();
        };
        if let Some((backup, late)) = late {
            self.waiting.entry(backup).or_default().push(late);
        }
        self.waiting.remove(&name).unwrap_or_default()
    }

    /// Ends the file; returns what is left to be run, in the order of the lines.
    pub(crate) fn finish(&mut self) -> Vec<Late> {
        let waiting = std::mem::take(&mut self.waiting);
        let mut rest: Vec<Late> = waiting.into_values().flatten().collect();
        rest.sort_by_key(|late| late.number);
        rest
    }
}
