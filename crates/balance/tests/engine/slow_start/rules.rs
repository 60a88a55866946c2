//! When a service is new, what that does to choices, and when it ends.

use sluice_balance::{Change, CloseReason, Method, Protocol, RampUnit, Refusal, VserverId};

use super::load::Load;
use crate::rig::{V, at, bind, flow, vserver};

fn since_ms(load: &mut Load, service: u32) -> Option<u64> {
    let ramp = load.ramp(service);
    ramp.map(|ramp| ramp.since.as_nanos() / 1_000_000)
}

#[test]
fn service_is_new_from_bind_and_enable_while_the_rate_is_not_zero() {
    let mut load = Load::new(Method::RoundRobin, &[1], 10);
    load.join(2, 1);
    load.set(5, RampUnit::PerSecond, 10);
    assert_eq!([1, 2].map(|s| since_ms(&mut load, s)), [None, None]);
    load.rig.run_to(1_000);
    load.join(3, 1);
    assert_eq!(since_ms(&mut load, 3), Some(1_000));
    load.rig.run_to(2_000);
    load.rig.enable(1, false);
    assert_eq!(since_ms(&mut load, 1), None);
    load.rig.run_to(3_000);
    load.rig.enable(1, true);
    let all = [1, 2, 3].map(|s| since_ms(&mut load, s));
    assert_eq!(all, [Some(3_000), None, Some(1_000)]);
    load.rig.set(3, |settings| settings.max_client = Some(9));
    load.rig.apply(Change::SetWeight(bind(V, 3, 7)));
    assert_eq!(since_ms(&mut load, 3), Some(1_000));
}

#[test]
fn clock_of_a_disabled_service_starts_with_its_enable() {
    let mut load = Load::new(Method::RoundRobin, &[1], 10);
    load.set(5, RampUnit::PerSecond, 10);
    load.rig.add_service(2);
    load.rig.enable(2, false);
    load.rig.bind(2, 1);
    assert_eq!(since_ms(&mut load, 2), None);
    load.rig.run_to(25_000);
    load.rig.enable(2, true);
    assert_eq!(load.ramp(2).map(|ramp| ramp.limit), Some(5));
    assert_eq!(since_ms(&mut load, 2), Some(25_000));
}

#[test]
fn flap_starts_the_ramp_of_that_service_alone_again() {
    let mut load = Load::new(Method::RoundRobin, &[1, 1], 100);
    load.set(4, RampUnit::PerSecond, 10);
    load.join(3, 1);
    load.join(4, 1);
    load.run(25);
    load.rig.enable(3, false);
    load.rig.enable(3, true);
    let limits = [3, 4].map(|service| load.ramp(service).unwrap().limit);
    assert_eq!(limits, [4, 12]);
    assert_eq!(load.run(5), [210, 210, 20, 60]);
}

#[test]
fn disabled_vserver_leaves_ramps_alone() {
    let mut load = Load::new(Method::LeastConnection, &[1], 10);
    load.set(5, RampUnit::PerSecond, 10);
    load.join(2, 1);
    let mut disabled = load.settings.clone();
    disabled.enabled = false;
    load.rig.apply(Change::SetVserver(V, disabled));
    load.rig.run_to(12_000);
    load.rig.apply(Change::SetVserver(V, load.settings.clone()));
    let ramp = load.ramp(2).unwrap();
    assert_eq!((ramp.since, ramp.limit), (at(0), 10));
}

#[test]
fn configuration_loaded_at_the_start_is_not_new() {
    let mut load = Load::new(Method::RoundRobin, &[], 90);
    load.set(5, RampUnit::PerSecond, 10);
    (1..=3).for_each(|service| load.join(service, 1));
    load.rig.engine.handle_booted(load.rig.now);
    assert!((1..=3).all(|service| load.ramp(service).is_none()));
    assert_eq!(load.run(1), [30, 30, 30]);
    // What comes later is new.
    load.join(4, 1);
    load.rig.enable(1, false);
    load.rig.enable(1, true);
    assert_eq!(load.run(1), [5, 40, 40, 5]);
}

