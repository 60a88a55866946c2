//! Saved files as the field has them, with the verdict on each line: what `--check` says is on record in
//! the corpus, and the start of the daemon and a batch say the same.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use sluice_tests::binaries::binary;
use sluice_tests::daemon::Daemon;

/// The verdict on each line that is refused or skipped, by its number.
type Verdicts = BTreeMap<u64, String>;

fn corpus() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let files = std::fs::read_dir(folder).expect("the corpus is in the repository");
    let files = files.map(|file| file.expect("it is a file").path());
    let mut files: Vec<PathBuf> = files
        .filter(|path| path.extension().is_some_and(|end| end == "conf"))
        .collect();
    files.sort();
    assert!(files.len() >= 4);
    files
}

fn check(path: &Path) -> Value {
    let ran = Command::new(binary("sluice"))
        .arg("--json")
        .arg("--check")
        .arg(path)
        .output()
        .expect("sluice runs");
    let text = String::from_utf8(ran.stdout).expect("JSON is UTF-8");
    serde_json::from_str(&text).expect("one document")
}

fn word<'a>(line: &'a Value, field: &str) -> &'a str {
    line[field].as_str().unwrap_or_default()
}

/// The report as it is on record: a line each, then the summary.
fn recorded(report: &Value) -> String {
    let mut text = String::new();
    for line in report["lines"].as_array().expect("lines") {
        let number = &line["line"];
        let column = line["column"]
            .as_u64()
            .map(|column| format!(", column {column}"));
        let column = column.unwrap_or_default();
        let said = match word(line, "verdict") {
            "skipped" => word(line, "feature").to_owned(),
            "error" => format!("{}{column}", word(line, "error")),
            "warning" => line["warnings"].to_string(),
            _ => String::new(),
        };
        writeln!(text, "{number} {} {said}", word(line, "verdict")).expect("a String");
        // The nearest word, not the lists of all: those grow with the table.
        let hints = line["hints"].as_array().into_iter().flatten();
        let hints = hints.filter_map(Value::as_str);
        for hint in hints.filter(|hint| hint.starts_with("did you mean ")) {
            writeln!(text, "    {hint}").expect("a String");
        }
    }
    let summary = report["summary"].to_string();
    let lines = text.lines().map(str::trim_end).chain([summary.as_str()]);
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn every_line_has_the_verdict_that_is_on_record() {
    for path in corpus() {
        let found = recorded(&check(&path));
        let record = path.with_extension("verdicts");
        if std::env::var_os("SLUICE_WRITE_VERDICTS").is_some() {
            std::fs::write(&record, &found).expect("the record can be written");
        }
        let expected = std::fs::read_to_string(&record).expect("the record is in the repository");
        let path = path.display();
        assert_eq!(
            found, expected,
            "{path}: SLUICE_WRITE_VERDICTS=1 cargo test -p sluice-tests --test corpus writes it anew"
        );
    }
}

fn refused(report: &Value) -> Verdicts {
    let lines = report["lines"].as_array().expect("lines").iter();
    let refused = lines.filter(|line| word(line, "verdict") == "error");
    refused
        .map(|line| {
            let number = line["line"].as_u64().expect("a number");
            (number, word(line, "error").to_owned())
        })
        .collect()
}

/// The errors of a log or of a batch: `FILE:LINE: ERROR: TEXT`, in a batch with the column behind.
fn told<'a>(lines: impl Iterator<Item = &'a str>, name: &str) -> Verdicts {
    let mut told = Verdicts::new();
    for line in lines {
        let Some(rest) = line.strip_prefix(&format!("{name}:")) else {
            continue;
        };
        let Some((number, text)) = rest.split_once(": ERROR: ") else {
            continue;
        };
        let is_column = |text: &str| {
            let digits = text.strip_prefix("column ").unwrap_or_default();
            !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit())
        };
        let text = match text.rsplit_once(", ") {
            Some((text, column)) if is_column(column) => text,
            Some(_) | None => text,
        };
        let number = number.parse().expect("a line number");
        told.insert(number, text.to_owned());
    }
    told
}

