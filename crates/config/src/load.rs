//! Reading a saved configuration line by line.
//!
//! What a line means is decided in [`plan_line`] and [`Loader`] alone, so that a file that checks
//! clean boots clean.

use std::collections::BTreeMap;

use sluice_command::{
    Fault, Key, Line, Noun, ParseFault, Verb, foreign, lines, parse, parse_all, render, summed_up,
};

use crate::{Config, Plan, chain};

/// Why a line of a configuration was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineFault {
    /// It is not text.
    Unreadable(Fault),
    /// Its words do not form a command; with the place.
    Parse(ParseFault),
    /// The command was refused.
    Refused(Fault),
}

/// What became of one line that holds a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineReport {
    /// Its number, from 1.
    pub number: usize,
    /// The line; empty where it is not text.
    pub text: String,
    /// What became of it.
    pub verdict: Verdict,
}

/// What became of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It takes effect, with these warnings.
    Done(Vec<String>),
    /// It is about this feature, which is not here.
    Skipped(String),
    /// It is refused, and the lines after it were read as if it were not there.
    Error(LineFault),
}

/// What became of all lines of a file that hold a command, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// One for each line but comments and blank ones.
    pub lines: Vec<LineReport>,
}

impl LineFault {
    /// Returns the fault, wherever it was found.
    pub fn fault(&self) -> &Fault {
        match self {
            Self::Unreadable(fault) | Self::Refused(fault) => fault,
            Self::Parse(refused) => &refused.fault,
        }
    }
}

impl std::fmt::Display for LineFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.fault().fmt(f)
    }
}

impl std::error::Error for LineFault {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self.fault())
    }
}

impl Report {
    /// Returns how many lines were refused.
    pub fn failed(&self) -> usize {
        let failed = self
            .lines
            .iter()
            .filter(|line| matches!(line.verdict, Verdict::Error(_)));
        failed.count()
    }

    /// Returns how many lines take effect with a warning.
    pub fn warned(&self) -> usize {
        let warned = self.lines.iter().filter(|line| match &line.verdict {
            Verdict::Done(warnings) => !warnings.is_empty(),
            Verdict::Skipped(_) | Verdict::Error(_) => false,
        });
        warned.count()
    }

    /// Returns the features of the lines that were skipped.
    pub fn skipped(&self) -> Skips {
        let mut skips = Skips::default();
        for line in &self.lines {
            if let Verdict::Skipped(feature) = &line.verdict {
                skips.add(feature);
            }
        }
        skips
    }
}

/// Lines that were skipped, counted by the feature they are about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skips(BTreeMap<String, u64>);

impl Skips {
    /// Counts a line; features are told apart whatever their case.
    pub fn add(&mut self, feature: &str) {
        let mut known = self.0.iter_mut();
        match known.find(|(known, _)| known.eq_ignore_ascii_case(feature)) {
            Some((_, count)) => *count += 1,
            None => {
                self.0.insert(feature.to_owned(), 1);
            }
        }
    }

    /// Returns how many there are.
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// Returns the features and how many lines are about each.
    pub fn by_feature(&self) -> &BTreeMap<String, u64> {
        &self.0
    }

    /// Says what was skipped; `None` if nothing was.
    pub fn summary(&self) -> Option<String> {
        let features = self
            .0
            .iter()
            .map(|(feature, count)| format!("{feature} {count}"));
        let features: Vec<String> = features.collect();
        let total = self.total();
        (total > 0).then(|| {
            format!(
                "{total} skipped, of features that are not here: {}",
                features.join(", ")
            )
        })
    }
}

impl Report {
    /// Runs the rest of lines that are reported already.
    fn run_late(&mut self, config: &mut Config, late: Vec<LateLine>) {
        for LateLine { number, text } in late {
            let place = self.lines.binary_search_by_key(&number, |line| line.number);
            let report = &mut self.lines[place.expect("it was reported when it was read")];
            match plan_line(config, &text) {
                Ok(None) => {}
                Ok(Some(plan)) => {
                    if let Verdict::Done(warnings) = &mut report.verdict {
                        warnings.extend(plan.warnings.clone());
                    }
                    config.commit(plan);
                }
                Err(fault) => report.verdict = Verdict::Error(fault),
            }
        }
    }
}

/// Plans one line of a configuration; `None` is a comment or a blank line.
///
/// # Errors
/// The line is no command, none that configures, or one that is refused in this configuration.
pub fn plan_line(config: &Config, line: &str) -> Result<Option<Plan>, LineFault> {
    match parse(line).map_err(LineFault::Parse)? {
        None => Ok(None),
        Some(command) => config.plan(&command).map(Some).map_err(LineFault::Refused),
    }
}

/// What a line of a file says.
#[derive(Clone, Debug)]
pub enum Reading {
    /// Nothing: it is a comment or blank.
    Nothing,
    /// Something that this does.
    Plan(Plan),
    /// Something about this feature, which is not here.
    Skipped(String),
}

/// What a line of a file does once what it refers to exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LateLine {
    /// The number of that line.
    pub number: usize,
    /// The command to run in addition to it.
    pub text: String,
}

/// Reads the lines of one file in turn: a virtual server may name a backup that stands further down.
///
/// It is added without, and gets the backup as soon as that has been added, or at the end of the
/// file, where it fails as any other command does.
#[derive(Debug, Default)]
pub struct Loader {
    /// By the name of the backup.
    waiting: BTreeMap<String, Vec<LateLine>>,
    current: Option<Current>,
}

