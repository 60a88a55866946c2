//! The controller: one thread that owns the configuration and drives the data plane.
//!
//! It takes one event at a time from one queue, so that commands have a total order and each runs
//! whole: plan, prepare, commit. It waits for nobody: an answer is handed over as a whole and sent by the
//! client's own task, a file is written by the saver's thread.

mod trial;

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use sluice_balance::Client;
use sluice_command::{Command, Fault, Key, Noun, Verb, catalogue, check, masked, render};
use sluice_config::{Config, Plan};
use sluice_dataplane::{Dataplane, PrepareError};
use sluice_protocol::{Reply, Request, Row};
use tokio::sync::oneshot;

use crate::boot::{self, BootError};
use crate::compare::Live;
use crate::explain;
use crate::faults;
use crate::features;
use crate::ns_conf::{NsConf, Save};
use crate::provisional::Provisional;
use crate::queue::{Ask, Event, Events};
use crate::rows;
use crate::save::{Replaced, SaveError};
use crate::saver::{Content, Saver};
use crate::{compare, connections, drains, sessions};

/// The controller's state.
pub(crate) struct Controller {
    config: Config,
    dataplane: Dataplane,
    ns_conf: NsConf,
    saver: Saver,
    provisional: Provisional,
    /// What could not be undone of the last provisional changes.
    not_undone: Vec<String>,
    /// Set while draining: whom to tell when the last flow has ended.
    draining: Option<Draining>,
}

/// A drain under way.
struct Draining {
    drained: Option<oneshot::Sender<()>>,
}

impl Controller {
    /// Reads the configuration file and serves what it says.
    ///
    /// # Errors
    /// [`BootError`] when the file cannot be read. Lines that fail are no error; they are in
    /// [`Controller::boot_failures`].
    pub(crate) fn boot(
        path: PathBuf,
        mut dataplane: Dataplane,
        saver: Saver,
    ) -> Result<Self, BootError> {
        let mut config = Config::new();
        let ns_conf = boot::load(path, &mut config, &mut dataplane)?;
        Ok(Self {
            config,
            dataplane,
            ns_conf,
            saver,
            provisional: Provisional::default(),
            not_undone: Vec::new(),
            draining: None,
        })
    }

    /// Returns the lines of the configuration file that failed.
    pub(crate) fn boot_failures(&self) -> Vec<String> {
        self.ns_conf.failures()
    }

    /// Handles events until it is told to stop, then ends all flows.
    pub(crate) fn run(mut self, events: &Events) {
        loop {
            let trial = self.look_after_trial();
            let limit = self.look_after_dataplane();
            // The sooner of the two.
            let limit = limit.into_iter().chain(trial).min();
            match events.next(limit) {
                Some(Event::Ask(ask)) => self.handle_ask(ask),
                Some(Event::Saved { save, written, ask }) => self.finish_save(save, written, ask),
                Some(Event::Read { files, ask }) => self.finish_read(files, ask),
                Some(Event::Drain(drained)) => self.drain(drained),
                // What is due is done at the top of the loop.
                Some(Event::Wake) | None => {}
                Some(Event::Stop) => break,
            }
        }
        self.dataplane.shutdown();
        self.saver.end();
    }

    /// Does what the data plane asks for and returns when to look again.
    fn look_after_dataplane(&mut self) -> Option<Duration> {
        let next = self.dataplane.handle_wake();
        let Some(draining) = &mut self.draining else {
            return next;
        };
        if self.dataplane.flows() == 0
            && let Some(drained) = draining.drained.take()
        {
            let _ = drained.send(());
        }
        Some(next.map_or(DRAIN_LOOK, |next| next.min(DRAIN_LOOK)))
    }

    fn drain(&mut self, drained: oneshot::Sender<()>) {
        self.dataplane.drain();
        self.draining = Some(Draining {
            drained: Some(drained),
        });
    }

    fn handle_ask(&mut self, ask: Ask) {
        let answer = match &ask.request {
            Request::Names(noun) => Ok(self.names(*noun)),
            Request::Run(command) => match self.run_command(command, ask.uid) {
                Ok(Outcome::Answer(replies)) => Ok(replies),
                Ok(Outcome::Save(save)) => return self.saver.save(save, ask),
                Ok(Outcome::Read(paths)) => return self.saver.read(paths, ask),
                Err(fault) => Err(fault),
            },
        };
        ask.answer(answer);
    }

