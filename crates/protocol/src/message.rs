//! The messages.

use serde::{Deserialize, Serialize};
use sluice_command::{Command, Fault, Noun};

use crate::Row;

/// The version of messages and rows; both sides must speak the same.
pub const VERSION: u32 = 2;

/// The most bytes in one frame, without its length: 1 MiB, a long configuration line many times over.
pub const FRAME_MAX: usize = 1 << 20;

/// The first message of each side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// [`VERSION`] of the sender.
    pub version: u32,
    /// The product version of the sender, for the message a person reads when the versions differ.
    pub product: String,
}

/// What a client asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Request {
    /// Run this command.
    Run(Command),
    /// List the names of all objects of a noun, one [`Row::Name`] each, for completion.
    Names(Noun),
}

/// What the daemon answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// One row of the answer.
    Row(Box<Row>),
    /// `Warning: text`, before the end.
    Warning(String),
    /// The command succeeded.
    Done,
    /// The command was refused and changed nothing.
    Error(Fault),
}