/// The line that was planned last, if it adds a virtual server.
#[derive(Debug)]
struct Current {
    name: String,
    late: Option<(String, LateLine)>,
}

impl Loader {
    /// Plans a line as [`plan_line`] does.
    ///
    /// # Errors
    /// As [`plan_line`].
    pub fn plan(
        &mut self,
        config: &Config,
        number: usize,
        line: &str,
    ) -> Result<Option<Plan>, LineFault> {
        self.current = None;
        let Some(command) = parse(line).map_err(LineFault::Parse)? else {
            return Ok(None);
        };
        let split = chain::split_backup(&command);
        let (command, late) = match split.filter(|split| config.vserver(&split.backup).is_none()) {
            Some(split) => {
                let text = render(&split.later);
                (split.now, Some((split.backup, LateLine { number, text })))
            }
            None => (command, None),
        };
        if (command.verb, command.noun) == (Verb::Add, Noun::LbVserver) {
            let name = command.text(Key::Name).map(str::to_owned);
            self.current = name.map(|name| Current { name, late });
        }
        config.plan(&command).map(Some).map_err(LineFault::Refused)
    }

    /// Plans a line of a file.
    ///
    /// # Errors
    /// As [`plan_line`], or it is no text.
    pub fn read(&mut self, config: &Config, line: &Line<'_>) -> Result<Reading, LineFault> {
        let planned = match &line.text {
            Ok(text) => self.plan(config, line.number, text),
            Err(fault) => Err(LineFault::Unreadable(fault.clone())),
        };
        match planned {
            Ok(None) => Ok(Reading::Nothing),
            Ok(Some(plan)) => Ok(Reading::Plan(plan)),
            Err(fault) => {
                let feature = foreign(&String::from_utf8_lossy(line.bytes));
                feature.map(Reading::Skipped).ok_or(fault)
            }
        }
    }

    /// Says that the line planned last has taken effect; returns what can be run now.
    pub fn handle_done(&mut self) -> Vec<LateLine> {
        let Some(Current { name, late }) = self.current.take() else {
            return Vec::new();
        };
        if let Some((backup, line)) = late {
            self.waiting.entry(backup).or_default().push(line);
        }
        self.waiting.remove(&name).unwrap_or_default()
    }

    /// Ends the file; returns what is left to be run, in the order of the lines.
    pub fn finish(self) -> Vec<LateLine> {
        let mut rest: Vec<LateLine> = self.waiting.into_values().flatten().collect();
        rest.sort_by_key(|line| line.number);
        rest
    }
}

/// Loads a configuration file into nothing, and reports on each line. What the system would refuse,
/// such as an address that is in use, is not seen here.
pub fn check_file(bytes: &[u8]) -> Report {
    load_file(bytes).1
}

/// As [`check_file`], and returns what was loaded.
pub fn load_file(bytes: &[u8]) -> (Config, Report) {
    let mut file = File::default();
    for line in lines(bytes) {
        let verdict = match several(&line) {
            Some(texts) => Some(file.run_several(line.number, &texts)),
            None => file.run(&line),
        };
        if let Some(verdict) = verdict {
            file.report.lines.push(LineReport {
                number: line.number,
                text: line.text.unwrap_or_default(),
                verdict,
            });
        }
        let late = std::mem::take(&mut file.late);
        file.report.run_late(&mut file.config, late);
    }
    file.report.run_late(&mut file.config, file.loader.finish());
    (file.config, file.report)
}

/// Returns the commands that a line with ranges stands for, each as a line; `None` for any other.
pub fn several(line: &Line<'_>) -> Option<Vec<String>> {
    // Most lines have none, and need not be read twice to know it.
    let text = line
        .text
        .as_deref()
        .ok()
        .filter(|text| text.contains('['))?;
    let commands = parse_all(text).ok()?;
    (commands.len() > 1).then(|| commands.iter().map(render).collect())
}

/// A file that is being loaded.
#[derive(Default)]
struct File {
    config: Config,
    loader: Loader,
    report: Report,
    /// What the line read last has made possible.
    late: Vec<LateLine>,
}

impl File {
    fn run(&mut self, line: &Line<'_>) -> Option<Verdict> {
        Some(match self.loader.read(&self.config, line) {
            Ok(Reading::Nothing) => return None,
            Ok(Reading::Plan(plan)) => {
                let warnings = plan.warnings.clone();
                self.config.commit(plan);
                self.late.extend(self.loader.handle_done());
                Verdict::Done(warnings)
            }
            Ok(Reading::Skipped(feature)) => Verdict::Skipped(feature),
            Err(fault) => Verdict::Error(fault),
        })
    }

    /// Runs the commands of one line; those that are refused do not keep the others from running.
    fn run_several(&mut self, number: usize, texts: &[String]) -> Verdict {
        let mut all_warnings = Vec::new();
        let mut failed = Vec::new();
        for text in texts {
            let line = Line {
                number,
                bytes: text.as_bytes(),
                text: Ok(text.clone()),
            };
            match self.run(&line) {
                Some(Verdict::Done(warnings)) => all_warnings.extend(warnings),
                Some(Verdict::Error(fault)) => failed.push((text.clone(), fault.fault().clone())),
                Some(Verdict::Skipped(_)) | None => {}
            }
        }
        if failed.is_empty() {
            return Verdict::Done(all_warnings);
        }
        Verdict::Error(LineFault::Refused(summed_up(texts.len(), &failed)))
    }
}
