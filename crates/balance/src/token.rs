//! Tokens: what identifies a client by its own words, and where it says them.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::hash::{KEY_SEED, Key};

/// The hash of some bytes at the start of a client's data.
///
/// The data plane makes it, for virtual servers that choose by token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Token(u64);

impl Token {
    /// Makes the token of these bytes; the same bytes always give the same token.
    pub fn of(bytes: &[u8]) -> Self {
        Self(xxh3_64_with_seed(bytes, KEY_SEED))
    }

    pub(crate) fn key(self) -> Key {
        Key::of_token(self.0)
    }
}

/// Where in the client's first bytes its token is.
///
/// Units: bytes; offset 0–25,400, length 1–100.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TokenRange {
    offset: u16,
    length: u8,
}

impl TokenRange {
    /// The very first byte.
    pub const FIRST_BYTE: Self = Self {
        offset: 0,
        length: 1,
    };

    /// Makes the range of `length` bytes after the first `offset`.
    ///
    /// # Errors
    /// [`TokenRangeError`] says which of the two is out of its range.
    pub fn new(offset: u64, length: u64) -> Result<Self, TokenRangeError> {
        let offset = u16::try_from(offset)
            .ok()
            .filter(|offset| *offset <= MOST_OFFSET)
            .ok_or(TokenRangeError::Offset(offset))?;
        let length = u8::try_from(length)
            .ok()
            .filter(|length| (1..=MOST_LENGTH).contains(length))
            .ok_or(TokenRangeError::Length(length))?;
        Ok(Self { offset, length })
    }

    /// Returns how many bytes of a client there must be to find its token.
    pub const fn needs(self) -> usize {
        self.offset as usize + self.length as usize
    }

    /// Returns the token in `bytes`, the first of a client; none if they are too few.
    pub fn find(self, bytes: &[u8]) -> Option<Token> {
        bytes.get(self.offset.into()..self.needs()).map(Token::of)
    }
}

/// An offset or a length that is out of its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenRangeError {
    /// This offset.
    Offset(u64),
    /// This length.
    Length(u64),
}

impl std::fmt::Display for TokenRangeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Offset(offset) => write!(f, "offset {offset} is out of range 0–{MOST_OFFSET}"),
            Self::Length(length) => write!(f, "length {length} is out of range 1–{MOST_LENGTH}"),
        }
    }
}

impl std::error::Error for TokenRangeError {}

/// Source: NetScaler, `dataOffset` and `dataLength` of a virtual server.
const MOST_OFFSET: u16 = 25_400;
const MOST_LENGTH: u8 = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_is_the_bytes_of_its_range_alone() {
        let range = TokenRange::new(3, 4).unwrap();
        assert_eq!(range.needs(), 7);
        assert_eq!(range.find(b"id=four"), Some(Token::of(b"four")));
        assert_eq!(range.find(b"ID:four and more"), Some(Token::of(b"four")));
        assert_eq!(range.find(b"id=fou"), None);
        assert_eq!(range.find(b""), None);
        assert_eq!(TokenRange::FIRST_BYTE.find(b"xy"), Some(Token::of(b"x")));
    }

    #[test]
    fn range_has_bounds() {
        assert_eq!(TokenRange::new(25_400, 100).unwrap().needs(), 25_500);
        assert_eq!(TokenRange::new(0, 1), Ok(TokenRange::FIRST_BYTE));
        for offset in [25_401, 1 << 16, u64::MAX] {
            let error = TokenRange::new(offset, 1);
            assert_eq!(error, Err(TokenRangeError::Offset(offset)));
        }
        for length in [0, 101, 256, u64::MAX] {
            let error = TokenRange::new(0, length);
            assert_eq!(error, Err(TokenRangeError::Length(length)));
        }
    }
}
