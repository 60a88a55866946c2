//! The daemon as a process: what scripts, service managers and operators rely on.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod boot;
mod clients;
mod control_socket;
mod descriptors;
mod driver;
mod lifetime;
mod running;
