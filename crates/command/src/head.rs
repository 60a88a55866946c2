//! The words that name a command: verb, group, object.
//!
//! Every word may be cut to a unique prefix; the group may be left out; group and object may be glued
//! (`lbvserver`).

use crate::table::{self, CommandSpec, NOUNS, NounSpec, VERBS};
use crate::value::{list, shown};
use crate::words::{Pick, has_prefix, nearest, pick};
use crate::{Fault, Noun, Verb, catalogue};

/// A refusal, and the word it is about; one past the last is "a word is missing".
#[derive(Debug)]
pub(crate) struct HeadFault {
    pub(crate) fault: Fault,
    pub(crate) word: usize,
}

/// Finds the command that `words` begin with, and how many of them name it.
///
/// # Errors
/// 1088 for an unknown word, 1089 for an ambiguous one, 1128 when words are missing.
pub(crate) fn command(words: &[&str]) -> Result<(&'static CommandSpec, usize), HeadFault> {
    let Some(first) = words.first() else {
        return Err(missing(0, "a command".to_owned()));
    };
    let verb = verb(first).map_err(|fault| HeadFault { fault, word: 0 })?;
    if let Some(spec) = table::spec(verb, Noun::None) {
        return Ok((spec, 1));
    }
    let (noun, used) = noun(verb, &words[1..]).map_err(|mut refusal| {
        refusal.word += 1;
        refusal
    })?;
    let spec = table::spec(verb, noun).expect("only nouns that take the verb were candidates");
    Ok((spec, used + 1))
}

/// Finds the verb `word` stands for.
///
/// # Errors
/// 1088, with the nearest verb, or 1089, with those it could be.
pub(crate) fn verb(word: &str) -> Result<Verb, Fault> {
    let candidates: Vec<(&'static str, Verb)> =
        VERBS.iter().map(|(verb, text)| (*text, *verb)).collect();
    match pick(word, &candidates) {
        Pick::One(verb) => Ok(verb),
        Pick::Several(verbs) => Err(ambiguous(word, &verbs)),
        Pick::Nothing => {
            let near = nearest(word, candidates.iter().map(|(text, _)| *text));
            Err(unknown(&shown(word), near.map(str::to_owned)))
        }
    }
}

/// Returns the nouns that `verb` can be done to, in table order.
pub(crate) fn nouns(verb: Verb) -> impl Iterator<Item = &'static NounSpec> {
    NOUNS
        .iter()
        .copied()
        .filter(move |noun| noun.noun != Noun::None && table::spec(verb, noun.noun).is_some())
}

/// What the first word after a verb can stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entity {
    Group(&'static str),
    Object(Noun),
}

fn noun(verb: Verb, words: &[&str]) -> Result<(Noun, usize), HeadFault> {
    let Some(first) = words.first() else {
        return Err(missing(0, object_list(verb)));
    };
    match entity(verb, first).map_err(|fault| HeadFault { fault, word: 0 })? {
        Entity::Object(noun) => Ok((noun, 1)),
        Entity::Group(group) => object(verb, group, &words[1..]).map_err(|mut refusal| {
            refusal.word += 1;
            refusal
        }),
    }
}

fn entity(verb: Verb, word: &str) -> Result<Entity, Fault> {
    let mut candidates: Vec<(&'static str, Entity)> = Vec::new();
    for noun in nouns(verb) {
        if let Some(group) = noun.group {
            candidates.push((group, Entity::Group(group)));
        }
        candidates.push((noun.object, Entity::Object(noun.noun)));
    }
    match pick(word, &candidates) {
        Pick::One(entity) => Ok(entity),
        Pick::Several(words) => Err(ambiguous(word, &words)),
        Pick::Nothing => {
            if let Some(noun) = glued(verb, word) {
                return Ok(Entity::Object(noun));
            }
            let near = nearest(word, candidates.iter().map(|(text, _)| *text));
            let verb = table::verb_word(verb);
            Err(unknown(
                &format!("{verb} {}", shown(word)),
                near.map(|near| format!("{verb} {near}")),
            ))
        }
    }
}

/// Finds the noun for words written as one: `lbvserver`, `lbvs`. The group must be there in full.
fn glued(verb: Verb, word: &str) -> Option<Noun> {
    let mut matching = nouns(verb).filter(|noun| {
        noun.group.is_some_and(|group| {
            word.len() > group.len() && has_prefix(&format!("{group}{}", noun.object), word)
        })
    });
    let found = matching.next()?;
    matching.next().is_none().then_some(found.noun)
}

fn object(verb: Verb, group: &str, words: &[&str]) -> Result<(Noun, usize), HeadFault> {
    let candidates: Vec<(&'static str, Noun)> = nouns(verb)
        .filter(|noun| noun.group == Some(group))
        .map(|noun| (noun.object, noun.noun))
        .collect();
    let Some(word) = words.first() else {
        let words: Vec<&str> = candidates.iter().map(|(word, _)| *word).collect();
        return Err(missing(0, list(&words)));
    };
    let fault = match pick(word, &candidates) {
        Pick::One(noun) => return Ok((noun, 2)),
        Pick::Several(words) => ambiguous(word, &words),
        Pick::Nothing => {
            let near = nearest(word, candidates.iter().map(|(text, _)| *text));
            let start = format!("{} {group}", table::verb_word(verb));
            unknown(
                &format!("{start} {}", shown(word)),
                near.map(|near| format!("{start} {near}")),
            )
        }
    };
    Err(HeadFault { fault, word: 0 })
}

fn object_list(verb: Verb) -> String {
    let words: Vec<String> = nouns(verb)
        .map(|noun| table::noun_words(noun.noun))
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    list(&words)
}

fn missing(word: usize, what: String) -> HeadFault {
    let fault = Fault::new(catalogue::INCOMPLETE_COMMAND).with_hint(format!("next comes {what}"));
    HeadFault { fault, word }
}

fn ambiguous(word: &str, candidates: &[&str]) -> Fault {
    Fault::new(catalogue::AMBIGUOUS_COMMAND)
        .with_details(shown(word))
        .with_hint(format!("it could be {}", list(candidates)))
}

fn unknown(words: &str, near: Option<String>) -> Fault {
    let fault = Fault::new(catalogue::NO_SUCH_COMMAND).with_details(words);
    match near {
        Some(near) => fault.with_hint(format!("did you mean {near}?")),
        None => fault.with_hint("type help for the list of commands".to_owned()),
    }
}
