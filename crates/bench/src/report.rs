//! What was measured, as medians, ratios and one sentence.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use crate::peer::Peer;
use crate::rows::{Bound, FLOORS, Figure, Floor, IDLE, ROWS};

/// All measurements of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Results {
    values: BTreeMap<(&'static str, Figure), BTreeMap<Peer, Vec<f64>>>,
    notes: Vec<String>,
}

/// How we stand in one figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Standing {
    pub(crate) row: &'static str,
    pub(crate) figure: Figure,
    /// The best of the other relays.
    pub(crate) best: Peer,
    /// Above 1 we are ahead of it, whichever way the figure is better.
    pub(crate) ratio: f64,
}

impl Results {
    pub(crate) fn add(&mut self, row: &'static str, figure: Figure, peer: Peer, value: f64) {
        let peers = self.values.entry((row, figure)).or_default();
        peers.entry(peer).or_default().push(value);
    }

    /// Keeps a sentence for the report, once.
    pub(crate) fn note(&mut self, text: String) {
        if !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }

    pub(crate) fn median(&self, row: &str, figure: Figure, peer: Peer) -> Option<f64> {
        median(self.of(row, figure)?.get(&peer)?)
    }

    fn of(&self, row: &str, figure: Figure) -> Option<&BTreeMap<Peer, Vec<f64>>> {
        let mut all = self.values.iter();
        all.find(|((name, of), _)| *name == row && *of == figure)
            .map(|(_, peers)| peers)
    }

    /// Returns how we stand in every figure that compares, in the order of the table.
    pub(crate) fn standings(&self) -> Vec<Standing> {
        let keys = self.keys().filter(|(_, figure)| figure.has_ratio());
        keys.filter_map(|(row, figure)| self.standing(row, figure))
            .collect()
    }

    fn standing(&self, row: &'static str, figure: Figure) -> Option<Standing> {
        let ours = self.median(row, figure, Peer::Sluice)?;
        let rivals = Peer::ALL.into_iter().filter(|peer| peer.is_rival());
        let ratios = rivals.filter_map(|peer| {
            let theirs = self.median(row, figure, peer)?;
            let (more, less) = if figure.is_more_better() {
                (ours, theirs)
            } else {
                (theirs, ours)
            };
            (less > 0.0).then(|| (peer, more / less))
        });
        let (best, ratio) = ratios.min_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(Standing {
            row,
            figure,
            best,
            ratio,
        })
    }

    /// Returns rows and figures that were measured, in the order of the table.
    fn keys(&self) -> impl Iterator<Item = (&'static str, Figure)> {
        let names = ROWS.iter().map(|row| row.name).chain([IDLE]);
        names.flat_map(|name| {
            let own = self.values.keys().filter(move |(row, _)| *row == name);
            own.copied().collect::<Vec<_>>()
        })
    }

    /// Returns the table, the floors and the notes, as Markdown.
    pub(crate) fn markdown(&self) -> String {
        let peers: Vec<Peer> = Peer::ALL
            .into_iter()
            .filter(|peer| self.values.values().any(|values| values.contains_key(peer)))
            .collect();
        let names: Vec<_> = peers.iter().map(|peer| peer.name()).collect();
        let mut text = format!("| row | figure | {} | x best | best |\n", names.join(" | "));
        let _ = writeln!(text, "|---|---|{}---|---|", "---|".repeat(peers.len()));
        let standings = self.standings();
        for (row, figure) in self.keys() {
            let cells: Vec<_> = peers
                .iter()
                .map(|peer| {
                    self.median(row, figure, *peer)
                        .map_or_else(String::new, number)
                })
                .collect();
            let standing = standings
                .iter()
                .find(|s| s.row == row && s.figure == figure);
            let (ratio, best) = standing.map_or_else(Default::default, |standing| {
                (format!("{:.2}", standing.ratio), standing.best.name())
            });
            let cells = cells.join(" | ");
            let _ = writeln!(
                text,
                "| {row} | {} | {cells} | {ratio} | {best} |",
                figure.unit()
            );
        }
        text += &self.floors();
        if !self.notes.is_empty() {
            text += "\nNotes:\n";
            for note in &self.notes {
                let _ = writeln!(text, "- {note}");
            }
        }
        text
    }

