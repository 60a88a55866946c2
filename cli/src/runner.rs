//! Runs one command: parses it, carries it out here or asks the daemon, and prints what came of it.
//!
//! It is the same for the shell, for words and for files; they differ in how an error is labelled.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::time::Duration;

use jiff::tz::TimeZone;
use sluice_command::{
    Command, Fault, Filter, Key, Noun, ParseFault, Verb, catalogue, split_filters,
    split_word_filters,
};
use sluice_protocol::{Outcome, Row};

use crate::escape::escape;
use crate::grep::{Grep, answers_with_text};
use crate::local::Local;
use crate::output::Output;
use crate::question::{before_question, print_help_at};
use crate::render::Form;
use crate::rounds::{BETWEEN_ROUNDS, rounds};
use crate::session::{Answer, Session, SessionError};
use crate::{batch, confirm, json, local, render};

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// It succeeded.
    Done,
    /// It was refused, or could not be carried out.
    Failed,
    /// It ends the session.
    Quit,
    /// There is no daemon to ask, so that going on is of no use.
    NoDaemon,
    /// It was not waited for any more; what was to follow is not run.
    Interrupted,
}

/// Where a command comes from, as far as its errors tell.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place<'a> {
    /// Words of the command line.
    Words,
    /// Typed in the shell, after a prompt of that many columns.
    Prompt {
        /// The width of the prompt.
        columns: usize,
    },
    /// A line of a file.
    File {
        /// The file as it was named.
        name: &'a str,
        /// The line, from 1.
        line: u64,
    },
}

/// What the user asked of every command.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mode {
    /// Print answers as JSON documents, and no ` Done`.
    pub(crate) json: bool,
    /// End a file at its first command that fails.
    pub(crate) stop_on_error: bool,
}

/// Runs commands against one daemon.
#[derive(Debug)]
pub(crate) struct Runner {
    /// The daemon.
    pub(crate) session: Session,
    /// What holds for every command.
    pub(crate) mode: Mode,
    /// How many `batch` commands are under way, one inside the other.
    pub(crate) nesting: usize,
    /// The warnings that the file under way has given.
    warned: BTreeSet<String>,
    warned_again: u64,
    /// What belongs to the session and not to the daemon.
    pub(crate) local: Local,
    /// The pause between two rounds of `stat -ntimes`.
    pub(crate) between_rounds: Duration,
    zone: TimeZone,
}

impl Runner {
    /// Makes a runner that prints times in `zone`.
    pub(crate) fn new(session: Session, mode: Mode, zone: TimeZone, local: Local) -> Self {
        Self {
            session,
            mode,
            nesting: 0,
            warned: BTreeSet::new(),
            warned_again: 0,
            local,
            between_rounds: BETWEEN_ROUNDS,
            zone,
        }
    }

    /// Runs the words of the command line: one token each, or one line if it is a single word with
    /// blanks in it.
    pub(crate) fn run_words(&mut self, words: &[String], output: &mut Output) -> Step {
        if let [line] = words
            && line.contains([' ', '\t', '\n', '\r'])
        {
            return self.run_text(line, Place::Words, output);
        }
        let line = words.join(" ");
        let typed = split_word_filters(words).and_then(|(count, filters)| {
            let parsed = sluice_command::parse_words_all(&words[..count])?;
            Ok((parsed, filters))
        });
        self.run_typed(typed, &line, Place::Words, output)
    }

    /// Runs a line; a blank one and a comment do nothing.
    pub(crate) fn run_text(&mut self, text: &str, place: Place<'_>, output: &mut Output) -> Step {
        let typed = split_filters(text)
            .and_then(|(end, filters)| Ok((sluice_command::parse_all(&text[..end])?, filters)));
        self.run_typed(typed, text, place, output)
    }

    /// Runs what was typed as `text`. A line that ends in a word `?` prints the help at that point.
    fn run_typed(
        &mut self,
        typed: Result<(Vec<Command>, Vec<Filter>), ParseFault>,
        text: &str,
        place: Place<'_>,
        output: &mut Output,
    ) -> Step {
        if let Some(before) = before_question(text) {
            print_help_at(before, before.len(), self.session.names(), output);
            return Step::Done;
        }
        let ready = typed.and_then(|(commands, filters)| {
            let filters = self.filters(commands.first(), &filters)?;
            Ok((commands, filters))
        });
        match ready {
            Ok((commands, filters)) => {
                let times = rounds(commands.first());
                self.repeat(times, place, output, |runner, output| {
                    output.begin_filters(filters.clone());
                    let step = match commands.as_slice() {
                        [] => Step::Done,
                        [command] => runner.run_command(command, place, output),
                        several => runner.run_several(several, place, output),
                    };
                    // A command that failed has not ended them.
                    output.end_filters();
                    step
                })
            }
            Err(fault) => {
                print_parse_fault(text, &fault, place, output);
                Step::Failed
            }
        }
    }

