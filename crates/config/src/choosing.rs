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
        Some(TOKEN) => token_range(settings).map_or_else(|| stand_in(settings), Method::Token),
        Some("RANDOM") => Method::Random,
        Some("LEASTCONNECTION") | None => Method::LeastConnection,
        Some(_) => stand_in(settings),
    }
}

/// Returns the method in place of one that looks into what clients send.
fn stand_in(settings: &Settings) -> Method {
    match settings.word(Key::BackupLbMethod).as_deref() {
        Some("LEASTCONNECTION") => Method::LeastConnection,
        Some("LEASTRESPONSETIME") => Method::LeastResponseTime,
        Some("SOURCEIPHASH") => Method::SourceIpHash,
        Some("LEASTBANDWIDTH") => Method::LeastBandwidth,
        Some("LEASTPACKETS") => Method::LeastPackets,
        Some(_) | None => Method::RoundRobin,
    }
}

/// Returns what is not looked at, if the method is one that looks into what clients send.
fn unseen(settings: &Settings) -> Option<&'static str> {
    match settings.word(Key::LbMethod)?.as_str() {
        "URLHASH" | "DOMAINHASH" => Some("URLs and domains are not looked at"),
        "CALLIDHASH" => Some("calls are not looked at"),
        "AUDITLOGHASH" => Some("log messages are not looked at"),
        "STATICPROXIMITY" => Some("places are not known"),
        "USER_TOKEN" => Some("there are no extensions"),
        TOKEN if token_range(settings).is_none() => Some("there are no rules"),
        _ => None,
    }
}

/// Returns where the token is; `None` where a rule would find it.
fn token_range(settings: &Settings) -> Option<TokenRange> {
    let length = settings.own_number(Key::DataLength)?;
    Some(TokenRange::new(settings.number(Key::DataOffset), length).expect(TABLE))
}

