//! The commands that the shell carries out itself, from words, files and keys.

mod fake;

use expectrl::{Eof, Expect, Session, session::OsSession};
use fake::{FakeDaemon, SHOWN, program, ran};
use std::fs;
use std::time::Duration;

fn shell(daemon: &FakeDaemon) -> OsSession {
    let program = program(&daemon.socket(), daemon.folder.path(), &[]);
    let mut shell = Session::spawn(program).expect("a terminal is to be had");
    shell.set_expect_timeout(Some(Duration::from_secs(20)));
    expect(&mut shell, "Ctrl-D to leave");
    expect(&mut shell, "\x1b[K> ");
    shell
}

fn expect(shell: &mut OsSession, text: &str) {
    if let Err(error) = shell.expect(text) {
        panic!("{text:?} was not printed: {error}");
    }
}

/// Types a line and waits for what it prints and the next prompt.
fn enter(shell: &mut OsSession, line: &str, printed: &str) {
    shell.send(format!("{line}\r")).expect("the shell reads");
    expect(shell, "\x1b[?2004l");
    expect(shell, &printed.replace('\n', "\r\n"));
    expect(shell, "\x1b[K");
}

fn leave(mut shell: OsSession) {
    shell.send("\x04").expect("the shell reads");
    shell.expect(Eof).expect("the shell ends");
}

#[test]
fn an_alias_outlasts_its_session_and_counts_only_where_it_is_typed() {
    let daemon = FakeDaemon::start();
    let made = daemon.run(&["alias", "servers", "show server"], b"");
    assert_eq!(made, ran(" Done\n", "", 0));
    let listed = ran("\tservers\t(show server)\n Done\n", "", 0);
    assert_eq!(daemon.run(&["alias"], b""), listed);
    assert_eq!(daemon.run(&["servers"], b"").status, 1);
    let mut shell = shell(&daemon);
    enter(&mut shell, "servers | grep -c Name", "1\n Done");
    enter(&mut shell, "servers -x", "\nERROR: No such argument [-x]");
    enter(&mut shell, "unalias servers", "\n Done");
    enter(&mut shell, "servers", "ERROR: No such command [servers]");
    leave(shell);
    assert_eq!(daemon.run(&["alias"], b""), ran(" Done\n", "", 0));
    assert_eq!(daemon.seen(), ["show server"]);
}

#[test]
fn source_runs_a_file_and_does_not_echo_it() {
    let daemon = FakeDaemon::start();
    daemon
        .folder
        .write("f", "add server a 10.0.0.1\nshow server\n");
    let printed = format!(" Done\n{SHOWN} Done\n Done\n");
    assert_eq!(daemon.run(&["source", "f"], b""), ran(&printed, "", 0));
    let missing = daemon.run(&["source", "g"], b"");
    assert_eq!(missing, ran("", "ERROR: No such file [g]\n", 1));
    assert_eq!(daemon.seen(), ["add server a 10.0.0.1", "show server"]);
}

#[test]
fn a_secret_is_in_no_history_and_no_echo() {
    let daemon = FakeDaemon::start();
    let line = "set lb parameter -cookiePassphrase hush";
    daemon.folder.write("f", format!("{line}\n"));
    let mut shell = shell(&daemon);
    enter(&mut shell, "enable server a", "Done");
    enter(&mut shell, line, "Done");
    enter(
        &mut shell,
        "sett lb parameter -cookiePass hush",
        "ERROR: No such command",
    );
    enter(
        &mut shell,
        "batch -fileName f",
        "exec: set lb parameter -cookiePassphrase ******\n",
    );
    enter(
        &mut shell,
        "history",
        "    1  enable server a\n    2  batch -fileName f\n    3  history\n Done",
    );
    leave(shell);
    let path = daemon.folder.path().join("state/sluice/history");
    let kept = fs::read_to_string(path).expect("there is a history");
    assert!(!kept.contains("hush"), "{kept}");
    let shown = daemon.run(&["history"], b"");
    let lines = "    1  enable server a\n    2  batch -fileName f\n    3  history\n Done\n";
    assert_eq!(shown, ran(lines, "", 0));
    assert_eq!(daemon.seen().iter().filter(|seen| *seen == line).count(), 2);
}

