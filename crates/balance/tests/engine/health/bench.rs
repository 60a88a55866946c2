//! An engine whose services are probed: each probe ends as the test says that its service is.

use std::collections::BTreeMap;
use std::time::Duration;

use sluice_balance::{
    Change, Instant, Method, MonitorBind, MonitorId, MonitorSettings, MonitorStatus, Output,
    ProbeId, ProbeResult, ServiceId, State, Weight,
};

use crate::rig::{Rig, V, at};

/// The monitor of most tests.
pub(crate) const M: MonitorId = MonitorId(1);

/// The service of most tests.
pub(crate) const S: ServiceId = ServiceId(1);

/// How a service takes a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// It answers after so many milliseconds.
    Answers(u64),
    /// It answers at once with a load.
    Reports(u64),
    /// It refuses at once.
    Refuses,
    /// It says nothing.
    Silent,
    /// It says at once that it goes out of service.
    GoesOut,
}

/// A probe that the engine asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Started {
    pub(crate) probe: ProbeId,
    pub(crate) service: ServiceId,
    pub(crate) monitor: MonitorId,
    pub(crate) at: Instant,
    pub(crate) deadline: Instant,
}

pub(crate) struct Bench {
    pub(crate) rig: Rig,
    /// How each service takes the probes of each monitor; silently unless said.
    manners: BTreeMap<(u32, u32), Manner>,
    /// Probes that end by themselves, at what time, in the order of their numbers.
    ends: BTreeMap<(Instant, ProbeId), ProbeResult>,
    /// Every probe there was.
    pub(crate) started: Vec<Started>,
    pub(crate) cancelled: Vec<ProbeId>,
    /// All other outputs.
    pub(crate) outputs: Vec<Output>,
}

impl Bench {
    /// Makes `V` with so many services, none of which has a monitor.
    pub(crate) fn new(services: usize) -> Self {
        let rig = Rig::new(Method::RoundRobin, &vec![1; services]);
        Self {
            rig,
            manners: BTreeMap::new(),
            ends: BTreeMap::new(),
            started: Vec::new(),
            cancelled: Vec::new(),
            outputs: Vec::new(),
        }
    }

    /// Makes `V` with so many services that a monitor probes, and that take it in this manner.
    pub(crate) fn probed(services: usize, settings: MonitorSettings, manner: Manner) -> Self {
        let mut bench = Self::new(services);
        bench.add(1, settings);
        for service in 1..=u32::try_from(services).unwrap() {
            bench.take(service, 1, manner);
            bench.bind(service, 1);
        }
        bench
    }

    pub(crate) fn add(&mut self, monitor: u32, settings: MonitorSettings) {
        self.apply(Change::AddMonitor(MonitorId(monitor), settings));
    }

    pub(crate) fn bind(&mut self, service: u32, monitor: u32) {
        self.bind_with(service, monitor, |_| {});
    }

    pub(crate) fn bind_with(
        &mut self,
        service: u32,
        monitor: u32,
        change: impl FnOnce(&mut MonitorBind),
    ) {
        let mut bind = binding(service, monitor);
        change(&mut bind);
        self.apply(Change::BindMonitor(bind));
    }

    pub(crate) fn unbind(&mut self, service: u32, monitor: u32) {
        let change = Change::UnbindMonitor(ServiceId(service), MonitorId(monitor));
        self.apply(change);
    }

    /// Says how a service takes probes that start from now on.
    pub(crate) fn take(&mut self, service: u32, monitor: u32, manner: Manner) {
        self.manners.insert((service, monitor), manner);
    }

    pub(crate) fn apply(&mut self, change: Change) {
        self.rig.apply(change);
        self.drain();
    }

    /// Moves the clock; the engine is called exactly when it wants to be, and probes end in time.
    pub(crate) fn run_to(&mut self, ms: u64) {
        loop {
            let end = self.ends.first_key_value().map(|(key, _)| key.0);
            let due = self.rig.engine.poll_timeout();
            let Some(next) = end
                .into_iter()
                .chain(due)
                .min()
                .filter(|next| *next <= at(ms))
            else {
                break;
            };
            self.rig.now = self.rig.now.max(next);
            if end == Some(next) {
                let ((_, probe), result) = self.ends.pop_first().unwrap();
                self.rig.engine.handle_probe(probe, result, self.rig.now);
            } else {
                self.rig.engine.handle_timeout(self.rig.now);
            }
            self.drain();
        }
        self.rig.now = self.rig.now.max(at(ms));
    }

