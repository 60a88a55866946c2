//! USER.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::process::{Pid, test_kill_process};
use sluice_monitor::{Check, Outcome, Probe, Program, Report};
use tempfile::TempDir;

use super::{ask, probe};

/// Writes a script for `sh` and returns its file.
///
/// Another program writes it: what this process has open for writing, children of the tests beside
/// this one have for a moment too, and a file that is open for writing cannot be run.
pub(super) fn script(folder: &TempDir, text: &str) -> PathBuf {
    let path = folder.path().join("script");
    let written = folder.path().join("text");
    fs::write(&written, format!("#!/bin/sh\n{text}\n")).unwrap();
    let install = Command::new("install")
        .args(["-m", "755"])
        .args([&written, &path])
        .status();
    assert!(install.unwrap().success());
    path
}

fn user(path: &Path, args: &[&str]) -> Probe {
    probe(Check::User(Program {
        path: path.to_owned(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
    }))
}

async fn run_script(text: &str, args: &[&str]) -> Report {
    let folder = TempDir::new().unwrap();
    run_file(&script(&folder, text), args).await
}

async fn run_file(path: &Path, args: &[&str]) -> Report {
    ask(&user(path, args), "127.0.0.1:80".parse().unwrap()).await
}

#[tokio::test]
async fn status_decides_and_the_first_line_is_told() {
    let report = run_script("echo; echo 'all well.'; exit 0", &[]).await;
    assert_eq!(report.text, "Success - Probe succeeded: all well.");
    assert_eq!(report.outcome, Outcome::Passed);

    let report = run_script("echo no disk >&2; exit 3", &[]).await;
    assert_eq!(
        report.text,
        "Failure - The script ended with status 3: no disk."
    );

    let report = run_script("kill -9 $$", &[]).await;
    assert_eq!(report.text, "Failure - The script was ended by signal 9.");
}

#[tokio::test]
async fn arguments_are_words_and_no_shell_reads_them() {
    let args = ["a b", "$(id)", ";exit 1", ""];
    let report = run_script("printf '<%s>' \"$@\"", &args).await;
    assert_eq!(report.received, "<127.0.0.1><80><a b><$(id)><;exit 1><>");
    assert_eq!(report.outcome, Outcome::Passed);
}

#[tokio::test]
async fn program_gets_no_input_and_little_environment() {
    let report = run_script("cat; env | cut -d= -f1 | sort | tr '\\n' ' '", &[]).await;
    // The shell itself sets the last ones.
    assert!(
        report.received.starts_with("PATH PWD"),
        "{}",
        report.received
    );
}

#[tokio::test]
async fn program_that_is_not_there_fails() {
    let report = ask(
        &user(Path::new("/nowhere/x"), &[]),
        "127.0.0.1:80".parse().unwrap(),
    )
    .await;
    let text = "Failure - The script cannot be run: no such file or directory.";
    assert_eq!(report.text, text);
}

#[tokio::test]
async fn program_that_floods_its_output_ends() {
    let report = run_script("trap '' PIPE; while :; do echo xxxxxxxxxxxxxxxx; done", &[]).await;
    assert_eq!(
        report.text,
        "Failure - The script printed more than 65536 bytes."
    );
}

#[tokio::test]
async fn nothing_of_a_program_that_does_not_end_is_left() {
    let folder = TempDir::new().unwrap();
    let pids = folder.path().join("pids");
    let text = "trap '' TERM HUP INT; sleep 1000 & echo $! $$ > $3.new; mv $3.new $3; \
                while :; do wait; done";
    let path = script(&folder, text);
    let file = pids.to_str().unwrap().to_owned();
    let wait_for = pids.clone();
    tokio::spawn(async move {
        while !wait_for.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        tokio::time::pause();
    });
    let report = run_file(&path, &[&file]).await;
    assert_eq!(
        report.text,
        "Failure - Probe timed out: the script did not end."
    );
    for pid in fs::read_to_string(&pids).unwrap().split_whitespace() {
        gone(pid.parse().unwrap());
    }
}

#[tokio::test]
async fn children_of_a_program_that_has_ended_are_ended() {
    // The child keeps the output open, which must not keep the probe.
    let report = run_script("sleep 1000 & echo $!; exit 0", &[]).await;
    assert_eq!(report.outcome, Outcome::Passed);
    assert!(report.took < Duration::from_secs(900));
    let pid = report.received.trim_end_matches(r"\n");
    gone(pid.parse().unwrap());
}

/// Waits until a killed process is reaped by whoever has to, or is a zombie.
fn gone(pid: i32) {
    let pid = Pid::from_raw(pid).unwrap();
    for _ in 0..6000 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
        let is_dead = stat.is_ok_and(|stat| {
            let state = stat.rsplit(')').next().unwrap_or_default();
            state.trim_start().starts_with(['Z', 'X'])
        });
        if is_dead || test_kill_process(pid).is_err() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{pid:?} lives");
}
