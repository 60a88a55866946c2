//! Moments and durations as the reference prints them.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Returns a moment in the form of C's `ctime`: `Fri Jan 15 20:50:22 2021`.
///
/// A moment outside the calendar (after the year 9999) is printed as its milliseconds.
pub(crate) fn ctime(unix_ms: u64, zone: &TimeZone) -> String {
    i64::try_from(unix_ms)
        .ok()
        .and_then(|unix_ms| Timestamp::from_millisecond(unix_ms).ok())
        .map_or_else(
            || format!("{unix_ms} ms since 1970"),
            |moment| {
                let local = moment.to_zoned(zone.clone());
                local.strftime("%a %b %e %H:%M:%S %Y").to_string()
            },
        )
}

/// Returns a duration as `0 days, 00:52:56.600`; milliseconds without leading zeros, as the device
/// does.
pub(crate) fn age(age_ms: u64) -> String {
    let seconds = age_ms / 1000;
    format!(
        "{} days, {:02}:{:02}:{:02}.{}",
        seconds / 86_400,
        seconds / 3600 % 24,
        seconds / 60 % 60,
        seconds % 60,
        age_ms % 1000
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_local_and_pads_the_day_with_a_blank() {
        let unix_ms = 1_675_434_821_000;
        assert_eq!(ctime(unix_ms, &TimeZone::UTC), "Fri Feb  3 14:33:41 2023");
        let east = TimeZone::fixed(jiff::tz::offset(10));
        assert_eq!(ctime(unix_ms, &east), "Sat Feb  4 00:33:41 2023");
    }

    #[test]
    fn a_moment_outside_the_calendar_does_not_panic() {
        assert_eq!(
            ctime(u64::MAX, &TimeZone::UTC),
            "18446744073709551615 ms since 1970"
        );
    }

    #[test]
    fn milliseconds_of_an_age_are_not_padded() {
        assert_eq!(age(0), "0 days, 00:00:00.0");
        assert_eq!(age(3_176_600), "0 days, 00:52:56.600");
        assert_eq!(age(2 * 86_400_000 + 3_661_020), "2 days, 01:01:01.20");
    }
}
