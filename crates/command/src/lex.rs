//! Text to words: separators, comments, option keywords, quotes.
//!
//! Knows nothing of commands. Every [`Token`] carries its byte range in the line; a line that
//! cannot be split gives a [`LexFault`] and never a panic.
//!
//! Source: the reference's lexical rules, as its own configuration parser implements them.

use nom::branch::alt;
use nom::bytes::complete::{take_till, take_while};
use nom::character::complete::{anychar, char, one_of};
use nom::combinator::{eof, map, peek, recognize, value};
use nom::error::{ErrorKind, ParseError};
use nom::sequence::{preceded, terminated};
use nom::{Err, IResult, Parser};
use std::ops::Range;

use crate::{Fault, catalogue};

/// A word of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// The text, without the dash of a keyword, the quotes and the escapes.
    pub(crate) text: String,
    /// Whether it is an option keyword.
    pub(crate) keyword: bool,
    /// Where it stands, dash and quotes included.
    pub(crate) span: Range<usize>,
}

impl Token {
    /// Returns the word as a person would recognise it: a keyword with its dash.
    pub(crate) fn typed(&self) -> String {
        if self.keyword {
            format!("-{}", self.text)
        } else {
            self.text.clone()
        }
    }
}

/// Why a line cannot be split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LexFault {
    /// What is wrong.
    pub(crate) problem: Problem,
    /// The first byte of what is wrong: the opening quote, the parenthesis, the character.
    pub(crate) at: usize,
    /// The first byte of the word it is in.
    pub(crate) token_start: usize,
}

/// What is wrong with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// A quote is not closed.
    Quote(char),
    /// A parenthesis is not closed, or closes nothing.
    Parenthesis(char),
    /// A character outside quotes looks like a blank, or like nothing, and is neither.
    Invisible(char),
}

/// Splits `line` into words; a comment ends it.
///
/// # Errors
/// The words before the fault, and the fault.
pub(crate) fn tokens(line: &str) -> Result<Vec<Token>, (Vec<Token>, LexFault)> {
    let mut found = Vec::new();
    let mut input = line;
    loop {
        input = skip_separators(input);
        if input.is_empty() || input.starts_with('#') {
            return Ok(found);
        }
        let start = line.len() - input.len();
        match token(input) {
            Ok((after, (text, keyword))) => {
                let end = line.len() - after.len();
                found.push(Token {
                    text,
                    keyword,
                    span: start..end,
                });
                input = after;
            }
            Err(error) => {
                let snag = match error {
                    Err::Error(snag) | Err::Failure(snag) => snag,
                    Err::Incomplete(_) => unreachable!("only complete parsers are used"),
                };
                let fault = LexFault {
                    problem: snag.problem,
                    at: line.len() - snag.input.len(),
                    token_start: start,
                };
                return Err((found, fault));
            }
        }
    }
}

/// Tells whether `c` ends a bare word.
pub(crate) fn is_separator(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

/// Tells whether `c` looks like a blank, or like nothing, without being a separator.
pub(crate) fn is_invisible(c: char) -> bool {
    (c.is_whitespace() && !c.is_ascii())
        || matches!(c, '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}')
}

/// Makes the fault for an invisible character at `place`, as in "column 4".
pub(crate) fn invisible(c: char, place: &str) -> Fault {
    Fault::new(catalogue::INVALID_CHARACTER)
        .with_details(format!("{place}, U+{:04X}", u32::from(c)))
        .with_hint("it looks like a blank and is not one: type a blank, or put the text in quotes")
}

/// Returns the column of byte `at`, in characters from 1.
pub(crate) fn column(line: &str, at: usize) -> usize {
    line.char_indices()
        .take_while(|(index, _)| *index < at)
        .count()
        + 1
}

/// Tells whether `text` would be read as a q-quote, which quoting must prevent.
pub(crate) fn starts_q_quote(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next() == Some('q') && chars.next().is_some_and(|c| Q_DELIMITERS.contains(c))
}

type Parsed<'a, O> = IResult<&'a str, O, Snag<'a>>;

/// nom's error: the rest of the line where the problem begins.
#[derive(Debug)]
struct Snag<'a> {
    input: &'a str,
    problem: Problem,
}

