//! Quoting by table, and the property that what is written is read as the same.

use proptest::prelude::*;
use std::net::{IpAddr, Ipv4Addr};

use super::*;
use crate::table::{Kind, NOUNS, Times};
use crate::value::read;
use crate::{Verb, check, complete, help, lines, parse, parse_words};

#[test]
fn quotes_stand_only_where_they_are_needed() {
    for (text, expected) in [
        ("plain", "plain"),
        ("a-b.c_d:e@f=g#h", "a-b.c_d:e@f=g#h"),
        ("10.0.0.1", "10.0.0.1"),
        ("*", "*"),
        ("a\\b", "a\\b"),
        ("q", "q"),
        ("qa", "qa"),
        ("é", "é"),
        ("", "\"\""),
        ("a b", "\"a b\""),
        ("-a", "\"-a\""),
        ("#a", "\"#a\""),
        ("q{a}", "\"q{a}\""),
        ("q=a", "\"q=a\""),
        ("it's", "\"it's\""),
        ("say \"x\"", "\"say \\\"x\\\"\""),
        ("f(x)", "\"f(x)\""),
        (")", "\")\""),
        ("a \\ b", "\"a \\\\ b\""),
        ("a\tb\nc\rd", "\"a\\tb\\nc\\rd\""),
        ("a\u{a0}b", "\"a\u{a0}b\""),
    ] {
        assert_eq!(quote(text), expected, "{text:?}");
    }
}

#[test]
fn a_unit_stands_behind_its_rate_only() {
    let line = |args: Vec<(Key, Value)>| {
        let args = args.into_iter().map(|(key, value)| Arg {
            key,
            values: vec![value],
        });
        render(&Command {
            verb: Verb::Set,
            noun: Noun::LbVserver,
            args: args.collect(),
        })
    };
    let name = (Key::Name, Value::Text("v".to_owned()));
    let rate = (Key::NewServiceRequest, Value::Integer(25));
    let unit = (
        Key::NewServiceRequestUnit,
        Value::Choice("PERCENT".to_owned()),
    );
    assert_eq!(
        line(vec![name.clone(), rate.clone(), unit.clone()]),
        "set lb vserver v -newServiceRequest 25 PERCENT"
    );
    assert_eq!(
        line(vec![name.clone(), unit.clone(), rate]),
        "set lb vserver v -newServiceRequestUnit PERCENT -newServiceRequest 25"
    );
    assert_eq!(
        line(vec![name, unit]),
        "set lb vserver v -newServiceRequestUnit PERCENT"
    );
}

/// Makes any value its kind takes.
fn value(kind: Kind) -> BoxedStrategy<Value> {
    match kind {
        Kind::Flag => unreachable!("a flag has no value"),
        Kind::NewName(_) | Kind::Name(_) | Kind::BoundName => name(kind),
        Kind::Text { .. } => prop_oneof!["\\PC{0,40}", "[ -~\\t\\n\\r]{0,60}", "q/[a-z /]{0,4}/"]
            .prop_filter_map("the kind's own bounds", move |text| {
                read(kind, "text", &text).ok()
            })
            .boxed(),
        Kind::PlainFile => "[ -.0-~]{1,30}".prop_map(Value::Text).boxed(),
        Kind::Integer { min, max, .. } => (min..=max).prop_map(Value::Integer).boxed(),
        Kind::Address => address(kind),
        Kind::ListenAddress => prop_oneof![Just(Value::AnyAddress), address(kind)].boxed(),
        Kind::AddressOrName(_) => prop_oneof![name(kind), address(kind)].boxed(),
        Kind::Netmask => (0_u32..=32)
            .prop_map(|ones| {
                Value::Address(Ipv4Addr::from(!(u32::MAX.checked_shr(ones).unwrap_or(0))).into())
            })
            .boxed(),
        Kind::Port | Kind::ListenPort => (1..=u16::MAX).prop_map(Value::Port).boxed(),
        Kind::Choice(choices) => proptest::sample::select(choices.allowed)
            .prop_map(|(word, _)| Value::Choice(word.to_owned()))
            .boxed(),
    }
}

fn name(kind: Kind) -> BoxedStrategy<Value> {
    let text = "[A-Za-z0-9_][A-Za-z0-9_#. :@=-]{0,20}";
    let value = text.prop_filter_map("not a spoilt address", move |text| {
        read(kind, "name", &text).ok()
    });
    value.boxed()
}

fn address(kind: Kind) -> BoxedStrategy<Value> {
    any::<IpAddr>()
        .prop_filter_map("the address of one host", move |address| {
            let nowhere = address.is_unspecified() && address.is_ipv4();
            let read = read(kind, "IPAddress", &address.to_string()).ok();
            read.filter(|_| !nowhere)
        })
        .boxed()
}

