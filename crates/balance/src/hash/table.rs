//! The table of a virtual server that hashes by one.
//!
//! Owns which structure it is and how far it is searched. It knows bound services only by position,
//! weight and identity, and nothing of their states: those that cannot take a client are passed by.
//! So a service that goes DOWN costs nothing here, and its clients alone find another one, and come
//! back later. Binding, unbinding, weights and identities make another table.

use super::points::fingers_that_fit;
use super::prime::Slots;
use super::ring::Ring;
use super::{HashAlgorithm, HashSettings, Key};

pub(crate) use super::points::Member;

/// Where each client's service is found.
#[derive(Debug)]
pub(crate) struct Table(Structure);

#[derive(Debug)]
enum Structure {
    Slots(Slots),
    Ring(Ring),
}

impl Table {
    /// Makes the table of services in bind order; none for an algorithm without a table.
    ///
    /// `members` is asked for them only if there is one.
    pub(crate) fn new(
        settings: &HashSettings,
        members: impl FnOnce() -> Vec<Member>,
    ) -> Option<Self> {
        let use_port = settings.use_port;
        let structure = match settings.algorithm {
            HashAlgorithm::Default => return None,
            HashAlgorithm::Prac(fingers) => {
                let members = members();
                let fingers = fingers_that_fit(&members, fingers);
                Structure::Slots(Slots::new(&members, fingers, use_port))
            }
            HashAlgorithm::Jarh(fingers) => {
                let members = members();
                let fingers = fingers_that_fit(&members, fingers);
                Structure::Ring(Ring::new(&members, fingers, use_port))
            }
        };
        Some(Self(structure))
    }

    /// Returns the position of the service for `key`: the first it prefers that `admits` lets pass.
    ///
    /// None if so few of the services can take a client that the search is given up; the caller
    /// then goes through all of them.
    pub(crate) fn find(&self, key: Key, admits: impl Fn(usize) -> bool) -> Option<usize> {
        let admits = |position: &usize| admits(*position);
        match &self.0 {
            Structure::Slots(slots) => slots.walk(key).take(TRIES).find(admits),
            Structure::Ring(ring) => ring.walk(key).take(TRIES).find(admits),
        }
    }
}

/// The most points that are tried for a client.
///
/// Source: own choice: with seven of eight services DOWN, one client in 5,000 is not found by then.
const TRIES: usize = 64;
