//! Runs the commands of a file, one a line: `-f`, standard input, and the commands `batch` and
//! `source`.
//!
//! A line is run as soon as it has been read, so that another program can talk through a pipe.
//! Errors do not end a file unless that was asked for; a lost daemon does, since nothing more can
//! succeed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use sluice_command::{Command, Fault, Key, LINE_MAX, Verb, catalogue, foreign, masked};
use sluice_config::Skips;

use crate::escape::escape;
use crate::forward::{Forward, Late};
use crate::output::Output;
use crate::runner::{Place, Runner, Step, print_fault};

/// How many commands were run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// All of them.
    pub(crate) commands: u64,
    /// Those that failed.
    pub(crate) failed: u64,
    /// Those of features that are not here.
    pub(crate) skips: Skips,
}

/// Runs all lines of `source`, which errors call `name`, and prints the summary.
pub(crate) fn run(
    runner: &mut Runner,
    source: &mut dyn BufRead,
    name: &str,
    output: &mut Output,
) -> Step {
    let mut tally = Tally::default();
    let step = run_lines(runner, source, name, Echo::Off, &mut tally, output);
    sum_up(runner, &tally, output);
    output.err(&format!(
        "{} commands, {} failed\n",
        tally.commands, tally.failed
    ));
    match step {
        Step::NoDaemon | Step::Interrupted => step,
        Step::Done | Step::Failed | Step::Quit => {
            if tally.failed == 0 {
                Step::Done
            } else {
                Step::Failed
            }
        }
    }
}

/// Carries out the command `batch`, or `source`.
///
/// With `batch` each line is printed as `exec: <command>` before what it gives, without its
/// secrets, as the reference does (recalled).
///
/// # Errors
/// The file cannot be read, a command in it failed, or it is nested too deeply.
pub(crate) fn run_nested(
    runner: &mut Runner,
    command: &Command,
    output: &mut Output,
) -> Result<Step, Fault> {
    let name = command.text(Key::FileName).unwrap_or_default();
    let times = command.integer(Key::NTimes).unwrap_or(1);
    if runner.nesting >= NESTING_MAX {
        return Err(Fault::new(catalogue::NOT_VALID_HERE)
            .with_details(format!("files in files, more than {NESTING_MAX} deep")));
    }
    // Opened first, so that a missing file does not leave an empty one for the output.
    drop(open(name)?);
    let mut file = match command.text(Key::OutFile) {
        Some(outfile) => Some(Output::file(create(outfile, name)?)),
        None => None,
    };
    let target = file.as_mut().unwrap_or(output);
    let echo = if command.verb == Verb::Batch {
        Echo::On
    } else {
        Echo::Off
    };
    let mut tally = Tally::default();
    runner.nesting += 1;
    let ended = repeat(runner, name, times, echo, &mut tally, target);
    runner.nesting -= 1;
    sum_up(runner, &tally, target);
    if let Some(problem) = file.as_mut().and_then(Output::take_problem) {
        return Err(Fault::new(catalogue::OUTFILE).with_details(problem.to_string()));
    }
    match ended? {
        Step::Done | Step::Failed => verdict(name, &tally),
        step @ (Step::Quit | Step::NoDaemon | Step::Interrupted) => Ok(step),
    }
}

fn repeat(
    runner: &mut Runner,
    name: &str,
    times: u64,
    echo: Echo,
    tally: &mut Tally,
    output: &mut Output,
) -> Result<Step, Fault> {
    for _ in 0..times {
        let mut source = open(name)?;
        match run_lines(runner, &mut source, name, echo, tally, output) {
            Step::Done => {}
            step @ (Step::Failed | Step::Quit | Step::NoDaemon | Step::Interrupted) => {
                return Ok(step);
            }
        }
    }
    Ok(Step::Done)
}

/// Prints what stands for many lines.
fn sum_up(runner: &mut Runner, tally: &Tally, output: &mut Output) {
    let again = runner.forget_warnings();
    if again > 0 {
        output.err(&format!(
            "{again} warnings more say the same of other lines\n"
        ));
    }
    if let Some(summary) = tally.skips.summary() {
        output.err(&format!("{}\n", escape(&summary)));
    }
}

fn verdict(name: &str, tally: &Tally) -> Result<Step, Fault> {
    if tally.failed == 0 {
        return Ok(Step::Done);
    }
    let code = if tally.failed == tally.commands {
        catalogue::ALL_FAILED
    } else {
        catalogue::SOME_FAILED
    };
    let details = format!("{name}, {} of {}", tally.failed, tally.commands);
    Err(Fault::new(code).with_details(details))
}

/// Whether a line is printed before it is run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Echo {
    On,
    Off,
}

