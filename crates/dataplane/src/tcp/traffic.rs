//! Counts the traffic of one flow on its service and its virtual server, while it moves.
//!
//! Units: "in" is what the service's socket has taken, "out" what was read from it; so bytes that are
//! still on their way in are not counted, and a finished flow is counted to the byte. Packets are the
//! data segments of the service's socket, as the kernel counts them (repetitions included), and are
//! read now and then: see [`SAMPLE_INTERVAL`].

use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::Duration;

use sluice_balance::Counters;

use crate::relay::{Op, Side};
use crate::sys::{self, DataSegments};

/// The counters of one flow.
#[derive(Debug)]
pub(super) struct Traffic {
    counters: [Arc<Counters>; 2],
    segments: DataSegments,
    /// Bytes in and out of this flow alone.
    bytes: [u64; 2],
    /// Whether something moved since the segments were read.
    moved: bool,
}

impl Traffic {
    pub(super) fn new(service: Arc<Counters>, vserver: Arc<Counters>) -> Self {
        Self {
            counters: [service, vserver],
            segments: DataSegments::default(),
            bytes: [0; 2],
            moved: false,
        }
    }

    /// Counts `bytes` that `op` has moved.
    pub(super) fn count(&mut self, op: Op, bytes: usize) {
        let bytes = bytes as u64;
        match op {
            Op::Send(Side::Client) | Op::SpliceOut(Side::Client) => {
                self.bytes[0] += bytes;
                self.counters
                    .iter()
                    .for_each(|counters| counters.add_in(bytes, 0));
            }
            Op::Receive(Side::Service) | Op::SpliceIn(Side::Service) => {
                self.bytes[1] += bytes;
                self.counters
                    .iter()
                    .for_each(|counters| counters.add_out(bytes, 0));
            }
            // Counted at the other end of the direction.
            Op::Receive(Side::Client)
            | Op::SpliceIn(Side::Client)
            | Op::Send(Side::Service)
            | Op::SpliceOut(Side::Service)
            | Op::Finish(_)
            | Op::Measure(_)
            | Op::Close(_)
            | Op::Reset(_) => {}
        }
    }

    /// Returns how many bytes of the flow went in and came out.
    pub(super) fn bytes(&self) -> [u64; 2] {
        self.bytes
    }

    /// Notes that something moved; returns whether this is the first since the last sample.
    pub(super) fn note_moved(&mut self) -> bool {
        !std::mem::replace(&mut self.moved, true)
    }

    /// Counts the segments that `service` has moved since the last sample.
    pub(super) fn sample(&mut self, service: BorrowedFd<'_>) {
        if !std::mem::take(&mut self.moved) {
            return;
        }
        let Ok(segments) = sys::data_segments(service) else {
            return;
        };
        let received = segments.received.wrapping_sub(self.segments.received);
        let sent = segments.sent.wrapping_sub(self.segments.sent);
        self.segments = segments;
        for counters in &self.counters {
            counters.add_in(0, u64::from(sent));
            counters.add_out(0, u64::from(received));
        }
    }
}

/// The window of least packets samples four times a second; reading more often would tell it nothing.
pub(super) const SAMPLE_INTERVAL: Duration = Duration::from_millis(250);
