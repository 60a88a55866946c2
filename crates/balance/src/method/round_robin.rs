//! ROUNDROBIN: in turn, weights interleaved.
//!
//! A round serves each service `weight` times: pass after pass over the bound services in order,
//! one flow each, without those whose quota is used up. Weights 2, 3, 4 give
//! `S1 S2 S3 | S1 S2 S3 | S2 S3 | S3`. A round ends when no candidate has quota left; the next one
//! begins with the first service.
//!
//! A new service is served out of turn as soon as its slow start allows it, unless it is ahead of
//! the others in the round: waiting for its turn, it would lose what it may take meanwhile. A round
//! does not wait for it, and what it could not take is not made up for when it is no longer new.
//!
//! Invariant: one entry per bound service, in bind order.

use super::Candidate;
use crate::Weight;

/// How often each bound service was served in this round.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    served: Vec<u8>,
}

impl Round {
    /// Adds a service, last in bind order; it takes part in the round under way.
    pub(super) fn bind(&mut self) {
        self.served.push(0);
    }

    /// Drops the service at `position`; the quotas of the others stay.
    pub(super) fn unbind(&mut self, position: usize) {
        self.served.remove(position);
    }

    /// Returns how often the service at `position` was served.
    pub(super) fn served(&self, position: usize) -> u64 {
        self.served[position].into()
    }

    /// Begins a new round.
    pub(super) fn restart(&mut self) {
        self.served.fill(0);
    }

    /// Serves the first new candidate that is not ahead of the others; none if there are no others.
    pub(super) fn select_new(&mut self, candidates: &[Candidate]) -> Option<usize> {
        let existing = candidates.iter().filter(|candidate| !candidate.is_new);
        let others = self.progress(existing.map(|other| (other.position, other.weight.value())));
        let is_next =
            |new: &Candidate| new.is_new && self.may_have(new) && !self.is_ahead(new, others);
        let index = candidates.iter().position(is_next)?;
        if others.weight == 0 {
            return None;
        }
        self.serve(candidates[index].position);
        Some(index)
    }

    /// Serves the first candidate from `from` on that has quota left.
    ///
    /// New ones take part only if there are no others.
    pub(super) fn select(&mut self, candidates: &[Candidate], from: usize) -> usize {
        let all_new = candidates.iter().all(|candidate| candidate.is_new);
        let takes_part = |index: &usize| all_new || !candidates[*index].is_new;
        let mut order = (from..candidates.len()).chain(0..from).filter(takes_part);
        let next = order.find(|&index| self.may_have(&candidates[index]));
        let index = next.unwrap_or_else(|| {
            self.restart();
            let first = (0..candidates.len()).find(takes_part);
            first.expect("there is a candidate, new or not")
        });
        self.serve(candidates[index].position);
        index
    }

    /// Lets the service at `position`, new until now, go on from where the `others` are.
    ///
    /// Units: positions and weights.
    pub(super) fn catch_up(
        &mut self,
        position: usize,
        weight: u64,
        others: impl Iterator<Item = (usize, u64)>,
    ) {
        let others = self.progress(others);
        let even = others.served * weight / others.weight.max(1);
        let even = u8::try_from(even.min(weight)).unwrap_or(u8::MAX);
        self.served[position] = self.served[position].max(even);
    }

    /// Counts that the service at `position` is served.
    pub(super) fn serve(&mut self, position: usize) {
        self.served[position] += 1;
    }

    /// Whether the service at `position` may be served once more.
    ///
    /// A weight that was lowered within the round can leave more served than allowed.
    pub(super) fn has_quota(&self, position: usize, weight: Weight) -> bool {
        u64::from(self.served[position]) < weight.value()
    }

    /// Sums up how far services are in the round.
    fn progress(&self, services: impl Iterator<Item = (usize, u64)>) -> Progress {
        let none = Progress {
            served: 0,
            weight: 0,
        };
        services.fold(none, |sum, (position, weight)| Progress {
            served: sum.served + u64::from(self.served[position]),
            weight: sum.weight + weight,
        })
    }

    fn may_have(&self, candidate: &Candidate) -> bool {
        self.has_quota(candidate.position, candidate.weight)
    }

    /// Whether more of the service's quota is served than of that of the others together.
    fn is_ahead(&self, candidate: &Candidate, others: Progress) -> bool {
        let served = u64::from(self.served[candidate.position]);
        served * others.weight > others.served * candidate.weight.value()
    }
}

/// How far several services are in a round.
#[derive(Clone, Copy)]
struct Progress {
    served: u64,
    weight: u64,
}
