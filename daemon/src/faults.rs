//! Refusals that only a daemon has, as part of the catalogue of the command language.
//!
//! Their numbers start at 10100.

pub(crate) use sluice_command::catalogue::{ANSWER_TOO_LONG, NOT_LOADED, PROTOCOL, SHUTTING_DOWN};