impl<'a> ParseError<&'a str> for Snag<'a> {
    /// Only alternatives that another one follows fail this way, so the problem is never reported.
    fn from_error_kind(input: &'a str, _kind: ErrorKind) -> Self {
        Self {
            input,
            problem: Problem::Invisible(' '),
        }
    }

    fn append(_input: &'a str, _kind: ErrorKind, other: Self) -> Self {
        other
    }
}

fn skip_separators(input: &str) -> &str {
    input.trim_start_matches(is_separator)
}

fn token(input: &str) -> Parsed<'_, (String, bool)> {
    alt((
        map(keyword, |text| (text, true)),
        map(q_quote, |text| (text, false)),
        map(quoted, |text| (text, false)),
        map(bare, |text| (text, false)),
    ))
    .parse(input)
}

fn keyword(input: &str) -> Parsed<'_, String> {
    let (after, text) = preceded(char('-'), take_till(is_separator)).parse(input)?;
    refuse_invisible(&input[1..], text)?;
    Ok((after, text.to_owned()))
}

/// `q{...}`: ends at the first closing delimiter, which must end the word. No escapes.
fn q_quote(input: &str) -> Parsed<'_, String> {
    let (after, open) = preceded(char('q'), one_of(Q_DELIMITERS)).parse(input)?;
    let close = match open {
        '{' => '}',
        '<' => '>',
        other => other,
    };
    let end_of_word = peek(alt((recognize(one_of(SEPARATORS)), eof)));
    let (after, text) =
        terminated(take_while(move |c| c != close), (char(close), end_of_word)).parse(after)?;
    Ok((after, text.to_owned()))
}

/// A word that is quoted as a whole: the quotes go, and it ends at the closing one.
fn quoted(input: &str) -> Parsed<'_, String> {
    let (after, quote) = one_of("\"'").parse(input)?;
    quoted_text(input, after, quote)
}

/// Reads up to and including the closing `quote`; `opening` begins with the opening one.
fn quoted_text<'a>(opening: &'a str, inside: &'a str, quote: char) -> Parsed<'a, String> {
    let mut text = String::new();
    let mut input = inside;
    loop {
        if let Some(after) = input.strip_prefix(quote) {
            return Ok((after, text));
        }
        let (after, c) = alt((escape, anychar)).parse(input).map_err(|_| {
            Err::Failure(Snag {
                input: opening,
                problem: Problem::Quote(quote),
            })
        })?;
        text.push(c);
        input = after;
    }
}

fn escape(input: &str) -> Parsed<'_, char> {
    preceded(
        char('\\'),
        alt((
            value('\t', char('t')),
            value('\n', char('n')),
            value('\r', char('r')),
            one_of("\"'\\"),
        )),
    )
    .parse(input)
}

/// A word without quotes around it. Quotes in its middle stay and protect blanks, as do
/// parentheses.
fn bare(input: &str) -> Parsed<'_, String> {
    let mut text = String::new();
    let mut open: Vec<&str> = Vec::new();
    let mut at = input;
    while let Ok((after, c)) = anychar::<_, Snag<'_>>(at) {
        if is_separator(c) && open.is_empty() {
            break;
        }
        refuse_invisible(at, &at[..c.len_utf8()])?;
        text.push(c);
        let mut next = after;
        match c {
            '"' | '\'' => {
                let (closed, inside) = quoted_text(at, after, c)?;
                text.push_str(&inside);
                text.push(c);
                next = closed;
            }
            '(' => open.push(at),
            ')' if open.pop().is_none() => return Err(unmatched(at, c)),
            _ => {}
        }
        at = next;
    }
    match open.first() {
        Some(first) => Err(unmatched(first, '(')),
        None => Ok((at, text)),
    }
}

fn unmatched(input: &str, parenthesis: char) -> Err<Snag<'_>> {
    Err::Failure(Snag {
        input,
        problem: Problem::Parenthesis(parenthesis),
    })
}

/// Fails at the first invisible character of `text`, with which `input` begins.
fn refuse_invisible<'a>(input: &'a str, text: &str) -> Result<(), Err<Snag<'a>>> {
    match text.char_indices().find(|(_, c)| is_invisible(*c)) {
        None => Ok(()),
        Some((index, c)) => Err(Err::Failure(Snag {
            input: &input[index..],
            problem: Problem::Invisible(c),
        })),
    }
}

const SEPARATORS: &str = " \t\n\r";
const Q_DELIMITERS: &str = "/{<|~$^+=&%@`?";

#[cfg(test)]
mod tests;
