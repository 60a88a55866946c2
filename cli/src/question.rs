//! Help at the cursor: the key `?` in the shell, and a last word `?` where there are no keys.

use std::sync::{Arc, Mutex, PoisonError};

use rustyline::{Cmd, ConditionalEventHandler, Event, EventContext, RepeatCount};
use sluice_command::Candidate;

use crate::escape::escape;
use crate::names::Names;
use crate::output::Output;

/// Where the cursor was when `?` was pressed, until the shell has seen it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Question {
    /// Guards the position alone.
    cursor: Arc<Mutex<Option<usize>>>,
}

impl Question {
    /// Returns the position of the cursor in the line, if `?` ended it.
    pub(crate) fn take(&self) -> Option<usize> {
        self.lock().take()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<usize>> {
        self.cursor.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConditionalEventHandler for Question {
    /// Ends the line, so that help can be printed below it and the same line be edited on. Inside
    /// an open quote `?` is text.
    fn handle(
        &self,
        _: &Event,
        _: RepeatCount,
        _: bool,
        context: &EventContext<'_>,
    ) -> Option<Cmd> {
        let before = context.line().get(..context.pos())?;
        if is_quoted(before) {
            return None;
        }
        *self.lock() = Some(context.pos());
        Some(Cmd::AcceptLine)
    }
}

/// Returns what stands before a last word `?`.
pub(crate) fn before_question(line: &str) -> Option<&str> {
    let before = line.trim_end().strip_suffix('?')?;
    let is_word = before.is_empty() || before.ends_with([' ', '\t']);
    (is_word && !is_quoted(before)).then_some(before)
}

/// Prints what may be typed at `cursor`: the words that can stand there, else what the value there
/// may be, else how the command goes, else what is wrong with what stands before.
pub(crate) fn print_help_at(line: &str, cursor: usize, names: &Names, output: &mut Output) {
    let completion = sluice_command::complete(line, cursor, &|noun| names.of(noun));
    let before = line.get(..cursor).unwrap_or(line);
    let text = if completion.candidates.is_empty() {
        sluice_command::explain_value(line, cursor)
            .or_else(|| usage(before))
            .unwrap_or_else(|| reason(before))
    } else {
        list(&completion.candidates)
    };
    output.out(&text);
}

fn list(candidates: &[Candidate]) -> String {
    let widths = candidates
        .iter()
        .map(|candidate| candidate.text.chars().count());
    let width = widths.max().unwrap_or_default();
    let mut text = String::new();
    for candidate in candidates {
        let (word, meaning) = (escape(&candidate.text), escape(&candidate.description));
        let line = format!("  {word:width$}  {meaning}");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Returns the synopsis of the command that `before` begins with.
fn usage(before: &str) -> Option<String> {
    let words: Vec<&str> = before.split_whitespace().take(3).collect();
    let longest = (1..=words.len()).rev();
    let mut help = longest.filter_map(|count| sluice_command::help(&words[..count].join(" ")).ok());
    let help = help.find(|help| help.starts_with("Usage:"))?;
    let synopsis = help.split("\n\n").next().unwrap_or_default();
    Some(format!("{}\n", synopsis.trim_end()))
}

fn reason(before: &str) -> String {
    match sluice_command::parse(before) {
        Ok(_) => "Nothing can follow here\n".to_owned(),
        Err(fault) => format!("ERROR: {}\n", escape(&fault.fault.to_string())),
    }
}

/// Tells whether a quote is open at the end of `text`, by the rules of the tokenizer.
pub(crate) fn is_quoted(text: &str) -> bool {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n']);
        match rest.chars().next() {
            None | Some('#') => return false,
            Some(_) => match word_end(rest) {
                Some(end) => rest = &rest[end..],
                None => return true,
            },
        }
    }
}

/// Returns where the first word of `text` ends; `None` if in an open quote.
fn word_end(text: &str) -> Option<usize> {
    if text.starts_with('-') {
        return Some(text.find([' ', '\t', '\n']).unwrap_or(text.len()));
    }
    if let Some(end) = q_quote_end(text) {
        return end;
    }
    let mut open = None;
    let mut is_escaped = false;
    for (at, character) in text.char_indices() {
        match open {
            Some(_) if is_escaped => is_escaped = false,
            Some(_) if character == '\\' => is_escaped = true,
            Some(quote) if character == quote => open = None,
            Some(_) => {}
            None => match character {
                '"' | '\'' => open = Some(character),
                ' ' | '\t' | '\n' => return Some(at),
                _ => {}
            },
        }
    }
    open.is_none().then_some(text.len())
}

/// Returns `None` if no q-quote (`q{...}`) begins here, else where it ends, if it does.
fn q_quote_end(text: &str) -> Option<Option<usize>> {
    let inner = text.strip_prefix('q')?;
    let delimiter = inner
        .chars()
        .next()
        .filter(|first| "/{<|~$^+=&%@`".contains(*first))?;
    let close = match delimiter {
        '{' => '}',
        '<' => '>',
        other => other,
    };
    Some(inner[1..].find(close).map(|at| at + 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_a_last_word() {
        assert_eq!(before_question("?"), Some(""));
        assert_eq!(before_question("add lb ?  "), Some("add lb "));
        assert_eq!(before_question("add lb?"), None);
        assert_eq!(before_question("add server x -comment \"why ?"), None);
        assert_eq!(before_question("add lb"), None);
    }

    #[test]
    fn an_open_quote_is_seen() {
        assert!(is_quoted("add server \"a b"));
        assert!(is_quoted("add server a'b"));
        assert!(is_quoted(r#"x "a\""#));
        assert!(is_quoted("x q{what"));
        assert!(!is_quoted("add server \"a b\" "));
        assert!(!is_quoted(r#"x "a\\""#));
        assert!(!is_quoted("x q{what}"));
        assert!(!is_quoted("x -it's fine"));
        assert!(!is_quoted("# it's a comment"));
    }
}
