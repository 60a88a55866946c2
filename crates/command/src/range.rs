//! Ranges in names and addresses: `add server s[1-3] 10.0.0.[1-3]` stands for three commands.
//!
//! All ranges of a line are walked in parallel, and what has none is the same in each command.
//! Words of a list (`rm server a[1-2] b`) need not be of one size, if nothing else has a range:
//! then each of them is a command of its own. Everywhere but in names and addresses brackets are
//! text.
//!
//! Source: NetScaler command reference, `@` arguments. Own choices: a range whose ends are written
//! with a leading zero keeps the width (`[01-10]`), and a range has a limit.

use std::net::Ipv6Addr;

use crate::head;
use crate::lex::Token;
use crate::parse::{ParseFault, at};
use crate::table::{CommandSpec, Kind, Positional, Times};
use crate::value::refused;
use crate::{Fault, catalogue};

/// Returns the words of each command that `tokens` stand for: as they are, where none has a range.
///
/// # Errors
/// A range is malformed, or they do not go together.
pub(crate) fn expand(tokens: &[Token]) -> Result<Vec<Vec<Token>>, Refused> {
    let ranged = ranged(tokens)?;
    let Some(first) = ranged.first() else {
        return Ok(vec![tokens.to_vec()]);
    };
    if ranged.iter().all(|word| word.is_listed) {
        return Ok(each_word(tokens, &ranged));
    }
    let size = first.texts.len();
    if let Some(other) = ranged.iter().find(|word| word.texts.len() != size) {
        let details = format!("{size} and {}", other.texts.len());
        let fault = Fault::new(catalogue::RANGE_SIZES_DIFFER)
            .with_details(details)
            .with_hint("all ranges of a command have as many elements");
        return Err(Refused {
            fault: at(&tokens[other.index], fault),
            before: with_firsts(tokens, &ranged),
        });
    }
    let command = |element: usize| {
        let mut words = tokens.to_vec();
        for word in &ranged {
            words[word.index].text.clone_from(&word.texts[element]);
        }
        words
    };
    Ok((0..size).map(command).collect())
}

/// Returns the one fault for commands that a line has stood for: `failed` are those that were
/// refused, with their texts.
pub fn summed_up(total: usize, failed: &[(String, Fault)]) -> Fault {
    let code = if failed.len() < total {
        catalogue::SOME_FAILED
    } else {
        catalogue::ALL_FAILED
    };
    let mut fault = Fault::new(code).with_details(format!("{} of {total}", failed.len()));
    for (text, refusal) in failed.iter().take(SHOWN_MAX) {
        fault = fault.with_hint(format!("{text}: {refusal}"));
    }
    match failed.len().saturating_sub(SHOWN_MAX) {
        0 => fault,
        more => fault.with_hint(format!("and {more} more")),
    }
}

/// Why words cannot be expanded.
pub(crate) struct Refused {
    /// The fault, at the range.
    pub(crate) fault: ParseFault,
    /// The words with the first element of each range before it, in which something further left
    /// may be wrong as well.
    pub(crate) before: Vec<Token>,
}

/// A word with a range.
struct Ranged {
    /// Which word of the line.
    index: usize,
    /// What it stands for, in order; never empty.
    texts: Vec<String>,
    /// Whether it is in a list of words.
    is_listed: bool,
}

fn with_firsts(tokens: &[Token], ranged: &[Ranged]) -> Vec<Token> {
    let mut words = tokens.to_vec();
    for word in ranged {
        words[word.index].text.clone_from(&word.texts[0]);
    }
    words
}

/// Makes a command of each word of the list, and of each element of those with a range.
fn each_word(tokens: &[Token], ranged: &[Ranged]) -> Vec<Vec<Token>> {
    let is_word = |index: &usize| slots(tokens).any(|slot| slot.index == *index && slot.is_listed);
    let list: Vec<usize> = (0..tokens.len()).filter(is_word).collect();
    let others = |index: usize| {
        tokens
            .iter()
            .enumerate()
            .filter(move |(other, _)| *other != index)
    };
    let mut commands = Vec::new();
    for index in &list {
        let texts = match ranged.iter().find(|word| word.index == *index) {
            Some(word) => word.texts.clone(),
            None => vec![tokens[*index].text.clone()],
        };
        for text in texts {
            let mut words: Vec<(usize, Token)> = others(*index)
                .filter(|(other, _)| !list.contains(other))
                .map(|(other, token)| (other, token.clone()))
                .collect();
            let token = Token {
                text,
                ..tokens[*index].clone()
            };
            words.push((*index, token));
            words.sort_by_key(|(place, _)| *place);
            commands.push(words.into_iter().map(|(_, token)| token).collect());
        }
    }
    commands
}

/// Finds the words with ranges.
fn ranged(tokens: &[Token]) -> Result<Vec<Ranged>, Refused> {
    let mut found: Vec<Ranged> = Vec::new();
    // Most lines have none, and need not be walked to know it.
    if !tokens.iter().any(|token| token.text.contains(BRACKETS)) {
        return Ok(found);
    }
    for slot in slots(tokens) {
        let token = &tokens[slot.index];
        match elements(slot.kind, slot.name, &token.text) {
            Ok(None) => {}
            Ok(Some(texts)) => found.push(Ranged {
                index: slot.index,
                texts,
                is_listed: slot.is_listed,
            }),
            Err(fault) => {
                return Err(Refused {
                    fault: at(token, fault),
                    before: with_firsts(tokens, &found),
                });
            }
        }
    }
    Ok(found)
}

/// A word that is a name or an address.
struct Slot {
    index: usize,
    name: &'static str,
    kind: Kind,
    is_listed: bool,
}

