//! Monitors through the engine: what is probed when, what the results do to services, and what is shown.

mod bench;
mod bounds;
mod interplay;
mod random;
mod starts;
mod states;
mod values;
