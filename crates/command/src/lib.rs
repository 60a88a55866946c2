//! The command language: text to typed [`Command`]s and back, completion and help.
//!
//! One table per noun (`table/`) is the single source for the parser, the renderer, completion, help
//! and the documentation. No I/O: what lives (object names) is asked for through a closure.

mod command;
mod fault;

pub use command::{Arg, Command, Key, Noun, Value, Verb};
pub use fault::{Code, Fault, FaultKind};
