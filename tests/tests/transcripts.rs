//! Typed sessions over the real daemon, as an operator sees them: `tests/transcripts/*.txt`.
//!
//! Each file is what stands on the terminal at the end. A line that begins with a prompt is typed,
//! the rest is compared; what differs from run to run is masked in one place, [`masked`]. After a
//! change of the texts: `SLUICE_WRITE_TRANSCRIPTS=1 cargo test -p sluice-tests --test transcripts`.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use expectrl::{Eof, Expect, Regex, Session};
use sluice_tests::binaries::{binary, workspace};
use sluice_tests::daemon::{Daemon, free_address};

/// A prompt, and what was typed at it; the mark before it says what is not saved.
const PROMPT: &str = r"(?:^|\n)(?:confirm\?|\*)?> ";

#[test]
fn sessions_are_as_they_are_written_down() {
    let folder = workspace().join("tests/transcripts");
    let entries = fs::read_dir(&folder).expect("there are transcripts");
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    for path in paths {
        let written = fs::read_to_string(&path).expect("a transcript is text");
        let seen = play(&written);
        if std::env::var_os("SLUICE_WRITE_TRANSCRIPTS").is_some() {
            fs::write(&path, &seen).expect("a transcript can be written");
        }
        let written = fs::read_to_string(&path).expect("a transcript is text");
        assert_eq!(seen, written, "{}", path.display());
    }
}

/// Types what a transcript has at its prompts, and returns the transcript of that.
fn play(transcript: &str) -> String {
    let places = Places::new();
    let daemon = Daemon::start();
    let mut shell = Session::spawn(program(&daemon)).expect("a terminal is to be had");
    shell.set_expect_timeout(Some(Duration::from_secs(60)));
    let mut seen = String::new();
    for typed in transcript.lines().filter_map(typed) {
        seen.push_str(&until_prompt(&mut shell));
        // The terminal does not repeat what is typed.
        seen.push_str(&format!("{typed}\n"));
        shell.send_line(places.filled(typed)).expect("it is read");
    }
    let rest = shell.expect(Eof).expect("the last line ends the session");
    seen.push_str(&String::from_utf8_lossy(rest.as_bytes()));
    masked(&seen.replace('\r', ""), &places, daemon.folder().path())
}

fn until_prompt(shell: &mut expectrl::session::OsSession) -> String {
    let found = shell.expect(Regex(PROMPT)).expect("there is a prompt");
    String::from_utf8_lossy(found.as_bytes()).into_owned()
}

/// Returns what was typed in a line of a transcript, if it has a prompt.
fn typed(line: &str) -> Option<&str> {
    let rest = line
        .strip_prefix("confirm?")
        .or_else(|| line.strip_prefix('*'));
    rest.unwrap_or(line).strip_prefix("> ")
}

/// The shell on a terminal that can do nothing, which writes text and no more.
fn program(daemon: &Daemon) -> Command {
    let folder = daemon.folder();
    let mut command = Command::new(binary("sluice"));
    command
        .current_dir(folder.path())
        .env_clear()
        .env("TZ", "UTC")
        .env("TERM", "dumb")
        .env("HOME", folder.path())
        .env("SHELL", "/bin/sh")
        .env("PATH", "/usr/bin:/bin")
        .arg("--socket")
        .arg(daemon.socket());
    command
}

/// Addresses that transcripts name: two virtual servers, and services that are there.
struct Places {
    named: Vec<(&'static str, SocketAddr)>,
    _services: Vec<TcpListener>,
}

impl Places {
    fn new() -> Self {
        let services: Vec<TcpListener> = (0..3)
            .map(|_| TcpListener::bind("127.0.0.1:0").expect("loopback has free ports"))
            .collect();
        let addresses = services
            .iter()
            .map(|service| service.local_addr().expect("it is bound"));
        let names = ["{vip1}", "{vip2}", "{web1}", "{web2}", "{web3}"];
        let vips = [free_address(), free_address()];
        Self {
            named: names
                .into_iter()
                .zip(vips.into_iter().chain(addresses))
                .collect(),
            _services: services,
        }
    }

    /// Puts the ports in the place of their names.
    fn filled(&self, text: &str) -> String {
        self.named
            .iter()
            .fold(text.to_owned(), |text, (name, address)| {
                text.replace(name, &address.port().to_string())
            })
    }
}

/// Puts names in the place of all that differs from run to run: ports, folders, times and ages.
fn masked(text: &str, places: &Places, folder: &Path) -> String {
    let mut text = text.replace(&folder.display().to_string(), "{folder}");
    for (name, address) in &places.named {
        let port = regex::Regex::new(&format!(r"\b{}\b", address.port())).expect("a pattern");
        text = port.replace_all(&text, *name).into_owned();
    }
    for (pattern, name) in [
        (
            r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ 0-9]{2} [0-9:]{8} [0-9]{4}",
            "{time}",
        ),
        (r"[0-9]+ days?, [0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]+", "{age}"),
        (r"undone in [0-9]+ s", "undone in {n} s"),
    ] {
        let pattern = regex::Regex::new(pattern).expect("a pattern");
        text = pattern.replace_all(&text, name).into_owned();
    }
    text
}
