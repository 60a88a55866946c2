//! `maxBandwidth` of a service: no new flow above so many kbit/s.

use std::sync::Arc;

use sluice_balance::{Counters, Method, Refusal, State};

use super::bench::Bench;

/// A virtual server with services 1 and 2 and the counters of service 1, limited to 80 kbit/s, which
/// are 10,000 bytes a second; the time is 10 s.
fn limited(method: Method) -> (Bench, Arc<Counters>) {
    let mut bench = Bench::chain(&[&[1, 2]]);
    bench.set(1, |settings| settings.method = method);
    bench.set_service(1, |settings| settings.max_bandwidth = Some(80));
    bench.run_to(10_000);
    let selection = bench.select(1, &[2], 1).unwrap();
    let counters = selection.service_counters.clone();
    bench.engine.handle_unused(selection.reservation, bench.now);
    (bench, counters)
}

/// Returns whether service 1 may take a flow.
fn has_room(bench: &mut Bench) -> bool {
    let selection = bench.select(1, &[2], 1);
    let refusal = selection.as_ref().err().copied();
    assert!(refusal.is_none_or(|refusal| refusal == Refusal::Full));
    let has_room = selection.is_ok();
    if let Ok(selection) = selection {
        bench.engine.handle_unused(selection.reservation, bench.now);
    }
    has_room
}

#[test]
fn service_above_its_bandwidth_is_not_chosen_by_any_method() {
    for method in [
        Method::RoundRobin,
        Method::LeastConnection,
        Method::LeastBandwidth,
        Method::Random,
        Method::SourceIpHash,
    ] {
        let (mut bench, counters) = limited(method);
        counters.add_out(10_001, 1);
        assert_eq!(bench.picks(6), [(1, 2); 6], "{method:?}");
        // It is as if it were full: the other failing leaves nobody, but it is UP.
        assert_eq!(bench.select(1, &[2], 1).unwrap_err(), Refusal::Full);
        bench.enable(&[2], false);
        assert_eq!(bench.pick(), Err(Refusal::Full), "{method:?}");
        assert_eq!(bench.states(1).0, State::Up);
        bench.run_to(12_000);
        assert_eq!(bench.pick(), Ok((1, 1)), "{method:?}");
    }
}

#[test]
fn bandwidth_is_what_flowed_both_ways_since_the_sample_that_is_a_second_old() {
    let (mut bench, counters) = limited(Method::RoundRobin);
    counters.add_in(5_000, 1);
    counters.add_out(5_000, 1);
    assert!(has_room(&mut bench));
    counters.add_in(1, 1);
    assert!(!has_room(&mut bench));
    bench.run_to(10_001);
    assert!(has_room(&mut bench));
    bench.run_to(11_000);
    assert!(!has_room(&mut bench));
    bench.run_to(11_001);
    assert!(has_room(&mut bench));
}

#[test]
fn flow_of_a_steady_stream_at_the_limit_is_never_held_back() {
    let (mut bench, counters) = limited(Method::RoundRobin);
    for tenth in 1..=100 {
        counters.add_out(1_000, 1);
        bench.run_to(10_000 + tenth * 100);
        assert!(has_room(&mut bench), "at {tenth} tenths");
    }
}

#[test]
fn bandwidth_counts_the_flows_of_all_virtual_servers_and_spills() {
    let mut bench = Bench::chain(&[&[1], &[2]]);
    bench.set_service(1, |settings| settings.max_bandwidth = Some(8));
    bench.bind(2, 1, 1);
    let other = bench.select(2, &[2], 1).unwrap();
    other.service_counters.add_in(1_001, 1);
    bench.keep(other.reservation);
    assert_eq!(bench.pick(), Ok((2, 2)));
    assert_eq!(bench.vserver(1).spillover_hits, 1);
}
