//! Which ends are failures, and what they count as.

use std::time::Duration;

use sluice_balance::{CloseReason, Method, TokenRange};

use crate::rig::Rig;

const REASONS: [CloseReason; 8] = [
    CloseReason::Finished,
    CloseReason::ConnectFailed,
    CloseReason::ClientReset,
    CloseReason::ServiceReset,
    CloseReason::ServiceClosed,
    CloseReason::IdleLimit,
    CloseReason::Flushed,
    CloseReason::Local,
];

/// Ends a flow for each reason, after `before`; returns for each how many failures count as
/// connections, and whether the service stands behind.
fn verdicts(before: impl Fn(&mut Rig)) -> Vec<(u64, bool)> {
    let verdict = |reason| {
        let mut rig = Rig::new(Method::LeastBandwidth, &[1]);
        rig.pick();
        before(&mut rig);
        rig.end_last(reason);
        let shown = rig.service(1);
        (shown.recent_failures, shown.stands_behind)
    };
    REASONS.into_iter().map(verdict).collect()
}

#[test]
fn flow_without_client_data_fails_only_by_the_service() {
    let (none, fast) = ((0, false), (1, true));
    let expected = [none, fast, none, fast, fast, none, none, none];
    assert_eq!(verdicts(|_| {}), expected);
}

#[test]
fn flow_with_unanswered_client_data_fails_unless_we_ended_it() {
    let (none, fast, silent) = ((0, false), (1, true), (0, true));
    let expected = [silent, fast, silent, fast, fast, silent, none, none];
    assert_eq!(verdicts(|rig| rig.ask(0)), expected);
}

#[test]
fn flow_that_was_answered_never_fails() {
    let answered = |rig: &mut Rig| {
        rig.ask(0);
        rig.answer(0);
    };
    assert_eq!(verdicts(answered), [(0, false); 8]);
    assert_eq!(verdicts(|rig| rig.answer(0)), [(0, false); 8]);
}

#[test]
fn place_that_was_never_used_is_no_failure() {
    let mut rig = Rig::new(Method::LeastBandwidth, &[1]);
    rig.pick();
    rig.ask(0);
    let reservation = rig.take(1);
    rig.engine.handle_unused(reservation, rig.now);
    let shown = rig.service(1);
    assert_eq!((shown.recent_failures, shown.stands_behind), (0, false));
    assert_eq!((shown.response_time, shown.longest_wait), (None, None));
}

#[test]
fn failure_is_booked_as_the_time_out_or_as_long_as_it_took() {
    let time_of = |ms| {
        let mut rig = Rig::new(Method::LeastResponseTime, &[1]);
        rig.pick();
        rig.ask(0);
        rig.jump_to(ms);
        rig.end_last(CloseReason::ClientReset);
        rig.service(1).response_time.unwrap()
    };
    assert_eq!(time_of(3), Duration::from_secs(5));
    assert_eq!(time_of(8_000), Duration::from_secs(8));
}

#[test]
fn fast_failure_counts_as_a_connection_for_a_half_life() {
    for method in [
        Method::LeastConnection,
        Method::LeastRequest,
        Method::Token(TokenRange::FIRST_BYTE),
    ] {
        let mut rig = Rig::new(method, &[1, 1]);
        assert_eq!(rig.pick(), 1);
        rig.end_last(CloseReason::ConnectFailed);
        // One connection each, as far as anybody can see.
        assert_eq!(rig.picks(3), [2, 1, 2]);
        assert_eq!(rig.service(1).active, 1);
        rig.jump_to(7_000);
        assert_eq!(rig.service(1).recent_failures, 1);
        rig.jump_to(7_001);
        assert_eq!(rig.service(1).recent_failures, 0);
        assert_eq!(rig.pick(), 1, "{method:?}");
    }
}

#[test]
fn failures_do_not_take_places_that_max_client_limits() {
    let mut rig = Rig::new(Method::LeastConnection, &[1]);
    rig.set(1, |settings| settings.max_client = Some(1));
    for _ in 0..5 {
        assert_eq!(rig.pick(), 1);
        rig.end_last(CloseReason::ConnectFailed);
    }
    assert_eq!(rig.service(1).recent_failures, 5);
    assert_eq!(rig.pick(), 1);
}

#[test]
fn enabling_a_service_forgives_it() {
    let mut rig = Rig::new(Method::LeastConnection, &[1]);
    rig.pick();
    rig.end_last(CloseReason::ConnectFailed);
    rig.enable(1, false);
    rig.enable(1, true);
    let shown = rig.service(1);
    assert_eq!((shown.recent_failures, shown.stands_behind), (0, false));
    assert_eq!(shown.connect_failures, 1);
}

#[test]
fn service_that_closes_without_a_byte_is_counted() {
    let mut rig = Rig::new(Method::RoundRobin, &[1]);
    rig.pick();
    rig.end_last(CloseReason::ServiceClosed);
    assert_eq!(rig.service(1).service_closes, 1);
}
