//! One direction of a relay: what may be read, what waits to be written, how either end stands.
//!
//! Invariant: bytes wait (`pending`) in the buffer or in the pipe, never in both, and nothing is read
//! while bytes wait. So a pipe is empty whenever it is spliced into, and "try again" from that splice
//! can only mean that the socket is empty (it could mean "pipe is full" too).

use super::{Op, Side};

/// How the reading end of a direction stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// More may come.
    Open,
    /// It has finished; all it sent has been read.
    Ended,
    /// It has reset; all it sent before has been read.
    Aborted,
}

/// How the writing end of a direction stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sink {
    /// Bytes can be written.
    Open,
    /// All bytes and the end have been written.
    Finished,
    /// Nothing can be written any more.
    Dead,
}

/// One direction.
#[derive(Debug)]
pub(super) struct Way {
    pub(super) source: Source,
    pub(super) sink: Sink,
    /// The source may have something: an event came and no read has found it empty since.
    readable: bool,
    /// The source's end is near: a short read does not mean that it is empty.
    ended: bool,
    /// Urgent data was seen: reads stop at its mark, so only "try again" means empty.
    urgent: bool,
    /// The sink may take something. While false, bytes wait and an event will come.
    writable: bool,
    /// An operation is under way.
    busy: bool,
    /// The next read is a splice.
    bulk: bool,
    /// The bytes that wait are in the pipe.
    in_pipe: bool,
    /// Big reads in a row that were too small to say by themselves that bytes are many.
    big_reads: u8,
    /// Small reads since the last big one.
    small_reads: u8,
    /// Big reads that are still copied because no pipe could be had.
    cooldown: u8,
    pending: usize,
}

impl Way {
    pub(super) fn new() -> Self {
        Self {
            source: Source::Open,
            sink: Sink::Open,
            readable: false,
            ended: false,
            urgent: false,
            writable: true,
            busy: false,
            bulk: false,
            in_pipe: false,
            big_reads: 0,
            small_reads: 0,
            cooldown: 0,
            pending: 0,
        }
    }

    /// Whether all that the source sent has been written, as far as the sink takes it.
    pub(super) fn is_settled(&self) -> bool {
        match (self.source, self.sink) {
            (_, Sink::Finished | Sink::Dead) => true,
            (Source::Aborted, Sink::Open) => self.pending == 0,
            (Source::Open | Source::Ended, Sink::Open) => false,
        }
    }

    pub(super) fn handle_readable(&mut self, ended: bool, urgent: bool) {
        self.ended |= ended;
        if urgent {
            // A splice cannot pass the mark of urgent data.
            self.urgent = true;
            self.bulk = false;
        }
        self.readable |= matches!(self.source, Source::Open);
    }

    pub(super) fn handle_writable(&mut self) {
        self.writable = true;
    }

    /// Returns the next operation of the direction that starts at `side`.
    pub(super) fn poll_op(&mut self, side: Side) -> Option<Op> {
        if self.busy || !matches!(self.sink, Sink::Open) {
            return None;
        }
        let op = match self.source {
            _ if self.pending > 0 && !self.writable => return None,
            _ if self.pending > 0 && self.in_pipe => Op::SpliceOut(side),
            _ if self.pending > 0 => Op::Send(side),
            Source::Open if !self.readable => return None,
            Source::Open if self.bulk => Op::SpliceIn(side),
            Source::Open => Op::Receive(side),
            Source::Ended => Op::Finish(side.other()),
            Source::Aborted => return None,
        };
        self.busy = true;
        Some(op)
    }

    /// An operation has come to its end.
    pub(super) fn handle_done(&mut self) {
        self.busy = false;
    }

    /// `bytes` were received into a buffer of [`READ_SIZE`].
    pub(super) fn handle_received(&mut self, bytes: usize) {
        self.take(bytes, false);
        if bytes < READ_SIZE && !self.ended && !self.urgent {
            // The socket was empty then; what comes later raises an event.
            self.readable = false;
        }
        self.big_reads = if bytes < BIG_READ {
            0
        } else {
            self.big_reads + 1
        };
        if self.urgent || bytes < BULK_READ && self.big_reads < BIG_READS {
            return;
        }
        self.big_reads = 0;
        match self.cooldown.checked_sub(1) {
            Some(left) => self.cooldown = left,
            None => self.bulk = true,
        }
    }

    /// `bytes` were spliced into the pipe.
    pub(super) fn handle_spliced(&mut self, bytes: usize) {
        self.take(bytes, true);
        if bytes >= SMALL_READ {
            self.small_reads = 0;
            return;
        }
        self.small_reads += 1;
        if self.small_reads > SMALL_READS {
            self.copy_next();
        }
    }

    /// The next read copies.
    pub(super) fn copy_next(&mut self) {
        self.bulk = false;
        self.small_reads = 0;
    }

    /// No pipe could be had; the next big reads do not ask for one.
    pub(super) fn handle_no_pipe(&mut self) {
        self.copy_next();
        self.cooldown = COOLDOWN;
    }

    /// `bytes` of those that waited were written; returns whether none is left.
    pub(super) fn handle_written(&mut self, bytes: usize) -> bool {
        self.pending = self.pending.saturating_sub(bytes);
        self.pending == 0
    }

    /// The source has nothing now.
    pub(super) fn handle_empty(&mut self) {
        self.readable = false;
    }

    /// The sink takes nothing now.
    pub(super) fn handle_full(&mut self) {
        self.writable = false;
    }

    /// The source will send no more.
    pub(super) fn handle_end(&mut self, source: Source) {
        self.source = source;
        self.readable = false;
    }

    /// Nothing more can be written; what waits is lost.
    pub(super) fn kill_sink(&mut self) {
        self.sink = Sink::Dead;
    }

    fn take(&mut self, bytes: usize, in_pipe: bool) {
        self.pending = bytes;
        self.in_pipe = in_pipe;
    }
}

/// The size of the buffer that small messages are copied through. Measured: beyond it a splice through
/// a big pipe is cheaper than copying, below it two plain calls are.
pub(crate) const READ_SIZE: usize = 64 << 10;

/// A read of so much means that bytes are many: the direction is spliced from then on.
const BULK_READ: usize = 32 << 10;

/// So do so many of this size in a row: a ring reads as soon as there is something, so a reader that keeps up
/// with a fast sender never finds more.
const BIG_READ: usize = 8 << 10;
const BIG_READS: u8 = 4;

/// A splice of less than this is worth less than a copy.
const SMALL_READ: usize = 4 << 10;

/// So many small splices in a row and the direction is copied again.
const SMALL_READS: u8 = 8;

/// So many big reads pass before a pipe is asked for again.
const COOLDOWN: u8 = 64;
