//! Words to a command, by the table.
//!
//! Positionals come first, in table order; options follow in any order. What stands where a
//! [`Command`] says it may be absent is filled in here (an address that is left out), so that two
//! spellings of one command give one value.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr};
use std::ops::Range;

use crate::head;
use crate::help::short_synopsis;
use crate::lex::{self, LexFault, Problem, Token};
use crate::option::Options;
use crate::render::spelling;
use crate::table::{CommandSpec, Kind, Positional, Times};
use crate::value::{allowed, read, refused, shown};
use crate::{Arg, Command, ConfigVerb, Fault, Key, Value, catalogue, range, render, table};

/// A refusal with the place it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseFault {
    /// What is wrong.
    pub fault: Fault,
    /// The bytes it is about; empty, at the end, where something is missing. For words of a command
    /// line: in the words joined by one blank.
    pub span: Range<usize>,
}

impl ParseFault {
    /// Returns `line` and below it a line that points at the fault.
    /// Shape: control characters of the line stand as blanks; one column a character.
    pub fn caret(&self, line: &str) -> String {
        let text: String = line
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        let count = |bytes: Range<usize>| {
            line.char_indices()
                .filter(|(index, _)| bytes.contains(index))
                .count()
        };
        let before = count(0..self.span.start);
        let marks = count(self.span.clone()).max(1);
        format!("{text}\n{}{}", " ".repeat(before), "^".repeat(marks))
    }
}

impl std::fmt::Display for ParseFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.fault.fmt(f)
    }
}

impl std::error::Error for ParseFault {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.fault)
    }
}

/// Reads one line that is one command. `None` is a blank line or a comment.
///
/// # Errors
/// The first fault from the left, where several could be named; or the line stands for several
/// commands, which only [`parse_all`] reads.
pub fn parse(line: &str) -> Result<Option<Command>, ParseFault> {
    single(commands(&parse_tokens(line)?)?)
}

/// Reads one line, which may stand for several commands: `add server s[1-3] 10.0.0.[1-3]`. None
/// are a blank line or a comment.
///
/// # Errors
/// The first fault from the left, where several could be named; of a line that stands for several
/// commands, that of the first which has one.
pub fn parse_all(line: &str) -> Result<Vec<Command>, ParseFault> {
    commands(&parse_tokens(line)?)
}

/// Splits a line into words.
pub(crate) fn parse_tokens(line: &str) -> Result<Vec<Token>, ParseFault> {
    lex::tokens(line).map_err(|(_, fault)| lex_fault(line, fault))
}

/// Reads the words of a program's arguments: each is one token, exactly as it stands. A word that
/// begins with `-` and contains no blank is an option keyword. A single word that contains blanks
/// is a line.
///
/// # Errors
/// As [`parse`].
pub fn parse_words(words: &[String]) -> Result<Option<Command>, ParseFault> {
    single(parse_words_all(words)?)
}

/// As [`parse_words`], of words that may stand for several commands.
///
/// # Errors
/// As [`parse_all`].
pub fn parse_words_all(words: &[String]) -> Result<Vec<Command>, ParseFault> {
    if let [line] = words
        && line.contains(lex::is_separator)
    {
        return parse_all(line);
    }
    commands(&word_tokens(words))
}

/// Makes one token of each word.
pub(crate) fn word_tokens(words: &[String]) -> Vec<Token> {
    let mut start = 0;
    let mut tokens = Vec::new();
    for word in words {
        let keyword = word.starts_with('-') && !word.contains(lex::is_separator);
        let end = start + word.len();
        tokens.push(Token {
            text: word[usize::from(keyword)..].to_owned(),
            keyword,
            span: start..end,
        });
        start = end + 1;
    }
    tokens
}

/// Checks a command that did not come from [`parse`] against the table.
///
/// # Errors
/// The fault that typing it would give; 278 where it is no command that can be typed.
pub fn check(command: &Command) -> Result<(), Fault> {
    let Some(spec) = table::spec(command.verb, command.noun) else {
        return Err(Fault::new(catalogue::NO_SUCH_COMMAND));
    };
    let known = |key| spelling(spec, key).is_some();
    if let Some(arg) = command.args.iter().find(|arg| !known(arg.key)) {
        return Err(Fault::new(catalogue::NO_SUCH_ARGUMENT).with_details(format!("{:?}", arg.key)));
    }
    // A command obeys the table exactly when it survives being written and read: one source of
    // truth.
    match parse(&render(command)) {
        Ok(Some(read)) if read == *command => Ok(()),
        Ok(_) => Err(Fault::new(catalogue::INVALID_ARGUMENT)),
        Err(refusal) => Err(refusal.fault),
    }
}

/// A refusal at `token`.
pub(crate) fn at(token: &Token, fault: Fault) -> ParseFault {
    ParseFault {
        fault,
        span: token.span.clone(),
    }
}

/// Refuses several commands where there can be one.
fn single(commands: Vec<Command>) -> Result<Option<Command>, ParseFault> {
    let mut commands = commands.into_iter();
    let first = commands.next();
    if commands.next().is_none() {
        return Ok(first);
    }
    Err(ParseFault {
        fault: Fault::new(catalogue::INVALID_RANGE).with_details("one command can stand here"),
        span: 0..0,
    })
}

