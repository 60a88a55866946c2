//! The io_uring of a worker: operations go in by the batch, and come back ended by the batch.
//!
//! Owns the ring and the buffers that the kernel receives into. Knows no flows: whoever starts an
//! operation gives it a [`Key`], by which he knows its end again, and keeps the socket open until then. What is
//! started goes to the kernel with the next [`Ring::wait`], so a round of the loop costs one system call.

mod buffers;

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

use io_uring::types::{CancelBuilder, Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};

use self::buffers::Buffers;
pub(crate) use self::buffers::Lent;
use crate::clock;

/// By what the one who starts an operation knows it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key(pub(crate) u64);

impl Key {
    /// Makes the key of an operation of a flow.
    pub(crate) const fn new(flow: u64, operation: u8) -> Self {
        Self(flow << 8 | operation as u64)
    }

    /// Returns the flow.
    pub(crate) const fn flow(self) -> u64 {
        self.0 >> 8
    }

    /// Returns which of its operations it is.
    pub(crate) const fn operation(self) -> u8 {
        (self.0 & 0xff) as u8
    }
}

/// The end of an operation.
#[derive(Debug)]
pub(crate) struct Completion {
    /// Which one.
    pub(crate) key: Key,
    /// What the system call would have returned: negative is an error.
    pub(crate) result: i32,
    /// Whether the operation goes on.
    pub(crate) more: bool,
    /// The buffer with what was received; to be given back.
    pub(crate) lent: Option<Lent>,
}

/// One worker's ring.
pub(crate) struct Ring {
    // Before the buffers, which the kernel writes to while there is a ring.
    uring: IoUring,
    buffers: Buffers,
    /// The flow that all ends of the last round were of.
    alone: Option<u64>,
    /// Whether the last wait was short, and of the same flow as the one before: so may be the next one, which
    /// then begins awake.
    awake: bool,
}

impl Ring {
    /// Makes a ring for the thread that calls [`Self::enable`].
    ///
    /// # Errors
    /// When the kernel is too old (before 6.1) or the system forbids io_uring.
    pub(crate) fn new() -> io::Result<Self> {
        let uring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_taskrun_flag()
            .setup_r_disabled()
            .setup_cqsize(COMPLETIONS)
            .build(SUBMISSIONS)?;
        let buffers = Buffers::register(&uring)?;
        Ok(Self {
            uring,
            buffers,
            alone: None,
            awake: false,
        })
    }

    /// Gives the ring to this thread.
    ///
    /// # Errors
    /// What the kernel says.
    pub(crate) fn enable(&self) -> io::Result<()> {
        self.uring.submitter().register_enable_rings()
    }

    /// Receives from `socket` once there is something, into a buffer of the ring.
    pub(crate) fn receive(&mut self, socket: BorrowedFd<'_>, key: Key) {
        let receive = opcode::Recv::new(Fd(socket.as_raw_fd()), std::ptr::null_mut(), 0)
            .ioprio(POLL_FIRST)
            .buf_group(buffers::GROUP)
            .build()
            .flags(squeue::Flags::BUFFER_SELECT);
        self.push(receive, key);
    }

    /// Sends what is in `lent` and was not sent yet, as much as `socket` takes at once. The buffer must
    /// not be given back before the end.
    pub(crate) fn send(&mut self, socket: BorrowedFd<'_>, lent: &Lent, key: Key) {
        let bytes = self.buffers.bytes(lent);
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let send = opcode::Send::new(Fd(socket.as_raw_fd()), bytes.as_ptr(), length)
            .flags(libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT)
            .build();
        self.push(send, key);
    }

    /// Waits until `socket` is ready for one of `events` (as of poll(2)), or has failed; `again` says
    /// whether to go on with each change after that.
    pub(crate) fn poll(&mut self, socket: BorrowedFd<'_>, events: i16, again: bool, key: Key) {
        let poll = opcode::PollAdd::new(Fd(socket.as_raw_fd()), events as u32)
            .multi(again)
            .build();
        self.push(poll, key);
    }

    /// Ends the operation of `key` early.
    pub(crate) fn cancel(&mut self, key: Key) {
        let cancel = opcode::AsyncCancel2::new(CancelBuilder::user_data(key.0)).build();
        self.push(cancel, IGNORED);
    }

