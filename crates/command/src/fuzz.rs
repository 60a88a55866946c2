//! What holds of any bytes that are read as words and as a command. The bodies are for a fuzzer; the tests
//! run them over a corpus and its mutations.

use crate::{Command, Noun, check, complete, foreign, help, lex, lines, parse, quote, render};

/// Splits any text into words.
///
/// # Panics
/// A word is not where it says it is, or is another one when it is quoted and read again.
pub fn tokens(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for line in text.lines() {
        let (found, fault) = match lex::tokens(line) {
            Ok(found) => (found, None),
            Err((found, fault)) => (found, Some(fault)),
        };
        let mut end = 0;
        for token in &found {
            assert!(
                end <= token.span.start && token.span.start < token.span.end,
                "{line:?}"
            );
            assert!(
                line.get(token.span.clone()).is_some(),
                "{line:?}: {token:?}"
            );
            end = token.span.end;
            let quoted = quote(&token.text);
            let again = lex::tokens(&quoted).expect("what is quoted can be read");
            let again: Vec<&str> = again.iter().map(|token| token.text.as_str()).collect();
            assert_eq!(again, [token.text.as_str()], "{line:?}: {quoted:?}");
        }
        if let Some(fault) = fault {
            assert!(
                end <= fault.token_start && fault.token_start <= fault.at,
                "{line:?}"
            );
            assert!(
                line.get(fault.at..).is_some_and(|rest| !rest.is_empty()),
                "{line:?}"
            );
        }
    }
}

/// Reads any text as commands.
///
/// # Panics
/// A command is another one when it is written and read again, a fault has no place in its line, or
/// something that looks at a line cannot cope with it.
pub fn commands(bytes: &[u8]) {
    for line in lines(bytes) {
        // What it says of bytes that are no text is a matter of the loader.
        let Ok(text) = line.text else { continue };
        match parse(&text) {
            Ok(None) => {}
            Ok(Some(command)) => written(&text, &command),
            Err(refused) => {
                assert!(
                    text.get(refused.span.clone()).is_some(),
                    "{text:?}: {refused:?}"
                );
                assert_eq!(refused.caret(&text).lines().count(), 2, "{text:?}");
            }
        }
        let _ = foreign(&text);
        let _ = help(&text);
        for cursor in [0, text.len() / 2, text.len()] {
            let _ = complete(&text, cursor, &names);
        }
    }
}

fn written(text: &str, command: &Command) {
    let again = render(command);
    assert_eq!(
        parse(&again),
        Ok(Some(command.clone())),
        "{text:?}: {again:?}"
    );
    assert_eq!(render(command), again, "{text:?}");
    assert_eq!(check(command), Ok(()), "{text:?}");
}

fn names(_: Noun) -> Vec<String> {
    vec!["a".to_owned(), "two words".to_owned(), "é".to_owned()]
}
