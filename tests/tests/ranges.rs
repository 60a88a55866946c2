//! Ranges in names and addresses, over the real daemon: typed, as words, from a file, at the start
//! and in a check.

use sluice_tests::daemon::{Daemon, daemon_command, new_folder};
use std::fs;
use std::sync::Arc;

/// Two lines with ranges, and what they make.
const LINES: &str = "add server s[1-3] 10.0.0.[1-3]\nadd service web[08-10] s[1-3] TCP 80\n";
const MADE: &str = "add server s1 10.0.0.1\nadd server s2 10.0.0.2\nadd server s3 10.0.0.3\n\
                    add service web08 s1 TCP 80\nadd service web09 s2 TCP 80\n\
                    add service web10 s3 TCP 80\n";

fn running(daemon: &Daemon) -> String {
    let text = daemon.ok("show ns runningConfig");
    let kept = text.lines().filter(|line| line.starts_with("add s"));
    // What stands at its default is of no interest here.
    let bare = kept.map(|line| line.split(" -").next().unwrap_or_default());
    bare.map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_line_and_words_and_a_file_make_the_same() {
    let (lines, words, file) = (Daemon::start(), Daemon::start(), Daemon::start());
    for line in LINES.lines() {
        assert_eq!(lines.ok(line), " Done\n");
        let ran = words.sluice(&line.split(' ').collect::<Vec<_>>());
        assert_eq!((ran.out.as_str(), ran.code), (" Done\n", 0));
    }
    let ran = file.batch(LINES);
    assert_eq!(ran.out, " Done\n Done\n");
    assert_eq!(ran.err, "2 commands, 0 failed\n");
    for daemon in [&lines, &words, &file] {
        assert_eq!(running(daemon), MADE);
    }
}

#[test]
fn the_answers_of_all_are_one() {
    let daemon = Daemon::start_with(MADE);
    let one = |name: &str| {
        daemon
            .ok(&format!("show server {name}"))
            .replace(" Done\n", "")
    };
    assert_eq!(
        daemon.ok("show server s[1-3]"),
        format!("{}{}{} Done\n", one("s1"), one("s2"), one("s3"))
    );
    let document = daemon.json("show server s[2-3]");
    let names: Vec<_> = document
        .as_array()
        .into_iter()
        .flatten()
        .map(|row| &row["name"])
        .collect();
    assert_eq!(names, ["s2", "s3"]);
    assert_eq!(daemon.ok("show server s[2-3] | grep 10.0.0.1"), " Done\n");
}

#[test]
fn what_is_refused_is_listed_and_the_rest_is_done() {
    let daemon = Daemon::start_with("add server s2 10.0.0.2\n");
    let ran = daemon.run("add server s[1-3] 10.0.0.[1-3]");
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert_eq!(
        ran.err,
        "ERROR: Some commands failed [1 of 3]\n  add server s2 10.0.0.2: Resource already exists\n"
    );
    let ran = daemon.run("rm server x[1-2]");
    assert_eq!(
        ran.err,
        "ERROR: All commands failed [2 of 2]\n  rm server x1: No such resource [name, x1]\n  \
         rm server x2: No such resource [name, x2]\n"
    );
    // One that exists is shown all the same.
    let ran = daemon.run("show server s[3-4]");
    assert!(
        ran.out.contains("s3") && !ran.out.contains("Done"),
        "{ran:?}"
    );
    assert!(
        ran.err
            .starts_with("ERROR: Some commands failed [1 of 2]\n"),
        "{ran:?}"
    );
    // A line of which one element is no command does nothing at all.
    let ran = daemon.run("add server t[5-6] 10.0.0.[255-256]");
    assert!(ran.err.starts_with("ERROR: Invalid IP address"), "{ran:?}");
    assert_eq!(daemon.run("show server t5").code, 1);
}

#[test]
fn a_file_that_checks_clean_starts_the_same() {
    let folder = new_folder();
    let path = folder.path().join("ns.conf");
    fs::write(&path, LINES).expect("the folder is ours");
    let daemon = Daemon::launch(&mut daemon_command(folder.path()), Arc::new(folder));
    assert_eq!(running(&daemon), MADE);
    let file = path.to_str().expect("the folder's name is plain");
    let ran = daemon.sluice(&["--check", file]);
    assert_eq!((ran.err.as_str(), ran.code), ("2 commands, 0 failed\n", 0));
    daemon.ok("save ns config");
    let saved = fs::read_to_string(&path).expect("it was saved");
    assert!(!saved.contains('['), "{saved}");
}

#[test]
fn what_a_range_of_a_file_cannot_do_is_told_and_kept_by_itself() {
    let text = format!("add server s2 10.9.9.9\n{LINES}add server x[3-1] 10.0.0.1\n");
    let daemon = Daemon::start_with(&text);
    let config = daemon.ok("show ns config");
    let path = daemon.config();
    let path = path.display();
    let failures = format!(
        "\t\t{path}:2: ERROR: Resource already exists\n\
         \t\t{path}:4: ERROR: Range minimum exceeds range maximum [name, x[3-1]]\n"
    );
    assert!(config.ends_with(&format!("{failures} Done\n")), "{config}");
    daemon.ok("save ns config -force");
    let saved = fs::read_to_string(daemon.config()).expect("it was saved");
    assert!(saved.contains("add server s2 10.0.0.2"), "{saved}");
    assert!(saved.contains("add server x[3-1] 10.0.0.1"), "{saved}");
    assert!(!saved.contains("s[1-3]"), "{saved}");

    let again = daemon.folder().path().join("again.conf");
    fs::write(&again, &text).expect("the folder is ours");
    let file = again.to_str().expect("the folder's name is plain");
    let ran = daemon.sluice(&["--check", file]);
    assert_eq!(
        ran.err,
        format!(
            "{file}:2: ERROR: Some commands failed [1 of 3]\n  \
             add server s2 10.0.0.2: Resource already exists\n\
             {file}:4: ERROR: Range minimum exceeds range maximum [name, x[3-1]], column 12\n  \
             type x[1-3]\n4 commands, 2 failed\n"
        )
    );
}
