//! ROUNDROBIN: in turn, weights interleaved.
//!
//! A round serves each service `weight` times: pass after pass over the bound services in order,
//! one flow each, without those whose quota is used up. Weights 2, 3, 4 give
//! `S1 S2 S3 | S1 S2 S3 | S2 S3 | S3`. A round ends when no candidate has quota left; the next one
//! begins with the first service.
//!
//! Invariant: one entry per bound service, in bind order.

use super::Candidate;

/// How often each bound service was served in this round.
#[derive(Debug, Default)]
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

    /// Begins a new round.
    pub(super) fn restart(&mut self) {
        self.served.fill(0);
    }

    /// Serves the first candidate from `from` on that has quota left.
    pub(super) fn select(&mut self, candidates: &[Candidate], from: usize) -> usize {
        let mut order = (from..candidates.len()).chain(0..from);
        let index = order
            .find(|&index| self.has_quota(&candidates[index]))
            .unwrap_or_else(|| {
                self.restart();
                0
            });
        self.served[candidates[index].position] += 1;
        index
    }

    /// A weight that was lowered within the round can leave more served than allowed.
    fn has_quota(&self, candidate: &Candidate) -> bool {
        u64::from(self.served[candidate.position]) < candidate.weight.value()
    }
}
