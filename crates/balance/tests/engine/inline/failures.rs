//! What is a failure, what is none, and how many are too many.

use sluice_balance::{
    Change, CloseReason, InlineFailure, OutBecause, Output, PassiveSettings, Percent, ServiceId,
    State, StateReason,
};

use super::bench::{Bench, seconds};
use crate::rig::{V, at, flow};

/// Whether three flows that end like this put a service out, with and without client data.
fn puts_out(reason: CloseReason, with_data: bool, another_answers: bool) -> bool {
    let mut bench = Bench::new(2);
    bench.succeed(1);
    if another_answers {
        bench.rig.run_to(1);
        bench.succeed(2);
    }
    for _ in 0..3 {
        let flow = if with_data {
            bench.ask(1)
        } else {
            bench.open(1)
        };
        bench.end(flow, reason);
    }
    bench.state(1) == State::Down
}

#[test]
fn failure_is_as_the_table_says() {
    use CloseReason::{
        ClientReset, ConnectFailed, Finished, Flushed, IdleLimit, Local, ServiceClosed,
        ServiceReset,
    };
    // How flows end; without client data, with it, and with it when another service has answered.
    let table = [
        (ConnectFailed, [true, true, true]),
        (ServiceReset, [false, true, true]),
        (ServiceClosed, [false, true, true]),
        (Finished, [false, false, true]),
        (ClientReset, [false, false, true]),
        (IdleLimit, [false, false, true]),
        (Flushed, [false, false, false]),
        (Local, [false, false, false]),
    ];
    for (reason, expected) in table {
        let seen = [(false, true), (true, false), (true, true)];
        let seen = seen.map(|(data, another)| puts_out(reason, data, another));
        assert_eq!(seen, expected, "{reason:?}");
    }
}

#[test]
fn success_between_failures_starts_the_count_again() {
    let mut bench = Bench::new(2);
    bench
        .rig
        .apply(Change::SetPassive(PassiveSettings::default()));
    // H15: 8 failures, a success, 8 failures, and so on; never for the share either: 100 are not seen.
    for _ in 0..10 {
        bench.refuse(1, 8);
        bench.succeed(1);
    }
    assert_eq!(
        (bench.state(1), bench.inline(1).failed_in_a_row),
        (State::Up, 0)
    );
    bench.refuse(2, 9);
    assert_eq!(bench.state(2), State::Down);
}

#[test]
fn thirty_of_the_last_hundred_put_a_service_out_that_never_fails_often_in_a_row() {
    let mut bench = Bench::new(2);
    // H12: the first failure of each round is 3 or 4 before the next.
    let mut given = 0;
    while bench.state(1) == State::Up {
        if given % 10 < 3 && given % 10 != 1 || given % 10 == 5 {
            bench.refuse(1, 1);
        } else {
            bench.succeed(1);
        }
        given += 1;
        assert!(given <= 101);
    }
    // A hundred have to be seen first, and a failure has to come.
    assert_eq!(given, 101);
    // One less is not too many, however long it goes on.
    let mut bench = Bench::new(2);
    for number in 0..1_000 {
        match number % 100 {
            85 => bench.succeed(1),
            other if other % 10 < 3 && other % 10 != 1 || other % 10 == 5 => bench.refuse(1, 1),
            _ => bench.succeed(1),
        }
    }
    let shown = bench.inline(1);
    assert_eq!(
        (bench.state(1), shown.failed, shown.seen),
        (State::Up, 30 - 1, 100)
    );
}

