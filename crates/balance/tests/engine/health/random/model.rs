//! The model: every answer, and what follows from all of them.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::sample::Index;
use sluice_balance::{
    Change, Instant, LastProbe, MonitorBind, MonitorId, MonitorSettings, MonitorStatus, ProbeId,
    ProbeResult, ServiceId, ServiceSettings, State, StateReason,
};

use crate::health::bench::monitor;
use crate::rig::service;

pub(super) type Key = (ServiceId, MonitorId);

pub(super) struct Service {
    settings: ServiceSettings,
    /// When it is out of service at the latest, while it goes out.
    drain: Option<Option<Instant>>,
    pub(super) state: State,
    pub(super) since: Instant,
    pub(super) reason: StateReason,
}

/// What a probe says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Passed,
    Failed,
    GoesOut,
}

#[derive(Clone, Debug)]
pub(super) struct Binding {
    bind: MonitorBind,
    runs: bool,
    state: State,
    /// Since the state began, the last `retries` of them.
    answers: Vec<Answer>,
    flight: Option<(ProbeId, Instant)>,
    start: Option<Instant>,
    end: Option<Instant>,
    /// Whether something but time has a say in when the next probe starts.
    is_disturbed: bool,
    probes: u64,
    failed: u64,
    last: Option<LastProbe>,
}

pub(super) struct Model {
    pub(super) is_booted: bool,
    /// Whether what is heard comes from a time-out.
    pub(super) is_timeout: bool,
    /// Whether the last change moved a service to another address.
    moved: bool,
    pub(super) services: BTreeMap<ServiceId, Service>,
    monitors: BTreeMap<MonitorId, MonitorSettings>,
    bindings: BTreeMap<Key, Binding>,
}

impl Model {
    pub(super) fn new() -> Self {
        let services = (1..=3).map(|number| {
            let service = Service {
                settings: service(),
                drain: None,
                state: State::Up,
                since: Instant::default(),
                reason: StateReason::Operator,
            };
            (ServiceId(number), service)
        });
        Self {
            is_booted: false,
            is_timeout: false,
            moved: false,
            services: services.collect(),
            monitors: (1..=4)
                .map(|number| (MonitorId(number), monitor()))
                .collect(),
            bindings: BTreeMap::new(),
        }
    }

    pub(super) fn state(&self, id: ServiceId) -> State {
        self.services[&id].state
    }

    pub(super) fn rows(&self, id: ServiceId) -> BTreeMap<MonitorId, &Binding> {
        let rows = self.bindings.iter().filter(|(key, _)| key.0 == id);
        rows.map(|(key, binding)| (key.1, binding)).collect()
    }

    /// Whether a plan could have the change now.
    pub(super) fn allows(&self, change: &Change) -> bool {
        match change {
            Change::BindMonitor(bind) => !self.bindings.contains_key(&(bind.service, bind.monitor)),
            Change::SetMonitorBinding(bind) => {
                self.bindings.contains_key(&(bind.service, bind.monitor))
            }
            Change::UnbindMonitor(service, monitor) => {
                self.bindings.contains_key(&(*service, *monitor))
            }
            _ => true,
        }
    }

    /// Takes over what a change says; what it stops is heard next.
    pub(super) fn begin_change(&mut self, change: &Change, now: Instant) {
        self.moved = false;
        match change {
            Change::SetMonitor(id, settings) => {
                self.monitors.insert(*id, *settings);
                for (_, binding) in self.bindings.iter_mut().filter(|(key, _)| key.1 == *id) {
                    binding.is_disturbed = true;
                }
            }
            Change::BindMonitor(bind) => {
                let key = (bind.service, bind.monitor);
                self.bindings.insert(key, Binding::new(*bind));
            }
            Change::SetMonitorBinding(bind) => {
                let key = (bind.service, bind.monitor);
                self.bindings.get_mut(&key).unwrap().bind = *bind;
            }
            Change::UnbindMonitor(service, monitor) => {
                self.bindings
                    .get_mut(&(*service, *monitor))
                    .unwrap()
                    .bind
                    .enabled = false;
            }
            Change::SetService(id, settings) => {
                let service = self.services.get_mut(id).unwrap();
                if settings.enabled {
                    service.drain = None;
                }
                self.moved = service.settings.address != settings.address;
                service.settings = settings.clone();
                if self.moved {
                    for (_, binding) in self.bindings.iter_mut().filter(|(key, _)| key.0 == *id) {
                        binding.stop();
                    }
                }
            }
            Change::DisableService(id, leave) => {
                let service = self.services.get_mut(id).unwrap();
                service.settings.enabled = false;
                // Nobody keeps a flow open here: who waits for the last one is done.
                let waits = !leave.graceful && service.state != State::OutOfService;
                let delay = leave.delay.filter(|delay| waits && !delay.is_zero());
                service.drain = delay.map(|delay| Some(now + delay));
            }
            _ => unreachable!("no other change is made"),
        }
    }

