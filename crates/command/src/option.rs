//! The options of a command: keywords and their values.

use crate::lex::Token;
use crate::parse::{ParseFault, at, is_negative, negative};
use crate::table::{ArgSpec, CommandSpec, Kind};
use crate::value::{allowed, list, read, shown};
use crate::words::{Pick, nearest, pick};
use crate::{Arg, Fault, Key, Value, catalogue, table};

/// Reads the options of one command.
pub(crate) struct Options {
    spec: &'static CommandSpec,
    /// Where the line ends: the place of a value that is missing.
    end: usize,
    args: Vec<Arg>,
}

impl Options {
    pub(crate) fn new(spec: &'static CommandSpec, end: usize) -> Self {
        Self {
            spec,
            end,
            args: Vec::new(),
        }
    }

    /// Reads `tokens`, the first of which is a keyword, to their end.
    ///
    /// # Errors
    /// The first fault from the left; after the last word, a required option that is missing.
    pub(crate) fn read(mut self, tokens: &[Token]) -> Result<Vec<Arg>, ParseFault> {
        let mut rest = tokens;
        while let Some((keyword, after)) = rest.split_first() {
            let row = self.spec.find_option(keyword)?;
            let used = self.option(row, keyword, after)?;
            rest = &after[used..];
            if let Some(extra) = rest.first().filter(|token| !token.keyword) {
                return Err(at(extra, self.too_many(row, extra)));
            }
        }
        match self.missing() {
            Some(fault) => Err(ParseFault {
                fault,
                span: self.end..self.end,
            }),
            None => Ok(self.args),
        }
    }

    /// Returns the first word that no option takes as a value, if all before it is in order.
    pub(crate) fn leftover(mut self, tokens: &[Token]) -> Option<&Token> {
        let mut rest = tokens;
        while let Some((keyword, after)) = rest.split_first() {
            if !keyword.keyword {
                return Some(keyword);
            }
            let row = self.spec.find_option(keyword).ok()?;
            let used = self.option(row, keyword, after).ok()?;
            rest = &after[used..];
        }
        None
    }

    /// Reads the values of one option from `after`. Returns how many words they were.
    fn option(
        &mut self,
        row: &'static ArgSpec,
        keyword: &Token,
        after: &[Token],
    ) -> Result<usize, ParseFault> {
        self.once(row.key, row.spelling, keyword)?;
        if row.kind == Kind::Flag || self.spec.names_only() {
            self.push(row.key, Vec::new());
            return Ok(0);
        }
        let first = self.value(row.kind, row.spelling, row.spelling, after.first())?;
        let Some(then) = row.then else {
            self.push(row.key, vec![first]);
            return Ok(1);
        };
        if !then.required && after.get(1).is_none_or(|token| token.keyword) {
            self.push(row.key, vec![first]);
            return Ok(1);
        }
        let second = self.value(then.kind, row.spelling, then.spelling, after.get(1))?;
        match then.key {
            None => self.push(row.key, vec![first, second]),
            Some(key) => {
                self.push(row.key, vec![first]);
                self.once(key, then.spelling, after.get(1).unwrap_or(keyword))?;
                self.push(key, vec![second]);
            }
        }
        Ok(2)
    }

    fn push(&mut self, key: Key, values: Vec<Value>) {
        self.args.push(Arg { key, values });
    }

    fn once(&self, key: Key, spelling: &str, token: &Token) -> Result<(), ParseFault> {
        if self.args.iter().any(|arg| arg.key == key) {
            let fault = Fault::new(catalogue::ARGUMENT_REPEATED)
                .with_details(spelling)
                .with_hint(format!("give {spelling} once"));
            return Err(at(token, fault));
        }
        Ok(())
    }