    fn names(&self, noun: Noun) -> Vec<Reply> {
        let names = self.config.names(noun);
        names.into_iter().map(|name| row(Row::Name(name))).collect()
    }

    fn run_command(&mut self, command: &Command, uid: u32) -> Result<Outcome, Fault> {
        // The shell checked it too, but the frame may come from anything.
        check(command)?;
        if matches!(command.noun, Noun::NsFeature | Noun::NsMode) && command.verb != Verb::Show {
            return features::switch(command).map(|()| Outcome::Answer(Vec::new()));
        }
        let replies = match command.verb {
            Verb::Add
            | Verb::Set
            | Verb::Unset
            | Verb::Rm
            | Verb::Enable
            | Verb::Disable
            | Verb::Bind
            | Verb::Unbind
            | Verb::Rename => self.change(command, uid)?,
            Verb::Show | Verb::Stat | Verb::Diff => {
                let paths = compare::paths(command, &self.ns_conf, &self.live());
                if !paths.is_empty() {
                    return Ok(Outcome::Read(paths));
                }
                self.show(command)?
            }
            Verb::Explain => self.explain(command)?,
            Verb::Clear if command.noun == Noun::NsConfig => self.clear_config(command, uid)?,
            Verb::Clear => self.clear(command, uid)?,
            Verb::Apply => self.apply(command, uid)?,
            Verb::Confirm => self.confirm(uid)?,
            Verb::Rollback => self.roll_back(uid)?,
            Verb::Save => {
                self.provisional.check_none(self.dataplane.now())?;
                return self
                    .ns_conf
                    .start_save(&self.config, command)
                    .map(Outcome::Save);
            }
            Verb::Batch
            | Verb::Help
            | Verb::Exit
            | Verb::Quit
            | Verb::Man
            | Verb::History
            | Verb::Alias
            | Verb::Unalias
            | Verb::Source
            | Verb::Whoami
            | Verb::Cls
            | Verb::Shell
            | Verb::Config => {
                return Err(Fault::new(catalogue::NOT_VALID_HERE));
            }
        };
        Ok(Outcome::Answer(replies))
    }

    /// Changes the configuration, wholly or not at all.
    fn change(&mut self, command: &Command, uid: u32) -> Result<Vec<Reply>, Fault> {
        if self.draining.is_some() {
            return Err(Fault::new(faults::SHUTTING_DOWN));
        }
        let plan = self.config.plan(command)?;
        let warnings = carry_out(plan, &mut self.config, &mut self.dataplane)?;
        self.ns_conf
            .note_change(&self.config, command, SystemTime::now());
        tracing::info!(uid, "changed: {}", masked(&render(command)));
        Ok(warnings.into_iter().map(Reply::Warning).collect())
    }