    /// Returns what is in a buffer and was not sent yet.
    pub(crate) fn bytes(&self, lent: &Lent) -> &[u8] {
        self.buffers.bytes(lent)
    }

    /// Gives a buffer back to the kernel.
    pub(crate) fn give_back(&mut self, lent: Lent) {
        self.buffers.give_back(lent);
    }

    /// Starts what waits to be started, waits until something has ended or `timeout` is over, and adds what has
    /// ended to `ended`.
    ///
    /// # Errors
    /// When the ring cannot be used any more.
    pub(crate) fn wait(
        &mut self,
        timeout: Option<Duration>,
        ended: &mut Vec<Completion>,
    ) -> io::Result<()> {
        if timeout != Some(Duration::ZERO) {
            self.stay_awake()?;
        }
        let asleep = clock::now();
        let waited = match timeout {
            None => self.uring.submitter().submit_and_wait(1),
            Some(timeout) => {
                let timeout = Timespec::from(timeout);
                let args = SubmitArgs::new().timespec(&timeout);
                self.uring.submitter().submit_with_args(1, &args)
            }
        };
        match waited {
            Ok(_) => {}
            Err(error) if is_passing(&error) => {}
            Err(error) => return Err(error),
        }
        let was_short = clock::now().duration_since(asleep) < AWAKE;
        for entry in self.uring.completion() {
            let key = Key(entry.user_data());
            if key != IGNORED {
                ended.push(Completion {
                    key,
                    result: entry.result(),
                    more: cqueue::more(entry.flags()),
                    lent: cqueue::buffer_select(entry.flags())
                        .map(|id| Lent::new(id, entry.result())),
                });
            }
        }
        self.note_round(was_short, ended);
        Ok(())
    }

    /// Notes whether one flow alone talks, and quickly.
    fn note_round(&mut self, was_short: bool, ended: &[Completion]) {
        let flow = ended.first().map(|first| first.key.flow());
        let alone = flow.filter(|flow| ended.iter().all(|ended| ended.key.flow() == *flow));
        self.awake = was_short && alone.is_some() && alone == self.alone;
        self.alone = alone;
    }

    /// Starts what waits to be started and looks for its end for a moment, without sleeping: to be woken costs more
    /// than to wait for an answer that comes at once. Only while one flow alone talks: with more there is something to
    /// do, and others want the core. An answer that comes late ends this, so who has nothing to do sleeps.
    fn stay_awake(&mut self) -> io::Result<()> {
        if !self.awake {
            return Ok(());
        }
        match self.uring.submit() {
            Ok(_) => {}
            Err(error) if is_passing(&error) => {}
            Err(error) => return Err(error),
        }
        let until = clock::now() + AWAKE;
        while self.uring.completion().is_empty()
            && !self.uring.submission().taskrun()
            && clock::now() < until
        {
            std::thread::yield_now();
        }
        Ok(())
    }

    #[expect(unsafe_code, reason = "the kernel follows the pointers of an entry")]
    fn push(&mut self, entry: squeue::Entry, key: Key) {
        let entry = entry.user_data(key.0);
        loop {
            // SAFETY: the entries that are made here point to nothing, or into the buffers, which live
            // as long as the ring.
            if unsafe { self.uring.submission().push(&entry) }.is_ok() {
                return;
            }
            // The queue is full: the kernel takes all of it. It says "busy" when there are many ends to be
            // taken first, which it keeps meanwhile.
            if let Err(error) = self.uring.submit()
                && !is_passing(&error)
            {
                tracing::error!(%error, "the kernel takes no operations");
                std::process::abort();
            }
        }
    }
}

/// Whether a call says only that it is to be made again.
fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN)
    )
}

/// The operations whose end nobody wants to know.
const IGNORED: Key = Key(u64::MAX);

/// Operations started in one round without another system call.
const SUBMISSIONS: u32 = 1024;

/// Ends kept for one round; more than that wait in the kernel.
const COMPLETIONS: u32 = 8192;

/// How long to stay awake: an answer over a local network takes less, and a core is lost for no longer.
const AWAKE: Duration = Duration::from_micros(50);

/// IORING_RECVSEND_POLL_FIRST: what was just read is most often empty.
const POLL_FIRST: u16 = 1;

#[cfg(test)]
mod tests;
