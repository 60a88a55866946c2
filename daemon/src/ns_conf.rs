//! The configuration file: where it is, which of its lines do not run, and whether the running
//! configuration differs from it.
//!
//! Invariants: a line of the file that does not run is never lost, and never runs later by itself. At
//! another place, or beside other lines, it could do what it did not do before. So it is written back as
//! it was, byte for byte, but in a comment after the running configuration; each start reads it back
//! from there and reports it, until the operator runs it, makes what it would have made or deletes it.
//! Two kinds of lines are written back as commands: those about features that are not here, which do
//! nothing wherever they stand, and those that failed for want of an address alone, which add something
//! or bind to it and are tried again.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sluice_command::{Command, Fault, FaultKind, Key, Verb, catalogue, parse};
use sluice_config::{Config, Skips, plan_line};
use sluice_protocol::ConfigStatus;

use crate::faults;
use crate::log::escaped;
use crate::save::{self, Fingerprint, Replaced, SaveError};

/// A line of the file that failed and so does not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FailedLine {
    /// Its number, from 1.
    pub(crate) number: usize,
    /// Its bytes without the line feed.
    pub(crate) text: Vec<u8>,
    /// Why it failed.
    pub(crate) fault: Fault,
    /// Whether it failed for nothing but an address that could not be had: the next start tries it again.
    pub(crate) again: bool,
}

/// A line of the file about a feature that is not here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SkippedLine {
    /// The feature.
    pub(crate) feature: String,
    /// Its bytes without the line feed.
    pub(crate) text: Vec<u8>,
}

impl FailedLine {
    /// Returns the line that a line of the file keeps, if it is of those that [`Save`] writes.
    pub(crate) fn written_as(line: &[u8]) -> Option<&[u8]> {
        line.strip_prefix(NOT_LOADED)
    }

    /// Describes a line that was kept in line `number` of a file; the others of it run as `config`.
    pub(crate) fn read_back(number: usize, text: &[u8], config: &Config) -> Self {
        let shown = String::from_utf8_lossy(text);
        let refused = plan_line(config, &shown).err();
        let fault = refused.map_or_else(
            || {
                Fault::new(faults::NOT_LOADED)
                    .with_details(escaped(shown.trim()))
                    .with_hint("run it by hand, or delete it from the file")
            },
            |refused| refused.fault().clone(),
        );
        Self {
            number,
            text: text.to_vec(),
            fault,
            again: false,
        }
    }
}

/// The lines of the file that do not run.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeptLines {
    failed: Vec<FailedLine>,
    skipped: Vec<SkippedLine>,
}

/// The file's state.
#[derive(Clone, Debug)]
pub(crate) struct NsConf {
    path: PathBuf,
    /// What the file held when it was last loaded or saved; `None` when there was none.
    known: Option<Fingerprint>,
    failed: Vec<FailedLine>,
    skipped: Vec<SkippedLine>,
    /// The lines of the running configuration when it was last loaded or saved, in order of the alphabet:
    /// in which order they stand changes nothing.
    saved: Vec<String>,
    changed_at: Option<SystemTime>,
    saved_at: Option<SystemTime>,
    saving: bool,
}

/// A file to be written; done outside the controller, because a disk may take seconds.
#[derive(Debug)]
pub(crate) struct Save {
    path: PathBuf,
    text: Vec<u8>,
    /// The configuration it holds.
    running: Vec<String>,
    /// Where the failed lines are in it: the number that each has now, and then.
    moved: Vec<(usize, usize)>,
}

impl Save {
    /// Writes the file.
    ///
    /// # Errors
    /// The old file is in place.
    pub(crate) fn write(&self) -> Result<Replaced, SaveError> {
        save::write(&self.path, &self.text)
    }
}

impl NsConf {
    /// Describes a file with the text `known`, from which `config` has just been loaded but for the
    /// `failed` and the `skipped` lines.
    pub(crate) fn loaded(
        path: PathBuf,
        known: Option<Fingerprint>,
        (failed, skipped): (Vec<FailedLine>, Vec<SkippedLine>),
        config: &Config,
    ) -> Self {
        Self {
            path,
            known,
            failed,
            skipped,
            saved: sorted(config.render()),
            changed_at: None,
            saved_at: None,
            saving: false,
        }
    }

