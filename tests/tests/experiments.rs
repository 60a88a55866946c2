//! The experiments agree with theory, and the committed document and pictures are those of this engine.

use std::fs;
use std::process::Command;
use std::sync::OnceLock;

use regex::Regex;
use sluice_tests::binaries::{binary, workspace};
use sluice_tests::experiments::cluster::{Fault, Setup};
use sluice_tests::experiments::comparison::{Comparison, Table};
use sluice_tests::experiments::load::closed_loop;
use sluice_tests::experiments::pictures::of_failing;
use sluice_tests::experiments::{Results, SEED, slow_start, with_tables};
use sluice_tests::failing::{self, Lengths, Measured, report};

fn results() -> &'static Results {
    static RESULTS: OnceLock<Results> = OnceLock::new();
    RESULTS.get_or_init(|| Results::run(SEED))
}

#[test]
fn every_count_lies_within_four_sigma_of_theory() {
    let tables = results().tables();
    let off: Vec<_> = tables.iter().flat_map(Table::disagreements).collect();
    assert!(off.is_empty(), "seed {SEED}:\n{}", off.join("\n"));
    let cells: usize = tables
        .iter()
        .flat_map(|table| &table.rows)
        .map(|(_, cells)| cells.len())
        .sum();
    assert_eq!(cells, 20 * 2 + 4 * 3 + 21 + 21 * 4 + 8 * 2);
}

#[test]
fn examples_of_slow_start_give_their_tables() {
    let [automatic, percent, manual] =
        slow_start::examples().map(|example| example.means(&example.run()));
    let even = |old: f64, new: f64| vec![old, old, old, old, new];
    assert_eq!(
        automatic,
        [
            even(25.0, 0.0),
            even(24.0, 4.0),
            even(23.0, 8.0),
            even(22.0, 12.0),
            even(21.0, 16.0),
            even(20.0, 20.0),
            even(20.0, 20.0),
        ]
    );
    // 30, 55, 79 and 100 of the 500 requests of each step.
    let fifth: Vec<_> = percent.iter().map(|row| row[4]).collect();
    assert_eq!(fifth, [0.0, 6.0, 11.0, 15.8, 20.0, 20.0]);
    assert_eq!(
        manual,
        [
            [120.0, 120.0, 0.0, 0.0, 0.0],
            [115.0, 115.0, 10.0, 0.0, 0.0],
            [110.0, 110.0, 20.0, 0.0, 0.0],
            [80.0, 80.0, 40.0, 40.0, 0.0],
            [60.0, 60.0, 60.0, 60.0, 0.0],
        ]
    );
}

#[test]
fn committed_pictures_are_what_the_code_draws() {
    let folder = workspace().join("docs/pictures");
    let pictures = results().pictures();
    for picture in &pictures {
        let committed = fs::read_to_string(folder.join(&picture.file)).unwrap_or_default();
        assert!(
            committed == picture.svg,
            "{} is old; {REFRESH}",
            picture.file
        );
    }
    let files = fs::read_dir(&folder)
        .expect("the pictures are there")
        .count();
    assert_eq!(files, pictures.len() + 1, "each file is drawn by the code");
}

#[test]
fn tables_of_the_document_are_those_of_this_engine() {
    let path = workspace().join("docs/experiments.md");
    let document = fs::read_to_string(path).expect("the document is there");
    let fresh = with_tables(&document, &results().markdown()).expect("it has a place for tables");
    assert!(document == fresh, "docs/experiments.md is old; {REFRESH}");
    for picture in results().pictures() {
        assert!(document.contains(&format!("](pictures/{})", picture.file)));
    }
}

#[test]
fn methods_that_remember_let_the_new_service_catch_up() {
    let by_tens = |seconds: &Vec<u64>| -> Vec<u64> {
        seconds.chunks(10).map(|ten| ten.iter().sum()).collect()
    };
    let [in_turn, bandwidth, connections] = &results().newcomers;
    let mut expected = vec![200; 12];
    expected[..4].copy_from_slice(&[40, 80, 120, 160]);
    assert_eq!(by_tens(in_turn), expected);
    assert_eq!(by_tens(bandwidth)[..6], expected[..6]);
    assert_eq!(bandwidth[50..56], [24, 24, 17, 16, 19, 20]);
    assert_eq!(bandwidth.iter().max(), Some(&24));
    let grown = [40, 80, 120, 160, 200, 240, 280, 320, 360, 400, 400, 200];
    assert_eq!(
        (by_tens(connections), connections.iter().max()),
        (grown.into(), Some(&44))
    );
}

