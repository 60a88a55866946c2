//! What may happen, in what proportion.

use std::time::Duration;

use proptest::prelude::*;
use proptest::sample::Index;
use sluice_balance::{
    Change, Leave, MonitorBind, MonitorId, MonitorSettings, ProbeId, ProbeResult, ServiceId, Weight,
};

use crate::rig::service;

#[derive(Clone, Debug)]
pub(super) enum Op {
    Change(Change),
    Booted,
    Ends(Index, ProbeResult),
    LateWord(ProbeId),
    Run(u64),
    Select,
}

fn settings() -> impl Strategy<Value = MonitorSettings> {
    let times = (2..6_u64, 1..4_u64, 1..20_u64);
    let counts = (1..5_u8, 0..4_u8, 1..4_u8);
    let flags = (prop::bool::weighted(0.9), prop::bool::weighted(0.1));
    let silence = prop::bool::weighted(0.1);
    (times, counts, flags, silence).prop_map(|(times, counts, flags, silence_passes)| {
        let ms = |tenths: u64| Duration::from_millis(100 * tenths);
        MonitorSettings {
            enabled: flags.0,
            interval: ms(times.0),
            // Shorter than the interval, as the command language has it.
            response_timeout: ms(times.1.min(times.0 - 1)),
            down_time: ms(times.2),
            retries: counts.0,
            failure_retries: counts.1,
            success_retries: counts.2,
            reverse: flags.1,
            learns_response_time: true,
            deviation: Duration::ZERO,
            silence_passes,
        }
    })
}

fn result() -> impl Strategy<Value = ProbeResult> {
    let passed = prop::option::of(0..9_u64).prop_map(|load| ProbeResult::Passed {
        took: Duration::from_millis(3),
        load,
    });
    prop_oneof![
        6 => passed,
        6 => Just(ProbeResult::Failed),
        1 => Just(ProbeResult::OutOfService),
    ]
}

fn service_id() -> impl Strategy<Value = ServiceId> {
    (1..4_u32).prop_map(ServiceId)
}

fn monitor_id() -> impl Strategy<Value = MonitorId> {
    (1..5_u32).prop_map(MonitorId)
}

fn bind() -> impl Strategy<Value = MonitorBind> {
    let flags = (prop::bool::weighted(0.9), prop::bool::weighted(0.2));
    (service_id(), monitor_id(), flags, 1..4_u64).prop_map(|(service, monitor, flags, weight)| {
        MonitorBind {
            service,
            monitor,
            enabled: flags.0,
            weight: Weight::new(weight).unwrap(),
            passive: flags.1,
        }
    })
}

fn set_service() -> impl Strategy<Value = Change> {
    let flags = (prop::bool::weighted(0.8), prop::bool::weighted(0.9));
    let threshold = prop_oneof![2 => Just(0), 1 => 1..7_u32];
    let port = prop_oneof![9 => Just(80), 1 => Just(81)];
    (service_id(), flags, threshold, port).prop_map(|(id, flags, threshold, port)| {
        let mut settings = service();
        settings.enabled = flags.0;
        settings.health_monitor = flags.1;
        settings.monitor_threshold = threshold;
        settings.address.set_port(port);
        Change::SetService(id, settings)
    })
}

fn change() -> impl Strategy<Value = Change> {
    let leave = (prop::option::of(0..3_000_u64), any::<bool>()).prop_map(|(ms, graceful)| Leave {
        delay: ms.map(Duration::from_millis),
        graceful,
    });
    prop_oneof![
        2 => (monitor_id(), settings()).prop_map(|(id, settings)| Change::SetMonitor(id, settings)),
        4 => bind().prop_map(Change::BindMonitor),
        1 => bind().prop_map(Change::SetMonitorBinding),
        1 => (service_id(), monitor_id()).prop_map(|(s, m)| Change::UnbindMonitor(s, m)),
        2 => set_service(),
        1 => (service_id(), leave).prop_map(|(id, leave)| Change::DisableService(id, leave)),
    ]
}

pub(super) fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        5 => change().prop_map(Op::Change),
        1 => prop::bool::weighted(0.3).prop_map(|now| if now { Op::Booted } else { Op::Select }),
        8 => (any::<Index>(), result()).prop_map(|(flight, result)| Op::Ends(flight, result)),
        1 => (0..99_u64).prop_map(|number| Op::LateWord(ProbeId(number))),
        5 => prop_oneof![0..40_u64, 0..900_u64, Just(0)].prop_map(Op::Run),
        2 => Just(Op::Select),
    ]
}
