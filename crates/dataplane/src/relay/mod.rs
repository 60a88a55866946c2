//! The relay of one TCP flow, as a state machine without I/O: events in, operations out.
//!
//! Owns how the two directions of a flow stand and when the flow ends. Knows no sockets and no bytes:
//! a driver asks for operations with [`Relay::poll_op`], carries them out and tells how each ended.
//!
//! ```text
//! Open    -- both directions have passed their end ------------------------> Close (Finished)
//! Open    -- silent for the idle limit ------------------------------------> Reset (IdleLimit)
//! Open    -- a side has reset ----> Failing
//! Failing -- what that side sent is with the other one, or its limit ------> Reset (that side's)
//! Failing -- the other side has reset too ---------------------------------> Reset (the first one's)
//! any     -- no memory ----------------------------------------------------> Reset (Local)
//! ```
//!
//! Invariants: a FIN is forwarded as a FIN and only after the last byte. A reset is forwarded as a
//! reset and only after the bytes that were received before it have been acknowledged, because
//! resetting a socket throws away what it has not delivered. Per direction at most [`READ_SIZE`] or
//! one pipe waits. No operation follows `Close` or `Reset`.

mod state;
mod way;

use std::time::Duration;

use sluice_balance::{CloseReason, Instant};

pub(crate) use way::READ_SIZE;
use way::{Sink, Source, Way};

/// An end of a flow. A direction is named by the side it starts at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Where the flow came from.
    Client,
    /// Where it goes.
    Service,
}

impl Side {
    /// Both.
    pub(crate) const BOTH: [Self; 2] = [Self::Client, Self::Service];

    /// Returns the opposite side.
    pub(crate) const fn other(self) -> Self {
        match self {
            Self::Client => Self::Service,
            Self::Service => Self::Client,
        }
    }

    const fn reset_reason(self) -> CloseReason {
        match self {
            Self::Client => CloseReason::ClientReset,
            Self::Service => CloseReason::ServiceReset,
        }
    }
}

/// What an event says of one socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ready {
    /// Something can be read, or its end.
    pub(crate) readable: bool,
    /// Something can be written.
    pub(crate) writable: bool,
    /// The peer has finished or reset.
    pub(crate) ended: bool,
    /// The connection has failed; what was received before can still be read.
    pub(crate) failed: bool,
    /// There is urgent data.
    pub(crate) urgent: bool,
}

impl Ready {
    /// Adds what `other` says.
    pub(crate) fn merge(&mut self, other: Self) {
        self.readable |= other.readable;
        self.writable |= other.writable;
        self.ended |= other.ended;
        self.failed |= other.failed;
        self.urgent |= other.urgent;
    }
}

/// What the driver is to do next. A direction is named by the side it starts at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// Read from the side into a buffer of [`READ_SIZE`].
    Receive(Side),
    /// Write what waits of the direction.
    Send(Side),
    /// Splice from the side into an empty pipe.
    SpliceIn(Side),
    /// Splice what waits of the direction out of its pipe.
    SpliceOut(Side),
    /// Send a FIN to the side.
    Finish(Side),
    /// Find out how much the side has not acknowledged.
    Measure(Side),
    /// Close both sockets; all has been said.
    Close(CloseReason),
    /// Reset both sockets.
    Reset(CloseReason),
}

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// So many bytes were moved, at least one.
    Moved(usize),
    /// The source is at its end; for `Finish`: the FIN is sent.
    Ended,
    /// Nothing can be moved now; an event will tell.
    Again,
    /// There is no pipe, or the socket cannot be spliced.
    NoPipe,
    /// So much is not acknowledged.
    Unacknowledged(usize),
    /// The connection is lost.
    Failed(Failure),
}

/// Why a connection is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Its peer has reset, or is out of reach.
    Reset,
    /// Its peer had finished before it reset (EPIPE).
    Broken,
    /// There is no memory for it.
    Local,
}