    fn show(&self, command: &Command) -> Result<Vec<Reply>, Fault> {
        let rows = match command.noun {
            Noun::NsConfig if command.verb == Verb::Diff => {
                return compare::answer(command, &self.live(), Vec::new());
            }
            Noun::NsConfig => {
                let mut status = self.ns_conf.status(&self.config, SystemTime::now());
                status.provisional_s = self.trial_seconds();
                status.not_undone.clone_from(&self.not_undone);
                vec![Row::Config(status)]
            }
            Noun::NsRollbackCommand => {
                return compare::answer(command, &self.live(), Vec::new());
            }
            Noun::NsRunningConfig if command.arg(Key::WithDefaults).is_some() => {
                lines(self.config.render_with_defaults())
            }
            Noun::NsRunningConfig => lines(self.config.render()),
            Noun::NsVersion => vec![Row::Line(rows::version())],
            Noun::NsInfo => lines(self.info()),
            Noun::NsFeature | Noun::NsMode => lines(features::show(command.noun)),
            Noun::ProtocolUdp => vec![Row::UdpStat(rows::udp(&self.dataplane.udp_status()))],
            Noun::LbParameter => vec![rows::parameter(
                &self.config,
                self.dataplane.persistence_totals(),
            )],
            Noun::LbPersistentSessions => return self.show_sessions(command),
            Noun::NsConnectionTable => return self.show_connections(command),
            Noun::Server
            | Noun::Service
            | Noun::ServiceGroup
            | Noun::ServiceGroupMember
            | Noun::ServiceGroupBindings
            | Noun::LbVserver
            | Noun::LbGroup
            | Noun::LbProfile
            | Noun::NetProfile
            | Noun::NsTcpProfile => {
                if command.arg(Key::ClearStats).is_some() {
                    return Err(Fault::new(catalogue::NOT_SUPPORTED)
                        .with_details("clearstats")
                        .with_hint("counters only ever rise: compare two answers of stat"));
                }
                let snapshot = self.dataplane.snapshot();
                let now = self.dataplane.now();
                let view = rows::View::new(&self.config, &snapshot, now, SystemTime::now());
                let names_clients = command.verb == Verb::Show
                    && matches!(command.noun, Noun::Server | Noun::Service);
                let view = match names_clients {
                    true => view.with_notable(drains::notable(&snapshot, |from| {
                        self.dataplane.flow_rows(from)
                    })),
                    false => view,
                };
                view.rows(command)?
            }
            // Those that are in a file were answered from there.
            Noun::None
            | Noun::NsSavedConfig
            | Noun::NsConf
            | Noun::CliMode
            | Noun::CliPrompt
            | Noun::CliAttribute => {
                return Err(Fault::new(catalogue::NOT_VALID_HERE));
            }
        };
        Ok(rows.into_iter().map(row).collect())
    }

    /// Returns what somebody who is to help asks for first.
    fn info(&self) -> Vec<String> {
        let status = self.ns_conf.status(&self.config, SystemTime::now());
        let count = |noun| self.config.names(noun).len();
        let mut info = vec![
            format!("{}", rows::version()),
            "Node: Standalone".to_owned(),
            format!("Configuration File: {}", status.path),
            format!(
                "Config Changed since Last Saved Config: {}",
                if status.unsaved { "TRUE" } else { "FALSE" }
            ),
            format!(
                "servers: {}, services: {}, lb vservers: {}, lb groups: {}",
                count(Noun::Server),
                count(Noun::Service),
                count(Noun::LbVserver),
                count(Noun::LbGroup)
            ),
            format!("driver: {}", self.dataplane.driver()),
            format!("connections and sessions: {}", self.dataplane.flows()),
        ];
        for noun in [Noun::NsFeature, Noun::NsMode] {
            info.extend(features::show(noun));
        }
        info
    }

    fn show_sessions(&self, command: &Command) -> Result<Vec<Reply>, Fault> {
        let listing = sessions::show(&self.config, command, |filter, from| {
            self.dataplane.persistence_rows(filter, from)
        })?;
        let rows = listing.rows.into_iter().map(row);
        Ok(rows.chain(listing.warning.map(Reply::Warning)).collect())
    }

    fn show_connections(&self, command: &Command) -> Result<Vec<Reply>, Fault> {
        let most = connections::MOST_SHOWN;
        let listing = connections::show(&self.config, command, most, |from| {
            self.dataplane.flow_rows(from)
        })?;
        let rows = listing.rows.into_iter().map(row);
        Ok(rows.chain(listing.warning.map(Reply::Warning)).collect())
    }

    fn explain(&self, command: &Command) -> Result<Vec<Reply>, Fault> {
        let now = self.dataplane.now();
        let ask = |vserver, client: &Client| self.dataplane.explain(vserver, client);
        let rows = explain::rows(&self.config, command, now, ask)?;
        Ok(rows.into_iter().map(row).collect())
    }

    /// Forgets running state; the configuration stays as it is.
    fn clear(&self, command: &Command, uid: u32) -> Result<Vec<Reply>, Fault> {
        if command.noun != Noun::LbPersistentSessions {
            return Err(Fault::new(catalogue::NOT_VALID_HERE));
        }
        let cleared = sessions::clear(&self.config, command, |vserver, key| {
            self.dataplane.clear_persistence(vserver, key)
        })?;
        tracing::info!(uid, sessions = cleared, "cleared: {}", render(command));
        let none = cleared == 0 && command.arg(Key::PersistenceParameter).is_some();
        let warning = none.then(|| Reply::Warning("there is no such session".to_owned()));
        Ok(warning.into_iter().collect())
    }

