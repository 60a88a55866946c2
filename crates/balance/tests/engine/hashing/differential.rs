//! The hash methods against a reference in floating point, which sorts all services for each client.
//!
//! The reference makes its own bytes from addresses as text and scores with the logarithm of the
//! standard library; tables are in `tables`. Where its two best are closer than the core's logarithm is exact, both are right.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use proptest::prelude::*;
use sluice_balance::{
    AddressMask, Change, Fingers, FlowKey, HashAlgorithm, Method, Refusal, ServiceId,
    ServiceSettings, Token, TokenRange,
};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{Bench, tables};
use crate::rig::{V, bind, service};

#[derive(Clone, Debug)]
pub(super) struct Service {
    pub(super) address: SocketAddr,
    pub(super) hash_id: Option<u64>,
    pub(super) weight: u64,
    pub(super) enabled: bool,
    pub(super) is_full: bool,
}

impl Service {
    fn is_able(&self) -> bool {
        self.enabled && !self.is_full
    }
}

#[derive(Clone, Debug)]
enum Op {
    Pick {
        flow: FlowKey,
        token: Option<[u8; 5]>,
        tried: u32,
    },
    Set {
        service: u32,
        settings: Service,
    },
    Rebind {
        service: u32,
    },
}

fn ip() -> impl Strategy<Value = IpAddr> {
    prop_oneof![
        any::<[u8; 4]>().prop_map(IpAddr::from),
        any::<[u8; 16]>().prop_map(IpAddr::from),
        any::<[u8; 4]>().prop_map(|v4| Ipv4Addr::from(v4).to_ipv6_mapped().into()),
    ]
}

fn flow() -> impl Strategy<Value = FlowKey> {
    let address = || (ip(), any::<u16>()).prop_map(SocketAddr::from);
    (address(), address()).prop_map(|(src, dst)| FlowKey {
        src,
        dst,
        token: None,
    })
}

fn some_service() -> impl Strategy<Value = Service> {
    let weight = prop_oneof![Just(1_u64), 1..=4_u64, 1..=100_u64];
    let usable = (prop::bool::weighted(0.8), prop::bool::weighted(0.1));
    let hash_id = prop::option::weighted(0.2, 1..1_000_u64);
    ((ip(), any::<u16>()), hash_id, weight, usable).prop_map(
        |(address, hash_id, weight, (enabled, is_full))| Service {
            address: address.into(),
            hash_id,
            weight,
            enabled,
            is_full,
        },
    )
}

fn op() -> impl Strategy<Value = Op> {
    let tried = prop_oneof![3 => Just(0), 1 => any::<u32>()];
    let token = prop::option::weighted(0.9, any::<[u8; 5]>());
    prop_oneof![
        8 => (flow(), token, tried)
            .prop_map(|(flow, token, tried)| Op::Pick { flow, token, tried }),
        1 => (1..=8_u32, some_service())
            .prop_map(|(service, settings)| Op::Set { service, settings }),
        1 => (1..=8_u32).prop_map(|service| Op::Rebind { service }),
    ]
}

/// What a virtual server looks at, as plain numbers.
#[derive(Clone, Copy, Debug)]
struct Masks {
    v4: [u8; 4],
    v6: u8,
    use_port: bool,
}

fn masks() -> impl Strategy<Value = Masks> {
    let parts = (any::<[u8; 4]>(), 1..=128_u8, any::<bool>());
    parts.prop_map(|(v4, v6, use_port)| Masks { v4, v6, use_port })
}

fn method() -> impl Strategy<Value = Method> {
    prop::sample::select(vec![
        Method::SourceIpHash,
        Method::DestinationIpHash,
        Method::SrcIpDestIpHash,
        Method::SrcIpSrcPortHash,
        Method::Token(TokenRange::FIRST_BYTE),
    ])
}

fn algorithm() -> impl Strategy<Value = HashAlgorithm> {
    (0..3, 1..=9_u64).prop_map(|(kind, fingers)| {
        let fingers = Fingers::new(fingers).unwrap();
        match kind {
            0 => HashAlgorithm::Default,
            1 => HashAlgorithm::Prac(fingers),
            _ => HashAlgorithm::Jarh(fingers),
        }
    })
}

/// The bytes of an address, each ANDed with its part of a mask.
fn bytes(ip: IpAddr, masks: Option<Masks>) -> Vec<u8> {
    let ones = |bits: u8, index: usize| {
        let left = usize::from(bits).saturating_sub(8 * index).min(8);
        !(0xFF_u32 >> left) as u8
    };
    let text = ip.to_string();
    let v4 = text
        .strip_prefix("::ffff:")
        .unwrap_or(&text)
        .parse::<Ipv4Addr>();
    match (v4, ip) {
        (Ok(v4), _) => {
            let mask = masks.map_or([255; 4], |masks| masks.v4);
            v4.octets()
                .iter()
                .zip(mask)
                .map(|(byte, mask)| byte & mask)
                .collect()
        }
        (Err(_), IpAddr::V6(v6)) => {
            let len = masks.map_or(128, |masks| masks.v6);
            let octets = v6.octets();
            (0..16)
                .map(|index| octets[index] & ones(len, index))
                .collect()
        }
        (Err(_), IpAddr::V4(_)) => unreachable!("an IPv4 address is one as text"),
    }
}

