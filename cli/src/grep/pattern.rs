//! POSIX regular expressions, basic and extended, to the syntax of the `regex` crate.
//!
//! Source: POSIX.1-2017, chapter 9, with what GNU grep adds: `\+ \? \|` in basic ones, `\< \> \b \B
//! \w \W \s \S` in both, and a repetition with nothing before it that stands for itself.

use std::iter::Peekable;
use std::str::Chars;

use thiserror::Error;

/// Which kind of regular expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    /// `\(`, `\{` and `\|` are special, `(`, `{` and `|` are not.
    Basic,
    /// The other way round.
    Extended,
}

/// Why a pattern is none.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum Problem {
    /// A bracket, a group or an interval has no end.
    #[error("{0} is not closed")]
    Open(&'static str),
    /// A group ends that has not begun.
    #[error("{0} closes nothing")]
    Closed(&'static str),
    /// What stands between braces is no interval.
    #[error("{{{0}}} is no number of times; that is {{n}}, {{n,}} or {{n,m}}, up to 255")]
    Interval(String),
    /// `\1`
    #[error("back-references are not supported")]
    BackReference,
    /// A backslash ends the pattern.
    #[error("it ends with a backslash")]
    Backslash,
    /// `[z-a]`
    #[error("the range {0}-{1} runs backwards")]
    Range(char, char),
    /// `[[:nosuch:]]`
    #[error("there is no class [{0}]")]
    Class(String),
}

/// Returns `pattern` in the syntax of the `regex` crate.
///
/// # Errors
/// It is no regular expression, or one with back-references.
pub(super) fn translate(pattern: &str, syntax: Syntax) -> Result<String, Problem> {
    Translator {
        rest: pattern.chars().peekable(),
        syntax,
        out: String::new(),
        groups: Vec::new(),
        last: Last::Nothing,
    }
    .run()
}

struct Translator<'a> {
    rest: Peekable<Chars<'a>>,
    syntax: Syntax,
    out: String,
    /// Where in `out` the groups begin that are open.
    groups: Vec<usize>,
    last: Last,
}

/// What stands before, that a repetition would be of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// The beginning of the pattern, of a group or of an alternative.
    Nothing,
    /// An anchor.
    Anchor,
    /// Something that begins there in `out`.
    Atom(usize),
    /// The same, repeated already.
    Repeated(usize),
}

/// What a character, or one behind a backslash, is.
enum Sign {
    Literal(char),
    Any,
    Bracket,
    Open,
    Close,
    Or,
    Repeat(&'static str),
    Interval,
    Start,
    End,
    /// An assertion or class that both syntaxes write alike.
    Same(char),
}

impl Translator<'_> {
    fn run(mut self) -> Result<String, Problem> {
        while let Some(sign) = self.sign()? {
            self.translate(sign)?;
        }
        match self.groups.is_empty() {
            true => Ok(self.out),
            false => Err(Problem::Open(self.bracket("(", r"\("))),
        }
    }

    fn translate(&mut self, sign: Sign) -> Result<(), Problem> {
        match sign {
            Sign::Literal(c) => self.literal(c),
            Sign::Any => self.atom("."),
            Sign::Bracket => {
                let class = self.class()?;
                self.atom(&class);
            }
            Sign::Open => {
                self.groups.push(self.out.len());
                self.out.push_str("(?:");
                self.last = Last::Nothing;
            }
            Sign::Close => {
                let start = self.groups.pop();
                let start = start.ok_or_else(|| Problem::Closed(self.bracket(")", r"\)")))?;
                self.out.push(')');
                self.last = Last::Atom(start);
            }
            Sign::Or => {
                self.out.push('|');
                self.last = Last::Nothing;
            }
            Sign::Repeat(operator) => self.repeat(operator),
            Sign::Interval => self.interval()?,
            Sign::Start => self.anchor("^"),
            Sign::End => self.anchor("$"),
            Sign::Same(c @ ('w' | 'W' | 's' | 'S')) => self.atom(&format!(r"\{c}")),
            Sign::Same('<') => self.anchor(r"\b{start}"),
            Sign::Same('>') => self.anchor(r"\b{end}"),
            Sign::Same(c) => self.anchor(&format!(r"\{c}")),
        }
        Ok(())
    }

    /// Reads the next sign; `None` at the end.
    fn sign(&mut self) -> Result<Option<Sign>, Problem> {
        let Some(c) = self.rest.next() else {
            return Ok(None);
        };
        let basic = self.syntax == Syntax::Basic;
        Ok(Some(match c {
            '\\' => return self.escaped().map(Some),
            '.' => Sign::Any,
            '[' => Sign::Bracket,
            '*' => Sign::Repeat("*"),
            '^' if !basic || self.last == Last::Nothing => Sign::Start,
            '$' if !basic || self.ends_here() => Sign::End,
            '(' if !basic => Sign::Open,
            ')' if !basic => Sign::Close,
            '|' if !basic => Sign::Or,
            '+' if !basic => Sign::Repeat("+"),
            '?' if !basic => Sign::Repeat("?"),
            '{' if !basic => Sign::Interval,
            other => Sign::Literal(other),
        }))
    }

    fn escaped(&mut self) -> Result<Sign, Problem> {
        let basic = self.syntax == Syntax::Basic;
        Ok(match self.rest.next().ok_or(Problem::Backslash)? {
            '(' if basic => Sign::Open,
            ')' if basic => Sign::Close,
            '|' if basic => Sign::Or,
            '+' if basic => Sign::Repeat("+"),
            '?' if basic => Sign::Repeat("?"),
            '{' if basic => Sign::Interval,
            '1'..='9' => return Err(Problem::BackReference),
            c @ ('w' | 'W' | 's' | 'S' | 'b' | 'B' | '<' | '>') => Sign::Same(c),
            other => Sign::Literal(other),
        })
    }

