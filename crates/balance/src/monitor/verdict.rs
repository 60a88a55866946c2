//! What the monitors of a service together say of it.
//!
//! ```text
//!   threshold 0    UP if each has found it well           DOWN if one has found it DOWN
//!   threshold t    UP if their weights add up to t        DOWN if they no longer could
//!   otherwise      UNKNOWN
//! ```
//!
//! One that hears that the service goes out of service has found it well, and takes it out: UP
//! becomes GOING OUT OF SERVICE, DOWN becomes DOWN WHEN GOING OUT OF SERVICE.

use super::machine::Finding;
use crate::{State, Weight};

/// Sums up what has been found, each with the weight of who found it; none without any.
pub(super) fn verdict(
    found: impl Iterator<Item = (Finding, Weight)>,
    threshold: u32,
) -> Option<State> {
    let mut sums = Sums::default();
    for (finding, weight) in found {
        sums.add(finding, weight.value());
    }
    sums.any.then(|| sums.state(threshold.into()))
}

#[derive(Default)]
struct Sums {
    any: bool,
    well: u64,
    unknown: u64,
    down: u64,
    goes_out: bool,
}

impl Sums {
    fn add(&mut self, finding: Finding, weight: u64) {
        self.any = true;
        match finding {
            Finding::Unknown => self.unknown += weight,
            Finding::Up => self.well += weight,
            Finding::Down => self.down += weight,
            Finding::GoingOut => {
                self.well += weight;
                self.goes_out = true;
            }
        }
    }

    fn state(&self, threshold: u64) -> State {
        let (is_up, is_down) = match threshold {
            0 => (self.unknown + self.down == 0, self.down > 0),
            _ => (self.well >= threshold, self.well + self.unknown < threshold),
        };
        match (is_up, is_down, self.goes_out) {
            (_, true, false) => State::Down,
            (_, true, true) => State::DownWhenGoingOutOfService,
            (true, false, false) => State::Up,
            (true, false, true) => State::GoingOutOfService,
            (false, false, _) => State::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdict_is_that_of_the_table() {
        let table = [
            // Findings with weights, threshold, state.
            ("", 0, None),
            ("", 9, None),
            ("u1", 0, Some(State::Up)),
            ("u1 u1", 0, Some(State::Up)),
            ("u1 ?1", 0, Some(State::Unknown)),
            ("u1 d1", 0, Some(State::Down)),
            ("?1 d1", 0, Some(State::Down)),
            ("u1 o1", 0, Some(State::GoingOutOfService)),
            ("?1 o1", 0, Some(State::Unknown)),
            ("d1 o1", 0, Some(State::DownWhenGoingOutOfService)),
            // The sum reaches the threshold, or could, or could not.
            ("u2 d3", 2, Some(State::Up)),
            ("u2 d3", 3, Some(State::Down)),
            ("u2 ?1", 3, Some(State::Unknown)),
            ("u2 ?1", 2, Some(State::Up)),
            ("u2 ?1", 4, Some(State::Down)),
            ("u1 o2 d9", 3, Some(State::GoingOutOfService)),
            ("u1 o2 d9", 4, Some(State::DownWhenGoingOutOfService)),
            ("o1 ?9", 4, Some(State::Unknown)),
        ];
        for (found, threshold, expected) in table {
            let found = found.split_whitespace().map(|one| {
                let (finding, weight) = one.split_at(1);
                let finding = match finding {
                    "?" => Finding::Unknown,
                    "u" => Finding::Up,
                    "d" => Finding::Down,
                    _ => Finding::GoingOut,
                };
                (finding, Weight::new(weight.parse().unwrap()).unwrap())
            });
            let found: Vec<_> = found.collect();
            let state = verdict(found.iter().copied(), threshold);
            assert_eq!(state, expected, "{found:?} of {threshold}");
        }
    }
}
