//! Which clients stay with which services: what `show` and `clear lb persistentSessions` do.
//!
//! The parameter of a session is its key as text: one address, or `source,destination`.

use std::net::IpAddr;

use sluice_balance::{
    Persistence, PersistenceCursor, PersistenceFilter, PersistenceKey, PersistenceKind,
    PersistencePage, PersistenceRow, VserverId,
};
use sluice_command::{Command, Fault, Key, catalogue};
use sluice_config::{Config, Vserver};
use sluice_protocol::{PersistentSession, Row};

/// The sessions to be shown.
#[derive(Debug, PartialEq)]
pub(crate) struct Listing {
    pub(crate) rows: Vec<Row>,
    /// Says that there are more.
    pub(crate) warning: Option<String>,
}

/// Returns the sessions that `command` asks for; `page` is asked for one part after the other.
///
/// # Errors
/// There is no virtual server of that name.
pub(crate) fn show(
    config: &Config,
    command: &Command,
    mut page: impl FnMut(&PersistenceFilter, PersistenceCursor) -> PersistencePage,
) -> Result<Listing, Fault> {
    let filter = PersistenceFilter {
        vserver: named(config, command)?.map(Vserver::id),
        ..PersistenceFilter::default()
    };
    let mut rows = Vec::new();
    let mut next = Some(PersistenceCursor::default());
    while let Some(from) = next {
        let part = page(&filter, from);
        rows.extend(part.rows.iter().map(|session| row(config, session)));
        next = part.next;
        if rows.len() > MOST_SHOWN {
            rows.truncate(MOST_SHOWN);
            let text = format!("only the first {MOST_SHOWN} sessions are shown");
            return Ok(Listing {
                rows,
                warning: Some(text),
            });
        }
    }
    Ok(Listing {
        rows,
        warning: None,
    })
}

/// Forgets the sessions that `command` names, by `forget`; returns how many there were.
///
/// # Errors
/// There is no virtual server of that name, or it tells clients apart by something else than what is
/// given.
pub(crate) fn clear(
    config: &Config,
    command: &Command,
    mut forget: impl FnMut(Option<VserverId>, Option<&PersistenceKey>) -> u64,
) -> Result<u64, Fault> {
    let vserver = named(config, command)?;
    let Some(parameter) = command.text(Key::PersistenceParameter) else {
        return Ok(forget(vserver.map(Vserver::id), None));
    };
    let addresses = addresses(parameter).ok_or_else(|| not_a_client(parameter, ANY_CLIENT))?;
    if let Some(vserver) = vserver {
        let Some(persistence) = config.core_of_vserver(vserver).persistence else {
            return Ok(0);
        };
        let key = key(persistence.kind, &addresses)
            .ok_or_else(|| not_a_client(parameter, client_of(persistence.kind)))?;
        return Ok(forget(Some(vserver.id()), Some(&key)));
    }
    // What is one client here is none there: each virtual server is asked about its own kind.
    let kind = |vserver: &Vserver| {
        let persistence: Option<Persistence> = config.core_of_vserver(vserver).persistence;
        Some((vserver.id(), key(persistence?.kind, &addresses)?))
    };
    let found = config.vservers().filter_map(kind);
    Ok(found.map(|(id, key)| forget(Some(id), Some(&key))).sum())
}

fn named<'a>(config: &'a Config, command: &Command) -> Result<Option<&'a Vserver>, Fault> {
    let Some(name) = command.text(Key::Name) else {
        return Ok(None);
    };
    let missing = || {
        Fault::new(catalogue::NO_SUCH_RESOURCE)
            .with_details(format!("vServer, {name}"))
            .with_hint("show lb vserver")
    };
    config.vserver(name).map(Some).ok_or_else(missing)
}

fn row(config: &Config, session: &PersistenceRow) -> Row {
    let text = |address: Option<IpAddr>| address.map(|address| address.to_string());
    let source = text(session.key.src);
    let destination = text(session.key.dst);
    let addresses = [source.clone(), destination.clone()];
    let parameter = addresses
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(",");
    let vserver = config.vserver_by_id(session.vserver);
    let service = config.service_by_id(session.service);
    Row::PersistentSession(PersistentSession {
        persistence_type: word(session.kind).to_owned(),
        source,
        destination,
        vserver: vserver
            .map(|vserver| vserver.name().to_owned())
            .unwrap_or_default(),
        service: service
            .map(|service| service.name().to_owned())
            .unwrap_or_default(),
        timeout_s: session
            .remaining
            .as_millis()
            .div_ceil(1000)
            .try_into()
            .unwrap_or(u64::MAX),
        parameter,
    })
}

fn word(kind: PersistenceKind) -> &'static str {
    match kind {
        PersistenceKind::SourceIp => "SOURCEIP",
        PersistenceKind::DestIp => "DESTIP",
        PersistenceKind::SrcIpDestIp => "SRCIPDESTIP",
    }
}

/// Reads one address, or two with a comma between.
fn addresses(parameter: &str) -> Option<Vec<IpAddr>> {
    let addresses: Result<Vec<IpAddr>, _> = parameter
        .split(',')
        .map(|address| address.trim().parse())
        .collect();
    addresses.ok().filter(|addresses| addresses.len() <= 2)
}

/// Returns the client of a virtual server with this kind of persistence; none if it takes another
/// number of addresses to tell one.
fn key(kind: PersistenceKind, addresses: &[IpAddr]) -> Option<PersistenceKey> {
    let (src, dst) = match (kind, addresses) {
        (PersistenceKind::SourceIp, [src]) => (Some(*src), None),
        (PersistenceKind::DestIp, [dst]) => (None, Some(*dst)),
        (PersistenceKind::SrcIpDestIp, [src, dst]) => (Some(*src), Some(*dst)),
        (PersistenceKind::SourceIp | PersistenceKind::DestIp | PersistenceKind::SrcIpDestIp, _) => {
            return None;
        }
    };
    Some(PersistenceKey { src, dst })
}

fn client_of(kind: PersistenceKind) -> &'static str {
    match kind {
        PersistenceKind::SourceIp | PersistenceKind::DestIp => "one address",
        PersistenceKind::SrcIpDestIp => "the client's address, a comma, and the one it dialled",
    }
}

fn not_a_client(parameter: &str, expected: &str) -> Fault {
    Fault::new(catalogue::INVALID_ARGUMENT_VALUE)
        .with_details(format!("persistenceParameter, {parameter}"))
        .with_hint(format!("persistenceParameter is {expected}"))
}

const ANY_CLIENT: &str = "an address, or two with a comma between";

/// An answer is held in memory as a whole: at some 200 bytes a row, these are 50 MiB. The table has
/// fewer unless an operator made it larger.
const MOST_SHOWN: usize = 1 << 18;

#[cfg(test)]
mod tests;