#[test]
fn each_virtual_server_has_a_ramp_of_its_own() {
    let mut load = Load::new(Method::RoundRobin, &[1, 1], 100);
    let other = VserverId(2);
    let mut settings = vserver(Method::RoundRobin);
    settings.slow_start.rate = 9;
    load.rig.apply(Change::AddVserver(other, settings));
    load.set(4, RampUnit::PerSecond, 10);
    load.rig.run_to(5_000);
    load.join(3, 1);
    load.rig.run_to(8_000);
    load.rig.apply(Change::Bind(bind(other, 3, 1)));
    let shown = load.rig.engine.vserver_status(other, load.rig.now).unwrap();
    let there = shown.bindings[0].ramp.unwrap();
    assert_eq!((there.limit, there.since), (9, at(8_000)));
    let here = load.ramp(3).unwrap();
    assert_eq!((here.limit, here.since), (4, at(5_000)));
}

#[test]
fn udp_is_limited_like_tcp() {
    let mut load = Load::new(Method::RoundRobin, &[1, 1], 100);
    (1..=2).for_each(|service| load.rig.set(service, |s| s.protocol = Protocol::Udp));
    load.settings.protocol = Protocol::Udp;
    load.set(10, RampUnit::PerSecond, 0);
    load.join(3, 1);
    load.rig
        .set(3, |settings| settings.protocol = Protocol::Udp);
    assert_eq!(load.seconds(3), vec![vec![45, 45, 10]; 3]);
}

#[test]
fn limits_are_lifted_while_no_existing_service_can_take_a_flow() {
    for method in [Method::RoundRobin, Method::LeastConnection] {
        let mut load = Load::new(method, &[1, 1], 100);
        load.set(4, RampUnit::PerSecond, 0);
        load.join(3, 1);
        load.join(4, 1);
        load.rig.enable(1, false);
        load.rig.set(2, |settings| settings.max_client = Some(0));
        assert_eq!(load.seconds(3), vec![vec![0, 0, 50, 50]; 3], "{method:?}");
        load.rig.set(2, |settings| settings.max_client = None);
        assert_eq!(load.seconds(3), vec![vec![0, 92, 4, 4]; 3], "{method:?}");
    }
}

#[test]
fn flow_whose_services_were_tried_goes_to_a_new_one_at_its_limit() {
    let mut load = Load::new(Method::RoundRobin, &[1], 100);
    load.set(1, RampUnit::Percent, 0);
    load.join(2, 1);
    assert_eq!(load.rig.picks(3), [2, 1, 1]);
    assert_eq!(load.rig.try_pick(&[1]), Ok(2));
    assert_eq!(load.rig.try_pick(&[1, 2]), Err(Refusal::Full));
}

#[test]
fn full_new_service_is_left_out_whatever_its_credit() {
    let mut load = Load::new(Method::LeastConnection, &[1], 100);
    load.set(50, RampUnit::PerSecond, 0);
    load.join(2, 1);
    load.rig.set(2, |settings| settings.max_client = Some(1));
    assert_eq!(load.rig.picks(3), [1, 2, 1]);
    load.rig.jump_to(1_000);
    assert_eq!(load.rig.picks(2), [1, 1]);
    load.rig.close(2, CloseReason::Finished);
    assert_eq!(load.rig.pick(), 2);
}

/// Two services with so many flows that a new one gets what its limit allows.
fn busy_pair() -> Load {
    let mut load = Load::new(Method::LeastConnection, &[1, 1], 100);
    (1..=2).for_each(|service| load.rig.set_active(service, 9));
    load
}

#[test]
fn unused_place_gives_its_credit_back() {
    let mut load = busy_pair();
    load.set(1, RampUnit::PerSecond, 0);
    load.join(3, 1);
    for _ in 0..5 {
        assert_eq!(load.rig.pick(), 3);
        let reservation = load.rig.take(3);
        load.rig.engine.handle_unused(reservation, load.rig.now);
    }
    let ramp = load.ramp(3).unwrap();
    assert_eq!((ramp.chosen, ramp.requests), (0, 0));
    assert_eq!(load.rig.picks(3), [3, 1, 2]);
    assert_eq!(load.ramp(3).map(|r| (r.chosen, r.requests)), Some((1, 3)));
}