#[test]
fn seeds_agree_and_differ() {
    let setup = Setup {
        method: "RANDOM",
        services: 5,
        faulty: 1,
        fault: Fault::Hang,
        reports: false,
    };
    let tallies = [SEED, SEED, SEED + 1].map(|seed| closed_loop(setup, 5, 10_000, seed));
    assert_eq!(tallies[0], tallies[1]);
    assert_ne!(tallies[0], tallies[2]);
    assert!(
        tallies
            .iter()
            .all(|tally| Comparison::lost(0.2, tally).agrees())
    );
}

/// What was measured of a failing service, as committed.
fn measured() -> (u64, Vec<Measured>) {
    let path = workspace().join("docs/measured/failing.json");
    let text = fs::read_to_string(path).expect("the results are there");
    failing::from_json(&text.parse().expect("JSON"))
}

#[test]
fn what_was_measured_of_a_failing_service_is_whole_and_keeps_to_its_targets() {
    let (seed, results) = measured();
    assert_eq!(seed, failing::SEED);
    let cells: Vec<_> = results.iter().map(|measured| measured.cell).collect();
    assert_eq!(cells, failing::cells());
    for Measured { cell, tally } in &results {
        assert_eq!(tally.length, Lengths::FULL.of(cell), "{cell:?}");
    }
    assert_eq!(report::misses(&results), [""; 0]);
}

#[test]
fn document_and_picture_of_a_failing_service_are_those_of_its_results() {
    let (seed, results) = measured();
    let docs = workspace().join("docs");
    let document = fs::read_to_string(docs.join("experiments.md")).expect("the document is there");
    let fresh = report::with_tables(&document, seed, &results).expect("it has a place for tables");
    let picture = of_failing(&results, seed);
    let committed = fs::read_to_string(docs.join("pictures").join(&picture.file));
    let again = "run scripts/experiments/failing --from docs/measured/failing.json --docs docs";
    assert!(document == fresh, "docs/experiments.md is old; {again}");
    assert!(
        committed.is_ok_and(|committed| committed == picture.svg),
        "the picture is old; {again}"
    );
    assert!(document.contains(&format!("](pictures/{})", picture.file)));
}

/// Runs the experiment of a failing service for a moment; returns its exit status and what it prints.
fn fail(options: &str) -> (Option<i32>, String) {
    // It takes the daemon that stands beside it.
    binary("sluiced");
    let ran = Command::new(env!("CARGO_BIN_EXE_sluice-failing"))
        .args(options.split(' '))
        .output()
        .expect("it runs");
    let printed = String::from_utf8(ran.stdout).expect("text");
    (ran.status.code(), printed)
}

#[test]
fn experiment_of_a_failing_service_runs_and_has_its_shape() {
    let line = Regex::new(
        r"^\| 5 \| LEASTCONNECTION \| \d+\.\d ms \| (\d+\.\d{3} %|-) \| (\d+\.\d{3} % \(\d+ of \d+\), \d+/s \| ?){2}$",
    )
    .expect("a pattern");
    for (fault, words) in [
        ("hangs", "hangs"),
        ("closes", "closes at once"),
        ("refuses", "refuses"),
    ] {
        let options =
            format!("--fault {fault} --method LEASTCONNECTION --clients 5 --seconds 2 --seed 7");
        let (code, printed) = fail(&options);
        let lines: Vec<_> = printed.lines().collect();
        assert_eq!((code, lines.len()), (Some(0), 8), "{printed}");
        assert_eq!(
            lines[..7],
            [
                "Seed 7. Calls lost; in brackets how many of how many.",
                "",
                &format!("**One of five services {words}**"),
                "",
                "| clients | method | a good call | formula | without TCP-INLINE | with TCP-INLINE |",
                "| --- | --- | --- | --- | --- | --- |",
                lines[6],
            ]
        );
        assert!(line.is_match(lines[6]), "{}", lines[6]);
        let none_lost = lines[6].matches("| 0.000 % (0 of ").count();
        assert_eq!(
            none_lost,
            if fault == "refuses" { 2 } else { 0 },
            "{printed}"
        );
    }
    assert_eq!(fail("--fault dances").0, Some(2));
}

const REFRESH: &str = "run scripts/experiments/simulate and look at what changed";
