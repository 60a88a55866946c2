//! USER: a program decides. It is run without a shell, in a process group of its own, with nothing
//! to read, and what it prints is bounded. It passes by ending with status 0.
//!
//! However the probe ends, the whole group is killed, before its leader is reaped: until then
//! nobody else can have its number. A child that leaves the group is beyond reach.

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};

use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncReadExt, Interest};
use tokio::net::unix::pipe::Receiver;
use tokio::process::{Child, Command};

use crate::seen::{Ended, Seen};
use crate::stream::{PIECE, reason};
use crate::{LOOKED_AT, Program, sys};

/// USER: the program ends with status 0.
pub(crate) async fn exits(program: &Program, service: SocketAddr, seen: &mut Seen) -> Ended {
    seen.compared = "exit status 0".to_owned();
    seen.waits_for(Ended::failed("Probe timed out: the script did not end"));
    let (ip, port) = (service.ip().to_string(), service.port().to_string());
    let words = [ip.as_str(), port.as_str()].into_iter();
    let args: Vec<_> = words
        .chain(program.args.iter().map(String::as_str))
        .collect();
    seen.sent.add(args.join(" ").as_bytes());
    let cannot =
        |error: &io::Error| Ended::failed(format!("The script cannot be run: {}", reason(error)));
    let mut running = match Running::start(program, &args) {
        Ok(running) => running,
        Err(error) => return cannot(&error),
    };
    let mut first = Vec::new();
    match running.end(&mut first, seen).await {
        Ok(Some(status)) => judge(status, &first),
        Ok(None) => Ended::failed(format!("The script printed more than {LOOKED_AT} bytes")),
        Err(error) => cannot(&error),
    }
}

/// A program that runs.
struct Running {
    child: Child,
    group: Pid,
    /// Readable when the leader has ended, reaped or not.
    pidfd: AsyncFd<OwnedFd>,
    output: Receiver,
    printed: usize,
    is_reaped: bool,
}

impl Running {
    fn start(program: &Program, args: &[&str]) -> io::Result<Self> {
        let (output, writer) = io::pipe()?;
        let output = Receiver::from_owned_fd(OwnedFd::from(output))?;
        let mut command = Command::new(&program.path);
        command
            .args(args)
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::from(writer.try_clone()?))
            .stderr(Stdio::from(writer))
            .process_group(0)
            .kill_on_drop(true);
        let child = command.spawn()?;
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        let group = id.and_then(Pid::from_raw);
        let group = group.ok_or_else(|| io::Error::other("it has no process id"))?;
        let pidfd = pidfd_open(group, PidfdFlags::empty())?;
        Ok(Self {
            child,
            group,
            pidfd: sys::watch(pidfd, Interest::READABLE)?,
            output,
            printed: 0,
            is_reaped: false,
        })
    }

    /// Waits for the end and returns the status; none if it prints too much.
    async fn end(
        &mut self,
        first: &mut Vec<u8>,
        seen: &mut Seen,
    ) -> io::Result<Option<ExitStatus>> {
        let mut buffer = [0; PIECE];
        let mut is_open = true;
        loop {
            tokio::select! {
                // What was printed first is read first.
                biased;
                read = self.output.read(&mut buffer), if is_open => {
                    let length = read?;
                    is_open = length > 0;
                    if !self.note(&buffer[..length], first, seen) {
                        return Ok(None);
                    }
                }
                ended = self.pidfd.readable() => {
                    ended?.retain_ready();
                    break;
                }
            }
        }
        // Children that it left behind go with it.
        let _ = kill_process_group(self.group, Signal::KILL);
        let status = self.child.wait().await?;
        self.is_reaped = true;
        while let Ok(length @ 1..) = self.output.try_read(&mut buffer) {
            if !self.note(&buffer[..length], first, seen) {
                return Ok(None);
            }
        }
        Ok(Some(status))
    }

    /// Notes what it has printed and returns whether that is not too much.
    fn note(&mut self, piece: &[u8], first: &mut Vec<u8>, seen: &mut Seen) -> bool {
        seen.received.add(piece);
        let room = LONGEST_TEXT.saturating_sub(first.len());
        first.extend(&piece[..piece.len().min(room)]);
        self.printed += piece.len();
        self.printed <= LOOKED_AT
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.is_reaped {
            // The leader is reaped by the runtime later on.
            let _ = kill_process_group(self.group, Signal::KILL);
        }
    }
}

/// Says what a status means, with the first line that was printed.
fn judge(status: ExitStatus, first: &[u8]) -> Ended {
    let text = String::from_utf8_lossy(first);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    let line: Option<String> = line.map(|line| {
        let printable = line.chars().filter(|char| !char.is_control());
        printable
            .collect::<String>()
            .trim_end_matches('.')
            .to_owned()
    });
    let said = line.map(|line| format!(": {line}")).unwrap_or_default();
    match (status.code(), status.signal()) {
        (Some(0), _) => Ended::passed(format!("Probe succeeded{said}")),
        (Some(code), _) => Ended::failed(format!("The script ended with status {code}{said}")),
        (None, Some(signal)) => {
            Ended::failed(format!("The script was ended by signal {signal}{said}"))
        }
        (None, None) => Ended::failed(format!("The script did not end{said}")),
    }
}

/// A line of a table.
const LONGEST_TEXT: usize = 200;
