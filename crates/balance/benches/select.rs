//! What a choice costs: `select`, and the close of an older flow, per method and number of services.
//!
//! Each turn opens a flow, moves some of its bytes and ends the flow that has been open for longest, so
//! that as many flows stay open as there were: two for each service. The clock is a number that goes on
//! by 10 µs a turn; so the samples that the engine takes every 250 ms are in what is measured, at the
//! price of 100,000 flows a second.
//!
//! `alone` has the engine to itself. `shared` has it behind the lock that the data plane uses, taken once
//! for the choice and once for the close, by 1, 2 and 4 threads; the time is that of one turn of one thread,
//! waiting included.
//!
//! Run with `cargo bench -p sluice-balance --bench select`; a word behind `--` picks the rows with that word.

#![expect(
    clippy::unwrap_used,
    reason = "a benchmark, in which everything is set up to succeed"
)]

use std::collections::VecDeque;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use divan::Bencher;
use parking_lot::Mutex;
use sluice_balance::{
    Backup, Bind, Change, CloseReason, Engine, Fingers, FlowKey, HashAlgorithm, HashSettings,
    Instant, Method, Orders, Percent, Protocol, Reservation, ServiceId, ServiceSettings, SlowStart,
    Token, TokenRange, VserverId, VserverSettings, Weight,
};

fn main() {
    divan::main();
}

#[divan::bench(args = cases(&[3, 100, 1_000, 10_000]), min_time = 0.5)]
fn alone(bencher: Bencher<'_, '_>, case: &Case) {
    let mut bench = Bench::new(case);
    bencher.bench_local(|| {
        bench.open();
        bench.close();
    });
}

#[divan::bench(
    args = cases(&[100]),
    threads = [1, 2, 4],
    sample_count = 10,
    sample_size = 50_000
)]
fn shared(bencher: Bencher<'_, '_>, case: &Case) {
    let bench = Mutex::new(Bench::new(case));
    bencher.bench(|| {
        bench.lock().open();
        bench.lock().close();
    });
}

/// A row of the table.
#[derive(Clone, Debug)]
struct Case {
    name: &'static str,
    method: Method,
    algorithm: HashAlgorithm,
    services: u32,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.services)
    }
}

fn cases(counts: &[u32]) -> Vec<Case> {
    let fingers = Fingers::default();
    let scored = HashAlgorithm::Default;
    let methods = [
        ("ROUNDROBIN", Method::RoundRobin, scored),
        ("RANDOM", Method::Random, scored),
        ("LEASTCONNECTION", Method::LeastConnection, scored),
        ("LEASTREQUEST", Method::LeastRequest, scored),
        ("LEASTBANDWIDTH", Method::LeastBandwidth, scored),
        ("LEASTPACKETS", Method::LeastPackets, scored),
        ("LEASTRESPONSETIME", Method::LeastResponseTime, scored),
        ("LRTM", Method::LeastMonitorTime, scored),
        ("CUSTOMLOAD", Method::CustomLoad, scored),
        ("SOURCEIPHASH", Method::SourceIpHash, scored),
        ("DESTINATIONIPHASH", Method::DestinationIpHash, scored),
        ("SRCIPDESTIPHASH", Method::SrcIpDestIpHash, scored),
        ("SRCIPSRCPORTHASH", Method::SrcIpSrcPortHash, scored),
        ("TOKEN", Method::Token(TokenRange::FIRST_BYTE), scored),
        ("PRAC", Method::SourceIpHash, HashAlgorithm::Prac(fingers)),
        ("JARH", Method::SourceIpHash, HashAlgorithm::Jarh(fingers)),
    ];
    let rows = methods.iter().flat_map(|&(name, method, algorithm)| {
        counts.iter().map(move |&services| Case {
            name,
            method,
            algorithm,
            services,
        })
    });
    rows.collect()
}

/// An engine with one virtual server, its clock and its open flows.
struct Bench {
    engine: Engine,
    now: Instant,
    flows: VecDeque<Reservation>,
    turns: u32,
}

