//! Where text goes: answers to one stream, through the filters behind a command if there are any,
//! errors to another.
//!
//! A reader that has gone (a broken pipe) is no error and ends nothing: a batch that was only half
//! run because somebody looked at its first lines would be worse. What cannot be written for
//! another reason is remembered and reported once, at the end.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::sync::Arc;

use crate::grep::Grep;

/// The two streams.
pub(crate) struct Output {
    out: Stream,
    err: Stream,
    filtered: Option<Filtered>,
    can_colour: bool,
    is_coloured: bool,
}

/// What waits for its filters: they see whole lines only.
struct Filtered {
    filters: Vec<Grep>,
    text: String,
}

impl Output {
    /// Writes to the process's own streams.
    pub(crate) fn standard() -> Self {
        Self {
            out: Stream::new(Box::new(io::stdout())),
            err: Stream::new(Box::new(io::stderr())),
            filtered: None,
            can_colour: false,
            is_coloured: false,
        }
    }

    /// Writes everything, errors too, into one file, in order.
    pub(crate) fn file(file: File) -> Self {
        let file = Arc::new(file);
        Self {
            out: Stream::new(Box::new(Arc::clone(&file))),
            err: Stream::new(Box::new(file)),
            filtered: None,
            can_colour: false,
            is_coloured: false,
        }
    }

    /// Writes an answer.
    pub(crate) fn out(&mut self, text: &str) {
        match &mut self.filtered {
            Some(filtered) => filtered.text.push_str(text),
            None => self.out.write(text),
        }
    }

    /// Sends answers through `filters`, one after the other, until [`Output::end_filters`].
    pub(crate) fn begin_filters(&mut self, filters: Vec<Grep>) {
        if !filters.is_empty() {
            let text = String::new();
            self.filtered = Some(Filtered { filters, text });
        }
    }

    /// Writes what the filters let pass; what follows is not filtered.
    pub(crate) fn end_filters(&mut self) {
        if let Some(filtered) = self.filtered.take() {
            let passed = filtered
                .filters
                .iter()
                .fold(filtered.text, |text, filter| filter.apply(&text));
            self.out.write(&passed);
        }
    }

    /// Writes an error or a warning.
    pub(crate) fn err(&mut self, text: &str) {
        if self.is_coloured {
            self.err.write(&coloured(text));
        } else {
            self.err.write(text);
        }
    }

    /// Says that a person reads errors on a terminal that has colours.
    pub(crate) fn allow_colour(&mut self) {
        self.can_colour = true;
    }

    /// Colours errors and warnings from now on, or no more, where that is allowed.
    pub(crate) fn set_colour(&mut self, is_on: bool) {
        self.is_coloured = is_on && self.can_colour;
    }

    /// Returns why something could not be written, once.
    pub(crate) fn take_problem(&mut self) -> Option<io::Error> {
        self.out.problem.take().or_else(|| self.err.problem.take())
    }
}

/// Colours the word that says how bad it is; a label may stand before it.
fn coloured(text: &str) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let word = [("ERROR:", RED), ("Warning:", YELLOW)]
            .into_iter()
            .filter_map(|(word, colour)| Some((line.find(word)?, word, colour)))
            .find(|(at, ..)| *at == 0 || line[..*at].ends_with(": "));
        match word {
            Some((at, word, colour)) => {
                let (label, rest) = (&line[..at], &line[at + word.len()..]);
                out.push_str(&format!("{label}{colour}{word}{PLAIN}{rest}"));
            }
            None => out.push_str(line),
        }
    }
    out
}

const RED: &str = "\x1b[31m";
const YELLOW: &str = "\x1b[33m";
const PLAIN: &str = "\x1b[0m";

struct Stream {
    /// `None` once writing has failed.
    writer: Option<Box<dyn Write>>,
    problem: Option<io::Error>,
}

impl Stream {
    fn new(writer: Box<dyn Write>) -> Self {
        Self {
            writer: Some(writer),
            problem: None,
        }
    }

    fn write(&mut self, text: &str) {
        let Some(writer) = &mut self.writer else {
            return;
        };
        let written = writer
            .write_all(text.as_bytes())
            .and_then(|()| writer.flush());
        if let Err(error) = written {
            self.writer = None;
            if error.kind() != ErrorKind::BrokenPipe {
                self.problem = Some(error);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Broken(ErrorKind);

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_has_gone_is_no_problem() {
        let mut stream = Stream::new(Box::new(Broken(ErrorKind::BrokenPipe)));
        stream.write("x");
        stream.write("y");
        assert!(stream.problem.is_none());
    }

    #[test]
    fn the_word_is_coloured_and_nothing_else() {
        assert_eq!(
            coloured("f:3: ERROR: No such resource [ERROR: x]\n  show server\n"),
            "f:3: \x1b[31mERROR:\x1b[0m No such resource [ERROR: x]\n  show server\n"
        );
        assert_eq!(coloured("Warning: a"), "\x1b[33mWarning:\x1b[0m a");
        assert_eq!(coloured("no ERROR: here\n"), "no ERROR: here\n");
    }

    #[test]
    fn a_full_disk_is_a_problem_and_told_once() {
        let mut output = Output {
            out: Stream::new(Box::new(Broken(ErrorKind::StorageFull))),
            err: Stream::new(Box::new(io::sink())),
            filtered: None,
            can_colour: false,
            is_coloured: false,
        };
        output.out("x");
        output.out("y");
        let problem = output.take_problem().map(|error| error.kind());
        assert_eq!(problem, Some(ErrorKind::StorageFull));
        assert!(output.take_problem().is_none());
    }
}