/// Sees to it that TOKEN has a token (or a rule, which is not here, but no error) and no other method has:
/// where it is goes with the method.
///
/// So what is saved can be read again line by line, each line complete in itself.
///
/// # Errors
/// One of the two is wanted without the other.
pub(crate) fn settle_token(command: &Command, settings: &mut Settings) -> Result<(), Fault> {
    if settings.word(Key::LbMethod).as_deref() == Some(TOKEN) {
        let is_found = token_range(settings).is_some() || settings.own_word(Key::Rule).is_some();
        return is_found
            .then_some(())
            .ok_or_else(refusal::token_without_length);
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
    let (kind, timeout) = kind_in_force(shared)?;
    let minutes = shared.number(timeout);
    Some(Persistence {
        kind,
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
            if kind_in_force(&group.settings).is_none() {
                idle.extend(given(command, settings, &OF_MEMBER, &with));
            }
            idle
        }
        None => idle_persistence(command, settings),
    };
    idle.extend(idle_method(command, settings));
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
    idle_persistence(command, settings)
}

fn idle_persistence(command: &Command, settings: &Settings) -> Vec<String> {
    let word = settings.word(Key::PersistenceType).unwrap_or_default();
    let with = format!("with -persistenceType {word}");
    let Some(why) = unseen_kind(&word) else {
        let mut idle = given(command, settings, &FOR_BACKUP, &with);
        if word == NONE {
            idle.extend(given(command, settings, &FOR_PERSISTENCE, &with));
        }
        return idle;
    };
    let is_changed = [Key::PersistenceType, Key::PersistenceBackup]
        .into_iter()
        .any(|key| command.arg(key).is_some());
    let instead = match kind_in_force(settings) {
        Some(_) => "-persistenceBackup SOURCEIP counts",
        None => "clients do not stay with a service",
    };
    let warning = format!("-persistenceType {word} has no effect here [{why}: {instead}]");
    is_changed.then_some(warning).into_iter().collect()
}

/// Says what becomes of a method that is not here, and of a backup method where the method is.
fn idle_method(command: &Command, settings: &Settings) -> Vec<String> {
    let method = settings.word(Key::LbMethod).unwrap_or_default();
    let Some(why) = unseen(settings) else {
        let with = format!("with -lbMethod {method}");
        return given(command, settings, &[Key::BackupLbMethod], &with);
    };
    let backup = settings.word(Key::BackupLbMethod).unwrap_or_default();
    let is_changed = [Key::LbMethod, Key::BackupLbMethod]
        .into_iter()
        .any(|key| command.arg(key).is_some());
    let warning =
        format!("-lbMethod {method} has no effect here [{why}: -backupLBMethod {backup} decides]");
    is_changed.then_some(warning).into_iter().collect()
}

/// Refuses a time-out that only a cookie can have, where entries need one.
pub(crate) fn check_timeout(settings: &Settings) -> Result<(), Fault> {
    let minutes = settings.number(Key::Timeout);
    match kind_in_force(settings) {
        Some((_, Key::Timeout)) if PersistenceTimeout::new(minutes).is_err() => {
            Err(refusal::no_persistence_timeout(minutes))
        }
        Some(_) | None => Ok(()),
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

/// Returns how clients stay with a service, and the option that says for how long: the backup's where the
/// kind looks into what clients send.
fn kind_in_force(settings: &Settings) -> Option<(PersistenceKind, Key)> {
    match settings.word(Key::PersistenceType).as_deref() {
        Some("SOURCEIP") => Some((PersistenceKind::SourceIp, Key::Timeout)),
        Some("DESTIP") => Some((PersistenceKind::DestIp, Key::Timeout)),
        Some("SRCIPDESTIP") => Some((PersistenceKind::SrcIpDestIp, Key::Timeout)),
        Some(NONE) | None => None,
        Some(_) => {
            let backup = settings.word(Key::PersistenceBackup);
            let is_set = backup.as_deref() == Some("SOURCEIP");
            is_set.then_some((PersistenceKind::SourceIp, Key::BackupPersistenceTimeout))
        }
    }
}

/// Returns what is not looked at, if a kind of persistence looks into what clients send.
fn unseen_kind(kind: &str) -> Option<&'static str> {
    match kind {
        "COOKIEINSERT" => Some("there are no cookies"),
        "SSLSESSION" => Some("nothing is decrypted"),
        "RULE" => Some("there are no rules"),
        "URLPASSIVE" | "CUSTOMSERVERID" => Some("requests are not looked at"),
        "CALLID" | "RTSPSID" => Some("calls are not looked at"),
        "DIAMETER" | "FIXSESSION" | "USERSESSION" => Some("messages are not looked at"),
        _ => None,
    }
}

fn mask(settings: &Settings, v4: Key, v6: Key) -> AddressMask {
    AddressMask::new(settings.netmask(v4), settings.number(v6)).expect(TABLE)
}

/// What is of use with a persistence alone.
const FOR_PERSISTENCE: [Key; 5] = [
    Key::Timeout,
    Key::PersistMask,
    Key::V6PersistMaskLen,
    Key::SkipPersistency,
    Key::TrofsPersistence,
];

/// What each virtual server of a group has of its own.
const OF_MEMBER: [Key; 2] = [Key::SkipPersistency, Key::TrofsPersistence];

/// What is of use with a kind of persistence that looks into what clients send.
const FOR_BACKUP: [Key; 2] = [Key::PersistenceBackup, Key::BackupPersistenceTimeout];

const NONE: &str = "NONE";

/// What a group has for all its virtual servers.
pub(crate) const OF_GROUP: [Key; 6] = [
    Key::PersistenceType,
    Key::Timeout,
    Key::PersistenceBackup,
    Key::BackupPersistenceTimeout,
    Key::PersistMask,
    Key::V6PersistMaskLen,
];

/// What is of use where one address is hashed.
const FOR_HASHES: [Key; 2] = [Key::Netmask, Key::V6NetmaskLen];

/// The method that looks at what clients send.
const TOKEN: &str = "TOKEN";

const TABLE: &str = "the table has the bounds of the core";