/// The state of one flow whose service is connected.
#[derive(Debug)]
pub(crate) struct Relay {
    ways: [Way; 2],
    phase: Phase,
    /// The direction that goes first, so that a busy one does not starve the other.
    first: Side,
    /// How long both sides may be silent; `None` is for ever.
    idle: Option<Duration>,
    /// When something last moved in either direction.
    moved_at: Instant,
    /// What is to be measured, and what was measured last.
    measure: [bool; 2],
    unacknowledged: [Option<usize>; 2],
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Open,
    Failing(Failing),
    /// The last operation is due.
    Ending(Op),
    Over,
}

/// A side has reset, and the other one gets what that side sent before.
#[derive(Clone, Copy, Debug)]
struct Failing {
    side: Side,
    /// Whether reading its end means a reset, because a write has used up the error already.
    consumed: bool,
    /// When to measure again.
    check_at: Option<Instant>,
    pause: Duration,
}

impl Relay {
    /// Makes the relay of a flow that is connected at `now`. Both sockets may be written to; nothing
    /// is read before an event comes.
    pub(crate) fn new(idle: Option<Duration>, now: Instant) -> Self {
        Self {
            ways: [Way::new(), Way::new()],
            phase: Phase::Open,
            first: Side::Client,
            idle,
            moved_at: now,
            measure: [false; 2],
            unacknowledged: [None; 2],
        }
    }

    /// Takes an event of the socket of `side`.
    pub(crate) fn handle_ready(&mut self, side: Side, ready: Ready, now: Instant) {
        if ready.writable {
            self.way(side.other()).handle_writable();
        }
        if ready.readable || ready.ended || ready.failed {
            self.way(side)
                .handle_readable(ready.ended || ready.failed, ready.urgent);
        }
        if ready.failed {
            self.fail(side, false, now);
        }
    }

    /// Returns the next operation. It must be carried out, and its end told, before the same direction
    /// gets another one.
    pub(crate) fn poll_op(&mut self) -> Option<Op> {
        match self.phase {
            Phase::Over => return None,
            Phase::Ending(op) => {
                self.phase = Phase::Over;
                return Some(op);
            }
            Phase::Open | Phase::Failing(_) => {}
        }
        for side in [self.first, self.first.other()] {
            if let Some(op) = self.way(side).poll_op(side) {
                return Some(self.closing_instead(op));
            }
        }
        self.want_measure();
        let side = Side::BOTH
            .into_iter()
            .find(|side| self.measure[*side as usize])?;
        self.measure[side as usize] = false;
        Some(Op::Measure(side))
    }

    /// Takes the end of an operation.
    pub(crate) fn handle_done(&mut self, op: Op, outcome: Outcome, now: Instant) {
        if matches!(outcome, Outcome::Moved(_)) {
            self.moved_at = now;
        }
        match op {
            Op::Receive(side) | Op::SpliceIn(side) => self.handle_read(side, op, outcome, now),
            Op::Send(side) | Op::SpliceOut(side) => self.handle_write(side, outcome, now),
            Op::Finish(side) => self.handle_finish(side, outcome, now),
            Op::Measure(side) => self.handle_measure(side, outcome, now),
            Op::Close(_) | Op::Reset(_) => {}
        }
    }

