//! Runs the experiments, prints their tables, and writes the pictures and the tables of the document.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use sluice_tests::experiments::comparison::Table;
use sluice_tests::experiments::{Results, SEED, with_tables};

fn main() -> ExitCode {
    match simulate() {
        Ok(off) if off.is_empty() => ExitCode::SUCCESS,
        Ok(off) => {
            eprintln!("further than 4 sigma from theory:\n{}", off.join("\n"));
            ExitCode::FAILURE
        }
        Err(text) => {
            eprintln!("error: {text}");
            ExitCode::from(2)
        }
    }
}

/// Returns what does not agree with theory.
fn simulate() -> Result<Vec<String>, String> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let (seed, docs) = parse(&arguments)?;
    let results = Results::run(seed);
    println!("{}", results.markdown());
    if let Some(docs) = docs {
        write(&results, &docs)?;
    }
    let tables = results.tables();
    Ok(tables.iter().flat_map(Table::disagreements).collect())
}

/// Writes `pictures/` and the tables of `experiments.md` in the folder of documents.
fn write(results: &Results, docs: &Path) -> Result<(), String> {
    let document = docs.join("experiments.md");
    let at = |file: &Path, error: std::io::Error| format!("{}: {error}", file.display());
    let text = fs::read_to_string(&document).map_err(|error| at(&document, error))?;
    let text = with_tables(&text, &results.markdown())
        .ok_or_else(|| format!("{}: no place for tables", document.display()))?;
    let folder = docs.join("pictures");
    fs::create_dir_all(&folder).map_err(|error| at(&folder, error))?;
    for picture in results.pictures() {
        let file = folder.join(&picture.file);
        fs::write(&file, picture.svg).map_err(|error| at(&file, error))?;
    }
    fs::write(&document, text).map_err(|error| at(&document, error))
}

fn parse(arguments: &[String]) -> Result<(u64, Option<PathBuf>), String> {
    let (mut seed, mut docs) = (SEED, None);
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        let mut value = || {
            rest.next()
                .ok_or_else(|| format!("{word} needs a value; {USAGE}"))
        };
        match word.as_str() {
            "--seed" => {
                let value = value()?;
                let number = value.parse();
                seed = number
                    .map_err(|_| format!("seed {value} is not a number of 64 bits; {USAGE}"))?;
            }
            "--docs" => docs = Some(PathBuf::from(value()?)),
            _ => return Err(format!("unknown option {word}; {USAGE}")),
        }
    }
    Ok((seed, docs))
}

const USAGE: &str = "usage: sluice-simulate [--seed N] [--docs FOLDER]";
