//! What a worker waits with: epoll alone, or an io_uring that also watches the epoll instance.
//!
//! Owns both. With a ring, TCP flows run on the ring; listeners, the mailbox and UDP stay with epoll, which the
//! ring watches as one more file. So a round begins with one system call either way.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

use mio::{Events, Poll, Registry};

use crate::driver::Driver;
use crate::ring::{Completion, Key, Ring};

/// A worker's way to wait.
pub(crate) struct Reactor {
    poll: Poll,
    pub(crate) ring: Option<Ring>,
    /// Whether the ring watches the epoll instance.
    watched: bool,
}

/// What one wait has brought.
pub(crate) struct Round {
    /// Sockets that are ready.
    pub(crate) events: Events,
    /// Operations that have ended, in their order.
    pub(crate) ended: Vec<Completion>,
}

impl Reactor {
    /// Makes a reactor for the thread that calls [`Self::enable`].
    ///
    /// # Errors
    /// What the system says; for [`Driver::Uring`] also that there is no io_uring.
    pub(crate) fn new(driver: Driver) -> io::Result<Self> {
        Ok(Self {
            poll: Poll::new()?,
            ring: match driver {
                Driver::Epoll => None,
                Driver::Uring => Some(Ring::new()?),
            },
            watched: false,
        })
    }

    /// Gives the reactor to this thread.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn enable(&self) -> io::Result<()> {
        self.ring.as_ref().map_or(Ok(()), Ring::enable)
    }

    /// Returns where sockets are registered for events.
    pub(crate) fn registry(&self) -> &Registry {
        self.poll.registry()
    }

    /// Waits until something has happened or `timeout` is over; `round` then has what it was.
    ///
    /// # Errors
    /// When nothing can be waited for any more.
    pub(crate) fn wait(&mut self, timeout: Option<Duration>, round: &mut Round) -> io::Result<()> {
        round.ended.clear();
        let Some(ring) = &mut self.ring else {
            return poll(&mut self.poll, timeout, round);
        };
        if !std::mem::replace(&mut self.watched, true) {
            let epoll = borrow(&self.poll);
            ring.poll(epoll, libc::POLLIN, false, EPOLL);
        }
        ring.wait(timeout, &mut round.ended)?;
        round.events.clear();
        let all = round.ended.len();
        round.ended.retain(|ended| ended.key != EPOLL);
        if round.ended.len() < all {
            self.watched = false;
            return poll(&mut self.poll, Some(Duration::ZERO), round);
        }
        Ok(())
    }
}

impl Round {
    /// Has nothing yet, and room for `events` events.
    pub(crate) fn new(events: usize) -> Self {
        Self {
            events: Events::with_capacity(events),
            ended: Vec::new(),
        }
    }
}

fn poll(poll: &mut Poll, timeout: Option<Duration>, round: &mut Round) -> io::Result<()> {
    match poll.poll(&mut round.events, timeout) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => {
            round.events.clear();
            Ok(())
        }
        result => result,
    }
}

#[expect(unsafe_code, reason = "mio lends its descriptor as a number only")]
fn borrow(poll: &Poll) -> BorrowedFd<'_> {
    // SAFETY: the descriptor is open for as long as the poll is borrowed.
    unsafe { BorrowedFd::borrow_raw(poll.as_raw_fd()) }
}

/// The end of watching the epoll instance.
const EPOLL: Key = Key(u64::MAX - 1);