#[test]
fn unused_place_on_an_existing_service_earns_nothing() {
    let mut load = Load::new(Method::RoundRobin, &[1, 1], 100);
    load.set(50, RampUnit::Percent, 0);
    load.join(3, 1);
    assert_eq!(load.rig.picks(4), [3, 1, 2, 1]);
    let reservation = load.rig.take(1);
    load.rig.engine.handle_unused(reservation, load.rig.now);
    // Half a request each for two: the third one that counts, and then a fourth.
    assert_eq!(load.rig.picks(3), [2, 1, 3]);
}

#[test]
fn place_given_back_touches_no_later_ramp() {
    let mut load = busy_pair();
    load.set(1, RampUnit::PerSecond, 0);
    load.join(3, 1);
    assert_eq!(load.rig.picks(2), [3, 1]);
    load.rig.enable(3, false);
    load.rig.enable(3, true);
    assert_eq!(load.rig.pick(), 3);
    // Both are from before: the older of the third service's two, and the only one of `V` on the
    // first, behind the nine that keep it busy.
    let reservation = load.rig.take(3);
    load.rig.engine.handle_unused(reservation, load.rig.now);
    (0..9).for_each(|_| load.rig.close(1, CloseReason::Finished));
    let reservation = load.rig.take(1);
    load.rig.engine.handle_unused(reservation, load.rig.now);
    assert_eq!(load.ramp(3).map(|r| (r.chosen, r.requests)), Some((1, 1)));
    assert_eq!(load.rig.picks(3), [1, 1, 1]);
}

/// Ends after a first interval with so many requests of all, at limit 10/s and interval 1 s?
fn ends_after(method: Method, own: u64, requests: u64) -> bool {
    let mut load = Load::new(method, &[3], requests);
    load.set(10, RampUnit::PerSecond, 1);
    load.join(2, own);
    load.run(1);
    load.ramp(2).is_none()
}

#[test]
fn full_share_is_compared_to_the_request() {
    assert!(ends_after(Method::RoundRobin, 3, 20));
    assert!(!ends_after(Method::RoundRobin, 3, 21));
    // A quarter of 40; two fifths of 25.
    assert!(ends_after(Method::RoundRobin, 1, 40));
    assert!(!ends_after(Method::RoundRobin, 1, 41));
    assert!(ends_after(Method::RoundRobin, 2, 25));
    assert!(!ends_after(Method::RoundRobin, 2, 26));
}

#[test]
fn interval_without_a_request_ends_a_ramp_unless_a_number_is_compared() {
    let mut load = Load::new(Method::RoundRobin, &[1], 100);
    load.set(4, RampUnit::PerSecond, 10);
    load.join(2, 1);
    assert_eq!(load.ramp(2).unwrap().end, Some(at(10_000)));
    load.rig.jump_to(9_999);
    assert!(load.ramp(2).is_some());
    load.rig.jump_to(10_000);
    assert!(load.ramp(2).is_none());

    let mut load = Load::new(Method::LeastConnection, &[1], 100);
    load.set(4, RampUnit::PerSecond, 10);
    load.join(2, 1);
    load.rig.jump_to(1_000_000);
    let ramp = load.ramp(2).unwrap();
    assert_eq!((ramp.limit, ramp.next_step), (404, Some(at(1_010_000))));
}

#[test]
fn percent_ramp_without_requests_ends_with_the_step_of_100() {
    for (rate, steps) in [
        (25, 4),
        (30, 4),
        (34, 3),
        (99, 2),
        (100, 1),
        (250, 1),
        (1, 100),
    ] {
        let mut load = Load::new(Method::RoundRobin, &[1], 100);
        load.set(rate, RampUnit::Percent, 5);
        load.join(2, 1);
        let end = load.ramp(2).unwrap().end;
        assert_eq!(end, Some(at(steps * 5_000)), "{rate}");
        load.rig.jump_to(steps * 5_000 - 1);
        assert_eq!(load.ramp(2).unwrap().end, end, "{rate}");
        load.rig.jump_to(steps * 5_000);
        assert!(load.ramp(2).is_none(), "{rate}");
    }
}

