//! One command as words: what is printed where, and the exit status.

mod fake;

use fake::{FakeDaemon, Folder, SHOWN, ran, run};
use std::io::{Read, Write};
use std::process::Stdio;

#[test]
fn each_word_is_a_token_and_a_single_word_with_blanks_is_a_line() {
    let daemon = FakeDaemon::start();
    let words = ["add", "server", "s1", "10.0.0.1", "-comment", "two words"];
    assert_eq!(daemon.run(&words, b""), ran(" Done\n", "", 0));
    let line = ["add server s2 10.0.0.2 -comment \"two words\""];
    assert_eq!(daemon.run(&line, b""), ran(" Done\n", "", 0));
    assert_eq!(
        daemon.seen(),
        [
            "add server s1 10.0.0.1 -comment \"two words\"",
            "add server s2 10.0.0.2 -comment \"two words\""
        ]
    );
}

#[test]
fn a_refusal_is_on_standard_error_alone_and_status_1() {
    let daemon = FakeDaemon::start();
    assert_eq!(
        daemon.run(&["rm", "server", "nope"], b""),
        ran("", "ERROR: No such resource [name, nope]\n", 1)
    );
    let misspelt = daemon.run(&["add", "server"], b"");
    assert!(misspelt.err.starts_with("ERROR: "), "{misspelt:?}");
    assert_eq!((misspelt.out.as_str(), misspelt.status), ("", 1));
    assert_eq!(daemon.seen(), ["rm server nope"]);
}

#[test]
fn an_answer_cannot_drive_the_terminal() {
    let daemon = FakeDaemon::start();
    let shown = format!("{SHOWN} Done\n");
    assert_eq!(daemon.run(&["sh", "server"], b""), ran(&shown, "", 0));
    assert_eq!(
        daemon.run(&["enable", "server", "odd"], b""),
        ran(" Done\n", "Warning: odd\\x1b[2J\n", 0)
    );
}

#[test]
fn json_is_one_document_and_nothing_else() {
    let daemon = FakeDaemon::start();
    let document = concat!(
        r#"[{"address":"10.0.0.1","comment":"a\u001b[2J\nERROR: forged","#,
        r#""name":"s1","services":[],"state":"ENABLED"}]"#
    );
    assert_eq!(
        daemon.run(&["--json", "show", "server"], b""),
        ran(&format!("{document}\n"), "", 0)
    );
    assert_eq!(
        daemon.run(&["--json", "add", "server", "s1", "10.0.0.1"], b""),
        ran("", "", 0)
    );
    assert_eq!(
        daemon.run(&["--json", "show", "server", "nope"], b""),
        ran("", "ERROR: No such resource [name, nope]\n", 1)
    );
}

#[test]
fn without_a_daemon_the_status_is_2_and_the_socket_is_named() {
    let folder = Folder::new();
    let socket = folder.path().join("no.sock");
    let ran = run(&socket, folder.path(), &["show", "server"], b"");
    assert_eq!((ran.out.as_str(), ran.status), ("", 2));
    let start = format!("ERROR: no daemon listens on {}", socket.display());
    assert!(ran.err.starts_with(&start), "{}", ran.err);
}

#[test]
fn a_daemon_that_hangs_up_leaves_the_effect_unknown() {
    let daemon = FakeDaemon::start();
    let ran = daemon.run(&["enable", "server", "hangup"], b"");
    assert_eq!(ran.status, 2);
    assert!(
        ran.err
            .ends_with("whether the command took effect is not known\n"),
        "{}",
        ran.err
    );
    assert_eq!(daemon.seen(), ["enable server hangup"]);
}

#[test]
fn help_needs_no_daemon() {
    let folder = Folder::new();
    let socket = folder.path().join("no.sock");
    let help = run(&socket, folder.path(), &["help", "add", "server"], b"");
    assert_eq!((help.err.as_str(), help.status), ("", 0));
    assert!(help.out.ends_with(" Done\n"), "{}", help.out);
    let question = run(&socket, folder.path(), &["add", "?"], b"");
    assert_eq!((question.err.as_str(), question.status), ("", 0));
    assert!(question.out.contains("server"), "{}", question.out);
}

#[test]
fn wrong_usage_is_status_2() {
    let daemon = FakeDaemon::start();
    for words in [
        &["--jsno", "show", "server"][..],
        &["-f", "x", "show"],
        &["--check"],
    ] {
        let ran = daemon.run(words, b"");
        assert_eq!((ran.out.as_str(), ran.status), ("", 2), "{words:?}");
    }
    assert!(daemon.seen().is_empty());
}

#[test]
fn check_tells_errors_from_unreadable_and_needs_no_daemon() {
    let folder = Folder::new();
    let socket = folder.path().join("no.sock");
    let check = |name: &str| run(&socket, folder.path(), &["--check", name], b"");
    folder.write("clean.conf", "# fine\nadd server s1 10.0.0.1\n");
    assert_eq!(check("clean.conf"), ran("", "1 commands, 0 failed\n", 0));
    folder.write("bad.conf", "add server s1 10.0.0.1\nadd server s1 10.0.0.2");
    assert_eq!(
        check("bad.conf"),
        ran(
            "",
            "bad.conf:2: ERROR: Resource already exists\n  show server s1\n2 commands, 1 failed\n",
            1
        )
    );
    assert_eq!(check("missing.conf").status, 2);
    assert_eq!(check(".").status, 2);
}