#[test]
fn silence_counts_at_its_time_limit_once_and_only_if_another_has_answered_since() {
    let mut bench = Bench::new(2);
    bench.succeed(1);
    let flows: Vec<_> = (0..3).map(|_| bench.ask(1)).collect();
    bench.rig.run_to(4_999);
    assert_eq!(bench.inline(1).failed, 0);
    // Nobody has answered since: it may be a type that never answers.
    bench.rig.run_to(5_000);
    assert_eq!((bench.inline(1).failed, bench.state(1)), (0, State::Up));
    bench.succeed(2);
    let late: Vec<_> = (0..2).map(|_| bench.ask(1)).collect();
    bench.rig.run_to(9_999);
    assert_eq!(bench.inline(1).failed, 0);
    bench.rig.run_to(10_000);
    assert_eq!((bench.inline(1).failed, bench.state(1)), (2, State::Up));
    // Counted already: their ends are no more failures. Those that were passed over are now.
    for flow in late {
        bench.end(flow, CloseReason::ClientReset);
    }
    assert_eq!(bench.inline(1).failed, 2);
    let mut flows = flows.into_iter();
    bench.rig.run_to(11_000);
    bench.rig.outputs();
    bench.end(flows.next().unwrap(), CloseReason::ClientReset);
    assert_eq!(bench.state(1), State::Down);
    let down = Output::ServiceState(ServiceId(1), State::Down, at(11_000));
    assert_eq!(bench.rig.outputs(), [down]);
    let shown = bench.rig.service(1);
    assert_eq!(
        (shown.reason, shown.since),
        (StateReason::Traffic, at(11_000))
    );
    assert_eq!(shown.inline.out_until, Some(at(21_000)));
}

#[test]
fn client_that_goes_on_sending_is_not_met_with_silence_yet() {
    let mut bench = Bench::new(2);
    // An upload of 21 s, while the other service answers others.
    let upload = bench.ask(1);
    for ms in (0..=21_000).step_by(250) {
        bench.rig.run_to(ms);
        bench.succeed(2);
        let now = bench.rig.now;
        bench.rig.engine.handle_more_client_data(&upload, now);
    }
    // The service has 5 s from its end on.
    bench.rig.run_to(25_999);
    assert_eq!(bench.inline(1).failed_total, 0);
    bench.rig.run_to(26_000);
    assert_eq!(bench.inline(1).failed_total, 1);
    // It is counted once, whatever the client does then.
    let now = bench.rig.now;
    bench.rig.engine.handle_more_client_data(&upload, now);
    bench.rig.run_to(40_000);
    bench.end(upload, CloseReason::ClientReset);
    assert_eq!(bench.inline(1).failed_total, 1);
    // An answer takes as long as the whole of it.
    let upload = bench.ask(1);
    bench.rig.run_to(42_000);
    let now = bench.rig.now;
    bench.rig.engine.handle_more_client_data(&upload, now);
    let shown = bench.rig.service(1);
    assert_eq!(shown.longest_wait, Some(seconds(0)));
    bench.rig.run_to(43_000);
    bench.answer(&upload);
    assert_eq!(bench.inline(1).failed_in_a_row, 0);
}

#[test]
fn silent_service_goes_out_at_the_limit_whatever_its_clients_do() {
    let mut bench = Bench::new(2);
    let _flows: Vec<_> = (0..3).map(|_| bench.ask(1)).collect();
    bench.rig.run_to(1_000);
    bench.succeed(2);
    bench.rig.run_to(4_999);
    assert_eq!(bench.state(1), State::Up);
    bench.rig.run_to(5_000);
    let shown = bench.rig.service(1);
    assert_eq!((shown.state, shown.since), (State::Down, at(5_000)));
}

/// Lets the engine do what is due, at this time and not before.
fn wake(bench: &mut Bench, ms: u64) {
    bench.rig.jump_to(ms);
    bench.rig.engine.handle_timeout(bench.rig.now);
}

/// C39: a process that was stopped has answers to read before it judges.
#[test]
fn silence_is_no_failure_while_this_process_is_late() {
    for answers in [true, false] {
        let mut bench = Bench::new(2);
        let flows = [(); 3].map(|()| bench.ask(1));
        bench.rig.run_to(1);
        bench.succeed(2);
        // Nothing is looked at for a minute.
        wake(&mut bench, 60_000);
        assert_eq!((bench.state(1), bench.inline(1).failed), (State::Up, 0));
        if answers {
            for flow in &flows {
                bench.answer(flow);
            }
        }
        bench.rig.run_to(60_999);
        assert_eq!((bench.state(1), bench.inline(1).failed), (State::Up, 0));
        // A second later it is as ever, even if that comes late too.
        wake(&mut bench, 90_000);
        let expected = if answers { State::Up } else { State::Down };
        assert_eq!(bench.state(1), expected);
    }
}

