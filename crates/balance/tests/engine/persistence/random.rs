//! Random operations against the naive reference: decisions, rows, counts and determinism.
//!
//! After each step the engine shows exactly the reference's entries: so each one's service is bound,
//! and an entry whose service can take the flow always decides.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use proptest::prelude::*;
use proptest::sample::Index;
use sluice_balance::{
    AddressMask, Change, ChosenBy, CloseReason, Engine, FlowKey, GroupId, Instant, Leave, Method,
    Output, Persistence, PersistenceCursor, PersistenceFilter, PersistenceKey, PersistenceKind,
    PersistenceTimeout, Reservation, ServiceId, ServiceSettings, SkipPersistence, VserverId,
    VserverSettings,
};

use super::model::{Expected, Front, Member, Model};
use crate::rig::{bind, service, vserver};

#[derive(Clone, Debug)]
enum Op {
    Come {
        vserver: Index,
        flow: FlowKey,
        tried: Vec<Index>,
        stays: bool,
    },
    Close(Index),
    SetService(Index, bool, Option<u32>),
    Disable(Index, Leave),
    SetPersistence(Index, Option<Persistence>),
    SetGroup(Persistence),
    Bind(Index, Index),
    Unbind(Index, Index),
    AddVserver,
    RemoveVserver(Index),
    Limit(u32),
    Clear(Option<Index>),
    ClearClient(Option<Index>, FlowKey),
    Clock(u64),
    Timeout,
}

fn flow() -> impl Strategy<Value = FlowKey> {
    // Two subnets of IPv4 clients, one of IPv6 ones, and mapped ones that are IPv4.
    let src = (0..4_u16, 0..6_u16).prop_map(|(family, host)| {
        let [_, host_low] = host.to_be_bytes();
        match family {
            0 => SocketAddr::from(([10, 0, 0, host_low], 1000 + host)),
            1 => SocketAddr::from(([10, 0, 1, host_low], 1000)),
            2 => SocketAddr::from(([0x2001, 0xdb8, 0, 0, 0, 0, host % 2, host], 1000)),
            _ => SocketAddr::from(([0, 0, 0, 0, 0, 0xffff, 0x0a00, host], 1000)),
        }
    });
    let dst = (1..3_u8).prop_map(|host| SocketAddr::from(([10, 9, 9, host], 80)));
    (src, dst).prop_map(|(src, dst)| FlowKey {
        src,
        dst,
        token: None,
    })
}

fn persistence() -> impl Strategy<Value = Persistence> {
    let kind = prop::sample::select(vec![
        PersistenceKind::SourceIp,
        PersistenceKind::SourceIp,
        PersistenceKind::DestIp,
        PersistenceKind::SrcIpDestIp,
    ]);
    let skip = prop::sample::select(vec![
        SkipPersistence::None,
        SkipPersistence::Bypass,
        SkipPersistence::ReLb,
    ]);
    let group = prop::option::of((1..3_u32).prop_map(GroupId));
    let mask = prop::sample::select(vec![([255; 4], 128), ([255, 255, 255, 0], 112)]);
    let rest = (2..4_u64, any::<bool>());
    (kind, mask, rest, skip, group).prop_map(|(kind, (v4, v6), (minutes, trofs), skip, group)| {
        Persistence {
            trofs,
            kind,
            mask: AddressMask::new(Ipv4Addr::from(v4), v6).unwrap(),
            timeout: PersistenceTimeout::new(minutes).unwrap(),
            skip,
            group,
        }
    })
}

