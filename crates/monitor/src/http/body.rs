//! Takes the body of an answer out of its framing, in whatever pieces it comes.
//! Source: RFC 9112, sections 6 and 7.

/// What is left of a body.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Body {
    /// Nothing.
    Over,
    /// All that comes until the connection ends.
    ToTheEnd,
    /// This many bytes.
    Length(u64),
    /// Chunks.
    Chunked(Chunks),
}

/// A body in chunks.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Chunks {
    /// How much of this chunk is left.
    left: u64,
    /// The line that is not whole yet.
    line: Vec<u8>,
    expects: Line,
}

/// What the line between two chunks is.
#[derive(Debug, PartialEq, Eq)]
enum Line {
    Size,
    /// The empty one that ends a chunk.
    End,
}

impl Body {
    pub(super) fn chunked() -> Self {
        Self::Chunked(Chunks {
            left: 0,
            line: Vec::new(),
            expects: Line::Size,
        })
    }

    /// Puts what a piece has of the body into `text` and returns whether the body is over.
    ///
    /// # Errors
    /// The chunks are not well formed: says how.
    pub(super) fn feed(&mut self, piece: &[u8], text: &mut Vec<u8>) -> Result<bool, &'static str> {
        let is_over = match self {
            Self::Over => true,
            Self::ToTheEnd => {
                text.extend(piece);
                false
            }
            Self::Length(left) => {
                text.extend(take(piece, left).0);
                *left == 0
            }
            Self::Chunked(chunks) => chunks.feed(piece, text)?,
        };
        if is_over {
            *self = Self::Over;
        }
        Ok(is_over)
    }

    /// Returns whether the body is whole if the connection ends now.
    pub(super) fn may_end_here(&self) -> bool {
        match self {
            Self::Over | Self::ToTheEnd => true,
            Self::Length(_) | Self::Chunked(_) => false,
        }
    }
}

impl Chunks {
    fn feed(&mut self, mut piece: &[u8], text: &mut Vec<u8>) -> Result<bool, &'static str> {
        while !piece.is_empty() {
            let (chunk, rest) = take(piece, &mut self.left);
            text.extend(chunk);
            let Some((&byte, rest)) = rest.split_first() else {
                return Ok(false);
            };
            piece = rest;
            if byte != b'\n' {
                if self.line.len() == LONGEST_LINE {
                    return Err("HTTP chunk without a size");
                }
                self.line.push(byte);
            } else if self.ends_line()? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads a whole line and returns whether the body is over; what comes behind it is not looked
    /// at.
    fn ends_line(&mut self) -> Result<bool, &'static str> {
        let line = std::mem::take(&mut self.line);
        let line = line.trim_ascii();
        match self.expects {
            Line::End if line.is_empty() => self.expects = Line::Size,
            Line::End => return Err("HTTP chunk is longer than its size"),
            Line::Size => {
                self.left = size(line).ok_or("HTTP chunk without a size")?;
                self.expects = Line::End;
                return Ok(self.left == 0);
            }
        }
        Ok(false)
    }
}

/// Reads the size of a chunk, without what may be said of it behind a semicolon.
fn size(line: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(line).ok()?;
    let digits = text.split(';').next()?.trim();
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_number.then(|| u64::from_str_radix(digits, 16).ok())?
}

/// Splits off what belongs to the `left` bytes and counts it.
fn take<'p>(piece: &'p [u8], left: &mut u64) -> (&'p [u8], &'p [u8]) {
    let length = usize::try_from(*left).map_or(piece.len(), |left| left.min(piece.len()));
    *left -= length as u64;
    piece.split_at(length)
}

/// Sizes have no more than 16 digits; what is said of them is short.
const LONGEST_LINE: usize = 256;
