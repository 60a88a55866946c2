//! The filter behind a command: `show server | grep -i web`.
//!
//! `|` is no operator of the language's words: it separates only where it is a word of its own, or
//! where the word `grep` follows it. Quoted it is text. What a pattern means is not known here.

use std::ops::Range;

use crate::lex::{self, Token, starts_q_quote};
use crate::parse::{ParseFault, at, parse_tokens, word_tokens};
use crate::value::shown;
use crate::{Candidate, Completion, Fault, catalogue};

/// What `grep` was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// `-c`: how many lines, instead of the lines.
    pub count: bool,
    /// `-E`: the pattern is an extended regular expression, not a basic one.
    pub extended: bool,
    /// `-i`: upper and lower case do not differ.
    pub ignore_case: bool,
    /// `-v`: the lines that do not match.
    pub invert: bool,
    /// `-w`: whole words match only.
    pub words: bool,
    /// `-x`: whole lines match only.
    pub lines: bool,
    /// The pattern, without its quotes.
    pub pattern: String,
    /// Where the pattern stands, quotes included.
    pub span: Range<usize>,
}

/// Splits a line into a command and the filters behind it. Returns where the command ends.
/// Shape: without a filter the command is the whole line, also where it cannot be read.
///
/// # Errors
/// What stands behind `|` is not `grep` with its flags and one pattern.
pub fn split_filters(line: &str) -> Result<(usize, Vec<Filter>), ParseFault> {
    let Some(pipe) = first_pipe(line, 0) else {
        return Ok((line.len(), Vec::new()));
    };
    // Read as one line, so that a fault tells its place in it.
    let mut filters = Vec::new();
    let mut start = pipe + 1;
    loop {
        let next = first_pipe(line, start);
        let end = next.unwrap_or(line.len());
        let blank = " ".repeat(start);
        let tokens = parse_tokens(&format!("{blank}{}", &line[start..end]))?;
        filters.push(filter(&tokens, end)?);
        match next {
            Some(pipe) => start = pipe + 1,
            None => return Ok((pipe, filters)),
        }
    }
}

/// As [`split_filters`], of the words of a program's arguments: `|` is a word of its own. Returns
/// how many words are the command's. A single word with blanks is a line, and not for this.
///
/// # Errors
/// As [`split_filters`].
pub fn split_word_filters(words: &[String]) -> Result<(usize, Vec<Filter>), ParseFault> {
    let tokens = word_tokens(words);
    let mut parts = tokens.split(|token| !token.keyword && token.text == "|");
    let command = parts.next().map_or(0, <[Token]>::len);
    let end = tokens.last().map_or(0, |token| token.span.end);
    let filters: Result<Vec<Filter>, ParseFault> = parts.map(|part| filter(part, end)).collect();
    Ok((command, filters?))
}

/// Completes what stands behind the last `|` of `line`; `None` without one.
pub(crate) fn complete(line: &str) -> Option<Completion> {
    let mut start = first_pipe(line, 0)? + 1;
    while let Some(pipe) = first_pipe(line, start) {
        start = pipe + 1;
    }
    let word = start
        + line[start..]
            .rfind(lex::is_separator)
            .map_or(0, |at| at + 1);
    let begun = &line[word..];
    let is_first = line[start..word].trim().is_empty();
    let candidates: &[(&str, &str)] = if is_first { &[GREP] } else { FLAGS };
    Some(Completion {
        start: word,
        candidates: candidates
            .iter()
            .filter(|(text, _)| text.starts_with(begun))
            .map(|(text, help)| Candidate {
                text: (*text).to_owned(),
                description: (*help).to_owned(),
            })
            .collect(),
    })
}

/// Finds the first `|` from byte `start` on that begins a filter.
fn first_pipe(line: &str, start: usize) -> Option<usize> {
    let tokens = match lex::tokens(&line[start..]) {
        Ok(tokens) | Err((tokens, _)) => tokens,
    };
    tokens.iter().find_map(|token| {
        let span = start + token.span.start..start + token.span.end;
        let raw = &line[span.clone()];
        if raw == "|" {
            return Some(span.start);
        }
        let quoted = raw.contains(['"', '\'', '(']) || starts_q_quote(raw);
        let mut pipes = raw.match_indices('|').map(|(index, _)| span.start + index);
        pipes.find(|pipe| !quoted && begins_grep(&line[pipe + 1..]))
    })
}

fn begins_grep(text: &str) -> bool {
    let word = text.trim_start_matches(lex::is_separator);
    let word = word.split(lex::is_separator).next();
    word.is_some_and(|word| word.eq_ignore_ascii_case(GREP.0))
}

/// Reads `grep` and what belongs to it.
fn filter(tokens: &[Token], end: usize) -> Result<Filter, ParseFault> {
    let missing = |fault| ParseFault {
        fault,
        span: end..end,
    };
    let Some((name, args)) = tokens.split_first() else {
        let fault = Fault::new(catalogue::INCOMPLETE_COMMAND).with_hint("next comes grep");
        return Err(missing(fault));
    };
    if name.keyword || !name.text.eq_ignore_ascii_case(GREP.0) {
        let fault = Fault::new(catalogue::NO_SUCH_COMMAND)
            .with_details(shown(&name.typed()))
            .with_hint("only grep can stand behind |");
        return Err(at(name, fault));
    }
    let mut filter = Filter::default();
    let mut pattern: Option<&Token> = None;
    for token in args {
        if token.keyword {
            flags(&mut filter, token)?;
        } else if pattern.is_none() {
            pattern = Some(token);
        } else {
            let fault = Fault::new(catalogue::TOO_MANY_VALUES)
                .with_details(format!("pattern, {}", shown(&token.text)))
                .with_hint("a pattern with blanks stands in quotes: \"a b\"");
            return Err(at(token, fault));
        }
    }
    let Some(pattern) = pattern else {
        let fault = Fault::new(catalogue::ARGUMENT_MISSING)
            .with_details("pattern")
            .with_hint("grep takes a pattern: show server | grep web");
        return Err(missing(fault));
    };
    filter.pattern.clone_from(&pattern.text);
    filter.span = pattern.span.clone();
    Ok(filter)
}

