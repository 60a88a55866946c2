//! The daemon: start-up, control socket, the one controller, the configuration file, shutdown.
//!
//! Owns the order in which things start and end; every decision about traffic is the balancing core's,
//! every byte the data plane's. The main thread runs tokio for what waits (clients of the control
//! socket, signals), the controller has a thread of its own, the workers are the data plane's.

mod args;
mod boot;
mod claim;
mod clients;
mod compare;
mod connections;
mod control_socket;
mod controller;
mod descriptors;
mod drains;
mod explain;
mod faults;
mod features;
mod lifetime;
mod log;
mod notify;
mod ns_conf;
mod provisional;
mod queue;
mod rows;
mod save;
mod saver;
mod sessions;

use std::process::ExitCode;

use clap::Parser;

pub use args::{Args, Driver};

/// Runs the daemon as the command line says, until a signal ends it.
///
/// The status is 0 after an orderly end, 1 when it cannot start, 2 for wrong usage.
pub fn run() -> ExitCode {
    let args = Args::parse();
    log::init();
    match lifetime::run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            log::line(&format!("sluiced: {error}"));
            ExitCode::FAILURE
        }
    }
}