    fn floors(&self) -> String {
        let checked = FLOORS
            .iter()
            .filter_map(|floor| Some((floor, self.check(floor)?)));
        let lines: Vec<_> = checked
            .map(|(floor, (is_met, said))| {
                let verdict = if is_met { "met" } else { "MISSED" };
                let (row, unit) = (floor.row, floor.figure.unit());
                format!("| {row} | {unit} | {said} | {verdict} |\n")
            })
            .collect();
        if lines.is_empty() {
            return String::new();
        }
        let head =
            "\n| promised of | figure | floor, and what was measured | |\n|---|---|---|---|\n";
        head.to_owned() + &lines.concat()
    }

    /// Returns whether a floor holds, and the numbers; `None` if it was not measured.
    fn check(&self, floor: &Floor) -> Option<(bool, String)> {
        let of = |peer| self.median(floor.row, floor.figure, peer);
        let ours = of(Peer::Sluice)?;
        Some(match floor.bound {
            Bound::AtLeast(factor, peers) => {
                let theirs = peers.iter().filter_map(|peer| of(*peer));
                let ratio = ours / theirs.max_by(f64::total_cmp)?;
                let names: Vec<_> = peers.iter().map(|peer| peer.name()).collect();
                let said = format!(">= {factor} x {}: {ratio:.2}", names.join(", "));
                (ratio >= factor, said)
            }
            Bound::AtMost(factor, peer) => {
                let ratio = ours / of(peer)?;
                (
                    ratio <= factor,
                    format!("<= {factor} x {}: {ratio:.2}", peer.name()),
                )
            }
            Bound::Most(limit) => (ours <= limit, format!("<= {limit}: {}", number(ours))),
        })
    }

    /// Returns the one sentence of the whole run.
    pub(crate) fn sentence(&self) -> String {
        let standings = self.standings();
        let worst = standings.iter().min_by(|a, b| a.ratio.total_cmp(&b.ratio));
        worst.map_or_else(
            || "Nothing was measured beside another relay.".to_owned(),
            |worst| {
                format!(
                    "The worst ratio to the best peer is {:.2}, at {} ({}) against {}.",
                    worst.ratio,
                    worst.row,
                    worst.figure.unit(),
                    worst.best.name()
                )
            },
        )
    }

    /// Returns everything for other programs.
    pub(crate) fn json(&self) -> serde_json::Value {
        #[derive(Serialize)]
        struct Entry<'a> {
            row: &'a str,
            figure: Figure,
            unit: &'a str,
            peer: &'a str,
            median: Option<f64>,
            values: &'a [f64],
        }
        let entries = self.values.iter().flat_map(|((row, figure), peers)| {
            peers.iter().map(|(peer, values)| Entry {
                row,
                figure: *figure,
                unit: figure.unit(),
                peer: peer.name(),
                median: median(values),
                values,
            })
        });
        let entries: Vec<_> = entries.collect();
        serde_json::json!({
            "measurements": entries,
            "notes": self.notes,
            "sentence": self.sentence(),
        })
    }
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        return sorted.get(middle).copied();
    }
    let (low, high) = (sorted.get(middle.checked_sub(1)?)?, sorted.get(middle)?);
    Some(f64::midpoint(*low, *high))
}

