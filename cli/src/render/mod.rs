//! Turns the rows of an answer into the text of the reference, one file per object.
//!
//! Owns the layout alone: what a value is has been decided by the daemon. Only lines whose option
//! exists are printed. Names and numbers are never shortened (the reference does so without
//! `-fullValues`): a name that cannot be told from another, or a byte count that is not exact,
//! helps nobody.
//!
//! Source: `show` and `stat` transcripts of the reference; what is our own says so at its place.

mod config;
mod connection;
mod drain;
mod explain;
mod group;
mod layout;
mod parameter;
mod persistent_sessions;
mod profile;
mod server;
mod service;
mod service_group;
mod stat_service;
mod stat_service_group;
mod stat_udp;
mod stat_vserver;
mod table;
mod tcp_inline;
mod time;
mod vserver;

use jiff::tz::TimeZone;
use sluice_protocol::Row;

use crate::escape::escape_row;

/// Whether a command asked for one object or for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// All objects: numbered, short.
    List,
    /// One object: with what is bound to it.
    Single,
}

/// Returns the text of an answer, each line ended; no rows are no text.
pub(crate) fn text(rows: &[Row], form: Form, zone: &TimeZone) -> String {
    let rows: Vec<Row> = rows.iter().map(escape_row).collect();
    let mut text = String::new();
    let mut services = Vec::new();
    let mut service_groups = Vec::new();
    let mut vservers = Vec::new();
    let mut sessions = Vec::new();
    let mut connections = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let head = layout::head(form, index);
        match row {
            Row::Name(line) | Row::Line(line) => {
                text.push_str(line);
                text.push('\n');
            }
            Row::Server(row) => server::push(&mut text, &head, form, row),
            Row::Service(row) => service::push(&mut text, &head, row, zone),
            Row::Vserver(row) => vserver::push(&mut text, &head, row, zone),
            Row::ServiceStat(row) => services.push(row),
            Row::VserverStat(row) => vservers.push(row),
            Row::UdpStat(row) => stat_udp::push(&mut text, row),
            Row::Group(row) => group::push(&mut text, &head, row),
            Row::Profile(row) => profile::push(&mut text, &head, row),
            Row::PersistentSession(row) => sessions.push(row),
            Row::Connection(row) => connections.push(row),
            Row::ExplainVserver(_) | Row::ExplainService(_) | Row::ExplainOutcome(_) => {}
            Row::Parameter(row) => parameter::push(&mut text, row),
            Row::Config(row) => config::push(&mut text, row, zone),
            Row::ServiceGroup(row) => service_group::push(&mut text, &head, row, zone),
            Row::ServiceGroupStat(row) => service_groups.push(row),
            Row::ServiceGroupBinding(row) => group::push_member(&mut text, index, row),
        }
    }
    stat_service::push(&mut text, form, &services);
    stat_service_group::push(&mut text, form, &service_groups);
    stat_vserver::push(&mut text, form, &vservers);
    persistent_sessions::push(&mut text, &sessions);
    connection::push(&mut text, &connections);
    explain::push(&mut text, &rows);
    text
}

#[cfg(test)]
mod tests;
