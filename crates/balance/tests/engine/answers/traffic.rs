//! Clients and services in stepped time: events in the order of their milliseconds.

use std::collections::BTreeMap;

use sluice_balance::{CloseReason, Method, Selection, ServiceId};

use crate::rig::{Rig, V, flow};

/// What a service does with a flow that begins now.
#[derive(Clone, Copy, Debug)]
pub(super) enum Conduct {
    /// Answers after so many milliseconds, and the flow ends.
    Answers(u64),
    /// Refuses the connection.
    Refuses,
    /// Closes at once without a byte.
    Closes,
    /// Takes everything in and never answers.
    Swallows,
}

/// How the clients come.
#[derive(Clone, Copy, Debug)]
pub(super) enum Clients {
    /// One every so many milliseconds, whatever happens.
    Every(u64),
    /// So many, each with one flow after the other.
    Loop(u64),
}

/// What happened: for each flow when it began, who had it last, and whether it was answered.
pub(super) struct Record(Vec<(u64, u32, bool)>);

impl Record {
    /// Returns the part of flows that a service had, of those that began in a time, in percent.
    pub(super) fn share(&self, service: u32, from_ms: u64, to_ms: u64) -> f64 {
        let began = self
            .0
            .iter()
            .filter(|(ms, ..)| (from_ms..to_ms).contains(ms));
        let own = began.clone().filter(|(_, number, _)| *number == service);
        100.0 * own.count() as f64 / began.count() as f64
    }

    /// Returns who had each flow, in the order of their ends.
    pub(super) fn choices(&self) -> Vec<u32> {
        self.0.iter().map(|(_, number, _)| *number).collect()
    }

    /// Returns how many flows a service had.
    pub(super) fn count(&self, service: u32) -> usize {
        self.0
            .iter()
            .filter(|(_, number, _)| *number == service)
            .count()
    }

    /// Returns how many flows were not answered, and how many there were.
    pub(super) fn lost(&self) -> (usize, usize) {
        let lost = self.0.iter().filter(|(.., answered)| !answered).count();
        (lost, self.0.len())
    }
}

#[derive(Debug)]
enum Event {
    Begin,
    Answer(Flow),
    End(Flow, CloseReason),
}

#[derive(Debug)]
struct Flow {
    selection: Selection,
    began: u64,
}

/// Runs `clients` for a while against services whose conduct is given by number and millisecond.
pub(super) fn run(
    method: Method,
    services: usize,
    clients: Clients,
    until_ms: u64,
    conduct: impl Fn(u32, u64) -> Conduct,
) -> Record {
    let mut traffic = Traffic {
        rig: Rig::new(method, &vec![1; services]),
        events: BTreeMap::new(),
        serial: 0,
        record: Record(Vec::new()),
        clients,
        conduct,
    };
    match clients {
        Clients::Every(gap) => (0..until_ms)
            .step_by(gap as usize)
            .for_each(|ms| traffic.push(ms, Event::Begin)),
        Clients::Loop(count) => (0..count).for_each(|_| traffic.push(0, Event::Begin)),
    }
    while let Some(((ms, _), event)) = traffic.events.pop_first() {
        if ms >= until_ms {
            break;
        }
        traffic.rig.run_to(ms);
        traffic.step(ms, event);
    }
    traffic.record
}

struct Traffic<C> {
    rig: Rig,
    events: BTreeMap<(u64, u64), Event>,
    serial: u64,
    record: Record,
    clients: Clients,
    conduct: C,
}

impl<C: Fn(u32, u64) -> Conduct> Traffic<C> {
    fn push(&mut self, ms: u64, event: Event) {
        self.serial += 1;
        self.events.insert((ms, self.serial), event);
    }

    fn step(&mut self, ms: u64, event: Event) {
        match event {
            Event::Begin => self.begin(ms),
            Event::Answer(flow) => {
                let engine = &mut self.rig.engine;
                engine.handle_first_answer(&flow.selection.reservation, self.rig.now);
                flow.selection.service_counters.add_out(1_000, 1);
                self.end(flow, CloseReason::Finished, true, ms);
            }
            Event::End(flow, reason) => self.end(flow, reason, false, ms),
        }
    }

    /// Begins a flow; a connection that is refused is tried elsewhere, three times in all.
    fn begin(&mut self, ms: u64) {
        let mut tried: Vec<ServiceId> = Vec::new();
        loop {
            let now = self.rig.now;
            let selection = self.rig.engine.select(V, &flow(), &tried, now).unwrap();
            let service = selection.reservation.service();
            let conduct = (self.conduct)(service.0, ms);
            let flow = Flow {
                selection,
                began: ms,
            };
            if matches!(conduct, Conduct::Refuses) && tried.len() < 2 {
                tried.push(service);
                self.rig.engine.handle_close(
                    flow.selection.reservation,
                    CloseReason::ConnectFailed,
                    now,
                );
                continue;
            }
            return self.carry(flow, conduct, ms);
        }
    }

    fn carry(&mut self, flow: Flow, conduct: Conduct, ms: u64) {
        let reservation = &flow.selection.reservation;
        self.rig
            .engine
            .handle_client_data(reservation, self.rig.now);
        flow.selection.service_counters.add_in(100, 1);
        match conduct {
            Conduct::Answers(time) if time < LIMIT_MS => self.push(ms + time, Event::Answer(flow)),
            Conduct::Answers(_) | Conduct::Swallows => {
                self.push(ms + LIMIT_MS, Event::End(flow, CloseReason::ClientReset));
            }
            Conduct::Closes => self.push(ms + 1, Event::End(flow, CloseReason::ServiceClosed)),
            Conduct::Refuses => self.push(ms, Event::End(flow, CloseReason::ConnectFailed)),
        }
    }

    fn end(&mut self, flow: Flow, reason: CloseReason, answered: bool, ms: u64) {
        let Flow { selection, began } = flow;
        let number = selection.reservation.service().0;
        self.record.0.push((began, number, answered));
        self.rig
            .engine
            .handle_close(selection.reservation, reason, self.rig.now);
        if let Clients::Loop(_) = self.clients {
            self.push(ms, Event::Begin);
        }
    }
}

/// How long a client waits for an answer.
const LIMIT_MS: u64 = 1_000;
