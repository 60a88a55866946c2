//! `stat protocol udp`: our own lines in the reference's geometry.

use sluice_protocol::UdpStat;

use super::stat_service::{push_gauge, push_statistics_head};

/// Adds the sessions of the process and what was dropped.
pub(crate) fn push(text: &mut String, row: &UdpStat) {
    text.push_str("\nUDP Statistics\n");
    push_statistics_head(text);
    for (label, value) in [
        ("Current sessions", row.sessions),
        ("Session limit", row.session_limit),
        ("Dropped at the session limit", row.dropped_at_limit),
        ("Dropped without a service", row.dropped_refused),
        ("Dropped without a socket", row.dropped_without_socket),
        ("Dropped not received whole", row.dropped_truncated),
        ("Dropped at a full buffer", row.dropped_buffer_full),
        ("Dropped that cannot be sent", row.dropped_unsendable),
        ("Errors reported by services", row.errors_reported),
    ] {
        push_gauge(text, label, value);
    }
}
