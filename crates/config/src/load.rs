//! Reading a saved configuration line by line.
//!
//! What a line means is decided in [`plan_line`] alone, so that a file that checks clean boots
//! clean.

use sluice_command::{Fault, ParseFault, lines, parse};

use crate::{Config, Plan};

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
            Verdict::Error(_) => false,
        });
        warned.count()
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

/// Loads a configuration file into nothing, and reports on each line. What the system would refuse,
/// such as an address that is in use, is not seen here.
pub fn check_file(bytes: &[u8]) -> Report {
    load_file(bytes).1
}

/// As [`check_file`], and returns what was loaded.
pub fn load_file(bytes: &[u8]) -> (Config, Report) {
    let mut config = Config::new();
    let mut report = Report::default();
    for line in lines(bytes) {
        let (text, planned) = match line.text {
            Ok(text) => {
                let planned = plan_line(&config, &text);
                (text, planned)
            }
            Err(fault) => (String::new(), Err(LineFault::Unreadable(fault))),
        };
        let verdict = match planned {
            Ok(None) => continue,
            Ok(Some(plan)) => {
                let warnings = plan.warnings.clone();
                config.commit(plan);
                Verdict::Done(warnings)
            }
            Err(fault) => Verdict::Error(fault),
        };
        let number = line.number;
        report.lines.push(LineReport {
            number,
            text,
            verdict,
        });
    }
    (config, report)
}
