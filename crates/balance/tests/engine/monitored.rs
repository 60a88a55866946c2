//! LRTM and CUSTOMLOAD: what monitors report, compared.

use std::time::Duration;

use sluice_balance::{CloseReason, Method, ServiceId};

use crate::rig::Rig;

/// Makes services with these response times in milliseconds, none where nobody measures, and active
/// connections.
fn timed(weights: &[u64], times: &[Option<u64>], active: &[u64]) -> Rig {
    let mut rig = Rig::new(Method::LeastMonitorTime, weights);
    for (number, ms) in (1..).zip(times) {
        measure(&mut rig, number, *ms);
    }
    for (number, active) in (1..).zip(active) {
        rig.set_active(number, *active);
    }
    rig
}

fn measure(rig: &mut Rig, number: u32, ms: Option<u64>) {
    let time = ms.map(Duration::from_millis);
    rig.engine
        .handle_monitor_response(ServiceId(number), time, rig.now);
}

fn loaded(weights: &[u64], loads: &[Option<u64>]) -> Rig {
    let mut rig = Rig::new(Method::CustomLoad, weights);
    for (number, load) in (1..).zip(loads) {
        report(&mut rig, number, *load);
    }
    rig
}

fn report(rig: &mut Rig, number: u32, load: Option<u64>) {
    rig.engine.handle_load(ServiceId(number), load, rig.now);
}

#[test]
fn lrtm_follows_the_worked_table() {
    let mut rig = timed(&[1, 1, 1], &[Some(2), Some(1), Some(2)], &[3, 7, 0]);
    assert_eq!(rig.picks(9), [3, 3, 3, 1, 3, 2, 3, 1, 2]);
}

#[test]
fn lrtm_with_weights_follows_the_worked_table() {
    let mut rig = timed(&[2, 3, 4], &[Some(2), Some(1), Some(2)], &[3, 7, 0]);
    assert_eq!(rig.picks(8), [3, 3, 3, 3, 3, 2, 3, 2]);
}

#[test]
fn lrtm_takes_a_service_that_is_not_measured_for_as_fast_as_the_mean() {
    // 2 x 3 ms, 2 x 9 ms, and 2 x 6 ms.
    let mut rig = timed(&[1, 1, 1], &[Some(3), Some(9), None], &[2, 2, 2]);
    assert_eq!(rig.picks(4), [1, 1, 3, 1]);
    // Without the fast one, which has gone, the mean is 9 ms: 2 flows against 3.
    rig.enable(1, false);
    assert_eq!(rig.picks(3), [2, 3, 2]);
}

#[test]
fn lrtm_without_any_measured_time_compares_connections() {
    let mut rig = timed(&[1, 2], &[None, None], &[3, 3]);
    assert_eq!(rig.picks(4), [2, 2, 2, 1]);
}

#[test]
fn lrtm_holds_an_answer_that_does_not_come_against_a_service_that_monitors_find_fast() {
    let mut rig = timed(&[1, 1], &[Some(1), Some(10)], &[0, 0]);
    assert_eq!(rig.picks(2), [1, 2]);
    rig.ask(0);
    rig.jump_to(11);
    // 1 x 11 ms against 1 x 10 ms; then 2 x 10 ms.
    assert_eq!(rig.picks(2), [2, 1]);
    rig.answer(0);
    assert_eq!(rig.pick(), 1);
}

#[test]
fn lrtm_counts_a_flow_that_failed_fast_as_a_connection() {
    let mut rig = timed(&[1, 1], &[Some(1), Some(1)], &[0, 0]);
    assert_eq!(rig.pick(), 1);
    rig.end_last(CloseReason::ConnectFailed);
    assert_eq!(rig.picks(3), [2, 1, 2]);
}

#[test]
fn custom_load_takes_the_least_for_its_weight_whatever_the_connections() {
    let mut rig = loaded(&[1, 2, 1], &[Some(30), Some(40), Some(25)]);
    assert_eq!(rig.picks(4), [2, 2, 2, 2]);
    report(&mut rig, 2, Some(50));
    // 30, 25 and 25: in turn behind the second.
    assert_eq!(rig.picks(5), [3, 2, 3, 2, 3]);
    report(&mut rig, 1, Some(0));
    assert_eq!(rig.picks(2), [1, 1]);
}

#[test]
fn custom_load_serves_in_turn_while_a_service_that_is_up_reports_nothing() {
    let mut rig = loaded(&[1, 2, 1], &[Some(30), None, Some(0)]);
    assert_eq!(rig.picks(4), [1, 2, 3, 2]);
    rig.enable(2, false);
    assert_eq!(rig.picks(2), [3, 3]);
    rig.enable(2, true);
    assert_eq!(rig.picks(4), [1, 2, 3, 2]);
    report(&mut rig, 2, Some(9));
    assert_eq!(rig.picks(2), [3, 3]);
    report(&mut rig, 3, None);
    assert_eq!(rig.picks(3), [1, 2, 3]);
}

#[test]
fn report_on_a_service_that_is_gone_is_left_out() {
    let mut rig = loaded(&[1], &[Some(5)]);
    report(&mut rig, 9, Some(1));
    measure(&mut rig, 9, Some(1));
    assert_eq!(rig.pick(), 1);
}
