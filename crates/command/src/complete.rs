//! What can be typed at the cursor.
//!
//! Reads the words before the cursor as the parser would, but stops asking at the first that is
//! wrong: then there is nothing to offer.

use crate::head::{self, Entity, HeadFault, Scope};
use crate::help;
use crate::lex::{self, Problem, Token};
use crate::pipe;
use crate::table::{self, CommandSpec, Kind, Positional, Times, VERBS};
use crate::words::has_prefix;
use crate::{Key, Noun, Verb, catalogue, quote};

/// What can stand in the place of the word at the cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// Where that word begins; what stands from here to the cursor is replaced.
    pub start: usize,
    /// What can stand there, in table order, names in the order they were given.
    pub candidates: Vec<Candidate>,
}

/// A word that can stand there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// As it is typed, quotes included.
    pub text: String,
    /// What it means, one sentence without a full stop; empty for a name.
    pub description: String,
}

/// Completes the word of `line` that ends at byte `cursor`: verbs, objects, options that are not
/// given yet, values of closed lists, and `names` of objects that exist. `names` is asked at most
/// once.
pub fn complete(line: &str, cursor: usize, names: &dyn Fn(Noun) -> Vec<String>) -> Completion {
    let line = &line[..line.floor_char_boundary(cursor)];
    if let Some(found) = pipe::complete(line) {
        return found;
    }
    let Some((before, word)) = split(line) else {
        return Completion {
            start: line.len(),
            candidates: Vec::new(),
        };
    };
    let start = word.span.start;
    let at = Place { word, names };
    Completion {
        start,
        candidates: at.candidates(&before).unwrap_or_default(),
    }
}

/// Explains the value that is expected at byte `cursor` of `line`: what it means, what it may be,
/// what holds without it. `None` where no value is expected.
pub fn explain_value(line: &str, cursor: usize) -> Option<String> {
    let (before, word) = split(&line[..line.floor_char_boundary(cursor)])?;
    let words: Vec<String> = before.iter().map(Token::typed).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (spec, used) = head::command(&words).ok()?;
    let given = Given::read(spec, &before[used..])?;
    if word.keyword {
        return None;
    }
    // What is pending belongs to the last option; only its end adds another key.
    let row = match (given.pending.first(), given.options.last()) {
        (Some(_), Some(key)) => spec.option(*key)?,
        (None, None) => &slot(spec, given.positionals.len())?.arg,
        (Some(_), None) | (None, Some(_)) => return None,
    };
    Some(help::argument(spec, row))
}

/// Splits `line` into the words before the cursor and the one at it, which may be empty or
/// unfinished. `None` in a comment, or where the words before cannot be read.
pub(crate) fn split(line: &str) -> Option<(Vec<Token>, Token)> {
    let word = |text: &str, start| Token {
        text: text.to_owned(),
        keyword: false,
        span: start..line.len(),
    };
    match lex::tokens(line) {
        Ok(mut tokens) => {
            let end = tokens.last().map_or(0, |token| token.span.end);
            let rest = &line[end..];
            if rest.is_empty() && end > 0 {
                let last = tokens.pop()?;
                return Some((tokens, last));
            }
            let blank = rest.trim_start_matches(lex::is_separator).is_empty();
            blank.then(|| (tokens, word("", line.len())))
        }
        // The word at the cursor is quoted and not finished.
        Err((tokens, fault)) if matches!(fault.problem, Problem::Quote(_)) => {
            let start = fault.token_start;
            let text = line[start..].trim_start_matches(['"', '\'']);
            Some((tokens, word(text, start)))
        }
        Err(_) => None,
    }
}

/// The word at the cursor, and where names come from.
struct Place<'a> {
    word: Token,
    names: &'a dyn Fn(Noun) -> Vec<String>,
}

/// What the words behind the command have been read as.
#[derive(Default)]
pub(crate) struct Given {
    pub(crate) positionals: Vec<String>,
    pub(crate) options: Vec<Key>,
    /// Values that the last option still takes, and whether it must have them.
    pub(crate) pending: Vec<(Kind, bool, Option<Key>)>,
}