#[test]
fn few_milliseconds_late_are_not_late() {
    for (late, expected) in [(50, State::Down), (51, State::Up)] {
        let mut bench = Bench::new(2);
        let _flows = [(); 3].map(|()| bench.ask(1));
        bench.rig.run_to(1);
        bench.succeed(2);
        wake(&mut bench, 5_000 + late);
        assert_eq!(bench.state(1), expected, "{late} ms");
    }
}

#[test]
fn late_answer_is_a_success() {
    let mut bench = Bench::new(2);
    let flow = bench.ask(1);
    bench.rig.run_to(1);
    bench.succeed(2);
    bench.rig.run_to(6_000);
    assert_eq!(bench.inline(1).failed_in_a_row, 1);
    bench.answer(&flow);
    assert_eq!(bench.inline(1).failed_in_a_row, 0);
}

#[test]
fn one_way_service_is_not_watched_for_silence_but_for_refusals() {
    let mut bench = Bench::new(2);
    bench.rig.set(1, |settings| settings.is_one_way = true);
    bench.rig.run_to(1);
    bench.succeed(2);
    for _ in 0..5 {
        bench.fail(1, CloseReason::Finished);
    }
    let _open = [(); 5].map(|()| bench.ask(1));
    bench.rig.run_to(60_000);
    assert_eq!(bench.state(1), State::Up);
    bench.refuse(1, 3);
    assert_eq!(bench.state(1), State::Down);
}

#[test]
fn one_failure_in_a_hundred_at_random_puts_nobody_out_in_a_million_connections() {
    let mut bench = Bench::new(2);
    bench
        .rig
        .apply(Change::SetPassive(PassiveSettings::default()));
    // A linear congruential generator (Knuth's constants), of which the high bits count.
    let mut state = 1_u64;
    let mut failed = 0;
    for _ in 0..1_000_000 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let now = bench.rig.now;
        let chosen = bench.rig.engine.select(V, &flow(), &[], now).unwrap();
        let reason = if (state >> 33).is_multiple_of(100) {
            failed += 1;
            CloseReason::ConnectFailed
        } else {
            bench.answer(&chosen.reservation);
            CloseReason::Finished
        };
        bench.end(chosen.reservation, reason);
    }
    assert!((9_000..11_000).contains(&failed), "{failed}");
    let shown = [1, 2].map(|service| bench.inline(service));
    assert_eq!(shown.map(|one| one.times_out), [0, 0]);
    let total: u64 = shown.iter().map(|one| one.total).sum();
    assert_eq!(total, 1_000_000);
}

#[test]
fn share_and_sample_are_what_is_set() {
    let settings = |share, sample| PassiveSettings {
        retries: 100,
        share: Percent::new(share).unwrap(),
        sample,
        ..PassiveSettings::default()
    };
    // One of two fails: 5 of 10 are half, 100 of 100 are never.
    for (share, sample, expected) in [
        (50, 10, Some(10)),
        (51, 10, None),
        (50, 11, Some(11)),
        (0, 10, None),
        (100, 100, None),
    ] {
        let mut bench = Bench::new(2);
        bench.rig.apply(Change::SetPassive(settings(share, sample)));
        let mut given = 0;
        while bench.state(1) == State::Up && given < 300 {
            given += 1;
            if given % 2 == 0 {
                bench.refuse(1, 1);
            } else {
                bench.succeed(1);
            }
        }
        // A success is no reason to go: of 11, the twelfth is the failure that shows it.
        let expected = expected.map(|given: u32| given + given % 2);
        let out = (bench.state(1) == State::Down).then_some(given);
        assert_eq!(out, expected, "{share} % of {sample}");
    }
    // What was seen before counts with the new share.
    let mut bench = Bench::new(2);
    bench.rig.apply(Change::SetPassive(settings(0, 10)));
    bench.succeed(1);
    bench.refuse(1, 9);
    bench.rig.apply(Change::SetPassive(settings(100, 10)));
    assert_eq!(bench.state(1), State::Up);
    bench.refuse(1, 1);
    let because = OutBecause::Share { failed: 10, of: 10 };
    assert_eq!(bench.inline(1).because, Some(because));
}

