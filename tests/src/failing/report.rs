//! The results as a table, and which targets they miss.

use super::target::{Target, formula, target};
use super::{Cell, Fault, Measured};
use crate::experiments::between;

/// Returns `document` with its tables replaced by those of `results`; none without the lines that enclose
/// them.
pub fn with_tables(document: &str, seed: u64, results: &[Measured]) -> Option<String> {
    between(
        document,
        [TABLES_BEGIN, TABLES_END],
        &markdown(seed, results),
    )
}

/// Returns the tables in Markdown: one for each fault, a row for each method and number of clients.
pub fn markdown(seed: u64, results: &[Measured]) -> String {
    let mut text = format!("Seed {seed}. Calls lost; in brackets how many of how many.\n");
    for fault in Fault::ALL {
        let of_fault: Vec<_> = results
            .iter()
            .filter(|measured| measured.cell.fault == fault)
            .collect();
        if !of_fault.is_empty() {
            text += &format!("\n{}", table(fault, &of_fault));
        }
    }
    text
}

fn table(fault: Fault, results: &[&Measured]) -> String {
    let mut text = format!(
        "**One of five services {}**\n\n\
            | clients | method | a good call | formula | without TCP-INLINE | with TCP-INLINE |\n\
            | --- | --- | --- | --- | --- | --- |\n",
        fault.word()
    );
    for measured in results.iter().filter(|measured| !measured.cell.watched) {
        let watched = Cell {
            watched: true,
            ..measured.cell
        };
        let watched = results.iter().find(|other| other.cell == watched);
        let formula = formula(measured).map_or_else(|| "-".to_owned(), percent);
        text += &format!(
            "| {} | {} | {:.1} ms | {formula} | {} | {} |\n",
            measured.cell.clients,
            measured.cell.method,
            1_000.0 * measured.tally.good_call().as_secs_f64(),
            shown(measured),
            watched.map_or_else(|| "-".to_owned(), |watched| shown(watched)),
        );
    }
    text
}

/// Returns which results miss their targets, in words.
pub fn misses(results: &[Measured]) -> Vec<String> {
    let missed = results.iter().filter_map(|measured| {
        let target = target(measured)?;
        let share = measured.tally.lost_share();
        if share.is_some_and(|share| target.is_met(share)) {
            return None;
        }
        let Cell {
            fault,
            clients,
            method,
            watched,
        } = measured.cell;
        let with = if watched { "with" } else { "without" };
        let wanted = match target {
            Target::Near(theory, part) => {
                format!("{} +- {:.0} %", percent(theory), 100.0 * part)
            }
            Target::AtMost(most) => format!("at most {}", percent(most)),
        };
        Some(format!(
            "one {}, {clients} clients, {method}, {with} TCP-INLINE: lost {}, wanted {wanted}",
            fault.word(),
            shown(measured)
        ))
    });
    missed.collect()
}

/// Returns one result in a few words.
pub fn shown(measured: &Measured) -> String {
    let tally = &measured.tally;
    let share = tally.lost_share().map_or_else(|| "-".to_owned(), percent);
    format!(
        "{share} ({} of {}), {:.0}/s",
        tally.lost,
        tally.calls,
        tally.good_rate()
    )
}

fn percent(share: f64) -> String {
    format!("{:.3} %", 100.0 * share)
}

const TABLES_BEGIN: &str = "<!-- tables, written by scripts/experiments/failing -->";
const TABLES_END: &str = "<!-- end of the tables of failing -->";