impl Place<'_> {
    fn candidates(&self, before: &[Token]) -> Option<Vec<Candidate>> {
        let words: Vec<String> = before.iter().map(Token::typed).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match head::command(&words) {
            Ok((spec, 1)) if matches!(spec.verb, Verb::Help | Verb::Man) => {
                Some(self.topics(&words[1..]))
            }
            Ok((spec, used)) => self.arguments(spec, &before[used..]),
            Err(refusal) => Some(self.head(&words, &refusal)),
        }
    }

    /// Offers the next word of a command's name.
    fn head(&self, words: &[&str], refusal: &HeadFault) -> Vec<Candidate> {
        if refusal.fault.code != catalogue::INCOMPLETE_COMMAND.number {
            return Vec::new();
        }
        let Some(verb) = words.first().and_then(|word| head::verb(word).ok()) else {
            return self.verbs();
        };
        self.nouns(&Scope::of_verb(verb), &words[1..])
    }

    /// Offers the next word of what help can be asked about.
    fn topics(&self, words: &[&str]) -> Vec<Candidate> {
        match words.split_first() {
            None => {
                let mut found = self.verbs();
                found.extend(self.nouns(&Scope::all(), &[]));
                found
            }
            Some((first, rest)) => match head::verb(first) {
                Ok(verb) => self.nouns(&Scope::of_verb(verb), rest),
                Err(_) => self.nouns(&Scope::all(), words),
            },
        }
    }

    fn verbs(&self) -> Vec<Candidate> {
        let verbs = VERBS.iter().map(|(verb, word)| {
            let help = match table::spec(*verb, Noun::None) {
                Some(spec) => spec.help.to_owned(),
                None => {
                    let nouns = Scope::of_verb(*verb);
                    let words = nouns
                        .nouns()
                        .iter()
                        .map(|noun| table::noun_words(noun.noun));
                    words.collect::<Vec<_>>().join(", ")
                }
            };
            (*word, help)
        });
        self.matching(verbs)
    }

    /// Offers groups and objects, or the objects of the group that `words` name. An object whose
    /// group is left out is offered where it has been begun.
    fn nouns(&self, scope: &Scope, words: &[&str]) -> Vec<Candidate> {
        let objects = |scope: &Scope| {
            let nouns = scope.nouns().to_vec();
            self.matching(
                nouns
                    .into_iter()
                    .map(|noun| (noun.object, noun.help.to_owned())),
            )
        };
        match words {
            [] => {
                let mut found = self.groups(scope);
                if found.is_empty() {
                    found = objects(scope);
                }
                found
            }
            [word] => match scope.entity(word) {
                Ok(Entity::Group(group)) => objects(&scope.in_group(group)),
                Ok(Entity::Object(_)) | Err(_) => Vec::new(),
            },
            [_, _, ..] => Vec::new(),
        }
    }

    fn groups(&self, scope: &Scope) -> Vec<Candidate> {
        let mut words: Vec<(&str, String)> = Vec::new();
        for noun in scope.nouns() {
            let word = noun.group.unwrap_or(noun.object);
            match words.iter_mut().find(|(known, _)| *known == word) {
                Some((_, help)) => *help = format!("{help}; {}", noun.help),
                None => words.push((word, noun.help.to_owned())),
            }
        }
        self.matching(words.into_iter())
    }

    fn arguments(&self, spec: &'static CommandSpec, tokens: &[Token]) -> Option<Vec<Candidate>> {
        let given = Given::read(spec, tokens)?;
        let mut found = Vec::new();
        if let Some((kind, required, _)) = given.pending.first() {
            if !self.word.keyword {
                found = self.values(*kind, &[]);
            }
            if *required {
                return Some(found);
            }
        }
        if given.options.is_empty()
            && let Some(slot) = slot(spec, given.positionals.len())
        {
            if !self.word.keyword {
                found = self.values(slot.arg.kind, &given.positionals);
            }
            let more = matches!(slot.times, Times::Many) && !given.positionals.is_empty();
            if matches!(slot.times, Times::Once | Times::Together)
                || (matches!(slot.times, Times::Many) && !more)
            {
                return Some(found);
            }
        }
        if self.word.keyword || self.word.text.is_empty() {
            found.extend(self.options(spec, &given));
        }
        Some(found)
    }

    fn options(&self, spec: &'static CommandSpec, given: &Given) -> Vec<Candidate> {
        let rows: Vec<_> = spec
            .options()
            .filter(|row| !given.options.contains(&row.key))
            .collect();
        let begun = |word: &str| self.word.text.is_empty() || has_prefix(word, &self.word.text);
        let by_spelling = rows.iter().any(|row| begun(row.spelling));
        rows.into_iter()
            .filter(|row| {
                if by_spelling {
                    begun(row.spelling)
                } else {
                    row.aliases.iter().any(|alias| begun(alias))
                }
            })
            .map(|row| Candidate {
                text: format!("-{}", row.spelling),
                description: row.help.to_owned(),
            })
            .collect()
    }

    /// Offers values of `kind`, without the names in `taken`.
    fn values(&self, kind: Kind, taken: &[String]) -> Vec<Candidate> {
        match kind {
            Kind::Choice(choices) => self.matching(
                choices
                    .allowed
                    .iter()
                    .map(|(word, help)| (*word, (*help).to_owned())),
            ),
            Kind::Name(noun) | Kind::AddressOrName(noun) => self.named(&[noun], taken),
            Kind::BoundName => self.named(&[Noun::Service, Noun::ServiceGroup], taken),
            Kind::Flag
            | Kind::NewName(_)
            | Kind::Text { .. }
            | Kind::PlainFile
            | Kind::Integer { .. }
            | Kind::Address
            | Kind::ListenAddress
            | Kind::Netmask
            | Kind::Port
            | Kind::ListenPort => Vec::new(),
        }
    }

    /// Offers the names of all objects of these nouns.
    fn named(&self, nouns: &[Noun], taken: &[String]) -> Vec<Candidate> {
        let names = nouns.iter().flat_map(|noun| (self.names)(*noun));
        names
            .filter(|name| name.starts_with(&self.word.text) && !taken.contains(name))
            .map(|name| Candidate {
                text: quote(&name),
                description: String::new(),
            })
            .collect()
    }

    /// Returns those that the word at the cursor begins.
    fn matching<'b>(&self, words: impl Iterator<Item = (&'b str, String)>) -> Vec<Candidate> {
        let begun = &self.word;
        words
            .filter(|(word, _)| {
                !begun.keyword && (begun.text.is_empty() || has_prefix(word, &begun.text))
            })
            .map(|(word, description)| Candidate {
                text: word.to_owned(),
                description,
            })
            .collect()
    }
}