#[test]
fn a_reader_that_has_gone_stops_nothing() {
    let daemon = FakeDaemon::start();
    let mut process = fake::program(&daemon.socket(), daemon.folder.path(), &[]);
    let (reader, writer) = std::io::pipe().expect("pipes are to be had");
    process
        .stdin(Stdio::piped())
        .stdout(writer)
        .stderr(Stdio::piped());
    drop(reader);
    let mut child = process.spawn().expect("the program was built");
    // The command holds the other end of the pipe.
    drop(process);
    let mut stdin = child.stdin.take().expect("it is piped");
    stdin
        .write_all(b"show server\nadd server a 10.0.0.1\nadd server b 10.0.0.2\n")
        .expect("it reads");
    drop(stdin);
    let mut err = String::new();
    let mut stderr = child.stderr.take().expect("it is piped");
    stderr.read_to_string(&mut err).expect("output is UTF-8");
    assert_eq!(err, "3 commands, 0 failed\n");
    assert!(child.wait().expect("it was started here").success());
    assert_eq!(daemon.seen().len(), 3);
}

#[test]
fn an_answer_is_filtered_and_done_follows_unfiltered() {
    let daemon = FakeDaemon::start();
    let address = ran("\tIPAddress:   10.0.0.1\n Done\n", "", 0);
    for words in [
        &["show", "server", "|", "grep", "IPAddress"][..],
        &["show server|grep ipaddress -i"],
        &["sh", "server", "|", "grep", "-v", "-E", "Name|Comment"],
    ] {
        assert_eq!(daemon.run(words, b""), address, "{words:?}");
    }
    let none = daemon.run(&["show server | grep -c nothing"], b"");
    assert_eq!(none, ran("0\n Done\n", "", 0));
    let lines = b"show server | grep IPA\nrm server nope\nshow server | grep -x 'not this'\n";
    let error = "-:2: ERROR: No such resource [name, nope]\n3 commands, 1 failed\n";
    let filtered = daemon.run(&[], lines);
    assert_eq!(
        filtered,
        ran("\tIPAddress:   10.0.0.1\n Done\n Done\n", error, 1)
    );
}

#[test]
fn a_filter_that_cannot_be_used_runs_nothing() {
    let daemon = FakeDaemon::start();
    for (line, error) in [
        (
            "show server | grep '[a'",
            "ERROR: Invalid regular expression [[a, [ is not closed]\n",
        ),
        (
            "show server | grep",
            "ERROR: Required argument missing [pattern]\n",
        ),
        ("show server | more", "ERROR: No such command [more]\n"),
        (
            "rm server s1 | grep x",
            "ERROR: Command not valid here [grep]\n",
        ),
    ] {
        let ran = daemon.run(&[line], b"");
        assert!(ran.err.starts_with(error), "{line}: {ran:?}");
        assert_eq!((ran.out.as_str(), ran.status), ("", 1), "{line}");
    }
    let json = daemon.run(&["--json", "show server | grep x"], b"");
    assert!(
        json.err
            .starts_with("ERROR: Command not valid here [grep, --json]\n"),
        "{json:?}"
    );
    assert!(daemon.seen().is_empty());
}

#[test]
fn check_sums_up_what_is_skipped_and_tells_a_warning_once() {
    let daemon = FakeDaemon::start();
    let file = daemon.folder.write(
        "f",
        "add server a 10.0.0.1 -devno 1\nadd server b 10.0.0.2 -devno 2\nadd cs vserver c HTTP\n\
         bind cs vserver c -policyName p\nset ns hostName n\nset server a -coment x\n",
    );
    let ran = daemon.run(&["--check", &file], b"");
    let lines: Vec<&str> = ran.err.lines().collect();
    assert_eq!(
        lines,
        [
            &format!(
                "{file}:1: Warning: -devno has no effect here [it is an appliance's internal number]"
            ),
            &format!("{file}:6: ERROR: No such argument [-coment], column 14"),
            "  did you mean -comment?",
            "1 warnings more say the same of other lines",
            "3 skipped, of features that are not here: cs vserver 2, ns hostName 1",
            "2 run, 2 of them with warnings",
            "6 commands, 1 failed",
        ]
    );
    let ran = daemon.run(&["--json", "--check", &file], b"");
    assert_eq!((ran.status, ran.err.as_str()), (1, ""));
    let document: serde_json::Value = serde_json::from_str(&ran.out).expect("it is JSON");
    let verdicts = document["lines"].as_array().expect("lines").iter();
    let verdicts: Vec<&str> = verdicts
        .filter_map(|line| line["verdict"].as_str())
        .collect();
    assert_eq!(
        verdicts,
        [
            "warning", "warning", "skipped", "skipped", "skipped", "error"
        ]
    );
    assert_eq!(document["lines"][5]["column"], 14);
    assert_eq!(document["summary"]["skipped_by_feature"]["cs vserver"], 2);
}