    /// Says what has become of everything.
    pub(super) fn end_change(&mut self, change: &Change, now: Instant) {
        let keys: Vec<_> = self.bindings.keys().copied().collect();
        for key in keys {
            let is_wanted = self.is_wanted(key);
            let binding = self.bindings.get_mut(&key).unwrap();
            if !is_wanted {
                assert_eq!(binding.flight, None, "{key:?} is not probed");
                binding.stop();
            }
            binding.runs = is_wanted;
        }
        if let Change::UnbindMonitor(service, monitor) = change {
            self.bindings.remove(&(*service, *monitor));
        }
        let touched = match change {
            Change::SetMonitor(id, _) => {
                let keys = self.bindings.keys().filter(|key| key.1 == *id);
                keys.map(|key| key.0).collect()
            }
            Change::BindMonitor(bind) | Change::SetMonitorBinding(bind) => vec![bind.service],
            Change::UnbindMonitor(id, _)
            | Change::SetService(id, _)
            | Change::DisableService(id, _) => vec![*id],
            _ => unreachable!("no other change is made"),
        };
        for id in touched {
            let keeps = self.is_booted && !self.moved;
            self.judge(id, StateReason::Operator, keeps, now);
        }
    }

    /// Takes those out of service whose time has come.
    pub(super) fn end_drains(&mut self, now: Instant) {
        let is_due = |one: &Service| one.drain.flatten().is_some_and(|end| end <= now);
        let due = self.services.iter().filter(|(_, one)| is_due(one));
        for id in due.map(|(id, _)| *id).collect::<Vec<_>>() {
            self.services.get_mut(&id).unwrap().drain = None;
            for (_, binding) in self.bindings.iter_mut().filter(|(key, _)| key.0 == id) {
                binding.runs = false;
                binding.stop();
            }
            self.judge(id, StateReason::Operator, true, now);
        }
    }

    pub(super) fn flight(&self, index: &Index) -> Option<(ProbeId, Key)> {
        let flights = self.bindings.iter();
        let flights = flights.filter_map(|(key, one)| one.flight.map(|(probe, _)| (probe, *key)));
        let flights: Vec<_> = flights.collect();
        (!flights.is_empty()).then(|| flights[index.index(flights.len())])
    }

    pub(super) fn knows(&self, probe: ProbeId) -> bool {
        let mut flights = self.bindings.values().filter_map(|binding| binding.flight);
        flights.any(|(known, _)| known == probe)
    }

    pub(super) fn start_probe(
        &mut self,
        key: Key,
        probe: ProbeId,
        deadline: Instant,
        now: Instant,
    ) {
        assert!(self.is_wanted(key), "{key:?} is not to be probed");
        let settings = self.monitors[&key.1];
        let binding = self.bindings.get_mut(&key).unwrap();
        assert_eq!(binding.flight, None, "one probe at a time");
        assert_eq!(deadline, now + settings.response_timeout);
        binding.check_start(&settings, now);
        binding.flight = Some((probe, deadline));
        binding.start = Some(now);
        binding.is_disturbed = false;
        binding.probes += 1;
    }

    /// Hears that a probe is given up: its time is up, or it is no longer wanted.
    pub(super) fn cancel_probe(&mut self, probe: ProbeId, now: Instant) {
        let is_it = |one: &(&Key, &Binding)| one.1.flight.is_some_and(|flight| flight.0 == probe);
        let (key, binding) = self.bindings.iter().find(is_it).unwrap();
        let (key, (_, deadline)) = (*key, binding.flight.unwrap());
        if self.is_timeout && self.is_wanted(key) {
            assert_eq!(deadline, now, "{key:?} is given up in time");
            return self.end_probe(key, None, now);
        }
        assert!(!self.is_wanted(key) || !self.is_timeout, "{key:?}");
        self.bindings.get_mut(&key).unwrap().flight = None;
    }

    pub(super) fn end_probe(&mut self, key: Key, result: Option<ProbeResult>, now: Instant) {
        let settings = self.monitors[&key.1];
        let answer = answer(result, &settings);
        self.bindings
            .get_mut(&key)
            .unwrap()
            .take(answer, &settings, now);
        self.judge(key.0, StateReason::Monitor(key.1), true, now);
    }

    fn is_wanted(&self, key: Key) -> bool {
        let service = &self.services[&key.0];
        let enabled = service.settings.enabled || service.drain.is_some();
        let binding = self.bindings[&key].bind.enabled;
        enabled && service.settings.health_monitor && binding && self.monitors[&key.1].enabled
    }

    fn verdict(&self, id: ServiceId) -> Option<State> {
        let all = self
            .bindings
            .iter()
            .filter(|(key, one)| key.0 == id && one.runs);
        let all: Vec<_> = all
            .map(|(_, one)| one)
            .filter(|one| !one.bind.passive)
            .collect();
        if all.is_empty() {
            return None;
        }
        let weight = |states: &[State]| {
            let of = all.iter().filter(|one| states.contains(&one.state));
            of.map(|one| one.bind.weight.value()).sum::<u64>()
        };
        let well = weight(&[State::Up, State::GoingOutOfService]);
        let unknown = weight(&[State::Unknown]);
        let threshold = match u64::from(self.services[&id].settings.monitor_threshold) {
            0 => all.iter().map(|one| one.bind.weight.value()).sum(),
            some => some,
        };
        let goes_out = all.iter().any(|one| one.state == State::GoingOutOfService);
        Some(if well + unknown < threshold {
            if goes_out {
                State::DownWhenGoingOutOfService
            } else {
                State::Down
            }
        } else if well < threshold {
            State::Unknown
        } else if goes_out {
            State::GoingOutOfService
        } else {
            State::Up
        })
    }

