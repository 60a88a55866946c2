//! What a million persistence entries take, as the kernel counts it. Alone in its process, so that no
//! other test's memory is counted.

#![expect(
    clippy::unwrap_used,
    reason = "a test, which the lint sees only in functions marked as tests"
)]

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use sluice_balance::{
    AddressMask, Backup, Bind, Change, CloseReason, Engine, FlowKey, HashSettings, Instant, Method,
    Orders, Percent, Persistence, PersistenceKind, PersistenceTimeout, PersistenceTotals, Protocol,
    ServiceId, ServiceSettings, SkipPersistence, SlowStart, VserverId, VserverSettings, Weight,
};

#[test]
fn million_entries_fit_in_128_mib() {
    let mut engine = engine();
    let start = Instant::from_nanos(0);
    let before = resident_bytes();
    for number in 0..MILLION {
        let flow = FlowKey {
            src: SocketAddr::from((Ipv4Addr::from(number), 1000)),
            dst: SocketAddr::from((Ipv4Addr::LOCALHOST, 80)),
            token: None,
        };
        let selection = engine.select(VserverId(1), &flow, &[], start).unwrap();
        engine.handle_close(selection.reservation, CloseReason::Finished, start);
    }
    let taken = resident_bytes() - before;
    assert!(taken < 128 << 20, "{taken} bytes");
    let full = PersistenceTotals {
        entries: MILLION.into(),
        limit: MILLION.into(),
        overflows: 0,
    };
    assert_eq!(engine.persistence_totals(start), full);

    let end = start + Duration::from_secs(120);
    while engine.poll_timeout().is_some_and(|due| due <= end) {
        engine.handle_timeout(end);
    }
    assert_eq!(
        engine.persistence_totals(end),
        PersistenceTotals { entries: 0, ..full }
    );
}

fn engine() -> Engine {
    let mut engine = Engine::new();
    let start = Instant::from_nanos(0);
    let vserver = VserverSettings {
        protocol: Protocol::Tcp,
        listen: None,
        enabled: true,
        method: Method::RoundRobin,
        hash: HashSettings::default(),
        idle: None,
        flush_on_down: false,
        health_threshold: Percent::ZERO,
        backup: Backup::default(),
        orders: Orders::default(),
        slow_start: SlowStart::default(),
        persistence: Some(Persistence {
            kind: PersistenceKind::SourceIp,
            mask: AddressMask::ALL,
            timeout: PersistenceTimeout::DEFAULT,
            skip: SkipPersistence::None,
            trofs: true,
            group: None,
        }),
    };
    engine.apply(&Change::SetPersistenceLimit(MILLION), start);
    engine.apply(&Change::AddVserver(VserverId(1), vserver), start);
    for number in 1..=3 {
        let service = ServiceSettings {
            protocol: Protocol::Tcp,
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 80)),
            enabled: true,
            max_client: None,
            max_bandwidth: None,
            hash_id: None,
            health_monitor: true,
            monitor_threshold: 0,
            is_one_way: false,
            idle: None,
            flush_on_down: false,
        };
        let bind = Bind {
            vserver: VserverId(1),
            service: ServiceId(number),
            weight: Weight::DEFAULT,
            order: None,
        };
        engine.apply(&Change::AddService(ServiceId(number), service), start);
        engine.apply(&Change::Bind(bind), start);
    }
    engine
}

fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.unwrap().trim().strip_suffix(" kB").unwrap();
    kib.parse::<u64>().unwrap() * 1024
}

const MILLION: u32 = 1_000_000;
