//! The command language: text to typed [`Command`]s and back, completion and help.
//!
//! One table per noun ([`table`]) is the single source for the parser, the renderer, completion,
//! help and the documentation. No I/O: what lives (object names) is asked for through a closure.

pub mod catalogue;
pub mod fuzz;
pub mod table;

mod argument;
mod command;
mod complete;
mod connection_filter;
mod fault;
mod foreign;
mod head;
mod help;
mod hint;
mod key;
mod lex;
mod lines;
mod man;
mod mask;
mod option;
mod parse;
mod pipe;
mod range;
mod reference;
mod render;
mod service_type;
mod value;
mod words;

pub use argument::{Arg, Command, Value};
pub use command::{ConfigNoun, ConfigVerb, Noun, Verb};
pub use complete::{Candidate, Completion, complete, explain_value};
pub use connection_filter::{CONNECTION_STATES, ConnectionFacts, ConnectionFilter};
pub use fault::{Code, Fault, FaultKind};
pub use foreign::foreign;
pub use help::{help, help_all};
pub use hint::{Hint, hint};
pub use key::Key;
pub use lines::{LINE_MAX, Line, line, lines};
pub use man::man;
pub use mask::masked;
pub use parse::{ParseFault, check, parse, parse_all, parse_words, parse_words_all};
pub use pipe::{Filter, split_filters, split_word_filters};
pub use range::summed_up;
pub use reference::reference;
pub use render::{quote, render};
pub use service_type::{Carrier, IdleDefaults, Meaning, TypeSpec};
pub use table::spec;
pub use value::is_netmask;