/// Makes any argument list of a command, in the order the table demands.
fn command(spec: &'static CommandSpec) -> impl Strategy<Value = Command> {
    let mut positionals: Vec<BoxedStrategy<Option<Arg>>> = Vec::new();
    for slot in spec.positionals {
        let (key, kind) = (slot.arg.key, slot.arg.kind);
        let count = match slot.times {
            Times::Once | Times::Together | Times::Else(_) => 1..=1,
            Times::Optional => 0..=1,
            Times::Many => 1..=3,
            Times::Any => 0..=3,
        };
        let values = proptest::collection::vec(value(kind), count);
        positionals.push(
            values
                .prop_map(move |values| {
                    let by_address = matches!(kind, Kind::AddressOrName(_))
                        && matches!(values.as_slice(), [Value::Address(_)]);
                    let key = if by_address { Key::Address } else { key };
                    (!values.is_empty()).then_some(Arg { key, values })
                })
                .boxed(),
        );
    }
    let rows: Vec<&'static ArgSpec> = spec.options().collect();
    let least = usize::from(matches!(spec.verb, Verb::Set | Verb::Unset));
    let most = rows.len();
    let options = proptest::sample::subsequence(rows.clone(), least.min(most)..=most)
        .prop_map(move |mut chosen| {
            chosen.extend(rows.iter().filter(|row| row.required));
            chosen.sort_by_key(|row| row.key);
            chosen.dedup_by_key(|row| row.key);
            chosen
        })
        .prop_shuffle()
        .prop_flat_map(move |rows| {
            rows.into_iter()
                .map(|row| option(spec, row))
                .collect::<Vec<_>>()
        });
    (positionals, options).prop_map(move |(mut positionals, options)| {
        for (index, slot) in spec.positionals.iter().enumerate() {
            if slot.times == Times::Together && positionals[index - 1].is_none() {
                positionals[index] = None;
            }
        }
        Command {
            verb: spec.verb,
            noun: spec.noun,
            args: positionals.into_iter().flatten().chain(options).collect(),
        }
    })
}

fn option(spec: &'static CommandSpec, row: &'static ArgSpec) -> BoxedStrategy<Arg> {
    let key = row.key;
    let arg = move |values| Arg { key, values };
    if spec.names_only() || row.kind == Kind::Flag {
        return Just(arg(Vec::new())).boxed();
    }
    let first = value(row.kind);
    match row.then {
        Some(then) if then.key.is_none() && then.required => (first, value(then.kind))
            .prop_map(move |(first, second)| arg(vec![first, second]))
            .boxed(),
        Some(then) if then.key.is_none() => (first, proptest::option::of(value(then.kind)))
            .prop_map(move |(first, second)| arg(std::iter::once(first).chain(second).collect()))
            .boxed(),
        Some(_) | None => first.prop_map(move |first| arg(vec![first])).boxed(),
    }
}

fn any_command() -> impl Strategy<Value = Command> {
    let specs: Vec<&'static CommandSpec> = NOUNS.iter().flat_map(|noun| noun.commands).collect();
    proptest::sample::select(specs).prop_flat_map(command)
}

/// Lines that look like commands more often than random text does.
fn any_line() -> impl Strategy<Value = String> {
    let words = [
        "add",
        "set",
        "unset",
        "rm",
        "bind",
        "show",
        "s",
        "help",
        "batch",
        "lb",
        "vserver",
        "server",
        "service",
        "ns",
        "config",
        "v",
        "10.0.0.1",
        "::1",
        "*",
        "80",
        "0",
        "TCP",
        "-weight",
        "-newServiceRequest",
        "-unit",
        "-cip",
        "-comment",
        "-force",
        "-",
        "-5",
        "#",
        "\"a b\"",
        "\"",
        "'",
        "q{",
        "}",
        "(",
        ")",
        "\\",
        " ",
        "  ",
        "\t",
        "\r",
        "\n",
        "\u{a0}",
        "é",
        "",
    ];
    let word = prop_oneof![
        6 => proptest::sample::select(words.to_vec()).prop_map(str::to_owned),
        1 => "\\PC{0,8}",
        1 => any::<String>(),
    ];
    (proptest::collection::vec(word, 0..10), any::<bool>())
        .prop_map(|(words, apart)| words.join(if apart { " " } else { "" }))
}

proptest! {
    #[test]
    fn what_is_written_is_read_as_the_same(command in any_command()) {
        let line = render(&command);
        prop_assert_eq!(parse(&line), Ok(Some(command.clone())), "{}", line);
        prop_assert_eq!(check(&command), Ok(()));
    }

    #[test]
    fn any_text_survives_quoting(text in "[ -~\\t\\n\\ré\u{a0}]{0,40}") {
        let line = format!("set server s -comment {}", quote(&text));
        let command = parse(&line).map(|command| command.expect("it is no comment"));
        prop_assert_eq!(command.as_ref().map(|command| command.text(Key::Comment)), Ok(Some(&*text)));
    }

    #[test]
    fn no_line_makes_it_panic(line in any_line(), cursor in 0_usize..80) {
        if let Err(refusal) = parse(&line) {
            prop_assert!(line.get(refusal.span.clone()).is_some(), "{:?}", refusal.span);
            prop_assert!(refusal.caret(&line).ends_with('^'));
        }
        let names = |_| vec!["v".to_owned(), "a b".to_owned()];
        let completion = complete(&line, cursor, &names);
        prop_assert!(line.is_char_boundary(completion.start));
        prop_assert!(completion.start <= cursor.min(line.len()));
        let _ = help(&line);
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        if let Err(refusal) = parse_words(&words) {
            prop_assert!(words.join(" ").get(refusal.span).is_some());
        }
    }

    #[test]
    fn no_file_makes_it_panic(bytes in any::<Vec<u8>>()) {
        let newlines = bytes.iter().filter(|byte| **byte == b'\n').count();
        let found = lines(&bytes);
        prop_assert!(found.len() <= newlines + 1);
    }

    #[test]
    fn a_line_that_is_read_is_read_again_as_written(line in any_line()) {
        if let Ok(Some(command)) = parse(&line) {
            prop_assert_eq!(parse(&render(&command)), Ok(Some(command)));
        }
    }
}
