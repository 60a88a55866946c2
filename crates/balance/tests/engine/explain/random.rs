//! Random operations on two engines that differ in one thing: one of them is asked, before each flow,
//! who would get it.
//!
//! What is said has to be what then happens, and both engines have to stay the same to the last number.

use std::time::Duration;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use sluice_balance::{
    AddressMask, Backup, Change, Client, CloseReason, Counters, DecidedBy, Engine, Explanation,
    FlowKey, Grounds, Instant, Leave, Method, MethodChoice, Missing, Order, Outcome, Percent,
    Persistence, PersistenceKind, PersistenceTimeout, RampUnit, Refusal, Reservation, ServiceId,
    SkipPersistence, SlowStart, Spillover, SpilloverAction, SpilloverMethod, Token, TokenRange,
    VserverId, VserverSettings,
};

use crate::rig;

const VSERVERS: u32 = 3;
const SERVICES: u32 = 6;

#[derive(Clone, Debug)]
enum Op {
    /// Binds, or unbinds.
    Toggle(u32, u32, u64, u64),
    Service(u32, bool, Option<u32>, Option<u32>),
    Disable(u32, Leave),
    Vserver(u32, Box<VserverSettings>),
    /// A flow, and what is known of it beforehand: source, port, destination, by bits.
    Come(u32, FlowKey, u8),
    Close(Index, CloseReason),
    Unused(Index),
    Ask(Index),
    Traffic(Index, u64, u64),
    Milliseconds(u64),
}

fn flow() -> impl Strategy<Value = FlowKey> {
    let token = prop::option::of((0..3_u8).prop_map(|byte| Token::of(&[byte])));
    (0..6_u8, 1..3_u16, 1..3_u8, token).prop_map(|(src, port, dst, token)| FlowKey {
        src: ([10, 0, 0, src], port).into(),
        dst: ([10, 9, 9, dst], 80).into(),
        token,
    })
}

fn slow_start() -> impl Strategy<Value = SlowStart> {
    let unit = select(vec![RampUnit::PerSecond, RampUnit::Percent]);
    (0..40_u32, unit, 0..3_u64).prop_map(|(rate, unit, seconds)| SlowStart {
        rate: rate.saturating_sub(20),
        unit,
        interval: Duration::from_secs(seconds),
    })
}

fn persistence() -> impl Strategy<Value = Option<Persistence>> {
    let kind = select(vec![
        PersistenceKind::SourceIp,
        PersistenceKind::DestIp,
        PersistenceKind::SrcIpDestIp,
    ]);
    let skip = select(vec![
        SkipPersistence::None,
        SkipPersistence::Bypass,
        SkipPersistence::ReLb,
    ]);
    let own = (kind, skip, any::<bool>()).prop_map(|(kind, skip, trofs)| Persistence {
        trofs,
        kind,
        mask: AddressMask::ALL,
        timeout: PersistenceTimeout::new(2).unwrap(),
        skip,
        group: None,
    });
    prop::option::weighted(0.4, own)
}

fn spillover() -> impl Strategy<Value = Option<Spillover>> {
    let method = prop_oneof![
        (0..4_u32).prop_map(SpilloverMethod::Connections),
        Just(SpilloverMethod::DynamicConnections),
        (0..4_u32).prop_map(SpilloverMethod::Bandwidth),
        (0..=100_u64).prop_map(|part| SpilloverMethod::Health(Percent::new(part).unwrap())),
    ];
    let action = select(vec![SpilloverAction::Drop, SpilloverAction::Accept]);
    let own = (method, action, any::<bool>()).prop_map(|(method, action, keeps)| Spillover {
        method,
        persistence: keeps.then(|| PersistenceTimeout::new(2).unwrap()),
        action,
    });
    prop::option::weighted(0.4, own)
}

