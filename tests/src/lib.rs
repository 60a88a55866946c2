//! What the tests of the whole product and its demonstration share: running the real binaries, real
//! services to balance over, the product without its sockets, and repeatable randomness.

pub mod binaries;
pub mod daemon;
pub mod process;
pub mod random;
pub mod rig;
pub mod services;
pub mod sim;