impl Given {
    /// Reads the words behind the command. `None` when one is wrong.
    pub(crate) fn read(spec: &'static CommandSpec, tokens: &[Token]) -> Option<Self> {
        let mut given = Self::default();
        for token in tokens {
            if token.keyword {
                given.begin_option(spec, token)?;
            } else if !given.pending.is_empty() {
                let (_, _, key) = given.pending.remove(0);
                given.options.extend(key);
            } else if given.options.is_empty() {
                slot(spec, given.positionals.len())?;
                given.positionals.push(token.text.clone());
            } else {
                return None;
            }
        }
        Some(given)
    }

    fn begin_option(&mut self, spec: &'static CommandSpec, keyword: &Token) -> Option<()> {
        let unfinished = self
            .pending
            .first()
            .is_some_and(|(_, required, _)| *required);
        let row = spec.find_option(keyword).ok()?;
        if unfinished || self.options.contains(&row.key) {
            return None;
        }
        self.options.push(row.key);
        self.pending.clear();
        if !spec.names_only() && row.kind != Kind::Flag {
            self.pending.push((row.kind, true, None));
            self.pending
                .extend(row.then.map(|then| (then.kind, then.required, then.key)));
        }
        Some(())
    }
}

/// Returns what the positional number `index` is; the last one may repeat.
pub(crate) fn slot(spec: &'static CommandSpec, index: usize) -> Option<&'static Positional> {
    spec.positionals.get(index).or_else(|| {
        spec.positionals
            .last()
            .filter(|slot| matches!(slot.times, Times::Many | Times::Any))
    })
}

#[cfg(test)]
mod tests;