/// Returns `Failed` only if the file was not run to its end.
fn run_lines(
    runner: &mut Runner,
    source: &mut dyn BufRead,
    name: &str,
    echo: Echo,
    tally: &mut Tally,
    output: &mut Output,
) -> Step {
    let mut number = 0;
    let mut forward = Forward::default();
    loop {
        number += 1;
        let place = Place::File { name, line: number };
        let step = match next_line(source, number) {
            Ok(Next::End) => {
                let rest = forward.finish();
                return run_late(runner, rest, name, echo, tally, output);
            }
            Ok(Next::Nothing) => continue,
            Ok(Next::Line(line)) => {
                let line = forward.take(number, line, runner.session.names());
                if echo == Echo::On && !runner.mode.json {
                    output.out(&format!("exec: {}\n", escape(&masked(line.trim()))));
                }
                runner.run_text(&line, place, output)
            }
            Ok(Next::Skipped(feature)) => {
                tally.skips.add(&feature);
                Step::Done
            }
            Ok(Next::Bad(fault)) => {
                print_fault(&fault, None, place, output);
                Step::Failed
            }
            Err(error) => {
                let fault = Fault::new(catalogue::FILE_UNREADABLE).with_details(error.to_string());
                print_fault(&fault, None, place, output);
                tally.commands += 1;
                tally.failed += 1;
                return Step::Failed;
            }
        };
        if let Some(end) = count(step, runner, tally) {
            return end;
        }
        if step == Step::Done {
            let late = forward.handle_done();
            match run_late(runner, late, name, echo, tally, output) {
                Step::Done => {}
                step @ (Step::Failed | Step::Quit | Step::NoDaemon | Step::Interrupted) => {
                    return step;
                }
            }
        }
    }
}

/// Counts a command; returns how the file ends if it ends with it.
fn count(step: Step, runner: &Runner, tally: &mut Tally) -> Option<Step> {
    tally.commands += 1;
    match step {
        Step::Done => None,
        Step::Quit => Some(step),
        Step::NoDaemon | Step::Interrupted => {
            tally.failed += 1;
            Some(step)
        }
        Step::Failed => {
            tally.failed += 1;
            runner.mode.stop_on_error.then_some(step)
        }
    }
}

/// Runs what lines of a file have left for later; returns `Done` unless the file ends with it.
fn run_late(
    runner: &mut Runner,
    late: Vec<Late>,
    name: &str,
    echo: Echo,
    tally: &mut Tally,
    output: &mut Output,
) -> Step {
    for Late { number, text } in late {
        if echo == Echo::On && !runner.mode.json {
            output.out(&format!("exec: {}\n", escape(&text)));
        }
        let place = Place::File { name, line: number };
        let step = runner.run_text(&text, place, output);
        if let Some(end) = count(step, runner, tally) {
            return end;
        }
    }
    Step::Done
}

/// What a line of a file is.
enum Next {
    Line(String),
    /// Blank, or a comment.
    Nothing,
    Bad(Fault),
    /// About this feature, which is not here.
    Skipped(String),
    End,
}

fn next_line(source: &mut dyn BufRead, number: u64) -> io::Result<Next> {
    let mut bytes = Vec::new();
    // One byte more than a line may have, and its end.
    let most = LINE_MAX as u64 + 2;
    source.take(most).read_until(b'\n', &mut bytes)?;
    if bytes.is_empty() {
        return Ok(Next::End);
    }
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
    } else if bytes.len() as u64 == most {
        source.skip_until(b'\n')?;
    }
    let number = usize::try_from(number).unwrap_or(usize::MAX);
    let line = sluice_command::line(number, &bytes);
    let next = match line.text {
        Ok(text) => match text.trim_start_matches([' ', '\t']).chars().next() {
            None | Some('#') => return Ok(Next::Nothing),
            Some(_) => Next::Line(text),
        },
        Err(fault) => Next::Bad(fault),
    };
    Ok(match foreign(&String::from_utf8_lossy(line.bytes)) {
        Some(feature) => Next::Skipped(feature),
        None => next,
    })
}

fn open(name: &str) -> Result<BufReader<File>, Fault> {
    let refused = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => Fault::new(catalogue::NO_SUCH_FILE).with_details(name),
        _ => Fault::new(catalogue::FILE_UNREADABLE).with_details(format!("{name}, {error}")),
    };
    let file = File::open(name).map_err(refused)?;
    if file.metadata().map_err(refused)?.is_dir() {
        return Err(Fault::new(catalogue::NOT_A_FILE).with_details(name));
    }
    Ok(BufReader::new(file))
}

/// Makes the file for the output; the file that is about to be read is never overwritten.
fn create(outfile: &str, source: &str) -> Result<File, Fault> {
    let real = |name: &str| Path::new(name).canonicalize().ok();
    if real(outfile).is_some_and(|outfile| Some(outfile) == real(source)) {
        return Err(Fault::new(catalogue::EXCLUSIVE_ARGUMENTS).with_details("fileName, outfile"));
    }
    File::create(outfile)
        .map_err(|error| Fault::new(catalogue::OUTFILE).with_details(format!("{outfile}, {error}")))
}

/// Deep enough for files of files, and far from any stack's end.
const NESTING_MAX: usize = 8;
