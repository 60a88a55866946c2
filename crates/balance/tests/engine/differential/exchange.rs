//! The reference's flows: a list of what happened, gone through each time something is asked.

use sluice_balance::CloseReason;

use super::reference::Reference;

/// A flow that is open.
pub(super) struct Flow {
    service: u32,
    /// Time and number of its first client data.
    asked: Option<(u64, u64)>,
    is_answered: bool,
}

/// What is remembered of a service.
#[derive(Default)]
pub(super) struct Exchange {
    /// When a flow was last given to it.
    chosen_ms: u64,
    /// The number of the last event that showed it alive.
    heard: u64,
    /// The number of the last flow's end that was its fault.
    failed: Option<u64>,
    /// When it failed fast.
    fast_ms: Vec<u64>,
}

impl Reference {
    pub(super) fn active(&self, service: u32) -> u64 {
        let own = self.flows.iter().filter(|flow| flow.service == service);
        own.count() as u64
    }

    pub(super) fn open(&mut self, service: u32) {
        self.flows.push(Flow {
            service,
            asked: None,
            is_answered: false,
        });
        self.exchange(service).chosen_ms = self.now;
    }

    /// Returns whether there is such a flow.
    pub(super) fn ask(&mut self, flow: usize) -> bool {
        let now = (self.now, self.number());
        let Some(flow) = self.flows.get_mut(flow) else {
            return false;
        };
        if !flow.is_answered {
            flow.asked.get_or_insert(now);
        }
        self.sample();
        true
    }

    pub(super) fn answer(&mut self, flow: usize) -> bool {
        let Some(flow) = self.flows.get_mut(flow) else {
            return false;
        };
        let is_first = !std::mem::replace(&mut flow.is_answered, true);
        let service = flow.service;
        if is_first {
            self.hear(service);
        }
        self.sample();
        true
    }

    pub(super) fn close(&mut self, service: u32, reason: CloseReason) -> bool {
        let is_own = |flow: &Flow| flow.service == service;
        let Some(index) = self.flows.iter().position(is_own) else {
            return false;
        };
        let flow = self.flows.remove(index);
        let by_service = [
            CloseReason::ConnectFailed,
            CloseReason::ServiceClosed,
            CloseReason::ServiceReset,
        ];
        let is_waiting = flow.asked.is_some();
        let is_failure = !flow.is_answered
            && (by_service.contains(&reason) || is_waiting && reason != CloseReason::Local);
        if is_failure {
            let number = self.number();
            let now = self.now;
            let exchange = self.exchange(service);
            exchange.failed = Some(number);
            if by_service.contains(&reason) {
                exchange.fast_ms.push(now);
            }
        }
        self.sample();
        true
    }

    pub(super) fn hear(&mut self, service: u32) {
        let number = self.number();
        self.exchange(service).heard = number;
    }

    pub(super) fn forgive(&mut self, service: u32) {
        self.hear(service);
        self.exchange(service).fast_ms.clear();
    }

    /// Failures, each worth what is left of it: a line from 1 to 2 in 7 s, halved and begun again.
    pub(super) fn recent_failures(&self, service: u32) -> u64 {
        let weight = |ms: u64| 65_536 + ms % 7_000 * 65_536 / 7_000;
        // As of 64 halvings ago, so that everything is a whole number. Nothing older is left.
        let start = (self.now / 7_000).saturating_sub(64);
        let halvings = |ms: u64| (ms / 7_000).checked_sub(start);
        let failures = self.members[&service].exchange.fast_ms.iter();
        let weighted = failures.filter_map(|ms| Some(u128::from(weight(*ms)) << halvings(*ms)?));
        let of = u128::from(weight(self.now)) << (self.now / 7_000 - start);
        ((2 * weighted.sum::<u128>() + of) / (2 * of)) as u64
    }

    pub(super) fn is_silent(&self, service: u32) -> bool {
        let exchange = &self.members[&service].exchange;
        let after = |number: u64| number > exchange.heard;
        let waits = self.flows.iter().any(|flow| {
            let for_long = |(ms, number): (u64, u64)| self.now - ms > 1_000 && after(number);
            flow.service == service && !flow.is_answered && flow.asked.is_some_and(for_long)
        });
        (waits || exchange.failed.is_some_and(after)) && self.now - exchange.chosen_ms < 5_000
    }

    /// Returns how long the client has been waiting who has been for longest, in milliseconds.
    pub(super) fn longest_wait(&self, service: u32) -> u64 {
        let own = self.flows.iter().filter(|flow| flow.service == service);
        let waits = own.filter(|flow| !flow.is_answered);
        let asked = waits.filter_map(|flow| flow.asked).map(|(ms, _)| ms);
        asked.min().map_or(0, |ms| self.now - ms)
    }

    fn number(&mut self) -> u64 {
        self.events += 1;
        self.events
    }

    fn exchange(&mut self, service: u32) -> &mut Exchange {
        &mut self.members.get_mut(&service).unwrap().exchange
    }
}
