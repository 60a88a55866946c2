//! Monitors: which probes are due, what they found, and what a service is by that.
//!
//! Owns all monitors, their bindings to services and the order of what is due. Knows no texts and
//! starts no probe itself: it says which, and is told how each ended. A binding is in one
//! [`Stage`]:
//!
//! ```text
//!   Idle --- wanted ---> Waiting(due) --- due ---> Probing(deadline) --- end, or the deadline ---+
//!    ^                       ^                                                                   |
//!    |                       +--- its phase of the interval; after a failed one in Down:         |
//!    |                            down_time later <----------------------------------------------+
//!    +--- disabled, unbound or of a service that is out of service: a probe under way is given up
//! ```
//!
//! A service whose probes stop to be answered at some moment is DOWN at most `retries * interval +
//! response_timeout` after it: the first probe that fails starts within an interval, the others an
//! interval apart each, and the last one takes as long as it may.
//!
//! Invariants: `due` has each binding that is not Idle, once, with the time its stage names;
//! `flights` has the probes that are under way, one per binding at most.

mod binding;
mod machine;
mod schedule;
mod settings;
mod verdict;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use binding::{Binding, Stage};
use schedule::Beginnings;
pub use settings::{MonitorBind, MonitorSettings, ProbeResult};

use crate::snapshot::MonitorStatus;
use crate::{Instant, MonitorId, Output, ProbeId, ServiceId, State};

/// All monitors.
#[derive(Debug, Default)]
pub(crate) struct Monitors {
    settings: BTreeMap<MonitorId, MonitorSettings>,
    bindings: BTreeMap<Key, Binding>,
    due: BTreeSet<(Instant, Key)>,
    flights: BTreeMap<ProbeId, Key>,
    beginnings: Beginnings,
    bindings_made: u64,
    probes_made: u64,
}

/// What names a binding.
type Key = (ServiceId, MonitorId);

/// What the monitors of a service measure together, for the methods that compare it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Measured {
    /// The mean of the learned response times, of the monitors that learn them.
    pub(crate) time: Option<Duration>,
    /// The mean of the loads, of the monitors that are told one.
    pub(crate) load: Option<u64>,
}

impl Monitors {
    /// Adds a monitor.
    ///
    /// # Panics
    /// When the number is taken.
    pub(crate) fn add(&mut self, id: MonitorId, settings: MonitorSettings) {
        let former = self.settings.insert(id, settings);
        assert!(former.is_none(), "monitor {} exists already", id.0);
    }

    /// Takes new settings; returns the services that it is bound to.
    ///
    /// # Panics
    /// When there is no such monitor.
    pub(crate) fn set(
        &mut self,
        id: MonitorId,
        settings: MonitorSettings,
        now: Instant,
        outputs: &mut VecDeque<Output>,
    ) -> Vec<ServiceId> {
        *self.settings.get_mut(&id).expect(EXISTS) = settings;
        let services = self.services_of(id);
        for service in &services {
            let key = (*service, id);
            self.update(key, now, outputs);
            self.restage(key, |binding, beginnings| {
                binding.hurry(|| beginnings.next(now));
                binding.reschedule(settings.spacing(), now);
            });
        }
        services
    }

    /// Drops a monitor.
    ///
    /// # Panics
    /// When there is no such monitor, or a service has it.
    pub(crate) fn remove(&mut self, id: MonitorId) {
        assert!(self.settings.remove(&id).is_some(), "{EXISTS}");
        assert!(self.services_of(id).is_empty(), "monitor {} is bound", id.0);
    }

    /// Binds a monitor to a service that is to be probed, or not yet.
    ///
    /// # Panics
    /// When it is bound already, or there is no such monitor.
    pub(crate) fn bind(
        &mut self,
        bind: MonitorBind,
        is_wanted: bool,
        now: Instant,
        outputs: &mut VecDeque<Output>,
    ) {
        assert!(self.settings.contains_key(&bind.monitor), "{EXISTS}");
        let key = (bind.service, bind.monitor);
        self.bindings_made += 1;
        let binding = Binding::new(bind, self.bindings_made, is_wanted);
        let former = self.bindings.insert(key, binding);
        assert!(former.is_none(), "monitor {} is bound", bind.monitor.0);
        self.update(key, now, outputs);
    }

