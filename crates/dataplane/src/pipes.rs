//! The pipes of a worker, through which many bytes are spliced.
//!
//! Owns the pipes that are empty. A direction takes one when it splices and gives it back as soon as
//! it is empty, so an idle flow has none. Both bounds are counted in `taken` and `idle`; who gets none
//! copies.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};

use crate::descriptors::{Claim, Descriptors};

/// A pipe that nobody else uses.
#[derive(Debug)]
pub(crate) struct Pipe {
    /// Bytes come out here.
    pub(crate) read: OwnedFd,
    /// Bytes go in here.
    pub(crate) write: OwnedFd,
    _claim: Claim,
}

/// The pipes of one worker.
#[derive(Debug)]
pub(crate) struct Pipes {
    descriptors: Arc<Descriptors>,
    idle: Vec<Pipe>,
    taken: usize,
}

impl Pipes {
    /// Owns no pipe yet.
    pub(crate) fn new(descriptors: Arc<Descriptors>) -> Self {
        Self {
            descriptors,
            idle: Vec::new(),
            taken: 0,
        }
    }

    /// Takes an empty pipe; `None` when too many are out or the system gives none of use.
    pub(crate) fn take(&mut self) -> Option<Pipe> {
        if self.taken >= TAKEN_MAX {
            return None;
        }
        let pipe = self.idle.pop().or_else(|| make(&self.descriptors))?;
        self.taken += 1;
        Some(pipe)
    }

    /// Takes back a pipe that is empty; closes it when clients wait for descriptors, or soon will.
    pub(crate) fn give_back(&mut self, pipe: Pipe) {
        self.taken -= 1;
        if self.idle.len() < IDLE_MAX && self.descriptors.tcp_has_room_for(SPARE) {
            self.idle.push(pipe);
        }
    }

    /// Closes a pipe that may hold bytes.
    pub(crate) fn discard(&mut self, pipe: Pipe) {
        self.taken -= 1;
        drop(pipe);
    }

    /// Closes the pipes that nobody uses, because descriptors have run out.
    pub(crate) fn release_idle(&mut self) {
        self.idle.clear();
    }
}

fn make(descriptors: &Arc<Descriptors>) -> Option<Pipe> {
    let claim = descriptors.claim_pipe()?;
    let (read, write) = pipe_with(PipeFlags::NONBLOCK | PipeFlags::CLOEXEC).ok()?;
    // An ordinary user is refused (or given a page or two) beyond `pipe-user-pages-soft`, 16 pipes of
    // this size by default. The size that a pipe has without asking is still better than copying.
    let size = fcntl_setpipe_size(&write, PIPE_SIZE)
        .or_else(|_| rustix::pipe::fcntl_getpipe_size(&write))
        .ok()?;
    (size >= USEFUL_SIZE).then_some(Pipe {
        read,
        write,
        _claim: claim,
    })
}

/// Measured: a pipe of 1 MiB moves 2.8 times as much as one of 64 KiB; it is also what an ordinary user
/// may ask for.
pub(crate) const PIPE_SIZE: usize = 1 << 20;

/// Below the system's own default size a splice moves less than a copy.
const USEFUL_SIZE: usize = 64 << 10;

/// Readers that stand still each hold a full pipe in kernel memory: 256 MiB for a worker at worst.
const TAKEN_MAX: usize = 256;

/// Pipes that many directions used at one moment; more are closed.
const IDLE_MAX: usize = 32;

/// Descriptors that must be left if a pipe that nobody uses is to keep its two: for two flows.
const SPARE: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pipe_is_used_again_and_the_number_out_is_bounded() {
        let mut pipes = Pipes::new(Arc::new(Descriptors::new(None)));
        let pipe = pipes.take().unwrap();
        let descriptor = std::os::fd::AsRawFd::as_raw_fd(&pipe.read);
        pipes.give_back(pipe);
        let again = pipes.take().unwrap();
        assert_eq!(std::os::fd::AsRawFd::as_raw_fd(&again.read), descriptor);
        pipes.taken = TAKEN_MAX;
        assert!(pipes.take().is_none());
        pipes.discard(again);
        assert!(pipes.take().is_some());
    }
    #[test]
    fn pipe_is_not_kept_while_clients_wait_for_descriptors() {
        let descriptors = Arc::new(Descriptors::new(Some(64)));
        let mut pipes = Pipes::new(Arc::clone(&descriptors));
        let pipe = pipes.take().unwrap();
        let flows: Vec<_> = std::iter::from_fn(|| descriptors.claim_flow()).collect();
        assert!(pipes.take().is_none(), "there is room for copying only");
        pipes.give_back(pipe);
        assert!(descriptors.claim_flow().is_some());
        drop(flows);
        let pipe = pipes.take().unwrap();
        pipes.give_back(pipe);
        assert_eq!(pipes.idle.len(), 1);
    }
}