fn op() -> impl Strategy<Value = Op> {
    let one = any::<Index>;
    let few = prop::collection::vec(one(), 0..2);
    let max_client = prop::option::of(0..3_u32);
    let clock = prop_oneof![0..100_u64, 0..30_000_u64, 100_000..200_000_u64];
    prop_oneof![
        24 => (one(), flow(), few, prop::bool::weighted(0.2)).prop_map(
            |(vserver, flow, tried, stays)| Op::Come { vserver, flow, tried, stays }
        ),
        4 => one().prop_map(Op::Close),
        4 => (one(), prop::bool::weighted(0.7), max_client)
            .prop_map(|(s, enabled, limit)| Op::SetService(s, enabled, limit)),
        2 => (one(), crate::rig::leave()).prop_map(|(s, leave)| Op::Disable(s, leave)),
        2 => (one(), prop::option::weighted(0.9, persistence()))
            .prop_map(|(v, persistence)| Op::SetPersistence(v, persistence)),
        1 => persistence().prop_map(Op::SetGroup),
        5 => (one(), one()).prop_map(|(v, s)| Op::Bind(v, s)),
        2 => (one(), one()).prop_map(|(v, s)| Op::Unbind(v, s)),
        1 => Just(Op::AddVserver),
        1 => one().prop_map(Op::RemoveVserver),
        1 => (0..20_u32).prop_map(Op::Limit),
        1 => prop::option::of(one()).prop_map(Op::Clear),
        1 => (prop::option::of(one()), flow()).prop_map(|(v, flow)| Op::ClearClient(v, flow)),
        8 => clock.prop_map(Op::Clock),
        4 => Just(Op::Timeout),
    ]
}

/// An engine beside the reference.
struct World {
    engine: Engine,
    model: Model,
    now: Instant,
    made: u32,
    open: Vec<Reservation>,
    trace: Vec<String>,
}

impl World {
    /// Makes three servers with two services each, and two virtual servers.
    fn new(seed: u64) -> Self {
        let mut world = Self {
            engine: Engine::with_seed(seed),
            model: Model {
                limit: 150_000,
                ..Model::default()
            },
            now: Instant::default(),
            made: 0,
            open: Vec::new(),
            trace: Vec::new(),
        };
        world.engine.check_index();
        for number in 1..=6_u8 {
            let id = ServiceId(number.into());
            let port = 80 + u16::from(number > 3);
            let member = Member {
                address: SocketAddr::from(([10, 0, 0, number % 3], port)),
                enabled: true,
                leaving: None,
                limit: None,
                active: 0,
            };
            world.apply(Change::AddService(id, settings_of(&member)));
            world.model.services.insert(id, member);
        }
        world.add_vserver();
        world.add_vserver();
        world
    }

    /// Takes a step; one that makes no sense now does nothing.
    fn step(&mut self, op: &Op) -> Option<()> {
        match op {
            Op::Come {
                vserver,
                flow,
                tried,
                stays,
            } => {
                let tried: Vec<_> = tried.iter().map(|s| self.service(s)).collect();
                self.come(self.vserver(vserver)?, flow, &tried, *stays);
            }
            Op::Close(index) => {
                let len = self.open.len();
                let place = (len > 0).then(|| self.open.swap_remove(index.index(len)))?;
                self.close(place);
            }
            Op::SetService(s, enabled, limit) => {
                let id = self.service(s);
                let member = self.model.services.get_mut(&id).unwrap();
                (member.enabled, member.limit) = (*enabled, *limit);
                member.leaving = member.leaving.filter(|_| !enabled);
                let settings = settings_of(member);
                self.apply(Change::SetService(id, settings));
            }
            Op::Disable(s, leave) => {
                self.model.pass(self.now);
                let id = self.service(s);
                self.model.disable(id, *leave, self.now);
                self.apply(Change::DisableService(id, *leave));
            }
            Op::SetPersistence(v, persistence) => self.set(self.vserver(v)?, *persistence),
            Op::SetGroup(persistence) => self.set_group(*persistence),
            Op::Bind(v, s) => self.bind(self.vserver(v)?, self.service(s)),
            Op::Unbind(v, s) => self.unbind(self.vserver(v)?, self.service(s)),
            Op::AddVserver => self.add_vserver(),
            Op::RemoveVserver(v) => {
                let id = self.vserver(v)?;
                self.model.fronts.remove(&id);
                self.model.forget_homeless();
                self.apply(Change::RemoveVserver(id));
            }
            Op::Limit(limit) => {
                self.model.limit = *limit as usize;
                self.apply(Change::SetPersistenceLimit(*limit));
            }
            Op::Clear(v) => self.clear(v.as_ref(), None),
            Op::ClearClient(v, flow) => self.clear(v.as_ref(), Some(flow)),
            Op::Clock(ms) => self.now = self.now + Duration::from_millis(*ms),
            Op::Timeout => self.engine.handle_timeout(self.now),
        }
        Some(())
    }

