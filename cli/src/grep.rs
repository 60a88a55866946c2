//! `| grep`: which lines of an answer are printed.
//!
//! A pattern is a POSIX basic regular expression, or with `-E` an extended one, as GNU grep reads
//! them, without back-references: so that no pattern takes longer than the text is long.

mod pattern;

use regex::{Regex, RegexBuilder};
use sluice_command::{Fault, Filter, ParseFault, Verb, catalogue};

use pattern::Syntax;

/// A filter that is ready to be used.
#[derive(Clone, Debug)]
pub(crate) struct Grep {
    regex: Regex,
    invert: bool,
    count: bool,
}

impl Grep {
    /// Reads the pattern of `filter`.
    ///
    /// # Errors
    /// 1137, with what is wrong with it.
    pub(crate) fn new(filter: &Filter) -> Result<Self, ParseFault> {
        let refused = |why: &str| ParseFault {
            fault: Fault::new(catalogue::INVALID_REGEX)
                .with_details(format!("{}, {why}", filter.pattern)),
            span: filter.span.clone(),
        };
        let syntax = if filter.extended {
            Syntax::Extended
        } else {
            Syntax::Basic
        };
        let mut pattern = pattern::translate(&filter.pattern, syntax)
            .map_err(|problem| refused(&problem.to_string()))?;
        if filter.words {
            pattern = format!(r"\b{{start-half}}(?:{pattern})\b{{end-half}}");
        }
        if filter.lines {
            pattern = format!("^(?:{pattern})$");
        }
        let regex = RegexBuilder::new(&pattern)
            .case_insensitive(filter.ignore_case)
            .size_limit(SIZE_MAX)
            .build()
            .map_err(|error| refused(&reason(&error)))?;
        Ok(Self {
            regex,
            invert: filter.invert,
            count: filter.count,
        })
    }

    /// Returns the lines of `text` that pass, or how many they are.
    pub(crate) fn apply(&self, text: &str) -> String {
        let passed = text
            .lines()
            .filter(|line| self.regex.is_match(line) != self.invert);
        if self.count {
            return format!("{}\n", passed.count());
        }
        passed.flat_map(|line| [line, "\n"]).collect()
    }
}

/// The library's own text shows the translated pattern, which nobody has typed.
fn reason(error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(_) => "it is too large".to_owned(),
        other => other
            .to_string()
            .lines()
            .last()
            .map_or_else(String::new, |line| {
                line.trim_start_matches("error: ").to_owned()
            }),
    }
}

/// A thousandfold repetition of a class fits; what does not is no pattern somebody typed.
const SIZE_MAX: usize = 4 << 20;

/// Tells whether a command of `verb` answers with text that can be filtered.
pub(crate) fn answers_with_text(verb: Verb) -> bool {
    match verb {
        Verb::Show
        | Verb::Stat
        | Verb::Explain
        | Verb::Diff
        | Verb::Help
        | Verb::Man
        | Verb::History
        | Verb::Alias => true,
        Verb::Add
        | Verb::Set
        | Verb::Unset
        | Verb::Rm
        | Verb::Enable
        | Verb::Disable
        | Verb::Bind
        | Verb::Unbind
        | Verb::Rename
        | Verb::Clear
        | Verb::Save
        | Verb::Apply
        | Verb::Confirm
        | Verb::Rollback
        | Verb::Batch
        | Verb::Unalias
        | Verb::Source
        | Verb::Whoami
        | Verb::Cls
        | Verb::Shell
        | Verb::Config
        | Verb::Exit
        | Verb::Quit => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "1)\tName: web1\n\tState: UP\n2)\tName: Web-2\n\tState: DOWN\n";

    fn grep(words: &str) -> String {
        let line = format!("show server | grep {words}");
        let (_, filters) = sluice_command::split_filters(&line).unwrap();
        Grep::new(&filters[0]).unwrap().apply(TEXT)
    }

    #[test]
    fn flags_do_what_they_do_in_grep() {
        assert_eq!(grep("web"), "1)\tName: web1\n");
        assert_eq!(grep("web -i"), "1)\tName: web1\n2)\tName: Web-2\n");
        assert_eq!(grep("-v Name"), "\tState: UP\n\tState: DOWN\n");
        assert_eq!(grep("-c State"), "2\n");
        assert_eq!(grep("-cv nothing"), "4\n");
        assert_eq!(grep("nothing"), "");
        assert_eq!(grep("-w Web"), "2)\tName: Web-2\n");
        assert_eq!(grep("-w web"), "");
        assert_eq!(grep("-x 'State: UP'"), "");
        assert_eq!(grep("-x '.State: UP'"), "\tState: UP\n");
        assert_eq!(grep("-xE 'a|.State: (UP|OUT)'"), "\tState: UP\n");
        assert_eq!(grep("-E 'UP$|web1$'"), "1)\tName: web1\n\tState: UP\n");
        assert_eq!(grep("'UP$|web1$'"), "");
        assert_eq!(grep(r"'UP$\|web1$'"), "1)\tName: web1\n\tState: UP\n");
        assert_eq!(grep("\"\""), TEXT);
    }

    #[test]
    fn a_pattern_that_is_none_says_why() {
        let refused = |words: &str| {
            let line = format!("show server | grep {words}");
            let (_, filters) = sluice_command::split_filters(&line).unwrap();
            let refusal = Grep::new(&filters[0]).unwrap_err();
            (refusal.fault.to_string(), line[refusal.span].to_owned())
        };
        assert_eq!(
            refused("-E 'a(b'"),
            (
                "Invalid regular expression [a(b, ( is not closed]".to_owned(),
                "'a(b'".to_owned()
            )
        );
        assert_eq!(
            refused("'[a'").0,
            "Invalid regular expression [[a, [ is not closed]"
        );
        assert_eq!(
            refused("-E '(((a{255}){255}){255})'").0,
            "Invalid regular expression [(((a{255}){255}){255}), it is too large]"
        );
    }
}
