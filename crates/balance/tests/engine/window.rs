//! The 14 s window: what `N` holds at which moment, and the rates over 7 s.

use sluice_balance::{Change, Method, ServiceId};

use crate::rig::{Rig, V, at, service, vserver};

#[test]
fn burst_is_forgotten_with_the_sample_that_follows_it() {
    let mut rig = Rig::new(Method::LeastBandwidth, &[1, 1]);
    rig.run_to(1_100);
    rig.traffic(1, 60, 40);
    // The sample at 1.0 s is without the burst, that at 1.25 s has it.
    rig.run_to(15_249);
    assert_eq!(rig.service(1).window_bytes, 100);
    rig.run_to(15_250);
    assert_eq!(rig.service(1).window_bytes, 0);
    assert_eq!(
        (rig.service(1).bytes_in, rig.service(1).bytes_out),
        (60, 40)
    );
}

#[test]
fn byte_is_kept_14_s_at_least_and_under_one_slot_longer() {
    // Bytes right after and right before a sample: the two ends of the error.
    for (sent, last_counted) in [(1_000, 15_249), (1_249, 15_249)] {
        let mut rig = Rig::new(Method::LeastBandwidth, &[1]);
        rig.run_to(sent);
        rig.traffic(1, 1, 0);
        rig.run_to(last_counted);
        assert_eq!(rig.service(1).window_bytes, 1, "sent at {sent}");
        rig.run_to(last_counted + 1);
        assert_eq!(rig.service(1).window_bytes, 0, "sent at {sent}");
    }
}

#[test]
fn newest_byte_counts_at_once() {
    let mut rig = Rig::new(Method::LeastBandwidth, &[1, 1]);
    rig.run_to(100_010);
    rig.traffic(1, 0, 1);
    assert_eq!(rig.window_bytes(2), [1, 0]);
    assert_eq!(rig.picks(2), [2, 2]);
}

#[test]
fn steady_stream_counts_its_last_14_s_and_a_slot_at_most() {
    let mut rig = Rig::new(Method::LeastBandwidth, &[1]);
    for ms in 0..40_000 {
        rig.run_to(ms);
        rig.traffic(1, 1, 0);
        // One byte a millisecond, this one included; the base lies on the grid of 250 ms.
        let expected = if ms < 14_000 {
            ms + 1
        } else {
            14_001 + ms % 250
        };
        assert_eq!(rig.service(1).window_bytes, expected, "at {ms} ms");
    }
}

#[test]
fn before_14_s_have_passed_the_baseline_is_the_counter_at_the_add() {
    let mut rig = Rig::new(Method::LeastBandwidth, &[1]);
    rig.run_to(20_100);
    rig.add_service(2);
    rig.bind(2, 1);
    rig.traffic(2, 7, 0);
    // The first sample with service 2 in it is that at 20.25 s.
    rig.run_to(34_249);
    assert_eq!(rig.service(2).window_bytes, 7);
    rig.run_to(34_250);
    assert_eq!(rig.service(2).window_bytes, 0);
}

#[test]
fn late_sample_keeps_a_byte_longer_by_the_gap_and_loses_none() {
    let mut rig = Rig::new(Method::LeastBandwidth, &[1]);
    rig.run_to(1_000);
    rig.jump_to(1_100);
    rig.traffic(1, 5, 0);
    // The samples of 1.25, 1.5 and 1.75 s are missed; one is taken at 1.9 s.
    rig.jump_to(1_900);
    rig.engine.handle_timeout(rig.now);
    assert_eq!(rig.engine.poll_timeout(), Some(at(2_000)));
    rig.run_to(15_899);
    assert_eq!(rig.service(1).window_bytes, 5);
    rig.run_to(15_900);
    assert_eq!(rig.service(1).window_bytes, 0);
}

#[test]
fn choice_takes_a_sample_that_is_due() {
    let mut rig = Rig::new(Method::LeastBandwidth, &[1, 1]);
    rig.traffic(1, 5, 0);
    rig.jump_to(300);
    assert_eq!(rig.pick(), 2);
    assert_eq!(rig.engine.poll_timeout(), Some(at(500)));
    // The choice at 0.3 s took the sample that has the bytes.
    rig.jump_to(14_300);
    assert_eq!(rig.service(1).window_bytes, 0);
}

