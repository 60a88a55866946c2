//! Random flows: what holds of services that are out, whatever happens.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::Index;
use sluice_balance::{
    Change, CloseReason, Leave, Method, PassiveSettings, Reservation, ServiceId, State,
    StateReason, VserverId,
};

use super::bench::three;
use crate::rig::{Rig, V, bind, flow, service, vserver};

const OTHER: VserverId = VserverId(2);
const SERVICES: u32 = 5;

#[derive(Clone, Debug)]
enum Op {
    Open(VserverId),
    Ask(Index),
    More(Index),
    Answer(Index),
    /// A later exchange is cut off.
    CutOff(Index),
    End(Index, CloseReason),
    Unused(Index),
    Enable(u32, bool),
    Say(u32),
    SetPassive(bool, u8),
    Run(u64),
    Booted,
}

struct World {
    rig: Rig,
    flows: Vec<Reservation>,
    is_on: bool,
    disabled: BTreeSet<u32>,
}

impl World {
    fn new(method: Method) -> Self {
        let mut rig = Rig::new(method, &[1; SERVICES as usize]);
        rig.apply(Change::AddVserver(OTHER, vserver(Method::RoundRobin)));
        for number in 1..=2 {
            rig.apply(Change::Bind(bind(OTHER, number, 1)));
        }
        rig.apply(Change::SetPassive(three()));
        Self {
            rig,
            flows: Vec::new(),
            is_on: true,
            disabled: BTreeSet::new(),
        }
    }

    fn step(&mut self, op: Op) {
        let now = self.rig.now;
        match op {
            Op::Open(front) => self.open(front),
            Op::Ask(index) => {
                if let Some(open) = pick(&self.flows, &index) {
                    self.rig.engine.handle_client_data(open, now);
                }
            }
            Op::More(index) => {
                if let Some(open) = pick(&self.flows, &index) {
                    self.rig.engine.handle_more_client_data(open, now);
                }
            }
            Op::CutOff(index) => {
                if !self.flows.is_empty() {
                    let open = self.flows.swap_remove(index.index(self.flows.len()));
                    self.rig.engine.handle_unanswered(&open);
                    let reason = CloseReason::ServiceReset;
                    self.rig.engine.handle_close(open, reason, now);
                }
            }
            Op::Answer(index) => {
                if let Some(open) = pick(&self.flows, &index) {
                    self.rig.engine.handle_first_answer(open, now);
                }
            }
            Op::End(index, reason) => {
                if !self.flows.is_empty() {
                    let open = self.flows.swap_remove(index.index(self.flows.len()));
                    self.rig.engine.handle_close(open, reason, now);
                }
            }
            Op::Unused(index) => {
                if !self.flows.is_empty() {
                    let open = self.flows.swap_remove(index.index(self.flows.len()));
                    self.rig.engine.handle_unused(open, now);
                }
            }
            Op::Enable(number, true) => {
                self.disabled.remove(&number);
                self.rig
                    .apply(Change::SetService(ServiceId(number), service()));
            }
            Op::Enable(number, false) => {
                self.disabled.insert(number);
                let id = ServiceId(number);
                self.rig.apply(Change::DisableService(id, Leave::AT_ONCE));
            }
            Op::Say(number) => {
                self.rig.apply(Change::EnableService(ServiceId(number)));
            }
            Op::SetPassive(enabled, retries) => {
                self.is_on = enabled;
                self.rig.apply(Change::SetPassive(PassiveSettings {
                    enabled,
                    retries,
                    ..three()
                }));
            }
            Op::Run(ms) => {
                let end = now.as_nanos() / 1_000_000 + ms;
                self.rig.run_to(end);
            }
            Op::Booted => self.rig.engine.handle_booted(now),
        }
        self.rig.outputs();
    }

