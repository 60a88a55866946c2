//! How many calls a method loses to faulty services: every run, and the tables of it.

use super::cluster::{Fault, GOOD_CALL, Setup, TIME_LIMIT};
use super::comparison::{Comparison, Shares, Table};
use super::load::{Callers, actions, closed_loop, open_loop};
use super::theory;

/// The time of a good call in terms of the time limit.
pub const Q: f64 = GOOD_CALL.as_micros() as f64 / TIME_LIMIT.as_micros() as f64;

/// The time of a good call in terms of that of a fast failure.
const Q_FAST: f64 = 100.0;

/// How many calls an action needs.
pub const K: u32 = 3;

/// All that was counted.
pub struct Reliability {
    /// One of five hangs; by the number of clients: LEASTCONNECTION, ROUNDROBIN.
    pub clients: Vec<(usize, [Comparison; 2])>,
    /// One of five is faulty.
    pub methods: Table,
    /// The fraction `p` of twenty hangs, 100 clients; how many calls LEASTCONNECTION loses.
    pub calls: Vec<(f64, Comparison)>,
    /// The same; how many actions succeed: ROUNDROBIN, RANDOM, LEASTCONNECTION, and that with one client
    /// making the calls of an action one after the other.
    pub actions: Vec<(f64, [Comparison; 4])>,
    /// One of five hangs; by the rate of calls: LEASTCONNECTION, ROUNDROBIN.
    pub rates: Vec<(f64, [Comparison; 2])>,
    /// What the reports of the data plane change, in Markdown.
    pub reports: String,
}

impl Reliability {
    /// Runs all experiments.
    pub fn run(seed: u64) -> Self {
        Self {
            clients: (1..=20)
                .map(|clients| (clients, by_clients(clients, seed)))
                .collect(),
            methods: by_method(seed),
            calls: fractions()
                .map(|(p, faulty)| (p, lost_calls(p, faulty, seed)))
                .collect(),
            actions: fractions()
                .map(|(p, faulty)| (p, by_fraction(p, faulty, seed)))
                .collect(),
            rates: RATES.map(|row| (row.0, by_rate(row, seed))).to_vec(),
            reports: reports(seed),
        }
    }

    /// Returns the tables of what has a theory.
    pub fn tables(&self) -> Vec<Table> {
        let losses = |title: &str, row_head, rows| Table {
            title: title.to_owned(),
            row_head,
            columns: vec![
                ("LEASTCONNECTION", Shares::Percent),
                ("ROUNDROBIN", Shares::Percent),
            ],
            rows,
        };
        let of_two = |(name, cells): (String, [Comparison; 2])| (name, cells.to_vec());
        let by_clients = self
            .clients
            .iter()
            .map(|(clients, cells)| (clients.to_string(), *cells));
        let by_rate = self
            .rates
            .iter()
            .map(|(rate, cells)| (rate.to_string(), *cells));
        vec![
            losses(
                "Calls lost, closed loop, one of five services hangs",
                "clients",
                by_clients.map(of_two).collect(),
            ),
            self.methods.clone(),
            Table {
                title: "Calls lost, closed loop, 100 clients, the fraction p of 20 services hangs"
                    .to_owned(),
                row_head: "p",
                columns: vec![("LEASTCONNECTION", Shares::Percent)],
                rows: self
                    .calls
                    .iter()
                    .map(|(p, cell)| (format!("{p:.2}"), vec![*cell]))
                    .collect(),
            },
            Table {
                title: format!(
                    "Actions of {K} calls that succeed, closed loop, 100 calls under way, the \
                        fraction p of 20 services hangs"
                ),
                row_head: "p",
                columns: vec![
                    ("ROUNDROBIN", Shares::Plain),
                    ("RANDOM", Shares::Plain),
                    ("LEASTCONNECTION", Shares::Plain),
                    ("LEASTCONNECTION, same client", Shares::Plain),
                ],
                rows: self
                    .actions
                    .iter()
                    .map(|(p, cells)| (format!("{p:.2}"), cells.to_vec()))
                    .collect(),
            },
            losses(
                "Calls lost, open loop, one of five services hangs",
                "calls/s",
                by_rate.map(of_two).collect(),
            ),
        ]
    }
}

fn one_of_five(method: &'static str, fault: Fault) -> Setup {
    Setup {
        method,
        services: 5,
        faulty: 1,
        fault,
        reports: false,
    }
}

fn some_of_twenty(method: &'static str, faulty: usize) -> Setup {
    Setup {
        method,
        services: 20,
        faulty,
        fault: Fault::Hang,
        reports: false,
    }
}