fn commands(tokens: &[Token]) -> Result<Vec<Command>, ParseFault> {
    let all = match range::expand(tokens) {
        Ok(all) => all,
        Err(refused) => {
            // What is wrong further left is said first.
            let place = refused.fault.span.start;
            return match command(&refused.before) {
                Err(earlier) if earlier.span.start < place => Err(earlier),
                Ok(_) | Err(_) => Err(refused.fault),
            };
        }
    };
    let mut commands = Vec::new();
    for tokens in &all {
        commands.extend(command(tokens)?);
    }
    Ok(commands)
}

fn command(tokens: &[Token]) -> Result<Option<Command>, ParseFault> {
    let Some(last) = tokens.last() else {
        return Ok(None);
    };
    let end = last.span.end;
    let words: Vec<String> = tokens.iter().take(3).map(Token::typed).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (spec, used) = head::command(&words).map_err(|refusal| ParseFault {
        fault: refusal.fault,
        span: tokens
            .get(refusal.word)
            .map_or(end..end, |token| token.span.clone()),
    })?;
    let body = &*flags_last(spec, &tokens[used..]);
    let (mut args, positionals) = positionals(spec, body, end)?;
    let options = Options::new(spec, end).read(&body[positionals..])?;
    if options.is_empty() {
        demand_options(spec, end)?;
    }
    args.extend(options);
    Ok(Some(Command {
        verb: spec.verb,
        noun: spec.noun,
        args,
    }))
}

/// Moves flags that stand first behind all else: they take no value, so that the word behind them can only
/// be a positional, as in `clear ns config -force basic`.
fn flags_last<'a>(spec: &'static CommandSpec, tokens: &'a [Token]) -> Cow<'a, [Token]> {
    let is_flag = |token: &&Token| {
        let row = spec.find_option(token);
        !spec.names_only() && token.keyword && row.is_ok_and(|row| row.kind == Kind::Flag)
    };
    let (flags, rest) = tokens.split_at(tokens.iter().take_while(is_flag).count());
    if spec.positionals.is_empty()
        || flags.is_empty()
        || rest.first().is_none_or(|token| token.keyword)
    {
        return Cow::Borrowed(tokens);
    }
    Cow::Owned([rest, flags].concat())
}

/// Reads the words up to the first keyword. Returns their arguments, and how many words they were.
fn positionals(
    spec: &'static CommandSpec,
    tokens: &[Token],
    end: usize,
) -> Result<(Vec<Arg>, usize), ParseFault> {
    let count = tokens
        .iter()
        .position(|token| token.keyword)
        .unwrap_or(tokens.len());
    let mut words = tokens[..count].iter();
    let mut args: Vec<Arg> = Vec::new();
    let mut pair_begun = false;
    for slot in spec.positionals {
        let values = match slot.times {
            Times::Once | Times::Optional | Times::Together | Times::Else(_) => {
                words.next().as_slice().to_vec()
            }
            Times::Many | Times::Any => words.by_ref().collect(),
        };
        if !values.is_empty() {
            args.push(positional(slot, &values)?);
            pair_begun |= matches!(slot.times, Times::Else(_) | Times::Optional);
            continue;
        }
        match slot.times {
            Times::Optional | Times::Any => {}
            Times::Together if !pair_begun => {}
            Times::Else(text) if !pair_begun => args.push(left_out(slot, text)),
            Times::Together | Times::Else(_) | Times::Once | Times::Many => {
                return Err(absent(spec, slot, &tokens[count..], end));
            }
        }
    }
    if let Some(extra) = words.next() {
        return Err(at(extra, too_many(spec, extra)));
    }
    check_listen(&args, &tokens[..count], end)?;
    Ok((args, count))
}

fn positional(slot: &'static Positional, tokens: &[&Token]) -> Result<Arg, ParseFault> {
    let name = slot.arg.spelling;
    let mut values = Vec::new();
    for token in tokens {
        values.push(read(slot.arg.kind, name, &token.text).map_err(|fault| at(token, fault))?);
    }
    let address = matches!(slot.arg.kind, Kind::AddressOrName(_))
        && matches!(values.as_slice(), [Value::Address(_)]);
    let key = if address { Key::Address } else { slot.arg.key };
    Ok(Arg { key, values })
}

/// Makes the argument for a positional that was left out and has a meaning then.
fn left_out(slot: &'static Positional, text: &str) -> Arg {
    let value = read(slot.arg.kind, slot.arg.spelling, text);
    Arg {
        key: slot.arg.key,
        values: vec![value.expect("the table is tested for this")],
    }
}

