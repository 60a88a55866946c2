//! How a virtual server chooses, from its options: what the core needs to know, and which options
//! do nothing as things are.
//!
//! A setting has passed the table, so what is read here is within the bounds of the core's types.

use std::time::Duration;

use sluice_balance::{
    AddressMask, Method, Persistence, PersistenceKind, PersistenceTimeout, RampUnit,
    SkipPersistence, SlowStart,
};
use sluice_command::{Command, Key};

use crate::settings::Settings;

/// Returns the method of a virtual server.
pub(crate) fn method(settings: &Settings) -> Method {
    match settings.word(Key::LbMethod).as_deref() {
        Some("ROUNDROBIN") => Method::RoundRobin,
        Some("LEASTBANDWIDTH") => Method::LeastBandwidth,
        Some("LEASTPACKETS") => Method::LeastPackets,
        Some("LEASTCONNECTION") | None => Method::LeastConnection,
        Some(method) => panic!("the table allows the method {method}, the core has none such"),
    }
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

/// Returns whether and how clients stay with a service.
pub(crate) fn persistence(settings: &Settings) -> Option<Persistence> {
    let minutes = settings.number(Key::Timeout);
    Some(Persistence {
        kind: persistence_kind(settings)?,
        mask: mask(settings, Key::PersistMask, Key::V6PersistMaskLen),
        timeout: PersistenceTimeout::new(minutes).expect(TABLE),
        skip: match settings.word(Key::SkipPersistency).as_deref() {
            Some("Bypass") => SkipPersistence::Bypass,
            Some("ReLb") => SkipPersistence::ReLb,
            Some(_) | None => SkipPersistence::None,
        },
        group: None,
    })
}

/// Says which options of a command do nothing together with the others of the virtual server.
pub(crate) fn idle_options(command: &Command, settings: &Settings) -> Vec<String> {
    if persistence_kind(settings).is_some() {
        return Vec::new();
    }
    let given = FOR_PERSISTENCE.into_iter().filter_map(|key| {
        let spelling = settings.given(command, key)?;
        Some(format!(
            "-{spelling} has no effect with -persistenceType NONE"
        ))
    });
    given.collect()
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

const TABLE: &str = "the table has the bounds of the core";
