//! The measuring programme measures: one moment of it, with its namespaces, beside the way without a
//! balancer.

use std::process::Command;

use sluice_tests::binaries::binary;

#[test]
fn a_moment_of_the_bench_prints_its_table_and_leaves_nothing() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: network namespaces need root");
        return;
    }
    let namespaces = || std::fs::read_dir("/run/netns").map_or(0, Iterator::count);
    let before = namespaces();
    let folder = tempfile::tempdir().expect("a folder can be made");
    let (json, plot) = (
        folder.path().join("all.json"),
        folder.path().join("plot.svg"),
    );
    let run = Command::new(binary("sluice-bench"))
        .args([
            "run",
            "--rounds=1",
            "--seconds=0.1",
            "--peers=direct,sluice",
        ])
        .args(["--rows=ping-pong-1,udp-1-64B,bulk-1-up"])
        .arg("--sluiced")
        .arg(binary("sluiced"))
        .arg("--json")
        .arg(&json)
        .arg("--plot")
        .arg(&plot)
        .output()
        .expect("the programme starts");
    let (out, err) = (
        String::from_utf8_lossy(&run.stdout),
        String::from_utf8_lossy(&run.stderr),
    );
    assert!(run.status.success(), "{out}{err}");
    for line in [
        "| row | figure | direct | sluice |",
        "| bulk-1-up | Gbit/s |",
        "| udp-1-64B | /s |",
    ] {
        assert!(out.contains(line), "{line} in {out}");
    }
    let last = out.lines().last();
    assert_eq!(last, Some("Nothing was measured beside another relay."));
    let text = std::fs::read_to_string(&json).expect("the measurements were written");
    let all: serde_json::Value = serde_json::from_str(&text).expect("they are JSON");
    let measured = all["measurements"].as_array().expect("a list");
    assert!(
        measured
            .iter()
            .all(|entry| entry["median"].as_f64() >= Some(0.0)),
        "{text}"
    );
    assert!(plot.exists());
    assert_eq!(namespaces(), before, "namespaces are left");
}