/// Lines that a file to be loaded must not hold and a batch may.
fn is_for_batches_alone(text: &str) -> bool {
    ["sh run", "save ns config"].contains(&text)
}

#[test]
fn the_start_and_a_batch_say_what_the_check_says() {
    for path in corpus() {
        let bytes = std::fs::read(&path).expect("it is in the repository");
        let bytes = on_this_host(&bytes, 1);
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("ns.conf");
        std::fs::write(&file, &bytes).expect("the folder is ours");
        let report = check(&file);
        let expected = refused(&report);

        let daemon = Daemon::start_with_bytes(&bytes);
        let name = daemon.config().display().to_string();
        let log = daemon.log();
        let found = told(log.iter().map(String::as_str), &name);
        assert_eq!(found, expected, "the start: {}", path.display());
        let status = daemon.json("show ns config");
        let (skipped, by_feature) = (&status["skipped"], &report["summary"]["skipped_by_feature"]);
        assert_eq!(skipped, by_feature, "{}", path.display());

        // It has the addresses that the next one needs.
        drop(daemon);
        let daemon = Daemon::start();
        let ran = daemon.sluice(&["-f", file.to_str().expect("a plain name")]);
        let name = file.display().to_string();
        let mut expected = expected;
        let lines = report["lines"].as_array().expect("lines").iter();
        for line in lines.filter(|line| is_for_batches_alone(word(line, "text"))) {
            expected.remove(&line["line"].as_u64().expect("a number"));
        }
        assert_eq!(
            told(ran.err.lines(), &name),
            expected,
            "the batch: {}",
            path.display()
        );
    }
}

/// Moves the addresses of the documentation to this host, where a start can listen on them; each process
/// and each test has its own.
fn on_this_host(bytes: &[u8], test: u8) -> Vec<u8> {
    let process = 1 + std::process::id() % 250;
    let mut text = bytes.to_vec();
    let anywhere = [(&b"UDP * 5353"[..], b"UDP 192.0.2.99 5353".to_vec())];
    let host = format!("127.{process}.{test}.").into_bytes();
    for (from, to) in anywhere.into_iter().chain([(&b"192.0.2."[..], host)]) {
        let mut moved = Vec::new();
        let mut rest = &text[..];
        while let Some(place) = rest.windows(from.len()).position(|window| window == from) {
            moved.extend_from_slice(&rest[..place]);
            moved.extend_from_slice(&to);
            rest = &rest[place + from.len()..];
        }
        moved.extend_from_slice(rest);
        text = moved;
    }
    text
}

#[test]
fn what_does_not_run_is_kept_through_save_and_start() {
    for path in corpus() {
        let bytes = std::fs::read(&path).expect("it is in the repository");
        let bytes = on_this_host(&bytes, 2);
        let daemon = Daemon::start_with_bytes(&bytes);
        let (running, status) = (
            daemon.ok("show ns runningConfig"),
            daemon.json("show ns config"),
        );
        let count = |status: &Value| status["boot_failures"].as_array().expect("rows").len();
        daemon.ok("save ns config -force");
        let saved = std::fs::read(daemon.config()).expect("it was saved");
        let daemon = Daemon::start_in(daemon.kill(), &[]);
        assert_eq!(
            daemon.ok("show ns runningConfig"),
            running,
            "{}",
            path.display()
        );
        let again = daemon.json("show ns config");
        assert_eq!(again["skipped"], status["skipped"], "{}", path.display());
        assert_eq!(count(&again), count(&status), "{}", path.display());
        daemon.ok("save ns config -force");
        let second = std::fs::read(daemon.config()).expect("it was saved");
        assert!(second == saved, "{}", path.display());
    }
}
