//! `show ns tcpProfile`, `show netProfile`, `show lb profile`. The layout is our own: the name, then each option
//! as it is typed, with the value in force.

use sluice_protocol::ProfileRow;

use super::layout::push_parts;

/// Adds a profile.
pub(crate) fn push(text: &mut String, head: &str, row: &ProfileRow) {
    text.push_str(&format!("{head}Name: {}\n", row.name));
    for (option, value) in &row.settings {
        push_parts(text, &[Some(format!("{option}: {value}"))]);
    }
}
