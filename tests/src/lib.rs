//! What the tests of the whole product and its demonstration share: running the real binaries, real
//! services to balance over, the product without its sockets, repeatable randomness, and the experiments
//! that draw what the balancer decides.

pub mod binaries;
pub mod daemon;
pub mod experiments;
pub mod failing;
pub mod namespace;
pub mod process;
pub mod random;
pub mod rig;
pub mod services;
pub mod sim;
