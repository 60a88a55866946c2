//! What a service that fails or swallows everything costs its clients, by method, while 100 clients
//! come in a second.

use std::collections::VecDeque;

use sluice_balance::{Change, CloseReason, Method, PassiveSettings, Reservation, ServiceId};

use crate::rig::{Rig, V, flow};

const METHODS: [Method; 5] = [
    Method::RoundRobin,
    Method::LeastConnection,
    Method::LeastBandwidth,
    Method::LeastPackets,
    Method::LeastResponseTime,
];

/// What the first of three services does with a flow whose client has sent data.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bad {
    /// It closes at once.
    Closes,
    /// It says nothing, and the client leaves after a second.
    Swallows,
}

/// Runs a minute; returns how many flows the bad service got.
fn lost(method: Method, bad: Bad, watched: bool) -> usize {
    let mut rig = Rig::new(method, &[1; 3]);
    let enabled = watched;
    rig.apply(Change::SetPassive(PassiveSettings {
        enabled,
        ..PassiveSettings::default()
    }));
    let mut waiting: VecDeque<(u64, Reservation)> = VecDeque::new();
    let mut lost = 0;
    for ms in (0..60_000).step_by(10) {
        rig.run_to(ms);
        while let Some((_, reservation)) = waiting.pop_front_if(|(end, _)| *end <= ms) {
            let reason = CloseReason::ClientReset;
            rig.engine.handle_close(reservation, reason, rig.now);
        }
        let chosen = rig.engine.select(V, &flow(), &[], rig.now).unwrap();
        let reservation = chosen.reservation;
        rig.engine.handle_client_data(&reservation, rig.now);
        chosen.service_counters.add_in(100, 1);
        if reservation.service() != ServiceId(1) {
            chosen.service_counters.add_out(10_000, 10);
            rig.engine.handle_first_answer(&reservation, rig.now);
            rig.engine
                .handle_close(reservation, CloseReason::Finished, rig.now);
            continue;
        }
        lost += 1;
        match bad {
            Bad::Closes => {
                let reason = CloseReason::ServiceClosed;
                rig.engine.handle_close(reservation, reason, rig.now);
            }
            Bad::Swallows => waiting.push_back((ms + 1_000, reservation)),
        }
        rig.outputs();
    }
    lost
}

#[test]
fn service_that_closes_at_once_gets_nine_flows_and_then_one_for_each_trial() {
    // H11: at 10 s and 30 s, the next one is at 70 s.
    for method in METHODS {
        let lost = lost(method, Bad::Closes, true);
        assert!(lost <= 9 + 2, "{lost} by {method:?}");
    }
    assert_eq!(lost(Method::RoundRobin, Bad::Closes, true), 11);
    assert_eq!(lost(Method::RoundRobin, Bad::Closes, false), 2_000);
}

#[test]
fn service_that_swallows_gets_no_more_than_a_second_of_flows_by_any_method() {
    for method in METHODS {
        let watched = lost(method, Bad::Swallows, true);
        let alone = lost(method, Bad::Swallows, false);
        // Before the first client leaves nothing is known: the flows of a second; and the trials.
        assert!(
            watched <= 100 + 3 && watched <= alone,
            "{watched} of {alone} by {method:?}"
        );
    }
    assert_eq!(lost(Method::RoundRobin, Bad::Swallows, false), 2_000);
}
