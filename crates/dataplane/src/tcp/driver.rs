//! Carries out the relay's operations with system calls: recv, send, splice, shutdown.
//!
//! Owns the worker's one buffer and its pipes, decides nothing. The bytes of a receive stay in the
//! shared buffer only until the send that follows at once; what that send leaves is kept with the flow.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::io::{Errno, retry_on_intr};
use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, send, shutdown};
use rustix::pipe::{SpliceFlags, splice};
use sluice_balance::{FlowKey, Reservation, Selection};

use super::exchange::Exchange;
use super::flow::Remains;
use super::traffic::Traffic;
use crate::descriptors::Descriptors;
use crate::flow_rows::Ends;
use crate::pipes::{PIPE_SIZE, Pipe, Pipes};
use crate::relay::{Failure, Op, Outcome, READ_SIZE, Side};
use crate::ring::Lent;
use crate::sys;

/// What the flows of a worker share for moving bytes.
pub(super) struct Io {
    buffer: Box<[u8]>,
    /// How many bytes in the buffer wait for their send.
    held: usize,
    pub(super) pipes: Pipes,
}

/// The two sockets of a connected flow and the bytes between them.
#[derive(Debug)]
pub(super) struct Legs {
    sockets: [OwnedFd; 2],
    pub(super) waiting: [Waiting; 2],
    pub(super) reservation: Reservation,
    /// Where the client and the service are, and why that service.
    pub(super) ends: Ends,
    pub(super) traffic: Traffic,
    pub(super) exchange: Exchange,
}

/// Bytes of one direction on their way.
#[derive(Debug)]
pub(super) enum Waiting {
    Nothing,
    /// Those after the first `usize` have not been sent.
    Kept(Box<[u8]>, usize),
    /// They are in a buffer of the ring.
    Lent(Lent),
    /// So many are in the pipe.
    Piped(Pipe, usize),
}

impl Legs {
    pub(super) fn new(
        client: OwnedFd,
        service: OwnedFd,
        key: &FlowKey,
        selection: Selection,
    ) -> Self {
        Self {
            sockets: [client, service],
            waiting: [Waiting::Nothing, Waiting::Nothing],
            ends: Ends::new(key.src, key.dst, &selection),
            reservation: selection.reservation,
            traffic: Traffic::new(selection.service_counters, selection.vserver_counters),
            exchange: Exchange::default(),
        }
    }

    /// Counts the segments that the service's socket has moved.
    pub(super) fn sample(&mut self) {
        self.traffic
            .sample(self.sockets[Side::Service as usize].as_fd());
    }

    /// Counts what `op` has moved.
    pub(super) fn count(&mut self, op: Op, outcome: Outcome) {
        if let Outcome::Moved(bytes) = outcome {
            self.traffic.count(op, bytes);
        }
    }

    pub(super) fn socket(&self, side: Side) -> BorrowedFd<'_> {
        self.sockets[side as usize].as_fd()
    }
}

impl Io {
    pub(super) fn new(descriptors: Arc<Descriptors>) -> Self {
        Self {
            buffer: vec![0; READ_SIZE].into(),
            held: 0,
            pipes: Pipes::new(descriptors),
        }
    }

    /// Carries out `op`, which is neither `Close` nor `Reset`: those end the flow that owns `legs`.
    pub(super) fn carry_out(&mut self, legs: &mut Legs, op: Op) -> Outcome {
        let outcome = match op {
            Op::Receive(side) => self.receive(legs, side),
            Op::Send(side) => self.send(legs, side),
            Op::SpliceIn(side) => self.splice_in(legs, side),
            Op::SpliceOut(side) => self.splice_out(legs, side),
            Op::Finish(side) => match shutdown(legs.socket(side), Shutdown::Write) {
                Ok(()) => Outcome::Ended,
                Err(_) => Outcome::Failed(Failure::Reset),
            },
            Op::Measure(side) => {
                Outcome::Unacknowledged(sys::unacknowledged(legs.socket(side)).unwrap_or(0))
            }
            Op::Close(_) | Op::Reset(_) => Outcome::Ended,
        };
        legs.count(op, outcome);
        outcome
    }

    /// Returns the first bytes that `socket` has received, `most` at most and fewer than a buffer; they
    /// stay there.
    pub(super) fn peek(&mut self, socket: &OwnedFd, most: usize) -> Result<&[u8], Errno> {
        let room = &mut self.buffer[..most];
        let (bytes, _) = retry_on_intr(|| recv(socket, &mut *room, RecvFlags::PEEK))?;
        Ok(&self.buffer[..bytes])
    }

