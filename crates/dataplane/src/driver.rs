//! Which interface of the system moves traffic, and whether it can be had.

use std::fmt;
use std::io;

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
            Self::Uring => Ring::new().map(drop),
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