/// Flags may be written as one word: `-iv`.
fn flags(filter: &mut Filter, token: &Token) -> Result<(), ParseFault> {
    let unknown = || {
        let fault = Fault::new(catalogue::NO_SUCH_ARGUMENT)
            .with_details(shown(&token.typed()))
            .with_hint("grep takes -c, -E, -i, -v, -w and -x")
            .with_hint("a pattern that begins with '-' stands in quotes");
        at(token, fault)
    };
    if token.text.is_empty() {
        return Err(unknown());
    }
    for flag in token.text.chars() {
        let is_set = match flag {
            'c' => &mut filter.count,
            'E' => &mut filter.extended,
            'i' => &mut filter.ignore_case,
            'v' => &mut filter.invert,
            'w' => &mut filter.words,
            'x' => &mut filter.lines,
            _ => return Err(unknown()),
        };
        *is_set = true;
    }
    Ok(())
}

const GREP: (&str, &str) = ("grep", "Shows the lines of the answer that match a pattern");

const FLAGS: &[(&str, &str)] = &[
    ("-c", "How many lines match, instead of the lines"),
    ("-E", "The pattern is an extended regular expression"),
    ("-i", "Upper and lower case do not differ"),
    ("-v", "The lines that do not match"),
    ("-w", "Whole words match only"),
    ("-x", "Whole lines match only"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str) -> (&str, Vec<Filter>) {
        let (end, filters) = split_filters(line).expect("it is in order");
        (line[..end].trim_end(), filters)
    }

    fn refusal(line: &str) -> (String, Range<usize>) {
        let refusal = split_filters(line).expect_err("it is not in order");
        (refusal.fault.to_string(), refusal.span)
    }

    #[test]
    fn flags_stand_before_or_after_the_pattern() {
        for line in [
            "show server | grep -i -v web",
            "show server | grep web -iv",
            "show server|grep -v web -i",
            "show server |GREP -vi \"web\"",
        ] {
            let (command, filters) = split(line);
            assert_eq!(command, "show server", "{line}");
            let [filter] = filters.as_slice() else {
                panic!("one filter: {line}");
            };
            assert_eq!(filter.pattern, "web", "{line}");
            assert_eq!((filter.ignore_case, filter.invert), (true, true), "{line}");
            assert!(!filter.count && !filter.extended && !filter.words && !filter.lines);
            assert_eq!(line[filter.span.clone()].trim_matches('"'), "web", "{line}");
        }
    }

    #[test]
    fn filters_stand_one_behind_the_other() {
        let (command, filters) = split("sh lb vs | grep -E 'a|b' | grep -x -w -c c");
        assert_eq!(command, "sh lb vs");
        let patterns: Vec<&str> = filters.iter().map(|filter| &*filter.pattern).collect();
        assert_eq!(patterns, ["a|b", "c"]);
        assert!(filters[0].extended && !filters[0].count);
        assert!(filters[1].lines && filters[1].words && filters[1].count);
    }

    #[test]
    fn a_bar_in_a_value_is_text() {
        for line in [
            "set server s -comment \"a | grep b\"",
            "set server s -comment a|b",
            "set server s -comment q|a|",
            "set server s # | grep b",
            "show server \"open | grep x",
            "show server",
        ] {
            assert_eq!(split(line), (line, Vec::new()));
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        for (line, text, span) in [
            ("show server |", "Incomplete command", 13..13),
            ("show server | less x", "No such command [less]", 14..18),
            (
                "show server | grep",
                "Required argument missing [pattern]",
                18..18,
            ),
            ("show server | grep -e x", "No such argument [-e]", 19..21),
            ("show server | grep - x", "No such argument [-]", 19..20),
            (
                "show server | grep a b",
                "Argument has too many values [pattern, b]",
                21..22,
            ),
            ("show server | grep \"a", "Unmatched quote [\"]", 19..21),
            ("show server | | grep x", "Incomplete command", 14..14),
        ] {
            assert_eq!(refusal(line), (text.to_owned(), span), "{line}");
        }
    }

    #[test]
    fn of_words_a_bar_is_one() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let (count, filters) =
            split_word_filters(&words("show server | grep -c a|b")).expect("in order");
        assert_eq!(count, 2);
        assert_eq!(
            (filters[0].pattern.as_str(), filters[0].count),
            ("a|b", true)
        );
        let plain = split_word_filters(&words("show server a|grep")).expect("in order");
        assert_eq!(plain, (3, Vec::new()));
        assert!(split_word_filters(&words("show server |")).is_err());
    }

    #[test]
    fn grep_and_its_flags_are_completed() {
        let texts = |line: &str| {
            let found = complete(line).map(|found| found.candidates);
            found.map(|found| {
                found
                    .into_iter()
                    .map(|found| found.text)
                    .collect::<Vec<_>>()
            })
        };
        assert_eq!(texts("show server"), None);
        assert_eq!(texts("show server | "), Some(vec!["grep".to_owned()]));
        assert_eq!(texts("show server | g"), Some(vec!["grep".to_owned()]));
        assert_eq!(texts("show server | grep -E"), Some(vec!["-E".to_owned()]));
        assert_eq!(
            texts("show server | grep x -").map(|all| all.len()),
            Some(6)
        );
    }
}
