//! `stat serviceGroup`.
//!
//! No transcript of the reference exists: the geometry is that of `stat service`, and what is counted is
//! the sum over the members.

use sluice_protocol::{ServiceGroupStat, ServiceStat};

use super::Form;
use super::layout::{Columns, rate_mbit, window_mbit};
use super::stat_service::{self, push_counter, push_gauge, push_statistics_head};

/// Adds the statistics of service groups; nothing for none.
pub(crate) fn push(text: &mut String, form: Form, rows: &[&ServiceGroupStat]) {
    match (rows, form) {
        ([], _) => {}
        ([row], Form::Single) => push_single(text, row),
        (rows, Form::List | Form::Single) => push_list(text, rows),
    }
}

fn push_list(text: &mut String, rows: &[&ServiceGroupStat]) {
    text.push_str("\nService Group(s) Summary\n");
    push_header(text);
    for row in rows {
        push_summary(text, row);
        text.push('\n');
    }
}

fn push_single(text: &mut String, row: &ServiceGroupStat) {
    text.push_str("\nService Group Summary\n");
    push_header(text);
    push_summary(text, row);
    text.push_str("\nService Group Statistics\n");
    push_statistics_head(text);
    let both = u128::from(row.request_bytes_per_s) + u128::from(row.response_bytes_per_s);
    let rate = Columns::new("Throughput (Mbps)").right(52, rate_mbit(both));
    text.push_str(&rate.right(73, "--").finish());
    push_gauge(text, "Bytes (14 s)", row.window_bytes);
    push_gauge(text, "Packets (14 s)", row.window_packets);
    push_counter(text, "Service hits", row.hits_per_s, row.hits);
    let (sent, received) = (row.request_bytes_per_s, row.response_bytes_per_s);
    push_counter(text, "Request bytes", sent, row.request_bytes);
    push_counter(text, "Response bytes", received, row.response_bytes);
    push_gauge(text, "Total Packets rcvd", row.packets_received);
    push_gauge(text, "Total Packets sent", row.packets_sent);
    push_gauge(text, "Current client connections", row.active);
    let members: Vec<&ServiceStat> = row.members.iter().flatten().collect();
    stat_service::push_list(text, "Service Group Member(s) Summary", &members);
}

fn push_header(text: &mut String) {
    let header = Columns::new("")
        .right(34, "Type")
        .right(48, "State")
        .right(56, "actSvcs")
        .right(66, "inactSvcs")
        .right(75, "Req/s")
        .right(84, "Active")
        .right(100, "Mbit/s (14 s)");
    text.push_str(&header.finish());
}

fn push_summary(text: &mut String, row: &ServiceGroupStat) {
    let line = Columns::new(&row.name)
        .right(34, &row.service_type)
        .right(48, &row.state)
        .right(56, row.members_active)
        .right(66, row.members_inactive)
        .right(75, format!("{}/s", row.hits_per_s))
        .right(84, row.active)
        .right(100, window_mbit(row.window_bytes));
    text.push_str(&line.finish());
}
