//! Reading the configuration file at the start: the same commands as typed ones, through the same path.
//!
//! Invariant: no line of the file stops the boot. One that fails is left out, reported and kept.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sluice_command::{Fault, Line, Verb, lines, parse};
use sluice_config::{Config, LateLine, LineFault, Loader, Plan, Reading, plan_line, several};
use sluice_dataplane::Dataplane;
use thiserror::Error;

use crate::controller::carry_out;
use crate::log;
use crate::ns_conf::{FailedLine, NsConf, SkippedLine};
use crate::save::Fingerprint;

/// Why there is nothing to boot from.
#[derive(Debug, Error)]
pub(crate) enum BootError {
    /// The file is there and cannot be read.
    #[error("cannot read the configuration {}: {source}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The file is longer than any configuration.
    #[error("the configuration {} has more than {FILE_MAX} bytes", .path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
    },
}

/// Loads the file at `path` into an empty `config` and serves it. A missing file is an empty one.
///
/// # Errors
/// [`BootError`] when the file as a whole cannot be read.
pub(crate) fn load(
    path: PathBuf,
    config: &mut Config,
    dataplane: &mut Dataplane,
) -> Result<NsConf, BootError> {
    let bytes = read(&path)?;
    let known = bytes.as_deref().map(Fingerprint::of);
    let bytes = bytes.unwrap_or_default();
    let mut boot = Boot {
        path: &path,
        config,
        dataplane,
        wished: None,
        failed: Vec::new(),
        skipped: Vec::new(),
        warned: BTreeSet::new(),
        warned_again: 0,
    };
    let mut loader = Loader::default();
    let mut not_loaded = Vec::new();
    for line in lines(&bytes) {
        if let Some(original) = FailedLine::written_as(line.bytes) {
            not_loaded.push((line.number, original));
            continue;
        }
        match several(&line) {
            Some(texts) => {
                for text in &texts {
                    let line = Line {
                        number: line.number,
                        bytes: text.as_bytes(),
                        text: Ok(text.clone()),
                    };
                    boot.read(&mut loader, &line);
                }
            }
            None => boot.read(&mut loader, &line),
        }
    }
    boot.run_late(loader.finish());
    boot.dataplane.handle_booted();
    let Boot {
        config,
        mut failed,
        skipped,
        warned_again,
        ..
    } = boot;
    if warned_again > 0 {
        let path = path.display();
        log::line(&format!(
            "{path}: {warned_again} warnings more say the same of other lines"
        ));
    }
    // Now that everything is there that may be in their way.
    for (number, original) in not_loaded {
        failed.push(FailedLine::read_back(number, original, config));
    }
    failed.sort_by_key(|line| line.number);
    let ns_conf = NsConf::loaded(path.clone(), known, (failed, skipped), config);
    if let Some(summary) = ns_conf.skips().summary() {
        log::line(&format!("{}: {summary}", path.display()));
    }
    Ok(ns_conf)
}

/// A file that is being loaded.
struct Boot<'a> {
    path: &'a Path,
    config: &'a mut Config,
    dataplane: &'a mut Dataplane,
    /// The configuration if every address could be had; `None` as long as every one could.
    wished: Option<Config>,
    failed: Vec<FailedLine>,
    skipped: Vec<SkippedLine>,
    /// The warnings that were told, and how often one was not told again.
    warned: BTreeSet<String>,
    warned_again: u64,
}

impl Boot<'_> {
    /// Runs a line, and what has waited for it.
    fn read(&mut self, loader: &mut Loader, line: &Line<'_>) {
        let read = loader.read(self.config, line);
        if self.run(line, read) {
            self.run_late(loader.handle_done());
        }
    }

    /// Runs a line that was read; tells whether it has taken effect.
    fn run(&mut self, line: &Line<'_>, read: Result<Reading, LineFault>) -> bool {
        let plan = match read {
            Ok(Reading::Nothing) => return false,
            Ok(Reading::Skipped(feature)) => {
                self.skipped.push(SkippedLine {
                    feature,
                    text: line.bytes.to_vec(),
                });
                return false;
            }
            Ok(Reading::Plan(plan)) => Ok(plan),
            Err(refused) => Err(refused.fault().clone()),
        };
        let text = line.text.as_deref().unwrap_or_default();
        self.carry_out(line.number, text, line.bytes, plan)
    }

    /// Runs the rest of lines that have taken effect.
    fn run_late(&mut self, late: Vec<LateLine>) {
        for LateLine { number, text } in late {
            let plan = match plan_line(self.config, &text) {
                Ok(plan) => Ok(plan.unwrap_or_default()),
                Err(refused) => Err(refused.fault().clone()),
            };
            self.carry_out(number, &text, text.as_bytes(), plan);
        }
    }

    fn carry_out(
        &mut self,
        number: usize,
        text: &str,
        original: &[u8],
        plan: Result<Plan, Fault>,
    ) -> bool {
        let is_allowed = plan.is_ok();
        match plan.and_then(|plan| carry_out(plan, self.config, self.dataplane)) {
            Ok(warnings) => {
                self.wish(text);
                self.warn(number, &warnings);
                true
            }
            Err(fault) => {
                if is_allowed && self.wished.is_none() {
                    // It is the system that refuses, and lines that build on this one fail with it.
                    self.wished = Some(self.config.clone());
                }
                let again = builds(text) && self.wish(text);
                self.failed.push(FailedLine {
                    number,
                    text: original.to_vec(),
                    fault,
                    again,
                });
                false
            }
        }
    }

    /// Does what a line says in the configuration as it would be; tells whether it can be done there.
    fn wish(&mut self, text: &str) -> bool {
        let Some(wished) = &mut self.wished else {
            return false;
        };
        match plan_line(wished, text) {
            Ok(Some(plan)) => {
                wished.commit(plan);
                true
            }
            Ok(None) | Err(_) => false,
        }
    }

    /// A warning that many lines give is told for the first of them.
    fn warn(&mut self, number: usize, warnings: &[String]) {
        for warning in warnings {
            if !self.warned.insert(warning.clone()) {
                self.warned_again += 1;
                continue;
            }
            log::line(&format!(
                "{}:{number}: Warning: {warning}",
                self.path.display()
            ));
        }
    }
}

/// Tells whether a line only ever adds to what is there.
fn builds(text: &str) -> bool {
    let command = parse(text).ok().flatten();
    command.is_some_and(|command| matches!(command.verb, Verb::Add | Verb::Bind))
}

/// Returns the bytes of the file; `None` when there is none.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>, BootError> {
    let unreadable = |source| BootError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            tracing::info!("{} does not exist: starting empty", path.display());
            return Ok(None);
        }
        Err(error) => return Err(unreadable(error)),
    };
    let mut bytes = Vec::new();
    file.take(FILE_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if bytes.len() as u64 > FILE_MAX {
        return Err(BootError::TooLong {
            path: path.to_owned(),
        });
    }
    Ok(Some(bytes))
}

/// A hundred bytes each for half a million lines; stops a device given by mistake from filling memory.
const FILE_MAX: u64 = 64 << 20;

#[cfg(test)]
mod tests;
