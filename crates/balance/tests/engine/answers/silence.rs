//! When a service stands behind all others, and what brings it back.

use sluice_balance::{CloseReason, Method};

use crate::rig::Rig;

/// Two services with traffic, of which 1 has the less; a flow to each is open.
fn rig(method: Method) -> Rig {
    let mut rig = Rig::new(method, &[1, 1]);
    rig.picks(2);
    rig.traffic(2, 500, 500);
    rig.packets(2, 10);
    rig
}

/// Lets the clients of both wait from now on, and only that of 2 get its answer.
fn wait(rig: &mut Rig) {
    rig.ask(0);
    rig.ask(1);
    rig.answer(1);
}

#[test]
fn service_stands_behind_while_client_data_is_unanswered_for_over_a_second() {
    for method in [Method::LeastBandwidth, Method::LeastPackets] {
        let mut rig = rig(method);
        wait(&mut rig);
        rig.run_to(1_000);
        assert_eq!(rig.pick(), 1, "{method:?}");
        rig.run_to(1_001);
        assert_eq!(rig.picks(2), [2, 2], "{method:?}");
        rig.answer(0);
        assert_eq!(rig.pick(), 1, "{method:?}");
    }
}

#[test]
fn idle_connections_say_nothing_about_a_service() {
    let mut rig = rig(Method::LeastBandwidth);
    rig.run_to(60_000);
    rig.traffic(2, 500, 500);
    assert_eq!(rig.pick(), 1);
}

#[test]
fn answer_to_anybody_or_a_byte_on_any_flow_ends_the_silence() {
    let mut rig = rig(Method::LeastBandwidth);
    wait(&mut rig);
    rig.run_to(1_001);
    assert!(rig.service(1).stands_behind);
    // Another flow, that has been open for long.
    rig.traffic(1, 0, 1);
    assert!(!rig.service(1).stands_behind);
    rig.run_to(5_000);
    assert_eq!(rig.pick(), 1);
    // The flow still waits, but began to before that byte.
    assert!(rig.service(1).longest_wait.is_some());
    rig.ask(2);
    rig.run_to(6_001);
    assert!(rig.service(1).stands_behind);
}

#[test]
fn bytes_towards_a_service_are_no_sign_of_life() {
    let mut rig = rig(Method::LeastBandwidth);
    wait(&mut rig);
    rig.run_to(1_001);
    rig.traffic(1, 40, 0);
    assert!(rig.service(1).stands_behind);
}

#[test]
fn byte_before_a_failure_does_not_excuse_it() {
    let mut rig = rig(Method::LeastBandwidth);
    rig.traffic(1, 0, 9);
    rig.ask(0);
    let reservation = rig.take(1);
    rig.engine
        .handle_close(reservation, CloseReason::ClientReset, rig.now);
    assert!(rig.service(1).stands_behind);
    rig.run_to(250);
    assert!(rig.service(1).stands_behind);
}

#[test]
fn client_that_gives_up_leaves_the_suspicion_behind() {
    let mut rig = rig(Method::LeastBandwidth);
    wait(&mut rig);
    rig.run_to(900);
    let reservation = rig.take(1);
    rig.engine
        .handle_close(reservation, CloseReason::ClientReset, rig.now);
    assert_eq!(rig.picks(3), [2, 2, 2]);
}

#[test]
fn silent_service_is_tried_every_five_seconds() {
    let mut rig = rig(Method::LeastBandwidth);
    wait(&mut rig);
    let mut trials = Vec::new();
    for ms in (1_010..30_000).step_by(10) {
        rig.run_to(ms);
        rig.traffic(2, 5, 5);
        if rig.pick() == 1 {
            trials.push(ms);
        }
    }
    assert_eq!(trials, [5_000, 10_000, 15_000, 20_000, 25_000]);
}

#[test]
fn services_that_are_all_silent_are_compared_as_ever() {
    let mut rig = Rig::new(Method::LeastBandwidth, &[1, 2]);
    rig.picks(2);
    rig.ask(0);
    rig.ask(1);
    rig.traffic(1, 300, 0);
    rig.traffic(2, 500, 0);
    rig.run_to(2_000);
    assert!(rig.service(1).stands_behind && rig.service(2).stands_behind);
    assert_eq!(rig.picks(3), [2, 2, 2]);
}

#[test]
fn connections_are_compared_whoever_is_silent() {
    for method in [Method::LeastConnection, Method::LeastRequest] {
        let mut rig = Rig::new(method, &[1, 1]);
        rig.picks(2);
        rig.ask(0);
        rig.set_active(2, 1);
        rig.run_to(3_000);
        assert_eq!(rig.pick(), 1, "{method:?}");
    }
}
