//! `stat lb vserver`.
//!
//! The summary is that of the reference's releases with `Health` and `actSvcs`. Of the statistics
//! only the lines that are counted here are printed, with the reference's labels; `Requests
//! refused` and `Hits without Session, Table Full` are our own. The bound services' columns after `Hits` are our own too, since the
//! reference's header is not known: what the choice looks at, in the units of the choice.

use sluice_protocol::{BoundStat, PersistenceStat, VserverStat};

use super::Form;
use super::layout::{Columns, window_mbit};
use super::stat_service::{push_counter, push_gauge, push_statistics_head};
use super::vserver::slow_start_now;

/// Adds the statistics of virtual servers; nothing for none.
pub(crate) fn push(text: &mut String, form: Form, rows: &[&VserverStat]) {
    if rows.is_empty() {
        return;
    }
    match form {
        Form::List => push_list(text, rows),
        Form::Single => rows.iter().for_each(|row| push_single(text, row)),
    }
}

fn push_list(text: &mut String, rows: &[&VserverStat]) {
    text.push_str("\nVirtual Server(s) Summary\n");
    push_header(text);
    for row in rows {
        push_summary(text, row);
        text.push('\n');
    }
}

fn push_single(text: &mut String, row: &VserverStat) {
    text.push_str("\nVirtual Server Summary\n");
    push_header(text);
    push_summary(text, row);
    text.push('\n');
    text.push_str(&Columns::new("").right(20, "inactSvcs").finish());
    let inactive = Columns::new(&row.name).right(20, row.services_inactive);
    text.push_str(&inactive.finish());
    text.push_str("\nVirtual Server Statistics\n");
    push_statistics_head(text);
    push_counter(text, "Vserver hits", row.hits_per_s, row.hits);
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
    push_persistence(text, row.persistence.as_ref());
    push_gauge(text, "Spill Over Threshold", row.spillover_threshold);
    push_gauge(text, "Spill Over Hits", row.spillover_hits);
    push_gauge(text, "Vserver Down Backup Hits", row.down_backup_hits);
    push_gauge(text, "Requests refused", row.refused);
    push_gauge(text, "Clients gone before a Service", row.aborted);
    push_bound(text, row.bound.as_deref().unwrap_or_default());
}

fn push_persistence(text: &mut String, persistence: Option<&PersistenceStat>) {
    let sessions = persistence.map_or(0, |persistence| persistence.sessions);
    push_gauge(text, "Current Persistence Sessions", sessions);
    if let Some(persistence) = persistence {
        push_gauge(
            text,
            "Hits without Session, Table Full",
            persistence.table_full,
        );
    }
}

fn push_header(text: &mut String) {
    let header = Columns::new("")
        .right(28, "vsvrIP")
        .right(34, "port")
        .right(47, "Protocol")
        .right(60, "State")
        .right(69, "Health")
        .right(78, "actSvcs");
    text.push_str(&header.finish());
}

fn push_summary(text: &mut String, row: &VserverStat) {
    let line = Columns::new(&row.name)
        .right(28, &row.address)
        .right(34, &row.port)
        .right(47, &row.service_type)
        .right(60, &row.state)
        .right(69, row.health)
        .right(78, row.services_active);
    text.push_str(&line.finish());
}

fn push_bound(text: &mut String, rows: &[BoundStat]) {
    if rows.is_empty() {
        return;
    }
    text.push_str("\nBound Service(s) Summary\n");
    let header = Columns::new("")
        .right(28, "IP")
        .right(34, "port")
        .right(47, "Type")
        .right(60, "State")
        .right(69, "Hits")
        .right(78, "Active")
        .right(87, "Weight")
        .right(103, "Mbit/s (14 s)")
        .right(119, "Packets (14 s)");
    let has_orders = rows.iter().any(|row| row.order.is_some());
    let header = if has_orders {
        header.right(127, "Order")
    } else {
        header
    };
    text.push_str(&header.finish());
    for row in rows {
        let line = Columns::new(&row.name)
            .right(28, &row.address)
            .right(34, &row.port)
            .right(47, &row.service_type)
            .right(60, &row.state)
            .right(69, row.hits)
            .right(78, row.active)
            .right(87, row.weight)
            .right(103, window_mbit(row.window_bytes))
            .right(119, row.window_packets);
        let line = if has_orders {
            line.right(127, order(row))
        } else {
            line
        };
        text.push_str(&line.finish());
    }
    push_slow_starts(text, rows);
}

/// Returns the order of a service; in brackets while it stands by.
fn order(row: &BoundStat) -> String {
    let order = row.order;
    let order = order.map_or_else(|| "None".to_owned(), |order| order.to_string());
    if row.standby {
        format!("({order})")
    } else {
        order
    }
}

fn push_slow_starts(text: &mut String, rows: &[BoundStat]) {
    let new = rows
        .iter()
        .filter_map(|row| row.slow_start.as_ref().map(|ramp| (row, ramp)));
    for (index, (row, ramp)) in new.enumerate() {
        if index == 0 {
            text.push_str("\nSlow Start of New Service(s)\n");
        }
        text.push_str(&format!("{}: {}\n", row.name, slow_start_now(ramp)));
    }
}
