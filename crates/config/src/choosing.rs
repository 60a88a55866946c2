//! How a virtual server chooses, from its options: what the core needs to know, and which options
//! do nothing as things are.
//!
//! A setting has passed the table, so what is read here is within the bounds of the core's types.

use std::time::Duration;

use sluice_balance::{
    AddressMask, Method, Persistence, PersistenceKind, PersistenceTimeout, RampUnit,
    SkipPersistence, SlowStart, TokenRange,
};
use sluice_command::{Command, Fault, Key};

use crate::group::Group;
use crate::object::Vserver;
use crate::refusal;
use crate::settings::Settings;

/// Returns the method of a virtual server.
pub(crate) fn method(settings: &Settings) -> Method {
    match settings.word(Key::LbMethod).as_deref() {
        Some("ROUNDROBIN") => Method::RoundRobin,
        Some("LEASTBANDWIDTH") => Method::LeastBandwidth,
        Some("LEASTPACKETS") => Method::LeastPackets,
        Some("LEASTREQUEST") => Method::LeastRequest,
        Some("LEASTRESPONSETIME") => Method::LeastResponseTime,
        Some("SOURCEIPHASH") => Method::SourceIpHash,
        Some("DESTINATIONIPHASH") => Method::DestinationIpHash,
        Some("SRCIPDESTIPHASH") => Method::SrcIpDestIpHash,
        Some("SRCIPSRCPORTHASH") => Method::SrcIpSrcPortHash,
        Some(TOKEN) => Method::Token(token_range(settings)),
        Some("RANDOM") => Method::Random,
        Some("LEASTCONNECTION") | None => Method::LeastConnection,
        Some(method) => panic!("the table allows the method {method}, the core has none such"),
    }
}

fn token_range(settings: &Settings) -> TokenRange {
    let length = settings.own_number(Key::DataLength);
    let length = length.expect("settle_token refuses TOKEN without a length");
    TokenRange::new(settings.number(Key::DataOffset), length).expect(TABLE)
}

/// Sees to it that TOKEN has a token and no other method has: where it is goes with the method.
///
/// So what is saved can be read again line by line, each line complete in itself.
///
/// # Errors
/// One of the two is wanted without the other.
pub(crate) fn settle_token(command: &Command, settings: &mut Settings) -> Result<(), Fault> {
    if settings.word(Key::LbMethod).as_deref() == Some(TOKEN) {
        return match settings.own_number(Key::DataLength) {
            Some(_) => Ok(()),
            None => Err(refusal::token_without_length()),
        };
    }
    for key in [Key::DataLength, Key::DataOffset] {
        // An offset of 0 says nothing.
        if let Some(argument) = settings.given(command, key) {
            return Err(refusal::place_without_token(argument));
        }
        settings.unset(key);
    }
    Ok(())
}

/// Returns which bits of an address a virtual server hashes.
pub(crate) fn hash_mask(settings: &Settings) -> AddressMask {
    mask(settings, Key::Netmask, Key::V6NetmaskLen)
}

/// Returns how new services are brought in.
pub(crate) fn slow_start(settings: &Settings) -> SlowStart {
    let rate = settings.number(Key::NewServiceRequest);
    let interval = settings.number(Key::NewServiceRequestIncrementInterval);
    let unit = match settings.word(Key::NewServiceRequestUnit).as_deref() {
        Some("PERCENT") => RampUnit::Percent,
        Some(_) | None => RampUnit::PerSecond,
    };
    SlowStart {
        rate: u32::try_from(rate).unwrap_or(u32::MAX),
        unit,
        interval: Duration::from_secs(interval),
    }
}

/// Returns whether and how clients stay with a service; a group decides for its virtual servers.
pub(crate) fn persistence(settings: &Settings, group: Option<&Group>) -> Option<Persistence> {
    let shared = group.map_or(settings, |group| &group.settings);
    let minutes = shared.number(Key::Timeout);
    Some(Persistence {
        kind: persistence_kind(shared)?,
        mask: mask(shared, Key::PersistMask, Key::V6PersistMaskLen),
        timeout: PersistenceTimeout::new(minutes).expect(TABLE),
        skip: match settings.word(Key::SkipPersistency).as_deref() {
            Some("Bypass") => SkipPersistence::Bypass,
            Some("ReLb") => SkipPersistence::ReLb,
            Some(_) | None => SkipPersistence::None,
        },
        trofs: settings.word(Key::TrofsPersistence).as_deref() == Some("ENABLED"),
        group: group.map(|group| group.id),
    })
}

