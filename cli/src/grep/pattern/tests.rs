//! What patterns become, and what they match.

use super::*;
use regex::Regex;

#[track_caller]
fn becomes(syntax: Syntax, pattern: &str, expected: &str) {
    let translated = translate(pattern, syntax).unwrap();
    assert_eq!(translated, expected, "{pattern}");
    Regex::new(&translated).unwrap();
}

#[test]
fn a_basic_expression_escapes_what_is_special() {
    for (pattern, expected) in [
        ("a.b*", "a.b*"),
        ("a+b?(c){2}|d", r"a\+b\?\(c\)\{2\}\|d"),
        (r"a\+b\?\(c\)\{2\}\|d", "a+b?(?:c){2}|d"),
        (r"\(ab\)*\{1,3\}", "(?:(?:ab)*){1,3}"),
        (r"a\{2,\}b\{,3\}", "a{2,}b{0,3}"),
        ("*a", r"\*a"),
        (r"\(*a\)", r"(?:\*a)"),
        ("^*a", r"^\*a"),
        ("a^b$c", r"a\^b\$c"),
        ("^a$", "^a$"),
        (r"\(^a$\)\|^b$", "(?:^a$)|^b$"),
        (r"10\.0\.0\.1", r"10\.0\.0\.1"),
        (r"\<a\>\b\w\S", r"\b{start}a\b{end}\b\w\S"),
        ("é-_#", r"é\-\_\#"),
    ] {
        becomes(Syntax::Basic, pattern, expected);
    }
}

#[test]
fn an_extended_expression_is_special_without_escapes() {
    for (pattern, expected) in [
        ("a+b?(c){2}|d", "a+b?(?:c){2}|d"),
        (r"a\+b\?\(c\)\{2\}\|d", r"a\+b\?\(c\)\{2\}\|d"),
        ("a*?", "(?:a*)?"),
        ("a+*?", "(?:(?:a+)*)?"),
        ("(?i)a", r"(?:\?i)a"),
        ("+a|*b", r"\+a|\*b"),
        ("a{x}{", r"a\{x\}\{"),
        ("{2}", r"\{2\}"),
        ("(a|)b", "(?:a|)b"),
        ("a^b$", "a^b$"),
    ] {
        becomes(Syntax::Extended, pattern, expected);
    }
}

#[test]
fn brackets_are_the_same_in_both() {
    for (pattern, expected) in [
        ("[abc]", "[abc]"),
        ("[]a]", r"[\]a]"),
        ("[^]a]", r"[^\]a]"),
        ("[a-z0-9_-]", r"[a-z0-9\_\-]"),
        (r"[\d&&x~~]", r"[\\d\&\&x\~\~]"),
        ("[[:alpha:][:digit:]]", "[[:alpha:][:digit:]]"),
        ("[[a]", r"[\[a]"),
        ("[a^]", r"[a\^]"),
    ] {
        becomes(Syntax::Basic, pattern, expected);
        becomes(Syntax::Extended, pattern, expected);
    }
}

#[test]
fn what_is_no_expression_is_refused() {
    use Problem::{BackReference, Backslash, Class, Closed, Interval, Open, Range};
    for (syntax, pattern, problem) in [
        (Syntax::Basic, r"\(a", Open(r"\(")),
        (Syntax::Extended, "(a", Open("(")),
        (Syntax::Extended, "a)", Closed(")")),
        (Syntax::Basic, r"a\)", Closed(r"\)")),
        (Syntax::Basic, "[a", Open("[")),
        (Syntax::Basic, "[]", Open("[")),
        (Syntax::Basic, "[[:alpha:", Open("[")),
        (Syntax::Basic, r"a\{2", Open(r"\{")),
        (Syntax::Basic, r"a\{x\}", Interval("x".to_owned())),
        (Syntax::Extended, "a{3,2}", Interval("3,2".to_owned())),
        (Syntax::Extended, "a{256}", Interval("256".to_owned())),
        (Syntax::Basic, r"\(a\)\1", BackReference),
        (Syntax::Extended, r"(a)\1", BackReference),
        (Syntax::Basic, "a\\", Backslash),
        (Syntax::Basic, "[z-a]", Range('z', 'a')),
        (Syntax::Basic, "[[:nosuch:]]", Class(":nosuch:".to_owned())),
        (Syntax::Basic, "[[.a.]]", Class(".a.".to_owned())),
    ] {
        assert_eq!(translate(pattern, syntax), Err(problem), "{pattern}");
    }
}

/// Whatever is typed, a translation is one the library can read.
#[test]
fn every_translation_is_read_by_the_library() {
    let signs = [
        "a", "*", "\\", "(", ")", "[", "]", "{", "1", ",", "}", "|", "^", "$", "?", "-",
    ];
    let mut number = 0x2545_f491_4f6c_dd1d_u64;
    for _ in 0..20_000 {
        let mut pattern = String::new();
        number ^= number << 13;
        number ^= number >> 7;
        number ^= number << 17;
        let mut digits = number;
        for _ in 0..digits % 10 {
            digits /= 16;
            pattern.push_str(signs[(digits % 16) as usize]);
        }
        for syntax in [Syntax::Basic, Syntax::Extended] {
            if let Ok(translated) = translate(&pattern, syntax) {
                let read = Regex::new(&translated);
                assert!(read.is_ok(), "{pattern} became {translated}: {read:?}");
            }
        }
    }
}