fn key(method: Method, masks: Masks, flow: &FlowKey, token: Option<[u8; 5]>) -> u64 {
    let masked = |ip| bytes(ip, Some(masks));
    let whole = |ip| bytes(ip, None);
    let bytes = match method {
        Method::SourceIpHash => masked(flow.src.ip()),
        Method::DestinationIpHash => masked(flow.dst.ip()),
        Method::SrcIpDestIpHash => [whole(flow.src.ip()), whole(flow.dst.ip())].concat(),
        Method::Token(_) => token.unwrap().to_vec(),
        _ => [whole(flow.src.ip()), flow.src.port().to_be_bytes().to_vec()].concat(),
    };
    xxh3_64_with_seed(&bytes, u64::from_be_bytes(*b"sluice 1"))
}

/// What a service is hashed as: its `hashId`, its address and port, or its address alone.
pub(super) fn identity(service: &Service, use_port: bool) -> u64 {
    let identity = match service.hash_id {
        Some(id) => id.to_be_bytes().to_vec(),
        None if use_port => {
            let port = service.address.port().to_be_bytes().to_vec();
            [bytes(service.address.ip(), None), port].concat()
        }
        None => bytes(service.address.ip(), None),
    };
    xxh3_64_with_seed(&identity, u64::from_be_bytes(*b"sluice 2"))
}

fn score(key: u64, service: &Service, use_port: bool) -> f64 {
    let number = xxh3_64_with_seed(&key.to_be_bytes(), identity(service, use_port));
    let off = (number | 1).wrapping_neg() as f64 / 2_f64.powi(64);
    service.weight as f64 / -(-off).ln_1p()
}

/// Returns all services that may be right.
fn expected(
    services: &BTreeMap<u32, Service>,
    tried: &[ServiceId],
    score: impl Fn(&Service) -> f64,
) -> Result<Vec<u32>, Refusal> {
    if services.values().all(|service| !service.enabled) {
        return Err(Refusal::Down);
    }
    let able = services
        .iter()
        .filter(|(number, service)| service.is_able() && !tried.contains(&ServiceId(**number)));
    let scores: Vec<_> = able
        .map(|(number, service)| (*number, score(service)))
        .collect();
    let best = scores.iter().map(|(_, score)| *score).fold(0.0, f64::max);
    let is_best = |(_, score): &&(u32, f64)| *score >= best * (1.0 - 4e-8);
    let right: Vec<_> = scores
        .iter()
        .filter(is_best)
        .map(|(number, _)| *number)
        .collect();
    if right.is_empty() {
        Err(Refusal::Full)
    } else {
        Ok(right)
    }
}

/// The engine and what the reference knows.
struct World {
    bench: Bench,
    method: Method,
    algorithm: HashAlgorithm,
    masks: Masks,
    services: BTreeMap<u32, Service>,
}

impl World {
    fn new(method: Method, algorithm: HashAlgorithm, masks: Masks, services: Vec<Service>) -> Self {
        let mut bench = Bench::new(method, algorithm, &[1; 8]);
        bench.set_hash(|hash| {
            hash.mask = AddressMask::new(masks.v4.into(), masks.v6.into()).unwrap();
            hash.use_port = masks.use_port;
        });
        let mut world = Self {
            bench,
            method,
            algorithm,
            masks,
            services: BTreeMap::new(),
        };
        for (number, settings) in (1..).zip(services) {
            world.set(number, settings);
        }
        world
    }

    fn step(&mut self, op: Op) {
        match op {
            Op::Pick { flow, token, tried } => self.pick(flow, token, tried),
            Op::Set { service, settings } => self.set(service, settings),
            Op::Rebind { service } => {
                self.bench.apply(&Change::Unbind(V, ServiceId(service)));
                self.bench.bind(service, self.services[&service].weight);
            }
        }
    }

    fn set(&mut self, number: u32, wanted: Service) {
        let settings = ServiceSettings {
            address: wanted.address,
            hash_id: wanted.hash_id,
            enabled: wanted.enabled,
            max_client: wanted.is_full.then_some(0),
            ..service()
        };
        let id = ServiceId(number);
        self.bench.apply(&Change::SetService(id, settings));
        let weight = bind(V, number, wanted.weight);
        self.bench.apply(&Change::SetWeight(weight));
        self.services.insert(number, wanted);
    }

    fn pick(&mut self, flow: FlowKey, token: Option<[u8; 5]>, tried: u32) {
        if matches!(self.method, Method::Token(_)) && token.is_none() {
            return;
        }
        let is_listed = |number: &u32| tried & (1 << number) != 0;
        let tried: Vec<_> = (1..=8).filter(is_listed).map(ServiceId).collect();
        let asked = FlowKey {
            token: token.map(|bytes| Token::of(&bytes)),
            ..flow
        };
        let found = self.bench.try_pick(&asked, &tried);
        let key = key(self.method, self.masks, &flow, token);
        let is_able =
            |number: &u32| self.services[number].is_able() && !tried.contains(&ServiceId(*number));
        let use_port = self.masks.use_port;
        let mut order = tables::order(self.algorithm, &self.services, key, use_port).into_iter();
        if let Some(right) = order.find(is_able) {
            assert_eq!(found, Ok(right), "by the table");
            return;
        }
        let score = |service: &Service| score(key, service, use_port);
        match (found, expected(&self.services, &tried, score)) {
            (Ok(found), Ok(right)) => assert!(right.contains(&found), "{found}, not {right:?}"),
            (found, expected) => assert_eq!(found.err(), expected.err()),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn hash_is_as_the_reference(
        method in method(),
        algorithm in algorithm(),
        masks in masks(),
        services in prop::collection::vec(some_service(), 8),
        ops in prop::collection::vec(op(), 1..80),
    ) {
        let mut world = World::new(method, algorithm, masks, services);
        for op in ops {
            world.step(op);
        }
    }
}