    /// Takes what the engine asks for.
    pub(crate) fn drain(&mut self) {
        for output in self.rig.outputs() {
            match output {
                Output::StartProbe {
                    probe,
                    service,
                    monitor,
                    deadline,
                } => {
                    let started = Started {
                        probe,
                        service,
                        monitor,
                        at: self.rig.now,
                        deadline,
                    };
                    self.started.push(started);
                    self.plan_end(started);
                }
                Output::CancelProbe(probe) => {
                    self.ends.retain(|(_, planned), _| *planned != probe);
                    self.cancelled.push(probe);
                }
                other => self.outputs.push(other),
            }
        }
    }

    fn plan_end(&mut self, started: Started) {
        let key = (started.service.0, started.monitor.0);
        let manner = self.manners.get(&key).copied().unwrap_or(Manner::Silent);
        let ms = Duration::from_millis;
        let passed = |took, load| ProbeResult::Passed { took, load };
        let (after, result) = match manner {
            Manner::Answers(after) => (ms(after), passed(ms(after), None)),
            Manner::Reports(load) => (Duration::ZERO, passed(Duration::ZERO, Some(load))),
            Manner::Refuses => (Duration::ZERO, ProbeResult::Failed),
            Manner::Silent => return,
            Manner::GoesOut => (Duration::ZERO, ProbeResult::OutOfService),
        };
        self.ends
            .insert((started.at + after, started.probe), result);
    }

    pub(crate) fn state(&mut self, service: u32) -> State {
        self.rig.service(service).state
    }

    /// Returns what is shown of a monitor of a service.
    pub(crate) fn row(&mut self, service: u32, monitor: u32) -> MonitorStatus {
        let rows = self.rig.service(service).monitors;
        let row = rows.iter().find(|row| row.monitor == MonitorId(monitor));
        *row.unwrap()
    }

    /// Returns when probes of a service started, in milliseconds, and forgets them.
    pub(crate) fn starts(&mut self, service: u32) -> Vec<u64> {
        let of_service = |one: &mut Started| one.service == ServiceId(service);
        let started = self.started.extract_if(.., of_service);
        started.map(|one| one.at.as_nanos() / 1_000_000).collect()
    }

    /// Returns the states that services went to, with the time in milliseconds, and forgets them.
    pub(crate) fn changes(&mut self) -> Vec<(u32, State, u64)> {
        let outputs = std::mem::take(&mut self.outputs);
        let changes = outputs.into_iter().filter_map(|output| match output {
            Output::ServiceState(id, state, at) => Some((id.0, state, at.as_nanos() / 1_000_000)),
            _ => None,
        });
        changes.collect()
    }

    /// Whether `V` gives a flow to somebody now.
    pub(crate) fn serves(&mut self) -> bool {
        let chosen = self
            .rig
            .engine
            .select(V, &crate::rig::flow(), &[], self.rig.now);
        let chosen = chosen.map(|selection| {
            let now = self.rig.now;
            self.rig.engine.handle_unused(selection.reservation, now);
        });
        chosen.is_ok()
    }
}

pub(crate) fn binding(service: u32, monitor: u32) -> MonitorBind {
    MonitorBind {
        service: ServiceId(service),
        monitor: MonitorId(monitor),
        enabled: true,
        weight: Weight::DEFAULT,
        passive: false,
    }
}

/// The settings that monitors have unless they are told otherwise: every 5 s, 2 s at most, 3 retries.
pub(crate) fn monitor() -> MonitorSettings {
    MonitorSettings::default()
}

/// Settings in milliseconds.
pub(crate) fn every(interval: u64, timeout: u64, retries: u8) -> MonitorSettings {
    MonitorSettings {
        interval: Duration::from_millis(interval),
        response_timeout: Duration::from_millis(timeout),
        retries,
        ..monitor()
    }
}
