//! Makes text from outside safe to print: nothing a daemon, a file or a user wrote can drive the
//! terminal or start a line of its own.
//!
//! Escaped are the control characters (C0, DEL, C1), the line and paragraph separators and the
//! characters that reorder text. Everything else, letters of any script included, stays.

use serde_json::Value;
use sluice_protocol::Row;
use std::borrow::Cow;
use std::fmt::Write as _;

/// Returns `text` with every unsafe character written as `\n`, `\x1b` or `\u{202e}`.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\n' => safe.push_str("\\n"),
            '\r' => safe.push_str("\\r"),
            '\t' => safe.push_str("\\t"),
            _ if is_unsafe(character) => push_number(&mut safe, character),
            _ => safe.push(character),
        }
    }
    Cow::Owned(safe)
}

/// Returns `row` with every text in it escaped.
///
/// It goes through the row's serialised form, so that a field added later cannot be forgotten.
pub(crate) fn escape_row(row: &Row) -> Row {
    let mut value = serde_json::to_value(row).expect("a row is plain data with text keys");
    escape_value(&mut value);
    serde_json::from_value(value).expect("escaping changes texts, not the shape")
}

/// Returns a JSON document in which the unsafe characters JSON itself allows are `\uXXXX`.
///
/// They can stand only inside its strings, where that form means the same character.
pub(crate) fn escape_json(document: &str) -> Cow<'_, str> {
    if !document.contains(is_unsafe) {
        return Cow::Borrowed(document);
    }
    let mut safe = String::with_capacity(document.len() + 8);
    for character in document.chars() {
        if is_unsafe(character) {
            write!(safe, "\\u{:04x}", u32::from(character)).expect("a String takes everything");
        } else {
            safe.push(character);
        }
    }
    Cow::Owned(safe)
}

fn escape_value(value: &mut Value) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::String(text) => {
            if let Cow::Owned(safe) = escape(text) {
                *text = safe;
            }
        }
        Value::Array(values) => values.iter_mut().for_each(escape_value),
        Value::Object(fields) => fields.values_mut().for_each(escape_value),
    }
}

fn push_number(safe: &mut String, character: char) {
    let number = u32::from(character);
    let written = if number <= 0xff {
        write!(safe, "\\x{number:02x}")
    } else {
        write!(safe, "\\u{{{number:x}}}")
    };
    written.expect("a String takes everything");
}

fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_protocol::{ServerRow, ServerService};

    #[test]
    fn ordinary_text_of_any_script_stays() {
        assert_eq!(
            escape("web_1 10.0.0.1:80 \\ \"é\" 日本"),
            "web_1 10.0.0.1:80 \\ \"é\" 日本"
        );
    }

    #[test]
    fn terminal_sequences_and_line_breaks_become_visible() {
        assert_eq!(
            escape("a\n2030-01-01 ERROR forged\x1b[2J\x1b]0;x\x07\r\t"),
            "a\\n2030-01-01 ERROR forged\\x1b[2J\\x1b]0;x\\x07\\r\\t"
        );
        assert_eq!(escape("\u{9b}31m\u{7f}"), "\\x9b31m\\x7f");
        assert_eq!(escape("\u{202e}evil\u{2028}"), "\\u{202e}evil\\u{2028}");
    }

    #[test]
    fn every_text_of_a_row_is_escaped() {
        let row = Row::Server(ServerRow {
            name: "s\x1b".to_owned(),
            address: "10.0.0.1".to_owned(),
            state: "ENABLED".to_owned(),
            comment: Some("a\nb".to_owned()),
            services: vec![ServerService {
                name: "x\x07".to_owned(),
                address: "10.0.0.1".to_owned(),
                port: "80".to_owned(),
                service_type: "TCP".to_owned(),
                state: "UP".to_owned(),
                drain: None,
            }],
        });
        let Row::Server(safe) = escape_row(&row) else {
            panic!("the kind of the row changed");
        };
        assert_eq!(safe.name, "s\\x1b");
        assert_eq!(safe.comment.as_deref(), Some("a\\nb"));
        assert_eq!(safe.services[0].name, "x\\x07");
    }

    #[test]
    fn json_keeps_its_meaning() {
        let text = "a\u{7f}\u{9b}\u{202e}\n";
        let document = serde_json::to_string(text).unwrap();
        let safe = escape_json(&document);
        assert_eq!(safe, r#""a\u007f\u009b\u202e\n""#);
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), text);
    }
}
