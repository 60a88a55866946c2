//! The shell's keys over the real daemon: help at the cursor, completion down to live names, hints,
//! history, Ctrl-C and Ctrl-D.

use std::process::Command;
use std::time::Duration;

use expectrl::session::OsSession;
use expectrl::{Eof, Expect, Session};
use sluice_tests::binaries::binary;
use sluice_tests::daemon::Daemon;

const TAB: &str = "\t";
const UP: &str = "\x1b[A";
const RIGHT: &str = "\x1b[C";
const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";

/// The prompt as it is drawn, once the shell reads keys.
const SAVED: &str = "\x1b[K> \r\x1b[2C";
const UNSAVED: &str = "\x1b[K*> \r\x1b[3C";

fn shell(daemon: &Daemon) -> OsSession {
    let folder = daemon.folder();
    let mut command = Command::new(binary("sluice"));
    command
        .current_dir(folder.path())
        .env_clear()
        .env("TERM", "xterm")
        .env("HOME", folder.path())
        .arg("--socket")
        .arg(daemon.socket());
    let mut shell = Session::spawn(command).expect("a terminal is to be had");
    shell.set_expect_timeout(Some(Duration::from_secs(60)));
    expect(&mut shell, "Ctrl-D to leave");
    shell
}

#[track_caller]
fn expect(shell: &mut OsSession, text: &str) {
    if let Err(error) = shell.expect(text) {
        panic!("{text:?} was not printed: {error}");
    }
}

fn type_keys(shell: &mut OsSession, keys: &str) {
    shell.send(keys).expect("the shell reads");
}

fn enter(shell: &mut OsSession, keys: &str) {
    type_keys(shell, &format!("{keys}\r"));
    expect(shell, " Done");
    expect(shell, UNSAVED);
}

fn leave(mut shell: OsSession) {
    type_keys(&mut shell, CTRL_D);
    shell.expect(Eof).expect("the shell ends");
}

#[test]
fn words_options_values_and_live_names_are_completed() {
    let daemon = Daemon::start();
    let mut shell = shell(&daemon);
    expect(&mut shell, SAVED);
    // Words and a new name; then names that have come into being meanwhile.
    enter(&mut shell, &format!("ad{TAB}serve{TAB}web_one 10.0.0.1"));
    enter(
        &mut shell,
        &format!("ad{TAB}service{TAB} s_one web{TAB}TCP 80"),
    );
    enter(&mut shell, "add lb vserver v_one TCP 0.0.0.0 0");
    // An option, and a value of a closed list.
    enter(
        &mut shell,
        &format!("set lb vs{TAB}v{TAB}-lbm{TAB}SOURCEIPH{TAB}"),
    );
    enter(&mut shell, &format!("bind lb vs{TAB}v{TAB}s{TAB}"));
    leave(shell);
    let config = daemon.ok("show ns runningConfig");
    assert!(
        config.contains("add service s_one web_one TCP 80 "),
        "{config}"
    );
    assert!(config.contains(" -lbMethod SOURCEIPHASH"), "{config}");
    assert!(config.contains("bind lb vserver v_one s_one\n"), "{config}");
}

#[test]
fn help_and_hints_say_what_comes_next_without_enter() {
    let daemon = Daemon::start();
    daemon.ok("add server web_one 10.0.0.1");
    let mut shell = shell(&daemon);
    expect(&mut shell, UNSAVED);
    type_keys(&mut shell, "rm server ?");
    expect(&mut shell, "\n  web_one");
    expect(&mut shell, "\x1b[K*> rm server ");
    type_keys(&mut shell, CTRL_C);
    expect(&mut shell, UNSAVED);
    type_keys(&mut shell, "add server ");
    expect(&mut shell, "\x1b[2m<name>\x1b[0m");
    // The rest of a word is taken over, the name of a value is not.
    type_keys(&mut shell, RIGHT);
    type_keys(&mut shell, "web_two 10.0.0.2 -com");
    expect(&mut shell, "\x1b[2mment\x1b[0m");
    enter(&mut shell, &format!("{RIGHT} x"));
    leave(shell);
    let config = daemon.ok("show ns runningConfig");
    assert!(
        config.contains("add server web_two 10.0.0.2 -comment x\n"),
        "{config}"
    );
}

#[test]
fn earlier_commands_come_back_and_each_once() {
    let daemon = Daemon::start();
    let mut shell = shell(&daemon);
    expect(&mut shell, SAVED);
    enter(&mut shell, "add server a 10.0.0.1");
    enter(&mut shell, "disable server a");
    enter(&mut shell, "enable server a");
    enter(&mut shell, "disable server a");
    // Behind the last comes what was typed between the two that are the same, then the first.
    enter(&mut shell, &format!("{UP}{UP}"));
    assert!(daemon.ok("show server a").contains("ENABLED"));
    type_keys(&mut shell, &format!("rm server a{CTRL_C}"));
    expect(&mut shell, UNSAVED);
    type_keys(&mut shell, "history\r");
    expect(
        &mut shell,
        "    1  add server a 10.0.0.1\r\n    4  disable server a\r\n    5  enable server a\r\n    6  history\r\n Done",
    );
    expect(&mut shell, UNSAVED);
    leave(shell);
    assert!(daemon.ok("show server a").contains("ENABLED"));
}
