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

/// Returns `-ln(u)` of a service for a client, and what decides between services that have the same
/// because they are of one address, or of one `hashId`.
pub(crate) fn read(identity: Identity, key: Key, use_port: bool) -> Reading {
    let deciding = identity.deciding(use_port);
    let is_shared = deciding != identity.own();
    Reading {
        behind: false,
        load: minus_ln(key.score(deciding)),
        tie: if is_shared {
            key.score(identity.own())
        } else {
            0
        },
    }
}

/// Returns the index of the best candidate; of equal ones, the one that was bound first.
pub(super) fn select(candidates: &[Candidate]) -> usize {
    let mut best = 0;
    for (index, candidate) in candidates.iter().enumerate().skip(1) {
        if precedes(candidate, &candidates[best]) {
            best = index;
        }
    }
    best
}

/// Whether a candidate is better than one that was bound before it.
pub(crate) fn precedes(candidate: &Candidate, former: &Candidate) -> bool {
    let is_equal = || !is_less(former, candidate) && candidate.tie < former.tie;
    is_less(candidate, former) || is_equal()
}
