//! The reference's slow start: stepped millisecond by millisecond.

use sluice_balance::RampUnit;

/// The slow start of the virtual server; a rate of 0 is off, an interval of 0 manual.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) rate: u64,
    pub(super) unit: RampUnit,
    pub(super) interval_ms: u64,
}

/// One new service.
pub(super) struct Ramp {
    steps: u64,
    /// Milliseconds of the interval that have passed.
    passed_ms: u64,
    /// Credit in billionths of a request, and the rest of the last division with its divisor.
    credit: u64,
    rest: (u64, u64),
    requests: u64,
    pub(super) requests_in_all: u64,
    pub(super) chosen: u64,
    pub(super) is_level: bool,
}

impl Ramp {
    pub(super) fn new() -> Self {
        Self {
            steps: 0,
            passed_ms: 0,
            credit: BILLION,
            rest: (0, 1),
            requests: 0,
            requests_in_all: 0,
            chosen: 0,
            is_level: false,
        }
    }

    pub(super) fn limit(&self, rule: Rule) -> u64 {
        rule.rate + rule.rate * self.steps
    }

    pub(super) fn is_held_back(&self) -> bool {
        self.credit < BILLION
    }

    /// Lets a millisecond pass; returns whether the ramp has ended with it.
    pub(super) fn pass(&mut self, rule: Rule, compares: bool, weight: u64, usable: u64) -> bool {
        if rule.unit == RampUnit::PerSecond {
            let grown = self.credit + self.limit(rule) * 1_000_000;
            self.credit = grown.min(2 * BILLION - 1).max(self.credit);
        }
        self.passed_ms += 1;
        if rule.interval_ms == 0 || self.passed_ms < rule.interval_ms {
            return false;
        }
        let is_full = match rule.unit {
            RampUnit::Percent => self.limit(rule) >= 100,
            RampUnit::PerSecond => {
                let allowed = self.limit(rule) * rule.interval_ms / 1_000;
                allowed * usable >= self.requests * weight
            }
        };
        if is_full && (self.is_level || !compares) {
            return true;
        }
        self.steps += 1;
        self.begin_interval();
        false
    }

    fn begin_interval(&mut self) {
        self.passed_ms = 0;
        self.requests = 0;
        self.is_level = false;
    }

    pub(super) fn change(&mut self, old: Rule, new: Rule) {
        if old.unit != new.unit || new.interval_ms == 0 {
            self.steps = 0;
        }
        if (old.unit, old.interval_ms) != (new.unit, new.interval_ms) {
            self.credit = self.credit.min(2 * BILLION - 1);
            self.begin_interval();
        }
    }

    pub(super) fn count(&mut self) {
        self.requests += 1;
        self.requests_in_all += 1;
    }

    pub(super) fn pay(&mut self) {
        self.chosen += 1;
        self.credit = self.credit.saturating_sub(BILLION);
    }

    pub(super) fn earn(&mut self, rule: Rule, weight: u64, existing: u64) {
        let of = 100 * existing;
        let rest = if self.rest.1 == of { self.rest.0 } else { 0 };
        let earned = self.limit(rule) * weight * BILLION + rest;
        self.rest = (earned % of, of);
        let bound = (2 * BILLION).max(BILLION + earned / of) - 1;
        self.credit = (self.credit + earned / of).min(bound).max(self.credit);
    }
}

const BILLION: u64 = 1_000_000_000;