fn settings(number: u32) -> impl Strategy<Value = VserverSettings> {
    let method = select(vec![
        Method::RoundRobin,
        Method::LeastConnection,
        Method::LeastBandwidth,
        Method::LeastPackets,
        Method::LeastResponseTime,
        Method::Random,
        Method::SourceIpHash,
        Method::DestinationIpHash,
        Method::SrcIpDestIpHash,
        Method::SrcIpSrcPortHash,
        Method::Token(TokenRange::FIRST_BYTE),
    ]);
    let algorithm = select(rig::hash_algorithms().to_vec());
    let listen = any::<bool>().prop_map(|has| has.then(|| ([10, 9, 9, 1], 80).into()));
    // Any later virtual server, or none: no circle can come of it.
    let backup = number + 1..=VSERVERS + 2;
    let orders = (0..3_u32, any::<bool>());
    (
        prop::bool::weighted(0.9),
        (method, algorithm, listen),
        slow_start(),
        persistence(),
        (backup, spillover()),
        orders,
    )
        .prop_map(
            |(
                enabled,
                (method, algorithm, listen),
                slow_start,
                persistence,
                (backup, spillover),
                orders,
            )| {
                let mut settings = rig::vserver(method);
                settings.enabled = enabled;
                settings.listen = listen;
                settings.hash.algorithm = algorithm;
                settings.slow_start = slow_start;
                settings.persistence = persistence;
                settings.backup = Backup {
                    vserver: (backup <= VSERVERS).then_some(VserverId(backup)),
                    disable_primary_on_down: false,
                    spillover,
                };
                (settings.orders.threshold, settings.orders.descending) = orders;
                settings
            },
        )
}

fn op() -> impl Strategy<Value = Op> {
    let vserver = || 1..=VSERVERS;
    let service = || 1..=SERVICES;
    let order = prop_oneof![3 => Just(0_u64), 1 => 1..=2_u64];
    let limit = prop::option::weighted(0.3, 0..4_u32);
    let kbit = prop::option::weighted(0.2, 0..4_u32);
    let reason = select(vec![
        CloseReason::Finished,
        CloseReason::ConnectFailed,
        CloseReason::ServiceReset,
    ]);
    let change = vserver().prop_flat_map(|number| (Just(number), settings(number)));
    prop_oneof![
        6 => (vserver(), service(), 1..=4_u64, order).prop_map(|(v, s, w, o)| Op::Toggle(v, s, w, o)),
        3 => (service(), prop::bool::weighted(0.7), limit, kbit)
            .prop_map(|(s, enabled, limit, kbit)| Op::Service(s, enabled, limit, kbit)),
        2 => (service(), rig::leave()).prop_map(|(s, leave)| Op::Disable(s, leave)),
        3 => change.prop_map(|(v, settings)| Op::Vserver(v, Box::new(settings))),
        24 => (vserver(), flow(), 0..12_u8).prop_map(|(v, flow, known)| Op::Come(v, flow, known.min(7))),
        5 => (any::<Index>(), reason).prop_map(|(flow, reason)| Op::Close(flow, reason)),
        1 => any::<Index>().prop_map(Op::Unused),
        2 => any::<Index>().prop_map(Op::Ask),
        4 => (any::<Index>(), 0..400_u64, 0..3_u64).prop_map(|(flow, down, up)| Op::Traffic(flow, down, up)),
        5 => prop_oneof![1..300_u64, 1..300_u64, 1_000..150_000_u64].prop_map(Op::Milliseconds),
    ]
}

/// An engine with its open flows.
struct Side {
    engine: Engine,
    open: Vec<(Reservation, [std::sync::Arc<Counters>; 2])>,
}

/// What was chosen for a flow: the virtual server that serves it, the service, and why that.
type Choice = Result<(VserverId, ServiceId, Method, Option<Grounds>), Refusal>;

impl Side {
    fn new(now: Instant) -> Self {
        let mut engine = Engine::with_seed(7);
        for number in 1..=SERVICES {
            let mut service = rig::service();
            service
                .address
                .set_port(8000 + u16::try_from(number).unwrap());
            engine.apply(&Change::AddService(ServiceId(number), service), now);
        }
        for number in 1..=VSERVERS {
            let vserver = rig::vserver(Method::RoundRobin);
            engine.apply(&Change::AddVserver(VserverId(number), vserver), now);
        }
        Self {
            engine,
            open: Vec::new(),
        }
    }