#[test]
fn last_failure_is_shown_with_its_kind_and_time() {
    use CloseReason::{ClientReset, ConnectFailed, ServiceClosed, ServiceReset};
    let mut bench = Bench::new(2);
    assert_eq!(bench.inline(1).last_failure, None);
    bench.rig.run_to(1);
    bench.succeed(2);
    for (ms, reason, failure) in [
        (2, ServiceClosed, InlineFailure::Closed),
        (3, ServiceReset, InlineFailure::Reset),
    ] {
        bench.rig.run_to(ms);
        bench.fail(1, reason);
        assert_eq!(bench.inline(1).last_failure, Some((failure, at(ms))));
    }
    bench.rig.run_to(4);
    bench.succeed(1);
    bench.rig.run_to(5);
    bench.succeed(2);
    let silent = bench.ask(1);
    bench.fail(1, ClientReset);
    let shown = bench.inline(1);
    assert_eq!(shown.last_failure, Some((InlineFailure::GaveUp, at(5))));
    assert_eq!(shown.last_answer, Some(at(4)));
    bench.rig.run_to(5_005);
    let shown = bench.inline(1);
    assert_eq!(shown.last_failure, Some((InlineFailure::Silent, at(5_005))));
    assert_eq!(
        (shown.total, shown.failed_total, shown.times_out),
        (5, 4, 0)
    );
    bench.fail(1, ConnectFailed);
    let shown = bench.inline(1);
    let refused = Some((InlineFailure::ConnectFailed, at(5_005)));
    assert_eq!(shown.last_failure, refused);
    assert_eq!(shown.because, Some(OutBecause::InARow(3)));
    assert_eq!(
        (shown.total, shown.failed_total, shown.times_out),
        (6, 5, 1)
    );
    drop(silent);
}

#[test]
fn reset_in_a_later_exchange_is_a_failure_and_any_other_end_of_it_is_none() {
    use CloseReason::{
        ClientReset, ConnectFailed, Finished, Flushed, IdleLimit, Local, ServiceClosed,
        ServiceReset,
    };
    for reason in [
        ConnectFailed,
        ServiceReset,
        ServiceClosed,
        Finished,
        ClientReset,
        IdleLimit,
        Flushed,
        Local,
    ] {
        for is_unanswered in [false, true] {
            let mut bench = Bench::new(2);
            for _ in 0..3 {
                let flow = bench.ask(1);
                bench.answer(&flow);
                bench.rig.run_to(1);
                bench.succeed(2);
                if is_unanswered {
                    bench.rig.engine.handle_unanswered(&flow);
                }
                bench.end(flow, reason);
            }
            // The success of the first exchange comes before each failure: three of six.
            let shown = bench.inline(1);
            let failed = match (is_unanswered, reason) {
                (true, ServiceReset | ConnectFailed) => 3,
                (_, _) => 0,
            };
            assert_eq!(
                (shown.failed, shown.seen),
                (failed, 3 + failed),
                "{reason:?}"
            );
        }
    }
}

#[test]
fn udp_service_is_not_watched() {
    let mut bench = Bench::new(2);
    bench.rig.set(1, |settings| {
        settings.protocol = sluice_balance::Protocol::Udp
    });
    bench.refuse(1, 200);
    assert_eq!(bench.state(1), State::Up);
}

#[test]
fn nobody_is_watched_unless_it_is_said_and_no_longer_when_it_is_not() {
    let mut bench = Bench::new(2);
    let off = PassiveSettings {
        enabled: false,
        ..PassiveSettings::default()
    };
    bench.refuse(1, 3);
    assert_eq!(bench.state(1), State::Down);
    bench.rig.apply(Change::SetPassive(off));
    let shown = bench.rig.service(1);
    assert_eq!(
        (shown.state, shown.reason),
        (State::Up, StateReason::Operator)
    );
    bench.refuse(1, 200);
    let silent = [(); 3].map(|()| bench.ask(1));
    bench.rig.run_to(100_000);
    let shown = bench.inline(1);
    assert_eq!((bench.state(1), shown.is_watched), (State::Up, false));
    assert_eq!((shown.seen, shown.total, shown.out_until), (0, 3, None));
    // What waits when it begins counts from when it began to wait.
    bench.rig.apply(Change::SetPassive(PassiveSettings {
        response_timeout: seconds(200),
        ..super::bench::three()
    }));
    bench.succeed(2);
    bench.rig.run_to(200_000);
    assert_eq!(bench.state(1), State::Down);
    drop(silent);
}
