//! A level-triggered epoll whose events carry a number.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};

/// Waits for sockets, each known by a number of the caller's.
pub(crate) struct Poll {
    epoll: Epoll,
    events: Vec<EpollEvent>,
}

/// A socket that is ready for what was waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ready {
    pub(crate) number: u64,
    /// It has failed or is closed both ways.
    pub(crate) broken: bool,
}

/// What to wait for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Interest {
    Read,
    Write,
}

impl Poll {
    pub(crate) fn new() -> io::Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let events = vec![EpollEvent::empty(); 256];
        Ok(Self { epoll, events })
    }

    pub(crate) fn add(&self, socket: impl AsFd, number: u64, interest: Interest) -> io::Result<()> {
        let event = EpollEvent::new(interest.flags(), number);
        Ok(self.epoll.add(socket, event)?)
    }

    pub(crate) fn set(&self, socket: impl AsFd, number: u64, interest: Interest) -> io::Result<()> {
        let mut event = EpollEvent::new(interest.flags(), number);
        Ok(self.epoll.modify(socket, &mut event)?)
    }

    /// Waits for at most `limit`, to the millisecond above; what is ready is returned by number.
    pub(crate) fn wait(&mut self, limit: Duration) -> io::Result<Vec<Ready>> {
        let millis = u16::try_from(limit.as_nanos().div_ceil(1_000_000)).unwrap_or(u16::MAX);
        let count = match self
            .epoll
            .wait(&mut self.events, EpollTimeout::from(millis))
        {
            Ok(count) => count,
            Err(nix::errno::Errno::EINTR) => 0,
            Err(error) => return Err(error.into()),
        };
        let ready = self.events[..count].iter().map(|event| {
            let flags = event.events();
            Ready {
                number: event.data(),
                broken: flags.intersects(EpollFlags::EPOLLERR | EpollFlags::EPOLLHUP),
            }
        });
        Ok(ready.collect())
    }
}

impl Interest {
    fn flags(self) -> EpollFlags {
        match self {
            Self::Read => EpollFlags::EPOLLIN,
            Self::Write => EpollFlags::EPOLLOUT,
        }
    }
}