    fn take(&mut self, index: Index) -> Option<Reservation> {
        let count = self.open.len();
        (count > 0).then(|| self.open.swap_remove(index.index(count)).0)
    }

    fn step(&mut self, op: &Op, now: Instant) -> Option<Choice> {
        match op {
            Op::Toggle(v, s, weight, order) => {
                let (vserver, service) = (VserverId(*v), ServiceId(*s));
                let status = self.engine.vserver_status(vserver, now).unwrap();
                let is_bound = status.bindings.iter().any(|bound| bound.service == service);
                let bind = sluice_balance::Bind {
                    order: Order::new(*order).ok(),
                    ..rig::bind(vserver, *s, *weight)
                };
                let change = if is_bound {
                    Change::Unbind(vserver, service)
                } else {
                    Change::Bind(bind)
                };
                self.engine.apply(&change, now);
            }
            Op::Service(s, enabled, max_client, max_bandwidth) => {
                let mut service = rig::service();
                service.address.set_port(8000 + u16::try_from(*s).unwrap());
                service.enabled = *enabled;
                service.max_client = *max_client;
                service.max_bandwidth = *max_bandwidth;
                self.engine
                    .apply(&Change::SetService(ServiceId(*s), service), now);
            }
            Op::Disable(s, leave) => {
                let change = Change::DisableService(ServiceId(*s), *leave);
                self.engine.apply(&change, now);
            }
            Op::Vserver(v, settings) => {
                let change = Change::SetVserver(VserverId(*v), (**settings).clone());
                self.engine.apply(&change, now);
            }
            Op::Come(v, flow, _) => {
                let chosen = self.engine.select(VserverId(*v), flow, &[], now);
                return Some(chosen.map(|chosen| {
                    let place = chosen.reservation;
                    let choice = (
                        place.vserver(),
                        place.service(),
                        chosen.method,
                        chosen.grounds,
                    );
                    self.open
                        .push((place, [chosen.service_counters, chosen.vserver_counters]));
                    choice
                }));
            }
            Op::Close(index, reason) => {
                if let Some(place) = self.take(*index) {
                    self.engine.handle_close(place, *reason, now);
                }
            }
            Op::Unused(index) => {
                if let Some(place) = self.take(*index) {
                    self.engine.handle_unused(place, now);
                }
            }
            Op::Ask(index) => {
                if !self.open.is_empty() {
                    let (place, _) = index.get(&self.open);
                    self.engine.handle_client_data(place, now);
                }
            }
            Op::Traffic(index, down, up) => {
                if !self.open.is_empty() {
                    for counters in &index.get(&self.open).1 {
                        counters.add_in(*down, 1);
                        counters.add_out(*up, *up);
                    }
                }
            }
            Op::Milliseconds(_) => {}
        }
        while self.engine.poll_output().is_some() {}
        None
    }
}

/// Returns what is told of a flow.
fn client(flow: &FlowKey, known: u8) -> Client {
    Client {
        src: (known & 1 != 0).then(|| flow.src.ip()),
        src_port: (known & 2 != 0).then(|| flow.src.port()),
        dst: (known & 4 != 0).then(|| flow.dst.ip()),
    }
}

