//! How a virtual server chooses: one small file per method, and what they share.
//!
//! A method sees weights and loads, never names, sockets or time. It is given the candidates: the
//! bound services that are UP, below `maxClient`, not held back by a slow start and not excluded by
//! the caller, in bind order, as a contiguous slice that is never empty. It returns an index of it.
//!
//! Shared are the [`Cursor`] (whose turn it is, which also breaks ties) and the comparison of
//! weighted loads in [`least`]. A method that compares a number has a file with that number alone.

mod cursor;
mod least;
mod least_bandwidth;
mod least_connection;
mod least_packets;
mod round_robin;

use crate::service::Service;
use crate::{Method, Weight};

use cursor::Cursor;
pub(crate) use least::is_less;
use round_robin::Round;

/// One service that could be chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    /// Its place in bind order, over all bound services.
    pub(crate) position: usize,
    pub(crate) weight: Weight,
    /// The number that the method compares; see [`load_of`].
    pub(crate) load: u64,
    /// Whether it is in its slow start, and the limit of that is in force.
    pub(crate) is_new: bool,
}

/// The method of one virtual server with its state.
///
/// The cursor belongs to the virtual server and outlives a change of method, so that a change does
/// not send the next client to the first service again.
#[derive(Debug)]
pub(crate) struct Chooser {
    method: Method,
    cursor: Cursor,
    round: Round,
}

impl Chooser {
    /// Makes the chooser of a virtual server without bound services.
    pub(crate) fn new(method: Method) -> Self {
        Self {
            method,
            cursor: Cursor::default(),
            round: Round::default(),
        }
    }

    /// Returns the method.
    pub(crate) fn method(&self) -> Method {
        self.method
    }

    /// Changes the method. A round that was under way is dropped, the cursor stays.
    pub(crate) fn set_method(&mut self, method: Method) {
        if method != self.method {
            self.method = method;
            self.round.restart();
        }
    }

    /// Notes that a service joined, last in bind order.
    pub(crate) fn bind(&mut self) {
        self.round.bind();
    }

    /// Notes that the service at `position` left.
    pub(crate) fn unbind(&mut self, position: usize) {
        self.cursor.unbind(position);
        self.round.unbind(position);
    }

    /// Notes that the service at `position` is no longer new; `existing` are the others that are
    /// not, by position and weight.
    pub(crate) fn end_ramp(
        &mut self,
        position: usize,
        weight: u64,
        existing: impl Iterator<Item = (usize, u64)>,
    ) {
        self.round.catch_up(position, weight, existing);
    }

    /// Chooses one of `candidates`, of which there is at least one; `ramping` says whether some may
    /// be new.
    pub(crate) fn select(&mut self, candidates: &[Candidate], ramping: bool) -> usize {
        if ramping
            && self.method == Method::RoundRobin
            && let Some(index) = self.round.select_new(candidates)
        {
            return index;
        }
        let from = self.cursor.start(candidates);
        let index = match self.method {
            Method::RoundRobin => self.round.select(candidates, from),
            Method::LeastConnection | Method::LeastBandwidth | Method::LeastPackets => {
                least::select(candidates, from)
            }
        };
        self.cursor.pass(candidates[index].position);
        index
    }
}

/// Returns how to find the load that `method` compares; `base` is the slot of the windows' baseline.
pub(crate) fn load_of(method: Method) -> fn(&Service, usize) -> u64 {
    match method {
        Method::RoundRobin => |_, _| 0,
        Method::LeastConnection => least_connection::load,
        Method::LeastBandwidth => least_bandwidth::load,
        Method::LeastPackets => least_packets::load,
    }
}
