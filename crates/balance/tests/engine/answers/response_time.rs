//! LEASTRESPONSETIME: its tables, and which times count.

use std::time::Duration;

use sluice_balance::{CloseReason, Method};

use crate::rig::Rig;

/// Makes services with these response times in milliseconds, measured at 100 ms, and active
/// connections that nobody waits on.
fn rig(weights: &[u64], times: &[u64], active: &[u64]) -> Rig {
    let mut rig = Rig::new(Method::LeastResponseTime, weights);
    let mut flows: Vec<_> = times.iter().zip(1..).collect();
    flows.sort_unstable_by(|one, other| other.cmp(one));
    let ask = |(time, number): (&u64, u32)| {
        rig.jump_to(100 - time);
        let selection = rig.open_elsewhere(number);
        rig.engine
            .handle_client_data(&selection.reservation, rig.now);
        selection
    };
    let asked: Vec<_> = flows.into_iter().map(ask).collect();
    rig.jump_to(100);
    for selection in asked {
        rig.engine
            .handle_first_answer(&selection.reservation, rig.now);
        rig.close_selection(selection, CloseReason::Finished);
    }
    for (number, active) in (1..).zip(active) {
        rig.set_active(number, *active);
    }
    rig
}

#[test]
fn table_of_three_services() {
    let mut rig = rig(&[1, 1, 1], &[2, 1, 2], &[3, 7, 0]);
    // Then all are at 8, and ties go round from the one chosen last.
    assert_eq!(rig.picks(9), [3, 3, 3, 1, 3, 2, 3, 1, 2]);
}

#[test]
fn table_of_three_weighted_services() {
    let mut rig = rig(&[2, 3, 4], &[2, 1, 2], &[3, 7, 0]);
    // Seen by the last: 30000 / 30000 / 30000.
    assert_eq!(rig.picks(9), [3, 3, 3, 3, 3, 2, 3, 2, 3]);
}

#[test]
fn services_without_connections_take_turns_however_slow() {
    let mut rig = rig(&[1, 1, 1], &[90, 1, 50], &[0, 0, 0]);
    let mut chosen = Vec::new();
    for _ in 0..6 {
        chosen.push(rig.pick());
        rig.end_last(CloseReason::Finished);
    }
    assert_eq!(chosen, [1, 2, 3, 1, 2, 3]);
}

#[test]
fn service_that_was_never_measured_is_as_fast_as_the_others_were() {
    let mut rig = Rig::new(Method::LeastResponseTime, &[1, 1]);
    // Nothing is measured: connections alone count.
    assert_eq!(rig.picks(4), [1, 2, 1, 2]);
    rig.jump_to(10);
    rig.answer(0);
    assert_eq!(
        rig.service(1).response_time,
        Some(Duration::from_millis(10))
    );
    assert_eq!(rig.service(2).response_time, None);
    assert_eq!(rig.picks(4), [1, 2, 1, 2]);
}

#[test]
fn answer_within_the_same_instant_does_not_make_connections_free() {
    let mut rig = Rig::new(Method::LeastResponseTime, &[1, 1]);
    assert_eq!(rig.pick(), 1);
    rig.answer(0);
    assert_eq!(rig.service(1).response_time, Some(Duration::ZERO));
    assert_eq!(rig.picks(4), [2, 1, 2, 1]);
}

#[test]
fn oldest_client_that_waits_counts_when_it_waits_longer_than_the_average() {
    let mut rig = rig(&[1, 1], &[10, 10], &[0, 0]);
    assert_eq!(rig.picks(2), [1, 2]);
    rig.ask(0);
    rig.jump_to(109);
    assert_eq!(rig.service(1).longest_wait, Some(Duration::from_millis(9)));
    // Of equal loads it would be the turn of 1; at 121 ms, the age of 21 ms is worth two of 10 ms.
    rig.jump_to(121);
    assert_eq!(rig.picks(2), [2, 2]);
    rig.answer(0);
    assert_eq!(rig.service(1).longest_wait, None);
    // The average of 10 and 21 ms.
    assert_eq!(rig.service(1).response_time.unwrap().as_millis(), 15);
    assert_eq!(rig.picks(3), [1, 2, 1]);
}

#[test]
fn time_begins_with_client_data_or_else_with_the_choice() {
    let mut rig = Rig::new(Method::LeastResponseTime, &[1, 1]);
    assert_eq!(rig.picks(2), [1, 2]);
    rig.jump_to(400);
    rig.ask(0);
    rig.jump_to(430);
    rig.answer(0);
    rig.answer(1);
    assert_eq!(
        rig.service(1).response_time,
        Some(Duration::from_millis(30))
    );
    assert_eq!(
        rig.service(2).response_time,
        Some(Duration::from_millis(430))
    );
}

#[test]
fn only_the_first_exchange_of_a_flow_counts() {
    let mut rig = Rig::new(Method::LeastResponseTime, &[1]);
    rig.pick();
    rig.ask(0);
    rig.jump_to(20);
    rig.ask(0);
    rig.jump_to(50);
    rig.answer(0);
    rig.ask(0);
    rig.jump_to(900);
    rig.answer(0);
    assert_eq!(
        rig.service(1).response_time,
        Some(Duration::from_millis(50))
    );
    assert_eq!(rig.service(1).longest_wait, None);
}

#[test]
fn oldest_wait_is_found_whichever_flows_end_before() {
    let mut rig = Rig::new(Method::LeastResponseTime, &[1]);
    rig.picks(4);
    for flow in 0..4 {
        rig.jump_to(100 * (flow as u64 + 1));
        rig.ask(flow);
    }
    rig.jump_to(1_000);
    let wait = |rig: &mut Rig| rig.service(1).longest_wait.map(|wait| wait.as_millis());
    assert_eq!(wait(&mut rig), Some(900));
    rig.answer(1);
    assert_eq!(wait(&mut rig), Some(900));
    rig.answer(0);
    assert_eq!(wait(&mut rig), Some(700));
    rig.end_last(CloseReason::ClientReset);
    assert_eq!(wait(&mut rig), Some(700));
    rig.answer(2);
    assert_eq!(wait(&mut rig), None);
}

#[test]
fn waits_outlive_their_service_without_harm() {
    let mut rig = Rig::new(Method::LeastResponseTime, &[1, 1]);
    rig.picks(4);
    (0..4).for_each(|flow| rig.ask(flow));
    rig.unbind(1);
    rig.apply(sluice_balance::Change::RemoveService(
        sluice_balance::ServiceId(1),
    ));
    rig.jump_to(500);
    (0..4).for_each(|flow| rig.answer(flow));
    for _ in 0..4 {
        rig.end_last(CloseReason::Finished);
    }
    assert_eq!(
        rig.service(2).response_time,
        Some(Duration::from_millis(500))
    );
    assert_eq!(rig.picks(3), [2, 2, 2]);
    (0..3).for_each(|flow| rig.ask(flow));
    assert_eq!(rig.service(2).longest_wait, Some(Duration::ZERO));
}
