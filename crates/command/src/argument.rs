//! A command as a value, with the values of its arguments.

use serde::{Deserialize, Serialize};
use std::net::IpAddr;

use crate::{Key, Noun, Verb};

/// A value of an argument, already checked against its row of the table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Value {
    /// A name or free text.
    Text(String),
    /// A number within its bounds.
    Integer(u64),
    /// An address.
    Address(IpAddr),
    /// `*` as an address.
    AnyAddress,
    /// A port; 0 only where the address is `0.0.0.0` and means "not addressable".
    Port(u16),
    /// `*` as a port.
    AnyPort,
    /// One of a closed list, in the table's spelling.
    Choice(String),
}

impl Value {
    /// Returns the text of a name, free text or choice.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Choice(text) => Some(text),
            Self::Integer(_)
            | Self::Address(_)
            | Self::AnyAddress
            | Self::Port(_)
            | Self::AnyPort => None,
        }
    }

    /// Returns the number of an integer.
    pub fn integer(&self) -> Option<u64> {
        match self {
            Self::Integer(number) => Some(*number),
            Self::Text(_)
            | Self::Choice(_)
            | Self::Address(_)
            | Self::AnyAddress
            | Self::Port(_)
            | Self::AnyPort => None,
        }
    }
}

/// One argument of a command. A flag, and an option of `unset`, has no values.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Arg {
    /// Which.
    pub key: Key,
    /// Its values, in order.
    pub values: Vec<Value>,
}

/// A command whose words have been checked against the table. Positionals come first, in table order;
/// options follow in the order typed. No key occurs twice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// What to do.
    pub verb: Verb,
    /// To what.
    pub noun: Noun,
    /// With which arguments.
    pub args: Vec<Arg>,
}

impl Command {
    /// Returns the argument `key`, if it was given.
    pub fn arg(&self, key: Key) -> Option<&Arg> {
        self.args.iter().find(|arg| arg.key == key)
    }

    /// Returns the first value of `key`.
    pub fn value(&self, key: Key) -> Option<&Value> {
        self.arg(key).and_then(|arg| arg.values.first())
    }

    /// Returns the text of `key`, for names, free text and choices.
    pub fn text(&self, key: Key) -> Option<&str> {
        self.value(key)?.text()
    }

    /// Returns the number of `key`, which may be a port.
    pub fn integer(&self, key: Key) -> Option<u64> {
        match self.value(key)? {
            Value::Port(port) => Some(u64::from(*port)),
            other => other.integer(),
        }
    }
}
