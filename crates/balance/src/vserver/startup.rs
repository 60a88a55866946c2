//! Start-up round robin of one virtual server: after a change, a metric says little yet.
//!
//! Owns for how many requests the services are served in turn in place of the method: the factor of
//! the whole process times the bound services, counted from the last change that begins it. Requests
//! that a persistence entry decides do not count.
//!
//! ```text
//!   off --- a change, factor > 0 ---> factor x bound services left --- a choice by method ---> one less
//!                                       ^                |                                       |
//!                                       +--- a change ---+             none left: off <----------+
//! ```
//!
//! Invariant: a phase runs only with a method that compares a number, and not with a slow start.
//!
//! Source: NetScaler docs, "startupRRFactor". Own choice: without a factor it is off, as the length
//! that follows from the request rate never ends on a quiet server.

use super::Vserver;
use crate::method::Rule;
use crate::{FlowKey, Method, StartupReason, StartupStatus};

/// The phase of one virtual server, and how long one is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Startup {
    /// Requests per bound service; 0 is off.
    factor: u32,
    phase: Option<StartupStatus>,
}

impl Vserver {
    /// Takes a factor into effect, as a change of which each virtual server begins anew.
    pub(crate) fn set_startup_factor(&mut self, factor: u32) {
        if factor != self.startup.factor {
            self.startup.factor = factor;
            self.start_up(StartupReason::FactorChanged);
        }
    }

    /// Begins a phase, or begins it anew.
    pub(crate) fn start_up(&mut self, reason: StartupReason) {
        let bound = u64::try_from(self.bindings.len()).unwrap_or(u64::MAX);
        let left = bound.saturating_mul(self.startup.factor.into());
        let is_on = left > 0 && self.may_start_up();
        if is_on && self.startup.phase.is_none() {
            self.chooser.restart_round();
        }
        self.startup.phase = is_on.then_some(StartupStatus { reason, left });
    }

    /// Ends a phase that the settings rule out.
    pub(super) fn check_startup(&mut self) {
        if !self.may_start_up() {
            self.startup.phase = None;
        }
    }

    /// Returns the rule for a flow: its method's, or in turn while a phase runs or loads are missing.
    pub(super) fn rule(&self, flow: &FlowKey) -> Rule {
        match self.startup.phase {
            Some(_) => Rule::InTurn,
            None if self.lacks_loads() => Rule::InTurn,
            None => Rule::new(&self.settings, flow),
        }
    }

    /// Whether the method compares loads that are not all known.
    fn lacks_loads(&self) -> bool {
        self.settings.method == Method::CustomLoad && !self.monitored.all_loaded()
    }

    /// Counts a request that was given out by the rule.
    pub(super) fn count_startup(&mut self) {
        let Some(phase) = &mut self.startup.phase else {
            return;
        };
        phase.left -= 1;
        if phase.left == 0 {
            self.startup.phase = None;
        }
    }

    /// Shows the phase.
    pub(super) fn startup(&self) -> Option<StartupStatus> {
        self.startup.phase
    }

    fn may_start_up(&self) -> bool {
        self.settings.method.compares_load() && self.settings.slow_start.rate == 0
    }
}
