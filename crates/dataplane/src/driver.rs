//! Which interface of the system moves traffic, and whether it can be had.

use std::fmt;
use std::io;
use std::sync::mpsc::channel;

use crate::ring::Ring;

/// How the workers talk to the system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Driver {
    /// epoll(7): sockets that are ready are read and written one by one.
    #[default]
    Epoll,
    /// io_uring(7): reads and writes of all flows go to the kernel together.
    Uring,
}

impl Driver {
    /// Tries whether the system has what this driver needs.
    ///
    /// # Errors
    /// What the system says to a ring like that of a worker: io_uring is forbidden in many containers, can be
    /// switched off (`kernel.io_uring_disabled`), and is too old before Linux 6.1.
    pub fn probe(self) -> io::Result<()> {
        match self {
            Self::Epoll => Ok(()),
            Self::Uring => {
                // On a thread of its own: when a ring is closed, the kernel interrupts the calls of the thread
                // that has made it. It is not waited for, because closing takes tens of milliseconds.
                let (report, made) = channel();
                std::thread::Builder::new().spawn(move || {
                    let (ring, result) = match Ring::new() {
                        Ok(ring) => (Some(ring), Ok(())),
                        Err(error) => (None, Err(error)),
                    };
                    // The one who probes waits for it.
                    let _ = report.send(result);
                    drop(ring);
                })?;
                made.recv().map_err(io::Error::other)?
            }
        }
    }
}

impl fmt::Display for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Epoll => "epoll",
            Self::Uring => "io_uring",
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Read};
    use std::net::{TcpListener, TcpStream};
    use std::time::Duration;

    use super::*;

    #[test]
    fn probe_interrupts_no_call_of_its_caller() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut silent = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let patience = Some(Duration::from_millis(20));
        silent.set_read_timeout(patience).unwrap();
        for _ in 0..20 {
            // Whether there is a ring or not.
            let _ = Driver::Uring.probe();
            let error = silent.read(&mut [0; 1]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::WouldBlock);
        }
    }
}
