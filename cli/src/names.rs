//! Names of live objects, for completion: asked for anew each time, and never waited for long.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use sluice_command::Noun;
use sluice_protocol::Client;

/// Asks a daemon for names over a connection of its own, so that a slow answer cannot come between
/// a command and its own.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    socket: PathBuf,
    /// Whether an earlier question is still waiting: with a daemon that hangs there is one at most.
    is_asking: Arc<AtomicBool>,
}

impl Names {
    /// Names the daemon.
    pub(crate) fn new(socket: PathBuf) -> Self {
        Self {
            socket,
            is_asking: Arc::new(AtomicBool::new(false)),
        }
    }

    /// Returns the names of all objects of `noun`; none if they cannot be had quickly.
    pub(crate) fn of(&self, noun: Noun) -> Vec<String> {
        if self.is_asking.swap(true, Ordering::AcqRel) {
            return Vec::new();
        }
        let (sender, receiver) = mpsc::channel();
        let (socket, is_asking) = (self.socket.clone(), Arc::clone(&self.is_asking));
        let asking = thread::Builder::new().spawn(move || {
            let names = Client::connect(&socket).and_then(|mut client| client.names(noun));
            is_asking.store(false, Ordering::Release);
            // The one who asked may have stopped waiting.
            let _ = sender.send(names.unwrap_or_default());
        });
        if asking.is_err() {
            self.is_asking.store(false, Ordering::Release);
        }
        receiver.recv_timeout(WAIT).unwrap_or_default()
    }
}

/// A person who pressed a key notices a longer pause.
const WAIT: Duration = Duration::from_millis(500);
