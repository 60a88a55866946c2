//! The worked examples of slow start: an even load of short requests, and commands at their time.

use std::collections::VecDeque;
use std::time::Duration;

use crate::sim::Sim;

/// One example.
pub struct Example {
    /// What it is called, in the name of its picture too.
    pub name: &'static str,
    /// The heading of its picture.
    pub title: &'static str,
    /// What the picture says below that.
    pub subtitle: &'static str,
    /// Requests a second.
    pub rate: u64,
    /// When the clock of the example starts, in seconds from its origin: 0 or before.
    pub start: i64,
    /// Stretches in which nothing changes.
    pub phases: &'static [Phase],
    /// How many services are there at the start.
    pub old: usize,
}

/// A stretch of time in which nothing changes.
pub struct Phase {
    /// When it ends, in seconds from the origin.
    pub end: i64,
    /// What is typed when it begins.
    pub commands: &'static [&'static str],
    /// What it is, in a few words.
    pub note: &'static str,
}

/// The examples, in the order of the document.
pub fn examples() -> [Example; 3] {
    [AUTOMATIC, PERCENT, MANUAL]
}

impl Example {
    /// Returns what each service gets in each second, in bind order.
    pub fn run(&self) -> Vec<Vec<u64>> {
        let mut sim = Sim::with("add lb vserver v1 TCP -lbMethod ROUNDROBIN");
        for number in 1..=SERVICES {
            sim.type_lines(&format!(
                "add service s{number} 10.0.0.{number} TCP {number}"
            ));
        }
        for number in 1..=self.old {
            sim.type_lines(&format!("bind lb vserver v1 s{number}"));
        }
        let mut load = Load {
            sim,
            open: VecDeque::new(),
            closes: true,
        };
        let (mut second, mut rows) = (self.start, Vec::new());
        for phase in self.phases {
            for command in phase.commands {
                load.sim.type_lines(command);
            }
            while second < phase.end {
                rows.push(load.second(self.rate));
                second += 1;
            }
        }
        rows
    }

    /// Returns what each service gets in each phase, per second.
    pub fn means(&self, rows: &[Vec<u64>]) -> Vec<Vec<f64>> {
        let (mut from, mut means) = (0, Vec::new());
        for phase in self.phases {
            let to = usize::try_from(phase.end - self.start).expect("phases follow the start");
            let mean = |service: usize| {
                let sum: u64 = rows[from..to].iter().map(|row| row[service]).sum();
                sum as f64 / (to - from) as f64
            };
            means.push((0..SERVICES).map(mean).collect());
            from = to;
        }
        means
    }
}

/// How many services an example may have.
pub const SERVICES: usize = 5;

/// A way to choose, and what its load is like.
pub struct Manner {
    /// As `-lbMethod` spells it.
    pub method: &'static str,
    /// Whether each connection ends before the next one comes; else it stays for ever.
    pub closes: bool,
}

/// Those that the automatic example is shown with: one without a memory and two with.
pub const MANNERS: [Manner; 3] = [
    Manner {
        method: "ROUNDROBIN",
        closes: true,
    },
    Manner {
        method: "LEASTBANDWIDTH",
        closes: true,
    },
    Manner {
        method: "LEASTCONNECTION",
        closes: false,
    },
];

/// Returns what the new service of the automatic example gets in each of its first 120 seconds, after 20
/// seconds without it.
pub fn newcomer(manner: &Manner) -> Vec<u64> {
    let mut sim = Sim::with(&format!(
        "add lb vserver v1 TCP -lbMethod {}",
        manner.method
    ));
    for number in 1..=SERVICES {
        sim.type_lines(&format!(
            "add service s{number} 10.0.0.{number} TCP {number}"
        ));
    }
    for number in 1..SERVICES {
        sim.type_lines(&format!("bind lb vserver v1 s{number}"));
    }
    let mut load = Load {
        sim,
        open: VecDeque::new(),
        closes: manner.closes,
    };
    for _ in 0..20 {
        load.second(AUTOMATIC.rate);
    }
    for command in AUTOMATIC.phases[1].commands {
        load.sim.type_lines(command);
    }
    (0..120)
        .map(|_| load.second(AUTOMATIC.rate)[SERVICES - 1])
        .collect()
}

