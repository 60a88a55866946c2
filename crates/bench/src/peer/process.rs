//! A peer at work: started, found again in `/proc`, ended with the value.

use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

use super::{Peer, config};
use crate::args::RunArgs;
use crate::fault::Fault;
use crate::lab::{Lab, Place};
use crate::meter;

/// A peer that has been started; it may have no process.
pub(crate) struct Running {
    pub(crate) peer: Peer,
    child: Option<Child>,
    folder: TempDir,
}

impl Running {
    /// Starts a peer; it may take a moment until it answers.
    ///
    /// # Errors
    /// When its program cannot be started.
    pub(crate) fn start(peer: Peer, lab: &Lab, args: &RunArgs) -> Result<Self, Fault> {
        let folder = TempDir::with_prefix("sluice-bench-")?;
        let path = folder.path().join("config");
        let path_with_ending = folder.path().join("config.yaml");
        let path = if peer == Peer::Envoy {
            path_with_ending
        } else {
            path
        };
        std::fs::write(&path, config::text(peer, folder.path()))?;
        let child = match words(peer, &path, folder.path(), args) {
            Some((program, words)) => {
                let log = std::fs::File::create(folder.path().join("log"))?;
                let mut command = lab.command(Place::Balancer, &program);
                command
                    .args(words)
                    .stdout(Stdio::from(log.try_clone()?))
                    .stderr(log);
                Some(command.spawn()?)
            }
            None => None,
        };
        Ok(Self {
            peer,
            child,
            folder,
        })
    }

    /// Makes the peer the one that is measured: the kernel's rules are there for its turn alone,
    /// because they cost every other peer something.
    ///
    /// # Errors
    /// What nft says.
    pub(crate) fn enter(&self, lab: &Lab) -> Result<(), Fault> {
        if self.peer != Peer::Nft {
            return Ok(());
        }
        let path = self.folder.path().join("config");
        lab.run(Place::Balancer, &["nft", "-f", &path.display().to_string()])
    }

    /// Ends its turn.
    ///
    /// # Errors
    /// What nft says.
    pub(crate) fn leave(&self, lab: &Lab) -> Result<(), Fault> {
        if self.peer != Peer::Nft {
            return Ok(());
        }
        lab.run(
            Place::Balancer,
            &["nft", "delete", "table", "ip", config::NFT_TABLE],
        )
    }

    /// Returns its processes: the one that was started and all below it.
    pub(crate) fn processes(&self) -> Vec<u32> {
        self.child
            .as_ref()
            .map_or_else(Vec::new, |child| meter::family(child.id()))
    }

    /// Whether it has ended by itself, and what it said.
    pub(crate) fn ended(&mut self) -> Option<String> {
        let status = self.child.as_mut()?.try_wait().ok()??;
        let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        let last = log.lines().last().unwrap_or_default();
        Some(format!("{} has ended ({status}): {last}", self.peer.name()))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let all = self.processes();
        let Some(child) = &mut self.child else {
            return;
        };
        let tell = |signal| {
            for process in all.iter().rev() {
                let process = Pid::from_raw(i32::try_from(*process).expect("a process number"));
                // One that is gone already is what is wanted.
                let _ = kill(process, signal);
            }
        };
        tell(Signal::SIGTERM);
        let patience = Instant::now() + Duration::from_secs(2);
        while Instant::now() < patience && matches!(child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(20));
        }
        tell(Signal::SIGKILL);
        let _ = child.wait();
    }
}

/// Returns the program of a peer and its arguments.
fn words(
    peer: Peer,
    config: &Path,
    folder: &Path,
    args: &RunArgs,
) -> Option<(String, Vec<String>)> {
    let config = config.display().to_string();
    let text = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    match peer {
        Peer::Direct | Peer::Nft => None,
        Peer::HaproxyDefault | Peer::HaproxyTuned => {
            Some(("haproxy".to_owned(), text(&["-db", "-f", &config])))
        }
        Peer::NginxDefault | Peer::NginxTuned => {
            let words = text(&["-c", &config, "-g", "daemon off;"]);
            Some(("nginx".to_owned(), words))
        }
        Peer::Envoy => {
            let program = args.envoy_program.display().to_string();
            let words = ["-c", &config, "--concurrency", "2", "-l", "error"];
            Some((
                program,
                text(&[&words[..], &["--disable-hot-restart"]].concat()),
            ))
        }
        Peer::Sluice => {
            let beside = || {
                std::env::current_exe()
                    .unwrap_or_default()
                    .with_file_name("sluiced")
            };
            let program = args.sluiced.clone().unwrap_or_else(beside);
            let socket = folder.join("control.sock").display().to_string();
            let words = [
                "--config",
                &config,
                "--socket",
                &socket,
                "--workers",
                "2",
                "--strict",
            ];
            let mut words: Vec<String> = text(&words);
            words.extend(args.sluiced_args.split_whitespace().map(str::to_owned));
            Some((program.display().to_string(), words))
        }
    }
}
