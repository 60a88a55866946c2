//! The commands that the shell carries out itself, without the daemon, and what they change.

use std::io::{self, IsTerminal};
use std::process;

use jiff::Zoned;
use sluice_command::{Command, Fault, Key, Noun, Value, Verb, catalogue, quote};
use sluice_protocol::Row;

use crate::alias::Aliases;
use crate::history::Log;
use crate::mode::CliMode;
use crate::output::Output;
use crate::prompt::Prompt;
use crate::runner::{Place, Runner, print_warning};
use crate::{folder, json, user};

/// What holds for this session alone, and the user's aliases.
#[derive(Debug)]
pub(crate) struct Local {
    /// `cli mode`
    pub(crate) mode: CliMode,
    /// `cli prompt`
    pub(crate) prompt: Prompt,
    /// The aliases.
    pub(crate) aliases: Aliases,
    /// The earlier commands; `None` until somebody asks.
    pub(crate) log: Option<Log>,
    /// Why nothing can be coloured, if so.
    pub(crate) colourless: Option<&'static str>,
    since: Zoned,
}

impl Local {
    /// Begins a session.
    pub(crate) fn new(colourless: Option<&'static str>) -> Self {
        Self {
            mode: CliMode::default(),
            prompt: Prompt::default(),
            aliases: Aliases::at(folder::aliases()),
            log: None,
            colourless,
            since: Zoned::now(),
        }
    }

    /// Returns the earlier commands.
    pub(crate) fn log(&mut self) -> &mut Log {
        self.log.get_or_insert_with(|| {
            folder::history().map_or_else(Log::default, |path| Log::of_file(&path))
        })
    }

    fn whoami(&self) -> String {
        let since = self.since.strftime("%a %b %e %H:%M:%S %Y");
        format!("\tUserName: {}\tLoggedIn: {since}\n", user::name())
    }
}

/// Tells whether `noun` is the shell's own.
pub(crate) fn is_of_shell(noun: Noun) -> bool {
    matches!(noun, Noun::CliMode | Noun::CliPrompt | Noun::CliAttribute)
}

/// Carries out a command of the shell's own.
///
/// # Errors
/// It is refused.
pub(crate) fn run(
    runner: &mut Runner,
    command: &Command,
    place: Place<'_>,
    output: &mut Output,
) -> Result<(), Fault> {
    let text = match command.verb {
        Verb::Help => help(command)?,
        Verb::Man => sluice_command::man(&words(command))?,
        Verb::History => runner.local.log().text(),
        Verb::Alias => alias(&runner.local.aliases, command)?,
        Verb::Unalias => {
            let name = command.text(Key::Pattern).unwrap_or_default();
            runner.local.aliases.remove(name)?;
            String::new()
        }
        Verb::Whoami => runner.local.whoami(),
        Verb::Cls if io::stdout().is_terminal() => "\x1b[H\x1b[2J".to_owned(),
        Verb::Cls => String::new(),
        Verb::Shell => return Err(shell_refused()),
        Verb::Config => return Err(config_refused()),
        Verb::Show
        | Verb::Set
        | Verb::Unset
        | Verb::Explain
        | Verb::Clear
        | Verb::Add
        | Verb::Rm
        | Verb::Enable
        | Verb::Disable
        | Verb::Bind
        | Verb::Unbind
        | Verb::Rename
        | Verb::Stat
        | Verb::Save
        | Verb::Batch
        | Verb::Source
        | Verb::Diff
        | Verb::Apply
        | Verb::Confirm
        | Verb::Rollback
        | Verb::Exit
        | Verb::Quit => setting(runner, command, place, output),
    };
    let is_document = runner.mode.json && command.verb == Verb::Show;
    if is_document {
        let lines = text.lines().map(|line| Row::Line(line.trim().to_owned()));
        output.out(&json::document(&lines.collect::<Vec<_>>()));
    } else {
        output.out(&text);
    }
    Ok(())
}

/// Runs `line` in the user's own shell, or that shell itself if there is none.
///
/// # Errors
/// It could not be run, or ended with an error.
pub(crate) fn run_shell(line: &str) -> Result<(), Fault> {
    let failed = |why: String| Fault::new(catalogue::SHELL_FAILED).with_details(why);
    let program = std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into());
    let mut process = process::Command::new(&program);
    if !line.is_empty() {
        process.arg("-c").arg(line);
    }
    let status = process
        .status()
        .map_err(|error| failed(format!("{}, {error}", program.to_string_lossy())))?;
    // A shell ends with the status of what was typed in it last, which is nothing to us.
    if status.success() || line.is_empty() {
        return Ok(());
    }
    Err(failed(status.to_string()))
}

