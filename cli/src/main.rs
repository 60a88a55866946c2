//! The shell of Sluice: commands typed, given as words or read from a file.

mod alias;
mod args;
mod batch;
mod check;
mod complete;
mod confirm;
mod escape;
mod folder;
mod forward;
mod grep;
mod history;
mod interrupt;
mod json;
mod local;
mod mode;
mod names;
mod output;
mod prompt;
mod question;
mod render;
mod rounds;
mod runner;
mod session;
mod several;
mod shell;
mod user;

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal};
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;
use jiff::tz::TimeZone;
use sluice_protocol::default_socket;

use args::Args;
use local::Local;
use output::Output;
use runner::{Mode, Runner, Step};
use session::Session;

fn main() -> ExitCode {
    let args = Args::parse();
    if let Some(flag) = args.unknown_flag() {
        let message = format!("unexpected argument '{}' found", escape::escape(flag));
        let mut command = <Args as clap::CommandFactory>::command();
        command.error(ErrorKind::UnknownArgument, message).exit();
    }
    let mut output = Output::standard();
    if colourless(&args).is_none() {
        output.allow_colour();
    }
    let status = run(args, &mut output);
    match output.take_problem() {
        None => status,
        Some(error) => {
            output.err(&format!("ERROR: output cannot be written: {error}\n"));
            ExitCode::FAILURE
        }
    }
}

fn run(args: Args, output: &mut Output) -> ExitCode {
    if let Some(path) = &args.check {
        return check::run(path, args.json, output);
    }
    let mode = Mode {
        json: args.json,
        stop_on_error: args.stop_on_error,
    };
    let local = Local::new(colourless(&args));
    let session = Session::new(args.socket.unwrap_or_else(default_socket));
    let mut runner = Runner::new(session, mode, TimeZone::system(), local);
    if let Some(path) = &args.file {
        return run_file(&mut runner, path, output);
    }
    if !args.words.is_empty() {
        return status(runner.run_words(&args.words, output));
    }
    if io::stdin().is_terminal() {
        return shell::run(&mut runner, output);
    }
    run_source(&mut runner, &mut io::stdin().lock(), "-", output)
}

/// Returns why nothing can be coloured, if so: errors and warnings are, where a person reads them.
fn colourless(args: &Args) -> Option<&'static str> {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if args.no_color {
        Some("--no-color was given")
    } else if is_set("NO_COLOR") {
        Some("NO_COLOR is set")
    } else if !io::stderr().is_terminal() {
        Some("standard error is no terminal")
    } else if std::env::var_os("TERM").is_none_or(|term| term == "dumb") {
        Some("the terminal has no colours")
    } else {
        None
    }
}

fn run_file(runner: &mut Runner, path: &Path, output: &mut Output) -> ExitCode {
    let name = path.to_string_lossy();
    if name == "-" {
        return run_source(runner, &mut io::stdin().lock(), "-", output);
    }
    match open(path) {
        Ok(mut source) => run_source(runner, &mut source, &name, output),
        Err(error) => {
            output.err(&format!(
                "ERROR: {} cannot be read: {error}\n",
                escape::escape(&name)
            ));
            ExitCode::from(2)
        }
    }
}

/// Opens a file that can be read: a folder can be opened too.
fn open(path: &Path) -> io::Result<BufReader<File>> {
    let mut source = BufReader::new(File::open(path)?);
    source.fill_buf()?;
    Ok(source)
}

fn run_source(
    runner: &mut Runner,
    source: &mut dyn BufRead,
    name: &str,
    output: &mut Output,
) -> ExitCode {
    status(batch::run(runner, source, name, output))
}

fn status(step: Step) -> ExitCode {
    match step {
        Step::Done | Step::Quit => ExitCode::SUCCESS,
        Step::Failed => ExitCode::FAILURE,
        Step::NoDaemon | Step::Interrupted => ExitCode::from(2),
    }
}
