//! A daemon that speaks the protocol and knows three answers, and the program to run against it.

#![allow(dead_code, reason = "each test binary uses its own part")]

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use sluice_command::{Fault, Key, Noun, Verb, catalogue, render};
use sluice_protocol::{
    ConfigStatus, FrameBuffer, Hello, Reply, Request, Row, ServerRow, VERSION, decode, frame,
};

/// A folder of its own, removed at the end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("sluice-cli-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).expect("the name is taken by nobody else");
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.0.join(name);
        fs::write(&path, bytes).expect("the folder is ours");
        path.to_str().expect("the name is ASCII").to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Answers `Done` to whatever configures, refuses what is called `nope`, hangs up on `hangup`, never
/// answers `hang`, answers `hold` once it may, and shows one server.
pub(crate) struct FakeDaemon {
    pub(crate) folder: Folder,
    /// The commands so far, as they would be saved; without `show ns config`, which the shell asks
    /// by itself.
    seen: Arc<Mutex<Vec<String>>>,
    /// Whether `hold` may be answered.
    gate: Arc<(Mutex<bool>, Condvar)>,
}

impl FakeDaemon {
    pub(crate) fn start() -> Self {
        let daemon = Self {
            folder: Folder::new(),
            seen: Arc::default(),
            gate: Arc::default(),
        };
        daemon.listen();
        daemon
    }

    fn listen(&self) {
        let listener = UnixListener::bind(self.socket()).expect("the folder is ours");
        let (seen, gate) = (Arc::clone(&self.seen), Arc::clone(&self.gate));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, gate) = (Arc::clone(&seen), Arc::clone(&gate));
                thread::spawn(move || serve(stream, &seen, &gate));
            }
        });
    }

    /// Answers `hold` from now on.
    pub(crate) fn open_gate(&self) {
        let (is_open, opened) = &*self.gate;
        *is_open.lock().expect("no test panics with it") = true;
        opened.notify_all();
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("control.sock")
    }

    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.lock().expect("no test panics with it").clone()
    }

    /// Waits until `line` has come.
    pub(crate) fn wait_for(&self, line: &str) {
        let end = Instant::now() + Duration::from_secs(20);
        while !self.seen().iter().any(|seen| seen == line) {
            assert!(Instant::now() < end, "{line:?} did not come");
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Runs the program against this daemon.
    pub(crate) fn run(&self, words: &[&str], input: &[u8]) -> Ran {
        run(&self.socket(), self.folder.path(), words, input)
    }
}

/// What a run left behind.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) status: i32,
}

pub(crate) fn ran(out: &str, err: &str, status: i32) -> Ran {
    Ran {
        out: out.to_owned(),
        err: err.to_owned(),
        status,
    }
}

/// Prepares the program, in `folder` and without anything of the user's.
pub(crate) fn program(socket: &Path, folder: &Path, words: &[&str]) -> Process {
    let mut process = Process::new(env!("CARGO_BIN_EXE_sluice"));
    process
        .current_dir(folder)
        .env_clear()
        .env("TZ", "UTC")
        .env("TERM", "xterm")
        .env("HOME", folder)
        .env("XDG_STATE_HOME", folder.join("state"))
        .env("SHELL", "/bin/sh")
        .env("PATH", "/usr/bin:/bin")
        .arg("--socket")
        .arg(socket)
        .args(words);
    process
}

pub(crate) fn run(socket: &Path, folder: &Path, words: &[&str], input: &[u8]) -> Ran {
    let mut process = program(socket, folder, words);
    process
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = process.spawn().expect("the program was built");
    let mut stdin = child.stdin.take().expect("it is piped");
    // A program that reads nothing may have gone already.
    let _ = stdin.write_all(input);
    drop(stdin);
    let output: Output = child.wait_with_output().expect("it was started here");
    Ran {
        out: String::from_utf8(output.stdout).expect("output is UTF-8"),
        err: String::from_utf8(output.stderr).expect("output is UTF-8"),
        status: output.status.code().expect("no signal ends it"),
    }
}

fn serve(mut stream: UnixStream, seen: &Mutex<Vec<String>>, gate: &(Mutex<bool>, Condvar)) {
    let mut frames = FrameBuffer::new();
    let hello = Hello {
        version: VERSION,
        product: "fake".to_owned(),
    };
    let Some(_) = receive(&mut stream, &mut frames) else {
        return;
    };
    send(&mut stream, &hello);
    while let Some(bytes) = receive(&mut stream, &mut frames) {
        let request: Request = decode(&bytes).expect("the client speaks the protocol");
        let Some(replies) = answer(&request, seen) else {
            return;
        };
        if is_about(&request, "hold") {
            let is_open = gate.0.lock().expect("no test panics with it");
            let opened = gate.1.wait_while(is_open, |is_open| !*is_open);
            drop(opened.expect("no test panics with it"));
        }
        for reply in replies {
            send(&mut stream, &reply);
        }
    }
}