impl Bench {
    fn new(case: &Case) -> Self {
        let mut bench = Self {
            engine: Engine::new(),
            now: Instant::from_nanos(0),
            flows: VecDeque::new(),
            turns: 0,
        };
        bench.apply(&Change::AddVserver(V, vserver(case)));
        for number in 0..case.services {
            let service = ServiceId(number);
            bench.apply(&Change::AddService(service, settings(number)));
            bench.apply(&Change::Bind(Bind {
                vserver: V,
                service,
                weight: Weight::new(1 + u64::from(number % 3)).unwrap(),
                order: None,
            }));
        }
        for number in 0..case.services {
            bench.report(number);
        }
        for _ in 0..2 * case.services {
            bench.open();
            bench.answer();
        }
        bench
    }

    fn apply(&mut self, change: &Change) {
        self.engine.apply(change, self.now);
        while self.engine.poll_output().is_some() {}
    }

    /// Opens a flow of another client and moves some bytes.
    fn open(&mut self) {
        self.turns = self.turns.wrapping_add(1);
        self.now = self.now + TURN;
        // An odd factor: all clients differ, and follow in no order.
        let number = self.turns.wrapping_mul(2_654_435_761);
        let address = |port| SocketAddr::from((Ipv4Addr::from_bits(number), port));
        let flow = FlowKey {
            src: address(40_000),
            dst: address(80),
            token: Some(Token::of(&number.to_be_bytes())),
        };
        let selection = self.engine.select(V, &flow, &[], self.now).unwrap();
        let bytes = 1_000 + u64::from(number >> 21);
        selection.service_counters.add_in(100, 1);
        selection.service_counters.add_out(bytes, bytes / 1_000);
        self.flows.push_back(selection.reservation);
        // The data plane asks this with every call.
        divan::black_box((self.engine.poll_timeout(), self.engine.has_output()));
    }

    /// Hands in what monitors measure and report of a service.
    fn report(&mut self, number: u32) {
        let value = number.wrapping_mul(2_654_435_761) >> 22;
        let (service, time) = (ServiceId(number), Duration::from_micros(value.into()));
        self.engine
            .handle_monitor_response(service, Some(time), self.now);
        self.engine
            .handle_load(service, Some(value.into()), self.now);
    }

    /// Lets the service answer the flow that was opened last, after a time of its own.
    fn answer(&mut self) {
        let flow = self.flows.back().unwrap();
        self.engine.handle_client_data(flow, self.now);
        self.now = self.now + TURN * (1 + self.turns % 7);
        self.engine.handle_first_answer(flow, self.now);
    }

    /// Ends the flow that has been open for longest.
    fn close(&mut self) {
        let flow = self.flows.pop_front().unwrap();
        self.engine
            .handle_close(flow, CloseReason::Finished, self.now);
        divan::black_box((self.engine.poll_timeout(), self.engine.has_output()));
    }
}

fn settings(number: u32) -> ServiceSettings {
    ServiceSettings {
        protocol: Protocol::Tcp,
        address: SocketAddr::from((Ipv4Addr::from_bits(0x0A00_0000 + number), 80)),
        enabled: true,
        max_client: None,
        max_bandwidth: None,
        hash_id: None,
        health_monitor: true,
        monitor_threshold: 0,
        is_one_way: false,
        idle: None,
        flush_on_down: false,
    }
}

fn vserver(case: &Case) -> VserverSettings {
    VserverSettings {
        protocol: Protocol::Tcp,
        listen: None,
        enabled: true,
        method: case.method,
        hash: HashSettings {
            algorithm: case.algorithm,
            ..HashSettings::default()
        },
        idle: None,
        flush_on_down: false,
        backup: Backup::default(),
        health_threshold: Percent::ZERO,
        orders: Orders::default(),
        slow_start: SlowStart::default(),
        persistence: None,
    }
}

const V: VserverId = VserverId(1);

/// How far the clock goes with each flow.
const TURN: Duration = Duration::from_micros(10);
