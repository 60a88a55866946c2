//! Commands from files and pipes: labels, summaries, what ends a file, nesting.

mod fake;

use fake::{FakeDaemon, Folder, SHOWN, ran, run};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

const DONE_TWICE: &str = " Done\n Done\n";

#[test]
fn whoever_wrote_the_file_its_lines_are_run() {
    for bytes in [
        &b"add server a 10.0.0.1\nadd server b 10.0.0.2\n"[..],
        b"add server a 10.0.0.1\r\n\r\n# comment\r\nadd server b 10.0.0.2\r\n",
        b"\xef\xbb\xbfadd server a 10.0.0.1\r\nadd server b 10.0.0.2",
        b"\n  # comment\n\tadd server a 10.0.0.1 \t\n   \nadd server b 10.0.0.2 # end",
    ] {
        let daemon = FakeDaemon::start();
        daemon.folder.write("f", bytes);
        let expected = ran(DONE_TWICE, "2 commands, 0 failed\n", 0);
        assert_eq!(daemon.run(&["-f", "f"], b""), expected);
        assert_eq!(daemon.run(&["-f", "-"], bytes), expected);
        assert_eq!(daemon.run(&[], bytes), expected);
        let once = ["add server a 10.0.0.1", "add server b 10.0.0.2"];
        assert_eq!(daemon.seen(), [once, once, once].concat());
    }
}

#[test]
fn a_refusal_names_file_and_line_and_the_rest_is_run() {
    let daemon = FakeDaemon::start();
    let bytes = b"rm server nope\nshow server\n";
    let shown = format!("{SHOWN} Done\n");
    assert_eq!(
        daemon.run(&[], bytes),
        ran(
            &shown,
            "-:1: ERROR: No such resource [name, nope]\n2 commands, 1 failed\n",
            1
        )
    );
    daemon.folder.write("f", bytes);
    assert_eq!(
        daemon.run(&["--stop-on-error", "-f", "f"], b""),
        ran(
            "",
            "f:1: ERROR: No such resource [name, nope]\n1 commands, 1 failed\n",
            1
        )
    );
    assert_eq!(
        daemon.seen(),
        ["rm server nope", "show server", "rm server nope"]
    );
}

#[test]
fn a_line_that_is_no_command_names_its_column() {
    let daemon = FakeDaemon::start();
    let ran = daemon.run(&[], b"show server -nosuch\n");
    let first = ran.err.lines().next().expect("there is an error");
    assert_eq!(first, "-:1: ERROR: No such argument [-nosuch], column 13");
    let ran = daemon.run(&[], b"\nshow \xc3\xa9\xff\nshow\xc2\xa0server\n");
    assert_eq!(ran.status, 1);
    assert!(
        ran.err
            .starts_with("-:2: ERROR: Invalid character [column 7, byte 0xFF]\n"),
        "{}",
        ran.err
    );
    assert!(
        ran.err
            .contains("\n-:3: ERROR: Invalid character [column 5, U+00A0]\n"),
        "{}",
        ran.err
    );
    assert!(ran.err.ends_with("\n2 commands, 2 failed\n"), "{}", ran.err);
    assert!(daemon.seen().is_empty());
}

#[test]
fn a_line_without_end_is_refused_and_the_next_one_run() {
    let daemon = FakeDaemon::start();
    let mut bytes = vec![b'x'; 200_000];
    bytes.extend_from_slice(b"\nadd server a 10.0.0.1\n");
    assert_eq!(
        daemon.run(&[], &bytes),
        ran(
            " Done\n",
            "-:1: ERROR: Line is too long [more than 65536 bytes]\n2 commands, 1 failed\n",
            1
        )
    );
}

#[test]
fn without_a_daemon_the_first_command_ends_it() {
    let folder = Folder::new();
    let socket = folder.path().join("no.sock");
    let lines = b"show server\nshow server\n";
    let ran = run(&socket, folder.path(), &[], lines);
    assert_eq!(ran.status, 2);
    assert!(
        ran.err.starts_with("-:1: ERROR: no daemon listens on "),
        "{}",
        ran.err
    );
    assert!(ran.err.ends_with("\n1 commands, 1 failed\n"), "{}", ran.err);
    assert_eq!(
        run(&socket, folder.path(), &["-f", "missing"], b"").status,
        2
    );
}

#[test]
fn quit_ends_a_file() {
    let daemon = FakeDaemon::start();
    let ran = daemon.run(&[], b"exit\nadd server a 10.0.0.1\n");
    assert_eq!(ran, fake::ran("", "1 commands, 0 failed\n", 0));
    assert!(daemon.seen().is_empty());
}

#[test]
fn a_file_in_a_command_is_echoed_and_repeated() {
    let daemon = FakeDaemon::start();
    daemon.folder.write("f", "# comment\nenable server a\n");
    let one = "exec: enable server a\n Done\n";
    assert_eq!(
        daemon.run(&["batch", "-fileName", "f", "-ntimes", "2"], b""),
        ran(&format!("{one}{one} Done\n"), "", 0)
    );
    assert_eq!(daemon.seen(), ["enable server a", "enable server a"]);
}