#[test]
fn long_silence_of_the_caller_forgets_at_its_first_call_after_14_more_seconds() {
    let mut rig = Rig::new(Method::LeastBandwidth, &[1]);
    rig.traffic(1, 5, 0);
    rig.jump_to(60_000);
    // Nobody knows when in the last minute the bytes flowed.
    assert_eq!(rig.service(1).window_bytes, 5);
    rig.run_to(74_000);
    assert_eq!(rig.service(1).window_bytes, 0);
}

#[test]
fn both_directions_count_alike() {
    let mut rig = Rig::new(Method::LeastBandwidth, &[1, 1]);
    let mut chosen = [0, 0];
    for step in 0..100 {
        rig.run_to(step * 100);
        rig.traffic(1, 1_000, 0);
        rig.traffic(2, 0, 1_000);
        match rig.pick() {
            1 => chosen[0] += 1,
            _ => chosen[1] += 1,
        }
    }
    assert_eq!(chosen, [50, 50]);
}

#[test]
fn burst_keeps_a_service_out_until_it_is_forgotten() {
    let mut rig = Rig::new(Method::LeastBandwidth, &[1, 1]);
    rig.traffic(1, 50_000_000, 50_000_000);
    let mut chosen = Vec::new();
    for second in 1..=20 {
        rig.run_to(second * 1_000);
        chosen.push(rig.pick());
    }
    // From 14.25 s on both are idle, and they alternate.
    let expected = [[2; 14].as_slice(), &[1, 2, 1, 2, 1, 2]].concat();
    assert_eq!(chosen, expected);
}

#[test]
fn sampling_runs_every_250_ms_while_there_is_a_service() {
    let mut rig = Rig::empty();
    rig.jump_to(40);
    rig.apply(Change::AddVserver(V, vserver(Method::RoundRobin)));
    assert_eq!(rig.engine.poll_timeout(), None);
    rig.apply(Change::AddService(ServiceId(1), service()));
    assert_eq!(rig.engine.poll_timeout(), Some(at(290)));
    rig.engine.handle_timeout(at(290));
    assert_eq!(rig.engine.poll_timeout(), Some(at(540)));
    rig.apply(Change::RemoveService(ServiceId(1)));
    assert_eq!(rig.engine.poll_timeout(), None);
}

#[test]
fn sampling_after_a_time_without_services_keeps_the_grid() {
    let mut rig = Rig::empty();
    rig.add_service(1);
    rig.apply(Change::RemoveService(ServiceId(1)));
    rig.jump_to(100_100);
    rig.add_service(2);
    assert_eq!(rig.engine.poll_timeout(), Some(at(100_250)));
    rig.traffic(2, 3, 0);
    rig.run_to(114_249);
    assert_eq!(rig.service(2).window_bytes, 3);
    rig.run_to(114_250);
    assert_eq!(rig.service(2).window_bytes, 0);
}

#[test]
fn rates_are_per_second_over_the_last_7_s() {
    let mut rig = Rig::new(Method::RoundRobin, &[1]);
    for tick in 0..100 {
        rig.run_to(tick * 100);
        rig.pick();
        rig.traffic(1, 500, 2_000);
    }
    let service = rig.service(1);
    let rates = (
        service.hits_per_s,
        service.bytes_in_per_s,
        service.bytes_out_per_s,
    );
    assert_eq!(rates, (10, 5_063, 20_253));
    // The base is the sample at 2.0 s: 80 steps lie behind it, which is 7.9 s and then 7.999 s old.
    rig.run_to(9_999);
    assert_eq!(rig.service(1).bytes_in_per_s, 5_001);
    assert_eq!(rig.vserver().hits_per_s, 10);
    rig.run_to(17_000);
    assert_eq!(
        (rig.service(1).hits_per_s, rig.service(1).bytes_in_per_s),
        (0, 0)
    );
    assert_eq!(rig.vserver().hits_per_s, 0);
}

#[test]
fn rate_of_a_young_service_rises_from_zero() {
    let mut rig = Rig::new(Method::RoundRobin, &[1]);
    rig.run_to(1_000);
    rig.traffic(1, 7_000, 0);
    assert_eq!(rig.service(1).bytes_in_per_s, 1_000);
}