    /// Tells whether `$` is an anchor in a basic expression: at its end, or that of a group or an
    /// alternative.
    fn ends_here(&self) -> bool {
        let mut rest = self.rest.clone();
        match rest.next() {
            None => true,
            Some('\\') => matches!(rest.next(), Some(')' | '|')),
            Some(_) => false,
        }
    }

    fn bracket(&self, extended: &'static str, basic: &'static str) -> &'static str {
        match self.syntax {
            Syntax::Basic => basic,
            Syntax::Extended => extended,
        }
    }

    fn atom(&mut self, text: &str) {
        self.last = Last::Atom(self.out.len());
        self.out.push_str(text);
    }

    fn literal(&mut self, c: char) {
        self.last = Last::Atom(self.out.len());
        push_literal(&mut self.out, c);
    }

    fn anchor(&mut self, text: &str) {
        self.out.push_str(text);
        self.last = Last::Anchor;
    }

    /// Repeats what stands before; with nothing before it the sign stands for itself.
    fn repeat(&mut self, operator: &str) {
        match self.last {
            Last::Nothing | Last::Anchor => {
                for c in operator.chars() {
                    self.literal(c);
                }
            }
            Last::Atom(start) => {
                self.out.push_str(operator);
                self.last = Last::Repeated(start);
            }
            Last::Repeated(start) => {
                // As it is, `a*?` would ask for the shortest.
                self.out.insert_str(start, "(?:");
                self.out.push(')');
                self.out.push_str(operator);
            }
        }
    }

    /// Reads `{n}`, `{n,}` or `{n,m}` behind its first brace. In an extended expression braces
    /// around something else stand for themselves.
    fn interval(&mut self) -> Result<(), Problem> {
        let basic = self.syntax == Syntax::Basic;
        let ahead: String = self.rest.clone().collect();
        let close = if basic { r"\}" } else { "}" };
        let inside = ahead.split_once(close).map(|(inside, _)| inside);
        if basic && inside.is_none() {
            return Err(Problem::Open(r"\{"));
        }
        let inside = inside.unwrap_or_default();
        let nothing_before = matches!(self.last, Last::Nothing | Last::Anchor);
        let is_numbers = inside.starts_with(|c: char| c.is_ascii_digit() || c == ',')
            && inside.chars().all(|c| c.is_ascii_digit() || c == ',');
        if !basic && (!is_numbers || nothing_before) {
            self.literal('{');
            return Ok(());
        }
        let operator = times(inside).ok_or_else(|| Problem::Interval(inside.to_owned()))?;
        for _ in 0..inside.chars().count() + close.len() {
            self.rest.next();
        }
        if !nothing_before {
            self.repeat(&operator);
            return Ok(());
        }
        // A basic interval of nothing: as GNU grep does, its text.
        for c in operator.chars() {
            self.literal(c);
        }
        Ok(())
    }

    /// Reads a bracket expression behind its `[`.
    fn class(&mut self) -> Result<String, Problem> {
        let mut out = String::from("[");
        if self.rest.next_if_eq(&'^').is_some() {
            out.push('^');
        }
        let mut is_first = true;
        loop {
            let c = self.rest.next().ok_or(Problem::Open("["))?;
            match c {
                ']' if !is_first => break,
                '[' if matches!(self.rest.peek(), Some(':' | '.' | '=')) => {
                    out.push_str(&self.named()?);
                }
                from => {
                    push_literal(&mut out, from);
                    if let Some(to) = self.range_end() {
                        if to < from {
                            return Err(Problem::Range(from, to));
                        }
                        out.push('-');
                        push_literal(&mut out, to);
                    }
                }
            }
            is_first = false;
        }
        out.push(']');
        Ok(out)
    }

    /// Reads `-z`, unless the `-` ends the bracket expression and so stands for itself.
    fn range_end(&mut self) -> Option<char> {
        let mut rest = self.rest.clone();
        let is_range = rest.next() == Some('-') && rest.next().is_some_and(|to| to != ']');
        if !is_range {
            return None;
        }
        self.rest.next();
        self.rest.next()
    }

    /// Reads `[:alpha:]` behind its `[`.
    fn named(&mut self) -> Result<String, Problem> {
        let mark = self.rest.next().ok_or(Problem::Open("["))?;
        let mut name = String::new();
        loop {
            let c = self.rest.next().ok_or(Problem::Open("["))?;
            if c == mark && self.rest.next_if_eq(&']').is_some() {
                break;
            }
            name.push(c);
        }
        if mark == ':' && CLASSES.contains(&name.as_str()) {
            return Ok(format!("[:{name}:]"));
        }
        Err(Problem::Class(format!("{mark}{name}{mark}")))
    }
}

fn push_literal(out: &mut String, c: char) {
    // In the library's syntax any ASCII sign may be escaped, and no letter.
    if c.is_ascii_punctuation() {
        out.push('\\');
    }
    out.push(c);
}

fn times(inside: &str) -> Option<String> {
    let number = |text: &str| text.parse::<u8>().ok();
    match inside.split_once(',') {
        None => number(inside).map(|times| format!("{{{times}}}")),
        Some((from, "")) => number(from).map(|from| format!("{{{from},}}")),
        Some((from, to)) => {
            let from = if from.is_empty() { 0 } else { number(from)? };
            let to = number(to)?;
            (from <= to).then(|| format!("{{{from},{to}}}"))
        }
    }
}

const CLASSES: [&str; 12] = [
    "alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space",
    "upper", "xdigit",
];

#[cfg(test)]
mod tests;
