//! The shell on a pseudo terminal: keys, help, history, what it says about the daemon.

mod fake;

use expectrl::{Eof, Expect, Session, session::OsSession};
use fake::{FakeDaemon, Folder, program};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

/// The prompt as it is drawn, once the shell reads keys.
const SAVED: &str = "\x1b[K> \r\x1b[2C";
const UNSAVED: &str = "\x1b[K*> \r\x1b[3C";

/// What is written when the shell stops reading keys, to run what was typed.
const RUNNING: &str = "\x1b[?2004l";

const TAB: &str = "\t";
const UP: &str = "\x1b[A";
const BACKSPACE: &str = "\x7f";
const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";

fn open(socket: &Path, folder: &Path) -> OsSession {
    let mut shell = Session::spawn(program(socket, folder, &[])).expect("a terminal is to be had");
    shell.set_expect_timeout(Some(Duration::from_secs(20)));
    shell
}

/// Starts the shell and waits for its first prompt.
fn shell(daemon: &FakeDaemon) -> OsSession {
    let mut shell = open(&daemon.socket(), daemon.folder.path());
    expect(&mut shell, "Ctrl-D to leave");
    expect(&mut shell, SAVED);
    shell
}

fn expect(shell: &mut OsSession, text: &str) {
    if let Err(error) = shell.expect(text) {
        panic!("{text:?} was not printed: {error}");
    }
}

fn type_keys(shell: &mut OsSession, keys: &str) {
    shell.send(keys).expect("the shell reads");
}

/// Types a line and waits until it is done and the shell reads keys again.
fn enter(shell: &mut OsSession, line: &str) {
    type_keys(shell, &format!("{line}\r"));
    expect(shell, " Done");
    expect(shell, UNSAVED);
}

fn leave(mut shell: OsSession) {
    type_keys(&mut shell, CTRL_D);
    shell.expect(Eof).expect("the shell ends");
}

