//! A rig whose flows go to the service that the test names, as far as it takes any.

use std::time::Duration;

use sluice_balance::{
    Change, CloseReason, InlineStatus, Method, PassiveSettings, Reservation, ServiceId, State,
};

use crate::rig::{Rig, V, flow};

pub(crate) struct Bench {
    pub(crate) rig: Rig,
}

impl Bench {
    /// Makes `V` with so many services, watched as usual but for 3 failures in a row.
    pub(crate) fn new(services: u32) -> Self {
        let mut rig = Rig::new(Method::LeastConnection, &vec![1; services as usize]);
        rig.apply(Change::SetPassive(three()));
        Self { rig }
    }

    /// Opens a flow to a service, if it takes one.
    pub(crate) fn try_open(&mut self, service: u32) -> Option<Reservation> {
        let now = self.rig.now;
        let shown = self.rig.vserver();
        let others = shown.bindings.iter().map(|row| row.service);
        let others: Vec<_> = others.filter(|id| *id != ServiceId(service)).collect();
        let chosen = self.rig.engine.select(V, &flow(), &others, now);
        chosen.ok().map(|selection| selection.reservation)
    }

    pub(crate) fn open(&mut self, service: u32) -> Reservation {
        self.try_open(service).unwrap()
    }

    /// Opens a flow whose client sends data at once.
    pub(crate) fn ask(&mut self, service: u32) -> Reservation {
        let flow = self.open(service);
        self.rig.engine.handle_client_data(&flow, self.rig.now);
        flow
    }

    /// Opens a flow that stays open.
    pub(crate) fn hold(&mut self, service: u32) {
        let _open = self.open(service);
    }

    /// A flow that is answered and ends.
    pub(crate) fn succeed(&mut self, service: u32) {
        let flow = self.ask(service);
        self.answer(&flow);
        self.end(flow, CloseReason::Finished);
    }

    /// A flow whose client sends data, and that ends like this at once.
    pub(crate) fn fail(&mut self, service: u32, reason: CloseReason) {
        let flow = self.ask(service);
        self.end(flow, reason);
    }

    /// So many connects that are refused.
    pub(crate) fn refuse(&mut self, service: u32, count: u32) {
        for _ in 0..count {
            let flow = self.open(service);
            self.end(flow, CloseReason::ConnectFailed);
        }
    }

    pub(crate) fn answer(&mut self, flow: &Reservation) {
        self.rig.engine.handle_first_answer(flow, self.rig.now);
    }

    pub(crate) fn end(&mut self, flow: Reservation, reason: CloseReason) {
        self.rig.engine.handle_close(flow, reason, self.rig.now);
    }

    pub(crate) fn state(&mut self, service: u32) -> State {
        self.rig.service(service).state
    }

    pub(crate) fn inline(&mut self, service: u32) -> InlineStatus {
        self.rig.service(service).inline
    }
}

/// As usual, but for 3 failures in a row.
pub(crate) fn three() -> PassiveSettings {
    PassiveSettings {
        retries: 3,
        ..PassiveSettings::default()
    }
}

pub(crate) fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}
