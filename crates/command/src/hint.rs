//! What may come next, as a faint text behind the cursor.
//!
//! No names of objects: a hint is asked for at every key, and nobody waits for a daemon then.

use crate::complete::{Given, slot, split};
use crate::lex::Token;
use crate::table::{CommandSpec, Times};
use crate::words::has_prefix;
use crate::{complete, head, pipe};

/// What may come next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// The rest of the word that has been begun.
    Rest(String),
    /// What the next word is: `<name>`, or the words that can stand there.
    Next(String),
}

/// Returns what may stand behind `line`, whose end the cursor is at; `None` where nothing is begun,
/// nothing is known, or there is too much to choose from.
pub fn hint(line: &str) -> Option<Hint> {
    if line.trim().is_empty() || pipe::complete(line).is_some() {
        return None;
    }
    let (before, word) = split(line)?;
    if word.span.is_empty() {
        return next(&before).map(Hint::Next);
    }
    let found = complete(line, line.len(), &|_| Vec::new());
    let [only] = found.candidates.as_slice() else {
        return None;
    };
    let begun = &line[found.start..];
    let rest = only
        .text
        .get(begun.len()..)
        .filter(|rest| !rest.is_empty())?;
    has_prefix(&only.text, begun).then(|| Hint::Rest(rest.to_owned()))
}

/// Returns what the next word is.
fn next(before: &[Token]) -> Option<String> {
    let words: Vec<String> = before.iter().map(Token::typed).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let Ok((spec, used)) = head::command(&words) else {
        return words_of(&words);
    };
    let given = Given::read(spec, &before[used..])?;
    if !given.pending.is_empty() {
        return value_of_option(spec, &given);
    }
    if !given.options.is_empty() {
        return None;
    }
    let index = given.positionals.len();
    let slot = slot(spec, index)?;
    let name = slot.arg.spelling;
    let is_needed = match slot.times {
        // The word before it is there.
        Times::Once | Times::Together => true,
        Times::Many => index < spec.positionals.len(),
        Times::Optional | Times::Any | Times::Else(_) => false,
    };
    Some(if is_needed {
        format!("<{name}>")
    } else {
        format!("[<{name}>]")
    })
}

/// Returns what the last option still takes.
fn value_of_option(spec: &'static CommandSpec, given: &Given) -> Option<String> {
    let row = spec.option(*given.options.last()?)?;
    match (row.then, given.pending.len()) {
        (Some(then), 1) if then.required => Some(format!("<{}>", then.spelling)),
        (Some(then), 1) => Some(format!("[<{}>]", then.spelling)),
        (Some(_) | None, _) => Some(format!("<{}>", row.spelling)),
    }
}

/// Returns the words that can stand behind words that name no command yet.
fn words_of(words: &[&str]) -> Option<String> {
    let line = format!("{} ", words.join(" "));
    let found = complete(&line, line.len(), &|_| Vec::new()).candidates;
    let texts: Vec<&str> = found.iter().map(|found| found.text.as_str()).collect();
    (1..=WORDS_MAX)
        .contains(&texts.len())
        .then(|| texts.join("|"))
}

/// More than these are no hint but a list, which `?` shows.
const WORDS_MAX: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn next(text: &str) -> Option<Hint> {
        Some(Hint::Next(text.to_owned()))
    }

    fn rest(text: &str) -> Option<Hint> {
        Some(Hint::Rest(text.to_owned()))
    }

    #[test]
    fn the_next_word_is_named() {
        assert_eq!(hint("add server "), next("<name>"));
        assert_eq!(hint("add server s1 "), next("<IPAddress>"));
        assert_eq!(hint("add server s1 10.0.0.1 "), None);
        assert_eq!(hint("add server s1 10.0.0.1 -comment "), next("<comment>"));
        assert_eq!(hint("show server "), next("[<name>]"));
        assert_eq!(hint("rm server "), next("<name>"));
        assert_eq!(hint("rm server a "), next("[<name>]"));
        assert_eq!(hint("unset server a -comment "), None);
        assert_eq!(
            hint("set lb vserver v -newServiceRequest 5 "),
            next("[<newServiceRequestUnit>]")
        );
        assert_eq!(hint("set lb vserver v -weight "), next("<weight>"));
        assert_eq!(hint("set lb vserver v -weight 3 "), next("<serviceName>"));
    }

    #[test]
    fn what_is_begun_and_can_be_one_word_only_is_ended() {
        assert_eq!(hint("exp"), rest("lain"));
        assert_eq!(hint("SHO"), rest("w"));
        assert_eq!(hint("add lb vs"), rest("erver"));
        assert_eq!(hint("add server s1 10.0.0.1 -com"), rest("ment"));
        assert_eq!(hint("s"), None);
        assert_eq!(hint("show"), None);
        assert_eq!(hint("rm server s"), None);
    }

    #[test]
    fn where_nothing_is_known_nothing_is_said() {
        for line in [
            "",
            "  ",
            "frobnicate ",
            "show server | g",
            "add server \"a",
            "# show",
        ] {
            assert_eq!(hint(line), None, "{line}");
        }
        assert_eq!(hint("confirm "), None);
        assert_eq!(hint("apply -confirm "), next("<confirm>"));
    }
}
