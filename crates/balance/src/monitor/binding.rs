//! One monitor of one service: what it has found and measured, and what it waits for.
//!
//! Invariant: what a binding knows is that of its present run; a run begins and ends with probing.

use std::time::Duration;

use super::machine::{Answer, Finding, Machine};
use super::schedule::Phase;
use super::settings::{MonitorBind, MonitorSettings, ProbeResult};
use crate::snapshot::{LastProbe, MonitorStatus};
use crate::{Instant, ProbeId, State};

/// All that the core keeps of a monitor of a service.
#[derive(Debug)]
pub(super) struct Binding {
    pub(super) bind: MonitorBind,
    /// The order of serials is the bind order.
    pub(super) serial: u64,
    /// Whether its service is to be probed.
    pub(super) is_wanted: bool,
    pub(super) stage: Stage,
    phase: Phase,
    machine: Machine,
    learned: Learned,
    load: Option<u64>,
    probes: u64,
    failed: u64,
    failed_in_a_row: u64,
    last: Option<LastProbe>,
    response_time: Option<Duration>,
}

/// What a binding waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// To be probed at all.
    Idle,
    /// The time of its next probe.
    Waiting(Instant),
    /// The end of a probe.
    Probing(Flight),
}

/// A probe that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Flight {
    pub(super) probe: ProbeId,
    start: Instant,
    /// The longest that it may take.
    limit: Duration,
    /// When it has failed.
    pub(super) deadline: Instant,
    /// Whether the deadline was put off.
    is_extended: bool,
}

impl Binding {
    pub(super) fn new(bind: MonitorBind, serial: u64, is_wanted: bool) -> Self {
        Self {
            bind,
            serial,
            is_wanted,
            stage: Stage::Idle,
            phase: Phase::of(bind.service, bind.monitor),
            machine: Machine::default(),
            learned: Learned::default(),
            load: None,
            probes: 0,
            failed: 0,
            failed_in_a_row: 0,
            last: None,
            response_time: None,
        }
    }

    /// Returns when something is to be done.
    pub(super) fn due(&self) -> Option<Instant> {
        match self.stage {
            Stage::Idle => None,
            Stage::Waiting(due) => Some(due),
            Stage::Probing(flight) => Some(flight.deadline),
        }
    }

    /// Begins a run, of which nothing is known yet.
    pub(super) fn begin(&mut self, first: Instant) {
        self.machine = Machine::default();
        (self.learned, self.load) = (Learned::default(), None);
        self.failed_in_a_row = 0;
        self.stage = Stage::Waiting(first);
    }

    /// Ends a run.
    pub(super) fn end(&mut self) {
        self.begin(Instant::default());
        self.stage = Stage::Idle;
    }

    /// Starts a probe; returns when it will have failed.
    pub(super) fn start(
        &mut self,
        probe: ProbeId,
        settings: &MonitorSettings,
        now: Instant,
    ) -> Instant {
        let limit = self.learned.limit(settings);
        let deadline = now + limit;
        self.probes += 1;
        self.stage = Stage::Probing(Flight {
            probe,
            start: now,
            limit,
            deadline,
            is_extended: false,
        });
        deadline
    }

    /// Puts the deadline of a probe off that is looked at long after it, once; returns whether it
    /// did.
    ///
    /// Who comes so late had no time for answers either: they may have come, and be still unread.
    pub(super) fn extend(&mut self, now: Instant) -> bool {
        let Stage::Probing(flight) = &mut self.stage else {
            return false;
        };
        let late = now.duration_since(flight.deadline);
        if flight.is_extended || late <= PUNCTUAL {
            return false;
        }
        flight.is_extended = true;
        flight.deadline = now + late.min(flight.limit);
        true
    }

    /// Takes the end of its probe; none if nothing came in time.
    pub(super) fn finish(
        &mut self,
        flight: Flight,
        result: Option<ProbeResult>,
        settings: &MonitorSettings,
        now: Instant,
    ) {
        let answer = self.read(flight, result, settings);
        self.machine.handle(answer, settings);
        if answer == Answer::Failed {
            self.failed += 1;
            self.failed_in_a_row += 1;
        } else {
            self.failed_in_a_row = 0;
        }
        let result = match answer {
            Answer::Passed => LastProbe::Passed(now),
            Answer::Failed => LastProbe::Failed(now),
            Answer::GoesOut => LastProbe::OutOfService(now),
        };
        self.last = Some(result);
        let is_down = self.machine.finding() == Finding::Down;
        let next = if is_down && answer == Answer::Failed {
            now + settings.down_time
        } else {
            self.phase.next(flight.start, settings.spacing()).max(now)
        };
        self.stage = Stage::Waiting(next);
    }

