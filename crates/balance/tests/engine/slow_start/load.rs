//! An even load: requests at fixed distances, each of the same life and the same bytes.

use std::collections::VecDeque;
use std::time::Duration;

use sluice_balance::{
    Change, CloseReason, Instant, Method, RampStatus, RampUnit, Reservation, SlowStart,
    VserverSettings,
};

use crate::rig::{Rig, V, flow, vserver};

/// The rig under load. Request `i` of a run comes at `i / per_second` seconds, rounded down to ns.
pub(crate) struct Load {
    pub(crate) rig: Rig,
    pub(crate) settings: VserverSettings,
    per_second: u64,
    /// How long a flow stays open; none is for ever.
    life: Option<Duration>,
    /// Moved by each flow, at its start.
    bytes: u64,
    open: VecDeque<(Instant, Reservation)>,
    for_ever: Vec<Reservation>,
}

impl Load {
    /// Makes `V` with services 1, 2, ... of these weights, and an even load of finished requests.
    pub(crate) fn new(method: Method, weights: &[u64], per_second: u64) -> Self {
        Self {
            rig: Rig::new(method, weights),
            settings: vserver(method),
            per_second,
            life: Some(Duration::ZERO),
            bytes: 0,
            open: VecDeque::new(),
            for_ever: Vec::new(),
        }
    }

    pub(crate) fn with_life(self, life: Option<Duration>) -> Self {
        Self { life, ..self }
    }

    pub(crate) fn with_bytes(self, bytes: u64) -> Self {
        Self { bytes, ..self }
    }

    /// Sets the slow start: rate, unit, interval in seconds.
    pub(crate) fn set(&mut self, rate: u32, unit: RampUnit, interval_s: u64) {
        self.settings.slow_start = SlowStart {
            rate,
            unit,
            interval: Duration::from_secs(interval_s),
        };
        self.rig.apply(Change::SetVserver(V, self.settings.clone()));
    }

    /// Adds a service and binds it.
    pub(crate) fn join(&mut self, number: u32, weight: u64) {
        self.rig.add_service(number);
        self.rig.bind(number, weight);
    }

    /// Runs for so many seconds; returns how many requests each bound service got, in bind order.
    pub(crate) fn run(&mut self, seconds: u64) -> Vec<u64> {
        let before = self.hits();
        let start = self.rig.now;
        for request in 0..self.per_second * seconds {
            let nanos = request * 1_000_000_000 / self.per_second;
            self.request(start + Duration::from_nanos(nanos));
        }
        self.close_until(start + Duration::from_secs(seconds));
        self.rig.now = start + Duration::from_secs(seconds);
        let after = self.hits();
        after.iter().zip(before).map(|(a, b)| a - b).collect()
    }

    /// Runs second by second; returns the rows.
    pub(crate) fn seconds(&mut self, count: usize) -> Vec<Vec<u64>> {
        (0..count).map(|_| self.run(1)).collect()
    }

    /// Sends a request; returns the service it was given to.
    pub(crate) fn request(&mut self, now: Instant) -> u32 {
        self.close_until(now);
        self.rig.now = now;
        let chosen = self.rig.engine.select(V, &flow(), &[], now).unwrap();
        chosen.service_counters.add_out(self.bytes, 1);
        let service = chosen.reservation.service().0;
        match self.life {
            Some(life) => self.open.push_back((now + life, chosen.reservation)),
            None => self.for_ever.push(chosen.reservation),
        }
        service
    }

    /// Returns the ramp of a service.
    pub(crate) fn ramp(&mut self, number: u32) -> Option<RampStatus> {
        let bindings = self.rig.vserver().bindings;
        let row = bindings.iter().find(|row| row.service.0 == number);
        row.unwrap().ramp
    }

    fn hits(&mut self) -> Vec<u64> {
        let bindings = self.rig.vserver().bindings;
        bindings.iter().map(|row| row.hits).collect()
    }

    fn close_until(&mut self, now: Instant) {
        while let Some((end, reservation)) = self.open.pop_front() {
            if end > now {
                self.open.push_front((end, reservation));
                break;
            }
            self.rig
                .engine
                .handle_close(reservation, CloseReason::Finished, end);
        }
    }
}
