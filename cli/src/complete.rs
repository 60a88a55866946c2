//! Completion in the shell: commands, options, values and the names of live objects.

use std::borrow::Cow;

use rustyline::completion::{Candidate, Completer};
use rustyline::highlight::Highlighter;
use rustyline::hint::{Hint, Hinter};
use rustyline::validate::Validator;
use rustyline::{Context, Helper};

use crate::escape::escape;
use crate::names::Names;

/// What the line editor asks while a line is typed.
pub(crate) struct Assistant {
    names: Names,
    /// Whether what may come next is shown, which takes a terminal that can draw it faint.
    shows_hints: bool,
}

impl Assistant {
    /// Completes names of the daemon behind `names`.
    pub(crate) fn new(names: Names, shows_hints: bool) -> Self {
        Self { names, shows_hints }
    }
}

impl Helper for Assistant {}

impl Highlighter for Assistant {
    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Cow::Owned(format!("{FAINT}{hint}{PLAIN}"))
    }
}

impl Hinter for Assistant {
    type Hint = Coming;

    fn hint(&self, line: &str, position: usize, _: &Context<'_>) -> Option<Coming> {
        if !self.shows_hints || position < line.len() {
            return None;
        }
        Some(match sluice_command::hint(line)? {
            sluice_command::Hint::Rest(text) => Coming {
                text,
                is_typed: true,
            },
            sluice_command::Hint::Next(text) => Coming {
                text,
                is_typed: false,
            },
        })
    }
}

/// What may come next.
#[derive(Debug)]
pub(crate) struct Coming {
    text: String,
    /// Whether the key Right takes it over; the name of a value is none.
    is_typed: bool,
}

impl Hint for Coming {
    fn display(&self) -> &str {
        &self.text
    }

    fn completion(&self) -> Option<&str> {
        self.is_typed.then_some(&self.text)
    }
}

const FAINT: &str = "\x1b[2m";
const PLAIN: &str = "\x1b[0m";

impl Validator for Assistant {}

impl Completer for Assistant {
    type Candidate = Shown;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Shown>)> {
        let completion = sluice_command::complete(line, position, &|noun| self.names.of(noun));
        let is_only = completion.candidates.len() == 1;
        let widths = completion
            .candidates
            .iter()
            .map(|found| found.text.chars().count());
        let width = widths.max().unwrap_or_default();
        let shown = completion.candidates.into_iter().map(|candidate| {
            let (word, meaning) = (escape(&candidate.text), escape(&candidate.description));
            let display = format!("{word:width$}  {meaning}").trim_end().to_owned();
            let mut replacement = candidate.text;
            if is_only {
                // It is what is meant: the next word can follow at once.
                replacement.push(' ');
            }
            Shown {
                display,
                replacement,
            }
        });
        Ok((completion.start, shown.collect()))
    }
}

/// A candidate: listed with what it means, inserted without.
#[derive(Debug)]
pub(crate) struct Shown {
    display: String,
    replacement: String,
}

impl Candidate for Shown {
    fn display(&self) -> &str {
        &self.display
    }

    fn replacement(&self) -> &str {
        &self.replacement
    }
}