    /// Makes the filters behind `command` ready, before anything is run.
    fn filters(
        &self,
        command: Option<&Command>,
        filters: &[Filter],
    ) -> Result<Vec<Grep>, ParseFault> {
        let Some(first) = filters.first() else {
            return Ok(Vec::new());
        };
        let refused = |details: &str, hint: &str| ParseFault {
            fault: Fault::new(catalogue::NOT_VALID_HERE)
                .with_details(details)
                .with_hint(hint),
            span: first.span.clone(),
        };
        if self.mode.json {
            return Err(refused(
                "grep, --json",
                "a JSON document is no text of lines: filter it with a program that reads JSON",
            ));
        }
        if !command.is_some_and(|command| answers_with_text(command.verb)) {
            return Err(refused(
                "grep",
                "only the answers of commands that show something can be filtered",
            ));
        }
        filters.iter().map(Grep::new).collect()
    }

    fn run_command(&mut self, command: &Command, place: Place<'_>, output: &mut Output) -> Step {
        match command.verb {
            Verb::Exit | Verb::Quit => Step::Quit,
            Verb::Batch | Verb::Source => match batch::run_nested(self, command, output) {
                Ok(Step::Done) => self.done(Ok(()), place, output),
                Ok(step) => step,
                Err(fault) => self.done(Err(fault), place, output),
            },
            Verb::Clear if confirm::is_wanted(command, place) => {
                let Some(confirmed) = confirm::ask(command, output) else {
                    return Step::Done;
                };
                self.ask(&confirmed, place, output)
            }
            Verb::Help
            | Verb::Man
            | Verb::History
            | Verb::Alias
            | Verb::Unalias
            | Verb::Whoami
            | Verb::Cls
            | Verb::Shell
            | Verb::Config => self.run_local(command, place, output),
            Verb::Add
            | Verb::Set
            | Verb::Unset
            | Verb::Rm
            | Verb::Enable
            | Verb::Disable
            | Verb::Bind
            | Verb::Unbind
            | Verb::Rename
            | Verb::Show
            | Verb::Stat
            | Verb::Explain
            | Verb::Clear
            | Verb::Save
            | Verb::Diff
            | Verb::Apply
            | Verb::Confirm
            | Verb::Rollback => {
                if local::is_of_shell(command.noun) {
                    self.run_local(command, place, output)
                } else {
                    self.ask(command, place, output)
                }
            }
        }
    }

    fn run_local(&mut self, command: &Command, place: Place<'_>, output: &mut Output) -> Step {
        let ended = local::run(self, command, place, output);
        self.done(ended, place, output)
    }

    /// Runs a line that a person has typed: it may begin with an alias, or be one for `shell`.
    pub(crate) fn run_line(&mut self, text: &str, columns: usize, output: &mut Output) -> Step {
        let expanded = self.local.aliases.expand(text);
        let line = expanded.as_deref().unwrap_or(text);
        if let Some(line) = local::shell_line(line) {
            return self.done(local::run_shell(line), Place::Words, output);
        }
        if expanded.is_some() {
            // There is nothing on the screen that a caret could point at.
            return self.run_text(line, Place::Words, output);
        }
        self.run_text(line, Place::Prompt { columns }, output)
    }

    fn ask(&mut self, command: &Command, place: Place<'_>, output: &mut Output) -> Step {
        match self.session.run(command) {
            Ok(answer) => self.print_answer(command, answer, place, output),
            Err(error) => print_no_answer(&error, place, output),
        }
    }

    pub(crate) fn print_warnings(
        &mut self,
        warnings: &[String],
        place: Place<'_>,
        output: &mut Output,
    ) {
        for warning in warnings {
            if self.is_first(warning, place) {
                print_warning(warning, place, output);
            }
        }
    }

    /// A warning that many lines of a file give is printed for the first of them.
    fn is_first(&mut self, warning: &str, place: Place<'_>) -> bool {
        let is_first = match place {
            Place::Words | Place::Prompt { .. } => true,
            Place::File { .. } => self.warned.insert(warning.to_owned()),
        };
        self.warned_again += u64::from(!is_first);
        is_first
    }

    /// Begins a file; returns how often a warning of the last one was not printed again.
    pub(crate) fn forget_warnings(&mut self) -> u64 {
        self.warned.clear();
        std::mem::take(&mut self.warned_again)
    }

    fn print_answer(
        &mut self,
        command: &Command,
        answer: Answer,
        place: Place<'_>,
        output: &mut Output,
    ) -> Step {
        self.print_warnings(&answer.warnings, place, output);
        let ended = match answer.outcome {
            Outcome::Done => Ok(()),
            Outcome::Error(fault) => Err(fault),
        };
        if ended.is_ok() {
            output.out(&self.answer_text(command, &answer.rows));
        }
        self.done(ended, place, output)
    }

    pub(crate) fn answer_text(&self, command: &Command, rows: &[Row]) -> String {
        let asks = matches!(
            command.verb,
            Verb::Show | Verb::Stat | Verb::Explain | Verb::Diff
        );
        if self.mode.json {
            return if asks {
                json::document(rows)
            } else {
                String::new()
            };
        }
        let form = form(command);
        let mut text = render::text(rows, form, &self.zone);
        let is_list = asks && form == Form::List && rows.iter().all(is_object);
        if is_list && self.local.mode.is_on(Key::Total) {
            text.insert_str(0, &format!("Total: {}\n", rows.len()));
        }
        text
    }

