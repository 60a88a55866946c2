//! The building blocks of the layouts: numbered heads, columns with fixed ends, rates.

use std::collections::BTreeMap;
use std::fmt::Display;

use super::Form;

/// Returns what stands before an object: `1)` and a tab in a list, a tab alone for a single one.
pub(crate) fn head(form: Form, index: usize) -> String {
    match form {
        Form::List => format!("{})\t", index + 1),
        Form::Single => "\t".to_owned(),
    }
}

/// Adds a line of parts, each after a tab; a line without parts is left out.
pub(crate) fn push_parts(text: &mut String, parts: &[Option<String>]) {
    let mut parts = parts.iter().flatten().peekable();
    if parts.peek().is_none() {
        return;
    }
    for part in parts {
        text.push('\t');
        text.push_str(part);
    }
    text.push('\n');
}

/// Returns `label` and the value of the option `key`, if the object has that option.
pub(crate) fn option(
    settings: &BTreeMap<String, String>,
    label: &str,
    key: &str,
) -> Option<String> {
    settings.get(key).map(|value| format!("{label}{value}"))
}

/// A line of columns that end at fixed places. What is too long pushes the rest to the right, with
/// one blank between, so that fields never touch.
#[derive(Debug)]
pub(crate) struct Columns {
    line: String,
    width: usize,
}

impl Columns {
    /// Starts with the left-aligned first column.
    pub(crate) fn new(first: &str) -> Self {
        Self {
            line: first.to_owned(),
            width: first.chars().count(),
        }
    }

    /// Adds `value` so that it ends at column `end`, if there is room.
    pub(crate) fn right(mut self, end: usize, value: impl Display) -> Self {
        let value = value.to_string();
        let length = value.chars().count();
        let least = usize::from(self.width > 0);
        let gap = end.saturating_sub(self.width + length).max(least);
        self.line.extend(std::iter::repeat_n(' ', gap));
        self.line.push_str(&value);
        self.width += gap + length;
        self
    }

    /// Ends the line.
    pub(crate) fn finish(mut self) -> String {
        self.line.push('\n');
        self.line
    }
}

/// Returns `N` bytes over the 14 s window in Mbit/s with three decimals, rounded to the nearest.
///
/// N * 8 bits / 14 s / 10^6 = N / 1,750,000 Mbit/s = N / 1750 thousandths.
pub(crate) fn window_mbit(window_bytes: u64) -> String {
    thousandths((u128::from(window_bytes) + 875) / 1750)
}

/// Returns bytes per second in Mbit/s with three decimals, rounded to the nearest.
///
/// B * 8 bits / 10^6 = B / 125 thousandths.
pub(crate) fn rate_mbit(bytes_per_s: u128) -> String {
    thousandths((bytes_per_s + 62) / 125)
}

fn thousandths(number: u128) -> String {
    format!("{}.{:03}", number / 1000, number % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_end_where_they_should_and_never_touch() {
        let line = Columns::new("v1").right(28, "172.17.0.6").right(34, 10080);
        assert_eq!(line.finish(), "v1                172.17.0.6 10080\n");
        let long = Columns::new("v1")
            .right(10, "2001:db8:1:2:3:4:5:6")
            .right(34, 80);
        assert_eq!(long.finish(), "v1 2001:db8:1:2:3:4:5:6         80\n");
    }

    #[test]
    fn window_bandwidth_is_exact_to_the_thousandth() {
        assert_eq!(window_mbit(0), "0.000");
        assert_eq!(window_mbit(874), "0.000");
        assert_eq!(window_mbit(875), "0.001");
        assert_eq!(window_mbit(1_750_000), "1.000");
        assert_eq!(window_mbit(218_750_000), "125.000");
        assert_eq!(window_mbit(u64::MAX), "10540996613548.315");
    }

    #[test]
    fn a_rate_is_in_megabits() {
        assert_eq!(rate_mbit(125_000), "1.000");
        assert_eq!(rate_mbit(62), "0.000");
        assert_eq!(rate_mbit(63), "0.001");
    }
}
