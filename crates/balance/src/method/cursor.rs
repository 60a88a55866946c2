//! Whose turn it is: the one place where a virtual server remembers its last choice.
//!
//! Invariant: `next` is at most the number of bound services. Equal to it means that the last
//! service was chosen last: a service bound now is the next one, otherwise the first follows.

use super::Candidate;

/// The bind position just after the service chosen last; the first one before any choice.
///
/// Kept as a position, not as the last service, so that it stays meaningful when that service is
/// filtered out or leaves.
#[derive(Clone, Debug, Default)]
pub(super) struct Cursor {
    next: usize,
}

impl Cursor {
    /// Returns the index of the first candidate at or after the cursor, cyclically.
    pub(super) fn start(&self, candidates: &[Candidate]) -> usize {
        let index = candidates.partition_point(|candidate| candidate.position < self.next);
        if index == candidates.len() { 0 } else { index }
    }

    /// Returns whose turn it is among so many bound services, candidates or not.
    pub(super) fn position(&self, bound: usize) -> usize {
        if self.next < bound { self.next } else { 0 }
    }

    /// Moves just behind the service at `position`.
    pub(super) fn pass(&mut self, position: usize) {
        self.next = position + 1;
    }

    /// Follows the services behind `position`, which move up by one.
    pub(super) fn unbind(&mut self, position: usize) {
        if position < self.next {
            self.next -= 1;
        }
    }
}
