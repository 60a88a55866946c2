//! The hash methods and TOKEN without a table: every service is scored for the client, the best has it.
//!
//! The score of a service is a number `u` between 0 and 1 that looks thrown, but is always the same for
//! this client and this service. The service with the greatest `weight / -ln(u)` is chosen, that is with
//! the least `-ln(u) / weight`: with a chance of its weight over the sum of all weights. Without a
//! service, or with one more, the order of the others is what it was: nobody else's clients move.
//!
//! Source: Thaler and Ravishankar, "Using name-based mappings to increase hit rates" (1998), which
//! NetScaler's CARP is one of; the weights by Schindelhauer and Schomaker, "Weighted distributed hash
//! tables" (2005), logarithmic method.

use super::least::is_less;
use super::{Candidate, Reading};
use crate::hash::{Identity, Key, minus_ln};

/// Returns `-ln(u)` of a service for a client; where services of one address share their score, also
/// what decides between them.
pub(super) fn read(identity: Identity, key: Key, use_port: bool) -> Reading {
    Reading {
        behind: false,
        load: minus_ln(key.score(identity.deciding(use_port))),
        tie: if use_port {
            0
        } else {
            key.score(identity.full())
        },
    }
}

/// Returns the index of the best candidate; of equal ones, the one that was bound first.
pub(super) fn select(candidates: &[Candidate]) -> usize {
    let mut best = 0;
    for (index, candidate) in candidates.iter().enumerate().skip(1) {
        let former = &candidates[best];
        let is_equal = || !is_less(former, candidate) && candidate.tie < former.tie;
        if is_less(candidate, former) || is_equal() {
            best = index;
        }
    }
    best
}
