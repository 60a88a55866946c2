//! The earlier commands: for `history`, and for the line editor's own keys.
//!
//! The file is private (0600, in a folder of its own), each command is added as it is run, and
//! sessions that run side by side add to the same file. A history that cannot be kept never stops
//! the shell. A command with a secret in it is in no history.

use std::path::Path;

use rustyline::Config;
use rustyline::history::{FileHistory, History as _, SearchDirection};
use sluice_command::masked;

/// The most commands that are kept.
pub(crate) const HISTORY_MAX: usize = 1000;

/// Tells whether a line may be kept.
pub(crate) fn is_kept(line: &str) -> bool {
    masked(line) == line
}

/// The commands of a session, those of earlier ones before them.
/// A command that is typed again is there once, in its last place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    /// With their numbers, which ascend.
    lines: Vec<(usize, String)>,
    /// The number of the last command.
    last: usize,
}

impl Log {
    /// Reads what a file keeps; one that cannot be read keeps nothing.
    pub(crate) fn of_file(path: &Path) -> Self {
        let config = Config::builder().max_history_size(HISTORY_MAX);
        let Ok(config) = config.map(rustyline::config::Builder::build) else {
            return Self::default();
        };
        let mut history = FileHistory::with_config(&config);
        let _ = history.load(path);
        Self::of(&history)
    }

    /// Takes over what the line editor has.
    pub(crate) fn of(history: &FileHistory) -> Self {
        let entry = |index| history.get(index, SearchDirection::Forward).ok().flatten();
        let mut log = Self::default();
        for found in (0..history.len()).filter_map(entry) {
            log.push(&found.entry);
        }
        log
    }

    /// Adds a command.
    pub(crate) fn push(&mut self, line: &str) {
        self.lines.retain(|(_, earlier)| earlier != line);
        if self.lines.len() == HISTORY_MAX {
            self.lines.remove(0);
        }
        self.last += 1;
        self.lines.push((self.last, line.to_owned()));
    }

    /// Returns the number of the next command.
    pub(crate) fn next_number(&self) -> usize {
        self.last + 1
    }

    /// Returns the commands for the line editor's own keys.
    pub(crate) fn recalled(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().map(|(_, line)| line.as_str())
    }

    /// Returns what `history` prints.
    pub(crate) fn text(&self) -> String {
        let lines = self.lines.iter();
        lines
            .map(|(number, line)| format!("{number:>5}  {}\n", crate::escape::escape(line)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_on_when_the_oldest_are_gone() {
        let mut log = Log::default();
        assert_eq!((log.next_number(), log.text().as_str()), (1, ""));
        for number in 1..=HISTORY_MAX + 2 {
            log.push(&format!("show server s{number}"));
        }
        assert_eq!(log.next_number(), HISTORY_MAX + 3);
        assert!(log.text().starts_with("    3  show server s3\n"));
        assert!(log.text().ends_with(" 1002  show server s1002\n"));
    }

    #[test]
    fn a_command_that_is_typed_again_is_there_once() {
        let mut log = Log::default();
        for line in ["show server", "show service", "show server", "stat service"] {
            log.push(line);
        }
        assert_eq!(
            log.text(),
            "    2  show service\n    3  show server\n    4  stat service\n"
        );
        assert_eq!(log.next_number(), 5);
        let recalled: Vec<&str> = log.recalled().collect();
        assert_eq!(recalled, ["show service", "show server", "stat service"]);
    }

    #[test]
    fn a_secret_is_not_kept() {
        assert!(is_kept("set lb parameter -cookieName a"));
        assert!(!is_kept("set lb parameter -cookiePassphrase a"));
    }
}