    fn come(&mut self, id: VserverId, flow: &FlowKey, tried: &[ServiceId], stays: bool) {
        self.model.pass(self.now);
        let expected = self.model.expect(id, flow, tried);
        let selection = match self.engine.select(id, flow, tried, self.now) {
            Ok(selection) => selection,
            Err(refusal) => {
                assert_eq!(Expected::Refused(refusal), expected);
                return self.trace.push(format!("{refusal:?}"));
            }
        };
        let service = selection.reservation.service();
        let keeps_service = match (selection.rule, &expected) {
            (ChosenBy::Persistence, Expected::Sticks(to)) if *to == service => true,
            (ChosenBy::Method, Expected::Method { among, keeps_entry })
                if among.contains(&service) =>
            {
                *keeps_entry
            }
            (rule, _) => panic!("{service:?} by {rule:?}, not {expected:?}"),
        };
        self.model.given(id, flow, service, keeps_service, self.now);
        self.trace.push(format!("{service:?} {:?}", selection.rule));
        self.model.services.get_mut(&service).unwrap().active += 1;
        if stays {
            self.open.push(selection.reservation);
        } else {
            self.close(selection.reservation);
        }
        self.drain();
    }

    fn close(&mut self, place: Reservation) {
        let service = place.service();
        self.model.close(service);
        self.engine
            .handle_close(place, CloseReason::Finished, self.now);
    }

    fn set(&mut self, id: VserverId, persistence: Option<Persistence>) {
        self.model.pass(self.now);
        self.model.set(id, persistence);
        self.apply(Change::SetVserver(id, with(persistence)));
    }

    /// Gives all members of a group the same settings, as the configuration does.
    fn set_group(&mut self, persistence: Persistence) {
        let fronts = self.model.fronts.iter();
        let of_group = fronts.filter(|(_, front)| {
            front
                .persistence
                .is_some_and(|p| p.group.is_some() && p.group == persistence.group)
        });
        let members: Vec<_> = of_group.map(|(id, _)| *id).collect();
        for id in members {
            self.set(id, Some(persistence));
        }
    }

    fn bind(&mut self, id: VserverId, service: ServiceId) {
        let bound = &mut self.model.fronts.get_mut(&id).unwrap().bound;
        if !bound.contains(&service) {
            bound.push(service);
            self.apply(Change::Bind(bind(id, service.0, 1)));
        }
    }

    fn unbind(&mut self, id: VserverId, service: ServiceId) {
        let bound = &mut self.model.fronts.get_mut(&id).unwrap().bound;
        if bound.contains(&service) {
            bound.retain(|other| *other != service);
            self.model.forget_homeless();
            self.apply(Change::Unbind(id, service));
        }
    }

    fn add_vserver(&mut self) {
        self.made += 1;
        let id = VserverId(self.made);
        let (persistence, bound) = (None, Vec::new());
        self.model.fronts.insert(id, Front { persistence, bound });
        self.apply(Change::AddVserver(id, vserver(Method::RoundRobin)));
    }

    fn clear(&mut self, vserver: Option<&Index>, client: Option<&FlowKey>) {
        self.model.pass(self.now);
        let id = vserver.and_then(|v| self.vserver(v));
        let home = id.map(|id| self.model.home(id));
        let key = client.map(|flow| PersistenceKey {
            src: Some(flow.src.ip()),
            dst: Some(flow.dst.ip()),
        });
        let count = self.engine.clear_persistence(id, key.as_ref(), self.now);
        let before = self.model.entries.len();
        let settings = &self.model.settings;
        self.model.entries.retain(|entry| {
            let is_home = home.is_none_or(|home| home == Some(entry.home));
            let is_client = client.is_none_or(|flow| {
                let settings = &settings[&entry.home];
                super::model::key(flow.src.ip(), flow.dst.ip(), settings) == entry.key
            });
            !(is_home && is_client)
        });
        assert_eq!(count, (before - self.model.entries.len()) as u64);
    }

