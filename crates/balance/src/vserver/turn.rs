//! ROUNDROBIN without going through all services: from the one whose turn it is to the next that can.
//!
//! Owns nothing; the round is in the chooser. A slow start, which serves new services out of turn, is
//! left to the scan.

use super::Vserver;
use super::choice::Search;
use crate::method::Rule;

impl Vserver {
    /// Finds a service in turn, if that is how it is done; within, none if none can take the flow.
    pub(super) fn find_in_turn(&mut self, search: &Search<'_>) -> Option<Option<usize>> {
        if search.rule != Rule::InTurn || search.terms.is_some() {
            return None;
        }
        let bindings = &self.bindings;
        let chooser = &self.chooser;
        let takes_part = |position: &usize| {
            let binding = &bindings[*position];
            search.among.includes(binding) && search.admits(binding)
        };
        // What is cheap to see comes first: few services have had their quota, or most have.
        let is_next = |position: &usize| {
            chooser.has_quota(*position, bindings[*position].weight) && takes_part(position)
        };
        let from = chooser.turn(bindings.len());
        let mut order = (from..bindings.len()).chain(0..from);
        let next = order.find(is_next);
        let found = next.or_else(|| (0..bindings.len()).find(takes_part));
        if let Some(position) = found {
            self.chooser.serve_in_turn(position, next.is_none());
        }
        Some(found)
    }
}