fn is_about(request: &Request, name: &str) -> bool {
    matches!(request, Request::Run(command) if command.text(Key::Name) == Some(name))
}

fn receive(stream: &mut UnixStream, frames: &mut FrameBuffer) -> Option<Vec<u8>> {
    let mut chunk = [0; 4096];
    loop {
        if let Some(body) = frames.next().expect("the client speaks the protocol") {
            return Some(body);
        }
        match stream.read(&mut chunk) {
            Ok(0) | Err(_) => return None,
            Ok(length) => frames.push(&chunk[..length]),
        }
    }
}

fn send<T: serde::Serialize>(stream: &mut UnixStream, message: &T) {
    // The client may have gone.
    let _ = stream.write_all(&frame(message).expect("answers are short"));
}

fn answer(request: &Request, seen: &Mutex<Vec<String>>) -> Option<Vec<Reply>> {
    let command = match request {
        Request::Run(command) => command,
        Request::Names(noun) => return Some(names(*noun)),
    };
    let mut seen = seen.lock().expect("no test panics with it");
    if command.noun == Noun::NsConfig && command.verb == Verb::Show {
        return Some(vec![
            config_row(is_unsaved(&seen), is_provisional(&seen)),
            Reply::Done,
        ]);
    }
    seen.push(render(command));
    Some(match (command.text(Key::Name), command.verb) {
        (Some("hangup"), _) => return None,
        (Some("hang"), _) => Vec::new(),
        (Some("nope"), _) => {
            let fault = Fault::new(catalogue::NO_SUCH_RESOURCE).with_details("name, nope");
            vec![Reply::Error(fault)]
        }
        (Some("odd"), _) => vec![Reply::Warning("odd\x1b[2J".to_owned()), Reply::Done],
        (_, Verb::Show) => vec![server_row(), Reply::Done],
        _ => vec![Reply::Done],
    })
}

fn is_unsaved(seen: &[String]) -> bool {
    let last = seen.iter().rev().find(|line| !line.starts_with("show"));
    last.is_some_and(|line| line != "save ns config")
}

fn is_provisional(seen: &[String]) -> bool {
    let mut ends = seen.iter().rev();
    let last = ends.find(|line| line.starts_with("apply") || *line == "confirm");
    last.is_some_and(|line| line.starts_with("apply"))
}

fn names(noun: Noun) -> Vec<Reply> {
    let names: &[&str] = match noun {
        Noun::LbVserver => &["vs_alpha", "vs_beta"],
        Noun::Server => &["web_only"],
        Noun::None
        | Noun::Service
        | Noun::ServiceGroup
        | Noun::ServiceGroupMember
        | Noun::ServiceGroupBindings
        | Noun::LbParameter
        | Noun::LbGroup
        | Noun::LbPersistentSessions
        | Noun::NsConfig
        | Noun::NsRunningConfig
        | Noun::NsSavedConfig
        | Noun::NsConf
        | Noun::NsRollbackCommand
        | Noun::NsVersion
        | Noun::NsConnectionTable
        | Noun::NsInfo
        | Noun::NsFeature
        | Noun::NsMode
        | Noun::ProtocolUdp
        | Noun::CliMode
        | Noun::CliPrompt
        | Noun::CliAttribute
        | Noun::LbProfile
        | Noun::NetProfile
        | Noun::NsTcpProfile => &[],
    };
    let rows = names
        .iter()
        .map(|name| Reply::Row(Box::new(Row::Name((*name).to_owned()))));
    rows.chain([Reply::Done]).collect()
}

fn server_row() -> Reply {
    Reply::Row(Box::new(Row::Server(ServerRow {
        name: "s1".to_owned(),
        address: "10.0.0.1".to_owned(),
        state: "ENABLED".to_owned(),
        comment: Some("a\x1b[2J\nERROR: forged".to_owned()),
        services: Vec::new(),
    })))
}

fn config_row(unsaved: bool, provisional: bool) -> Reply {
    Reply::Row(Box::new(Row::Config(ConfigStatus {
        path: "/x/ns.conf".to_owned(),
        system_unix_ms: 0,
        changed_unix_ms: None,
        saved_unix_ms: None,
        unsaved,
        boot_failures: Vec::new(),
        skipped: std::collections::BTreeMap::new(),
        provisional_s: provisional.then_some(60),
        not_undone: Vec::new(),
    })))
}

/// What `show server` prints of the one server.
pub(crate) const SHOWN: &str = "1)\tName:     s1      State:ENABLED\n\tIPAddress:   10.0.0.1\n\
    \tComment: \"a\\x1b[2J\\nERROR: forged\"\n";