    /// Returns what the end of a probe means, and keeps what was measured.
    fn read(
        &mut self,
        flight: Flight,
        result: Option<ProbeResult>,
        settings: &MonitorSettings,
    ) -> Answer {
        let passed = match result {
            // What took too long has failed, whoever finds out first.
            Some(ProbeResult::Passed { took, .. }) if took > flight.limit => {
                self.learned.add(flight.limit);
                false
            }
            Some(ProbeResult::Passed { took, load }) => {
                self.learned.add(took);
                self.response_time = Some(took);
                self.load = load;
                true
            }
            Some(ProbeResult::Failed) => false,
            Some(ProbeResult::OutOfService) => return Answer::GoesOut,
            None => {
                self.learned.add(flight.limit);
                settings.silence_passes
            }
        };
        if passed == settings.reverse {
            Answer::Failed
        } else {
            Answer::Passed
        }
    }

    /// Lets a service that is DOWN be probed at `first`, not after a pause.
    pub(super) fn hurry(&mut self, first: impl FnOnce() -> Instant) {
        if let Stage::Waiting(_) = self.stage
            && self.machine.finding() == Finding::Down
        {
            self.stage = Stage::Waiting(first());
        }
    }

    /// Takes another interval, counted from `now`.
    pub(super) fn reschedule(&mut self, interval: Duration, now: Instant) {
        if let Stage::Waiting(due) = self.stage {
            self.stage = Stage::Waiting(due.min(self.phase.next(now, interval)));
        }
    }

    /// Whether the state of the service depends on it.
    pub(super) fn counts(&self) -> bool {
        !self.bind.passive && self.stage != Stage::Idle
    }

    /// Returns what it has found.
    pub(super) fn finding(&self) -> Finding {
        self.machine.finding()
    }

    /// Returns the learned response time of a service that is not DOWN.
    pub(super) fn learned_time(&self) -> Option<Duration> {
        self.learned.average().filter(|_| self.is_heard())
    }

    /// Returns the load of a service that is not DOWN.
    pub(super) fn load(&self) -> Option<u64> {
        self.load.filter(|_| self.is_heard())
    }

    fn is_heard(&self) -> bool {
        self.machine.finding() != Finding::Down
    }

    /// Shows the binding.
    pub(super) fn status(&self) -> MonitorStatus {
        MonitorStatus {
            monitor: self.bind.monitor,
            state: match self.machine.finding() {
                Finding::Unknown => State::Unknown,
                Finding::Up => State::Up,
                Finding::Down => State::Down,
                Finding::GoingOut => State::GoingOutOfService,
            },
            enabled: self.bind.enabled,
            is_probed: self.stage != Stage::Idle,
            weight: self.bind.weight,
            passive: self.bind.passive,
            probes: self.probes,
            failed: self.failed,
            failed_in_a_row: self.failed_in_a_row,
            last: self.last,
            response_time: self.response_time,
            learned_time: self.learned.average(),
            load: self.load,
            next: match self.stage {
                Stage::Waiting(due) => Some(due),
                Stage::Idle | Stage::Probing(_) => None,
            },
        }
    }
}

/// How long a service takes to answer a monitor: an average in which each time counts for a
/// quarter.
#[derive(Clone, Copy, Debug, Default)]
struct Learned {
    /// Units: nanoseconds.
    average: u64,
    times: u8,
}

impl Learned {
    fn add(&mut self, time: Duration) {
        let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.average = match self.times {
            0 => time,
            _ => self.average - self.average / 4 + time / 4,
        };
        self.times = self.times.saturating_add(1);
    }

    fn average(&self) -> Option<Duration> {
        (self.times > 0).then(|| Duration::from_nanos(self.average))
    }

    /// Returns the longest that a probe may take.
    ///
    /// A probe that took longer counts with the limit it had, so that a service that has become
    /// slow for good is given more time from probe to probe.
    fn limit(&self, settings: &MonitorSettings) -> Duration {
        let is_learned = settings.learns_response_time && self.times >= LEARNED;
        if !is_learned || settings.deviation.is_zero() {
            return settings.response_timeout;
        }
        let learned = Duration::from_nanos(self.average);
        settings.response_timeout.min(learned + settings.deviation)
    }
}

/// How late a deadline may be kept and still count as kept in time.
///
/// Source: own choice: far above the grain of timers, far below any time-out.
const PUNCTUAL: Duration = Duration::from_millis(50);

/// After how many times the average says something.
///
/// Source: own choice: the first one then counts for less than half.
const LEARNED: u8 = 4;