/// Finds the names and addresses among the words of a command; none where it cannot be read.
fn slots(tokens: &[Token]) -> impl Iterator<Item = Slot> {
    let words: Vec<String> = tokens.iter().take(3).map(Token::typed).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let found = match head::command(&words) {
        Ok((spec, used)) => arguments(spec, tokens, used),
        Err(_) => Vec::new(),
    };
    found.into_iter().filter(|slot| match slot.kind {
        Kind::NewName(_)
        | Kind::Name(_)
        | Kind::BoundName
        | Kind::Address
        | Kind::ListenAddress
        | Kind::AddressOrName(_) => true,
        Kind::Flag
        | Kind::Text { .. }
        | Kind::PlainFile
        | Kind::Integer { .. }
        | Kind::Netmask
        | Kind::Port
        | Kind::ListenPort
        | Kind::Choice(_) => false,
    })
}

/// Says what each word from number `used` on is, up to the first that the parser will refuse.
fn arguments(spec: &'static CommandSpec, tokens: &[Token], used: usize) -> Vec<Slot> {
    let mut found = Vec::new();
    let mut positionals = 0;
    let mut pending: Vec<(&'static str, Kind)> = Vec::new();
    for (index, token) in tokens.iter().enumerate().skip(used) {
        if token.keyword {
            let Ok(row) = spec.find_option(token) else {
                break;
            };
            pending.clear();
            if !spec.names_only() && row.kind != Kind::Flag {
                pending.push((row.spelling, row.kind));
                pending.extend(row.then.map(|then| (then.spelling, then.kind)));
            }
        } else if !pending.is_empty() {
            let (name, kind) = pending.remove(0);
            let is_listed = false;
            found.push(Slot {
                index,
                name,
                kind,
                is_listed,
            });
        } else if let Some(slot) = positional(spec, positionals) {
            positionals += 1;
            found.push(Slot {
                index,
                name: slot.arg.spelling,
                kind: slot.arg.kind,
                is_listed: matches!(slot.times, Times::Many | Times::Any),
            });
        } else {
            break;
        }
    }
    found
}

fn positional(spec: &'static CommandSpec, index: usize) -> Option<&'static Positional> {
    let last = spec.positionals.last();
    spec.positionals
        .get(index)
        .or_else(|| last.filter(|slot| matches!(slot.times, Times::Many | Times::Any)))
}

/// Returns what `text` stands for; `None` without a range.
fn elements(kind: Kind, name: &str, text: &str) -> Result<Option<Vec<String>>, Fault> {
    let malformed =
        |hint: &str| Err(refused(catalogue::INVALID_RANGE, name, text).with_hint(hint.to_owned()));
    let Some(open) = text.find(BRACKETS) else {
        return Ok(None);
    };
    let (before, rest) = text.split_at(open);
    let inside = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let Some((inside, after)) = inside else {
        return malformed(SHAPE);
    };
    if inside.contains(':') {
        // It is an address in brackets, which the parser refuses in its own words.
        return Ok(None);
    }
    if after.contains('[') {
        return Err(refused(catalogue::SEVERAL_RANGES, name, text)
            .with_hint("another argument of the command may have a range of the same size"));
    }
    let Some((low, high)) = inside.split_once('-').filter(|_| !after.contains(']')) else {
        return malformed(SHAPE);
    };
    let is_hex = is_ipv6(kind, &format!("{before}{low}{after}"));
    if is_hex && after.contains('/') {
        return Err(refused(catalogue::RANGE_WITH_PREFIX, name, text));
    }
    let radix = if is_hex { 16 } else { 10 };
    let (Some(first), Some(last)) = (number(low, radix), number(high, radix)) else {
        return malformed(SHAPE);
    };
    if first > last {
        return Err(refused(catalogue::RANGE_REVERSED, name, text)
            .with_hint(format!("type {before}[{high}-{low}]{after}")));
    }
    if last - first >= RANGE_MAX {
        return malformed(&format!("a range has at most {RANGE_MAX} elements"));
    }
    let is_padded = [low, high]
        .iter()
        .any(|end| end.len() > 1 && end.starts_with('0'));
    let width = if is_padded {
        low.len().max(high.len())
    } else {
        0
    };
    let element = |number: u64| {
        if is_hex {
            format!("{before}{number:0width$x}{after}")
        } else {
            format!("{before}{number:0width$}{after}")
        }
    };
    Ok(Some((first..=last).map(element).collect()))
}

/// Tells whether `text`, the first element, is an IPv6 address, in which numbers are hexadecimal.
fn is_ipv6(kind: Kind, text: &str) -> bool {
    let address = text.split('/').next().unwrap_or(text);
    match kind {
        Kind::Address | Kind::ListenAddress => text.contains(':'),
        Kind::NewName(_)
        | Kind::Name(_)
        | Kind::BoundName
        | Kind::AddressOrName(_)
        | Kind::Flag
        | Kind::Text { .. }
        | Kind::PlainFile
        | Kind::Integer { .. }
        | Kind::Netmask
        | Kind::Port
        | Kind::ListenPort
        | Kind::Choice(_) => address.parse::<Ipv6Addr>().is_ok(),
    }
}

/// Reads digits alone: no sign, no blank.
fn number(digits: &str, radix: u32) -> Option<u64> {
    let is_digits = digits.chars().all(|c| c.is_digit(radix));
    is_digits.then(|| u64::from_str_radix(digits, radix).ok())?
}

const BRACKETS: [char; 2] = ['[', ']'];
const SHAPE: &str = "a range is two numbers in brackets: s[1-3]";
/// More than anybody means: each element is a command, and a slip must not run for hours.
const RANGE_MAX: u64 = 10_000;
/// As many refusals as a person reads.
const SHOWN_MAX: usize = 10;

#[cfg(test)]
mod tests;
