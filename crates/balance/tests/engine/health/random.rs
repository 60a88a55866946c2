//! Random operations against a model that keeps every answer and counts them one by one.
//!
//! The model hears what the engine asks for, and checks that it may: one probe at a time for each
//! binding, none of what is not to be probed, starts in time. Then it says itself what each monitor has
//! found and what each service is, and who could be chosen.

mod model;
mod ops;

use proptest::prelude::*;
use sluice_balance::{MonitorId, Output, ProbeResult, ServiceId, State};

use super::bench::monitor;
use crate::rig::{Rig, V, at, flow, vserver};
use model::Model;
use ops::{Op, op};

/// An engine with one virtual server over three services, four monitors, and the model of all that.
struct World {
    rig: Rig,
    model: Model,
}

impl World {
    fn new() -> Self {
        let mut rig = Rig::new(sluice_balance::Method::LeastConnection, &[1, 2, 3]);
        let settings = vserver(sluice_balance::Method::LeastConnection);
        rig.apply(sluice_balance::Change::SetVserver(
            V,
            sluice_balance::VserverSettings {
                slow_start: sluice_balance::SlowStart {
                    rate: 3,
                    ..sluice_balance::SlowStart::default()
                },
                ..settings
            },
        ));
        for number in 1..=4 {
            let id = MonitorId(number);
            rig.apply(sluice_balance::Change::AddMonitor(id, monitor()));
        }
        rig.outputs();
        let model = Model::new();
        Self { rig, model }
    }

    fn step(&mut self, op: &Op) {
        match op {
            Op::Change(change) => {
                if self.model.allows(change) {
                    self.rig.apply(change.clone());
                    self.model.begin_change(change, self.rig.now);
                    self.hear();
                    self.model.end_change(change, self.rig.now);
                }
            }
            Op::Booted => {
                self.rig.engine.handle_booted(self.rig.now);
                self.model.is_booted = true;
            }
            Op::Ends(index, result) => {
                if let Some((probe, key)) = self.model.flight(index) {
                    self.rig.engine.handle_probe(probe, *result, self.rig.now);
                    self.model.end_probe(key, Some(*result), self.rig.now);
                    self.hear();
                }
            }
            Op::LateWord(probe) => {
                if !self.model.knows(*probe) {
                    let word = ProbeResult::Failed;
                    self.rig.engine.handle_probe(*probe, word, self.rig.now);
                    assert!(!self.rig.engine.has_output());
                }
            }
            Op::Run(ms) => self.run(*ms),
            Op::Select => self.select(),
        }
    }

    /// Moves the clock; the engine is called exactly when it wants to be.
    fn run(&mut self, ms: u64) {
        let end = at(self.rig.now.as_nanos() / 1_000_000 + ms);
        while let Some(due) = self.rig.engine.poll_timeout().filter(|due| *due <= end) {
            self.rig.now = self.rig.now.max(due);
            self.model.end_drains(self.rig.now);
            self.rig.engine.handle_timeout(self.rig.now);
            self.model.is_timeout = true;
            self.hear();
            self.model.is_timeout = false;
        }
        self.rig.now = self.rig.now.max(end);
    }

    fn hear(&mut self) {
        for output in self.rig.outputs() {
            match output {
                Output::StartProbe {
                    probe,
                    service,
                    monitor,
                    deadline,
                } => {
                    let key = (service, monitor);
                    self.model.start_probe(key, probe, deadline, self.rig.now);
                }
                Output::CancelProbe(probe) => self.model.cancel_probe(probe, self.rig.now),
                Output::ServiceState(..)
                | Output::VserverState(..)
                | Output::OpenListener { .. }
                | Output::CloseListener(_)
                | Output::CloseFlows(_)
                | Output::MoveFlows(_)
                | Output::PersistenceFull { .. } => {}
            }
        }
    }

    fn select(&mut self) {
        let is_up = |id: &ServiceId| self.model.state(*id) == State::Up;
        let able: Vec<_> = (1..=3).map(ServiceId).filter(is_up).collect();
        let chosen = self.rig.engine.select(V, &flow(), &[], self.rig.now);
        assert_eq!(chosen.is_ok(), !able.is_empty());
        if let Ok(selection) = chosen {
            assert!(able.contains(&selection.reservation.service()));
            let now = self.rig.now;
            self.rig.engine.handle_unused(selection.reservation, now);
        }
    }

    fn check(&mut self) {
        let shown = self.rig.engine.snapshot(self.rig.now);
        for row in &shown.services {
            let service = &self.model.services[&row.id];
            let seen = (row.state, row.since, row.reason);
            assert_eq!(
                seen,
                (service.state, service.since, service.reason),
                "{:?}",
                row.id
            );
            let mut monitors = self.model.rows(row.id);
            for row in &row.monitors {
                monitors
                    .remove(&row.monitor)
                    .unwrap()
                    .compare(row, self.rig.now);
            }
            assert!(monitors.is_empty());
        }
        let any_up = shown.services.iter().any(|row| row.state == State::Up);
        assert_eq!(shown.vservers[0].state == State::Up, any_up);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn probes_and_states_are_those_of_the_model(ops in prop::collection::vec(op(), 1..250)) {
        let mut world = World::new();
        for op in &ops {
            world.step(op);
            world.check();
        }
    }
}
