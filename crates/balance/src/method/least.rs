//! The smallest weighted load, and the tie rule of every method that compares a number.
//!
//! Tie rule: in bind order, cyclically, starting just after the service chosen last, the first that
//! has the minimum. Services without load are thus served in turn, whatever their weights.

use super::Candidate;

/// Returns the index of the candidate with the least load for its weight, looking from `from` on.
pub(super) fn select(candidates: &[Candidate], from: usize) -> usize {
    let (before, after) = candidates.split_at(from);
    let mut best = from;
    for (index, candidate) in (from..).zip(after).chain((0..).zip(before)) {
        if is_less(candidate, &candidates[best]) {
            best = index;
        }
    }
    best
}

/// Whether `a` is strictly better than `b`: not behind, or of less load for its weight.
///
/// The value of a service is `load * 10000 / weight`. `a.load * 10000 / a.weight < b.load * 10000 /
/// b.weight` is, with both sides multiplied by both weights (which are positive) and divided by
/// 10000, `a.load * b.weight < b.load * a.weight`: exact in integers, never a rounded quotient.
/// 64 bits times 7 bits fits 128 bits.
pub(crate) fn is_less(a: &Candidate, b: &Candidate) -> bool {
    if a.behind != b.behind {
        return b.behind;
    }
    let left = u128::from(a.load) * u128::from(b.weight.value());
    let right = u128::from(b.load) * u128::from(a.weight.value());
    left < right
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Weight;

    fn candidates(loads: &[(u64, u64)]) -> Vec<Candidate> {
        let candidate = |(position, &(load, weight))| Candidate {
            position,
            weight: Weight::new(weight).unwrap(),
            load,
            tie: 0,
            behind: false,
            is_new: false,
        };
        loads.iter().enumerate().map(candidate).collect()
    }

    #[test]
    fn first_minimum_from_the_start_wins_cyclically() {
        let all = candidates(&[(7, 1), (5, 1), (9, 1), (5, 1)]);
        let chosen: Vec<_> = (0..4).map(|from| select(&all, from)).collect();
        assert_eq!(chosen, [1, 1, 3, 3]);
    }

    #[test]
    fn closest_values_that_weights_allow_are_told_apart() {
        // 98 / 99 and 99 / 100 differ by 1 / 9900; no two different values lie closer together.
        let all = candidates(&[(99, 100), (98, 99)]);
        assert_eq!(select(&all, 0), 1);
        let equal = candidates(&[(99, 99), (100, 100)]);
        assert_eq!(select(&equal, 0), 0);
    }

    #[test]
    fn candidate_behind_is_worse_than_any_other_but_comparable_to_its_like() {
        let mut all = candidates(&[(0, 100), (u64::MAX, 1), (0, 100), (1, 1)]);
        for index in [0, 2, 3] {
            all[index].behind = true;
        }
        assert_eq!(select(&all, 2), 1);
        all[1].behind = true;
        assert_eq!(select(&all, 1), 2);
    }

    #[test]
    fn largest_loads_do_not_overflow() {
        let all = candidates(&[(u64::MAX, 99), (u64::MAX, 100), (u64::MAX - 1, 100)]);
        assert_eq!(select(&all, 0), 2);
    }
}
