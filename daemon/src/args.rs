//! The daemon's command line and environment. Scripts rely on both; `--help` is their documentation.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// Sluice, a Layer-4 load balancer. Runs in the foreground and logs to standard error.
///
/// RUST_LOG sets what is logged, such as `debug` or `warn`; the default is `info`.
#[derive(Clone, Debug, Parser, PartialEq, Eq)]
#[command(name = "sluiced", version, arg_required_else_help = false)]
pub struct Args {
    /// The configuration: read at the start, written by `save ns config`; a missing file is an empty one
    #[arg(long, value_name = "FILE", env = "SLUICE_CONFIG", default_value_os_t = sluice_protocol::default_config())]
    pub config: PathBuf,

    /// The control socket, where `sluice` connects to
    #[arg(long, value_name = "PATH", env = "SLUICE_SOCKET", default_value_os_t = sluice_protocol::default_socket())]
    pub socket: PathBuf,

    /// How many threads move traffic; the default is one per core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub workers: Option<u16>,

    /// Which system interface moves traffic
    #[arg(long, value_enum, env = "SLUICE_DRIVER", default_value_t = Driver::Auto)]
    pub driver: Driver,

    /// How long connections may go on after SIGTERM, at most a day
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(0..=86_400))]
    pub drain: u64,

    /// End with status 1 when a line of the configuration fails, instead of serving the rest
    #[arg(long)]
    pub strict: bool,
}

impl Args {
    /// Returns how many workers to start.
    pub fn workers(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        self.workers.map_or_else(cores, usize::from)
    }
}

/// How the data plane talks to the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Driver {
    /// io_uring where the system has it, else epoll
    Auto,
    /// epoll(7)
    Epoll,
    /// io_uring(7), Linux 6.1 or newer; the daemon does not start without
    Uring,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use clap::error::ErrorKind;

    fn parse(words: &[&str]) -> Result<Args, clap::Error> {
        Args::try_parse_from(std::iter::once(&"sluiced").chain(words))
    }

    #[test]
    fn every_flag_reaches_its_field() {
        let words = "--config /c --socket /s --workers 3 --driver uring --drain 5 --strict";
        let args = parse(&words.split(' ').collect::<Vec<_>>()).unwrap();
        assert_eq!(
            args,
            Args {
                config: "/c".into(),
                socket: "/s".into(),
                workers: Some(3),
                driver: Driver::Uring,
                drain: 5,
                strict: true,
            }
        );
        assert_eq!(args.workers(), 3);
    }

    #[test]
    fn without_flags_the_documented_defaults_hold() {
        let args = parse(&["--config", "/c", "--socket", "/s"]).unwrap();
        assert_eq!((args.drain, args.strict), (30, false));
        // The environment of the tests may say which driver is tested.
        let command = Args::command();
        let driver = command.get_arguments().find(|arg| arg.get_id() == "driver");
        assert_eq!(driver.unwrap().get_default_values(), ["auto"]);
        assert!(args.workers() >= 1);
    }

    #[test]
    fn wrong_usage_is_status_2_and_asking_for_the_version_is_not() {
        for words in [
            &["--workers", "0"][..],
            &["--workers", "many"],
            &["--driver", "kqueue"],
            &["--drain", "-1"],
            &["--nosuch"],
            &["words"],
        ] {
            assert_eq!(parse(words).unwrap_err().exit_code(), 2, "{words:?}");
        }
        let version = parse(&["--version"]).unwrap_err();
        assert_eq!(version.kind(), ErrorKind::DisplayVersion);
        assert_eq!(version.exit_code(), 0);
        assert_eq!(
            version.to_string(),
            format!("sluiced {}\n", env!("CARGO_PKG_VERSION"))
        );
    }
}
