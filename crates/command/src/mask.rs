//! Lines without their secrets, for histories and logs.

use std::borrow::Cow;
use std::ops::Range;

use crate::head;
use crate::lex::{self, Token};
use crate::table::NOUNS;
use crate::words::has_prefix;

/// Returns `line` with the value of every secret option as `******`.
/// Shape: also where the line is no command, as after a slip in another word: an option that could
/// be a secret one is taken for it. The line that an alias stands for is
/// looked into.
pub fn masked(line: &str) -> Cow<'_, str> {
    let hidden = hidden(line);
    if hidden.is_empty() {
        return Cow::Borrowed(line);
    }
    let mut out = String::with_capacity(line.len());
    let mut start = 0;
    for span in hidden {
        out.push_str(&line[start..span.start]);
        out.push_str(MASK);
        start = span.end;
    }
    out.push_str(&line[start..]);
    Cow::Owned(out)
}

/// Returns where the secrets of `line` stand, from left to right.
fn hidden(line: &str) -> Vec<Range<usize>> {
    let (tokens, fault) = match lex::tokens(line) {
        Ok(tokens) => (tokens, None),
        Err((tokens, fault)) => (tokens, Some(fault)),
    };
    let mut spans = Vec::new();
    let mut is_secret = false;
    let mut is_first = false;
    let is_alias = tokens
        .first()
        .is_some_and(|word| has_prefix(ALIAS, &word.text));
    for token in &tokens {
        if token.keyword && (!is_first || is_option(&token.text)) {
            is_secret = is_secret_option(&tokens, token);
            is_first = is_secret;
            continue;
        }
        let is_line = is_alias && token.text.contains(lex::is_separator);
        if is_secret || (is_line && !hidden(&token.text).is_empty()) {
            spans.push(token.span.clone());
        }
        is_first = false;
    }
    // A quote that is not closed: what is behind it may be all of the secret.
    if let Some(fault) = fault
        && (is_secret
            || is_alias && !hidden(line[fault.token_start..].trim_start_matches(QUOTES)).is_empty())
    {
        spans.push(fault.token_start..line.len());
    }
    spans
}

fn is_secret_option(tokens: &[Token], keyword: &Token) -> bool {
    let words: Vec<String> = tokens.iter().take(3).map(Token::typed).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if let Ok((spec, _)) = head::command(&words)
        && let Ok(row) = spec.find_option(keyword)
    {
        return row.secret;
    }
    keyword.text.len() >= SHORTEST
        && rows().any(|(spelling, secret)| secret && has_prefix(spelling, &keyword.text))
}

/// Tells whether some command has such an option, so that it is no value that begins with `-`.
fn is_option(text: &str) -> bool {
    rows().any(|(spelling, _)| has_prefix(spelling, text))
}

fn rows() -> impl Iterator<Item = (&'static str, bool)> {
    NOUNS
        .iter()
        .flat_map(|noun| noun.commands)
        .flat_map(|spec| spec.options())
        .flat_map(|row| {
            std::iter::once(row.spelling)
                .chain(row.aliases.iter().copied())
                .map(|spelling| (spelling, row.secret))
        })
}

const ALIAS: &str = "alias";

const MASK: &str = "******";

const QUOTES: [char; 2] = ['"', '\''];

/// Shorter cuts mean too much else to be taken for a secret where the command is not known.
const SHORTEST: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_value_is_hidden_however_it_is_written() {
        for (line, expected) in [
            (
                "set lb parameter -cookiePassphrase open -dbsTTL 3",
                "set lb parameter -cookiePassphrase ****** -dbsTTL 3",
            ),
            (
                "set lb par -COOKIEPASS \"o p e n\"",
                "set lb par -COOKIEPASS ******",
            ),
            (
                "set lb parameter -cookiePassphrase -open",
                "set lb parameter -cookiePassphrase ******",
            ),
            (
                "set lb parameter -cookiePassphrase two words",
                "set lb parameter -cookiePassphrase ****** ******",
            ),
            (
                "set lb parameter -cookiePassphrase \"open",
                "set lb parameter -cookiePassphrase ******",
            ),
            (
                "sett lb parametre -cookiePass open",
                "sett lb parametre -cookiePass ******",
            ),
            (
                "alias p \"set lb parameter -cookiePassphrase open\"",
                "alias p ******",
            ),
            (
                "alias p \"set lb parameter -cookiePassphrase open",
                "alias p ******",
            ),
        ] {
            assert_eq!(masked(line), expected);
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        for line in [
            "set lb parameter -cookieName open",
            "unset lb parameter -cookiePassphrase -dbsTTL",
            "add server s 10.0.0.1 -comment \"a -cook b\"",
            "show server",
            "",
            "set server s -comment \"open",
        ] {
            assert_eq!(masked(line), line);
        }
    }
}
