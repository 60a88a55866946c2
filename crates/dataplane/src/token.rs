//! What a readiness event is about: an index into one of a worker's tables and a tag that says which.

use mio::Token;

/// The mailbox has something; the index is 0.
pub(crate) const WAKER: usize = 0;
/// A TCP listening socket; the index is that of the listener.
pub(crate) const TCP_LISTENER: usize = 1;
/// The client's socket of a TCP flow; the index is that of the flow.
pub(crate) const TCP_CLIENT: usize = 2;
/// The service's socket of a TCP flow; the index is that of the flow.
pub(crate) const TCP_SERVICE: usize = 3;
/// A UDP listening socket; the index is the UDP side's own.
pub(crate) const UDP_LISTENER: usize = 4;
/// The service's socket of a UDP session; the index is the UDP side's own.
pub(crate) const UDP_SESSION: usize = 5;

/// Makes the token of `index` in the table that `tag` names.
pub(crate) const fn token(index: usize, tag: usize) -> Token {
    Token((index << TAG_BITS) | tag)
}

/// Returns which table `token` is about.
pub(crate) const fn tag(token: Token) -> usize {
    token.0 & ((1 << TAG_BITS) - 1)
}

/// Returns the place in that table.
pub(crate) const fn index(token: Token) -> usize {
    token.0 >> TAG_BITS
}

const TAG_BITS: u32 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_gives_back_its_index_and_tag() {
        let token = token(123_456, UDP_SESSION);
        assert_eq!((index(token), tag(token)), (123_456, UDP_SESSION));
    }
}