/// Refuses the absence of a positional that is needed; `rest` begins with the first keyword.
fn absent(
    spec: &'static CommandSpec,
    slot: &'static Positional,
    rest: &[Token],
    end: usize,
) -> ParseFault {
    let (name, kind) = (slot.arg.spelling, slot.arg.kind);
    if let Some(keyword) = rest.first().filter(|keyword| is_negative(keyword))
        && matches!(kind, Kind::Port | Kind::ListenPort)
    {
        return at(keyword, negative(kind, name, keyword));
    }
    if let Some(word) = Options::new(spec, end).leftover(rest) {
        let fault = Fault::new(catalogue::OUT_OF_ORDER)
            .with_details(shown(&word.text))
            .with_hint("options come last");
        return at(word, fault);
    }
    let fault = Fault::new(catalogue::ARGUMENT_MISSING)
        .with_details(name)
        .with_hint(format!("{name} is {}", allowed(kind)));
    let at = rest.first().map_or(end, |keyword| keyword.span.start);
    ParseFault {
        fault,
        span: at..at,
    }
}

/// Checks what only an address and a port together can show: `0.0.0.0 0` is a virtual server that
/// cannot be reached directly, and neither stands without the other.
fn check_listen(args: &[Arg], tokens: &[Token], end: usize) -> Result<(), ParseFault> {
    let find = |key| {
        let index = args.iter().position(|arg| arg.key == key)?;
        let span = tokens
            .get(index)
            .map_or(end..end, |token| token.span.clone());
        Some((args[index].values.first()?, span))
    };
    let (Some((address, address_span)), Some((Value::Port(port), port_span))) =
        (find(Key::Address), find(Key::Port))
    else {
        return Ok(());
    };
    let nowhere = *address == Value::Address(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
    if nowhere && *port != 0 {
        return Err(ParseFault {
            fault: refused(catalogue::INVALID_ADDRESS, "IPAddress", "0.0.0.0").with_hint(
                "type * for any IPv4 address of this host, or 0.0.0.0 0 for a virtual server that \
                 clients cannot reach directly",
            ),
            span: address_span,
        });
    }
    if !nowhere && *port == 0 {
        return Err(ParseFault {
            fault: refused(catalogue::NOT_IN_RANGE, "port", "0")
                .with_hint("port is 1-65535, or 0 with the address 0.0.0.0"),
            span: port_span,
        });
    }
    Ok(())
}

fn too_many(spec: &'static CommandSpec, extra: &Token) -> Fault {
    let last = spec.positionals.last();
    let details = match last {
        Some(slot) => format!("{}, {}", slot.arg.spelling, shown(&extra.text)),
        None => shown(&extra.text),
    };
    let fault = Fault::new(catalogue::TOO_MANY_VALUES).with_details(details);
    match spec.option_near(&extra.text) {
        Some(option) => fault.with_hint(format!("did you mean -{option}?")),
        None if last.is_none() => {
            fault.with_hint(format!("the command is {}", short_synopsis(spec)))
        }
        None => fault.with_hint("a text with blanks stands in quotes: \"a b\""),
    }
}

/// Refuses a command that needs options and has none.
fn demand_options(spec: &'static CommandSpec, end: usize) -> Result<(), ParseFault> {
    if spec.options().next().is_none() {
        return Ok(());
    }
    let code = match spec.verb.configuring() {
        Some(ConfigVerb::Set) => catalogue::NO_ARGUMENTS_TO_SET,
        Some(ConfigVerb::Unset) => catalogue::TOO_FEW_ARGUMENTS,
        Some(
            ConfigVerb::Add
            | ConfigVerb::Rm
            | ConfigVerb::Enable
            | ConfigVerb::Disable
            | ConfigVerb::Bind
            | ConfigVerb::Unbind,
        )
        | None => return Ok(()),
    };
    let options: Vec<String> = spec
        .options()
        .map(|row| format!("-{}", row.spelling))
        .collect();
    let fault = Fault::new(code).with_hint(format!("options are {}", options.join(", ")));
    Err(ParseFault {
        fault,
        span: end..end,
    })
}

/// Tells whether a keyword is a negative number that somebody forgot is one.
pub(crate) fn is_negative(token: &Token) -> bool {
    token.keyword && !token.text.is_empty() && token.text.chars().all(|c| c.is_ascii_digit())
}

/// Returns the fault of a negative number where a number of `kind` is wanted.
pub(crate) fn negative(kind: Kind, name: &str, token: &Token) -> Fault {
    read(kind, name, &token.typed()).map_or_else(
        |fault| fault,
        |_| refused(catalogue::NOT_IN_RANGE, name, &token.typed()),
    )
}

fn lex_fault(line: &str, fault: LexFault) -> ParseFault {
    let LexFault { problem, at, .. } = fault;
    let (fault, end) = match problem {
        Problem::Quote(quote) => (
            Fault::new(catalogue::UNMATCHED_QUOTE)
                .with_details(quote)
                .with_hint(format!("{quote} is not closed on this line")),
            line.len(),
        ),
        Problem::Parenthesis(c) => (
            Fault::new(catalogue::UNMATCHED_CHARACTER)
                .with_details(c)
                .with_hint("a text with parentheses stands in quotes"),
            at + c.len_utf8(),
        ),
        Problem::Invisible(c) => (
            lex::invisible(c, &format!("column {}", lex::column(line, at))),
            at + c.len_utf8(),
        ),
    };
    ParseFault {
        fault,
        span: at..end,
    }
}

#[cfg(test)]
mod tests;
