//! Claims about the methods that hash: who is a client, who a service, and who moves when.

mod algorithms;
mod differential;
mod identity;
mod keys;
mod tables;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use sluice_balance::{
    Change, Engine, Fingers, FlowKey, HashAlgorithm, HashSettings, Instant, Method, Refusal,
    ServiceId, ServiceSettings, Token, VserverSettings,
};

use crate::rig::{V, bind, service, vserver};

/// An engine whose flows end at once, so that only who asks and who can be chosen matters.
pub(super) struct Bench {
    pub(super) engine: Engine,
    settings: VserverSettings,
}

impl Bench {
    /// Makes `V` with services 1, 2, ... at 10.1.0.N, port 8000, with these weights.
    pub(super) fn new(method: Method, algorithm: HashAlgorithm, weights: &[u64]) -> Self {
        let hash = HashSettings {
            algorithm,
            ..HashSettings::default()
        };
        let settings = VserverSettings {
            hash,
            ..vserver(method)
        };
        let mut engine = Engine::new();
        engine.check_index();
        let mut bench = Self {
            engine,
            settings: settings.clone(),
        };
        bench.apply(&Change::AddVserver(V, settings));
        for (number, &weight) in (1..).zip(weights) {
            bench.apply(&Change::AddService(ServiceId(number), settings_of(number)));
            bench.bind(number, weight);
        }
        bench
    }

    pub(super) fn apply(&mut self, change: &Change) {
        self.engine.apply(change, Instant::default());
    }

    pub(super) fn bind(&mut self, number: u32, weight: u64) {
        self.apply(&Change::Bind(bind(V, number, weight)));
    }

    pub(super) fn set(&mut self, number: u32, change: impl FnOnce(&mut ServiceSettings)) {
        let mut settings = settings_of(number);
        change(&mut settings);
        self.apply(&Change::SetService(ServiceId(number), settings));
    }

    pub(super) fn enable(&mut self, number: u32, enabled: bool) {
        self.set(number, |settings| settings.enabled = enabled);
    }

    pub(super) fn set_hash(&mut self, change: impl FnOnce(&mut HashSettings)) {
        change(&mut self.settings.hash);
        self.apply(&Change::SetVserver(V, self.settings.clone()));
    }

    /// Returns the service of a flow.
    pub(super) fn pick(&mut self, flow: &FlowKey) -> u32 {
        self.try_pick(flow, &[]).unwrap()
    }

    pub(super) fn try_pick(&mut self, flow: &FlowKey, tried: &[ServiceId]) -> Result<u32, Refusal> {
        let now = Instant::default();
        let selection = self.engine.select(V, flow, tried, now)?;
        let number = selection.reservation.service().0;
        self.engine.handle_unused(selection.reservation, now);
        Ok(number)
    }

    /// Returns the services of clients 0 to `count`.
    pub(super) fn map(&mut self, count: u32) -> Vec<u32> {
        (0..count)
            .map(|number| self.pick(&client(number)))
            .collect()
    }
}

/// The settings of service `number`.
pub(super) fn settings_of(number: u32) -> ServiceSettings {
    let [.., high, low] = number.to_be_bytes();
    ServiceSettings {
        address: SocketAddr::from((Ipv4Addr::new(10, 1, high, low), 8000)),
        ..service()
    }
}

/// A flow of a client with an address of its own.
pub(super) fn client(number: u32) -> FlowKey {
    let src = Ipv4Addr::from_bits(0xC000_0200 + number);
    flow(IpAddr::from(src), 40_000)
}

pub(super) fn flow(src: IpAddr, port: u16) -> FlowKey {
    FlowKey {
        src: SocketAddr::new(src, port),
        dst: SocketAddr::from((Ipv4Addr::new(192, 0, 2, 1), 80)),
        token: None,
    }
}

pub(super) fn with_token(flow: FlowKey, bytes: &[u8]) -> FlowKey {
    FlowKey {
        token: Some(Token::of(bytes)),
        ..flow
    }
}

/// All algorithms, with the default number of fingers.
pub(super) const ALGORITHMS: fn() -> [HashAlgorithm; 3] = || {
    [
        HashAlgorithm::Default,
        HashAlgorithm::Prac(Fingers::default()),
        HashAlgorithm::Jarh(Fingers::default()),
    ]
};

/// Counts how often each service was chosen.
pub(super) fn counts(chosen: &[u32]) -> BTreeMap<u32, u32> {
    let mut counts = BTreeMap::new();
    for &number in chosen {
        *counts.entry(number).or_default() += 1;
    }
    counts
}