#[test]
fn a_prompt_has_its_codes_filled_in_and_the_caret_stands_below() {
    let daemon = FakeDaemon::start();
    let mut shell = shell(&daemon);
    enter(&mut shell, "set cli prompt \"lb %!\"", " Done");
    expect(&mut shell, "lb 2> ");
    enter(&mut shell, "shw", "      ^^^\nERROR: No such command [shw]");
    expect(&mut shell, "lb 3> ");
    enter(
        &mut shell,
        "show cli prompt",
        "\tCLI prompt is set to \"lb %!\"\n Done",
    );
    enter(&mut shell, "clear cli prompt", " Done");
    leave(shell);
    assert!(daemon.seen().is_empty());
}

#[test]
fn settings_that_do_nothing_here_say_so() {
    let daemon = FakeDaemon::start();
    let warned = daemon.run(&["set cli mode -page ON"], b"");
    assert_eq!(warned.out, " Done\n");
    assert!(
        warned
            .err
            .starts_with("Warning: -page has no effect here ["),
        "{warned:?}"
    );
    let plain = daemon.run(&["set cli mode -color ON"], b"");
    let why = "Warning: -color has no effect here [standard error is no terminal]\n";
    assert_eq!(plain, ran(" Done\n", why, 0));
    let total = daemon.run(&[], b"set cli mode -total ON\nshow server\n");
    assert_eq!(total.out, format!(" Done\nTotal: 1\n{SHOWN} Done\n"));
    let mode = daemon.run(&["--json", "show", "cli", "mode"], b"");
    assert!(mode.out.starts_with("[\"page: OFF"), "{mode:?}");
}

#[test]
fn errors_are_coloured_on_a_terminal_where_that_was_asked_for() {
    let daemon = FakeDaemon::start();
    let mut shell = shell(&daemon);
    enter(&mut shell, "rm server nope", "ERROR: No such resource");
    enter(&mut shell, "set cli mode -color ON", " Done");
    enter(
        &mut shell,
        "rm server nope",
        "\x1b[31mERROR:\x1b[0m No such resource",
    );
    leave(shell);
}

#[test]
fn a_command_of_the_system_runs_where_it_is_typed_and_nowhere_else() {
    let daemon = FakeDaemon::start();
    let refused = daemon.run(&["shell", "true"], b"");
    assert!(
        refused
            .err
            .starts_with("ERROR: Command not valid here [shell]\n"),
        "{refused:?}"
    );
    assert_eq!(daemon.run(&[], b"shell touch made\n").status, 1);
    let mut shell = shell(&daemon);
    enter(&mut shell, "shell echo 'a  b' | tr b -", "a  -\n Done");
    enter(
        &mut shell,
        "shell exit 3",
        "ERROR: Shell command failed [exit status: 3]",
    );
    leave(shell);
    assert!(!daemon.folder.path().join("made").exists());
}

#[test]
fn help_lists_all_and_the_mode_that_is_not_there_says_so() {
    let daemon = FakeDaemon::start();
    let all = daemon.run(&["help", "-all"], b"");
    assert!(all.out.contains("\nadd server <name> "), "{}", all.out);
    assert!(all.out.ends_with("quit\n Done\n"), "{}", all.out);
    let both = daemon.run(&["help", "add", "-all"], b"");
    assert!(
        both.err.starts_with("ERROR: Arguments cannot both"),
        "{both:?}"
    );
    let page = daemon.run(&["man", "sh", "lb", "vs"], b"");
    assert!(
        page.out.starts_with("NAME\n   show lb vserver - "),
        "{page:?}"
    );
    let config = daemon.run(&["config"], b"");
    assert!(
        config
            .err
            .starts_with("ERROR: Feature not supported in this release [config]\n"),
        "{config:?}"
    );
    let who = daemon.run(&["whoami"], b"");
    assert!(who.out.starts_with("\tUserName: "), "{who:?}");
    assert_eq!(daemon.run(&["cls"], b""), ran(" Done\n", "", 0));
}
