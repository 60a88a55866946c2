//! What the daemon writes to standard error: log lines and plain lines.
//!
//! Invariant: one event is one line, and no control character of names, file contents or peers reaches
//! the terminal or the journal; they are shown escaped.

use std::fmt::Write as _;
use std::io::{self, Write};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;

/// Starts logging to standard error, as `RUST_LOG` says, `info` when it says nothing or nonsense.
///
/// Colours stay off: an escape sequence of the log's own could not be told from one smuggled in.
pub(crate) fn init() {
    let asked = std::env::var_os(EnvFilter::DEFAULT_ENV).unwrap_or_default();
    let asked = asked.to_string_lossy();
    let (filter, complaint) = match filter(&asked) {
        Ok(filter) => (filter, None),
        Err(why) => (EnvFilter::new(DEFAULT), Some(why)),
    };
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_target(false)
        .with_writer(Lines)
        .finish();
    // Fails only when a log was set up before, which then goes on.
    let _ = tracing::subscriber::set_global_default(log);
    if let Some(why) = complaint {
        tracing::warn!("RUST_LOG={asked} is not understood, {DEFAULT} is used: {why}");
    }
}

/// Returns the filter that `asked` describes.
///
/// # Errors
/// What is wrong with it. A single word that is neither a level nor part of the product is wrong too: it
/// would name a module that nobody has, and so turn the log off.
fn filter(asked: &str) -> Result<EnvFilter, String> {
    if asked.trim().is_empty() {
        return Ok(EnvFilter::new(DEFAULT));
    }
    let is_word = |part: &&str| !part.is_empty() && !part.contains(['=', '[']);
    for word in asked.split(',').map(str::trim).filter(is_word) {
        if word.parse::<LevelFilter>().is_err() && !word.starts_with("sluice") {
            return Err(format!("no level {word:?}"));
        }
    }
    EnvFilter::try_new(asked).map_err(|error| error.to_string())
}

/// Writes one plain line to standard error, control characters escaped.
pub(crate) fn line(text: &str) {
    // Nobody is left to tell when standard error is gone.
    let _ = io::stderr().write_all(format!("{}\n", escaped(text)).as_bytes());
}

/// Returns `text` with its control characters as `\n`, `\u{1b}` and the like.
pub(crate) fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || BREAKING.contains(&c) {
            let _ = write!(shown, "{}", c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Makes a writer for one event.
#[derive(Clone, Copy, Debug)]
struct Lines;

impl MakeWriter<'_> for Lines {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        Self
    }
}

impl Write for Lines {
    /// Gets one whole event, ending in a line feed.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        line(&one_line(event));
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns an event without the line feed at its end.
fn one_line(event: &[u8]) -> String {
    let text = String::from_utf8_lossy(event);
    text.strip_suffix('\n').unwrap_or(&text).to_owned()
}

/// What is logged unless asked otherwise.
const DEFAULT: &str = "info";

/// Line and paragraph separators and the overrides that let text be shown in another order.
const BREAKING: [char; 11] = [
    '\u{2028}', '\u{2029}', '\u{202a}', '\u{202b}', '\u{202c}', '\u{202d}', '\u{202e}', '\u{2066}',
    '\u{2067}', '\u{2068}', '\u{2069}',
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonsense_is_no_filter() {
        for asked in [
            "",
            " ",
            "debug",
            "info,,",
            "WARN",
            "off",
            "info,sluiced=trace",
            "sluice_balance",
        ] {
            assert!(filter(asked).is_ok(), "{asked:?}");
        }
        for asked in ["!!bad=", "verbose", "sluiced=loud", "info,verbose"] {
            assert!(filter(asked).is_err(), "{asked:?}");
        }
    }

    #[test]
    fn control_characters_are_shown_and_letters_stay() {
        assert_eq!(
            escaped("a\n2030 ERROR forged\x1b[2J\r\t\u{9b}x\u{202e}Straße"),
            "a\\n2030 ERROR forged\\u{1b}[2J\\r\\t\\u{9b}x\\u{202e}Straße"
        );
    }

    #[test]
    fn of_an_event_only_the_last_line_feed_ends_a_line() {
        assert_eq!(escaped(&one_line(b"one\ntwo\n")), "one\\ntwo");
        assert_eq!(escaped(&one_line(b"bad \xff\n")), "bad \u{fffd}");
    }
}
