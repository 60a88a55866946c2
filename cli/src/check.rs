//! `--check`: reads and plans a configuration file without a daemon, as the daemon would at its
//! start.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};
use sluice_config::{LineFault, LineReport, Report, Verdict, check_file};

use crate::escape::{escape, escape_json};
use crate::output::Output;
use crate::runner::{Place, column, print_fault, print_warning};

/// Checks the file at `path` (`-` is standard input), prints what is wrong with it and returns the
/// exit status: 0 clean or with warnings, 1 with errors, 2 unreadable.
pub(crate) fn run(path: &Path, json: bool, output: &mut Output) -> ExitCode {
    let name = path.to_string_lossy();
    match read(path) {
        Ok(bytes) => {
            let report = check_file(&bytes);
            if json {
                let document = document(&report, &name).to_string();
                output.out(&format!("{}\n", escape_json(&document)));
            } else {
                print(&report, &name, output);
            }
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

/// A warning that many lines give is printed for the first of them; what is skipped is summed up.
fn print(report: &Report, name: &str, output: &mut Output) {
    let mut seen = BTreeSet::new();
    let mut again: u64 = 0;
    for line in &report.lines {
        let place = Place::File {
            name,
            line: line.number as u64,
        };
        match &line.verdict {
            Verdict::Done(warnings) => {
                for warning in warnings {
                    if seen.insert(warning) {
                        print_warning(warning, place, output);
                    } else {
                        again += 1;
                    }
                }
            }
            Verdict::Skipped(_) => {}
            Verdict::Error(fault) => {
                print_fault(fault.fault(), fault_column(line, fault), place, output);
            }
        }
    }
    if again > 0 {
        output.err(&format!(
            "{again} warnings more say the same of other lines\n"
        ));
    }
    let skips = report.skipped();
    if let Some(summary) = skips.summary() {
        output.err(&format!("{}\n", escape(&summary)));
    }
    let (lines, failed) = (report.lines.len() as u64, report.failed() as u64);
    let runs = lines - failed - skips.total();
    let warned = report.warned();
    if warned > 0 || skips.total() > 0 {
        output.err(&format!("{runs} run, {warned} of them with warnings\n"));
    }
    output.err(&format!("{lines} commands, {failed} failed\n"));
}

/// Returns the report for scripts: one object a line that holds a command, and what they come to.
fn document(report: &Report, name: &str) -> Value {
    let lines = report.lines.iter().map(line_document);
    let skips = report.skipped();
    let (total, failed) = (report.lines.len() as u64, report.failed() as u64);
    json!({
        "file": name,
        "lines": lines.collect::<Vec<_>>(),
        "summary": {
            "commands": total,
            "run": total - failed - skips.total(),
            "warned": report.warned(),
            "skipped": skips.total(),
            "skipped_by_feature": skips.by_feature(),
            "failed": failed,
        },
    })
}

fn line_document(line: &LineReport) -> Value {
    let mut document = json!({ "line": line.number, "text": line.text });
    match &line.verdict {
        Verdict::Done(warnings) if warnings.is_empty() => document["verdict"] = json!("ok"),
        Verdict::Done(warnings) => {
            document["verdict"] = json!("warning");
            document["warnings"] = json!(warnings);
        }
        Verdict::Skipped(feature) => {
            document["verdict"] = json!("skipped");
            document["feature"] = json!(feature);
        }
        Verdict::Error(refused) => {
            let fault = refused.fault();
            document["verdict"] = json!("error");
            document["code"] = json!(fault.code);
            document["error"] = json!(fault.to_string());
            document["column"] = json!(fault_column(line, refused));
            document["hints"] = json!(fault.hints);
        }
    }
    document
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
