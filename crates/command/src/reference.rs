//! The reference page of all commands, from the table.

use std::fmt::Write;

use crate::help::{facts, synopsis};
use crate::table::{self, ArgSpec, CommandSpec, Kind, NOUNS, NounSpec, Saved};
use crate::value::{allowed, list};
use crate::{Noun, catalogue};

/// Returns the page `docs/commands.md`: every command with its synopsis and every argument with
/// what it takes, what holds without it and what it means; then the catalogue of errors.
pub fn reference() -> String {
    let mut out = String::from(INTRODUCTION);
    for noun in NOUNS {
        object(&mut out, noun);
    }
    out.push_str(ERRORS);
    for code in catalogue::ALL {
        row(&mut out, &[&code.number.to_string(), code.text]);
    }
    out
}

fn object(out: &mut String, noun: &'static NounSpec) {
    let words = if noun.noun == Noun::None {
        "the shell".to_owned()
    } else {
        table::noun_words(noun.noun)
    };
    line(out, &format!("\n## {words}\n\n{}.\n\n```text", noun.help));
    for spec in noun.commands {
        line(out, &wrapped(spec));
    }
    line(out, "```\n");
    for spec in noun.commands {
        line(out, &format!("- `{}`: {}.", name(spec), spec.help));
    }
    arguments(out, noun);
}

/// Describes every argument of the noun once: positionals and own options under the command that
/// describes them first.
fn arguments(out: &mut String, noun: &'static NounSpec) {
    let mut seen: Vec<(&str, &str)> = Vec::new();
    let mut rows: Vec<(&'static CommandSpec, &'static ArgSpec, bool)> = Vec::new();
    for spec in noun.commands {
        let positionals = spec.positionals.iter().map(|slot| (&slot.arg, true));
        let options = spec.options().map(|row| (row, false));
        for (arg, positional) in positionals.chain(options) {
            if !seen.contains(&(arg.spelling, arg.help)) {
                seen.push((arg.spelling, arg.help));
                rows.push((spec, arg, positional));
            }
        }
    }
    if rows.is_empty() {
        return;
    }
    line(
        out,
        "\n| argument | value | in | meaning |\n|---|---|---|---|",
    );
    for (spec, arg, positional) in rows {
        let typed = if positional {
            format!("`<{}>`", arg.spelling)
        } else {
            format!("`-{}`", arg.spelling)
        };
        let saved = match arg.saved {
            Saved::Always => " Always saved.",
            Saved::NotDefault => "",
        };
        let facts: Vec<String> = facts(spec, arg)
            .into_iter()
            .filter(|fact| !fact.starts_with("Value:"))
            .collect();
        let meaning = format!("{}. {}{saved}", arg.help, facts.join(" "));
        row(
            out,
            &[&typed, &values(arg), &verbs(noun, arg), meaning.trim_end()],
        );
    }
}

fn values(arg: &ArgSpec) -> String {
    let mut text = match arg.kind {
        Kind::Choice(choices) => {
            let words: Vec<String> = choices
                .allowed
                .iter()
                .map(|(word, _)| format!("`{word}`"))
                .collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            list(&words)
        }
        Kind::Flag
        | Kind::NewName(_)
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
        | Kind::ListenPort => allowed(arg.kind),
    };
    if let Some(then) = arg.then {
        let second = allowed(then.kind);
        let required = if then.required {
            "then"
        } else {
            "and, if wanted,"
        };
        let _ = write!(text, "; {required} {second}");
    }
    text
}

fn verbs(noun: &'static NounSpec, arg: &ArgSpec) -> String {
    let takes = |spec: &&CommandSpec| {
        let same = |row: &ArgSpec| row.spelling == arg.spelling && row.help == arg.help;
        spec.positionals.iter().any(|slot| same(&slot.arg)) || spec.options().any(same)
    };
    let verbs: Vec<&str> = noun
        .commands
        .iter()
        .filter(takes)
        .map(|spec| table::verb_word(spec.verb))
        .collect();
    verbs.join(", ")
}

fn wrapped(spec: &'static CommandSpec) -> String {
    let mut text = String::new();
    let mut width = 0;
    for part in synopsis(spec) {
        if width + part.len() > 96 {
            text.push_str("\n   ");
            width = 3;
        }
        if width > 0 {
            text.push(' ');
        }
        text.push_str(&part);
        width += part.len() + 1;
    }
    text
}

fn name(spec: &CommandSpec) -> String {
    let verb = table::verb_word(spec.verb);
    match spec.noun {
        Noun::None => verb.to_owned(),
        noun => format!("{verb} {}", table::noun_words(noun)),
    }
}

fn row(out: &mut String, cells: &[&str]) {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    line(out, &format!("| {} |", cells.join(" | ")));
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

const INTRODUCTION: &str = "\
# Commands

<!-- Written from the table of the command language (crates/command/src/table). Do not edit: run
     `SLUICE_WRITE_DOCS=1 cargo test -p sluice-command reference` after a change of the table. -->

One command a line: a verb, an object, its name, other values in their order, then options in any
order.

- Verbs, objects, options and values of closed lists are read in any case and may be cut to any
  prefix that is unique; a word typed in full always wins. The group (`lb`, `ns`) may be left out:
  `sh run`, `save config`, `add vserver`. Names keep their case and are looked up exactly.
- `#` at the start of a word begins a comment. A value with blanks, quotes or parentheses, one that
  begins with `-` or `#`, and an empty one stand in quotes: `\"my server\"`. Inside quotes `\\\"`,
  `\\'`, `\\\\`, `\\t`, `\\n` and `\\r` are escapes. `q{...}` takes everything as it is, and so does
  `q` with another delimiter of ``/ { < | ~ $ ^ + = & % @ ` ?``.
- An option is given once; giving it again is an error. `unset` takes names of options without
  values. `-newServiceRequestUnit` without `-newServiceRequest` changes the unit alone.
- Names have 1-127 characters: letters, digits, `_`, `#`, `.`, blank, `:`, `@`, `=` and `-`, and
  begin with a letter, a digit or `_`. An IP address is a name of a server too.
- Numbers are decimal, without leading zeros. One out of its range is `Integer not in range`,
  whatever it counts.
- In a file, a byte order mark, Windows line ends, trailing blanks and a missing newline at the end
  do not matter. A no-break space outside quotes is an error.
- `| grep [-c] [-E] [-i] [-v] [-w] [-x] <pattern>` behind a command that shows something prints the
  lines that match; flags stand before or after the pattern, a basic regular expression or with
  `-E` an extended one.
";

const ERRORS: &str = "
## Errors

`ERROR: text [details]`. Numbers below 10000 and their texts are those of the NetScaler catalogue;
the others are our own.

| number | text |
|---|---|
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_page_is_up_to_date() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/commands.md");
        if std::env::var_os("SLUICE_WRITE_DOCS").is_some() {
            std::fs::write(path, reference()).expect("docs/commands.md can be written");
        }
        let page = std::fs::read_to_string(path).expect("docs/commands.md is in the repository");
        assert!(
            page == reference(),
            "docs/commands.md is out of date: SLUICE_WRITE_DOCS=1 cargo test -p sluice-command reference"
        );
    }
}
