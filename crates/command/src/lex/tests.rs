//! Every rule of splitting and quoting, one table row each.

use super::*;

fn texts(line: &str) -> Vec<String> {
    let tokens = tokens(line).expect("the line can be split");
    tokens.iter().map(Token::typed).collect()
}

#[test]
fn quotes_and_escapes_follow_the_table() {
    for (line, expected) in [
        // A whole value in quotes loses them.
        ("\"a b\"", &["a b"][..]),
        ("'a b'", &["a b"]),
        ("\"\"", &[""]),
        // What stands directly behind the closing quote is a new word.
        ("\"a\"b", &["a", "b"]),
        ("\"a\"\"b\"", &["a", "b"]),
        ("\"a\"-b", &["a", "-b"]),
        ("\"a\"#b", &["a"]),
        // Quotes in the middle stay and protect blanks.
        ("a\"b c\"d e", &["a\"b c\"d", "e"]),
        ("a'b \"c'd", &["a'b \"c'd"]),
        // The other kind of quote is an ordinary character.
        ("\"it's\"", &["it's"]),
        ("'say \"x\"'", &["say \"x\""]),
        // Escapes, inside quotes only.
        (r#""a\tb\nc\rd""#, &["a\tb\nc\rd"]),
        (r#""\"None\"""#, &["\"None\""]),
        (r"'it\'s'", &["it's"]),
        (r#""a\\b""#, &["a\\b"]),
        (r#""a\xb""#, &["a\\xb"]),
        (r#""HTTP\\r\\n""#, &["HTTP\\r\\n"]),
        (r"a\tb", &[r"a\tb"]),
        (r"a\", &[r"a\"]),
        // q-quotes: no escapes, no nesting, and the delimiter must end the word.
        (r"q/a\n/", &[r"a\n"]),
        ("q{a b} c", &["a b", "c"]),
        ("q<a>", &["a"]),
        ("q`a\"b`", &["a\"b"]),
        ("q{}", &[""]),
        ("q{abc{", &["q{abc{"]),
        ("q{a}b", &["q{a}b"]),
        ("q{a{b}}", &["q{a{b}}"]),
        ("q/é/", &["é"]),
        ("Q{a}", &["Q{a}"]),
        ("q", &["q"]),
        ("qx", &["qx"]),
        // Parentheses protect blanks outside quotes.
        ("IN_SUBNET(10.0.0.0/8) x", &["IN_SUBNET(10.0.0.0/8)", "x"]),
        ("EQ( \"a b\" ) x", &["EQ( \"a b\" )", "x"]),
        ("f(a (b c) d) e", &["f(a (b c) d)", "e"]),
        ("\"(\"", &["("]),
        ("a\")\"", &["a\")\""]),
        // Keywords take everything up to the next separator.
        ("-a\"b c", &["-a\"b", "c"]),
        ("-a(b", &["-a(b"]),
        ("- a", &["-", "a"]),
        ("--a", &["--a"]),
        // Comments, at the start of a word only.
        ("a # b", &["a"]),
        ("a#b", &["a#b"]),
        ("-a#b", &["-a#b"]),
        ("\"# a\"", &["# a"]),
        // Separators.
        (" \ta \t b\n c\r", &["a", "b", "c"]),
    ] {
        assert_eq!(texts(line), expected, "{line}");
    }
}

#[test]
fn a_quoted_dash_is_no_keyword() {
    let found = tokens("\"-a\" -b").expect("the line can be split");
    assert!(!found[0].keyword);
    assert!(found[1].keyword);
    assert_eq!(found[1].text, "b");
}

#[test]
fn spans_cover_the_word_as_typed() {
    let line = "add \"é \" -state q{x} # c";
    let spans: Vec<&str> = tokens(line)
        .expect("the line can be split")
        .into_iter()
        .map(|token| &line[token.span])
        .collect();
    assert_eq!(spans, ["add", "\"é \"", "-state", "q{x}"]);
}

#[test]
fn what_does_not_end_is_reported_where_it_begins() {
    for (line, problem, at, token_start) in [
        ("a \"b c", Problem::Quote('"'), 2, 2),
        ("a b'c d", Problem::Quote('\''), 3, 2),
        (r#"a "b\""#, Problem::Quote('"'), 2, 2),
        (r#"a "b\"#, Problem::Quote('"'), 2, 2),
        ("a f(g(b) c", Problem::Parenthesis('('), 3, 2),
        ("a b)", Problem::Parenthesis(')'), 3, 2),
        ("a b(c))", Problem::Parenthesis(')'), 6, 2),
        ("é b\u{a0}c", Problem::Invisible('\u{a0}'), 4, 3),
        ("a -b\u{feff}", Problem::Invisible('\u{feff}'), 4, 2),
    ] {
        let (before, fault) = tokens(line).expect_err("the line cannot be split");
        assert_eq!(
            (before.len(), fault),
            (
                1,
                LexFault {
                    problem,
                    at,
                    token_start
                }
            ),
            "{line}"
        );
    }
}
