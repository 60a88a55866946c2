//! LEASTRESPONSETIME against a reference in floating point that goes through everything that happened.
//!
//! Where services are closer than the core's fixed point tells apart, each of them is right. Those without
//! a connection are all at zero: there the turn decides, and the reference knows whose it is.

use proptest::prelude::*;
use sluice_balance::{Change, CloseReason, Method};

use crate::rig::{Rig, V, bind};

const SERVICES: u32 = 4;

#[derive(Clone, Debug)]
enum Op {
    Pick,
    Ask { flow: usize },
    Answer { flow: usize },
    Close { flow: usize, reason: CloseReason },
    Step { ms: u64 },
    Weight { service: u32, weight: u64 },
}

fn op() -> impl Strategy<Value = Op> {
    let flow = || 0..10_usize;
    let reason = prop::sample::select(vec![
        CloseReason::Finished,
        CloseReason::ClientReset,
        CloseReason::ConnectFailed,
        CloseReason::ServiceClosed,
    ]);
    let step = prop_oneof![3 => 0..=40_u64, 3 => 200..=900_u64, 1 => 1_000..=20_000_u64];
    prop_oneof![
        8 => Just(Op::Pick),
        5 => flow().prop_map(|flow| Op::Ask { flow }),
        5 => flow().prop_map(|flow| Op::Answer { flow }),
        3 => (flow(), reason).prop_map(|(flow, reason)| Op::Close { flow, reason }),
        6 => step.prop_map(|ms| Op::Step { ms }),
        1 => (1..=SERVICES, 1..=10_u64)
            .prop_map(|(service, weight)| Op::Weight { service, weight }),
    ]
}

/// An open flow; `since` is its choice or its first client data.
struct Flow {
    service: u32,
    since: u64,
    is_asked: bool,
    is_answered: bool,
}

#[derive(Default)]
struct Reference {
    now: u64,
    last: u32,
    weights: Vec<u64>,
    flows: Vec<Flow>,
    /// Service, moment and milliseconds of each answer and failure.
    times: Vec<(u32, u64, f64)>,
    answers: Vec<(u64, f64)>,
    fast_failures: Vec<(u32, u64)>,
}

/// What a moment weighs: the line from 1 to 2 in 7 s, then twice that.
fn weight(ms: u64) -> f64 {
    let line = (65_536 + ms % 7_000 * 65_536 / 7_000) as f64 / 65_536.0;
    line * 2_f64.powf((ms / 7_000) as f64)
}

fn average(times: &[(u64, f64)]) -> Option<f64> {
    let weights: f64 = times.iter().map(|(ms, _)| weight(*ms)).sum();
    let sum: f64 = times.iter().map(|(ms, time)| weight(*ms) * time).sum();
    (!times.is_empty()).then(|| sum / weights)
}

impl Reference {
    fn connections(&self, service: u32) -> f64 {
        let active = self.flows.iter().filter(|flow| flow.service == service);
        let failures = self.fast_failures.iter().filter(|(s, _)| *s == service);
        let left: f64 = failures.map(|(_, ms)| weight(*ms)).sum();
        active.count() as f64 + (left / weight(self.now) + 0.5).floor()
    }

    /// Returns the response time to expect, and how far the core may be off.
    fn time(&self, service: u32) -> (f64, f64) {
        let usual = average(&self.answers).unwrap_or(0.0);
        let own = self.times.iter().filter(|(s, ..)| *s == service);
        let own: Vec<_> = own.map(|(_, ms, time)| (*ms, *time)).collect();
        let expected = average(&own).map_or(usual, |average| {
            let left = weight(own.last().unwrap().0) / weight(self.now);
            average * left + usual * (1.0 - left)
        });
        let waits = self
            .flows
            .iter()
            .filter(|flow| flow.service == service && flow.is_asked && !flow.is_answered);
        let waited = waits.map(|flow| self.now - flow.since).max().unwrap_or(0) as f64;
        let largest = average(&own).unwrap_or(0.0).max(usual);
        (expected.max(waited).max(1e-6), largest * 4e-5 + 1e-5)
    }

    /// Returns whoever may be right.
    fn expected(&self) -> Vec<u32> {
        let mut order: Vec<_> = (1..=SERVICES).collect();
        order.rotate_left(self.last as usize);
        if let Some(&free) = order.iter().find(|s| self.connections(**s) == 0.0) {
            return vec![free];
        }
        let range = |service: &u32| {
            let (time, off) = self.time(*service);
            let value = self.connections(*service) / self.weights[*service as usize - 1] as f64;
            (value * (time - off), value * (time + off))
        };
        let least = order.iter().map(|s| range(s).1).fold(f64::MAX, f64::min);
        order.retain(|service| range(service).0 <= least);
        order
    }

    fn pick(&mut self, chosen: u32) {
        let expected = self.expected();
        assert!(expected.contains(&chosen), "{chosen}, not {expected:?}");
        self.last = chosen;
        self.flows.push(Flow {
            service: chosen,
            since: self.now,
            is_asked: false,
            is_answered: false,
        });
    }

    fn ask(&mut self, flow: usize) {
        let flow = &mut self.flows[flow];
        if !flow.is_asked && !flow.is_answered {
            (flow.is_asked, flow.since) = (true, self.now);
        }
    }

    fn answer(&mut self, flow: usize) {
        let flow = &mut self.flows[flow];
        if !std::mem::replace(&mut flow.is_answered, true) {
            let time = (self.now - flow.since) as f64;
            self.times.push((flow.service, self.now, time));
            self.answers.push((self.now, time));
        }
    }

    fn close(&mut self, flow: usize, reason: CloseReason) {
        let flow = self.flows.remove(flow);
        let is_fast = matches!(
            reason,
            CloseReason::ConnectFailed | CloseReason::ServiceClosed
        );
        if flow.is_answered || !is_fast && !flow.is_asked {
            return;
        }
        let time = (self.now - flow.since).max(5_000) as f64;
        self.times.push((flow.service, self.now, time));
        if is_fast {
            self.fast_failures.push((flow.service, self.now));
        }
    }
}

fn run(ops: &[Op]) {
    let mut rig = Rig::new(Method::LeastResponseTime, &[1, 1, 2, 3]);
    let mut reference = Reference {
        weights: vec![1, 1, 2, 3],
        ..Reference::default()
    };
    for op in ops {
        let exists = |flow: usize| flow < reference.flows.len();
        match *op {
            Op::Pick => reference.pick(rig.pick()),
            Op::Ask { flow } if exists(flow) => {
                reference.ask(flow);
                rig.ask(flow);
            }
            Op::Answer { flow } if exists(flow) => {
                reference.answer(flow);
                rig.answer(flow);
            }
            Op::Close { flow, reason } if exists(flow) => {
                reference.close(flow, reason);
                rig.end(flow, reason);
            }
            Op::Ask { .. } | Op::Answer { .. } | Op::Close { .. } => {}
            Op::Step { ms } => {
                reference.now += ms;
                rig.jump_to(reference.now);
            }
            Op::Weight { service, weight } => {
                reference.weights[service as usize - 1] = weight;
                rig.apply(Change::SetWeight(bind(V, service, weight)));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn least_response_time_is_as_the_reference(ops in prop::collection::vec(op(), 1..200)) {
        run(&ops);
    }
}
