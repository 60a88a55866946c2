//! What a flow has started on the ring and what has not ended yet.
//!
//! Owns the keys. A flow keeps its place and its sockets for as long as something is in flight, so a key
//! always means the flow that has started the operation. Each kind is in flight at most once.

use crate::relay::Side;
use crate::ring::Key;

/// An operation on the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Started {
    /// Receives from the side.
    Receive(Side),
    /// Sends what waits of the direction that starts at the side.
    Send(Side),
    /// Waits until the side can be read.
    Readable(Side),
    /// Waits until the side can be written.
    Writable(Side),
    /// Waits until the side has failed.
    Failure(Side),
    /// Waits for all that the client sends before it has a service.
    FirstBytes,
    /// Waits until the service that is tried after so many others is connected.
    Connect(u8),
}

/// All operations of a flow that are in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct InFlight(u32);

impl Started {
    const fn code(self) -> u8 {
        match self {
            Self::Receive(side) => side as u8,
            Self::Send(side) => 2 + side as u8,
            Self::Readable(side) => 4 + side as u8,
            Self::Writable(side) => 6 + side as u8,
            Self::Failure(side) => 8 + side as u8,
            Self::FirstBytes => 10,
            Self::Connect(tried) => FIRST_CONNECT + tried,
        }
    }

    fn of(code: u8) -> Self {
        let side = Side::BOTH[usize::from(code & 1)];
        match code {
            0 | 1 => Self::Receive(side),
            2 | 3 => Self::Send(side),
            4 | 5 => Self::Readable(side),
            6 | 7 => Self::Writable(side),
            8 | 9 => Self::Failure(side),
            10 => Self::FirstBytes,
            _ => Self::Connect(code - FIRST_CONNECT),
        }
    }

    /// Returns the key of this operation of the flow at `index`.
    pub(super) const fn key(self, index: usize) -> Key {
        Key::new(index as u64, self.code())
    }

    /// Returns which flow started what.
    pub(super) fn by(key: Key) -> (usize, Self) {
        let index = usize::try_from(key.flow()).unwrap_or(usize::MAX);
        (index, Self::of(key.operation()))
    }

    const fn bit(self) -> u32 {
        1 << self.code()
    }
}

impl InFlight {
    /// Whether nothing is.
    pub(super) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether `started` is.
    pub(super) const fn has(self, started: Started) -> bool {
        self.0 & started.bit() != 0
    }

    /// Notes that `started` is, for the flow at `index`; returns its key unless it was before.
    pub(super) fn start(&mut self, started: Started, index: usize) -> Option<Key> {
        if self.has(started) {
            return None;
        }
        self.0 |= started.bit();
        Some(started.key(index))
    }

    /// Notes that `started` has ended.
    pub(super) fn end(&mut self, started: Started) {
        self.0 &= !started.bit();
    }

    /// Returns each that is in flight.
    pub(super) fn each(self) -> impl Iterator<Item = Started> {
        (0..u32::BITS as u8)
            .filter(move |code| self.0 & (1 << code) != 0)
            .map(Started::of)
    }
}

const FIRST_CONNECT: u8 = 11;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_says_who_started_what() {
        let mut in_flight = InFlight::default();
        let mut all = vec![Started::FirstBytes];
        for side in Side::BOTH {
            all.push(Started::Receive(side));
            all.push(Started::Send(side));
            all.push(Started::Readable(side));
            all.push(Started::Writable(side));
            all.push(Started::Failure(side));
        }
        all.extend((0..16).map(Started::Connect));
        for (count, started) in all.iter().enumerate() {
            let key = in_flight.start(*started, 1 << 40).unwrap();
            assert_eq!(Started::by(key), (1 << 40, *started));
            assert_eq!(in_flight.start(*started, 1 << 40), None);
            assert_eq!(in_flight.each().count(), count + 1);
        }
        for started in all {
            assert!(!in_flight.is_empty());
            in_flight.end(started);
        }
        assert!(in_flight.is_empty());
    }
}
