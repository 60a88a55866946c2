//! `show lb persistentSessions`.
//!
//! The layout is our own, since the reference's is not known: its words where it has them, columns as
//! wide as what stands in them. `SERVICE` is added; the number of references is not counted here.

use sluice_protocol::PersistentSession;

use super::table;

/// Adds a table of sessions; nothing for none.
pub(crate) fn push(text: &mut String, sessions: &[&PersistentSession]) {
    if sessions.is_empty() {
        return;
    }
    let title = [
        "TYPE",
        "SRC-IP",
        "DST-IP",
        "VSNAME",
        "SERVICE",
        "TIMEOUT",
        "PERSISTENCE-PARAMETER",
    ];
    let mut lines = vec![title.map(str::to_owned)];
    lines.extend(sessions.iter().map(|session| columns(session)));
    table::push(text, &lines);
}

fn columns(session: &PersistentSession) -> [String; 7] {
    let address = |address: &Option<String>| address.clone().unwrap_or_else(|| "-".to_owned());
    [
        session.persistence_type.clone(),
        address(&session.source),
        address(&session.destination),
        session.vserver.clone(),
        session.service.clone(),
        session.timeout_s.to_string(),
        session.parameter.clone(),
    ]
}