    fn open(&mut self, front: VserverId) {
        let now = self.rig.now;
        if let Ok(selection) = self.rig.engine.select(front, &flow(), &[], now) {
            let id = selection.reservation.service();
            let shown = self.rig.service(id.0);
            assert_eq!(shown.state, State::Up);
            self.flows.push(selection.reservation);
        }
    }

    /// Returns those that are out or on trial.
    fn suspects(&mut self) -> BTreeSet<u32> {
        let shown = self.rig.engine.snapshot(self.rig.now).services;
        let is_suspect = |row: &sluice_balance::ServiceStatus| {
            row.inline.out_until.is_some() || row.inline.is_on_trial
        };
        let suspects = shown.iter().filter(|row| is_suspect(row));
        suspects.map(|row| row.id.0).collect()
    }

    fn check(&mut self) {
        let suspects = self.suspects();
        let shown = self.rig.engine.snapshot(self.rig.now);
        assert!(self.is_on || suspects.is_empty());
        for row in &shown.services {
            let is_out = row.inline.out_until.is_some();
            let expected = match (self.disabled.contains(&row.id.0), is_out) {
                (true, _) => State::OutOfService,
                (false, true) => State::Down,
                (false, false) => State::Up,
            };
            assert_eq!(row.state, expected, "{:?}", row.id);
            assert!(!is_out || row.reason == StateReason::Traffic);
            assert!(row.inline.failed <= row.inline.seen && row.inline.seen <= 100);
            assert!(
                row.inline
                    .out_until
                    .is_none_or(|until| until > self.rig.now)
            );
        }
        for front in &shown.vservers {
            let bound = front.bindings.iter().map(|row| row.service.0);
            let bound: BTreeSet<_> = bound.collect();
            let enabled = bound.difference(&self.disabled).count();
            let away = bound.intersection(&suspects).count();
            // Half of them at most, and if anybody is enabled, somebody takes all there is.
            assert!(2 * away <= bound.len(), "{away} of {bound:?}");
            assert!(away < enabled || away == 0, "{away} of {enabled}");
            assert_eq!(front.state == State::Up, enabled > 0);
        }
    }
}

fn pick<'a>(flows: &'a [Reservation], index: &Index) -> Option<&'a Reservation> {
    let len = flows.len();
    (len > 0).then(|| &flows[index.index(len)])
}

fn op() -> impl Strategy<Value = Op> {
    let one = any::<Index>;
    let reason = prop::sample::select(vec![
        CloseReason::Finished,
        CloseReason::ConnectFailed,
        CloseReason::ConnectFailed,
        CloseReason::ClientReset,
        CloseReason::ServiceReset,
        CloseReason::ServiceClosed,
        CloseReason::IdleLimit,
        CloseReason::Flushed,
        CloseReason::Local,
    ]);
    let time = prop_oneof![0..100_u64, 0..6_000_u64, 0..40_000_u64];
    prop_oneof![
        12 => prop::sample::select(vec![V, V, OTHER]).prop_map(Op::Open),
        6 => one().prop_map(Op::Ask),
        2 => one().prop_map(Op::More),
        1 => one().prop_map(Op::CutOff),
        2 => one().prop_map(Op::Answer),
        12 => (one(), reason).prop_map(|(flow, reason)| Op::End(flow, reason)),
        1 => one().prop_map(Op::Unused),
        1 => (1..=SERVICES, prop::bool::weighted(0.6)).prop_map(|(s, on)| Op::Enable(s, on)),
        1 => (1..=SERVICES).prop_map(Op::Say),
        1 => (prop::bool::weighted(0.9), 1..4_u8).prop_map(|(on, most)| Op::SetPassive(on, most)),
        5 => time.prop_map(Op::Run),
        1 => Just(Op::Booted),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn services_go_out_only_where_others_are_left(
        ops in prop::collection::vec(op(), 1..250),
        in_turn in any::<bool>(),
    ) {
        let method = if in_turn { Method::RoundRobin } else { Method::LeastConnection };
        let mut world = World::new(method);
        for op in ops {
            world.step(op);
            world.check();
        }
    }
}
