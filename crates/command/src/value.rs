//! One word to one value, by the kind its row of the table names, and what a kind allows in words.

use nom::Parser;
use nom::character::complete::{char, digit1};
use nom::combinator::{all_consuming, opt};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::table::{Choices, Kind, noun_words};
use crate::words::{Pick, nearest, pick};
use crate::{Code, Fault, Noun, Value, catalogue};

/// Reads `text` as a value of `kind` for the argument `name`.
///
/// # Errors
/// The fault of the reference with `[name, text]` and a hint that says what is allowed.
pub(crate) fn read(kind: Kind, name: &str, text: &str) -> Result<Value, Fault> {
    match kind {
        Kind::Flag => Err(refused(catalogue::TOO_MANY_VALUES, name, text)
            .with_hint(format!("-{name} takes no value"))),
        Kind::NewName(noun) | Kind::Name(noun) => read_name(noun, name, text),
        Kind::BoundName => read_name(Noun::Service, name, text),
        Kind::Text { min, max } => read_text(name, text, min, max),
        Kind::PlainFile => read_plain_file(name, text),
        Kind::Integer { min, max, .. } => {
            read_integer(kind, name, text, min, max).map(Value::Integer)
        }
        Kind::Address => read_address(name, text).map(Value::Address),
        Kind::ListenAddress => read_listen_address(name, text),
        Kind::AddressOrName(noun) => {
            if text.parse::<IpAddr>().is_ok() || looks_like_address(text) {
                read_address("IPAddress", text).map(Value::Address)
            } else {
                read_name(noun, name, text)
            }
        }
        Kind::Netmask => read_netmask(name, text),
        Kind::Port => read_port(kind, name, text, 1),
        Kind::ListenPort => read_port(kind, name, text, 0),
        Kind::Choice(choices) => read_choice(choices, kind, name, text),
    }
}

/// Says what `kind` allows, as in "weight is 1-100".
pub(crate) fn allowed(kind: Kind) -> String {
    match kind {
        Kind::Flag => "no value".to_owned(),
        Kind::NewName(_) => format!("a new name of 1-{NAME_MAX} characters"),
        Kind::Name(noun) => format!("the name of an existing {}", noun_words(noun)),
        Kind::BoundName => "the name of an existing service or serviceGroup".to_owned(),
        Kind::Text { min, max } => format!("a text of {min}-{max} bytes"),
        Kind::PlainFile => "a file name without '/'".to_owned(),
        Kind::Integer { min, max, unit: "" } => format!("{min}-{max}"),
        Kind::Integer { min, max, unit } => format!("{min}-{max} {unit}"),
        Kind::Address => "an IPv4 or IPv6 address".to_owned(),
        Kind::ListenAddress => "an IPv4 or IPv6 address or *".to_owned(),
        Kind::AddressOrName(noun) => {
            format!(
                "the name of an existing {}, or an IPv4 or IPv6 address",
                noun_words(noun)
            )
        }
        Kind::Netmask => "an IPv4 mask such as 255.255.255.0".to_owned(),
        Kind::Port => "1-65535".to_owned(),
        Kind::ListenPort => "1-65535, or 0 with the address 0.0.0.0".to_owned(),
        Kind::Choice(choices) => {
            let words: Vec<&str> = choices.allowed.iter().map(|(word, _)| *word).collect();
            list(&words)
        }
    }
}