struct Load {
    sim: Sim,
    open: VecDeque<sluice_balance::Selection>,
    closes: bool,
}

impl Load {
    /// Sends the requests of a second at equal distances; those that close have ended before the next one
    /// comes. Each moves its bytes at once.
    fn second(&mut self, rate: u64) -> Vec<u64> {
        let begin = self.sim.now();
        let mut row = vec![0; SERVICES];
        for request in 0..rate {
            let due = begin + Duration::from_nanos(request * 1_000_000_000 / rate);
            self.sim.step(due.duration_since(self.sim.now()));
            if self.closes
                && let Some(last) = self.open.pop_front()
            {
                self.sim.close(last);
            }
            let chosen = self.sim.connect("v1").expect("nobody is refused");
            chosen.service_counters.add_out(1_000, 1);
            row[usize::from(chosen.address.port()) - 1] += 1;
            self.open.push_back(chosen);
        }
        let end = begin + Duration::from_secs(1);
        self.sim.step(end.duration_since(self.sim.now()));
        row
    }
}

/// A phase in which nothing is typed.
const fn quiet(end: i64, note: &'static str) -> Phase {
    Phase {
        end,
        commands: &[],
        note,
    }
}

const AUTOMATIC: Example = Example {
    name: "slow-start-automatic",
    title: "Slow start, automatic: a fifth service joins four",
    subtitle: "100 requests/s, ROUNDROBIN, -newServiceRequest 4 PER_SECOND \
        -newServiceRequestIncrementInterval 10; s5 is bound at 0 s",
    rate: 100,
    start: -10,
    phases: &[
        quiet(0, "four services"),
        Phase {
            end: 10,
            commands: &[
                "set lb vserver v1 -newServiceRequest 4 PER_SECOND \
                    -newServiceRequestIncrementInterval 10",
                "bind lb vserver v1 s5",
            ],
            note: "limit 4/s",
        },
        quiet(20, "8/s"),
        quiet(30, "12/s"),
        quiet(40, "16/s"),
        quiet(50, "20/s"),
        quiet(60, "no longer new"),
    ],
    old: 4,
};

const PERCENT: Example = Example {
    name: "slow-start-percent",
    title: "Slow start, percent: a fifth service joins four",
    subtitle: "100 requests/s, ROUNDROBIN, -newServiceRequest 25 PERCENT \
        -newServiceRequestIncrementInterval 5; s5 is bound at 0 s",
    rate: 100,
    start: -5,
    phases: &[
        quiet(0, "four services"),
        Phase {
            end: 5,
            commands: &[
                "set lb vserver v1 -newServiceRequest 25 PERCENT \
                    -newServiceRequestIncrementInterval 5",
                "bind lb vserver v1 s5",
            ],
            note: "limit 25 %",
        },
        quiet(10, "50 %"),
        quiet(15, "75 %"),
        quiet(20, "100 %"),
        quiet(25, "no longer new"),
    ],
    old: 4,
};

const MANUAL: Example = Example {
    name: "slow-start-manual",
    title: "Slow start, manual: the operator raises the limit",
    subtitle: "240 requests/s, ROUNDROBIN, -newServiceRequest as shown, no increment interval; \
        s3 is bound at 10 s, s4 at 30 s",
    rate: 240,
    start: 0,
    phases: &[
        quiet(10, "two services"),
        Phase {
            end: 20,
            commands: &[
                "set lb vserver v1 -newServiceRequest 10 PER_SECOND",
                "bind lb vserver v1 s3",
            ],
            note: "limit 10/s, s3 joins",
        },
        Phase {
            end: 30,
            commands: &["set lb vserver v1 -newServiceRequest 20"],
            note: "20/s",
        },
        Phase {
            end: 40,
            commands: &[
                "set lb vserver v1 -newServiceRequest 40",
                "bind lb vserver v1 s4",
            ],
            note: "40/s, s4 joins",
        },
        Phase {
            end: 50,
            commands: &["set lb vserver v1 -newServiceRequest 0"],
            note: "0: no limit",
        },
    ],
    old: 2,
};
