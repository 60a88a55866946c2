//! A daemon of its own for one test: own folder, own control socket, ended with the value.

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::binaries::binary;

/// A running `sluiced`.
pub struct Daemon {
    child: Child,
    folder: Arc<TempDir>,
    log: Arc<Mutex<Vec<String>>>,
}

/// What a run of `sluice` printed and how it ended.
#[derive(Debug)]
pub struct Ran {
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
    /// The exit status.
    pub code: i32,
}

impl Daemon {
    /// Starts a daemon with an empty configuration and waits until it is ready.
    pub fn start() -> Self {
        Self::start_in(Arc::new(new_folder()), &[])
    }

    /// Starts a daemon whose configuration file holds `text`.
    pub fn start_with(text: &str) -> Self {
        Self::start_with_bytes(text.as_bytes())
    }

    /// Starts a daemon whose configuration file holds `text`, whatever that is.
    pub fn start_with_bytes(text: &[u8]) -> Self {
        let folder = new_folder();
        std::fs::write(folder.path().join("ns.conf"), text).expect("the folder is ours");
        Self::start_in(Arc::new(folder), &[])
    }

    /// Starts a daemon in the folder of an earlier one, with more arguments.
    ///
    /// # Panics
    /// When it does not become ready.
    pub fn start_in(folder: Arc<TempDir>, args: &[&str]) -> Self {
        let mut command = daemon_command(folder.path());
        command.args(args);
        Self::launch(&mut command, folder)
    }

    /// Starts a daemon with an empty configuration and more arguments.
    pub fn start_args(args: &[&str]) -> Self {
        Self::start_in(Arc::new(new_folder()), args)
    }

