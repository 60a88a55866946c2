//! The words that name a command: verb, group, object.
//!
//! Every word may be cut to a unique prefix; the group may be left out; group and object may be
//! glued (`lbvserver`). A cut verb that could be one with an object and one without is the one with
//! an object (`a` is `add`, not `alias`), and `shell` is not cut at all: `sh` has always been `show`.

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
        return Err(missing("a command"));
    };
    let verb = verb_of(first, &words[1..]).map_err(|fault| HeadFault { fault, word: 0 })?;
    if let Some(spec) = table::spec(verb, Noun::None) {
        return Ok((spec, 1));
    }
    let (noun, used) = Scope::of_verb(verb).noun(&words[1..]).map_err(one_later)?;
    let spec = table::spec(verb, noun).expect("only nouns that take the verb were candidates");
    Ok((spec, used + 1))
}

/// Finds the verb `word` stands for.
///
/// # Errors
/// 1088, with the nearest verb, or 1089, with those it could be.
pub(crate) fn verb(word: &str) -> Result<Verb, Fault> {
    let with_object: Vec<(&'static str, Verb)> = verbs(takes_object);
    if let Pick::One(found) = pick(word, &with_object) {
        return Ok(found);
    }
    let is_whole = word.eq_ignore_ascii_case(table::verb_word(Verb::Shell));
    choose("", word, &verbs(|verb| verb != Verb::Shell || is_whole))
}

fn takes_object(verb: Verb) -> bool {
    table::spec(verb, Noun::None).is_none()
}

fn verbs(is_meant: impl Fn(Verb) -> bool) -> Vec<(&'static str, Verb)> {
    VERBS
        .iter()
        .filter(|(verb, _)| is_meant(*verb))
        .map(|(verb, text)| (*text, *verb))
        .collect()
}

/// As [`verb`], but of several verbs it names those only that `rest` can follow.
fn verb_of(word: &str, rest: &[&str]) -> Result<Verb, Fault> {
    verb(word).map_err(|fault| {
        let fitting = verbs(|verb| takes_object(verb) && Scope::of_verb(verb).noun(rest).is_ok());
        match pick(word, &fitting) {
            Pick::Several(words) => ambiguous(word, &words),
            Pick::One(_) | Pick::Nothing => fault,
        }
    })
}

/// The nouns among which words are looked up.
pub(crate) struct Scope {
    /// The words before, with a blank behind each, for messages.
    start: String,
    nouns: Vec<&'static NounSpec>,
}

/// What a word can stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entity {
    /// The first word of two.
    Group(&'static str),
    /// All that is needed.
    Object(Noun),
}

impl Scope {
    /// The nouns that `verb` can be done to.
    pub(crate) fn of_verb(verb: Verb) -> Self {
        Self {
            start: format!("{} ", table::verb_word(verb)),
            nouns: with_words()
                .filter(|noun| table::spec(verb, noun.noun).is_some())
                .collect(),
        }
    }

    /// All nouns.
    pub(crate) fn all() -> Self {
        Self {
            start: String::new(),
            nouns: with_words().collect(),
        }
    }

    /// Returns the nouns of this scope, in table order.
    pub(crate) fn nouns(&self) -> &[&'static NounSpec] {
        &self.nouns
    }

    /// Returns the scope behind the word `group`.
    pub(crate) fn in_group(&self, group: &str) -> Self {
        Self {
            start: format!("{}{group} ", self.start),
            nouns: self
                .nouns
                .iter()
                .copied()
                .filter(|noun| noun.group == Some(group))
                .collect(),
        }
    }

    /// Finds the noun that `words` begin with, and how many of them name it.
    ///
    /// # Errors
    /// As [`command`].
    pub(crate) fn noun(&self, words: &[&str]) -> Result<(Noun, usize), HeadFault> {
        let Some(first) = words.first() else {
            let nouns: Vec<String> = self
                .nouns
                .iter()
                .map(|noun| table::noun_words(noun.noun))
                .collect();
            let nouns: Vec<&str> = nouns.iter().map(String::as_str).collect();
            return Err(missing(&list(&nouns)));
        };
        match self.entity(first) {
            Ok(Entity::Object(noun)) => Ok((noun, 1)),
            Ok(Entity::Group(group)) => {
                let object = self.in_group(group).object(&words[1..]);
                Ok((object.map_err(one_later)?, 2))
            }
            Err(fault) => Err(HeadFault { fault, word: 0 }),
        }
    }

    /// Finds what the first word after the verb stands for.
    ///
    /// # Errors
    /// 1088 or 1089.
    pub(crate) fn entity(&self, word: &str) -> Result<Entity, Fault> {
        let (own, others): (Vec<_>, Vec<_>) = self
            .nouns
            .iter()
            .partition(|noun| noun.group == Some(OF_SHELL));
        let mut candidates = entities(&others);
        if pick(word, &candidates) == Pick::Nothing {
            candidates.extend(entities(&own));
        }
        choose(&self.start, word, &candidates)
            .or_else(|fault| self.glued(word).map(Entity::Object).ok_or(fault))
    }

    /// Finds the object that the word after its group stands for.
    fn object(&self, words: &[&str]) -> Result<Noun, HeadFault> {
        let candidates: Vec<(&'static str, Noun)> = self
            .nouns
            .iter()
            .map(|noun| (noun.object, noun.noun))
            .collect();
        let Some(word) = words.first() else {
            let words: Vec<&str> = candidates.iter().map(|(word, _)| *word).collect();
            return Err(missing(&list(&words)));
        };
        choose(&self.start, word, &candidates).map_err(|fault| HeadFault { fault, word: 0 })
    }

    /// Finds the noun for words written as one: `lbvserver`, `lbvs`. The group must be there in
    /// full.
    fn glued(&self, word: &str) -> Option<Noun> {
        let mut matching = self.nouns.iter().filter(|noun| {
            noun.group.is_some_and(|group| {
                word.len() > group.len() && has_prefix(&format!("{group}{}", noun.object), word)
            })
        });
        let found = matching.next()?;
        matching.next().is_none().then_some(found.noun)
    }
}

fn with_words() -> impl Iterator<Item = &'static NounSpec> {
    NOUNS.iter().copied().filter(|noun| noun.noun != Noun::None)
}

fn entities(nouns: &[&'static NounSpec]) -> Vec<(&'static str, Entity)> {
    let groups = nouns.iter().filter_map(|noun| noun.group);
    let groups = groups.map(|group| (group, Entity::Group(group)));
    let objects = nouns
        .iter()
        .map(|noun| (noun.object, Entity::Object(noun.noun)));
    groups.chain(objects).collect()
}

/// The group of the shell's own settings: what is cut is looked for elsewhere first, so that
/// `clear c` stays `clear ns config`.
const OF_SHELL: &str = "cli";

/// Picks what `word` stands for; `start` are the words before it.
fn choose<T: PartialEq + Copy>(
    start: &str,
    word: &str,
    candidates: &[(&'static str, T)],
) -> Result<T, Fault> {
    match pick(word, candidates) {
        Pick::One(target) => Ok(target),
        Pick::Several(words) => Err(ambiguous(word, &words)),
        Pick::Nothing => {
            let fault = Fault::new(catalogue::NO_SUCH_COMMAND)
                .with_details(format!("{start}{}", shown(word)));
            let hint = match nearest(word, candidates.iter().map(|(text, _)| *text)) {
                Some(near) => format!("did you mean {start}{near}?"),
                None => "type help for the list of commands".to_owned(),
            };
            Err(fault.with_hint(hint))
        }
    }
}

fn ambiguous(word: &str, words: &[&str]) -> Fault {
    Fault::new(catalogue::AMBIGUOUS_COMMAND)
        .with_details(shown(word))
        .with_hint(format!("it could be {}", list(words)))
}

fn missing(what: &str) -> HeadFault {
    HeadFault {
        fault: Fault::new(catalogue::INCOMPLETE_COMMAND).with_hint(format!("next comes {what}")),
        word: 0,
    }
}

fn one_later(mut refusal: HeadFault) -> HeadFault {
    refusal.word += 1;
    refusal
}