/// Compares what was said of a flow with what became of it.
fn check(said: &Explanation, choice: &Choice, flow: &FlowKey, known: u8, dialled: VserverId) {
    for one in &said.asked {
        let chosen = one
            .candidates
            .iter()
            .filter(|candidate| candidate.is_chosen);
        assert!(
            chosen.clone().count() <= usize::from(one.verdict.serves()),
            "{said:?}"
        );
    }
    let without_token = Missing {
        token: false,
        ..said.assumed_without
    };
    if !without_token.is_nothing() || said.assumed_without.token && flow.token.is_some() {
        return;
    }
    assert_eq!(
        said.asked.iter().filter(|one| one.verdict.serves()).count(),
        usize::from(choice.is_ok())
    );
    let server = said.asked.iter().find(|one| one.verdict.serves());
    if let (Some(one), Ok((_, _, method, grounds))) = (server, choice) {
        assert_eq!(one.method, *method);
        // A token that makes no difference to who gets the flow is not asked for.
        if let Some(rule) = one.rule.filter(|_| flow.token.is_none()) {
            assert_eq!(self::grounds(rule), *grounds, "{said:?}");
        }
    }
    match (said.outcome, choice) {
        (
            Outcome::Service {
                vserver,
                service,
                diversion,
            },
            Ok(choice),
        ) => {
            assert_eq!((vserver, service), (choice.0, choice.1), "{said:?}");
            assert_eq!(diversion.is_some(), vserver != dialled);
            let row = server.and_then(|one| one.candidates.iter().find(|row| row.is_chosen));
            assert_eq!(row.map(|row| row.service), Some(service), "{said:?}");
        }
        (Outcome::Chance { vserver, .. }, Ok(choice)) => {
            assert_eq!(vserver, choice.0);
            let row =
                server.and_then(|one| one.candidates.iter().find(|row| row.service == choice.1));
            assert!(row.is_some_and(|row| row.exclusions.is_empty()), "{said:?}");
        }
        (
            Outcome::Unknown {
                vserver, missing, ..
            },
            Ok(choice),
        ) => {
            assert_eq!(vserver, choice.0);
            assert!(!missing.is_nothing() && known != 7, "{said:?}");
        }
        (Outcome::Refused(refusal), Err(refused)) => {
            assert_eq!(refusal, *refused);
        }
        (outcome, choice) => panic!("{outcome:?} was said, {choice:?} came: {said:?}"),
    }
}

/// Returns what a selection says of a flow that is decided so.
fn grounds(rule: DecidedBy) -> Option<Grounds> {
    let choice = match rule {
        DecidedBy::Persistence => return None,
        DecidedBy::Method { choice, .. } => choice,
    };
    Some(match choice {
        MethodChoice::Turn | MethodChoice::NewOutOfTurn => Grounds::Turn,
        MethodChoice::Least { .. } => Grounds::Least,
        MethodChoice::Chance => Grounds::Chance,
        MethodChoice::Hash => Grounds::Hash,
        MethodChoice::HashTable => Grounds::HashTable,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn what_is_explained_is_what_happens_and_asking_changes_nothing(
        ops in prop::collection::vec(op(), 1..300)
    ) {
        let mut now = Instant::default();
        let (mut asked, mut other) = (Side::new(now), Side::new(now));
        for op in &ops {
            if let Op::Milliseconds(ms) = op {
                now = now + Duration::from_millis(*ms);
            }
            if let Op::Come(v, flow, known) = op {
                // As the client is known, for what the virtual server listens at if it does not say.
                let before = asked.engine.snapshot(now);
                other.engine.snapshot(now);
                let told = client(flow, *known);
                let said = asked.engine.explain(VserverId(*v), &told, now).unwrap();
                prop_assert_eq!(&before, &asked.engine.snapshot(now));
                let flow = FlowKey {
                    dst: told.dst.map_or_else(|| ([10, 9, 9, 1], 80).into(), |_| flow.dst),
                    ..*flow
                };
                let come = Op::Come(*v, flow, *known);
                let choice = asked.step(&come, now).unwrap();
                check(&said, &choice, &flow, *known, VserverId(*v));
                prop_assert_eq!(&choice, &other.step(&come, now).unwrap());
            } else {
                asked.step(op, now);
                other.step(op, now);
            }
            prop_assert_eq!(asked.engine.snapshot(now), other.engine.snapshot(now));
        }
        prop_assert!(asked.engine.explain(VserverId(99), &Client::default(), now).is_none());
    }
}
