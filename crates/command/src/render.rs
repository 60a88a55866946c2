//! Commands back to text: `parse(render(c)) == c`.

use crate::lex::{is_invisible, is_separator, starts_q_quote};
use crate::table::{self, ArgSpec, CommandSpec, Then};
use crate::{Arg, Command, Key, Noun, Value};

/// Writes `command` as it would be typed, in full words.
/// Shape: one line; quotes only where they are needed; a second value that has a key of its own
/// stands behind the option it belongs to where it follows it, and as an option of its own
/// elsewhere.
pub fn render(command: &Command) -> String {
    let mut out = table::verb_word(command.verb).to_owned();
    if command.noun != Noun::None {
        out.push(' ');
        out.push_str(&table::noun_words(command.noun));
    }
    let Some(spec) = table::spec(command.verb, command.noun) else {
        return out;
    };
    let mut before: Option<&Arg> = None;
    for arg in &command.args {
        let option = spec.option(arg.key);
        if let Some(row) = option
            && !before.is_some_and(|before| is_second_value(spec, before, arg))
        {
            out.push_str(" -");
            out.push_str(row.spelling);
        }
        for value in &arg.values {
            out.push(' ');
            out.push_str(&quote(&text(value)));
        }
        before = Some(arg);
    }
    out
}

/// Returns `text` as it must be typed to be read as one value.
/// Shape: as it is, or in double quotes with tab, newline and carriage return as `\t`, `\n`, `\r`.
pub fn quote(text: &str) -> String {
    let special = |c: char| {
        is_separator(c) || is_invisible(c) || c.is_control() || matches!(c, '"' | '\'' | '(' | ')')
    };
    let bare = !text.is_empty()
        && !text.starts_with(['-', '#'])
        && !starts_q_quote(text)
        && !text.contains(special);
    if bare {
        return text.to_owned();
    }
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

/// Returns a value as text, without quotes.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::Text(text) | Value::Choice(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Address(address) => address.to_string(),
        Value::AnyAddress | Value::AnyPort => "*".to_owned(),
        Value::Port(port) => port.to_string(),
    }
}

/// Returns the spelling of `key` in this command, positional or option.
pub(crate) fn spelling(spec: &CommandSpec, key: Key) -> Option<&'static str> {
    let address =
        |row: &ArgSpec| key == Key::Address && matches!(row.kind, table::Kind::AddressOrName(_));
    spec.positionals
        .iter()
        .find(|slot| slot.arg.key == key || address(&slot.arg))
        .map(|slot| slot.arg.spelling)
        .or_else(|| spec.option(key).map(|row| row.spelling))
}

/// Tells whether `arg` can stand as the second value of the option `before`.
fn is_second_value(spec: &CommandSpec, before: &Arg, arg: &Arg) -> bool {
    let then = spec.option(before.key).and_then(|row| row.then);
    matches!(then, Some(Then { key: Some(key), .. }) if key == arg.key)
        && before.values.len() == 1
        && arg.values.len() == 1
}

#[cfg(test)]
mod tests;