    /// Changes a binding.
    ///
    /// # Panics
    /// When there is no such binding.
    pub(crate) fn set_binding(
        &mut self,
        bind: MonitorBind,
        now: Instant,
        outputs: &mut VecDeque<Output>,
    ) {
        let key = (bind.service, bind.monitor);
        self.bindings.get_mut(&key).expect(EXISTS).bind = bind;
        self.update(key, now, outputs);
    }

    /// Unbinds a monitor from a service.
    ///
    /// # Panics
    /// When there is no such binding.
    pub(crate) fn unbind(
        &mut self,
        service: ServiceId,
        monitor: MonitorId,
        outputs: &mut VecDeque<Output>,
    ) {
        let key = (service, monitor);
        self.stop(key, outputs);
        self.bindings.remove(&key);
    }

    /// Unbinds all monitors from a service.
    pub(crate) fn unbind_all(&mut self, service: ServiceId, outputs: &mut VecDeque<Output>) {
        for monitor in self.monitors_of(service) {
            self.unbind(service, monitor, outputs);
        }
    }

    /// Says whether a service is to be probed.
    pub(crate) fn want(
        &mut self,
        service: ServiceId,
        is_wanted: bool,
        now: Instant,
        outputs: &mut VecDeque<Output>,
    ) {
        for monitor in self.monitors_of(service) {
            let key = (service, monitor);
            self.bindings.get_mut(&key).expect(EXISTS).is_wanted = is_wanted;
            self.update(key, now, outputs);
        }
    }

    /// Takes the end of a probe; returns whose it was. One that nobody waits for is left out.
    pub(crate) fn handle_probe(
        &mut self,
        probe: ProbeId,
        result: ProbeResult,
        now: Instant,
    ) -> Option<Key> {
        let key = self.flights.remove(&probe)?;
        self.finish(key, Some(result), now);
        Some(key)
    }

