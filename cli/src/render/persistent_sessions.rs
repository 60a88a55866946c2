//! `show lb persistentSessions`.
//!
//! The layout is our own, since the reference's is not known: its words where it has them, columns as
//! wide as what stands in them. `SERVICE` is added; the number of references is not counted here.

use sluice_protocol::PersistentSession;

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
    let width = |column: usize| {
        let widths = lines.iter().map(|line| line[column].chars().count());
        widths.max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..title.len()).map(width).collect();
    for line in &lines {
        let padded = line
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:width$}"));
        let padded = padded.collect::<Vec<_>>().join("  ");
        text.push_str(padded.trim_end());
        text.push('\n');
    }
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
