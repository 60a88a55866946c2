//! TCP-INLINE: services that their own connections show to be down.

mod bench;
mod failures;
mod limits;
mod random;
mod traps;
mod trials;