    /// Removes everything from the configuration, wholly or not at all.
    fn clear_config(&mut self, command: &Command, uid: u32) -> Result<Vec<Reply>, Fault> {
        if command.arg(Key::Force).is_none() {
            let level = command.text(Key::Level).unwrap_or("basic");
            return Err(Fault::new(catalogue::NOT_PERMITTED)
                .with_details("it removes the whole configuration")
                .with_hint(format!("clear ns config {level} -force")));
        }
        self.go_to(&Config::new())?;
        if command.text(Key::Level) != Some("basic") {
            self.ns_conf.forget_lines();
        }
        self.ns_conf
            .note_change(&self.config, command, SystemTime::now());
        tracing::info!(uid, "changed: {}", render(command));
        Ok(Vec::new())
    }

    /// Makes another configuration of the running one; what both have goes on.
    fn go_to(&mut self, other: &Config) -> Result<(), Fault> {
        if self.draining.is_some() {
            return Err(Fault::new(faults::SHUTTING_DOWN));
        }
        let way = self.config.way_to(other);
        if !way.arrives {
            return Err(Fault::new(catalogue::INTERNAL).with_details("no way there"));
        }
        carry_out(way.plan, &mut self.config, &mut self.dataplane).map(drop)
    }

    fn live(&self) -> Live<'_> {
        Live {
            running: &self.config,
            confirmed: self.provisional.confirmed(),
            provisional_s: self.trial_seconds(),
        }
    }

    fn finish_read(&self, files: Vec<Result<Content, Fault>>, ask: Ask) {
        let answer = match (&ask.request, files.into_iter().collect()) {
            (Request::Run(command), Ok(files)) => compare::answer(command, &self.live(), files),
            (Request::Run(_) | Request::Names(_), Err(fault)) => Err(fault),
            (Request::Names(_), Ok(_)) => Err(Fault::new(catalogue::NOT_VALID_HERE)),
        };
        ask.answer(answer);
    }

    fn finish_save(&mut self, save: Save, written: Result<Replaced, SaveError>, ask: Ask) {
        let saved = self.ns_conf.finish_save(save, written, SystemTime::now());
        match &saved {
            Ok(warning) => {
                tracing::info!(uid = ask.uid, "saved: {}", self.ns_conf.path().display());
                if let Some(warning) = warning {
                    tracing::warn!("{warning}");
                }
            }
            Err(fault) => tracing::warn!(uid = ask.uid, "not saved: {fault}"),
        }
        ask.answer(saved.map(|warning| warning.map(Reply::Warning).into_iter().collect()));
    }
}

/// What is to be done for a command that was not refused.
enum Outcome {
    /// It has run; this is to be sent.
    Answer(Vec<Reply>),
    /// The file is to be written before the answer.
    Save(Save),
    /// These files are to be read before the answer.
    Read(Vec<PathBuf>),
}

/// Takes a plan into effect and returns what to warn of.
///
/// # Errors
/// A listener cannot be had; nothing has changed.
pub(crate) fn carry_out(
    mut plan: Plan,
    config: &mut Config,
    dataplane: &mut Dataplane,
) -> Result<Vec<String>, Fault> {
    let prepared = dataplane
        .prepare(&plan.changes)
        .map_err(|error| fault_of(&error))?;
    // From here on nothing can fail.
    dataplane.commit(prepared, &plan.changes);
    let warnings = std::mem::take(&mut plan.warnings);
    config.commit(plan);
    Ok(warnings)
}

fn fault_of(error: &PrepareError) -> Fault {
    match error {
        PrepareError::AddressInUse { address, .. } => {
            Fault::new(catalogue::ADDRESS_IN_USE).with_details(address.to_string())
        }
        PrepareError::Listen {
            address, source, ..
        } => Fault::new(catalogue::CANNOT_LISTEN).with_details(format!("{address}, {source}")),
    }
}

fn lines(lines: Vec<String>) -> Vec<Row> {
    lines.into_iter().map(Row::Line).collect()
}

fn row(row: Row) -> Reply {
    Reply::Row(Box::new(row))
}

/// How often a drain looks whether flows are left; the data plane does not tell when one ends.
const DRAIN_LOOK: Duration = Duration::from_millis(20);