#[test]
fn loaded_services_wait_until_the_new_one_has_caught_up() {
    let mut load = Load::new(Method::LeastConnection, &[1], 100).with_life(None);
    load.rig.set_active(1, 5);
    load.set(1_000, RampUnit::Percent, 1);
    load.join(2, 1);
    // One interval in which the five are caught up with, and it is over.
    assert_eq!(load.run(1), [48, 52]);
    assert!(load.ramp(2).is_none());

    let mut load = Load::new(Method::LeastConnection, &[1], 100).with_life(None);
    load.rig.set_active(1, 500);
    load.set(1_000, RampUnit::Percent, 1);
    load.join(2, 1);
    assert_eq!(load.run(1), [9, 91]);
    assert_eq!(load.ramp(2).map(|ramp| ramp.limit), Some(2_000));
}

#[test]
fn status_shows_limit_share_and_times() {
    let mut load = Load::new(Method::RoundRobin, &[1, 1, 1, 1], 100);
    load.run(20);
    load.set(4, RampUnit::PerSecond, 10);
    load.join(5, 1);
    load.run(25);
    let ramp = load.ramp(5).unwrap();
    assert_eq!((ramp.unit, ramp.limit), (RampUnit::PerSecond, 12));
    assert_eq!((ramp.chosen, ramp.requests), (180, 2_500));
    assert_eq!(ramp.since, at(20_000));
    assert_eq!(
        (ramp.next_step, ramp.end),
        (Some(at(50_000)), Some(at(70_000)))
    );
    let others = load.rig.vserver().bindings;
    assert!(others[..4].iter().all(|row| row.ramp.is_none()));
}

#[test]
fn showing_changes_no_choice() {
    for method in [Method::RoundRobin, Method::LeastConnection] {
        for unit in [RampUnit::PerSecond, RampUnit::Percent] {
            let [seen, unseen] = [true, false].map(|is_shown| {
                let mut load = Load::new(method, &[1, 3], 70);
                load.set(7, unit, 3);
                load.join(3, 2);
                let mut chosen = Vec::new();
                for request in 0..3_000_u64 {
                    let now = at(request * 100 / 7);
                    if is_shown {
                        load.rig.engine.snapshot(now);
                    }
                    chosen.push(load.request(now));
                }
                (chosen, load.rig.engine.snapshot(at(50_000)))
            });
            assert_eq!(seen, unseen, "{method:?} {unit:?}");
        }
    }
}

#[test]
fn long_silence_leaves_what_many_short_ones_leave() {
    for seconds in [1, 7, 60, 86_400 * 400] {
        let [often, once] = [seconds.min(70), 1].map(|steps| {
            let mut load = Load::new(Method::LeastConnection, &[1, 1], 100);
            load.set(3, RampUnit::PerSecond, 7);
            load.join(3, 1);
            load.run(1);
            for step in 1..=steps {
                load.rig.jump_to(1_000 + 1_000 * seconds / steps * step);
                load.ramp(3);
            }
            load.rig.jump_to(1_000 + 1_000 * seconds);
            (load.ramp(3), load.rig.picks(10))
        });
        assert_eq!(often, once, "{seconds}");
    }
}

#[test]
fn slow_start_asks_for_no_deadline_of_its_own() {
    let mut load = Load::new(Method::RoundRobin, &[1], 100);
    let before = load.rig.engine.poll_timeout();
    load.set(1, RampUnit::PerSecond, 1);
    load.join(2, 1);
    load.rig
        .engine
        .select(V, &flow(), &[], load.rig.now)
        .unwrap();
    assert_eq!(load.rig.engine.poll_timeout(), before);
}

#[test]
fn ramps_that_end_in_silence_end_in_the_order_of_their_ends() {
    let [seen, unseen] = [true, false].map(|is_shown| {
        let mut load = Load::new(Method::RoundRobin, &[], 100);
        load.set(1, RampUnit::PerSecond, 1);
        load.join(1, 5);
        load.join(2, 1);
        assert_eq!(load.rig.picks(3), [1, 2, 1]);
        // The second one is over after one interval, the first one after two.
        load.rig.jump_to(1_000);
        if is_shown {
            assert_eq!([1, 2].map(|s| load.ramp(s).is_some()), [true, false]);
        }
        load.rig.jump_to(2_000);
        load.rig.picks(20)
    });
    assert_eq!(seen, unseen);
}