fn fractions() -> impl Iterator<Item = (f64, usize)> {
    (0..=20_u8).map(|faulty| (f64::from(faulty) / 20.0, usize::from(faulty)))
}

fn by_clients(clients: usize, seed: u64) -> [Comparison; 2] {
    let run = |method, calls| closed_loop(one_of_five(method, Fault::Hang), clients, calls, seed);
    let least = theory::few_clients(clients, 5, Q);
    [
        Comparison::lost(least, &run("LEASTCONNECTION", 50_000)),
        Comparison::lost(0.2, &run("ROUNDROBIN", 10_000)),
    ]
}

fn by_method(seed: u64) -> Table {
    let mut rows = Vec::new();
    for (fault, name, q) in [
        (Fault::Hang, "hangs", Q),
        (Fault::FastClose, "closes at once", Q_FAST),
    ] {
        for clients in [5, 20] {
            let run = |method| closed_loop(one_of_five(method, fault), clients, 20_000, seed);
            let cells = vec![
                Comparison::lost(0.2, &run("ROUNDROBIN")),
                Comparison::lost(0.2, &run("RANDOM")),
                Comparison::lost(theory::few_clients(clients, 5, q), &run("LEASTCONNECTION")),
            ];
            rows.push((format!("{name}, {clients} clients"), cells));
        }
    }
    Table {
        title: "Calls lost by method, closed loop, one of five services fails".to_owned(),
        row_head: "the faulty one",
        columns: ["ROUNDROBIN", "RANDOM", "LEASTCONNECTION"]
            .map(|name| (name, Shares::Percent))
            .to_vec(),
        rows,
    }
}

fn lost_calls(p: f64, faulty: usize, seed: u64) -> Comparison {
    let tally = closed_loop(some_of_twenty("LEASTCONNECTION", faulty), 100, 50_000, seed);
    Comparison::lost(theory::minimum_concurrency(p, Q), &tally)
}

fn by_fraction(p: f64, faulty: usize, seed: u64) -> [Comparison; 4] {
    let compare = |method, callers, theory| {
        let tally = actions(some_of_twenty(method, faulty), 100, K, 4_000, callers, seed);
        Comparison::succeeded(theory, &tally)
    };
    let in_turn = theory::action(1.0 - p, K);
    let least = theory::action(1.0 - theory::minimum_concurrency(p, Q), K);
    let same = theory::same_client(p, Q, K);
    [
        compare("ROUNDROBIN", Callers::Many, in_turn),
        compare("RANDOM", Callers::Many, in_turn),
        compare("LEASTCONNECTION", Callers::Many, least),
        compare("LEASTCONNECTION", Callers::Same, same),
    ]
}

fn by_rate((rate, recorded): (f64, Option<f64>), seed: u64) -> [Comparison; 2] {
    let run = |method| open_loop(one_of_five(method, Fault::Hang), rate, 20_000, seed);
    let least = recorded.unwrap_or_else(|| theory::light_load(rate, 5));
    [
        Comparison::lost(least, &run("LEASTCONNECTION")),
        Comparison::lost(0.2, &run("ROUNDROBIN")),
    ]
}

fn reports(seed: u64) -> String {
    let mut text = "**One of five services fails, closed loop, 20 clients: calls lost, and calls a second that succeed**\n\n\
        | method | hangs, no reports | hangs, with reports | closes at once, no reports | closes at once, with reports |\n\
        | --- | --- | --- | --- | --- |\n"
        .to_owned();
    for method in [
        "ROUNDROBIN",
        "RANDOM",
        "LEASTCONNECTION",
        "LEASTBANDWIDTH",
        "LEASTPACKETS",
        "LEASTRESPONSETIME",
    ] {
        text += &format!("| {method} |");
        for fault in [Fault::Hang, Fault::FastClose] {
            for reports in [false, true] {
                let setup = Setup {
                    reports,
                    ..one_of_five(method, fault)
                };
                let tally = closed_loop(setup, 20, 50_000, seed);
                text += &format!(
                    " {:.3} %, {:.0}/s |",
                    100.0 * tally.lost_share(),
                    tally.good_rate()
                );
            }
        }
        text.push('\n');
    }
    text
}

/// Rates of calls in the open loop, and what LEASTCONNECTION loses where good services are too busy for
/// the formula: counts of an independent simulation, of two digits.
const RATES: [(f64, Option<f64>); 8] = [
    (2.0, None),
    (5.0, None),
    (10.0, None),
    (20.0, None),
    (50.0, None),
    (100.0, Some(0.011)),
    (200.0, Some(0.0084)),
    (400.0, Some(0.0062)),
];
