//! Monitors through the engine: what is probed when, what the results do to services, and what is shown.

pub(crate) mod bench;
mod bounds;
mod interplay;
mod random;
mod starts;
mod states;
mod values;
