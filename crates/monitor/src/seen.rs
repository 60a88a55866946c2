//! What a probe under way has seen, so that one that is cut short by its deadline can tell.

use tokio::time::Instant;

use crate::{Outcome, Report};

/// What a probe has seen so far.
pub(crate) struct Seen {
    /// Where its time counts from.
    began: Instant,
    pub(crate) sent: Excerpt,
    pub(crate) received: Excerpt,
    pub(crate) compared: String,
    /// How it ends if its deadline comes now.
    at_deadline: Ended,
}

/// How a check ended.
#[derive(Clone, Debug)]
pub(crate) struct Ended {
    outcome: Outcome,
    load: Option<u64>,
    text: String,
}

impl Ended {
    pub(crate) fn passed(text: impl Into<String>) -> Self {
        Self::new(Outcome::Passed, text)
    }

    pub(crate) fn failed(text: impl Into<String>) -> Self {
        Self::new(Outcome::Failed, text)
    }

    pub(crate) fn out_of_service(text: impl Into<String>) -> Self {
        Self::new(Outcome::OutOfService, text)
    }

    pub(crate) fn with_load(mut self, load: Option<u64>) -> Self {
        self.load = load;
        self
    }

    fn new(outcome: Outcome, text: impl Into<String>) -> Self {
        Self {
            outcome,
            load: None,
            text: text.into(),
        }
    }
}

impl Seen {
    pub(crate) fn new() -> Self {
        Self {
            began: Instant::now(),
            sent: Excerpt::default(),
            received: Excerpt::default(),
            compared: String::new(),
            at_deadline: Ended::failed("Probe timed out"),
        }
    }

    /// Counts the time from now on.
    pub(crate) fn begin(&mut self) {
        self.began = Instant::now();
    }

    /// Says what it waits for now, and so what a deadline means.
    pub(crate) fn waits_for(&mut self, at_deadline: Ended) {
        self.at_deadline = at_deadline;
    }

    /// Returns how it has ended, its deadline being here.
    pub(crate) fn late(&self) -> Ended {
        self.at_deadline.clone()
    }

    pub(crate) fn report(self, ended: Ended) -> Report {
        let word = match ended.outcome {
            Outcome::Passed | Outcome::OutOfService => "Success",
            Outcome::Failed => "Failure",
        };
        Report {
            outcome: ended.outcome,
            load: ended.load,
            text: format!("{word} - {}.", ended.text),
            sent: self.sent.shown(),
            received: self.received.shown(),
            compared: self.compared,
            took: self.began.elapsed(),
        }
    }
}

/// The beginning of some bytes, and how many there were.
#[derive(Default)]
pub(crate) struct Excerpt {
    first: Vec<u8>,
    total: usize,
}

impl Excerpt {
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        let room = EXCERPT - self.first.len();
        self.first.extend(&bytes[..bytes.len().min(room)]);
        self.total += bytes.len();
    }

    fn shown(&self) -> String {
        let text = shown(&self.first);
        if self.total > self.first.len() {
            format!("{text} ... [{} bytes]", self.total)
        } else {
            text
        }
    }
}

/// Returns bytes as text: what is not printable ASCII, and the backslash, is escaped.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let escaped = bytes.iter().flat_map(|byte| match byte {
        b'"' | b'\'' => vec![*byte],
        other => other.escape_ascii().collect(),
    });
    escaped.map(char::from).collect()
}

/// Enough to recognise an answer; four times that, escaped, fits a line of a table.
const EXCERPT: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpt_is_bounded_and_escaped_and_tells_the_whole_length() {
        let mut excerpt = Excerpt::default();
        excerpt.add(b"a\0\r\n\"\\\x7f\xff");
        assert_eq!(excerpt.shown(), r#"a\x00\r\n"\\\x7f\xff"#);

        excerpt.add(&[b'x'; 1000]);
        let shown = excerpt.shown();
        assert!(shown.ends_with("xxx ... [1008 bytes]"), "{shown}");
        assert_eq!(shown.matches('x').count(), EXCERPT - 8 + 3);
    }

    #[test]
    fn texts_begin_and_end_as_the_reference_has_them() {
        let text = |ended| Seen::new().report(ended).text;
        assert_eq!(text(Ended::passed("It is")), "Success - It is.");
        assert_eq!(text(Ended::failed("It is not")), "Failure - It is not.");
        assert_eq!(text(Ended::out_of_service("It goes")), "Success - It goes.");
        assert_eq!(text(Seen::new().late()), "Failure - Probe timed out.");
    }
}
