//! The shape of the workspace is a promise: which crate may know which, and what comes from outside.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;
use sluice_tests::binaries::workspace;

/// Which of our crates each crate may depend on, tests aside.
const EDGES: &[(&str, &[&str])] = &[
    (
        "sluice",
        &["sluice-protocol", "sluice-config", "sluice-command"],
    ),
    (
        "sluiced",
        &[
            "sluice-protocol",
            "sluice-config",
            "sluice-dataplane",
            "sluice-command",
            "sluice-balance",
        ],
    ),
    ("sluice-protocol", &["sluice-command"]),
    ("sluice-config", &["sluice-command", "sluice-balance"]),
    ("sluice-dataplane", &["sluice-balance"]),
    ("sluice-monitor", &[]),
    ("sluice-command", &[]),
    ("sluice-balance", &[]),
    ("sluice-bench", &[]),
];

fn metadata(args: &[&str]) -> Value {
    let output = Command::new(env!("CARGO"))
        .current_dir(workspace())
        .args(["metadata", "--format-version", "1", "--locked"])
        .args(args)
        .output()
        .expect("cargo runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON")
}

fn array<'a>(value: &'a Value, field: &str) -> &'a Vec<Value> {
    value[field].as_array().expect("an array")
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

/// Returns, per package of the workspace, the names of its direct dependencies that are not for tests.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let metadata = metadata(&["--no-deps"]);
    array(&metadata, "packages")
        .iter()
        .map(|package| {
            let names = array(package, "dependencies")
                .iter()
                .filter(|dependency| dependency["kind"].is_null())
                .map(|dependency| text(dependency, "name").to_owned());
            (text(package, "name").to_owned(), names.collect())
        })
        .collect()
}

#[test]
fn crates_know_only_what_the_architecture_lets_them() {
    let dependencies = dependencies();
    for (package, allowed) in EDGES {
        let ours: Vec<_> = dependencies[*package]
            .iter()
            .filter(|name| name.starts_with("sluice"))
            .collect();
        for name in ours {
            assert!(
                allowed.contains(&name.as_str()),
                "{package} must not depend on {name}"
            );
        }
    }
    let known = EDGES
        .iter()
        .map(|(package, _)| *package)
        .chain(["sluice-tests"]);
    let known: BTreeSet<_> = known.collect();
    for package in dependencies.keys() {
        assert!(
            known.contains(package.as_str()),
            "{package} has no row in EDGES"
        );
    }
}

#[test]
fn every_direct_dependency_has_its_reason_on_record() {
    let record = std::fs::read_to_string(workspace().join("docs/design/dependencies.md"))
        .expect("the record exists");
    for (package, names) in dependencies() {
        for name in names.iter().filter(|name| !name.starts_with("sluice")) {
            let row = format!("| `{name}` |");
            assert!(
                record.contains(&row),
                "{package} uses {name}; no row {row} in the record"
            );
        }
    }
}

#[test]
fn the_core_depends_on_a_hash_function_alone() {
    let pure = BTreeSet::from(["xxhash-rust".to_owned()]);
    assert_eq!(dependencies()["sluice-balance"], pure);
}

#[test]
fn bincode_is_the_second_version_and_stays_in_one_module() {
    let metadata = metadata(&[]);
    let versions: Vec<_> = array(&metadata, "packages")
        .iter()
        .filter(|package| text(package, "name") == "bincode")
        .map(|package| text(package, "version").to_owned())
        .collect();
    assert!(
        versions.iter().all(|version| version.starts_with("2.")),
        "{versions:?}"
    );

    let mut users = Vec::new();
    let mut folders: Vec<_> = ["crates", "cli", "daemon"]
        .map(|name| workspace().join(name))
        .to_vec();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the folder exists") {
            let path = entry.expect("the folder can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs")
                && std::fs::read_to_string(&path)
                    .expect("sources are text")
                    .contains("bincode::")
            {
                users.push(path.file_name().expect("a file has a name").to_owned());
            }
        }
    }
    assert_eq!(users, ["codec.rs"]);
}

#[test]
fn the_pure_crates_read_no_clock_and_do_no_input_or_output() {
    for member in ["balance", "command", "config"] {
        let mut folders = vec![workspace().join("crates").join(member).join("src")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("the folder exists") {
                let path = entry.expect("the folder can be read").path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                if path.file_name().is_some_and(|name| name == "tests.rs") {
                    continue;
                }
                let source = std::fs::read_to_string(&path).expect("sources are text");
                let source = source.split("#[cfg(test)]").next().unwrap_or_default();
                for word in [
                    "Instant::now",
                    "SystemTime",
                    "std::fs",
                    "std::io",
                    "std::thread",
                ] {
                    let line = source.lines().find(|line| line.contains(word));
                    let line = line.filter(|line| !line.trim_start().starts_with("//"));
                    assert_eq!(line, None, "{} is to be pure", path.display());
                }
            }
        }
    }
}