    fn judge(&mut self, id: ServiceId, reason: StateReason, keeps: bool, now: Instant) {
        let verdict = self.verdict(id);
        let service = self.services.get_mut(&id).unwrap();
        let verdict = verdict.filter(|_| service.settings.health_monitor);
        let is_down = matches!(
            verdict,
            Some(State::Down | State::DownWhenGoingOutOfService)
        );
        let is_known = matches!(service.state, State::Up | State::Down);
        let state = match (service.settings.enabled, service.drain.is_some(), verdict) {
            (true, _, Some(State::Unknown)) if keeps && is_known && service.since < now => {
                service.state
            }
            (true, _, verdict) => verdict.unwrap_or(State::Up),
            (false, true, _) if is_down => State::DownWhenGoingOutOfService,
            (false, true, _) => State::GoingOutOfService,
            (false, false, _) => State::OutOfService,
        };
        if state != service.state {
            (service.state, service.since, service.reason) = (state, now, reason);
        }
    }
}

impl Binding {
    fn new(bind: MonitorBind) -> Self {
        Self {
            bind,
            runs: false,
            state: State::Unknown,
            answers: Vec::new(),
            flight: None,
            start: None,
            end: None,
            is_disturbed: false,
            probes: 0,
            failed: 0,
            last: None,
        }
    }

    /// Forgets all that only counts while it probes.
    fn stop(&mut self) {
        self.state = State::Unknown;
        self.answers.clear();
        (self.start, self.end) = (None, None);
    }

    fn check_start(&self, settings: &MonitorSettings, now: Instant) {
        let (Some(start), Some(end)) = (self.start, self.end) else {
            return;
        };
        if self.is_disturbed {
            return;
        }
        if matches!(self.last, Some(LastProbe::Failed(_))) && self.state == State::Down {
            assert_eq!(now, end + settings.down_time);
            return;
        }
        let gap = now.duration_since(start);
        assert!(gap <= settings.interval, "{gap:?}");
        assert!(gap >= settings.interval / 2, "{gap:?}");
    }

    fn take(&mut self, answer: Answer, settings: &MonitorSettings, now: Instant) {
        self.flight = None;
        self.end = Some(now);
        self.last = Some(match answer {
            Answer::Passed => LastProbe::Passed(now),
            Answer::Failed => LastProbe::Failed(now),
            Answer::GoesOut => LastProbe::OutOfService(now),
        });
        self.failed += u64::from(answer == Answer::Failed);
        self.answers.push(answer);
        let seen = match self.state {
            State::Down => usize::MAX,
            _ => settings.retries.into(),
        };
        let answers = self.answers.len();
        self.answers.drain(..answers.saturating_sub(seen));
        let failed = self.answers.iter().filter(|one| **one == Answer::Failed);
        let needed = match settings.failure_retries {
            0 => settings.retries,
            some => some.min(settings.retries),
        };
        let passed = self.answers.iter().rev();
        let passed = passed.take_while(|one| **one == Answer::Passed).count();
        let state = match (self.state, answer) {
            (_, Answer::GoesOut) => State::GoingOutOfService,
            (State::Down, _) if passed < settings.success_retries.into() => State::Down,
            (_, Answer::Passed) => State::Up,
            (_, Answer::Failed) if failed.count() >= needed.into() => State::Down,
            (state, Answer::Failed) => state,
        };
        if state != self.state {
            self.state = state;
            self.answers.clear();
        }
    }

    pub(super) fn compare(&self, row: &MonitorStatus, now: Instant) {
        assert_eq!(row.state, self.state);
        let seen = (row.is_probed, row.probes, row.failed, row.last);
        assert_eq!(seen, (self.runs, self.probes, self.failed, self.last));
        assert_eq!(
            (row.weight, row.passive),
            (self.bind.weight, self.bind.passive)
        );
        // Whoever is to be probed and is not has a time to come.
        let waits = self.runs && self.flight.is_none();
        assert_eq!(row.next.is_some(), waits);
        assert!(
            row.next
                .is_none_or(|next| next <= now + Duration::from_secs(30))
        );
    }
}

fn answer(result: Option<ProbeResult>, settings: &MonitorSettings) -> Answer {
    let passed = match result {
        Some(ProbeResult::OutOfService) => return Answer::GoesOut,
        Some(ProbeResult::Passed { .. }) => true,
        Some(ProbeResult::Failed) => false,
        None => settings.silence_passes,
    };
    match (passed, settings.reverse) {
        (true, false) | (false, true) => Answer::Passed,
        (true, true) | (false, false) => Answer::Failed,
    }
}
