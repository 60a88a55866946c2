//! TCP-INLINE in `show service` and `show serviceGroup`.
//!
//! Laid out as a monitor whose probes are connections. Our own are what is looked at for the share of
//! failures, and the line on why a service is DOWN and when it is tried.

use sluice_protocol::TcpInline;

/// Adds it to a service, as its monitor of this number.
pub(crate) fn push(text: &mut String, number: usize, row: &TcpInline) {
    text.push_str(&format!(
        "\n{number})\tMonitor Name: TCP-INLINE\n\t\tState: {}\tPassive: 0\n",
        row.state
    ));
    push_found(text, row);
}

/// Adds it to a member of a service group.
pub(crate) fn push_of_member(text: &mut String, row: &TcpInline) {
    text.push_str(&format!(
        "\n\t\tMonitor Name: TCP-INLINE \tState: {}\tPassive: 0\n",
        row.state
    ));
    push_found(text, row);
}

fn push_found(text: &mut String, row: &TcpInline) {
    text.push_str(&format!(
        "\t\tProbes: {}\tFailed [Total: {} Current: {}]\tLately: {} of {}\n",
        row.connections, row.failed_total, row.failed_current, row.failed_lately, row.sample
    ));
    if let Some(response) = &row.last_response {
        text.push_str(&format!("\t\tLast response: {response}.\n"));
    }
    if let Some(reason) = &row.reason {
        text.push_str(&format!("\t\tReason: {reason}, {}\n", next(row)));
    }
}

/// Returns what comes next.
fn next(row: &TcpInline) -> String {
    match row.trial_ms {
        Some(left_ms) => format!(
            "a connection tries it in {} seconds",
            left_ms.div_ceil(1000)
        ),
        None => "on trial, one connection at a time".to_owned(),
    }
}
