//! The command line.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::load::bulk::Direction;

/// Measures the relay beside other balancers, in one run on one machine.
#[derive(Debug, Parser)]
#[command(name = "sluice-bench", version)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure all peers in turn in namespaces of their own; needs root.
    Run(RunArgs),
    /// Generate one kind of load and print what was seen as a line of JSON.
    Load(LoadArgs),
    /// Serve: TCP echo 7001, sink 7002, source 7003, UDP echo 7004.
    Serve(ServeArgs),
}

/// What to measure.
#[derive(Clone, Debug, Args)]
pub(crate) struct RunArgs {
    /// One round of 1 s instead of five of 2 s.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Rounds; each measures every peer once in every row.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=50))]
    pub(crate) rounds: Option<u32>,
    /// Seconds of each measurement.
    #[arg(long)]
    pub(crate) seconds: Option<f64>,
    /// Measure Envoy too.
    #[arg(long)]
    pub(crate) envoy: bool,
    /// The program of Envoy.
    #[arg(long, default_value = "envoy")]
    pub(crate) envoy_program: PathBuf,
    /// Only the rows whose names contain one of these words, separated by commas.
    #[arg(long, value_delimiter = ',')]
    pub(crate) rows: Vec<String>,
    /// Only these peers, separated by commas.
    #[arg(long, value_delimiter = ',')]
    pub(crate) peers: Vec<String>,
    /// The daemon to measure; beside this program unless said.
    #[arg(long)]
    pub(crate) sluiced: Option<PathBuf>,
    /// More arguments for the daemon, separated by blanks, such as "--driver epoll".
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    pub(crate) sluiced_args: String,
    /// Write all measurements and medians to this file.
    #[arg(long)]
    pub(crate) json: Option<PathBuf>,
    /// Draw the ratios to this file, as SVG.
    #[arg(long)]
    pub(crate) plot: Option<PathBuf>,
}

/// One kind of load.
#[derive(Clone, Debug, Args)]
pub(crate) struct LoadArgs {
    pub(crate) kind: LoadKind,
    /// Where to.
    pub(crate) address: SocketAddr,
    /// Connections, streams or flows.
    #[arg(long, default_value_t = 1)]
    pub(crate) count: usize,
    /// Bytes of a request or datagram.
    #[arg(long, default_value_t = 64)]
    pub(crate) size: usize,
    /// Seconds that count.
    #[arg(long, default_value_t = 2.0)]
    pub(crate) seconds: f64,
    /// Requests or datagrams per second; as fast as they are answered unless said.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) rate: Option<u64>,
    /// Datagrams of a flow under way.
    #[arg(long, default_value_t = 1)]
    pub(crate) window: usize,
    /// Which way a bulk stream goes.
    #[arg(long, value_enum, default_value_t = Direction::Up)]
    pub(crate) direction: Direction,
}

/// The kinds of load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LoadKind {
    /// Short connections.
    Connections,
    /// Requests over open connections.
    PingPong,
    /// Streams as fast as they go.
    Bulk,
    /// Connections that do nothing, until the standard input ends.
    Idle,
    /// Datagrams that are echoed.
    Udp,
}

/// Where to serve.
#[derive(Clone, Debug, Args)]
pub(crate) struct ServeArgs {
    /// The addresses, separated by commas.
    #[arg(value_delimiter = ',', required = true)]
    pub(crate) addresses: Vec<IpAddr>,
    /// Threads, each with sockets of its own.
    #[arg(long, default_value_t = 2)]
    pub(crate) threads: usize,
}
