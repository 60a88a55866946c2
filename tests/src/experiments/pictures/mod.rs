//! The pictures: SVG whose bytes follow from the numbers alone.

mod failing;
mod frame;
mod reliability;
mod slow_start;

use super::Results;
use crate::failing::Measured;

/// A picture and its file name.
pub struct Picture {
    /// The name of its file.
    pub file: String,
    /// What is in the file.
    pub svg: String,
}

/// Draws what was measured of a failing service.
pub fn of_failing(results: &[Measured], seed: u64) -> Picture {
    Picture {
        file: "failing.svg".to_owned(),
        svg: failing::draw(results, seed),
    }
}

/// Draws all pictures that are simulated.
pub fn draw(results: &Results) -> Vec<Picture> {
    let mut pictures = Vec::new();
    for (example, rows) in &results.slow_start {
        pictures.push(Picture {
            file: format!("{}.svg", example.name),
            svg: slow_start::draw(example, rows),
        });
    }
    let (seed, numbers) = (results.seed, &results.reliability);
    for (name, svg) in [
        (
            "slow-start-methods",
            slow_start::methods(&results.newcomers),
        ),
        ("actions", reliability::actions(numbers, seed)),
        ("closed-loop", reliability::closed_loop(numbers, seed)),
        ("open-loop", reliability::open_loop(numbers, seed)),
    ] {
        pictures.push(Picture {
            file: format!("{name}.svg"),
            svg,
        });
    }
    pictures
}
