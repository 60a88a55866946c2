//! A tournament over the services of a virtual server: the best number of all, kept while they change.
//!
//! Owns one number per service, by position, and who wins each match of a binary tree over them: a
//! change plays the matches between its service and the final again, and nothing is gone through.
//!
//! ```text
//!            1              the final
//!        2       3          node n plays the winners of 2n and 2n + 1
//!      4   5   6   7        leaves: the services in bind order, made up to a power of two
//! ```
//!
//! Invariant: a node's winner has the least number below the node; of equal ones it is the leftmost.

use super::Weight;

/// A number that services are compared by: a load for its weight.
///
/// Compared like [`super::least`] does, by cross-multiplication. A weight of 0 is beyond all loads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value {
    load: u64,
    weight: u64,
}

impl Value {
    /// What loses to every load.
    pub(crate) const NEVER: Self = Self { load: 1, weight: 0 };

    /// Makes the number of a service.
    pub(crate) fn new(load: u64, weight: Weight) -> Self {
        let weight = weight.value();
        Self { load, weight }
    }

    /// Whether it is strictly better.
    pub(crate) fn is_less(self, other: Self) -> bool {
        let left = u128::from(self.load) * u128::from(other.weight);
        let right = u128::from(other.load) * u128::from(self.weight);
        left < right
    }

    /// Whether it loses to every load.
    pub(crate) fn is_never(self) -> bool {
        self.weight == 0
    }
}

/// The numbers of services, and who wins.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tournament {
    /// By position, made up to a power of two with [`Value::NEVER`].
    values: Vec<Value>,
    /// The winner of each inner node; those of leaves are themselves.
    winners: Vec<u32>,
}

impl Tournament {
    /// Takes new numbers for all services, of which there is at least one.
    pub(crate) fn fill(&mut self, values: impl Iterator<Item = Value>) {
        self.values.clear();
        self.values.extend(values);
        let leaves = self.values.len().next_power_of_two();
        self.values.resize(leaves, Value::NEVER);
        self.winners.clear();
        self.winners.resize(leaves, 0);
        for node in (1..leaves).rev() {
            self.winners[node] = self.play(node);
        }
    }

    /// Returns the number of a service.
    pub(crate) fn value(&self, position: usize) -> Value {
        self.values[position]
    }

    /// Takes another number for a service.
    pub(crate) fn set(&mut self, position: usize, value: Value) {
        self.values[position] = value;
        let mut node = (self.values.len() + position) / 2;
        while node > 0 {
            let winner = self.play(node);
            let former = std::mem::replace(&mut self.winners[node], winner);
            if winner == former && winner as usize != position {
                // Whoever wins here now won here before, with the same number.
                break;
            }
            node /= 2;
        }
    }

    /// Returns who has the least number: of equal ones the first from `from` on, cyclically.
    pub(crate) fn first(&self, from: usize) -> usize {
        let least = self.winner(1);
        let here = self.first_behind(from);
        if self.values[least].is_less(self.values[here]) {
            least
        } else {
            here
        }
    }

    /// Returns who has the least number of those from `from` on; of equal ones the first.
    fn first_behind(&self, from: usize) -> usize {
        let mut best = from;
        let mut node = self.values.len() + from;
        while node > 1 {
            if node.is_multiple_of(2) {
                best = self.better(best, self.winner(node + 1));
            }
            node /= 2;
        }
        best
    }

    fn play(&self, node: usize) -> u32 {
        let winner = self.better(self.winner(2 * node), self.winner(2 * node + 1));
        u32::try_from(winner).unwrap_or(u32::MAX)
    }

    fn winner(&self, node: usize) -> usize {
        let leaves = self.values.len();
        if node < leaves {
            self.winners[node] as usize
        } else {
            node - leaves
        }
    }

    fn better(&self, left: usize, right: usize) -> usize {
        if self.values[right].is_less(self.values[left]) {
            right
        } else {
            left
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Goes through all of them.
    fn first_by_scan(values: &[Value], from: usize) -> usize {
        let order = (from..values.len()).chain(0..from);
        let better = |best: usize, other: usize| {
            if values[other].is_less(values[best]) {
                other
            } else {
                best
            }
        };
        order.reduce(better).unwrap()
    }

    fn value() -> impl Strategy<Value = Value> {
        let load = prop_oneof![0..6_u64, Just(u64::MAX)];
        let weight = prop_oneof![Just(0_u64), 1..=3_u64, 99..=100_u64];
        (load, weight).prop_map(|(load, weight)| {
            Weight::new(weight).map_or(Value::NEVER, |weight| Value::new(load, weight))
        })
    }

    #[test]
    fn value_never_reached_loses_to_the_largest_load_and_to_none_of_its_like() {
        let largest = Value::new(u64::MAX, Weight::new(1).unwrap());
        assert!(largest.is_less(Value::NEVER));
        assert!(!Value::NEVER.is_less(largest));
        assert!(!Value::NEVER.is_less(Value::NEVER));
    }

    proptest! {
        #[test]
        fn first_is_that_of_a_scan_after_every_change(
            start in prop::collection::vec(value(), 1..40),
            changes in prop::collection::vec((any::<prop::sample::Index>(), value()), 0..40),
        ) {
            let mut values = start;
            let mut tournament = Tournament::default();
            tournament.fill(values.iter().copied());
            for (index, value) in changes {
                let position = index.index(values.len());
                values[position] = value;
                tournament.set(position, value);
                for from in 0..values.len() {
                    prop_assert_eq!(tournament.first(from), first_by_scan(&values, from));
                }
            }
        }
    }
}
