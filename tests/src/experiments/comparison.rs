//! Theory beside a count, and how far apart they are.
//!
//! Owns what "agrees" means: at most [`LIMIT`] standard deviations of a count of independent events.
//! Where chance decides only part, a count scatters less than that.

use super::load::Tally;

/// How many standard deviations a count may be off.
///
/// One count in 16,000 is further off by chance alone.
pub const LIMIT: f64 = 4.0;

/// How often something was expected and how often it came.
#[derive(Clone, Copy, Debug)]
pub struct Comparison {
    /// The chance that theory gives it.
    pub theory: f64,
    /// How often it came.
    pub hits: u64,
    /// How often it could have come.
    pub of: u64,
}

impl Comparison {
    /// Compares what was lost with the share that theory says.
    pub fn lost(theory: f64, tally: &Tally) -> Self {
        Self {
            theory,
            hits: tally.lost,
            of: tally.all,
        }
    }

    /// Compares what succeeded with the share that theory says.
    pub fn succeeded(theory: f64, tally: &Tally) -> Self {
        Self {
            theory,
            hits: tally.all - tally.lost,
            of: tally.all,
        }
    }

    /// Returns the share that was counted.
    pub fn simulated(&self) -> f64 {
        self.hits as f64 / self.of as f64
    }

    /// Returns the standard deviation of the share, if theory is right.
    pub fn sigma(&self) -> f64 {
        (self.theory * (1.0 - self.theory) / self.of as f64).sqrt()
    }

    /// Returns how many standard deviations lie between the two; what is certain may not differ.
    pub fn distance(&self) -> f64 {
        let off = self.simulated() - self.theory;
        if off == 0.0 { 0.0 } else { off / self.sigma() }
    }

    /// Whether the two agree.
    pub fn agrees(&self) -> bool {
        self.distance().abs() <= LIMIT
    }
}

/// How the shares of a column are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shares {
    /// As a number from 0 to 1.
    Plain,
    /// In percent.
    Percent,
}

/// Comparisons in rows and columns.
#[derive(Clone, Debug)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// What the rows are.
    pub row_head: &'static str,
    /// What the columns compare.
    pub columns: Vec<(&'static str, Shares)>,
    /// What each row is, and one comparison for each column.
    pub rows: Vec<(String, Vec<Comparison>)>,
}

impl Table {
    /// Returns the table in Markdown: theory, simulated and the distance in each cell.
    pub fn markdown(&self) -> String {
        let heads: String = self
            .columns
            .iter()
            .map(|(name, _)| format!(" {name} |"))
            .collect();
        let rules = " --- |".repeat(self.columns.len());
        let mut text = format!(
            "**{}**\n\n| {} |{heads}\n| --- |{rules}\n",
            self.title, self.row_head
        );
        for (name, cells) in &self.rows {
            let cells = cells.iter().zip(&self.columns);
            let cells: String = cells
                .map(|(cell, (_, shares))| format!(" {} |", cell.text(*shares)))
                .collect();
            text += &format!("| {name} |{cells}\n");
        }
        text
    }

    /// Returns which comparisons do not agree, in words.
    pub fn disagreements(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (row, cells) in &self.rows {
            for (cell, (column, shares)) in cells.iter().zip(&self.columns) {
                if !cell.agrees() {
                    let Self {
                        title, row_head, ..
                    } = self;
                    found.push(format!(
                        "{title}, {row_head} {row}, {column}: {}",
                        cell.text(*shares)
                    ));
                }
            }
        }
        found
    }
}

impl Comparison {
    fn text(&self, shares: Shares) -> String {
        let share = |value: f64| match shares {
            Shares::Plain => format!("{value:.4}"),
            Shares::Percent => format!("{:.3} %", 100.0 * value),
        };
        let (theory, simulated) = (share(self.theory), share(self.simulated()));
        format!("{theory} · {simulated} · {:+.1}", self.distance())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(theory: f64, hits: u64) -> Comparison {
        Comparison {
            theory,
            hits,
            of: 10_000,
        }
    }

    #[test]
    fn four_standard_deviations_agree_and_more_do_not() {
        // sigma of 10,000 at 1/5 is 40.
        assert_eq!(comparison(0.2, 2_080).distance().round(), 2.0);
        assert!(comparison(0.2, 2_159).agrees() && comparison(0.2, 1_841).agrees());
        assert!(!comparison(0.2, 2_161).agrees() && !comparison(0.2, 1_839).agrees());
    }

    #[test]
    fn certainty_allows_no_difference() {
        assert!(comparison(0.0, 0).agrees() && comparison(1.0, 10_000).agrees());
        assert!(!comparison(0.0, 1).agrees() && !comparison(1.0, 9_999).agrees());
    }
}
