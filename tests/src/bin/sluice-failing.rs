//! Runs the experiment of a failing service over real sockets, prints its results beside theory, and writes
//! them into the documents.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use sluice_tests::experiments::pictures::of_failing;
use sluice_tests::failing::{
    self, Cell, Fault, Lengths, METHODS, Measured, SEED, cells, report, to_json,
};

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    match Wanted::parse(&arguments).and_then(|wanted| run(&wanted)) {
        Ok(missed) if missed.is_empty() => ExitCode::SUCCESS,
        Ok(missed) => {
            eprintln!("targets that are missed:\n{}", missed.join("\n"));
            ExitCode::FAILURE
        }
        Err(text) => {
            eprintln!("error: {text}");
            ExitCode::from(2)
        }
    }
}

/// What is asked for.
struct Wanted {
    seed: u64,
    lengths: Lengths,
    /// Whether results are held to their targets.
    judged: bool,
    fault: Option<Fault>,
    method: Option<&'static str>,
    clients: Option<usize>,
    docs: Option<PathBuf>,
    /// Results of an earlier run, to be written into the documents once more.
    from: Option<PathBuf>,
}

impl Wanted {
    fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut wanted = Self {
            seed: SEED,
            lengths: Lengths::FULL,
            judged: true,
            fault: None,
            method: None,
            clients: None,
            docs: None,
            from: None,
        };
        let mut rest = arguments.iter();
        while let Some(word) = rest.next() {
            if word == "--quick" {
                wanted.lengths = Lengths::QUICK;
                wanted.judged = false;
                continue;
            }
            let value = rest
                .next()
                .ok_or_else(|| format!("{word} is unknown or needs a value; {USAGE}"))?;
            wanted.option(word, value)?;
        }
        Ok(wanted)
    }

    fn option(&mut self, word: &str, value: &str) -> Result<(), String> {
        let wrong = || format!("{word} {value} makes no sense; {USAGE}");
        match word {
            "--seed" => self.seed = value.parse().map_err(|_| wrong())?,
            "--seconds" => {
                let seconds = value.parse().map_err(|_| wrong())?;
                let length = Duration::from_secs(seconds);
                self.lengths.long = length;
                self.lengths.short = self.lengths.short.min(length);
                self.judged = length >= Lengths::FULL.long;
            }
            "--fault" => {
                let named = |fault: &Fault| fault.word().split(' ').next() == Some(value);
                self.fault = Some(Fault::ALL.into_iter().find(named).ok_or_else(wrong)?);
            }
            "--method" => {
                let mut methods = METHODS.into_iter();
                self.method = Some(methods.find(|known| *known == value).ok_or_else(wrong)?);
            }
            "--clients" => self.clients = Some(value.parse().map_err(|_| wrong())?),
            "--from" => self.from = Some(PathBuf::from(value)),
            "--docs" => self.docs = Some(PathBuf::from(value)),
            _ => return Err(format!("unknown option {word}; {USAGE}")),
        }
        Ok(())
    }

    fn cells(&self) -> Vec<Cell> {
        let mut all = cells();
        all.retain(|cell| {
            self.fault.is_none_or(|fault| fault == cell.fault)
                && self.method.is_none_or(|method| method == cell.method)
                && self.clients.is_none_or(|clients| clients == cell.clients)
        });
        all
    }
}

/// Returns which targets are missed.
fn run(wanted: &Wanted) -> Result<Vec<String>, String> {
    let (seed, results) = match &wanted.from {
        Some(file) => read(file)?,
        // As they are written, so that the documents follow from the file.
        None => failing::from_json(&to_json(wanted.seed, &measure(wanted))),
    };
    println!("{}", report::markdown(seed, &results));
    if let Some(docs) = &wanted.docs {
        write(docs, seed, &results)?;
    }
    Ok(if wanted.judged {
        report::misses(&results)
    } else {
        Vec::new()
    })
}

fn measure(wanted: &Wanted) -> Vec<Measured> {
    let cells = wanted.cells();
    let time: Duration = cells.iter().map(|cell| wanted.lengths.of(cell)).sum();
    eprintln!(
        "seed {}: {} experiments, {} s of calls",
        wanted.seed,
        cells.len(),
        time.as_secs()
    );
    let run = |cell: Cell| {
        let measured = failing::run(cell, wanted.lengths.of(&cell), wanted.seed);
        let with = if cell.watched { "with" } else { "without" };
        eprintln!(
            "one {}, {} clients, {}, {with} TCP-INLINE: lost {}",
            cell.fault.word(),
            cell.clients,
            cell.method,
            report::shown(&measured)
        );
        measured
    };
    cells.into_iter().map(run).collect()
}

fn read(file: &Path) -> Result<(u64, Vec<Measured>), String> {
    let at = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let text = fs::read_to_string(file).map_err(|error| at(&error))?;
    let document = text
        .parse()
        .map_err(|error: serde_json::Error| at(&error))?;
    Ok(failing::from_json(&document))
}

fn write(docs: &Path, seed: u64, results: &[Measured]) -> Result<(), String> {
    let at = |file: &Path, error: std::io::Error| format!("{}: {error}", file.display());
    let file = docs.join("measured/failing.json");
    let text = format!("{:#}\n", to_json(seed, results));
    fs::create_dir_all(docs.join("measured")).map_err(|error| at(docs, error))?;
    fs::write(&file, text).map_err(|error| at(&file, error))?;
    let picture = of_failing(results, seed);
    let file = docs.join("pictures").join(&picture.file);
    fs::write(&file, picture.svg).map_err(|error| at(&file, error))?;
    let document = docs.join("experiments.md");
    let text = fs::read_to_string(&document).map_err(|error| at(&document, error))?;
    let text = report::with_tables(&text, seed, results)
        .ok_or_else(|| format!("{}: no place for tables", document.display()))?;
    fs::write(&document, text).map_err(|error| at(&document, error))
}

const USAGE: &str = "usage: sluice-failing [--quick | --seconds N] [--seed N] \
    [--fault hangs|closes|refuses] [--method METHOD] [--clients N] [--from FILE] [--docs FOLDER]";
