//! `apply`, `confirm` and `rollback`: changes on trial, and the way back from them.

use std::time::{Duration, SystemTime};

use sluice_command::{Command, Fault, Key, render};
use sluice_protocol::{Reply, Row};

use super::{Controller, carry_out, row};
use crate::provisional::{Earlier, seconds};

impl Controller {
    /// Makes what follows provisional.
    pub(super) fn apply(&mut self, command: &Command, uid: u32) -> Result<Vec<Reply>, Fault> {
        // The lines that do not run get new numbers when it ends.
        self.ns_conf.check_not_saving()?;
        let length = command.integer(Key::Confirm).unwrap_or_default();
        let now = self.dataplane.now();
        let (config, ns_conf) = (&self.config, &self.ns_conf);
        let earlier = || Earlier {
            config: config.clone(),
            lines: ns_conf.kept_lines(),
        };
        self.provisional
            .begin(earlier, Duration::from_secs(length), now);
        self.dataplane.keep_addresses(true);
        self.not_undone.clear();
        tracing::info!(uid, seconds = length, "changes are provisional");
        let text = format!(
            "Changes are provisional for {length} s: confirm keeps them, rollback undoes them"
        );
        Ok(vec![row(Row::Line(text))])
    }

    /// Keeps what is provisional.
    pub(super) fn confirm(&mut self, uid: u32) -> Result<Vec<Reply>, Fault> {
        self.provisional.end()?;
        self.dataplane.keep_addresses(false);
        tracing::info!(uid, "provisional changes are confirmed");
        Ok(Vec::new())
    }

    /// Undoes what is provisional, now.
    pub(super) fn roll_back(&mut self, uid: u32) -> Result<Vec<Reply>, Fault> {
        let earlier = self.provisional.end()?;
        tracing::info!(uid, "provisional changes are undone");
        self.return_to(earlier);
        let failed = self.not_undone.iter();
        Ok(failed.map(|text| Reply::Warning(text.clone())).collect())
    }

    /// Undoes what is provisional when its time is over; returns when that will be.
    pub(super) fn look_after_trial(&mut self) -> Option<Duration> {
        let left = self.provisional.left(self.dataplane.now())?;
        // What ends loads the saved file when it starts again.
        if !left.is_zero() || self.draining.is_some() {
            return Some(left).filter(|_| self.draining.is_none());
        }
        if let Ok(earlier) = self.provisional.end() {
            tracing::warn!("nobody has confirmed: provisional changes are undone");
            self.return_to(earlier);
        }
        None
    }

    /// Goes back to an earlier configuration, at once; where that cannot be, command by command, without
    /// those that fail.
    fn return_to(&mut self, earlier: Earlier) {
        if let Err(fault) = self.go_to(&earlier.config) {
            tracing::warn!("not undone at once: {fault}");
            for command in self.config.way_to(&earlier.config).commands {
                let plan = self.config.plan(&command);
                let done =
                    plan.and_then(|plan| carry_out(plan, &mut self.config, &mut self.dataplane));
                if let Err(fault) = done {
                    let text = format!("not undone: {} [{fault}]", render(&command));
                    tracing::error!("{text}");
                    self.not_undone.push(text);
                }
            }
        }
        self.dataplane.keep_addresses(false);
        self.ns_conf.return_to(earlier.lines, SystemTime::now());
    }

    /// Says what `show ns config` and `diff ns config` say of a trial.
    pub(super) fn trial_seconds(&self) -> Option<u64> {
        let left = self.provisional.left(self.dataplane.now());
        left.map(seconds)
    }
}
