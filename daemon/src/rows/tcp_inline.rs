//! What the connections of a service say of it, in words.

use sluice_balance::{InlineFailure, InlineStatus, Instant, OutBecause};
use sluice_protocol::TcpInline;

use super::{millis, millis_up};

/// Returns what connections say of a service; none if they are not asked.
pub(super) fn tcp_inline(status: &InlineStatus, now: Instant) -> Option<TcpInline> {
    let last = last_response(status);
    status.is_watched.then(|| TcpInline {
        state: if status.out_until.is_some() {
            "DOWN"
        } else {
            "UP"
        }
        .to_owned(),
        on_trial: status.is_on_trial,
        reason: status.because.map(reason),
        trial_ms: status
            .out_until
            .map(|until| millis_up(until.duration_since(now))),
        connections: status.total,
        failed_total: status.failed_total,
        failed_current: status.failed_in_a_row.into(),
        failed_lately: status.failed.into(),
        sample: status.seen.into(),
        times_down: status.times_out,
        last_response: last.map(|(text, _)| text.to_owned()),
        last_response_age_ms: last.map(|(_, at)| millis(now.duration_since(at))),
    })
}

/// Returns how the last connection went that said something; of two in one moment the failure.
fn last_response(status: &InlineStatus) -> Option<(&'static str, Instant)> {
    let answer = status.last_answer.map(|at| (ANSWERED, at));
    let failure = status.last_failure.map(|(how, at)| (failed(how), at));
    match (answer, failure) {
        (Some(answer), Some(failure)) if answer.1 > failure.1 => Some(answer),
        (answer, failure) => failure.or(answer),
    }
}

fn failed(how: InlineFailure) -> &'static str {
    match how {
        InlineFailure::ConnectFailed => "Failure - TCP connection failed",
        InlineFailure::Reset => "Failure - Connection reset with client data unanswered",
        InlineFailure::Closed => "Failure - Connection closed with client data unanswered",
        InlineFailure::Silent => "Failure - Time out, client data unanswered",
        InlineFailure::GaveUp => "Failure - Client gave up, its data unanswered",
    }
}

fn reason(because: OutBecause) -> String {
    match because {
        OutBecause::InARow(count) => format!("{count} failures in a row"),
        OutBecause::Share { failed, of } => {
            format!("{failed} failures in the last {of} connections")
        }
        OutBecause::Trial => "the trial failed".to_owned(),
    }
}

const ANSWERED: &str = "Success - Client data answered";

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn services_that_are_not_watched_have_no_row() {
        assert_eq!(tcp_inline(&InlineStatus::default(), at(1)), None);
    }

    #[test]
    fn service_that_is_out_says_why_and_for_how_long() {
        let status = InlineStatus {
            is_watched: true,
            out_until: Some(Instant::from_nanos(12_000_000_001)),
            because: Some(OutBecause::InARow(9)),
            last_failure: Some((InlineFailure::GaveUp, at(2_000))),
            last_answer: Some(at(1_000)),
            total: 12,
            failed_total: 9,
            times_out: 1,
            ..InlineStatus::default()
        };
        let expected = TcpInline {
            state: "DOWN".to_owned(),
            on_trial: false,
            reason: Some("9 failures in a row".to_owned()),
            trial_ms: Some(7_001),
            connections: 12,
            failed_total: 9,
            failed_current: 0,
            failed_lately: 0,
            sample: 0,
            times_down: 1,
            last_response: Some("Failure - Client gave up, its data unanswered".to_owned()),
            last_response_age_ms: Some(3_000),
        };
        assert_eq!(tcp_inline(&status, at(5_000)), Some(expected));
    }

    #[test]
    fn last_response_is_the_later_one_and_a_failure_goes_before_an_answer() {
        for (failure, answer, expected) in [
            (None, None, None),
            (None, Some(1), Some((ANSWERED, 1))),
            (Some(1), None, Some((REFUSED, 1))),
            (Some(1), Some(2), Some((ANSWERED, 2))),
            (Some(2), Some(2), Some((REFUSED, 2))),
            (Some(3), Some(2), Some((REFUSED, 3))),
        ] {
            let status = InlineStatus {
                last_failure: failure.map(|ms| (InlineFailure::ConnectFailed, at(ms))),
                last_answer: answer.map(at),
                ..InlineStatus::default()
            };
            let expected = expected.map(|(text, ms)| (text, at(ms)));
            assert_eq!(last_response(&status), expected);
        }
    }

    #[test]
    fn reasons_are_words() {
        let share = OutBecause::Share {
            failed: 30,
            of: 100,
        };
        for (because, text) in [
            (share, "30 failures in the last 100 connections"),
            (OutBecause::Trial, "the trial failed"),
        ] {
            assert_eq!(reason(because), text);
        }
    }

    const REFUSED: &str = "Failure - TCP connection failed";
}