    /// Returns when something is due.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.due.first().map(|(due, _)| *due)
    }

    /// Does one thing that is due, if there is one.
    pub(crate) fn handle_due(&mut self, now: Instant, outputs: &mut VecDeque<Output>) -> Done {
        let Some(&(due, key)) = self.due.first() else {
            return Done::Nothing;
        };
        if due > now {
            return Done::Nothing;
        }
        match self.bindings[&key].stage {
            Stage::Idle => unreachable!("an idle binding is not due"),
            Stage::Waiting(_) => {
                self.start(key, now, outputs);
                Done::Something
            }
            Stage::Probing(flight) => {
                let mut is_extended = false;
                self.restage(key, |binding, _| is_extended = binding.extend(now));
                if is_extended {
                    return Done::Something;
                }
                self.flights.remove(&flight.probe);
                outputs.push_back(Output::CancelProbe(flight.probe));
                self.finish(key, None, now);
                Done::Ended(key)
            }
        }
    }

    /// Returns the state of a service by what its monitors have found; none if none decides.
    pub(crate) fn verdict(&self, service: ServiceId, threshold: u32) -> Option<State> {
        let bindings = self.of(service).filter(|binding| binding.counts());
        let found = bindings.map(|binding| (binding.finding(), binding.bind.weight));
        verdict::verdict(found, threshold)
    }

    /// Returns what the monitors of a service measure.
    pub(crate) fn measured(&self, service: ServiceId) -> Measured {
        let learns = |binding: &&Binding| self.settings[&binding.bind.monitor].learns_response_time;
        let times = self.of(service).filter(learns);
        let times = times.filter_map(Binding::learned_time);
        let nanos = times.map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        Measured {
            time: mean(nanos).map(Duration::from_nanos),
            load: mean(self.of(service).filter_map(Binding::load)),
        }
    }

    /// Shows the monitors of a service in bind order.
    pub(crate) fn status(&self, service: ServiceId) -> Vec<MonitorStatus> {
        let mut bindings: Vec<_> = self.of(service).collect();
        bindings.sort_unstable_by_key(|binding| binding.serial);
        bindings.into_iter().map(Binding::status).collect()
    }

    /// Starts or stops probing, as all that has a say in it wants.
    fn update(&mut self, key: Key, now: Instant, outputs: &mut VecDeque<Output>) {
        let binding = &self.bindings[&key];
        let is_enabled = binding.bind.enabled && self.settings[&key.1].enabled;
        let is_wanted = binding.is_wanted && is_enabled;
        match binding.stage {
            Stage::Idle if is_wanted => self.restage(key, |binding, beginnings| {
                binding.begin(beginnings.next(now));
            }),
            Stage::Waiting(_) | Stage::Probing(_) if !is_wanted => self.stop(key, outputs),
            Stage::Idle | Stage::Waiting(_) | Stage::Probing(_) => {}
        }
    }

    /// Ends the run of a binding.
    fn stop(&mut self, key: Key, outputs: &mut VecDeque<Output>) {
        let binding = self.bindings.get(&key).expect(EXISTS);
        if let Stage::Probing(flight) = binding.stage {
            self.flights.remove(&flight.probe);
            outputs.push_back(Output::CancelProbe(flight.probe));
        }
        self.restage(key, |binding, _| binding.end());
    }

    fn start(&mut self, key: Key, now: Instant, outputs: &mut VecDeque<Output>) {
        self.probes_made += 1;
        let probe = ProbeId(self.probes_made);
        let settings = self.settings[&key.1];
        let mut deadline = now;
        self.restage(key, |binding, _| {
            deadline = binding.start(probe, &settings, now);
        });
        self.flights.insert(probe, key);
        let (service, monitor) = key;
        outputs.push_back(Output::StartProbe {
            probe,
            service,
            monitor,
            deadline,
        });
    }

    fn finish(&mut self, key: Key, result: Option<ProbeResult>, now: Instant) {
        let settings = self.settings[&key.1];
        self.restage(key, |binding, _| {
            if let Stage::Probing(flight) = binding.stage {
                binding.finish(flight, result, &settings, now);
            }
        });
    }

    /// Changes a binding, and moves it to its new place in the order of what is due.
    fn restage(&mut self, key: Key, change: impl FnOnce(&mut Binding, &mut Beginnings)) {
        let binding = self.bindings.get_mut(&key).expect(EXISTS);
        let former = binding.due();
        change(binding, &mut self.beginnings);
        let due = binding.due();
        if due != former {
            former.map(|former| self.due.remove(&(former, key)));
            due.map(|due| self.due.insert((due, key)));
        }
    }

    fn of(&self, service: ServiceId) -> impl Iterator<Item = &Binding> {
        let keys = (service, MonitorId(0))..=(service, MonitorId(u32::MAX));
        self.bindings.range(keys).map(|(_, binding)| binding)
    }

    fn monitors_of(&self, service: ServiceId) -> Vec<MonitorId> {
        self.of(service)
            .map(|binding| binding.bind.monitor)
            .collect()
    }

    fn services_of(&self, monitor: MonitorId) -> Vec<ServiceId> {
        let bound = self.bindings.keys().filter(|key| key.1 == monitor);
        bound.map(|key| key.0).collect()
    }
}

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    /// Nothing was due.
    Nothing,
    /// A probe was started, or given more time.
    Something,
    /// A probe of this service and monitor has ended.
    Ended(Key),
}

/// Returns the mean of numbers, rounded down; none without any.
fn mean(numbers: impl Iterator<Item = u64>) -> Option<u64> {
    let (sum, count) = numbers.fold((0_u128, 0_u128), |(sum, count), number| {
        (sum + u128::from(number), count + 1)
    });
    let mean = sum.checked_div(count)?;
    Some(u64::try_from(mean).unwrap_or(u64::MAX))
}

const EXISTS: &str = "a plan names only monitors and bindings that exist";
