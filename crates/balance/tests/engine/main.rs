//! Claims about the engine through its public interface, with an explicit clock and exact values.

#![expect(
    clippy::unwrap_used,
    reason = "the bench is test code, which the lint sees only in functions marked as tests"
)]

mod answers;
mod chains;
mod differential;
mod drain;
mod explain;
mod hashing;
mod health;
mod index;
mod inline;
mod lifecycle;
mod limits;
mod monitored;
mod persistence;
mod random;
mod random_method;
mod rig;
mod round_robin;
mod slow_start;
mod startup;
mod states;
mod tables;
mod window;