#[test]
fn the_output_of_a_file_goes_to_the_file_asked_for() {
    let daemon = FakeDaemon::start();
    daemon
        .folder
        .write("f", "rm server nope\nenable server a\n");
    assert_eq!(
        daemon.run(&["batch", "-fileName", "f", "-outfile", "log"], b""),
        ran("", "ERROR: Some commands failed [f, 1 of 2]\n", 1)
    );
    let log = fs::read_to_string(daemon.folder.path().join("log")).expect("it was written");
    assert_eq!(
        log,
        "exec: rm server nope\nf:1: ERROR: No such resource [name, nope]\n\
         exec: enable server a\n Done\n"
    );
    let itself = daemon.run(&["batch", "-fileName", "f", "-outfile", "f"], b"");
    assert_eq!(itself.status, 1);
    let kept = fs::read_to_string(daemon.folder.path().join("f")).expect("it is there");
    assert_eq!(kept, "rm server nope\nenable server a\n");
}

#[test]
fn a_missing_file_of_a_command_is_its_error() {
    let daemon = FakeDaemon::start();
    assert_eq!(
        daemon.run(&["batch", "-fileName", "missing", "-outfile", "log"], b""),
        ran("", "ERROR: No such file [missing]\n", 1)
    );
    assert!(!daemon.folder.path().join("log").exists());
    assert_eq!(
        daemon.run(&["batch", "-fileName", "."], b""),
        ran("", "ERROR: Not a file [.]\n", 1)
    );
}

#[test]
fn a_file_that_runs_itself_ends() {
    let daemon = FakeDaemon::start();
    daemon
        .folder
        .write("f", "enable server a\nbatch -fileName f\n");
    let ran = daemon.run(&["batch", "-fileName", "f"], b"");
    assert_eq!(ran.status, 1);
    assert_eq!(daemon.seen().len(), 8);
    assert!(ran.err.contains("Command not valid here"), "{}", ran.err);
}

#[test]
fn a_program_can_talk_through_a_pipe() {
    let daemon = FakeDaemon::start();
    let mut process = fake::program(&daemon.socket(), daemon.folder.path(), &[]);
    process
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = process.spawn().expect("the program was built");
    let mut stdin = child.stdin.take().expect("it is piped");
    let mut stdout = BufReader::new(child.stdout.take().expect("it is piped"));
    for _ in 0..2 {
        stdin.write_all(b"enable server a\n").expect("it reads");
        let mut line = String::new();
        stdout.read_line(&mut line).expect("output is UTF-8");
        assert_eq!(line, " Done\n");
    }
    drop(stdin);
    assert!(child.wait().expect("it was started here").success());
}

#[test]
fn a_check_names_a_bad_character_as_a_run_does() {
    let daemon = FakeDaemon::start();
    let file = daemon
        .folder
        .write("f", "# x\nshow\u{a0}server\nshow \u{feff}server\n");
    let checked = daemon.run(&["--check", &file], b"");
    assert_eq!(checked, daemon.run(&["-f", &file], b""));
    let second = format!("{file}:2: ERROR: Invalid character [column 5, U+00A0]\n");
    let third = format!("{file}:3: ERROR: Invalid character [column 6, U+FEFF]\n");
    assert!(checked.err.contains(&second), "{}", checked.err);
    assert!(checked.err.contains(&third), "{}", checked.err);
}

#[test]
fn what_cannot_be_read_is_a_usage_error_and_no_failed_command() {
    let daemon = FakeDaemon::start();
    for flag in ["-f", "--check"] {
        for name in [".", "nosuch"] {
            let ran = daemon.run(&[flag, name], b"");
            assert_eq!(ran.status, 2, "{flag} {name}");
            let start = format!("ERROR: {name} cannot be read: ");
            assert!(ran.err.starts_with(&start), "{}", ran.err);
            assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
        }
    }
}

#[test]
fn what_is_not_here_is_counted_by_feature_and_a_warning_told_once() {
    let daemon = FakeDaemon::start();
    let lines = "enable server odd\nadd cs vserver c HTTP\nenable server odd\n\
                 bind ssl vserver \"open\nset CS vserver c -x\nenable server odd\n";
    let file = daemon.folder.write("f", lines);
    let ran = daemon.run(&["-f", &file], b"");
    let sums = "2 warnings more say the same of other lines\n\
                3 skipped, of features that are not here: cs vserver 2, ssl vserver 1\n";
    assert_eq!(ran.status, 0);
    assert_eq!(
        ran.err,
        format!("{file}:1: Warning: odd\\x1b[2J\n{sums}6 commands, 0 failed\n")
    );
    assert_eq!(daemon.seen(), ["enable server odd"; 3]);
    let nested = daemon.run(&["batch", "-fileName", &file], b"");
    assert!(nested.err.ends_with(sums), "{}", nested.err);
}