fn history(daemon: &FakeDaemon) -> Vec<String> {
    let path = daemon.folder.path().join("state/sluice/history");
    let text = fs::read_to_string(path).expect("there is a history");
    text.lines()
        .filter(|line| *line != "#V2")
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_command_is_run_and_unsaved_changes_are_marked_until_saved() {
    let daemon = FakeDaemon::start();
    let mut shell = shell(&daemon);
    enter(&mut shell, "add server s1 10.0.0.1");
    type_keys(&mut shell, "save ns config\r");
    expect(&mut shell, " Done");
    expect(&mut shell, SAVED);
    leave(shell);
    assert_eq!(daemon.seen(), ["add server s1 10.0.0.1", "save ns config"]);
}

#[test]
fn clearing_everything_is_asked_for_first() {
    let daemon = FakeDaemon::start();
    let mut shell = shell(&daemon);
    for answer in ["n\r", "\r", "yess\r", CTRL_D] {
        type_keys(&mut shell, "clear config basic\r");
        expect(&mut shell, "clear the configuration (Y/N)? [N]:");
        type_keys(&mut shell, answer);
        expect(&mut shell, SAVED);
    }
    assert!(daemon.seen().is_empty());
    type_keys(&mut shell, "clear config basic\r");
    expect(&mut shell, "clear the configuration (Y/N)? [N]:");
    enter(&mut shell, "y");
    enter(&mut shell, "clear config -force full");
    leave(shell);
    assert_eq!(
        daemon.seen(),
        [
            "clear ns config basic -force",
            "clear ns config full -force"
        ]
    );
}

#[test]
fn the_prompt_reminds_of_what_is_to_be_confirmed() {
    let daemon = FakeDaemon::start();
    let mut shell = shell(&daemon);
    type_keys(&mut shell, "apply -confirm 60\r");
    expect(&mut shell, " Done");
    expect(&mut shell, "\x1b[Kconfirm?> \r\x1b[10C");
    enter(&mut shell, "confirm");
    leave(shell);
}

#[test]
fn leaving_with_unsaved_changes_says_so() {
    let daemon = FakeDaemon::start();
    let mut shell = shell(&daemon);
    enter(&mut shell, "add server s1 10.0.0.1");
    type_keys(&mut shell, "exit\r");
    expect(&mut shell, "changes that are not saved");
    shell.expect(Eof).expect("the shell ends");
}

#[test]
fn tab_completes_words_and_live_names() {
    let daemon = FakeDaemon::start();
    let mut shell = shell(&daemon);
    type_keys(&mut shell, &format!("ena{TAB}lb vse{TAB}vs_{TAB}"));
    expect(&mut shell, "vs_alpha  vs_beta");
    enter(&mut shell, &format!("b{TAB}"));
    leave(shell);
    assert_eq!(daemon.seen(), ["enable lb vserver vs_beta"]);
}

#[test]
fn a_question_mark_explains_at_the_cursor_and_keeps_the_line() {
    let daemon = FakeDaemon::start();
    let mut shell = shell(&daemon);
    type_keys(&mut shell, "enable ?");
    expect(&mut shell, "\n  service ");
    expect(&mut shell, "\x1b[K> enable ");
    enter(&mut shell, "server s1");
    type_keys(&mut shell, "add server ?");
    expect(&mut shell, "\n   <name>\r\n         ");
    expect(&mut shell, "\x1b[K*> add server ");
    enter(&mut shell, "s2 10.0.0.2");
    type_keys(&mut shell, "bind lb vserver v s -weight ?");
    expect(&mut shell, "\n   -weight <n>\r\n");
    expect(&mut shell, "Value: 1-100");
    type_keys(&mut shell, CTRL_C);
    expect(&mut shell, UNSAVED);
    leave(shell);
    let lines = ["enable server s1", "add server s2 10.0.0.2"];
    assert_eq!(daemon.seen(), lines);
    assert_eq!(history(&daemon), lines);
}

#[test]
fn a_question_mark_in_quotes_is_text() {
    let daemon = FakeDaemon::start();
    let mut shell = shell(&daemon);
    enter(&mut shell, "set server s1 -comment \"why ?\"");
    leave(shell);
    assert_eq!(daemon.seen(), ["set server s1 -comment \"why ?\""]);
}

#[test]
fn a_fault_is_pointed_at_below_what_was_typed() {
    let daemon = FakeDaemon::start();
    let mut shell = shell(&daemon);
    type_keys(&mut shell, "show server -nosuch\r");
    expect(
        &mut shell,
        "\n              ^^^^^^^\r\nERROR: No such argument [-nosuch]",
    );
    expect(&mut shell, SAVED);
    leave(shell);
    assert!(daemon.seen().is_empty());
}

#[test]
fn control_c_drops_the_line_and_control_d_ends_the_shell() {
    let daemon = FakeDaemon::start();
    let mut shell = shell(&daemon);
    type_keys(&mut shell, &format!("rm server s1{CTRL_C}"));
    expect(&mut shell, SAVED);
    enter(&mut shell, "enable server s1");
    leave(shell);
    assert_eq!(daemon.seen(), ["enable server s1"]);
}

#[test]
fn a_paste_of_several_lines_runs_each() {
    let daemon = FakeDaemon::start();
    let mut shell = shell(&daemon);
    let lines = [
        "enable server a",
        "set server a -comment \"no help ?\"",
        "enable server b",
    ];
    type_keys(
        &mut shell,
        &format!("\x1b[200~{}\n\x1b[201~\r", lines.join("\n")),
    );
    for line in lines {
        expect(&mut shell, &format!("\n> {line}\r\n Done"));
    }
    expect(&mut shell, UNSAVED);
    leave(shell);
    assert_eq!(daemon.seen(), lines);
    assert_eq!(history(&daemon), lines);
}

#[test]
fn history_is_private_shared_and_unaltered_by_editing() {
    let daemon = FakeDaemon::start();
    let mut first = shell(&daemon);
    let mut second = shell(&daemon);
    enter(&mut first, "enable server v1");
    enter(&mut first, "enable server v1");
    enter(&mut second, "enable server other");
    // Recalled, changed and run: the recalled line stays as it was.
    enter(&mut first, &format!("{UP}{BACKSPACE}2"));
    leave(first);
    leave(second);
    assert_eq!(
        history(&daemon),
        [
            "enable server v1",
            "enable server other",
            "enable server v2"
        ]
    );
    let path = daemon.folder.path().join("state/sluice/history");
    let mode = fs::metadata(path)
        .expect("it is there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let mut third = open(&daemon.socket(), daemon.folder.path());
    expect(&mut third, UNSAVED);
    enter(&mut third, &format!("{UP}{UP}"));
    leave(third);
    assert_eq!(
        daemon.seen().last().map(String::as_str),
        Some("enable server other")
    );
}

#[test]
fn without_a_daemon_the_shell_says_what_to_do() {
    let folder = Folder::new();
    let mut shell = open(&folder.path().join("no.sock"), folder.path());
    expect(&mut shell, "ERROR: no daemon listens on ");
    expect(&mut shell, "start sluiced");
    shell.expect(Eof).expect("the shell ends");
    let status = shell.get_process().wait().expect("it was started here");
    assert!(format!("{status:?}").ends_with(", 2)"), "{status:?}");
}

#[test]
fn a_daemon_that_went_and_came_back_is_found_again() {
    let daemon = FakeDaemon::start();
    let mut shell = shell(&daemon);
    let away = daemon.folder.path().join("away");
    fs::rename(daemon.socket(), &away).expect("it is there");
    type_keys(&mut shell, "enable server hangup\r");
    expect(&mut shell, "whether the command took effect is not known");
    expect(&mut shell, SAVED);
    type_keys(&mut shell, "enable server a\r");
    expect(&mut shell, "ERROR: no daemon listens on ");
    expect(&mut shell, SAVED);
    fs::rename(&away, daemon.socket()).expect("it is there");
    enter(&mut shell, "enable server b");
    leave(shell);
    assert_eq!(daemon.seen(), ["enable server hangup", "enable server b"]);
}

#[test]
fn an_unmarked_paste_of_several_lines_runs_each() {
    for end in ["\r", "\n"] {
        let daemon = FakeDaemon::start();
        let mut shell = shell(&daemon);
        let lines = ["enable server a", "enable server b", "enable server c"];
        type_keys(&mut shell, &(lines.join(end) + end));
        for _ in lines {
            expect(&mut shell, " Done");
            expect(&mut shell, UNSAVED);
        }
        leave(shell);
        assert_eq!(daemon.seen(), lines, "{end:?}");
    }
}

#[test]
fn lines_typed_while_a_command_runs_are_run_after_it() {
    let daemon = FakeDaemon::start();
    let mut shell = shell(&daemon);
    type_keys(&mut shell, "enable server hold\r");
    expect(&mut shell, RUNNING);
    type_keys(&mut shell, "enable server a\renable server b\r");
    daemon.open_gate();
    for _ in 0..3 {
        expect(&mut shell, " Done");
        expect(&mut shell, UNSAVED);
    }
    leave(shell);
    assert_eq!(
        daemon.seen(),
        ["enable server hold", "enable server a", "enable server b"]
    );
}

#[test]
fn the_echo_of_a_paste_shows_the_prompt_it_came_at() {
    let daemon = FakeDaemon::start();
    let mut shell = shell(&daemon);
    enter(&mut shell, "enable server a");
    type_keys(
        &mut shell,
        "\x1b[200~enable server b\nshow server -nosuch\n\x1b[201~\r",
    );
    expect(&mut shell, "\n*> enable server b\r\n Done");
    expect(
        &mut shell,
        "\n*> show server -nosuch\r\n               ^^^^^^^\r\nERROR: ",
    );
    expect(&mut shell, UNSAVED);
    leave(shell);
}

#[test]
fn control_c_ends_the_wait_for_an_answer_and_not_the_shell() {
    let daemon = FakeDaemon::start();
    let mut shell = shell(&daemon);
    // What is pasted behind the command is not run either.
    type_keys(&mut shell, "enable server hang\renable server never\r");
    daemon.wait_for("enable server hang");
    type_keys(&mut shell, CTRL_C);
    expect(
        &mut shell,
        "\nERROR: interrupted; whether the command took effect is not known\r\n",
    );
    expect(&mut shell, SAVED);
    type_keys(&mut shell, "show server hang\r");
    daemon.wait_for("show server hang");
    type_keys(&mut shell, CTRL_C);
    expect(&mut shell, "\nERROR: interrupted\r\n");
    expect(&mut shell, SAVED);
    enter(&mut shell, "enable server a");
    leave(shell);
    assert_eq!(
        daemon.seen().last().map(String::as_str),
        Some("enable server a")
    );
    assert!(!daemon.seen().contains(&"enable server never".to_owned()));
}

#[test]
fn control_c_ends_a_file_at_the_command_that_hangs() {
    let daemon = FakeDaemon::start();
    let file = "enable server hang\nenable server never\n";
    daemon.folder.write("f", file);
    let mut shell = shell(&daemon);
    type_keys(&mut shell, "batch -fileName f\r");
    expect(&mut shell, "exec: enable server hang");
    type_keys(&mut shell, CTRL_C);
    expect(&mut shell, "f:1: ERROR: interrupted; ");
    expect(&mut shell, SAVED);
    enter(&mut shell, "enable server a");
    leave(shell);
    assert!(!daemon.seen().contains(&"enable server never".to_owned()));
}

#[test]
fn a_byte_that_is_not_utf8_costs_its_line_and_not_the_shell() {
    let daemon = FakeDaemon::start();
    let mut shell = shell(&daemon);
    let latin = b"set server a -comment \"caf\xe9\"\renable server never\r";
    shell.send(latin).expect("the shell reads");
    expect(&mut shell, "ERROR: what was typed is not UTF-8; ");
    expect(&mut shell, SAVED);
    enter(&mut shell, "enable server b");
    leave(shell);
    assert_eq!(daemon.seen(), ["enable server b"]);
}