    /// Compares all that is shown with the reference.
    fn check(&mut self) {
        self.model.pass(self.now);
        let fronts: Vec<_> = self.model.fronts.keys().copied().collect();
        for vserver in fronts.into_iter().map(Some).chain([None]) {
            let home = vserver.map(|id| self.model.home(id));
            let of_model = self
                .model
                .entries
                .iter()
                .filter(|entry| home.is_none_or(|home| home == Some(entry.home)));
            let mut expected: Vec<_> = of_model
                .map(|entry| {
                    let timeout = self.model.settings[&entry.home].timeout;
                    let end = entry.used + timeout.duration();
                    let left = end.duration_since(self.now);
                    (entry.key, entry.service, entry.vserver, left)
                })
                .collect();
            let filter = PersistenceFilter {
                vserver,
                ..PersistenceFilter::default()
            };
            let from = PersistenceCursor::default();
            let page = self.engine.persistence_rows(&filter, from, self.now);
            assert_eq!(page.next, None);
            let rows = page.rows.iter();
            let mut shown: Vec<_> = rows
                .map(|row| (row.key, row.service, row.vserver, row.remaining))
                .collect();
            expected.sort_unstable();
            shown.sort_unstable();
            assert_eq!(shown, expected, "{vserver:?}");
        }
        let totals = self.engine.persistence_totals(self.now);
        assert_eq!(totals.entries, self.model.entries.len() as u64);
        assert_eq!(totals.overflows, self.model.overflows);
        for row in self.engine.snapshot(self.now).vservers {
            let home = self.model.home(row.id);
            let own = self.model.entries.iter().filter(|e| Some(e.home) == home);
            let expected = home.map(|_| own.count() as u64);
            assert_eq!(row.persistence.map(|shown| shown.entries), expected);
        }
    }

    fn apply(&mut self, change: Change) {
        self.model.pass(self.now);
        self.engine.apply(&change, self.now);
        self.drain();
    }

    fn drain(&mut self) {
        while let Some(output) = self.engine.poll_output() {
            if matches!(output, Output::PersistenceFull { .. }) {
                self.trace.push(format!("{output:?}"));
            }
        }
    }

    fn service(&self, index: &Index) -> ServiceId {
        *self.model.services.keys().nth(index.index(6)).unwrap()
    }

    fn vserver(&self, index: &Index) -> Option<VserverId> {
        let ids = self.model.fronts.keys();
        let len = ids.len();
        (len > 0).then(|| *self.model.fronts.keys().nth(index.index(len)).unwrap())
    }
}

fn settings_of(member: &Member) -> ServiceSettings {
    ServiceSettings {
        address: member.address,
        enabled: member.enabled,
        max_client: member.limit,
        ..service()
    }
}

fn with(persistence: Option<Persistence>) -> VserverSettings {
    VserverSettings {
        persistence,
        ..vserver(Method::RoundRobin)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn engine_decides_and_shows_what_the_reference_does(
        ops in prop::collection::vec(op(), 1..3000),
    ) {
        let mut world = World::new(1);
        for op in &ops {
            world.step(op);
            world.check();
        }
    }

    #[test]
    fn neither_seed_nor_looking_changes_an_answer(ops in prop::collection::vec(op(), 1..300)) {
        let [first, second] = [(1, false), (0xC0FF_EE00_1234_5678, true)].map(|(seed, looks)| {
            let mut world = World::new(seed);
            for op in &ops {
                world.step(op);
                if looks {
                    world.engine.snapshot(world.now);
                }
            }
            let filter = PersistenceFilter::default();
            let from = PersistenceCursor::default();
            let rows = world.engine.persistence_rows(&filter, from, world.now).rows;
            (world.trace, rows)
        });
        prop_assert_eq!(first.0, second.0);
        let sorted = |mut rows: Vec<sluice_balance::PersistenceRow>| {
            rows.sort_by_key(|row| (row.key, row.vserver, row.service));
            rows
        };
        prop_assert_eq!(sorted(first.1), sorted(second.1));
    }

    #[test]
    fn same_inputs_give_the_same_rows_in_the_same_order_under_any_seed(
        ops in prop::collection::vec(op(), 1..300),
    ) {
        let [first, second] = [1, 2].map(|seed| {
            let mut world = World::new(seed);
            for op in &ops {
                world.step(op);
            }
            let filter = PersistenceFilter::default();
            let from = PersistenceCursor::default();
            let page = world.engine.persistence_rows(&filter, from, world.now);
            (world.trace, page, world.engine.poll_timeout())
        });
        prop_assert_eq!(first, second);
    }
}
