//! `stat service`, and the services of `stat server`.
//!
//! No transcript of the reference exists: the fields and labels are its own as far as they are
//! counted here, the geometry is that of `stat lb vserver`. The `(14 s)` lines are what
//! LEASTBANDWIDTH and LEASTPACKETS compare; the lines after the packets are our own.

use std::fmt::Display;

use sluice_protocol::ServiceStat;

use super::Form;
use super::layout::{Columns, rate_mbit, window_mbit};

/// Adds the statistics of services; nothing for none.
pub(crate) fn push(text: &mut String, form: Form, rows: &[&ServiceStat]) {
    match (rows, form) {
        ([], _) => {}
        ([row], Form::Single) => push_single(text, row),
        (rows, Form::List | Form::Single) => push_list(text, "Service(s) Summary", rows),
    }
}

/// Adds the summaries of services under a title; nothing for none.
pub(crate) fn push_list(text: &mut String, title: &str, rows: &[&ServiceStat]) {
    if rows.is_empty() {
        return;
    }
    text.push_str(&format!("\n{title}\n"));
    push_header(text);
    for row in rows {
        push_summary(text, row);
        text.push('\n');
    }
}

/// Adds the header of the statistics: rates end at column 52, totals at 73.
pub(crate) fn push_statistics_head(text: &mut String) {
    // The device's header ends one column before its numbers.
    let head = Columns::new("").right(51, "Rate (/s)").right(72, "Total");
    text.push_str(&head.finish());
}

/// Adds a line with a rate and a total.
pub(crate) fn push_counter(text: &mut String, label: &str, rate: impl Display, total: u64) {
    text.push_str(
        &Columns::new(label)
            .right(52, rate)
            .right(73, total)
            .finish(),
    );
}

/// Adds a line of something that has no rate.
pub(crate) fn push_gauge(text: &mut String, label: &str, value: impl Display) {
    text.push_str(
        &Columns::new(label)
            .right(52, "--")
            .right(73, value)
            .finish(),
    );
}

fn push_single(text: &mut String, row: &ServiceStat) {
    text.push_str("\nService Summary\n");
    push_header(text);
    push_summary(text, row);
    text.push_str("\nService Statistics\n");
    push_statistics_head(text);
    let both = u128::from(row.request_bytes_per_s) + u128::from(row.response_bytes_per_s);
    push_rate(text, "Throughput (Mbps)", rate_mbit(both));
    push_rate(
        text,
        "Bandwidth (14 s, Mbit/s)",
        window_mbit(row.window_bytes),
    );
    push_gauge(text, "Bytes (14 s)", row.window_bytes);
    push_gauge(text, "Packets (14 s)", row.window_packets);
    push_counter(text, "Service hits", row.hits_per_s, row.hits);
    push_counter(
        text,
        "Request bytes",
        row.request_bytes_per_s,
        row.request_bytes,
    );
    push_counter(
        text,
        "Response bytes",
        row.response_bytes_per_s,
        row.response_bytes,
    );
    push_gauge(text, "Total Packets rcvd", row.packets_received);
    push_gauge(text, "Total Packets sent", row.packets_sent);
    push_gauge(text, "Current client connections", row.active);
    push_gauge(text, "Connect failures", row.connect_failures);
    push_gauge(text, "Resets by the service", row.service_resets);
    push_gauge(text, "Closed without an answer", row.service_closes);
    push_gauge(text, "Resets by the client", row.client_resets);
    push_gauge(text, "Closed by the idle limit", row.idle_closes);
    push_gauge(text, "No local port or memory", row.local_failures);
    push_gauge(
        text,
        "Average server TTFB (ms)",
        millis(row.response_time_us),
    );
    push_gauge(text, "Longest wait now (ms)", millis(row.longest_wait_us));
    push_gauge(text, "Recent failures", row.recent_failures);
    let behind = if row.stands_behind { "YES" } else { "NO" };
    push_gauge(text, "Stands behind", behind);
    if let Some(own) = &row.tcp_inline {
        push_gauge(text, "TCP-INLINE connections", own.connections);
        push_gauge(text, "TCP-INLINE failures", own.failed_total);
        push_gauge(text, "TCP-INLINE failures in a row", own.failed_current);
        push_gauge(text, "TCP-INLINE times DOWN", own.times_down);
    }
}

/// Milliseconds with three digits of their parts.
fn millis(micros: Option<u64>) -> String {
    micros.map_or_else(
        || "--".to_owned(),
        |micros| format!("{}.{:03}", micros / 1000, micros % 1000),
    )
}

fn push_rate(text: &mut String, label: &str, rate: impl Display) {
    text.push_str(&Columns::new(label).right(52, rate).right(73, "--").finish());
}

fn push_header(text: &mut String) {
    let header = Columns::new("")
        .right(28, "IP")
        .right(34, "port")
        .right(47, "Type")
        .right(60, "State")
        .right(69, "Req/s")
        .right(78, "Active")
        .right(94, "Mbit/s (14 s)");
    text.push_str(&header.finish());
}

fn push_summary(text: &mut String, row: &ServiceStat) {
    let line = Columns::new(&row.name)
        .right(28, &row.address)
        .right(34, &row.port)
        .right(47, &row.service_type)
        .right(60, &row.state)
        .right(69, format!("{}/s", row.hits_per_s))
        .right(78, row.active)
        .right(94, window_mbit(row.window_bytes));
    text.push_str(&line.finish());
}
