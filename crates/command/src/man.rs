//! The long page of one command.

use crate::head;
use crate::help::{argument, help, paragraph, short_synopsis, synopsis};
use crate::parse::parse_tokens;
use crate::table::{self, CommandSpec};
use crate::{Fault, Noun};

/// Explains `words` at length where they are a command, and as [`help`] where they are not.
///
/// # Errors
/// As [`help`].
pub fn man(words: &str) -> Result<String, Fault> {
    let tokens = parse_tokens(words).map_err(|refusal| refusal.fault)?;
    let texts: Vec<String> = tokens.iter().map(|token| token.typed()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    match head::command(&texts) {
        Ok((spec, used)) if used == texts.len() => Ok(page(spec)),
        Ok(_) | Err(_) => help(words),
    }
}

fn page(spec: &'static CommandSpec) -> String {
    let mut out = format!("NAME\n{INDENT}{} - {}\n\nSYNOPSIS\n", name(spec), spec.help);
    paragraph(&mut out, INDENT, "          ", &synopsis(spec));
    let rows: Vec<_> = spec
        .positionals
        .iter()
        .map(|slot| &slot.arg)
        .chain(spec.options())
        .collect();
    if !rows.is_empty() {
        out.push_str("\nARGUMENTS\n");
    }
    for row in rows {
        out.push_str(&argument(spec, row));
    }
    let others = table::noun(spec.noun).commands.iter();
    let others: Vec<&CommandSpec> = others.filter(|other| other.verb != spec.verb).collect();
    if spec.noun != Noun::None && !others.is_empty() {
        out.push_str("\nSEE ALSO\n");
        for other in others {
            out.push_str(&format!("{INDENT}{}\n", short_synopsis(other)));
        }
    }
    out
}

fn name(spec: &CommandSpec) -> String {
    let words = format!(
        "{} {}",
        table::verb_word(spec.verb),
        table::noun_words(spec.noun)
    );
    words.trim_end().to_owned()
}

const INDENT: &str = "   ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_its_name_synopsis_arguments_and_neighbours() {
        let page = man("unb lb gr").expect("it exists");
        assert!(page.starts_with("NAME\n   unbind lb group - "), "{page}");
        assert!(
            page.contains("\nSYNOPSIS\n   unbind lb group <name> "),
            "{page}"
        );
        assert!(
            page.contains("\nARGUMENTS\n   <name>\n         The "),
            "{page}"
        );
        assert!(page.contains("\nSEE ALSO\n   add lb group "), "{page}");
    }

    #[test]
    fn what_is_no_command_is_explained_as_help_does() {
        assert_eq!(man("lb"), help("lb"));
        assert_eq!(man(""), help(""));
        assert_eq!(man("nosuch"), help("nosuch"));
    }
}
