//! RANDOM: each with the chance of its weight.

use super::Candidate;
use crate::dice::Dice;

/// Returns the index of a candidate, thrown by `dice`.
///
/// Source: own choice: NetScaler has no such method; others do.
pub(super) fn select(candidates: &[Candidate], dice: &mut Dice) -> usize {
    let weight_of = |candidate: &Candidate| candidate.weight.value();
    let mut left = dice.throw(candidates.iter().map(weight_of).sum());
    let is_hit = |candidate: &Candidate| {
        let hit = left < weight_of(candidate);
        left = left.saturating_sub(weight_of(candidate));
        hit
    };
    let index = candidates.iter().position(is_hit);
    index.expect("the number thrown is below the sum of the weights")
}