    /// Returns where `save ns config` writes.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns where the configuration of this name is: `saved`, or `ns.conf.N` for an earlier one; `None`
    /// for one that is in no file.
    pub(crate) fn path_of(&self, name: &str) -> Option<PathBuf> {
        match name.strip_prefix("ns.conf.") {
            Some(number) => Some(save::earlier(&self.path, number.parse().ok()?)),
            None => (name == "saved").then(|| self.path.clone()),
        }
    }

    /// Returns the lines that do not run.
    pub(crate) fn kept_lines(&self) -> KeptLines {
        KeptLines {
            failed: self.failed.clone(),
            skipped: self.skipped.clone(),
        }
    }

    /// Notes that the configuration of the time when `lines` did not run is back.
    pub(crate) fn return_to(&mut self, lines: KeptLines, at: SystemTime) {
        self.changed_at = Some(at);
        self.failed = lines.failed;
        self.skipped = lines.skipped;
    }

    /// Refuses what has to wait for a save that is under way.
    ///
    /// # Errors
    /// One is.
    pub(crate) fn check_not_saving(&self) -> Result<(), Fault> {
        if self.saving {
            return Err(Fault::new(catalogue::SAVE_IN_PROGRESS));
        }
        Ok(())
    }

    /// Forgets the lines that do not run.
    pub(crate) fn forget_lines(&mut self) {
        self.failed.clear();
        self.skipped.clear();
    }

    /// Returns the lines that were skipped, by feature.
    pub(crate) fn skips(&self) -> Skips {
        let mut skips = Skips::default();
        self.skipped
            .iter()
            .for_each(|line| skips.add(&line.feature));
        skips
    }

    /// Returns the lines that failed, as a person reads them.
    pub(crate) fn failures(&self) -> Vec<String> {
        let path = self.path.display();
        let verdict =
            |line: &FailedLine| escaped(&format!("{path}:{}: ERROR: {}", line.number, line.fault));
        self.failed.iter().map(verdict).collect()
    }

    /// Notes that `command` has changed the running configuration, which is now `config`.
    ///
    /// A failed line has been made good by hand when it is this command, or when it would now be refused
    /// because its object exists.
    pub(crate) fn note_change(&mut self, config: &Config, command: &Command, at: SystemTime) {
        self.changed_at = Some(at);
        self.failed.retain(|line| {
            let exists = line.fault.kind != FaultKind::Exists && exists(config, line);
            !exists && !is(line, command)
        });
    }

    /// Works out what `command` has to write of `config` and the failed lines.
    ///
    /// # Errors
    /// Failed lines stand and `command` has no `-force`, or another save is under way.
    pub(crate) fn start_save(&mut self, config: &Config, command: &Command) -> Result<Save, Fault> {
        self.check_not_saving()?;
        let failures = self.failures();
        if let Some(first) = failures.first()
            && command.arg(Key::Force).is_none()
        {
            return Err(Fault::new(catalogue::BOOT_FAILURES_STAND)
                .with_details(format!("{}, first {first}", failures.len()))
                .with_hint("show ns config")
                .with_hint("save ns config -force"));
        }
        self.saving = true;
        let running = config.render();
        let (text, moved) = self.text(config, &running);
        Ok(Save {
            path: self.path.clone(),
            text,
            running,
            moved,
        })
    }

    /// Notes how a save ended; returns what to warn of.
    ///
    /// # Errors
    /// The file could not be written; the old one is in place.
    pub(crate) fn finish_save(
        &mut self,
        save: Save,
        written: Result<Replaced, SaveError>,
        at: SystemTime,
    ) -> Result<Option<String>, Fault> {
        self.saving = false;
        let replaced = written.map_err(|error| {
            Fault::new(catalogue::CANNOT_SAVE).with_details(escaped(&error.to_string()))
        })?;
        let warning = self.foreign(&replaced);
        self.known = Some(Fingerprint::of(&save.text));
        self.saved = sorted(save.running);
        self.saved_at = Some(at);
        for line in &mut self.failed {
            let moved = save.moved.iter().find(|(before, _)| *before == line.number);
            line.number = moved.map_or(line.number, |(_, then)| *then);
        }
        Ok(warning)
    }

    /// Returns what `show ns config` shows.
    pub(crate) fn status(&self, config: &Config, now: SystemTime) -> ConfigStatus {
        ConfigStatus {
            path: escaped(&self.path.to_string_lossy()),
            system_unix_ms: unix_ms(now),
            changed_unix_ms: self.changed_at.map(unix_ms),
            saved_unix_ms: self.saved_at.map(unix_ms),
            unsaved: sorted(config.render()) != self.saved,
            boot_failures: self.failures(),
            skipped: self.skips().by_feature().clone(),
            provisional_s: None,
            not_undone: Vec::new(),
        }
    }

