//! A `sluiced` of a test's own: own folder, own control socket, ended with the value.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use sluice_protocol::{Client, ConfigStatus, Event, Outcome, Row};

/// Waits for anything that should come at once; long, since test machines are busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A daemon that is ready.
pub(crate) struct Running {
    child: Child,
    socket: PathBuf,
    /// The lines before `ready`.
    pub(crate) before_ready: Vec<String>,
    lines: Receiver<String>,
}

impl Running {
    /// Starts a daemon in `folder`.
    pub(crate) fn start(folder: &Path, args: &[&str]) -> Self {
        let mut command = command(folder);
        Self::spawn(command.args(args), folder)
    }

    /// Starts a prepared command and waits for `ready`.
    pub(crate) fn spawn(command: &mut Command, folder: &Path) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let lines = lines_of(child.stderr.take().unwrap());
        let mut before_ready = Vec::new();
        loop {
            match lines.recv_timeout(PATIENCE) {
                Ok(line) if line == "ready" => break,
                Ok(line) => before_ready.push(line),
                Err(error) => panic!("not ready ({error}):\n{}", before_ready.join("\n")),
            }
        }
        Self {
            child,
            socket: folder.join("control.sock"),
            before_ready,
            lines,
        }
    }

    /// Connects a client.
    pub(crate) fn client(&self) -> Shell {
        Shell::to(&self.socket)
    }

    /// Runs a command that must succeed, and returns its rows.
    pub(crate) fn ok(&self, line: &str) -> Vec<Row> {
        self.client().ok(line)
    }

    /// Runs a command that must be refused, and returns the text after `ERROR: `.
    pub(crate) fn refused(&self, line: &str) -> String {
        self.client().run(line).unwrap_err()
    }

    /// Returns the running configuration.
    pub(crate) fn running_config(&self) -> Vec<String> {
        let text = |row| match row {
            Row::Line(line) => line,
            other => panic!("{other:?}"),
        };
        self.ok("show ns runningConfig")
            .into_iter()
            .map(text)
            .collect()
    }

    /// Returns what `show ns config` shows.
    pub(crate) fn status(&self) -> ConfigStatus {
        match self.ok("show ns config").remove(0) {
            Row::Config(status) => status,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for a line of the log that contains `part`.
    pub(crate) fn wait_for_line(&self, part: &str) -> String {
        loop {
            let line = self.lines.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|error| panic!("no line with {part:?}: {error}"));
            if line.contains(part) {
                return line;
            }
        }
    }

    /// Waits for the end and returns the status and the rest of the log.
    pub(crate) fn wait(&mut self) -> (ExitStatus, Vec<String>) {
        let status = wait(&mut self.child);
        (status, self.lines.iter().collect())
    }

    /// Ends the daemon as a power cut would.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Ended already, in tests that wait for the end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A connected client that takes command lines.
pub(crate) struct Shell(Client);

impl Shell {
    /// Connects to the daemon at this socket.
    pub(crate) fn to(socket: &Path) -> Self {
        Self(Client::connect(socket).unwrap())
    }

    /// Returns the rows, or the text after `ERROR: `.
    pub(crate) fn run(&mut self, line: &str) -> Result<Vec<Row>, String> {
        let command = sluice_command::parse(line).unwrap().unwrap();
        let mut rows = Vec::new();
        let outcome = self.0.run(&command, &mut |event| match event {
            Event::Row(row) => rows.push(*row),
            Event::Warning(_) => {}
        });
        match outcome.unwrap() {
            Outcome::Done => Ok(rows),
            Outcome::Error(fault) => Err(fault.to_string()),
        }
    }

    pub(crate) fn ok(&mut self, line: &str) -> Vec<Row> {
        self.run(line)
            .unwrap_or_else(|refused| panic!("{line}: {refused}"))
    }
}

/// A command that starts a daemon on `ns.conf` and `control.sock` in `folder`.
pub(crate) fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sluiced"));
    in_folder(&mut command, folder);
    command
}

/// Appends the arguments and the environment of a daemon in `folder`.
pub(crate) fn in_folder(command: &mut Command, folder: &Path) {
    command.arg("--config").arg(folder.join("ns.conf"));
    command.arg("--socket").arg(folder.join("control.sock"));
    command.args(["--workers", "1"]).stdin(Stdio::null());
    for name in [
        "SLUICE_CONFIG",
        "SLUICE_SOCKET",
        "NOTIFY_SOCKET",
        "RUST_LOG",
    ] {
        command.env_remove(name);
    }
}

/// Runs a daemon that must end by itself; returns its status and what it wrote.
pub(crate) fn run_to_end(command: &mut Command) -> (Option<i32>, String) {
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let lines = lines_of(child.stderr.take().unwrap());
    let status = wait(&mut child);
    (status.code(), lines.iter().collect::<Vec<_>>().join("\n"))
}

/// Waits for the end of a process, and ends it when that takes too long.
pub(crate) fn wait(child: &mut Child) -> ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if start.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("the daemon did not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Returns a port of loopback that nobody uses now.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

fn lines_of(stderr: ChildStderr) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}
