//! `--check`: reads and plans a configuration file without a daemon, as the daemon would at its
//! start.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;

use sluice_config::{LineFault, LineReport, Report, Verdict, check_file};

use crate::escape::escape;
use crate::output::Output;
use crate::runner::{Place, column, print_fault, print_warning};

/// Checks the file at `path` (`-` is standard input), prints what is wrong with it and returns the
/// exit status: 0 clean or with warnings, 1 with errors, 2 unreadable.
pub(crate) fn run(path: &Path, output: &mut Output) -> ExitCode {
    let name = path.to_string_lossy();
    match read(path) {
        Ok(bytes) => {
            let report = check_file(&bytes);
            print(&report, &name, output);
            ExitCode::from(u8::from(report.failed() > 0))
        }
        Err(error) => {
            output.err(&format!(
                "ERROR: {} cannot be read: {error}\n",
                escape(&name)
            ));
            ExitCode::from(2)
        }
    }
}

fn print(report: &Report, name: &str, output: &mut Output) {
    for line in &report.lines {
        let place = Place::File {
            name,
            line: line.number as u64,
        };
        match &line.verdict {
            Verdict::Done(warnings) => {
                for warning in warnings {
                    print_warning(warning, place, output);
                }
            }
            Verdict::Error(fault) => {
                print_fault(fault.fault(), fault_column(line, fault), place, output);
            }
        }
    }
    output.err(&format!(
        "{} commands, {} failed\n",
        report.lines.len(),
        report.failed()
    ));
}

fn fault_column(line: &LineReport, fault: &LineFault) -> Option<usize> {
    match fault {
        LineFault::Parse(fault) => column(&line.text, fault),
        LineFault::Unreadable(_) | LineFault::Refused(_) => None,
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let source: Box<dyn Read> = if path == Path::new("-") {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(path)?)
    };
    let mut bytes = Vec::new();
    source.take(BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > BYTES_MAX {
        let text = format!("it has more than {BYTES_MAX} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
    }
    Ok(bytes)
}

/// Half a million long lines; more is no configuration, and an endless file must end.
const BYTES_MAX: u64 = 64 << 20;