    /// Returns when [`Self::handle_timeout`] wants to be called.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        match self.phase {
            Phase::Open => self.idle_limit().map(|limit| self.moved_at + limit),
            Phase::Failing(failing) => {
                let end = self.moved_at + deliver_limit(failing.side.other());
                Some(failing.check_at.map_or(end, |check| check.min(end)))
            }
            Phase::Ending(_) | Phase::Over => None,
        }
    }

    /// Does what is due at `now`; nothing when nothing is.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        match self.phase {
            Phase::Open => {
                let due = self.idle_limit().map(|limit| self.moved_at + limit);
                if due.is_some_and(|due| now >= due) {
                    // Bytes that the kernel still delivers are no silence: see `handle_measure`.
                    self.measure = [true; 2];
                }
            }
            Phase::Failing(mut failing) => {
                if now >= self.moved_at + deliver_limit(failing.side.other()) {
                    self.end(Op::Reset(failing.side.reset_reason()));
                } else if failing.check_at.is_some_and(|check| now >= check) {
                    failing.check_at = None;
                    self.phase = Phase::Failing(failing);
                }
            }
            Phase::Ending(_) | Phase::Over => {}
        }
    }

    fn way(&mut self, source: Side) -> &mut Way {
        &mut self.ways[source as usize]
    }

    /// The second FIN is sent by closing.
    fn closing_instead(&mut self, op: Op) -> Op {
        match op {
            Op::Finish(side) if self.way(side).sink == Sink::Finished => {
                self.phase = Phase::Over;
                Op::Close(CloseReason::Finished)
            }
            op => op,
        }
    }

    fn handle_read(&mut self, side: Side, op: Op, outcome: Outcome, now: Instant) {
        let splice = matches!(op, Op::SpliceIn(_));
        let way = &mut self.ways[side as usize];
        way.handle_done();
        match outcome {
            Outcome::Moved(bytes) => {
                self.first = side;
                if splice {
                    way.handle_spliced(bytes);
                } else {
                    way.handle_received(bytes);
                }
            }
            // A splice that stands at urgent data says "end" too: only a receive is believed.
            Outcome::Ended if splice => way.copy_next(),
            Outcome::Ended => self.handle_end(side),
            Outcome::NoPipe => way.handle_no_pipe(),
            Outcome::Again => way.handle_empty(),
            Outcome::Failed(Failure::Local) => self.end(Op::Reset(CloseReason::Local)),
            Outcome::Failed(Failure::Reset | Failure::Broken) => {
                way.handle_end(Source::Aborted);
                self.fail(side, true, now);
            }
            Outcome::Unacknowledged(_) => {}
        }
    }

    fn handle_end(&mut self, side: Side) {
        let reset = match self.phase {
            Phase::Failing(failing) => failing.side == side && failing.consumed,
            Phase::Open | Phase::Ending(_) | Phase::Over => false,
        };
        let source = if reset {
            Source::Aborted
        } else {
            Source::Ended
        };
        self.way(side).handle_end(source);
    }

    fn handle_write(&mut self, side: Side, outcome: Outcome, now: Instant) {
        let way = &mut self.ways[side as usize];
        way.handle_done();
        match outcome {
            Outcome::Moved(bytes) => {
                if way.handle_written(bytes) {
                    self.first = side.other();
                }
            }
            Outcome::Again => way.handle_full(),
            Outcome::Failed(failure) => self.handle_write_failure(side.other(), failure, now),
            Outcome::Ended | Outcome::NoPipe | Outcome::Unacknowledged(_) => {}
        }
    }

    fn handle_finish(&mut self, side: Side, outcome: Outcome, now: Instant) {
        let way = &mut self.ways[side.other() as usize];
        way.handle_done();
        match outcome {
            Outcome::Failed(failure) => self.handle_write_failure(side, failure, now),
            Outcome::Ended
            | Outcome::Moved(_)
            | Outcome::Again
            | Outcome::NoPipe
            | Outcome::Unacknowledged(_) => {
                if matches!(way.sink, Sink::Open) {
                    way.sink = Sink::Finished;
                    self.moved_at = now;
                }
                if self.ways.iter().all(|way| way.sink == Sink::Finished) {
                    self.end(Op::Close(CloseReason::Finished));
                }
            }
        }
    }

    fn handle_write_failure(&mut self, side: Side, failure: Failure, now: Instant) {
        match failure {
            Failure::Local => self.end(Op::Reset(CloseReason::Local)),
            // The write has told of the reset, so a read will only tell of an end.
            Failure::Reset => self.fail(side, true, now),
            Failure::Broken => self.fail(side, false, now),
        }
    }

    /// `side` has reset: nothing can be written to it any more, and what it sent goes on to the other.
    fn fail(&mut self, side: Side, consumed: bool, now: Instant) {
        self.way(side.other()).kill_sink();
        self.way(side).handle_readable(true, false);
        match self.phase {
            Phase::Open => {
                self.moved_at = now;
                self.measure = [false; 2];
                self.unacknowledged = [None; 2];
                self.phase = Phase::Failing(Failing {
                    side,
                    consumed,
                    check_at: None,
                    pause: FIRST_CHECK,
                });
            }
            Phase::Failing(first) if first.side != side => {
                self.end(Op::Reset(first.side.reset_reason()));
            }
            Phase::Failing(_) | Phase::Ending(_) | Phase::Over => {}
        }
    }

    /// When all that the failed side sent has been written, asks whether it has been acknowledged.
    fn want_measure(&mut self) {
        if let Phase::Failing(failing) = self.phase
            && failing.check_at.is_none()
            && self.ways[failing.side as usize].is_settled()
        {
            self.measure[failing.side.other() as usize] = true;
        }
    }

    fn handle_measure(&mut self, side: Side, outcome: Outcome, now: Instant) {
        let bytes = match outcome {
            Outcome::Unacknowledged(bytes) => bytes,
            // A socket that cannot be asked has nothing to wait for.
            Outcome::Moved(_)
            | Outcome::Ended
            | Outcome::Again
            | Outcome::NoPipe
            | Outcome::Failed(_) => 0,
        };
        let before = self.unacknowledged[side as usize].replace(bytes);
        // An unknown count before counts as progress once: a slow reader shows only in the second.
        let progress = bytes > 0 && before != Some(bytes);
        if progress {
            self.moved_at = now;
        }
        match self.phase {
            Phase::Open if progress => self.measure = [false; 2],
            Phase::Open if self.measure == [false; 2] => {
                self.end(Op::Reset(CloseReason::IdleLimit));
            }
            Phase::Failing(failing) if bytes == 0 => {
                self.end(Op::Reset(failing.side.reset_reason()));
            }
            Phase::Failing(mut failing) => {
                failing.check_at = Some(now + failing.pause);
                failing.pause = (failing.pause * 2).min(LAST_CHECK);
                self.phase = Phase::Failing(failing);
            }
            Phase::Open | Phase::Ending(_) | Phase::Over => {}
        }
    }

    fn end(&mut self, op: Op) {
        match self.phase {
            Phase::Open | Phase::Failing(_) => self.phase = Phase::Ending(op),
            Phase::Ending(_) | Phase::Over => {}
        }
    }

    fn idle_limit(&self) -> Option<Duration> {
        let half_closed = self.ways.iter().any(|way| way.sink == Sink::Finished);
        if half_closed {
            Some(
                self.idle
                    .map_or(HALF_CLOSED_IDLE, |idle| idle.min(HALF_CLOSED_IDLE)),
            )
        } else {
            self.idle
        }
    }
}

/// How long the bytes of a side that has reset may stand still on their way to `side`. A client that
/// reads slowly still gets its answer; for a service nobody waits any more.
const fn deliver_limit(side: Side) -> Duration {
    match side {
        Side::Client => Duration::from_secs(10),
        Side::Service => Duration::from_secs(1),
    }
}

/// How long a flow of which one direction has finished may be silent, when its idle limit is longer.
///
/// Source: own choice: the field's default is 10 s, which cuts answers that take longer to compute; a
/// pair whose other end has vanished only costs two descriptors, and a minute bounds that.
const HALF_CLOSED_IDLE: Duration = Duration::from_secs(60);

/// Acknowledgements raise no event, so they are asked for: soon at first, then less and less often.
const FIRST_CHECK: Duration = Duration::from_millis(5);
const LAST_CHECK: Duration = Duration::from_millis(160);

#[cfg(test)]
mod tests;
