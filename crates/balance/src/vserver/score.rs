//! The hash methods without a table, in one pass: most services lose without a logarithm.
//!
//! Owns nothing. `-ln(u)` is at least `1 - u`, which is there for a subtraction: once some service
//! scores well, that is enough to tell that another one does not, and the logarithm is left to the few
//! that might. The choice is that of [`crate::method`], exactly.

use super::Vserver;
use super::choice::Search;
use crate::hash::{Key, least_minus_ln};
use crate::method::{Candidate, Rule, precedes, score};

impl Vserver {
    /// Finds the service with the best score, if that is how it is done; within, none if none can take
    /// the flow.
    pub(super) fn find_by_score(&self, search: &Search<'_>) -> Option<Option<usize>> {
        let Rule::Hash(key) = search.rule else {
            return None;
        };
        Some(self.best_by_score(search, key))
    }

    fn best_by_score(&self, search: &Search<'_>, key: Key) -> Option<usize> {
        let use_port = self.settings.hash.use_port;
        let mut best: Option<Candidate> = None;
        for (position, binding) in self.bindings.iter().enumerate() {
            if !search.among.includes(binding) || !search.admits(binding) {
                continue;
            }
            let identity = search.services.at(binding.slot).identity;
            let least = least_minus_ln(key.score(identity.deciding(use_port)));
            let loses = |best: &Candidate| best.is_below(least, binding.weight);
            if best.as_ref().is_some_and(loses) {
                continue;
            }
            let reading = score(identity, key, use_port);
            let own = Candidate::new(position, binding.weight, reading, false);
            if best.as_ref().is_none_or(|best| precedes(&own, best)) {
                best = Some(own);
            }
        }
        best.map(|best| best.position)
    }
}
