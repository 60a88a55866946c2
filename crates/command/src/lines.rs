//! The bytes of a file to its lines, whoever wrote it: Windows or Unix, with a byte order mark or
//! without, with a newline at the end or without.

use crate::lex::{self, Problem};
use crate::{Fault, catalogue};

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Its number, from 1.
    pub number: usize,
    /// Its bytes as they stand there, without the line feed.
    pub bytes: &'a [u8],
    /// Its text without the line end and trailing blanks; or why it cannot be read as text.
    pub text: Result<String, Fault>,
}

/// Splits the bytes of a file into lines.
/// Shape: every line is there, blank ones and comments too, numbered as an editor does; a line with
/// invalid UTF-8, or with a character outside quotes that only looks like a blank, is a fault that
/// names line and column, and the others are not affected.
pub fn lines(bytes: &[u8]) -> Vec<Line<'_>> {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    if bytes.is_empty() {
        return Vec::new();
    }
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    bytes
        .split(|byte| *byte == b'\n')
        .enumerate()
        .map(|(index, bytes)| decoded(index + 1, bytes))
        .collect()
}

/// Reads one line of a file; `bytes` are without its line feed. As [`lines`] does with all.
pub fn line(number: usize, bytes: &[u8]) -> Line<'_> {
    let mark = bytes.strip_prefix(BYTE_ORDER_MARK).filter(|_| number == 1);
    decoded(number, mark.unwrap_or(bytes))
}

fn decoded(number: usize, bytes: &[u8]) -> Line<'_> {
    Line {
        number,
        bytes,
        text: decode(bytes),
    }
}

fn decode(bytes: &[u8]) -> Result<String, Fault> {
    if bytes.len() > LINE_MAX {
        let details = format!("more than {LINE_MAX} bytes");
        return Err(Fault::new(catalogue::FILE_LINE_TOO_LONG).with_details(details));
    }
    let text = match str::from_utf8(bytes) {
        Ok(text) => text.trim_end_matches(lex::is_separator),
        Err(error) => {
            let valid = error.valid_up_to();
            let before = String::from_utf8_lossy(&bytes[..valid]);
            return Err(Fault::new(catalogue::INVALID_CHARACTER)
                .with_details(format!(
                    "column {}, byte 0x{:02X}",
                    before.chars().count() + 1,
                    bytes[valid]
                ))
                .with_hint("the file is not UTF-8 here"));
        }
    };
    // Most lines have no such character, and need not be split here to know it.
    if text.contains(lex::is_invisible)
        && let Err((_, fault)) = lex::tokens(text)
        && let Problem::Invisible(c) = fault.problem
    {
        let place = format!("column {}", lex::column(text, fault.at));
        return Err(lex::invisible(c, &place));
    }
    Ok(text.to_owned())
}

/// The most bytes of a line; the longest command has some hundred.
pub const LINE_MAX: usize = 64 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(bytes: &[u8]) -> Vec<String> {
        lines(bytes)
            .into_iter()
            .map(|line| line.text.expect("these lines are text"))
            .collect()
    }

    #[test]
    fn line_ends_marks_and_trailing_blanks_do_not_matter() {
        let plain = ["add server s1 10.0.0.1", "", "# end"];
        for bytes in [
            &b"add server s1 10.0.0.1\n\n# end\n"[..],
            b"add server s1 10.0.0.1\n\n# end",
            b"add server s1 10.0.0.1\r\n\r\n# end\r\n",
            b"\xef\xbb\xbfadd server s1 10.0.0.1\r\n\r\n# end",
            b"add server s1 10.0.0.1 \t \n\t\n# end \t\r\n",
        ] {
            assert_eq!(texts(bytes), plain);
        }
    }

    #[test]
    fn a_line_has_a_limit_and_its_bytes_are_kept() {
        let longest = [b"# ", "x".repeat(LINE_MAX - 2).as_bytes()].concat();
        let file = [&longest[..], b"x\n", &longest, b"\n\xffx\r\n"].concat();
        let found = lines(&file);
        let fault = found[0].text.clone().expect_err("it is one byte longer");
        assert_eq!(
            fault.to_string(),
            "Line is too long [more than 65536 bytes]"
        );
        assert!(found[1].text.is_ok());
        assert_eq!(found[2].bytes, b"\xffx\r");
        assert_eq!(line(1, b"\xef\xbb\xbfa").text, Ok("a".to_owned()));
        assert!(line(2, b"\xef\xbb\xbfa").text.is_err());
    }

    #[test]
    fn numbers_are_those_of_an_editor() {
        let numbers: Vec<usize> = lines(b"a\n\nb").iter().map(|line| line.number).collect();
        assert_eq!(numbers, [1, 2, 3]);
        assert!(lines(b"").is_empty());
        assert_eq!(lines(b"\n").len(), 1);
        assert_eq!(lines(b"\n\n").len(), 2);
    }

    #[test]
    fn invalid_utf8_names_its_column_and_spares_the_other_lines() {
        let found = lines(b"show server\nshow \xc3\xa9\xffx\nshow service\n");
        let fault = found[1].text.clone().expect_err("0xFF is never UTF-8");
        assert_eq!(fault.to_string(), "Invalid character [column 7, byte 0xFF]");
        assert_eq!(found[0].text.as_deref(), Ok("show server"));
        assert_eq!(found[2].text.as_deref(), Ok("show service"));
    }

    #[test]
    fn no_break_space_is_refused_outside_quotes_and_comments_only() {
        let fault = lines("add\u{a0}server s1 10.0.0.1".as_bytes())[0]
            .text
            .clone()
            .expect_err("the blank is not one");
        assert_eq!(fault.to_string(), "Invalid character [column 4, U+00A0]");
        for text in ["set server s -comment \"a\u{a0}b\"", "# a\u{a0}b"] {
            assert_eq!(texts(text.as_bytes()), [text]);
        }
    }
}
