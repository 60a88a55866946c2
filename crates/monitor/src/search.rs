//! Finds a pattern in an answer that comes in pieces, without keeping the answer.

/// A search under way.
pub(crate) struct Search<'a> {
    pattern: &'a [u8],
    /// The end of what came before: one byte less than the pattern.
    tail: Vec<u8>,
    is_found: bool,
}

impl<'a> Search<'a> {
    /// Begins a search; an empty pattern is never found.
    pub(crate) fn new(pattern: &'a [u8]) -> Self {
        Self {
            pattern,
            tail: Vec::new(),
            is_found: false,
        }
    }

    /// Returns whether the pattern has been found, in what came before and this piece together.
    pub(crate) fn feed(&mut self, piece: &[u8]) -> bool {
        if self.is_found || self.pattern.is_empty() {
            return self.is_found;
        }
        self.tail.extend(piece);
        let length = self.pattern.len();
        self.is_found = self.tail.windows(length).any(|part| part == self.pattern);
        let over = self.tail.len().saturating_sub(length - 1);
        self.tail.drain(..over);
        self.is_found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pattern: &[u8], pieces: &[&[u8]]) -> bool {
        let mut search = Search::new(pattern);
        for piece in pieces {
            search.feed(piece);
        }
        assert!(search.tail.len() < pattern.len().max(1));
        search.is_found
    }

    #[test]
    fn pattern_is_found_wherever_the_pieces_are_cut() {
        let answer = b"+OK \0 aab ready";
        for first in 0..=answer.len() {
            for second in first..=answer.len() {
                let pieces = [&answer[..first], &answer[first..second], &answer[second..]];
                for pattern in [&b"aab"[..], b"\0", b"+OK", b"ready", answer] {
                    assert!(found(pattern, &pieces), "{pattern:?} {pieces:?}");
                }
                for pattern in [&b"aaab"[..], b"ready ", b" +OK", b"OK+"] {
                    assert!(!found(pattern, &pieces), "{pattern:?} {pieces:?}");
                }
            }
        }
    }

    #[test]
    fn empty_pattern_is_never_found() {
        assert!(!found(b"", &[b"a"]));
    }
}
