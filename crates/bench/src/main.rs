//! Measures the relay beside other balancers, in one run and on one machine.
//!
//! `load` and `serve` are the traffic generator: clients and services. `run` builds a laboratory of
//! three network namespaces (client, balancer, services), takes the peers in turn and prints medians,
//! ratios to the best of them, and what is promised.

mod args;
mod fault;
mod lab;
mod load;
mod meter;
mod peer;
mod plot;
mod report;
mod rows;
mod run;

use std::io;
use std::process::ExitCode;

use clap::Parser;

use crate::args::{Cli, Command, LoadArgs, LoadKind, RunArgs};
use crate::fault::Fault;
use crate::load::{bulk, connections, idle, ping_pong, server, udp};

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Run(args) => measure(&args),
        Command::Load(args) => generate(&args),
        Command::Serve(args) => {
            let plan = server::Plan {
                addresses: args.addresses,
                threads: args.threads,
            };
            server::run(&plan).map_err(Fault::from)
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("error: {fault}");
            ExitCode::FAILURE
        }
    }
}

fn measure(args: &RunArgs) -> Result<(), Fault> {
    args.check()?;
    let results = run::run(args)?;
    print!("{}", results.markdown());
    if let Some(path) = &args.json {
        std::fs::write(path, format!("{:#}\n", results.json()))?;
    }
    if let Some(path) = &args.plot {
        plot::draw(path, &results.standings())?;
    }
    println!("\n{}", results.sentence());
    Ok(())
}

fn generate(args: &LoadArgs) -> Result<(), Fault> {
    let LoadArgs {
        address,
        count,
        seconds,
        ..
    } = *args;
    let sample = match args.kind {
        LoadKind::Connections => connections::run(address, count, seconds)?,
        LoadKind::Bulk => bulk::run(address, count, args.direction, seconds)?,
        LoadKind::PingPong => {
            let plan = ping_pong::Plan {
                connections: count,
                size: args.size,
                seconds,
                rate: args.rate,
            };
            ping_pong::run(address, &plan)?
        }
        LoadKind::Udp => {
            let pace = args
                .rate
                .map_or(udp::Pace::Window(args.window), udp::Pace::Rate);
            let plan = udp::Plan {
                flows: count,
                size: args.size.clamp(8, 2048),
                seconds,
                pace,
            };
            udp::run(address, &plan)?
        }
        LoadKind::Idle => {
            idle::run(address, count, io::stdout(), io::stdin())?;
            return Ok(());
        }
    };
    println!(
        "{}",
        serde_json::to_string(&sample).expect("numbers can be written")
    );
    Ok(())
}
