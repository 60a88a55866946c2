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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;
    use std::os::unix::net::UnixListener;

    #[test]
    fn a_daemon_that_hangs_is_asked_once_at_a_time_and_has_no_names() {
        let name = format!("sluice-names-{}.sock", std::process::id());
        let socket = std::env::temp_dir().join(name);
        let listener = UnixListener::bind(&socket).unwrap();
        listener.set_nonblocking(true).unwrap();
        let names = Names::new(socket.clone());
        assert!(names.of(Noun::Server).is_empty());
        assert!(names.clone().of(Noun::Server).is_empty());
        std::fs::remove_file(&socket).unwrap();
        let first = listener.accept();
        assert!(first.is_ok());
        let second = listener.accept().map_err(|error| error.kind());
        assert_eq!(second.map(|_| ()), Err(ErrorKind::WouldBlock));
    }

    #[test]
    fn without_a_daemon_there_are_no_names_and_the_next_question_is_asked() {
        let names = Names::new(PathBuf::from("/nonexistent/sluice.sock"));
        assert!(names.of(Noun::Server).is_empty());
        assert!(!names.is_asking.load(Ordering::Acquire));
    }
}
