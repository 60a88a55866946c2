//! The one source of chance: numbers that look thrown but follow from a seed.
//!
//! Owns the seed and how many numbers were drawn. Number `n` is the hash of `n` with the seed, the same on
//! every machine, so that a trace with random choices replays exactly.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A sequence of numbers that is part of the engine's state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dice {
    seed: u64,
    thrown: u64,
}

impl Dice {
    /// Makes the sequence of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, thrown: 0 }
    }

    /// Throws a number below `sides`, which is not 0.
    ///
    /// The sides differ in their chances by less than one part in `2^64 / sides`.
    pub(crate) fn throw(&mut self, sides: u64) -> u64 {
        let number = xxh3_64_with_seed(&self.thrown.to_be_bytes(), self.seed);
        self.thrown += 1;
        let scaled = u128::from(number) * u128::from(sides);
        (scaled >> 64) as u64
    }
}
