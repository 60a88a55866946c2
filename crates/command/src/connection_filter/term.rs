//! Reads one term of a filter.

use core::net::IpAddr;

use super::{CONNECTION_STATES, Comparison, Condition, End, Naming};
use crate::TypeSpec;

/// Splits `text` where two of a character stand together outside of quotes.
pub(super) fn split(text: &str, is_joint: fn(char) -> bool) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut quoted, mut last) = (0, false, None);
    for (at, character) in text.char_indices() {
        quoted ^= character == '"';
        if !quoted && is_joint(character) && last == Some(character) && at > start {
            parts.push(&text[start..at - 1]);
            start = at + 1;
            last = None;
        } else {
            last = (!quoted).then_some(character);
        }
    }
    parts.push(&text[start..]);
    parts
}

pub(super) fn is_and(character: char) -> bool {
    character == '&'
}

pub(super) fn is_or(character: char) -> bool {
    character == '|'
}

/// Reads a term.
///
/// # Errors
/// What is wrong with it.
pub(super) fn term(text: &str) -> Result<Condition, String> {
    let text = text.trim();
    let (what, how, value) = parts(text).ok_or_else(|| match text {
        "" => "a term is missing".to_owned(),
        text => text.to_owned(),
    })?;
    condition(&what, &how, value.trim()).ok_or_else(|| text.to_owned())
}

/// Returns what is looked at, how, and the value, the words in upper case.
fn parts(text: &str) -> Option<(String, String, &str)> {
    let upper = text.to_ascii_uppercase();
    let Some(rest) = upper.strip_prefix("CONNECTION.") else {
        return older_parts(text);
    };
    let start = text.len() - rest.len();
    let open = start + rest.find('(')?;
    let value = text[open + 1..].strip_suffix(')')?;
    let (what, how) = upper[start..open].rsplit_once('.')?;
    Some((what.to_owned(), how.to_owned(), value))
}

fn older_parts(text: &str) -> Option<(String, String, &str)> {
    let at = text.find(['=', '!', '<', '>'])?;
    let operators = [
        ("==", "EQ"),
        ("!=", "NE"),
        (">=", "GE"),
        ("<=", "LE"),
        (">", "GT"),
        ("<", "LT"),
    ];
    let found = |(sign, _): &&(&str, &str)| text[at..].starts_with(sign);
    let (sign, how) = operators.iter().find(found)?;
    let what = match text[..at].trim().to_ascii_uppercase().as_str() {
        "SOURCEIP" => "SRCIP",
        "DESTIP" => "DSTIP",
        "IP" => "IP",
        "SOURCEPORT" => "SRCPORT",
        "DESTPORT" => "DSTPORT",
        "PORT" => "PORT",
        "IDLETIME" => "IDLETIME",
        "SVCNAME" => "SVCNAME",
        "SVCTYPE" => "SERVICE_TYPE",
        "STATE" => "TCPSTATE",
        _ => return None,
    };
    Some((what.to_owned(), (*how).to_owned(), &text[at + sign.len()..]))
}

fn condition(what: &str, how: &str, value: &str) -> Option<Condition> {
    Some(match what {
        "SRCIP" | "SRCIPV6" => address(End::Source, how, value)?,
        "DSTIP" | "DSTIPV6" => address(End::Destination, how, value)?,
        "IP" | "IPV6" => address(End::Either, how, value)?,
        "SRCPORT" => Condition::Port(End::Source, comparison(how, value)?),
        "DSTPORT" => Condition::Port(End::Destination, comparison(how, value)?),
        "PORT" => Condition::Port(End::Either, comparison(how, value)?),
        "IDLETIME" => Condition::IdleTime(comparison(how, value)?),
        "TCPSTATE" => {
            let state = unquoted(value)?.to_ascii_uppercase();
            let known = CONNECTION_STATES.contains(&state.as_str());
            Condition::State(is_equal(how)?, known.then_some(state)?)
        }
        "SERVICE_TYPE" => {
            let name = unquoted(value)?.to_ascii_uppercase();
            Condition::ServiceType(is_equal(how)?, TypeSpec::named(&name)?.name.to_owned())
        }
        "SVCNAME" => Condition::Service(naming(how)?, unquoted(value)?.to_owned()),
        "LB_VSERVER.NAME" => Condition::Vserver(naming(how)?, unquoted(value)?.to_owned()),
        _ => return None,
    })
}

fn address(end: End, how: &str, value: &str) -> Option<Condition> {
    let address: IpAddr = unquoted(value)?.parse().ok()?;
    Some(Condition::Address(end, is_equal(how)?, address))
}

fn is_equal(how: &str) -> Option<bool> {
    match how {
        "EQ" => Some(true),
        "NE" => Some(false),
        _ => None,
    }
}

fn comparison(how: &str, value: &str) -> Option<Comparison> {
    let number = |text: &str| text.trim().parse::<u64>().ok();
    Some(match how {
        "EQ" => Comparison::Equal(number(value)?),
        "NE" => Comparison::NotEqual(number(value)?),
        "GT" => Comparison::Greater(number(value)?),
        "GE" => Comparison::GreaterOrEqual(number(value)?),
        "LT" => Comparison::Less(number(value)?),
        "LE" => Comparison::LessOrEqual(number(value)?),
        "BETWEEN" => {
            let (least, most) = value.split_once(',')?;
            Comparison::Between(number(least)?, number(most)?)
        }
        _ => return None,
    })
}

fn naming(how: &str) -> Option<Naming> {
    match how {
        "EQ" => Some(Naming::Equal),
        "NE" => Some(Naming::NotEqual),
        "CONTAINS" => Some(Naming::Contains),
        "STARTSWITH" => Some(Naming::StartsWith),
        "ENDSWITH" => Some(Naming::EndsWith),
        _ => None,
    }
}

/// Returns a text without the quotes around it; none if it is empty or has only one of them.
fn unquoted(value: &str) -> Option<&str> {
    let inner = match value.strip_prefix('"') {
        Some(rest) => rest.strip_suffix('"')?,
        None => value,
    };
    (!inner.is_empty() && !inner.contains('"')).then_some(inner)
}