    /// Reads the value `name` of `option`.
    fn value(
        &self,
        kind: Kind,
        option: &str,
        name: &str,
        token: Option<&Token>,
    ) -> Result<Value, ParseFault> {
        if let Some(token) = token
            && !token.keyword
        {
            return read(kind, name, &token.text).map_err(|fault| at(token, fault));
        }
        if let Some(token) = token
            && matches!(kind, Kind::Integer { .. })
            && is_negative(token)
        {
            return Err(at(token, negative(kind, name, token)));
        }
        let details = if option == name {
            name.to_owned()
        } else {
            format!("{option}, {name}")
        };
        let mut fault = Fault::new(catalogue::VALUE_MISSING)
            .with_details(details)
            .with_hint(format!("{name} is {}", allowed(kind)));
        if token.is_some_and(|token| self.spec.find_option(token).is_err()) {
            fault = fault.with_hint("a value that begins with '-' stands in quotes");
        }
        let span = token.map_or(self.end..self.end, |token| token.span.clone());
        Err(ParseFault { fault, span })
    }

    fn too_many(&self, row: &ArgSpec, extra: &Token) -> Fault {
        let fault = Fault::new(catalogue::TOO_MANY_VALUES).with_details(format!(
            "{}, {}",
            row.spelling,
            shown(&extra.text)
        ));
        if self.spec.names_only() {
            fault.with_hint("unset takes the names of options, without values")
        } else if row.kind == Kind::Flag {
            fault.with_hint(format!("-{} takes no value", row.spelling))
        } else {
            fault.with_hint("a text with blanks stands in quotes: \"a b\"")
        }
    }

    fn missing(&self) -> Option<Fault> {
        let given = |key| self.args.iter().any(|arg| arg.key == key);
        let row = self
            .spec
            .options()
            .find(|row| row.required && !given(row.key))?;
        let fault = Fault::new(catalogue::ARGUMENT_MISSING)
            .with_details(row.spelling)
            .with_hint(format!("add -{} <{}>", row.spelling, row.spelling));
        Some(fault)
    }
}

impl CommandSpec {
    /// Finds the option that `keyword` stands for.
    ///
    /// # Errors
    /// 1090 with the nearest option, 1099 with those it could be.
    pub(crate) fn find_option(
        &'static self,
        keyword: &Token,
    ) -> Result<&'static ArgSpec, ParseFault> {
        let fault = match pick(&keyword.text, &self.spellings()) {
            Pick::One(key) => {
                return Ok(self.option(key).expect("its spellings came from its rows"));
            }
            Pick::Several(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("-{word}")).collect();
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                Fault::new(catalogue::AMBIGUOUS_ARGUMENT)
                    .with_details(shown(&keyword.typed()))
                    .with_hint(format!("it could be {}", list(&words)))
            }
            Pick::Nothing => self.unknown_option(keyword),
        };
        Err(at(keyword, fault))
    }

    /// Returns the option whose name `word` most likely is.
    pub(crate) fn option_near(&self, word: &str) -> Option<&'static str> {
        nearest(word, self.spellings().iter().map(|(spelling, _)| *spelling))
    }

    fn spellings(&self) -> Vec<(&'static str, Key)> {
        self.options()
            .flat_map(|row| {
                std::iter::once(&row.spelling)
                    .chain(row.aliases)
                    .map(|spelling| (*spelling, row.key))
            })
            .collect()
    }

    fn unknown_option(&self, keyword: &Token) -> Fault {
        let fault = Fault::new(catalogue::NO_SUCH_ARGUMENT).with_details(shown(&keyword.typed()));
        if is_negative(keyword) {
            return fault.with_hint("a value that begins with '-' stands in quotes");
        }
        // Known elsewhere on the same noun: say so, since the name is right and the verb is not.
        let command = |verb| {
            format!(
                "{} {}",
                table::verb_word(verb),
                table::noun_words(self.noun)
            )
        };
        let elsewhere = table::noun(self.noun).commands.iter().find_map(|other| {
            other
                .options()
                .find(|row| row.spelling.eq_ignore_ascii_case(&keyword.text))
                .map(|row| (row.spelling, other.verb))
        });
        if let Some((spelling, verb)) = elsewhere {
            return fault.with_hint(format!("-{spelling} is an option of {}", command(verb)));
        }
        match self.option_near(&keyword.text) {
            Some(near) => fault.with_hint(format!("did you mean -{near}?")),
            None => fault.with_hint(format!("type help {} for its options", command(self.verb))),
        }
    }
}
