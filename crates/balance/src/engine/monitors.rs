//! Monitors as the engine sees them: configuration, the ends of probes, and the states that follow.
//!
//! A state that a probe changes comes out as one that a command changes does: the service's, the
//! flows that end with it, then the virtual servers'.

use super::Engine;
use super::apply::Cause;
use crate::monitor::Done;
use crate::{
    Instant, MonitorBind, MonitorId, MonitorSettings, ProbeId, ProbeResult, ServiceId, StateReason,
};

impl Engine {
    /// Takes the end of a probe.
    ///
    /// One that was given up, or is past its deadline, is left out: its end has been decided.
    pub fn handle_probe(&mut self, probe: ProbeId, result: ProbeResult, now: Instant) {
        let now = self.advance(now);
        if let Some((service, monitor)) = self.monitors.handle_probe(probe, result, now) {
            self.judge_by(service, monitor, now);
        }
    }

    /// Starts the probes that are due, and ends those whose time is up, so many a call.
    pub(super) fn handle_probes_due(&mut self, now: Instant) {
        for _ in 0..PROBES {
            match self.monitors.handle_due(now, &mut self.outputs) {
                Done::Nothing => return,
                Done::Something => {}
                Done::Ended((service, monitor)) => self.judge_by(service, monitor, now),
            }
        }
    }

    pub(super) fn set_monitor(&mut self, id: MonitorId, settings: &MonitorSettings, now: Instant) {
        let outputs = &mut self.outputs;
        for service in self.monitors.set(id, *settings, now, outputs) {
            self.judge_anew(service, now);
        }
    }

    pub(super) fn bind_monitor(&mut self, bind: &MonitorBind, now: Instant) {
        let service = self.services.get(bind.service).expect(PLANNED);
        let is_wanted = service.wants_probes();
        self.monitors.bind(*bind, is_wanted, now, &mut self.outputs);
        self.judge_anew(bind.service, now);
    }

    pub(super) fn set_monitor_binding(&mut self, bind: &MonitorBind, now: Instant) {
        self.monitors.set_binding(*bind, now, &mut self.outputs);
        self.judge_anew(bind.service, now);
    }

    pub(super) fn unbind_monitor(&mut self, service: ServiceId, id: MonitorId, now: Instant) {
        self.monitors.unbind(service, id, &mut self.outputs);
        self.judge_anew(service, now);
    }

    /// Starts or stops probing a service whose settings have changed; from the beginning if it
    /// `moved` to another address, of which nothing is known.
    pub(super) fn restart_probes(&mut self, id: ServiceId, moved: bool, now: Instant) {
        let is_wanted = self.services.get(id).expect(PLANNED).wants_probes();
        let outputs = &mut self.outputs;
        if moved {
            self.monitors.want(id, false, now, outputs);
        }
        self.monitors.want(id, is_wanted, now, outputs);
        self.note_monitors(id);
    }

    /// Looks at the state of a service again: its monitors have changed.
    fn judge_anew(&mut self, id: ServiceId, now: Instant) {
        self.note_monitors(id);
        self.settle_service(id, Cause::operator(self.is_booted), now);
    }

    /// Looks at the state of a service again: a monitor has found something.
    fn judge_by(&mut self, id: ServiceId, monitor: MonitorId, now: Instant) {
        self.note_monitors(id);
        let service = self.services.get(id).expect(PLANNED);
        if service.state_to_be(true) == service.state {
            return;
        }
        self.settle_apart(id, Cause::by(StateReason::Monitor(monitor)), now);
    }

    /// Takes over what the monitors of a service say and measure.
    fn note_monitors(&mut self, id: ServiceId) {
        let measured = self.monitors.measured(id);
        let service = self.services.get_mut(id).expect(PLANNED);
        let threshold = service.settings.monitor_threshold;
        service.verdict = self.monitors.verdict(id, threshold);
        if measured != service.measured {
            service.measured = measured;
            self.note_values(id, |values| {
                values.set_time(measured.time);
                values.set_load(measured.load);
            });
        }
    }
}

const PLANNED: &str = "a plan names only services that exist, and unbinds what it removes";

/// Probes started or ended per call: a millisecond at most while everything else waits.
const PROBES: u32 = 512;
