//! What may happen to an engine, in what proportion.

use proptest::prelude::*;
use proptest::sample::Index;
use sluice_balance::{CloseReason, HashAlgorithm, Leave, Method, RampUnit, TokenRange};

use crate::rig;

#[derive(Clone, Debug)]
pub(super) enum Op {
    AddService,
    RemoveService(Index),
    SetService(Index, bool, bool, Option<u32>),
    Disable(Index, Leave),
    AddVserver,
    RemoveVserver(Index),
    SetVserver(Index, bool, Method),
    Bind(Index, Index, u64),
    Unbind(Index, Index),
    SetWeight(Index, Index, u64),
    Select(Index, Vec<Index>),
    Close(Index, CloseReason),
    Unused(Index),
    Ask(Index),
    Answer(Index),
    Report(Index, Option<u64>),
    SetHash(Index, HashAlgorithm, bool),
    Traffic(Index, u64, u64),
    Clock(i64),
    SetSlowStart(Index, u32, RampUnit, u64),
    Booted,
}

fn method() -> impl Strategy<Value = Method> {
    prop::sample::select(vec![
        Method::RoundRobin,
        Method::LeastConnection,
        Method::LeastBandwidth,
        Method::LeastPackets,
        Method::LeastRequest,
        Method::LeastResponseTime,
        Method::LeastMonitorTime,
        Method::CustomLoad,
        Method::Random,
        Method::SourceIpHash,
        Method::DestinationIpHash,
        Method::SrcIpDestIpHash,
        Method::SrcIpSrcPortHash,
        Method::Token(TokenRange::FIRST_BYTE),
    ])
}

fn unit() -> impl Strategy<Value = RampUnit> {
    prop::sample::select(vec![RampUnit::PerSecond, RampUnit::Percent])
}

fn algorithm() -> impl Strategy<Value = HashAlgorithm> {
    prop::sample::select(rig::hash_algorithms().to_vec())
}

fn reason() -> impl Strategy<Value = CloseReason> {
    prop::sample::select(vec![
        CloseReason::Finished,
        CloseReason::ConnectFailed,
        CloseReason::ClientReset,
        CloseReason::ServiceReset,
        CloseReason::ServiceClosed,
        CloseReason::IdleLimit,
        CloseReason::Flushed,
        CloseReason::Local,
    ])
}

pub(super) fn op() -> impl Strategy<Value = Op> {
    let one = any::<Index>;
    let few = prop::collection::vec(one(), 0..3);
    let limit = prop::option::of(0..4_u32);
    // Callers' clocks disagree: steps backwards are part of the life of an engine.
    let clock = prop_oneof![-400..400_i64, 0..9_000_i64];
    prop_oneof![
        2 => Just(Op::AddService),
        1 => one().prop_map(Op::RemoveService),
        3 => (one(), any::<bool>(), any::<bool>(), limit)
            .prop_map(|(s, enabled, flush, limit)| Op::SetService(s, enabled, flush, limit)),
        3 => (one(), rig::leave()).prop_map(|(s, leave)| Op::Disable(s, leave)),
        1 => Just(Op::AddVserver),
        1 => one().prop_map(Op::RemoveVserver),
        2 => (one(), prop::bool::weighted(0.8), method())
            .prop_map(|(v, enabled, method)| Op::SetVserver(v, enabled, method)),
        4 => (one(), one(), 1..=100_u64).prop_map(|(v, s, weight)| Op::Bind(v, s, weight)),
        1 => (one(), one()).prop_map(|(v, s)| Op::Unbind(v, s)),
        1 => (one(), one(), 1..=100_u64).prop_map(|(v, s, weight)| Op::SetWeight(v, s, weight)),
        12 => (one(), few).prop_map(|(v, tried)| Op::Select(v, tried)),
        5 => (one(), reason()).prop_map(|(flow, reason)| Op::Close(flow, reason)),
        1 => one().prop_map(Op::Unused),
        5 => one().prop_map(Op::Ask),
        3 => one().prop_map(Op::Answer),
        3 => (one(), prop::option::weighted(0.8, 0..9_u64)).prop_map(|(s, n)| Op::Report(s, n)),
        1 => (one(), algorithm(), any::<bool>())
            .prop_map(|(v, algorithm, use_port)| Op::SetHash(v, algorithm, use_port)),
        5 => (one(), 0..5_000_u64, 0..5_000_u64).prop_map(|(s, down, up)| Op::Traffic(s, down, up)),
        4 => clock.prop_map(Op::Clock),
        2 => (one(), prop_oneof![Just(0_u32), 1..40_u32], unit(), 0..4_u64)
            .prop_map(|(v, rate, unit, seconds)| Op::SetSlowStart(v, rate, unit, seconds)),
        1 => prop::bool::weighted(0.1).prop_map(|booted| {
            if booted { Op::Booted } else { Op::Clock(700) }
        }),
    ]
}
