//! What the balancer decides, as numbers and pictures: the product's own configuration and engine under
//! simulated load, on a virtual clock.
//!
//! Owns which experiments there are. Everything follows from the seed, byte for byte, so that a test can
//! say whether the committed pictures and tables are those of this engine. No sockets and no real time.

pub mod cluster;
pub mod comparison;
pub mod load;
pub mod pictures;
pub mod reliability;
pub mod slow_start;
pub mod theory;

use comparison::Table;
use pictures::Picture;
use reliability::Reliability;
use slow_start::Example;

/// The seed of the committed pictures and tables.
pub const SEED: u64 = 1;

/// What all experiments gave.
pub struct Results {
    /// What all that is random follows from.
    pub seed: u64,
    /// The examples of slow start, and the requests of each service in each second.
    pub slow_start: Vec<(Example, Vec<Vec<u64>>)>,
    /// What the new service gets in each second, for each of [`slow_start::MANNERS`].
    pub newcomers: [Vec<u64>; 3],
    /// What is lost to faulty services.
    pub reliability: Reliability,
}

impl Results {
    /// Runs all experiments: some seconds.
    pub fn run(seed: u64) -> Self {
        let slow_start = slow_start::examples().map(|example| {
            let rows = example.run();
            (example, rows)
        });
        Self {
            seed,
            slow_start: slow_start.into(),
            newcomers: slow_start::MANNERS.each_ref().map(slow_start::newcomer),
            reliability: Reliability::run(seed),
        }
    }

    /// Returns the tables that have a theory.
    pub fn tables(&self) -> Vec<Table> {
        self.reliability.tables()
    }

    /// Draws the pictures.
    pub fn pictures(&self) -> Vec<Picture> {
        pictures::draw(self)
    }

    /// Returns all tables in Markdown, as they stand in the document.
    pub fn markdown(&self) -> String {
        let mut text = format!(
            "Seed {}. Each cell: theory · counted · how many sigma apart.\n",
            self.seed
        );
        for table in self.tables() {
            text += &format!("\n{}", table.markdown());
        }
        text + "\n" + &self.reliability.reports
    }
}

/// Returns `document` with its tables replaced by `tables`; none without the lines that enclose them.
pub fn with_tables(document: &str, tables: &str) -> Option<String> {
    between(document, [TABLES_BEGIN, TABLES_END], tables)
}

/// Returns `document` with what stands between two lines replaced; none without these lines.
pub fn between(document: &str, [begin, end]: [&str; 2], text: &str) -> Option<String> {
    let (before, rest) = document.split_once(begin)?;
    let (_, after) = rest.split_once(end)?;
    Some(format!("{before}{begin}\n\n{text}\n{end}{after}"))
}

const TABLES_BEGIN: &str = "<!-- tables, written by scripts/experiments/simulate -->";
const TABLES_END: &str = "<!-- end of tables -->";