/// Writes three digits, and all of a large number.
fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(values: &[(&'static str, Figure, Peer, &[f64])]) -> Results {
        let mut results = Results::default();
        for (row, figure, peer, values) in values {
            for value in *values {
                results.add(row, *figure, *peer, *value);
            }
        }
        results
    }

    #[test]
    fn medians_are_those_of_the_middle() {
        for (values, expected) in [
            (&[][..], None),
            (&[3.0], Some(3.0)),
            (&[9.0, 1.0, 5.0], Some(5.0)),
            (&[4.0, 1.0, 2.0, 100.0], Some(3.0)),
        ] {
            assert_eq!(median(values), expected, "{values:?}");
        }
    }

    #[test]
    fn the_ratio_is_to_the_best_relay_whichever_way_is_better() {
        let results = results(&[
            ("connections", Figure::Rate, Peer::Sluice, &[110.0]),
            ("connections", Figure::Rate, Peer::HaproxyDefault, &[100.0]),
            ("connections", Figure::Rate, Peer::NginxDefault, &[55.0]),
            // These two are no rivals, however fast.
            ("connections", Figure::Rate, Peer::Direct, &[900.0]),
            ("connections", Figure::Rate, Peer::Nft, &[800.0]),
            ("connections", Figure::P50, Peer::Sluice, &[40.0]),
            ("connections", Figure::P50, Peer::HaproxyDefault, &[50.0]),
            ("connections", Figure::P50, Peer::NginxDefault, &[30.0]),
        ]);
        let standings = results.standings();
        let seen: Vec<_> = standings
            .iter()
            .map(|s| (s.figure, s.best, s.ratio))
            .collect();
        assert_eq!(
            seen,
            [
                (Figure::Rate, Peer::HaproxyDefault, 1.1),
                (Figure::P50, Peer::NginxDefault, 0.75)
            ]
        );
        assert_eq!(
            results.sentence(),
            "The worst ratio to the best peer is 0.75, at connections (p50 us) against nginx."
        );
    }

    #[test]
    fn floors_say_whether_they_are_met() {
        let results = results(&[
            ("connections", Figure::Rate, Peer::Sluice, &[104.0]),
            ("connections", Figure::Rate, Peer::HaproxyDefault, &[100.0]),
            ("connections", Figure::Rate, Peer::NginxDefault, &[99.0]),
            ("connections", Figure::CpuPerOperation, Peer::Sluice, &[6.0]),
            (
                "connections",
                Figure::CpuPerOperation,
                Peer::HaproxyDefault,
                &[10.0],
            ),
            (IDLE, Figure::IdleProportional, Peer::Sluice, &[1025.0]),
            ("udp-1-at-50k", Figure::Loss, Peer::Sluice, &[0.0]),
        ]);
        let text = results.floors();
        for line in [
            "| connections | /s | >= 1.05 x haproxy, nginx: 1.04 | MISSED |",
            "| connections | CPU us/op | <= 0.75 x haproxy: 0.60 | met |",
            "| idle | bytes/conn | <= 1024: 1025 | MISSED |",
            "| udp-1-at-50k | loss % | <= 0: 0 | met |",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        assert_eq!(text.lines().count(), 1 + 2 + 4, "{text}");
    }

    #[test]
    fn the_table_has_a_line_for_each_figure_in_the_order_of_the_rows() {
        let results = results(&[
            ("udp-1-64B", Figure::Loss, Peer::NginxDefault, &[12.5]),
            ("udp-1-64B", Figure::Loss, Peer::Sluice, &[0.0]),
            ("bulk-1-up", Figure::Gigabits, Peer::Sluice, &[30.0]),
            ("bulk-1-up", Figure::Gigabits, Peer::NginxDefault, &[10.0]),
        ]);
        assert_eq!(
            results.markdown().lines().take(4).collect::<Vec<_>>(),
            [
                "| row | figure | sluice | nginx | x best | best |",
                "|---|---|---|---|---|---|",
                "| bulk-1-up | Gbit/s | 30.0 | 10.0 | 3.00 | nginx |",
                "| udp-1-64B | loss % | 0 | 12.5 |  |  |",
            ]
        );
    }

    #[test]
    fn nothing_measured_is_said() {
        let results = Results::default();
        assert_eq!(
            results.sentence(),
            "Nothing was measured beside another relay."
        );
        assert_eq!(results.floors(), "");
    }
}
