//! `show ns connectiontable`.
//!
//! The layout is our own, since the reference's is not known: its words where it has them, one line for
//! both sides of a connection, columns as wide as what stands in them.

use sluice_protocol::{Connection, ConnectionService};

use super::table;

/// Adds a table of connections; nothing for none.
pub(crate) fn push(text: &mut String, connections: &[&Connection]) {
    if connections.is_empty() {
        return;
    }
    let title = [
        "SRCIP",
        "SRCPORT",
        "DSTIP",
        "DSTPORT",
        "SVCTYPE",
        "IDLTIME",
        "AGE",
        "STATE",
        "VSNAME",
        "SVCNAME",
        "SVCIP",
        "SVCPORT",
        "BYTES-IN",
        "BYTES-OUT",
        "REASON",
    ];
    let mut lines = vec![title.map(str::to_owned)];
    lines.extend(connections.iter().map(|row| columns(row)));
    table::push(text, &lines);
}

fn columns(row: &Connection) -> [String; 15] {
    let none = || "-".to_owned();
    let name = |name: &Option<String>| name.clone().unwrap_or_else(none);
    let service = row.service.as_ref();
    [
        row.source.clone(),
        row.source_port.to_string(),
        row.destination.clone(),
        row.destination_port.to_string(),
        row.service_type
            .clone()
            .unwrap_or_else(|| row.protocol.clone()),
        (row.idle_ms / 1000).to_string(),
        (row.age_ms / 1000).to_string(),
        row.state.clone(),
        name(&row.vserver),
        service.map_or_else(none, |service| name(&service.name)),
        service.map_or_else(none, |service| service.address.clone()),
        service.map_or_else(none, |service| service.port.to_string()),
        row.request_bytes.to_string(),
        row.response_bytes.to_string(),
        service.map_or_else(|| "no service yet".to_owned(), reason),
    ]
}

/// Says why the service was chosen, a backup included.
fn reason(service: &ConnectionService) -> String {
    let ConnectionService { method, rule, .. } = service;
    let choice = match rule.as_str() {
        "persistence" => rule.clone(),
        _ => format!("{method}: {rule}"),
    };
    let vserver = service.vserver.as_deref().unwrap_or("-");
    match service.diversion.as_deref() {
        None => choice,
        Some("DOWN") => format!("{choice} (backup {vserver}, primary down)"),
        Some(_) => format!("{choice} (backup {vserver}, spillover)"),
    }
}
