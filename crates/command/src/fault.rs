//! Why a command was refused: the reference's catalogue of texts, and what the shell shows beside them.

use serde::{Deserialize, Serialize};

/// What kind of thing went wrong, for scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FaultKind {
    /// The words do not form a command.
    Syntax,
    /// A value is not allowed.
    Value,
    /// The object does not exist.
    Missing,
    /// The object exists already.
    Exists,
    /// The object or address is in use.
    InUse,
    /// The system underneath refused.
    System,
}

/// An entry of the catalogue.
///
/// Source: NetScaler error catalogue, the codes and texts of the command reference; codes from 10000 on
/// are our own, for situations the reference has no text for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Code {
    /// The number.
    pub number: u16,
    /// The exact text.
    pub text: &'static str,
    /// Its kind.
    pub kind: FaultKind,
}

/// A refusal: `ERROR: text [details]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// The number in the catalogue.
    pub code: u16,
    /// The catalogue's text, verbatim.
    pub text: String,
    /// What was given and what is allowed, as it stands in the brackets: `name, s1`.
    pub details: Option<String>,
    /// What could be typed next; whole sentences or commands, one per line.
    pub hints: Vec<String>,
    /// Its kind.
    pub kind: FaultKind,
}

impl Fault {
    /// Makes a fault without details.
    pub fn new(code: Code) -> Self {
        Self {
            code: code.number,
            text: code.text.to_owned(),
            details: None,
            hints: Vec::new(),
            kind: code.kind,
        }
    }

    /// Adds what stands in the brackets.
    #[must_use]
    pub fn with_details(mut self, details: impl Into<String>) -> Self {
        self.details = Some(details.into());
        self
    }

    /// Adds a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.details {
            Some(details) => write!(f, "{} [{details}]", self.text),
            None => f.write_str(&self.text),
        }
    }
}

impl std::error::Error for Fault {}
