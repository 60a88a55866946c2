//! What a virtual server cannot serve itself, and who does: its backup, its spillover and the
//! orders of its services.
//!
//! Invariants: a backup exists, is carried as its virtual server is, and no chain of backups comes
//! back to where it began; a spillover that compares with a threshold has one.

use std::collections::BTreeSet;

use sluice_balance::{
    Backup, Orders, Percent, PersistenceTimeout, Spillover, SpilloverAction, SpilloverMethod,
    VserverId,
};
use sluice_command::{Arg, Command, Fault, Key, Noun, Value, Verb, catalogue};

use crate::object::{Service, ServiceType, Vserver};
use crate::service_group::ServiceGroup;
use crate::settings::Settings;
use crate::words::command as line;
use crate::{Config, refusal};

/// Returns who serves the flows of a virtual server when it cannot.
pub(crate) fn backup(settings: &Settings, vserver: Option<VserverId>) -> Backup {
    Backup {
        vserver,
        disable_primary_on_down: is(settings, Key::DisablePrimaryOnDown, "ENABLED"),
        spillover: spillover(settings),
    }
}

/// Returns which orders of services take traffic.
pub(crate) fn orders(settings: &Settings) -> Orders {
    let threshold = settings.number(Key::OrderThreshold);
    Orders {
        threshold: u32::try_from(threshold).expect(TABLE),
        descending: is(settings, Key::ToggleOrder, "DESCENDING"),
    }
}

/// Returns how much of a virtual server has to be UP.
pub(crate) fn health_threshold(settings: &Settings) -> Percent {
    Percent::new(settings.number(Key::HealthThreshold)).expect(TABLE)
}

/// Takes a threshold away that was one of another method, or that the method has no use for, unless
/// the command gives one.
pub(crate) fn forget_threshold(command: &Command, before: &Settings, after: &mut Settings) {
    if command.arg(Key::SoThreshold).is_some() {
        return;
    }
    let (old, new) = (method(before), method(after));
    if new == "DYNAMICCONNECTION" || old != "NONE" && old != new {
        after.unset(Key::SoThreshold);
    }
}

/// Refuses a spillover that lacks its threshold, or has one that does not go with its method.
pub(crate) fn check_spillover(command: &Command, settings: &Settings) -> Result<(), Fault> {
    let threshold = settings.own_number(Key::SoThreshold);
    match (method(settings).as_str(), threshold) {
        ("CONNECTION" | "BANDWIDTH" | "HEALTH", None) => Err(refusal::no_spill_threshold()),
        ("HEALTH", Some(percent)) if percent > 100 => Err(refusal::no_percentage(percent)),
        ("DYNAMICCONNECTION", Some(_)) if command.arg(Key::SoThreshold).is_some() => {
            Err(Fault::new(catalogue::THRESHOLD_NOT_ALLOWED).with_details("soThreshold"))
        }
        _ => Ok(()),
    }
}

/// Says which options of a command do nothing together with the others of the virtual server.
pub(crate) fn idle_options(command: &Command, settings: &Settings) -> Vec<String> {
    let mut idle = Vec::new();
    let mut note = |keys: &[Key], why: &str| {
        let given = keys.iter().filter_map(|key| settings.given(command, *key));
        idle.extend(given.map(|option| format!("-{option} has no effect {why}")));
    };
    if method(settings) == "NONE" {
        note(&FOR_SPILLOVER, "with -soMethod NONE");
    } else if !is(settings, Key::SoPersistence, "ENABLED") {
        note(&[Key::SoPersistenceTimeOut], "with -soPersistence DISABLED");
    }
    if settings.own_word(Key::BackupVserver).is_none() {
        note(&[Key::DisablePrimaryOnDown], "without -backupVServer");
    }
    if command.text(Key::SoBackupAction) == Some("REDIRECT") {
        idle.push(NO_REDIRECTION.to_owned());
    }
    idle
}

/// Says that a virtual server never spills because a service of it has no limit.
pub(crate) fn never_spills(vserver: &Settings, service: &Service) -> Option<String> {
    without_limit(vserver, &service.settings, &service.name)
}

/// As [`never_spills`], of the members of a service group.
pub(crate) fn group_never_spills(vserver: &Settings, group: &ServiceGroup) -> Option<String> {
    without_limit(vserver, &group.settings, &group.name)
}

fn without_limit(vserver: &Settings, bound: &Settings, name: &str) -> Option<String> {
    let is_idle = method(vserver) == "DYNAMICCONNECTION" && bound.number(Key::MaxClient) == 0;
    is_idle.then(|| format!("{} [{name}]", catalogue::NO_SPILLOVER.text))
}

/// Splits the options of an `add` into those that can be given at once, and those that have to wait
/// until the backup exists.
pub(crate) fn split(options: Vec<Arg>) -> (Vec<Arg>, Vec<Arg>) {
    let waits = |arg: &Arg| matches!(arg.key, Key::BackupVserver | Key::DisablePrimaryOnDown);
    options.into_iter().partition(|arg| !waits(arg))
}