    /// Returns what to say when the text that was replaced is not ours.
    fn foreign(&self, replaced: &Replaced) -> Option<String> {
        let Replaced::Other { fingerprint, kept } = replaced else {
            return None;
        };
        if Some(*fingerprint) == self.known {
            return None;
        }
        let path = self.path.display();
        let changed = format!("{path} was changed by another program since it was loaded or saved");
        let kept = kept.as_ref().map_or_else(
            || "its former content could not be kept".to_owned(),
            |kept| format!("its former content is kept as {}", kept.display()),
        );
        Some(escaped(&format!("{changed}; {kept}")))
    }

    /// Returns the text of the file, and the number that each failed line has now and in the text.
    fn text(&self, config: &Config, running: &[String]) -> (Vec<u8>, Vec<(usize, usize)>) {
        let mut text = Text::default();
        running
            .iter()
            .for_each(|line| text.push(b"", line.as_bytes()));
        if !self.skipped.is_empty() {
            text.push(SKIPPED, b"");
        }
        self.skipped
            .iter()
            .for_each(|line| text.push(b"", &line.text));
        let (again, never): (Vec<_>, Vec<_>) = self.tried_again(config);
        let mut moved = Vec::new();
        for (section, mark, lines) in [(AGAIN, &b""[..], again), (SECTION, NOT_LOADED, never)] {
            if !lines.is_empty() {
                text.push(section, b"");
            }
            for line in lines {
                text.push(mark, &line.text);
                moved.push((line.number, text.lines));
            }
        }
        (text.bytes, moved)
    }

    /// Returns the failed lines that the next start may run again, and those that it must not. What an
    /// operator has changed meanwhile may be in the way of the first, or give them another meaning.
    fn tried_again(&self, config: &Config) -> (Vec<&FailedLine>, Vec<&FailedLine>) {
        let mut wished = config.clone();
        self.failed.iter().partition(|line| {
            let text = String::from_utf8_lossy(&line.text);
            let adds = matches!(parse(&text), Ok(Some(command)) if command.verb == Verb::Add);
            let is_good = line.again && (adds || plan_line(config, &text).is_err());
            match plan_line(&wished, &text) {
                Ok(Some(plan)) if is_good => {
                    wished.commit(plan);
                    true
                }
                Ok(_) | Err(_) => false,
            }
        })
    }
}

/// The text of a file under construction.
#[derive(Debug, Default)]
struct Text {
    bytes: Vec<u8>,
    lines: usize,
}

impl Text {
    fn push(&mut self, mark: &[u8], line: &[u8]) {
        self.bytes.extend_from_slice(mark);
        self.bytes.extend_from_slice(line);
        self.bytes.push(b'\n');
        self.lines += 1;
    }
}

fn sorted(mut lines: Vec<String>) -> Vec<String> {
    lines.sort_unstable();
    lines
}

/// Tells whether what a line would make is there.
fn exists(config: &Config, line: &FailedLine) -> bool {
    let text = String::from_utf8_lossy(&line.text);
    plan_line(config, &text).is_err_and(|refused| refused.fault().kind == FaultKind::Exists)
}

/// Tells whether a line is `command`, however it is written.
fn is(line: &FailedLine, command: &Command) -> bool {
    str::from_utf8(&line.text)
        .is_ok_and(|text| parse(text).ok().flatten().as_ref() == Some(command))
}

/// Returns the milliseconds since 1970 UTC; a clock before that counts as 1970.
pub(crate) fn unix_ms(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// What a failed line is written behind. A comment, so that also other versions do not run it.
const NOT_LOADED: &[u8] = b"# not loaded: ";

/// What stands before these lines, for whoever opens the file.
const SECTION: &[u8] =
    b"# These lines failed when the configuration was loaded. They are kept and do not run.";

/// What stands before the lines that failed because an address could not be had.
const AGAIN: &[u8] =
    b"# The address of these lines could not be had. The next start tries them again.";

/// What stands before the lines of features that are not here.
const SKIPPED: &[u8] =
    b"# These lines are about features that are not here. They are kept as they are.";

#[cfg(test)]
mod tests;