    pub(crate) fn done(
        &self,
        ended: Result<(), Fault>,
        place: Place<'_>,
        output: &mut Output,
    ) -> Step {
        match ended {
            Ok(()) => {
                output.end_filters();
                if !self.mode.json {
                    output.out(" Done\n");
                }
                Step::Done
            }
            Err(fault) => {
                print_fault(&fault, None, place, output);
                Step::Failed
            }
        }
    }
}

/// Says why there is no answer, and returns how the command ended.
pub(crate) fn print_no_answer(error: &SessionError, place: Place<'_>, output: &mut Output) -> Step {
    let step = match error {
        SessionError::TooLong(_) | SessionError::Thread(_) => Step::Failed,
        SessionError::Unreachable(_) | SessionError::Lost(_) => Step::NoDaemon,
        SessionError::NotSent | SessionError::Unanswered | SessionError::Unknown => {
            // The terminal has written ^C where the cursor was.
            output.err("\n");
            Step::Interrupted
        }
    };
    output.err(&format!(
        "{}ERROR: {}\n",
        label(place),
        escape(&error.to_string())
    ));
    step
}

/// Returns the text that tells why the daemon cannot be reached.
pub(crate) fn unreachable_text(error: &SessionError) -> String {
    format!("ERROR: {}\n", escape(&error.to_string()))
}

/// Prints a fault and its hints; `column` is where it is in a line of a file.
pub(crate) fn print_fault(
    fault: &Fault,
    column: Option<usize>,
    place: Place<'_>,
    output: &mut Output,
) {
    let at = column.map_or_else(String::new, |column| format!(", column {column}"));
    let mut text = format!(
        "{}ERROR: {}{at}\n",
        label(place),
        escape(&fault.to_string())
    );
    for hint in &fault.hints {
        text.push_str(&format!("  {}\n", escape(hint)));
    }
    output.err(&text);
}

/// Prints a warning.
pub(crate) fn print_warning(warning: &str, place: Place<'_>, output: &mut Output) {
    output.err(&format!("{}Warning: {}\n", label(place), escape(warning)));
}

/// Returns the column of a fault in its line, in characters from 1; `None` if the fault names it
/// itself, as that of a character does.
pub(crate) fn column(text: &str, fault: &ParseFault) -> Option<usize> {
    let details = fault.fault.details.as_deref().unwrap_or_default();
    let before = text.get(..fault.span.start).unwrap_or(text);
    (!details.starts_with("column ")).then(|| before.chars().count() + 1)
}

fn print_parse_fault(text: &str, fault: &ParseFault, place: Place<'_>, output: &mut Output) {
    match place {
        Place::Words => {
            // A quote may be anywhere in a long line; other faults name the word they are about.
            let is_open = UNMATCHED.contains(&fault.fault.code);
            let column = is_open.then(|| column(text, fault)).flatten();
            print_fault(&fault.fault, column, place, output);
        }
        Place::Prompt { columns } => {
            output.err(&pointer(text, fault, columns));
            print_fault(&fault.fault, None, place, output);
        }
        Place::File { .. } => {
            print_fault(&fault.fault, column(text, fault), place, output);
        }
    }
}

const UNMATCHED: [u16; 2] = [
    catalogue::UNMATCHED_QUOTE.number,
    catalogue::UNMATCHED_CHARACTER.number,
];

/// Returns the line that points at the fault in the line above it, which was typed after a prompt
/// of `columns`.
fn pointer(text: &str, fault: &ParseFault, columns: usize) -> String {
    let caret = fault.caret(text);
    let marks = caret.lines().last().unwrap_or_default();
    format!("{}{marks}\n", " ".repeat(columns))
}

fn label(place: Place<'_>) -> Cow<'static, str> {
    match place {
        Place::Words | Place::Prompt { .. } => Cow::Borrowed(""),
        Place::File { name, line } => Cow::Owned(format!("{}:{line}: ", escape(name))),
    }
}

fn is_object(row: &Row) -> bool {
    match row {
        Row::Server(_)
        | Row::Service(_)
        | Row::Vserver(_)
        | Row::ServiceStat(_)
        | Row::VserverStat(_)
        | Row::Group(_)
        | Row::Connection(_)
        | Row::ServiceGroup(_)
        | Row::ServiceGroupStat(_)
        | Row::ServiceGroupBinding(_)
        | Row::Profile(_)
        | Row::PersistentSession(_)
        | Row::ExplainVserver(_)
        | Row::ExplainService(_)
        | Row::ExplainOutcome(_) => true,
        Row::Name(_) | Row::Line(_) | Row::Parameter(_) | Row::UdpStat(_) | Row::Config(_) => false,
    }
}

/// One object is asked for by name; of a server, `stat` answers with a list of its services.
fn form(command: &Command) -> Form {
    let is_list = command.verb == Verb::Stat && command.noun == Noun::Server;
    if command.arg(Key::Name).is_some() && !is_list {
        Form::Single
    } else {
        Form::List
    }
}
