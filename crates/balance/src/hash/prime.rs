//! PRAC: points scattered over a prime number of slots, rendezvous among those that meet in one.
//!
//! A client's key names a slot and a step. The points in the slot compete for the client as services do in
//! a rendezvous; the one with the best score whose service can take the client decides. If there is
//! none, the client goes on by its step, which reaches every slot, since their number is prime.
//! Where points meet and where they do not, each has the same chance as any other.
//!
//! Source: own choice: NetScaler names "Prime Re-shuffled Assisted CARP" but does not tell how it works.

use super::Key;
use super::points::{Buckets, Member};

/// Slots with points.
#[derive(Debug)]
pub(super) struct Slots {
    slots: Buckets,
}

impl Slots {
    /// Makes the slots of these services.
    pub(super) fn new(members: &[Member], fingers: u64, use_port: bool) -> Self {
        let slot_of = |place| place as usize % SLOTS;
        Self {
            slots: Buckets::new(members, fingers, use_port, SLOTS, slot_of),
        }
    }

    /// Goes over the positions of services in the order in which `key` prefers them, as far as
    /// [`VISITS`] slots have them.
    pub(super) fn walk(&self, key: Key) -> impl Iterator<Item = usize> {
        let count = SLOTS as u64;
        let slot = key.0 % count;
        let step = 1 + key.0 / count % (count - 1);
        let visited = (0..VISITS).map(move |visit| (slot + visit * step) % count);
        visited.flat_map(move |slot| self.compete(slot as usize, key))
    }

    /// Goes over the positions in one slot, best score first.
    fn compete(&self, slot: usize, key: Key) -> impl Iterator<Item = usize> {
        let (_, points) = self.slots.bucket(slot);
        let ranks = move || {
            let scores = points
                .iter()
                .map(move |point| key.score(point.place.into()));
            // Where scores are equal the places are; their order decides.
            scores.zip((0..points.len()).rev())
        };
        let best = ranks().max();
        let next = move |last: &(u64, usize)| ranks().filter(|rank| rank < last).max();
        let order = std::iter::successors(best, next);
        order.map(|(_, from_end)| points[points.len() - 1 - from_end].position as usize)
    }
}

/// Source: own choice: a Fermat prime; a quarter MiB, and at most 64 points to a slot on average.
const SLOTS: usize = 65_537;

/// The most slots that are visited for a client; few services leave most of them empty.
const VISITS: u64 = 256;
