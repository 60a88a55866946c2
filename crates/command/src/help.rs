//! Help from the table: the overview, the commands of a group, one command in full.

use crate::head::{self, Entity, Scope};
use crate::parse::parse_tokens;
use crate::render::text;
use crate::table::{
    self, ArgSpec, CommandSpec, Default, Effect, Kind, NOUNS, NounSpec, Positional, Times,
};
use crate::value::{allowed, shown};
use crate::{Fault, Noun, catalogue};

/// Explains `words`: nothing is the overview; a verb, a group or an object lists commands, one a
/// line; a command is explained in full. Words may be cut as in commands.
///
/// # Errors
/// As the command itself would give.
pub fn help(words: &str) -> Result<String, Fault> {
    let tokens = parse_tokens(words).map_err(|refusal| refusal.fault)?;
    let words: Vec<String> = tokens.iter().map(|token| token.typed()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let Some((first, rest)) = words.split_first() else {
        return Ok(overview());
    };
    let verb = match head::verb(first) {
        Ok(verb) => verb,
        Err(fault) if fault.code == catalogue::NO_SUCH_COMMAND.number => {
            let unknown = Scope::all()
                .entity(first)
                .is_err_and(|other| other.code == fault.code);
            return objects(&words).map_err(|other| if unknown { fault } else { other });
        }
        Err(fault) => return Err(fault),
    };
    match head::command(&words) {
        Ok((spec, used)) if used == words.len() => Ok(in_full(spec)),
        Ok((_, used)) => Err(too_many(words[used])),
        Err(refusal) if refusal.fault.code == catalogue::INCOMPLETE_COMMAND.number => {
            let mut scope = Scope::of_verb(verb);
            if let Some(word) = rest.first()
                && let Ok(Entity::Group(group)) = scope.entity(word)
            {
                scope = scope.in_group(group);
            }
            let commands = scope.nouns().iter().map(|noun| noun.noun);
            Ok(lines(commands.filter_map(|noun| table::spec(verb, noun))))
        }
        Err(refusal) => Err(refusal.fault),
    }
}

/// Returns every command in one line, in the order of the table.
pub fn help_all() -> String {
    lines(NOUNS.iter().flat_map(|noun| noun.commands))
}

/// Returns the command in one line: what must be typed, and `...` for options.
pub(crate) fn short_synopsis(spec: &CommandSpec) -> String {
    let mut parts = start(spec);
    for row in spec.options().filter(|row| row.required) {
        parts.push(option_synopsis(spec, row));
    }
    let mut rest = spec.options().filter(|row| !row.required);
    match (rest.next(), rest.next()) {
        (None, _) => {}
        (Some(only), None) => parts.push(format!("[{}]", option_synopsis(spec, only))),
        (Some(_), Some(_)) => parts.push("[-<option> ...]".to_owned()),
    }
    parts.join(" ")
}

/// Returns the parts of the command in full, one option a part.
pub(crate) fn synopsis(spec: &CommandSpec) -> Vec<String> {
    let mut parts = start(spec);
    for row in spec.options() {
        let option = option_synopsis(spec, row);
        parts.push(if row.required {
            option
        } else {
            format!("[{option}]")
        });
    }
    parts
}

/// Returns the part of a command's help that is about one argument.
pub(crate) fn argument(spec: &CommandSpec, row: &ArgSpec) -> String {
    let mut out = String::new();
    explain(&mut out, spec, row);
    out
}

/// Returns what there is to know of an argument beside its meaning, sentence by sentence.
pub(crate) fn facts(spec: &CommandSpec, row: &ArgSpec) -> Vec<String> {
    let mut facts = Vec::new();
    if !spec.names_only() || is_positional(spec, row) {
        match row.kind {
            Kind::Flag | Kind::Choice(_) => {}
            Kind::NewName(_)
            | Kind::Name(_)
            | Kind::BoundName
            | Kind::Text { .. }
            | Kind::PlainFile
            | Kind::Integer { .. }
            | Kind::Address
            | Kind::ListenAddress
            | Kind::AddressOrName(_)
            | Kind::Netmask
            | Kind::Port
            | Kind::ListenPort => facts.push(format!("Value: {}.", allowed(row.kind))),
        }
    }
    if let Some(default) = default(row.default) {
        facts.push(format!("Default: {default}."));
    }
    if !row.aliases.is_empty() {
        let aliases: Vec<String> = row.aliases.iter().map(|word| format!("-{word}")).collect();
        facts.push(format!("Also spelled {}.", aliases.join(", ")));
    }
    if let Effect::NoEffect(why) = row.effect {
        facts.push(format!("Kept, without effect: {why}."));
    }
    facts
}

fn objects(words: &[&str]) -> Result<String, Fault> {
    let scope = Scope::all();
    if let [word] = words
        && let Ok(Entity::Group(group)) = scope.entity(word)
    {
        let group = scope.in_group(group);
        return Ok(lines(group.nouns().iter().flat_map(|noun| noun.commands)));
    }
    let (noun, used) = scope.noun(words).map_err(|refusal| refusal.fault)?;
    match words.get(used) {
        Some(extra) => Err(too_many(extra)),
        None => Ok(lines(table::noun(noun).commands.iter())),
    }
}

fn too_many(word: &str) -> Fault {
    Fault::new(catalogue::NO_SUCH_COMMAND).with_details(shown(word))
}

fn overview() -> String {
    let mut out = String::from(OVERVIEW);
    let nouns = NOUNS.iter().filter(|noun| noun.noun != Noun::None);
    for noun in nouns {
        out.push_str(&format!(
            "   {:<18} {}.\n   {:<18} {}\n",
            table::noun_words(noun.noun),
            noun.help,
            "",
            verbs(noun)
        ));
    }
    out.push_str("\nOf the shell:\n");
    for spec in table::noun(Noun::None).commands {
        out.push_str(&format!(
            "   {:<18} {}.\n",
            table::verb_word(spec.verb),
            spec.help
        ));
    }
    out
}

fn verbs(noun: &NounSpec) -> String {
    let verbs: Vec<&str> = noun
        .commands
        .iter()
        .map(|spec| table::verb_word(spec.verb))
        .collect();
    verbs.join(", ")
}

fn lines(specs: impl Iterator<Item = &'static CommandSpec>) -> String {
    specs.map(|spec| short_synopsis(spec) + "\n").collect()
}

fn in_full(spec: &'static CommandSpec) -> String {
    let mut out = String::new();
    paragraph(&mut out, "Usage: ", "          ", &synopsis(spec));
    out.push_str(&format!("\n{}.\n", spec.help));
    let positionals = spec.positionals.iter().map(|slot| &slot.arg);
    let mut rows = positionals.chain(spec.options()).peekable();
    if rows.peek().is_some() {
        out.push_str("\nwhere:\n");
    }
    for row in rows {
        explain(&mut out, spec, row);
    }
    out
}

fn explain(out: &mut String, spec: &CommandSpec, row: &ArgSpec) {
    let typed = if is_positional(spec, row) {
        format!("<{}>", row.spelling)
    } else {
        option_synopsis(spec, row)
    };
    out.push_str(&format!("   {typed}\n"));
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    paragraph(out, INDENT, INDENT, &words(&format!("{}.", row.help)));
    if !spec.names_only() {
        choices(out, row.kind);
        if let Some(then) = row.then {
            choices(out, then.kind);
        }
    }
    let facts = facts(spec, row).join(" ");
    if !facts.is_empty() {
        paragraph(out, INDENT, INDENT, &words(&facts));
    }
}

fn choices(out: &mut String, kind: Kind) {
    if let Kind::Choice(choices) = kind {
        for (word, help) in choices.allowed {
            out.push_str(&format!("{INDENT}   {word:<16} {help}\n"));
        }
        for (word, meaning) in choices.aliases {
            out.push_str(&format!("{INDENT}   {word:<16} the same as {meaning}\n"));
        }
    }
}

fn start(spec: &CommandSpec) -> Vec<String> {
    let mut parts = vec![table::verb_word(spec.verb).to_owned()];
    if spec.noun != Noun::None {
        parts.push(table::noun_words(spec.noun));
    }
    let pair: Vec<&Positional> = spec
        .positionals
        .iter()
        .filter(|slot| matches!(slot.times, Times::Else(_)))
        .collect();
    for slot in spec.positionals {
        let name = format!("<{}>", slot.arg.spelling);
        match slot.times {
            Times::Once => parts.push(name),
            Times::Optional => parts.push(format!("[{name}]")),
            Times::Together => {
                let before = parts.pop().unwrap_or_default();
                parts.push(format!("{} {name}]", before.trim_end_matches(']')));
            }
            Times::Many => parts.push(format!("{name} ...")),
            Times::Any => parts.push(format!("[{name} ...]")),
            Times::Else(_) => {}
        }
    }
    if !pair.is_empty() {
        let names: Vec<String> = pair
            .iter()
            .map(|slot| format!("<{}>", slot.arg.spelling))
            .collect();
        parts.push(format!("[{}]", names.join(" ")));
    }
    parts
}

fn option_synopsis(spec: &CommandSpec, row: &ArgSpec) -> String {
    let mut text = format!("-{}", row.spelling);
    if spec.names_only() || row.kind == Kind::Flag {
        return text;
    }
    text.push_str(&format!(" {}", value_synopsis(row.kind, row.spelling)));
    if let Some(then) = row.then {
        let value = value_synopsis(then.kind, then.spelling);
        text.push_str(&if then.required {
            format!(" {value}")
        } else {
            format!(" [{value}]")
        });
    }
    text
}

/// Short lists stand in the synopsis itself, as in the reference.
fn value_synopsis(kind: Kind, name: &str) -> String {
    match kind {
        Kind::Choice(choices) => match choices.allowed {
            [(only, _)] => (*only).to_owned(),
            [(one, _), (other, _)] => format!("({one} | {other})"),
            [] | [_, _, ..] => format!("<{name}>"),
        },
        Kind::Integer {
            unit: "seconds", ..
        } => "<secs>".to_owned(),
        Kind::Integer { .. } => "<n>".to_owned(),
        Kind::Flag
        | Kind::NewName(_)
        | Kind::Name(_)
        | Kind::BoundName
        | Kind::Text { .. }
        | Kind::PlainFile
        | Kind::Address
        | Kind::ListenAddress
        | Kind::AddressOrName(_)
        | Kind::Netmask
        | Kind::Port
        | Kind::ListenPort => format!("<{name}>"),
    }
}

fn default(default: Default) -> Option<String> {
    match default {
        Default::None => None,
        Default::IntegerByType { .. } => {
            let of = |kind| default.value(kind).as_ref().map(text).unwrap_or_default();
            let (tcp, udp, web) = (of("TCP"), of("UDP"), of("HTTP"));
            Some(format!("{tcp} for TCP, {udp} for UDP, {web} for HTTP"))
        }
        Default::ChoiceByType { .. } => {
            let of = |kind| default.value(kind).as_ref().map(text).unwrap_or_default();
            Some(format!("{} for TCP, {} for UDP", of("TCP"), of("UDP")))
        }
        Default::Integer(_) | Default::Text(_) | Default::Netmask(_) | Default::Choice(_) => {
            default.value("").as_ref().map(text)
        }
    }
}

fn is_positional(spec: &CommandSpec, row: &ArgSpec) -> bool {
    spec.positionals.iter().any(|slot| slot.arg.key == row.key)
}

/// Adds `parts` with a blank between them, broken before a part that would pass column 78.
pub(crate) fn paragraph(out: &mut String, first: &str, next: &str, parts: &[String]) {
    let mut line = first.to_owned();
    let mut empty = true;
    for part in parts {
        if !empty && line.len() + 1 + part.len() > WIDTH {
            out.push_str(line.trim_end());
            out.push('\n');
            line = next.to_owned();
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(part);
        empty = false;
    }
    out.push_str(&line);
    out.push('\n');
}

const INDENT: &str = "         ";
const WIDTH: usize = 78;

const OVERVIEW: &str = "\
A command is a verb, an object, its name, and options:

   add lb vserver v1 TCP 10.0.0.1 80 -lbMethod LEASTBANDWIDTH

Words may be cut while they stay unique (sh lb vs), in any case. Values with
blanks or ? stand in quotes. # begins a comment. TAB completes, ? explains.

   help <verb>             the commands of a verb: help add
   help <object>           the commands of an object or group: help lb
   help <verb> <object>    a command in full: help add lb vserver

Objects:
";

#[cfg(test)]
mod tests;