    /// Ends a flow: its pipes are closed; its sockets are closed, or reset, when the rest is dropped.
    pub(super) fn close(&mut self, mut legs: Legs, reset: bool) -> (Reservation, Remains) {
        legs.sample();
        let Legs {
            sockets,
            waiting,
            reservation,
            ..
        } = legs;
        if reset {
            sockets.iter().for_each(super::reset_by_closing);
        }
        let lent = waiting.map(|waiting| match waiting {
            Waiting::Nothing | Waiting::Kept(..) => None,
            Waiting::Lent(lent) => Some(lent),
            Waiting::Piped(pipe, _) => {
                self.pipes.discard(pipe);
                None
            }
        });
        let sockets = sockets.map(Some);
        (reservation, Remains { sockets, lent })
    }

    fn receive(&mut self, legs: &Legs, side: Side) -> Outcome {
        debug_assert_eq!(self.held, 0, "bytes in the buffer were not sent");
        let socket = legs.socket(side);
        let result = retry_on_intr(|| recv(socket, &mut self.buffer[..], RecvFlags::empty()));
        match result.map(|(bytes, _)| bytes) {
            Ok(0) => Outcome::Ended,
            Ok(bytes) => {
                self.held = bytes;
                Outcome::Moved(bytes)
            }
            Err(error) => outcome_of(error),
        }
    }

    fn send(&mut self, legs: &mut Legs, side: Side) -> Outcome {
        let socket = legs.sockets[side.other() as usize].as_fd();
        let waiting = &mut legs.waiting[side as usize];
        let held = &self.buffer[..std::mem::take(&mut self.held)];
        let result = match waiting {
            Waiting::Kept(bytes, sent) => {
                let result = send_some(socket, &bytes[*sent..]);
                *sent += result.unwrap_or(0);
                if *sent == bytes.len() {
                    *waiting = Waiting::Nothing;
                }
                result
            }
            Waiting::Nothing | Waiting::Lent(_) | Waiting::Piped(..) => {
                let result = send_some(socket, held);
                let sent = result.unwrap_or(0);
                if sent < held.len() {
                    *waiting = Waiting::Kept(held[sent..].into(), 0);
                }
                result
            }
        };
        match result {
            Ok(0) => Outcome::Again,
            Ok(bytes) => Outcome::Moved(bytes),
            Err(error) => outcome_of(error),
        }
    }

    fn splice_in(&mut self, legs: &mut Legs, side: Side) -> Outcome {
        let Some(pipe) = self.pipes.take() else {
            return Outcome::NoPipe;
        };
        let socket = legs.socket(side);
        match splice_some(socket, pipe.write.as_fd(), PIPE_SIZE) {
            Ok(bytes) if bytes > 0 => {
                legs.waiting[side as usize] = Waiting::Piped(pipe, bytes);
                Outcome::Moved(bytes)
            }
            result => {
                self.pipes.give_back(pipe);
                match result {
                    Ok(_) => Outcome::Ended,
                    // A socket that cannot be spliced can still be read, and tells more then.
                    Err(Errno::INVAL | Errno::NOTCONN | Errno::NOMEM) => Outcome::NoPipe,
                    Err(error) => outcome_of(error),
                }
            }
        }
    }

    fn splice_out(&mut self, legs: &mut Legs, side: Side) -> Outcome {
        let socket = legs.sockets[side.other() as usize].as_fd();
        let waiting = &mut legs.waiting[side as usize];
        let Waiting::Piped(pipe, left) = waiting else {
            return Outcome::Again;
        };
        match splice_some(pipe.read.as_fd(), socket, *left) {
            Ok(0) => Outcome::Again,
            Ok(bytes) => {
                *left -= bytes;
                if *left == 0
                    && let Waiting::Piped(pipe, _) = std::mem::replace(waiting, Waiting::Nothing)
                {
                    self.pipes.give_back(pipe);
                }
                Outcome::Moved(bytes)
            }
            Err(error) => outcome_of(error),
        }
    }
}

fn send_some(socket: BorrowedFd<'_>, bytes: &[u8]) -> Result<usize, Errno> {
    retry_on_intr(|| send(socket, bytes, SendFlags::NOSIGNAL))
}

fn splice_some(from: BorrowedFd<'_>, to: BorrowedFd<'_>, most: usize) -> Result<usize, Errno> {
    let flags = SpliceFlags::MOVE | SpliceFlags::NONBLOCK;
    retry_on_intr(|| splice(from, None, to, None, most, flags))
}

pub(super) fn outcome_of(error: Errno) -> Outcome {
    match error {
        Errno::AGAIN => Outcome::Again,
        Errno::PIPE => Outcome::Failed(Failure::Broken),
        Errno::NOBUFS | Errno::NOMEM => Outcome::Failed(Failure::Local),
        _ => Outcome::Failed(Failure::Reset),
    }
}
