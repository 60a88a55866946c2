//! What a failing service costs clients of the real daemon, over real sockets and in real time.
//!
//! Owns which cells there are, what is to come out of them, and how they are run one after the other. Five
//! services, the first of which fails; `c` clients in a closed loop, each call a connection of its own.
//! Who calls when and how long good calls take follows from the seed; what comes out depends on the
//! machine too, so a run is compared with theory and with bounds, never byte for byte.

pub mod clients;
pub mod report;
pub mod services;
pub mod target;

use std::time::Duration;

use serde_json::{Value, json};

use crate::daemon::{Daemon, free_address};
use clients::Tally;
use services::Services;

/// The seed of the committed results.
pub const SEED: u64 = 1;

/// The methods, as `-lbMethod` spells them.
pub const METHODS: [&str; 6] = [
    "ROUNDROBIN",
    "RANDOM",
    "LEASTCONNECTION",
    "LEASTBANDWIDTH",
    "LEASTPACKETS",
    "LEASTRESPONSETIME",
];

/// How many clients call.
pub const CLIENTS: [usize; 2] = [5, 20];

/// How many services there are.
pub const SERVICES: usize = 5;

/// How long a client waits for its answer.
pub const TIME_LIMIT: Duration = Duration::from_secs(1);

/// What the first service does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It accepts and says nothing; it closes when the client does.
    Hang,
    /// It accepts and closes.
    FastClose,
    /// Nobody listens.
    Refused,
}

impl Fault {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Hang, Self::FastClose, Self::Refused];

    /// Returns its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Hang => "hangs",
            Self::FastClose => "closes at once",
            Self::Refused => "refuses",
        }
    }
}

/// One experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// What the first service does.
    pub fault: Fault,
    /// How many clients call.
    pub clients: usize,
    /// The method.
    pub method: &'static str,
    /// Whether services are watched by their connections: TCP-INLINE.
    pub watched: bool,
}

/// What came out of one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Which.
    pub cell: Cell,
    /// What was counted.
    pub tally: Tally,
}

/// How long experiments take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// Where failures are rare and each takes a second.
    pub long: Duration,
    /// Where they are not.
    pub short: Duration,
}

impl Lengths {
    /// Those by which targets can be judged.
    pub const FULL: Self = Self {
        long: Duration::from_secs(60),
        short: Duration::from_secs(10),
    };

    /// Those that show that it works.
    pub const QUICK: Self = Self {
        long: Duration::from_secs(2),
        short: Duration::from_secs(2),
    };

    /// Returns how long an experiment takes.
    pub fn of(self, cell: &Cell) -> Duration {
        let is_rare = cell.watched || cell.method == "LEASTCONNECTION";
        if cell.fault == Fault::Hang && is_rare {
            self.long
        } else {
            self.short
        }
    }
}

/// Returns all experiments in the order of the table.
pub fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for fault in Fault::ALL {
        for clients in CLIENTS {
            for method in METHODS {
                for watched in [false, true] {
                    cells.push(Cell {
                        fault,
                        clients,
                        method,
                        watched,
                    });
                }
            }
        }
    }
    cells
}

/// Runs one experiment with a daemon and services of its own.
///
/// # Panics
/// When the daemon does not start, or loopback has no room.
pub fn run(cell: Cell, length: Duration, seed: u64) -> Measured {
    let services = Services::start(cell.fault, cell.clients, seed);
    let daemon = Daemon::start();
    let listen = free_address();
    // What is measured is what connections show alone, whatever probes would find.
    let is_probed = sluice_command::parse("set service s -healthMonitor NO").is_ok();
    let unprobed = if is_probed { " -healthMonitor NO" } else { "" };
    let watched = if cell.watched { "ENABLED" } else { "DISABLED" };
    let mut lines = format!("set lb parameter -tcpInline {watched}\n");
    lines += &format!(
        "add lb vserver v1 TCP {} {} -lbMethod {}\n",
        listen.ip(),
        listen.port(),
        cell.method
    );
    for (index, address) in services.addresses().iter().enumerate() {
        let (name, ip, port) = (index + 1, address.ip(), address.port());
        lines += &format!("add service s{name} {ip} TCP {port}{unprobed}\n");
        lines += &format!("bind lb vserver v1 s{name}\n");
    }
    let ran = daemon.batch(&lines);
    assert_eq!(ran.code, 0, "{ran:?}");
    let tally = clients::call(listen, cell.clients, length, seed);
    Measured { cell, tally }
}

/// Returns results as a document.
pub fn to_json(seed: u64, results: &[Measured]) -> Value {
    let rows: Vec<_> = results
        .iter()
        .map(|Measured { cell, tally }| {
            json!({
                "fault": cell.fault.word(),
                "clients": cell.clients,
                "method": cell.method,
                "tcpInline": cell.watched,
                "calls": tally.calls,
                "lost": tally.lost,
                "good_call_us": micros(tally.good_call()),
                "lost_call_us": micros(tally.lost_call()),
                "seconds": tally.length.as_secs(),
            })
        })
        .collect();
    json!({ "seed": seed, "cells": rows })
}

/// Returns the seed and the results of a document.
///
/// # Panics
/// When it is not one of [`to_json`].
pub fn from_json(document: &Value) -> (u64, Vec<Measured>) {
    let number = |row: &Value, key: &str| row[key].as_u64().expect("a number");
    let rows = document["cells"].as_array().expect("rows");
    let cell = |row: &Value| Cell {
        fault: *Fault::ALL
            .iter()
            .find(|fault| row["fault"] == fault.word())
            .expect("a fault"),
        clients: usize::try_from(number(row, "clients")).expect("few clients"),
        method: METHODS
            .into_iter()
            .find(|method| row["method"] == *method)
            .expect("a method"),
        watched: row["tcpInline"].as_bool().expect("yes or no"),
    };
    let results = rows.iter().map(|row| {
        let (calls, lost) = (number(row, "calls"), number(row, "lost"));
        let total = |key: &str, count: u64| {
            Duration::from_micros(number(row, key)) * u32::try_from(count).expect("few calls")
        };
        Measured {
            cell: cell(row),
            tally: Tally {
                calls,
                lost,
                good_time: total("good_call_us", calls - lost),
                lost_time: total("lost_call_us", lost),
                length: Duration::from_secs(number(row, "seconds")),
            },
        }
    });
    (number(document, "seed"), results.collect())
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).expect("calls are short")
}
