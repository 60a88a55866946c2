//! Refusals that only a daemon has, beside the catalogue of the command language.
//!
//! Their numbers start at 10100, so that they cannot meet the catalogue's.

use sluice_command::{Code, FaultKind};

/// What a client sent is not the control protocol, or another version of it.
pub(crate) const PROTOCOL: Code = Code {
    number: 10_100,
    text: "Control message not understood",
    kind: FaultKind::System,
};

/// The daemon ends and changes nothing any more.
pub(crate) const SHUTTING_DOWN: Code = Code {
    number: 10_101,
    text: "The daemon is shutting down",
    kind: FaultKind::System,
};

/// A line of the configuration file that failed at an earlier start and would run by now. It does not,
/// because nobody has said so.
pub(crate) const NOT_LOADED: Code = Code {
    number: 10_103,
    text: "Not loaded, because it failed at an earlier start",
    kind: FaultKind::System,
};

/// One row of an answer does not fit into a message.
pub(crate) const ANSWER_TOO_LONG: Code = Code {
    number: 10_102,
    text: "Answer is too long",
    kind: FaultKind::System,
};
