//! Messages to bytes and back. The only place that knows bincode.
//!
//! Everything read is bounded before it is believed: a frame's length against [`FRAME_MAX`] before
//! a byte of it is kept, a length inside a message against the codec's limit before anything is
//! allocated for it. A message must use up its whole body.

use bincode::config::{Configuration, Limit, LittleEndian, Varint};
use bincode::serde::{decode_from_slice, encode_to_vec};
use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::FRAME_MAX;

/// Why a message cannot be sent.
#[derive(Debug, Error)]
pub enum EncodeError {
    /// The message does not fit into a frame.
    #[error("the message has {length} bytes, at most {FRAME_MAX} are allowed")]
    TooLong {
        /// Its bytes.
        length: usize,
    },
    /// The message has no binary form.
    #[error("the message cannot be encoded")]
    Codec(#[source] bincode::error::EncodeError),
}

/// Why bytes are not a message.
#[derive(Debug, Error)]
pub enum DecodeError {
    /// The bytes do not have the form of the message.
    #[error("{length} bytes are not a message of the control protocol")]
    Codec {
        /// How many bytes there were.
        length: usize,
        /// What the codec says.
        #[source]
        source: bincode::error::DecodeError,
    },
    /// Bytes are left over after the message.
    #[error("a message of {used} bytes is followed by {trailing} bytes that belong to nothing")]
    Trailing {
        /// Bytes of the message.
        used: usize,
        /// Bytes after it.
        trailing: usize,
    },
}

/// Why a stream is not a sequence of frames. The stream cannot be read any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FrameError {
    /// A frame without a body.
    #[error("a frame has the length 0")]
    Empty,
    /// A frame longer than any message.
    #[error("a frame has the length {length}, at most {FRAME_MAX} are allowed")]
    TooLong {
        /// The length it claims.
        length: u32,
    },
}

/// Encodes the body of a frame.
///
/// # Errors
/// [`EncodeError::TooLong`] when the body exceeds [`FRAME_MAX`], [`EncodeError::Codec`] when the
/// type has no binary form.
pub fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>, EncodeError> {
    let body = encode_to_vec(message, CODEC).map_err(EncodeError::Codec)?;
    if body.len() > FRAME_MAX {
        return Err(EncodeError::TooLong { length: body.len() });
    }
    Ok(body)
}

/// Decodes the body of a frame.
///
/// # Errors
/// [`DecodeError::Codec`] when the bytes are not a `T`, [`DecodeError::Trailing`] when they are
/// more than a `T`.
pub fn decode<T: DeserializeOwned>(body: &[u8]) -> Result<T, DecodeError> {
    let (message, used) = decode_from_slice(body, CODEC).map_err(|source| DecodeError::Codec {
        length: body.len(),
        source,
    })?;
    if used != body.len() {
        return Err(DecodeError::Trailing {
            used,
            trailing: body.len() - used,
        });
    }
    Ok(message)
}

/// Encodes a whole frame: length and body.
///
/// # Errors
/// As [`encode`].
pub fn frame<T: Serialize>(message: &T) -> Result<Vec<u8>, EncodeError> {
    let body = encode(message)?;
    let length = u32::try_from(body.len()).expect("encode refuses more than FRAME_MAX bytes");
    let mut frame = Vec::with_capacity(LENGTH_BYTES + body.len());
    frame.extend_from_slice(&length.to_be_bytes());
    frame.extend_from_slice(&body);
    Ok(frame)
}

/// Cuts a stream of bytes into frame bodies. Does no I/O, so that blocking and asynchronous readers
/// share it.
///
/// Push what was read, then take frames until there are none, then read on. Used so it holds at
/// most one frame and one read: a length is judged as soon as its four bytes are there, and nothing
/// is reserved for a body before it arrives.
#[derive(Debug, Default)]
pub struct FrameBuffer {
    bytes: Vec<u8>,
    /// How much of the front has been handed out.
    taken: usize,
    /// Once the stream is out of step every later byte is meaningless.
    broken: Option<FrameError>,
}

impl FrameBuffer {
    /// Makes an empty buffer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends bytes of the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.broken.is_some() {
            return;
        }
        if self.taken > 0 {
            self.bytes.drain(..self.taken);
            self.taken = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns the body of the next whole frame; `None` means read on.
    ///
    /// # Errors
    /// A length of 0 or above [`FRAME_MAX`]; then for ever the same error.
    #[expect(
        clippy::should_implement_trait,
        reason = "the end of this sequence is not known, and an error ends it"
    )]
    pub fn next(&mut self) -> Result<Option<Vec<u8>>, FrameError> {
        if let Some(error) = self.broken {
            return Err(error);
        }
        let rest = &self.bytes[self.taken..];
        let Some((prefix, rest)) = rest.split_first_chunk::<LENGTH_BYTES>() else {
            return Ok(None);
        };
        let length = match body_length(*prefix) {
            Ok(length) => length,
            Err(error) => {
                self.broken = Some(error);
                self.bytes = Vec::new();
                self.taken = 0;
                return Err(error);
            }
        };
        let Some(body) = rest.get(..length) else {
            return Ok(None);
        };
        let body = body.to_vec();
        self.taken += LENGTH_BYTES + length;
        self.release();
        Ok(Some(body))
    }

    /// Returns whether the stream may end here: no part of a frame is waiting for its rest.
    pub fn is_empty(&self) -> bool {
        self.taken == self.bytes.len()
    }

    /// Gives back what one long frame made the buffer grow to; idle clients then cost little.
    fn release(&mut self) {
        if self.is_empty() {
            self.bytes.clear();
            self.bytes.shrink_to(KEEP);
            self.taken = 0;
        }
    }
}

fn body_length(prefix: [u8; LENGTH_BYTES]) -> Result<usize, FrameError> {
    let length = u32::from_be_bytes(prefix);
    match usize::try_from(length) {
        Ok(0) => Err(FrameError::Empty),
        Ok(bytes) if bytes <= FRAME_MAX => Ok(bytes),
        Ok(_) | Err(_) => Err(FrameError::TooLong { length }),
    }
}

/// Bytes of a frame's length.
const LENGTH_BYTES: usize = 4;

/// What an empty buffer keeps allocated: a usual read.
const KEEP: usize = 8 * 1024;

/// The wire format. The limit makes a claimed length that no frame can hold an error instead of an
/// allocation.
const CODEC: Configuration<LittleEndian, Varint, Limit<LIMIT>> =
    bincode::config::standard().with_limit::<LIMIT>();

/// The codec counts each number as the 9 bytes it may take, whatever it takes; a frame of numbers
/// of one byte must still decode. So a false length costs at most these 9 MiB.
const LIMIT: usize = 9 * FRAME_MAX;

#[cfg(test)]
mod tests;