/// Returns the line that gives a virtual server the options that had to wait.
pub(crate) fn late(vserver: &str, options: Vec<Arg>) -> Command {
    let name = [(Key::Name, Value::Text(vserver.to_owned()))];
    line(Verb::Set, Noun::LbVserver, name, options)
}

/// The `add` of a virtual server that names a backup, in two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitBackup {
    /// The name of the backup.
    pub backup: String,
    /// Adds the virtual server without it.
    pub now: Command,
    /// Gives it the backup.
    pub later: Command,
}

/// Splits the `add` of a virtual server that names a backup, for where that may not exist yet.
pub fn split_backup(command: &Command) -> Option<SplitBackup> {
    if (command.verb, command.noun) != (Verb::Add, Noun::LbVserver) {
        return None;
    }
    let backup = command.text(Key::BackupVserver)?;
    let name = command.text(Key::Name)?;
    let (now, later) = split(command.args.clone());
    let now = Command {
        args: now,
        ..command.clone()
    };
    Some(SplitBackup {
        backup: backup.to_owned(),
        now,
        later: late(name, later),
    })
}

impl Config {
    /// Returns the virtual server that serves new flows while this one cannot.
    pub fn backup_of(&self, vserver: &Vserver) -> Option<&Vserver> {
        self.vserver(vserver.settings.own_word(Key::BackupVserver)?)
    }

    /// Refuses the backup that a command gives a virtual server, if it cannot be one.
    pub(crate) fn check_backup(
        &self,
        command: &Command,
        name: &str,
        service_type: ServiceType,
    ) -> Result<(), Fault> {
        let Some(backup) = command.text(Key::BackupVserver) else {
            return Ok(());
        };
        if backup == name {
            return Err(refusal::backup_in_chain(backup));
        }
        let found = self.vserver(backup);
        let found = found.ok_or_else(|| refusal::missing("backupVServer", backup, "lb vserver"))?;
        if !goes_with(service_type, found.service_type) {
            let (ours, theirs) = (service_type.name(), found.service_type.name());
            return Err(refusal::backup_type_mismatch(ours, theirs));
        }
        let mut chain = std::iter::successors(Some(found), |one| self.backup_of(one));
        match chain.find(|one| one.name == name) {
            Some(_) => Err(refusal::backup_in_chain(backup)),
            None => Ok(()),
        }
    }

    /// Refuses to remove virtual servers of which one that stays has a backup.
    pub(crate) fn check_no_backups(&self, gone: &[&Vserver]) -> Result<(), Fault> {
        let gone: BTreeSet<VserverId> = gone.iter().map(|vserver| vserver.id).collect();
        let goes = |vserver: &Vserver| gone.contains(&vserver.id);
        let users = self.vservers().filter(|vserver| !goes(vserver));
        let mut users = users.filter(|user| self.backup_of(user).is_some_and(goes));
        match users.next() {
            Some(user) => Err(refusal::backup_in_use(&user.name)),
            None => Ok(()),
        }
    }
}

/// Whether one virtual server can serve what was sent to the other: carried alike, and encrypted like
/// it since nothing is encrypted or decrypted here.
fn goes_with(one: ServiceType, other: ServiceType) -> bool {
    one.protocol() == other.protocol() && one.is_encrypted() == other.is_encrypted()
}

fn spillover(settings: &Settings) -> Option<Spillover> {
    let threshold = || {
        let threshold = settings.own_number(Key::SoThreshold);
        threshold.expect("the method was checked to have one")
    };
    let method = match method(settings).as_str() {
        "CONNECTION" => SpilloverMethod::Connections(u32::try_from(threshold()).expect(TABLE)),
        "DYNAMICCONNECTION" => SpilloverMethod::DynamicConnections,
        "BANDWIDTH" => SpilloverMethod::Bandwidth(u32::try_from(threshold()).expect(TABLE)),
        "HEALTH" => SpilloverMethod::Health(Percent::new(threshold()).expect(TABLE)),
        "NONE" => return None,
        method => panic!("the table allows the spillover {method}, the core has none such"),
    };
    let minutes = settings.number(Key::SoPersistenceTimeOut);
    let keeps = is(settings, Key::SoPersistence, "ENABLED");
    Some(Spillover {
        method,
        persistence: keeps.then(|| PersistenceTimeout::new(minutes).expect(TABLE)),
        action: match settings.own_word(Key::SoBackupAction) {
            Some("ACCEPT") => SpilloverAction::Accept,
            Some(_) | None => SpilloverAction::Drop,
        },
    })
}

fn method(settings: &Settings) -> String {
    let method = settings.word(Key::SoMethod);
    method.expect("it has a default")
}

fn is(settings: &Settings, key: Key, word: &str) -> bool {
    settings.word(key).as_deref() == Some(word)
}

/// What is of use with a spillover alone.
const FOR_SPILLOVER: [Key; 4] = [
    Key::SoThreshold,
    Key::SoPersistence,
    Key::SoPersistenceTimeOut,
    Key::SoBackupAction,
];

const NO_REDIRECTION: &str =
    "-soBackupAction REDIRECT has no effect here [clients are not sent elsewhere: as DROP]";

const TABLE: &str = "the table has the bounds of the core";
