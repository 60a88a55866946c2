//! The program's own flags and what they ask for.

use clap::{Parser, ValueHint};
use std::path::PathBuf;

/// The shell of Sluice.
///
/// Without words: the interactive shell on a terminal, else the commands on standard input.
#[derive(Clone, Debug, Parser)]
#[command(name = "sluice", version, max_term_width = 100)]
#[command(
    after_help = "Exit status: 0 all done, 1 a command failed, 2 usage or no daemon.\n\
    With --check: 0 clean or warnings, 1 errors, 2 unreadable."
)]
pub(crate) struct Args {
    /// The daemon's control socket
    #[arg(long, env = "SLUICE_SOCKET", value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) socket: Option<PathBuf>,

    /// Print the answer of show and stat as one JSON document, and no Done
    #[arg(long)]
    pub(crate) json: bool,

    /// Run the commands in FILE, one per line; - is standard input
    #[arg(short, value_name = "FILE", conflicts_with_all = ["check", "words"])]
    pub(crate) file: Option<PathBuf>,

    /// Stop at the first command that fails
    #[arg(long)]
    pub(crate) stop_on_error: bool,

    /// Colour nothing, whatever set cli mode -color says
    #[arg(long)]
    pub(crate) no_color: bool,

    /// Check the configuration in FILE without a daemon, and run nothing
    #[arg(long, value_name = "FILE", conflicts_with = "words")]
    pub(crate) check: Option<PathBuf>,

    /// A command: each word is one token; a single word that contains blanks is one line
    #[arg(
        value_name = "WORDS",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub(crate) words: Vec<String>,
}

impl Args {
    /// Returns a word that stands where only flags and commands may: no command starts with `-`.
    pub(crate) fn unknown_flag(&self) -> Option<&str> {
        let first = self.words.first()?;
        (first.len() > 1 && first.starts_with('-')).then_some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn parse(words: &[&str]) -> Result<Args, clap::Error> {
        Args::try_parse_from([&["sluice"], words].concat())
    }

    #[test]
    fn the_definition_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn everything_from_the_first_word_on_belongs_to_the_command() {
        let args = parse(&[
            "--json",
            "set",
            "lb",
            "vserver",
            "v1",
            "-cltTimeout",
            "3",
            "--json",
        ]);
        let args = args.unwrap();
        assert!(args.json);
        assert_eq!(
            args.words,
            ["set", "lb", "vserver", "v1", "-cltTimeout", "3", "--json"]
        );
    }

    #[test]
    fn a_dash_is_a_file_name() {
        let args = parse(&["-f", "-", "--stop-on-error"]).unwrap();
        assert_eq!(args.file, Some(PathBuf::from("-")));
        assert!(args.stop_on_error && args.words.is_empty());
    }

    #[test]
    fn an_unknown_flag_is_found() {
        let args = parse(&["--jsno", "show", "server"]);
        assert!(args.is_err() || args.unwrap().unknown_flag() == Some("--jsno"));
        let args = parse(&["show", "-x"]).unwrap();
        assert_eq!(args.unknown_flag(), None);
    }

    #[test]
    fn a_file_and_words_exclude_each_other() {
        assert!(parse(&["-f", "x", "show", "server"]).is_err());
        assert!(parse(&["--check", "x", "show"]).is_err());
        assert!(parse(&["--check", "x", "-f", "y"]).is_err());
    }
}