/// Joins words as in "A, B or C".
pub(crate) fn list(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [word] => (*word).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// Makes `text` safe and short enough for a message: control characters escaped, cut at 127
/// characters.
pub(crate) fn shown(text: &str) -> String {
    let mut out = String::new();
    for (count, c) in text.chars().enumerate() {
        if count == NAME_MAX {
            out.push_str("...");
            break;
        }
        if c.is_control() {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

/// Makes the fault `code` with `[name, text]`.
pub(crate) fn refused(code: Code, name: &str, text: &str) -> Fault {
    Fault::new(code).with_details(format!("{name}, {}", shown(text)))
}

fn read_name(noun: Noun, name: &str, text: &str) -> Result<Value, Fault> {
    if noun == Noun::Server && (text.parse::<IpAddr>().is_ok() || looks_like_address(text)) {
        return read_address(name, text).map(|_| Value::Text(text.to_owned()));
    }
    let mut chars = text.chars();
    let first = chars.next();
    let wrong = match first {
        Some(c) if c.is_ascii_alphanumeric() || c == '_' => {
            chars.find(|c| !(c.is_ascii_alphanumeric() || "_#. :@=-".contains(*c)))
        }
        Some(_) | None => first,
    };
    if let Some(c) = wrong {
        let fault = refused(catalogue::INVALID_NAME, name, text);
        return Err(fault.with_hint(format!("'{}' cannot stand there", shown(&c.to_string()))));
    }
    if first.is_none() {
        return Err(refused(catalogue::INVALID_NAME, name, text));
    }
    if text.len() > NAME_MAX {
        return Err(refused(catalogue::TEXT_TOO_LONG, name, text)
            .with_hint(format!("{name} has at most {NAME_MAX} characters")));
    }
    Ok(Value::Text(text.to_owned()))
}

fn read_text(name: &str, text: &str, min: usize, max: usize) -> Result<Value, Fault> {
    let bad = text
        .chars()
        .find(|c| c.is_control() && !matches!(c, '\t' | '\n' | '\r'));
    if let Some(c) = bad {
        return Err(
            refused(catalogue::INVALID_CHARACTER, name, text).with_hint(format!(
                "{name} cannot contain the control character {}",
                shown(&c.to_string())
            )),
        );
    }
    let code = if text.len() > max {
        catalogue::TEXT_TOO_LONG
    } else if text.len() < min {
        catalogue::TEXT_TOO_SHORT
    } else {
        return Ok(Value::Text(text.to_owned()));
    };
    Err(refused(code, name, text)
        .with_hint(format!("{name} is {}", allowed(Kind::Text { min, max }))))
}

fn read_plain_file(name: &str, text: &str) -> Result<Value, Fault> {
    if text.contains('/') {
        return Err(refused(catalogue::SLASH_IN_OUTFILE, name, text));
    }
    read_text(name, text, 1, 255)
}

/// Reads decimal digits without a leading zero, which elsewhere would mean octal.
fn read_integer(kind: Kind, name: &str, text: &str, min: u64, max: u64) -> Result<u64, Fault> {
    let hint = || format!("{name} is {}", allowed(kind));
    let Some((negative, digits)) = number(text) else {
        return Err(refused(catalogue::INVALID_ARGUMENT_VALUE, name, text).with_hint(hint()));
    };
    if digits.len() > 1 && digits.starts_with('0') {
        return Err(refused(catalogue::INVALID_ARGUMENT_VALUE, name, text)
            .with_hint(format!("{}, written without leading zeros", hint())));
    }
    match digits.parse::<u64>() {
        Ok(number) if !negative && (min..=max).contains(&number) => Ok(number),
        // Digits alone fail to parse only when they are too many.
        Ok(_) | Err(_) => Err(refused(catalogue::NOT_IN_RANGE, name, text).with_hint(hint())),
    }
}

fn number(text: &str) -> Option<(bool, &str)> {
    let sign = opt(char::<_, nom::error::Error<&str>>('-'));
    let (_, (minus, digits)) = all_consuming((sign, digit1)).parse(text).ok()?;
    Some((minus.is_some(), digits))
}

fn read_port(kind: Kind, name: &str, text: &str, min: u64) -> Result<Value, Fault> {
    if text == "*" {
        return Err(
            refused(catalogue::INVALID_ARGUMENT_VALUE, name, text).with_hint(format!(
                "{name} is {}; any port is not supported yet",
                allowed(kind)
            )),
        );
    }
    let port = read_integer(kind, name, text, min, u64::from(u16::MAX))?;
    let port = u16::try_from(port).expect("the bound above is that of u16");
    Ok(Value::Port(port))
}

fn read_listen_address(name: &str, text: &str) -> Result<Value, Fault> {
    if text == "*" {
        return Ok(Value::AnyAddress);
    }
    match text.parse() {
        Ok(address @ (IpAddr::V4(Ipv4Addr::UNSPECIFIED) | IpAddr::V6(Ipv6Addr::UNSPECIFIED))) => {
            Ok(Value::Address(address))
        }
        Ok(_) | Err(_) => read_address(name, text).map(Value::Address),
    }
}

fn read_address(name: &str, text: &str) -> Result<IpAddr, Fault> {
    match text.parse::<IpAddr>() {
        Ok(address) => match unusable(address) {
            None => Ok(address),
            Some(hint) => {
                let code = match address {
                    IpAddr::V4(_) => catalogue::INVALID_ADDRESS,
                    IpAddr::V6(_) => catalogue::INVALID_IPV6_ADDRESS,
                };
                Err(refused(code, name, text).with_hint(hint))
            }
        },
        Err(_) => Err(bad_address(name, text)),
    }
}

fn read_netmask(name: &str, text: &str) -> Result<Value, Fault> {
    match text.parse::<Ipv4Addr>() {
        Ok(mask) if is_netmask(mask) => Ok(Value::Address(mask.into())),
        Ok(_) | Err(_) => Err(refused(catalogue::INVALID_NETMASK, name, text)
            .with_hint(format!("{name} is {}", allowed(Kind::Netmask)))),
    }
}

/// Tells whether a mask is ones, then zeros; all of either is one too.
pub fn is_netmask(mask: Ipv4Addr) -> bool {
    let bits = mask.to_bits();
    bits.leading_ones() + bits.trailing_zeros() >= u32::BITS
}

/// Says why nobody can be reached at `address`.
fn unusable(address: IpAddr) -> Option<String> {
    let several = "it is not the address of one host";
    match address {
        IpAddr::V4(v4) if v4.is_unspecified() || v4.is_multicast() || v4.is_broadcast() => {
            Some(several.to_owned())
        }
        IpAddr::V4(_) => None,
        IpAddr::V6(v6) if v6.is_unspecified() || v6.is_multicast() => Some(several.to_owned()),
        IpAddr::V6(v6) if v6.is_unicast_link_local() => {
            Some("a link-local address needs a zone, and zones are not supported yet".to_owned())
        }
        IpAddr::V6(v6) => v6
            .to_ipv4_mapped()
            .map(|v4| format!("type it as an IPv4 address: {v4}")),
    }
}

fn bad_address(name: &str, text: &str) -> Fault {
    let (code, hint) = if let Some((_, zone)) = text.split_once('%')
        && text.contains(':')
    {
        let hint = if zone.is_empty() {
            format!("{name} is {}", allowed(Kind::Address))
        } else {
            "link-local addresses with a zone are not supported yet".to_owned()
        };
        (catalogue::INVALID_IPV6_ADDRESS, hint)
    } else if text.contains(':') {
        let code = if text.matches("::").count() > 1 {
            catalogue::DOUBLE_COLON_TWICE
        } else {
            catalogue::INVALID_IPV6_ADDRESS
        };
        (code, format!("{name} is {}", allowed(Kind::Address)))
    } else if text.chars().any(|c| c.is_ascii_alphabetic()) {
        let hint = format!(
            "{name} is {}; names that DNS resolves are not supported yet",
            allowed(Kind::Address)
        );
        (catalogue::INVALID_ADDRESS, hint)
    } else {
        let hint = "an IPv4 address is four numbers of 0-255, without leading zeros: 10.0.0.1";
        (catalogue::INVALID_ADDRESS, hint.to_owned())
    };
    refused(code, name, text).with_hint(hint)
}

/// Tells whether a word in the place of a name was meant as an address, so that a slip in one is
/// not taken for a name: digits and dots, or hexadecimal digits with a double or a second colon.
fn looks_like_address(text: &str) -> bool {
    let v4 = text.contains('.') && text.chars().all(|c| c.is_ascii_digit() || c == '.');
    let (address, _) = text.split_once('%').unwrap_or((text, ""));
    let v6 = address.matches(':').count() > 1
        && address
            .chars()
            .all(|c| c.is_ascii_hexdigit() || c == ':' || c == '.');
    v4 || v6
}

fn read_choice(
    choices: &'static Choices,
    kind: Kind,
    name: &str,
    text: &str,
) -> Result<Value, Fault> {
    let words: Vec<(&'static str, &'static str)> = choices
        .allowed
        .iter()
        .map(|(word, _)| (*word, *word))
        .chain(choices.aliases.iter().copied())
        .collect();
    let invalid = || refused(catalogue::INVALID_ARGUMENT_VALUE, name, text);
    if let Some(known) = choices
        .elsewhere
        .iter()
        .find(|word| word.eq_ignore_ascii_case(text))
    {
        return Err(invalid().with_hint(format!(
            "{known} is not supported here; {name} is {}",
            offered(choices, kind)
        )));
    }
    match pick(text, &words) {
        Pick::One(word) => Ok(Value::Choice(word.to_owned())),
        Pick::Several(words) => Err(refused(catalogue::AMBIGUOUS_VALUE, name, text)
            .with_hint(format!("it could be {}", list(&words)))),
        Pick::Nothing => {
            let fault = invalid().with_hint(format!("{name} is {}", offered(choices, kind)));
            Err(match nearest(text, words.iter().map(|(word, _)| *word)) {
                Some(word) => fault.with_hint(format!("did you mean {word}?")),
                None => fault,
            })
        }
    }
}

/// Returns the values in words; a list that fills the screen only by its length.
fn offered(choices: &Choices, kind: Kind) -> String {
    match choices.allowed.len() {
        0..=24 => allowed(kind),
        many => format!("one of {many} words, which ? lists in its place"),
    }
}

/// The longest name of the reference, in characters, which are bytes here.
const NAME_MAX: usize = 127;
