//! PRAC and JARH against plain lists of points that are sorted anew for each client.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use sluice_balance::HashAlgorithm;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::differential::{Service, identity};

/// A point: its place, the service it belongs to, and the rank of that among those at one place.
struct Point {
    place: u64,
    rank: u64,
    service: u32,
}

/// Returns the services that a table tries for a client, one after the other, those more than once that
/// have several points; none without a table.
pub(super) fn order(
    algorithm: HashAlgorithm,
    services: &BTreeMap<u32, Service>,
    key: u64,
    use_port: bool,
) -> Vec<u32> {
    let mut order = match algorithm {
        HashAlgorithm::Default => Vec::new(),
        HashAlgorithm::Jarh(fingers) => {
            along_the_ring(points(services, fingers.value(), use_port), key)
        }
        HashAlgorithm::Prac(fingers) => {
            from_slot_to_slot(points(services, fingers.value(), use_port), key)
        }
    };
    order.truncate(64);
    order
}

fn points(services: &BTreeMap<u32, Service>, fingers: u64, use_port: bool) -> Vec<Point> {
    let mut points = Vec::new();
    for (&number, service) in services {
        let unnamed = Service {
            hash_id: None,
            ..service.clone()
        };
        for point in 0..fingers * service.weight {
            let place = hash(point, identity(service, use_port)) >> 32;
            points.push(Point {
                place,
                rank: hash(place, identity(&unnamed, true)),
                service: number,
            });
        }
    }
    points
}

/// The first point at or after the client's place, then the next ones, round the ring.
fn along_the_ring(mut points: Vec<Point>, key: u64) -> Vec<u32> {
    let place = key >> 32;
    points.sort_by_key(|point| (point.place < place, point.place, point.rank));
    points.iter().map(|point| point.service).collect()
}

/// The best points of the client's slot, then those of the slot that is its step away, and so on.
fn from_slot_to_slot(points: Vec<Point>, key: u64) -> Vec<u32> {
    const SLOTS: u64 = 65_537;
    let step = 1 + key / SLOTS % (SLOTS - 1);
    let mut order = Vec::new();
    let mut slot = key % SLOTS;
    for _ in 0..256 {
        let mut here: Vec<_> = points.iter().filter(|p| p.place % SLOTS == slot).collect();
        here.sort_by_key(|point| (Reverse(hash(key, point.place)), point.place, point.rank));
        order.extend(here.iter().map(|point| point.service));
        slot = (slot + step) % SLOTS;
    }
    order
}

fn hash(number: u64, seed: u64) -> u64 {
    xxh3_64_with_seed(&number.to_be_bytes(), seed)
}
