//! The live table: for every service what LEASTBANDWIDTH compares, and what it chose.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use sluice_command::{Command, parse};
use sluice_protocol::{Client, Event, Outcome, Row, VserverStat};

use crate::traffic::Totals;

/// What the columns mean.
pub(crate) const LEGEND: &str = "\
Two virtual servers, each over three services whose answers differ in size. N is what is compared:
bytes both ways over the last 14 s, as Mbit/s. The service with the lowest N gets the next request,
so N is kept even, and a service with large answers gets few requests.";

/// Draws over itself on a terminal, below itself elsewhere.
pub(crate) struct Table {
    terminal: bool,
    drawn: usize,
    hits: BTreeMap<String, u64>,
}

impl Table {
    /// Makes a table.
    pub(crate) fn new(terminal: bool) -> Self {
        Self {
            terminal,
            drawn: 0,
            hits: BTreeMap::new(),
        }
    }

    /// Asks the daemon and draws what it says.
    pub(crate) fn draw(
        &mut self,
        client: &mut Client,
        second: u64,
        note: &str,
    ) -> Result<(), String> {
        let mut text = format!("\n  {second:>2} s  {note}\n");
        text += "  vserver service state    N Mbit/s  active  requests  in this second\n";
        for vserver in VSERVERS {
            for row in &stat(client, vserver)?.bound.unwrap_or_default() {
                let before = self.hits.insert(row.name.clone(), row.hits).unwrap_or(0);
                let new = row.hits - before;
                let bar: String = std::iter::repeat_n('#', new.min(30) as usize).collect();
                writeln!(
                    text,
                    "  {vserver:<7} {:<7} {:<6} {:>10} {:>7} {:>9}  {new:>3} {bar}",
                    row.name,
                    row.state,
                    mbit(row.window_bytes),
                    row.active,
                    row.hits,
                )
                .expect("text takes all that is written");
            }
        }
        if self.terminal {
            if self.drawn > 0 {
                print!("\x1b[{}A\x1b[J", self.drawn);
            }
            self.drawn = text.lines().count();
            print!("{text}");
        } else if second.is_multiple_of(4) {
            print!("{text}");
        }
        Ok(())
    }
}

/// Checks that equal bandwidth has meant fewer requests for larger answers.
pub(crate) fn check_spread(client: &mut Client) -> Result<(), String> {
    for vserver in VSERVERS {
        let bound = stat(client, vserver)?.bound.unwrap_or_default();
        if !bound.is_sorted_by(|small, large| small.hits > large.hits) {
            return Err(format!(
                "{vserver}: larger answers did not mean fewer requests: {bound:?}"
            ));
        }
    }
    Ok(())
}

/// Says what clients and daemon counted.
pub(crate) fn verdict(client: &mut Client, totals: Totals) -> Result<(), String> {
    println!(
        "\nClients: {} TCP requests, the endless download, and {} UDP questions were answered; \
         {} failed.",
        totals.tcp, totals.udp, totals.failed
    );
    for vserver in VSERVERS {
        let stat = stat(client, vserver)?;
        let bound = stat.bound.unwrap_or_default();
        let hits: Vec<_> = bound
            .iter()
            .map(|row| format!("{} {}", row.name, row.hits))
            .collect();
        println!(
            "  {vserver}: {} hits ({}), {} bytes from clients, {} bytes to clients.",
            stat.hits,
            hits.join(", "),
            stat.request_bytes,
            stat.response_bytes
        );
    }
    match totals.failed {
        0 => Ok(()),
        failed => Err(format!("{failed} requests failed")),
    }
}

fn stat(client: &mut Client, vserver: &str) -> Result<VserverStat, String> {
    let mut found = None;
    let outcome = client.run(&command(vserver)?, &mut |event| {
        if let Event::Row(row) = event
            && let Row::VserverStat(stat) = *row
        {
            found = Some(stat);
        }
    });
    match outcome.map_err(|error| error.to_string())? {
        Outcome::Done => found.ok_or_else(|| format!("no statistics of {vserver}")),
        Outcome::Error(fault) => Err(fault.to_string()),
    }
}

fn command(vserver: &str) -> Result<Command, String> {
    let line = format!("stat lb vserver {vserver}");
    let parsed = parse(&line).map_err(|refused| refused.fault.to_string())?;
    parsed.ok_or_else(|| format!("{line} is not a command"))
}

/// Returns the mean over the window of 14 s, with two decimals.
fn mbit(window_bytes: u64) -> String {
    let hundredths = window_bytes * 8 / 14 / 10_000;
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

const VSERVERS: [&str; 2] = ["web", "media"];