/// Returns what stands behind the word `shell`, exactly as it was typed: it is not of our language.
pub(crate) fn shell_line(text: &str) -> Option<&str> {
    let text = text.trim();
    let end = text.find([' ', '\t']).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    word.eq_ignore_ascii_case("shell")
        .then(|| rest.trim_start())
}

/// Shows or changes the mode or the prompt.
fn setting(
    runner: &mut Runner,
    command: &Command,
    place: Place<'_>,
    output: &mut Output,
) -> String {
    let local = &mut runner.local;
    match (command.noun, command.verb) {
        (Noun::CliMode, Verb::Show) => return local.mode.text(),
        (Noun::CliPrompt, Verb::Show) => return local.prompt.text(),
        (Noun::CliAttribute, _) => return ATTRIBUTE.to_owned(),
        (Noun::CliPrompt, Verb::Set) => {
            let template = command.text(Key::PromptString);
            local.prompt.set(template.unwrap_or_default());
        }
        (Noun::CliPrompt, _) => local.prompt.clear(),
        (_, _) => {
            let mut warnings = local.mode.change(command);
            let is_on = local.mode.is_on(Key::Color);
            if is_on
                && command.arg(Key::Color).is_some()
                && let Some(why) = local.colourless
            {
                warnings.push(format!("-color has no effect here [{why}]"));
            }
            output.set_colour(is_on);
            for warning in warnings {
                print_warning(&warning, place, output);
            }
        }
    }
    String::new()
}

/// The first word is the name; what stands behind it is the command, as one word or as several.
fn alias(aliases: &Aliases, command: &Command) -> Result<String, Fault> {
    let values = command.arg(Key::Words).map_or(&[][..], |arg| &arg.values);
    let words: Vec<&str> = values.iter().filter_map(Value::text).collect();
    match words.as_slice() {
        [] => return aliases.text(None),
        [name] => return aliases.text(Some(name)),
        [name, line] => aliases.define(name, line)?,
        [name, words @ ..] => {
            let words: Vec<String> = words.iter().map(|word| quote(word)).collect();
            aliases.define(name, &words.join(" "))?;
        }
    }
    Ok(String::new())
}

fn help(command: &Command) -> Result<String, Fault> {
    match (command.arg(Key::All), command.arg(Key::Words)) {
        (Some(_), None) => Ok(sluice_command::help_all()),
        (Some(_), Some(_)) => {
            Err(Fault::new(catalogue::EXCLUSIVE_ARGUMENTS).with_details("command, all"))
        }
        (None, _) => sluice_command::help(&words(command)),
    }
}

/// Returns the words of a command that takes another one, as a line.
fn words(command: &Command) -> String {
    let words = command.arg(Key::Words).map_or(&[][..], |arg| &arg.values);
    let words = words.iter().filter_map(Value::text);
    words.map(quote).collect::<Vec<_>>().join(" ")
}

fn shell_refused() -> Fault {
    Fault::new(catalogue::NOT_VALID_HERE)
        .with_details("shell")
        .with_hint("it runs where a person types it, at the prompt; not from files or scripts")
}

fn config_refused() -> Fault {
    Fault::new(catalogue::NOT_SUPPORTED)
        .with_details("config")
        .with_hint("there is no contextual mode; type commands in full: set lb vserver v1 ...")
}

const ATTRIBUTE: &str = "\
\tText in \"...\" or '...' is one value; \\\" \\' \\\\ \\t \\n and \\r in it are escapes
\tText in q<delimiter>...<delimiter> is one value, without escapes
\tDelimiters: / { < | ~ $ ^ + = & % @ ` ?   { is closed by }, < by >, each other by itself
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_behind_shell_is_taken_as_it_was_typed() {
        assert_eq!(shell_line("shell"), Some(""));
        assert_eq!(
            shell_line(" SHELL  ls -l | wc 'a b' "),
            Some("ls -l | wc 'a b'")
        );
        assert_eq!(shell_line("sh server"), None);
        assert_eq!(shell_line("shellx"), None);
        assert_eq!(shell_line(""), None);
    }

    #[test]
    fn every_delimiter_that_is_shown_is_one() {
        let (_, list) = ATTRIBUTE.split_once("Delimiters: ").unwrap();
        let (list, _) = list.split_once("  ").unwrap();
        for open in list.split(' ') {
            let close = match open {
                "{" => "}",
                "<" => ">",
                other => other,
            };
            let line = format!("add server s 10.0.0.1 -comment q{open}a \\n{close}");
            let command = sluice_command::parse(&line).unwrap().unwrap();
            assert_eq!(command.text(Key::Comment), Some("a \\n"), "{open}");
        }
    }
}
