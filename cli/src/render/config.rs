//! `show ns config`.
//!
//! The lines about the device's own addresses do not exist here; the file's place and the lines
//! that failed at boot are our own.

use jiff::tz::TimeZone;
use sluice_protocol::ConfigStatus;

use super::time::ctime;

/// Adds the state of the configuration as a whole.
pub(crate) fn push(text: &mut String, row: &ConfigStatus, zone: &TimeZone) {
    let moment = |unix_ms: Option<u64>| {
        unix_ms.map_or_else(|| "not since the start".to_owned(), |at| ctime(at, zone))
    };
    let times = [
        ("System Time", Some(row.system_unix_ms)),
        ("Last Config Changed Time", row.changed_unix_ms),
        ("Last Config Saved Time", row.saved_unix_ms),
    ];
    text.push_str(&format!("\tConfiguration File: {}\n", row.path));
    for (label, at) in times {
        text.push_str(&format!("\t{label:>30}: {}\n", moment(at)));
    }
    text.push_str(&format!(
        "\tConfig Changed since Last Saved Config: {}\n",
        if row.unsaved { "TRUE" } else { "FALSE" }
    ));
    if let Some(seconds) = row.provisional_s {
        text.push_str(&format!(
            "\tChanges are provisional: undone in {seconds} s unless confirmed\n"
        ));
    }
    for failure in &row.not_undone {
        text.push_str(&format!("\t{failure}\n"));
    }
    let skipped: Vec<String> = row
        .skipped
        .iter()
        .map(|(feature, count)| format!("{feature} {count}"))
        .collect();
    if !skipped.is_empty() {
        text.push_str(&format!(
            "\tLines of features that are not here: {} ({})\n",
            row.skipped.values().sum::<u64>(),
            skipped.join(", ")
        ));
    }
    if row.boot_failures.is_empty() {
        return;
    }
    text.push_str(&format!(
        "\tLines that failed at boot: {}\n",
        row.boot_failures.len()
    ));
    for failure in &row.boot_failures {
        text.push_str(&format!("\t\t{failure}\n"));
    }
}