/// Refuses a backup method that is the method, if either is new.
pub(crate) fn check_backup_method(command: &Command, settings: &Settings) -> Result<(), Fault> {
    let method = settings.word(Key::LbMethod);
    let given = command.text(Key::BackupLbMethod);
    let is_changed = given.is_some() || command.arg(Key::LbMethod).is_some();
    // The default is no choice of the operator's, and goes with every method.
    let chosen = given.or_else(|| settings.own_word(Key::BackupLbMethod));
    match (chosen, method) {
        (Some(backup), Some(method)) if is_changed && backup == method => {
            Err(refusal::same_backup_method(backup))
        }
        (Some(_) | None, _) => Ok(()),
    }
}

/// Says which options of a command do nothing together with the others of the virtual server, and
/// with the group it is in.
pub(crate) fn idle_options(
    command: &Command,
    settings: &Settings,
    group: Option<&Group>,
) -> Vec<String> {
    let mut idle = match group {
        Some(group) => {
            let with = format!("while the virtual server is in lb group {}", group.name);
            let mut idle = given(command, settings, &OF_GROUP, &with);
            if persistence_kind(&group.settings).is_none() {
                idle.extend(given(command, settings, &[Key::SkipPersistency], &with));
            }
            idle
        }
        None if persistence_kind(settings).is_none() => {
            given(command, settings, &FOR_PERSISTENCE, WITHOUT_PERSISTENCE)
        }
        None => Vec::new(),
    };
    if let Some(method) = settings.word(Key::LbMethod)
        && !hashes_one_address(&method)
    {
        let with = format!("with -lbMethod {method}");
        idle.extend(given(command, settings, &FOR_HASHES, &with));
    }
    idle
}

/// Says which options of a command do nothing together with the others of the group.
pub(crate) fn idle_group_options(command: &Command, settings: &Settings) -> Vec<String> {
    match persistence_kind(settings) {
        Some(_) => Vec::new(),
        None => given(command, settings, &FOR_PERSISTENCE, WITHOUT_PERSISTENCE),
    }
}

/// Says that the persistence of a virtual server does nothing in a group.
pub(crate) fn overruled(vserver: &Vserver, group: &Group) -> Option<String> {
    let own = vserver.settings.own_word(Key::PersistenceType)?;
    let (vserver, group) = (&vserver.name, &group.name);
    Some(format!(
        "-persistenceType {own} of lb vserver {vserver} has no effect while it is in lb group {group}"
    ))
}

fn given(command: &Command, settings: &Settings, keys: &[Key], with: &str) -> Vec<String> {
    let given = keys.iter().filter_map(|key| settings.given(command, *key));
    given
        .map(|option| format!("-{option} has no effect {with}"))
        .collect()
}

fn hashes_one_address(method: &str) -> bool {
    matches!(method, "SOURCEIPHASH" | "DESTINATIONIPHASH")
}

fn persistence_kind(settings: &Settings) -> Option<PersistenceKind> {
    match settings.word(Key::PersistenceType).as_deref() {
        Some("SOURCEIP") => Some(PersistenceKind::SourceIp),
        Some("DESTIP") => Some(PersistenceKind::DestIp),
        Some("SRCIPDESTIP") => Some(PersistenceKind::SrcIpDestIp),
        Some("NONE") | None => None,
        Some(kind) => panic!("the table allows the persistence {kind}, the core has none such"),
    }
}

fn mask(settings: &Settings, v4: Key, v6: Key) -> AddressMask {
    AddressMask::new(settings.netmask(v4), settings.number(v6)).expect(TABLE)
}

/// What is of use with a persistence alone.
const FOR_PERSISTENCE: [Key; 4] = [
    Key::Timeout,
    Key::PersistMask,
    Key::V6PersistMaskLen,
    Key::SkipPersistency,
];

const WITHOUT_PERSISTENCE: &str = "with -persistenceType NONE";

/// What a group has for all its virtual servers.
pub(crate) const OF_GROUP: [Key; 4] = [
    Key::PersistenceType,
    Key::Timeout,
    Key::PersistMask,
    Key::V6PersistMaskLen,
];

/// What is of use where one address is hashed.
const FOR_HASHES: [Key; 2] = [Key::Netmask, Key::V6NetmaskLen];

/// The method that looks at what clients send.
const TOKEN: &str = "TOKEN";

const TABLE: &str = "the table has the bounds of the core";