    /// Starts a prepared command, of [`daemon_command`] or [`limited_command`], for `folder`.
    ///
    /// # Panics
    /// When it does not become ready.
    pub fn launch(command: &mut Command, folder: Arc<TempDir>) -> Self {
        let mut child = command
            .stderr(Stdio::piped())
            .spawn()
            .expect("sluiced starts");
        let stderr = child.stderr.take().expect("stderr is piped");
        let mut lines = BufReader::new(stderr).lines();
        let mut seen = Vec::new();
        loop {
            match lines.next() {
                Some(Ok(line)) if line == "ready" => break,
                Some(Ok(line)) => seen.push(line),
                Some(Err(error)) => panic!("reading the daemon's log: {error}"),
                None => panic!("sluiced ended before it was ready:\n{}", seen.join("\n")),
            }
        }
        let log = Arc::new(Mutex::new(seen));
        let sink = Arc::clone(&log);
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                sink.lock().expect("no reader of the log panics").push(line);
            }
        });
        Self { child, folder, log }
    }

    /// Returns the process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns the folder with configuration and control socket; it outlives the daemon while held.
    pub fn folder(&self) -> Arc<TempDir> {
        Arc::clone(&self.folder)
    }

    /// Returns the path of the configuration file.
    pub fn config(&self) -> PathBuf {
        self.folder.path().join("ns.conf")
    }

    /// Returns the path of the control socket.
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("control.sock")
    }

    /// Returns the log so far.
    ///
    /// # Panics
    /// When a reader of the log panicked.
    pub fn log(&self) -> Vec<String> {
        self.log
            .lock()
            .expect("no reader of the log panics")
            .clone()
    }

    /// Returns how many descriptors the daemon has open.
    pub fn descriptors(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.pid())).map_or(0, Iterator::count)
    }

    /// Sends the daemon a signal.
    ///
    /// # Panics
    /// When the daemon has ended.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("the daemon lives");
    }

    /// Whether the daemon has not ended.
    pub fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Waits until the daemon ends by itself and returns its exit status.
    ///
    /// # Panics
    /// When it does not end within `limit`.
    pub fn wait(&mut self, limit: Duration) -> Option<i32> {
        let started = Instant::now();
        loop {
            let ended = self.child.try_wait().expect("the daemon is our child");
            if let Some(status) = ended {
                return status.code();
            }
            assert!(started.elapsed() < limit, "no end within {limit:?}");
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Runs `sluice` with `args` before anything else.
    pub fn sluice(&self, args: &[&str]) -> Ran {
        let mut command = self.sluice_command();
        finish(
            command
                .args(args)
                .stdin(Stdio::null())
                .output()
                .expect("sluice runs"),
        )
    }

    /// Runs one command line.
    pub fn run(&self, line: &str) -> Ran {
        self.sluice(&[line])
    }

    /// Runs one command line that must succeed, and returns what it printed.
    ///
    /// # Panics
    /// When the command fails.
    pub fn ok(&self, line: &str) -> String {
        let ran = self.run(line);
        assert_eq!(ran.code, 0, "{line}: {ran:?}");
        ran.out
    }

    /// Runs lines through `sluice -f FILE`.
    pub fn batch(&self, lines: &str) -> Ran {
        let file = self.folder.path().join("batch");
        std::fs::write(&file, lines).expect("the folder is ours");
        self.sluice(&["-f", file.to_str().expect("the folder's name is plain")])
    }

    /// Runs a `show` or `stat` command for its JSON document.
    ///
    /// # Panics
    /// When the command fails or the document is not JSON.
    pub fn json(&self, line: &str) -> Value {
        let ran = self.sluice(&["--json", line]);
        assert_eq!(ran.code, 0, "{line}: {ran:?}");
        serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{line}: {error}: {ran:?}"))
    }

    /// Returns one field of the single row that `line` shows.
    ///
    /// # Panics
    /// When there is no such number.
    pub fn number(&self, line: &str, field: &str) -> u64 {
        let document = self.json(line);
        let row = document.get(0).unwrap_or(&document);
        row.get(field)
            .and_then(Value::as_u64)
            .unwrap_or_else(|| panic!("{field} in {document}"))
    }

    /// Ends the daemon at once, as `kill -9` does, and returns its folder.
    pub fn kill(mut self) -> Arc<TempDir> {
        let _ = self.child.kill();
        let _ = self.child.wait();
        Arc::clone(&self.folder)
    }

    /// Asks the daemon to end with SIGTERM and returns its exit status.
    ///
    /// # Panics
    /// When `kill` cannot be run.
    pub fn terminate(mut self) -> Option<i32> {
        let pid = self.pid().to_string();
        let status = Command::new("kill")
            .args(["-TERM", &pid])
            .status()
            .expect("kill runs");
        assert!(status.success(), "the daemon had ended before");
        self.child.wait().expect("the daemon is our child").code()
    }

    /// Returns a `sluice` of this daemon, to be given words and input.
    pub fn sluice_command(&self) -> Command {
        let mut command = Command::new(binary("sluice"));
        command
            .arg("--socket")
            .arg(self.socket())
            .env_remove("SLUICE_SOCKET");
        command
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns a command that would start a daemon in `folder`.
pub fn daemon_command(folder: &Path) -> Command {
    let mut command = Command::new(binary("sluiced"));
    in_folder(&mut command, folder);
    command
}

/// Returns a command that would start a daemon in `folder` with at most so many descriptors, which
/// it cannot raise.
pub fn limited_command(folder: &Path, descriptors: u32) -> Command {
    let mut command = Command::new("sh");
    let script = format!("ulimit -n {descriptors} && exec \"$0\" \"$@\"");
    command.arg("-c").arg(script).arg(binary("sluiced"));
    in_folder(&mut command, folder);
    command
}

/// Appends the arguments and the environment of a daemon in `folder`.
fn in_folder(command: &mut Command, folder: &Path) {
    command.arg("--config").arg(folder.join("ns.conf"));
    command.arg("--socket").arg(folder.join("control.sock"));
    command.stdin(Stdio::null());
    for name in ["SLUICE_CONFIG", "SLUICE_SOCKET", "RUST_LOG"] {
        command.env_remove(name);
    }
}

/// Makes a folder of its own, removed when dropped.
///
/// # Panics
/// When the system has no room for temporary files.
pub fn new_folder() -> TempDir {
    tempfile::Builder::new()
        .prefix("sluice-")
        .tempdir()
        .expect("there is room for temporary files")
}

/// Returns an address on loopback that is free for TCP and UDP now, and that stays free: its port is
/// below those the system gives out, so no client of another test can get it in between.
///
/// # Panics
/// When loopback has no free port.
pub fn free_address() -> SocketAddr {
    const FIRST: u32 = 10_000;
    const COUNT: u32 = 20_000;
    static ASKED: AtomicU32 = AtomicU32::new(0);
    // Test programs that run at once begin far from each other.
    let start = std::process::id().wrapping_mul(997);
    for _ in 0..COUNT {
        let step = start.wrapping_add(ASKED.fetch_add(1, Ordering::Relaxed));
        let port = u16::try_from(FIRST + step % COUNT).expect("below 65536");
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        if TcpListener::bind(address).is_ok() && UdpSocket::bind(address).is_ok() {
            return address;
        }
    }
    panic!("loopback has no free port");
}

fn finish(output: Output) -> Ran {
    Ran {
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
        code: output.status.code().unwrap_or(-1),
    }
}
