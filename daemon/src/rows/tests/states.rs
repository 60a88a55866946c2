//! The words of states, as `show` and `stat` spell them.

use sluice_balance::State;

use crate::rows::{short, shown};

#[test]
fn states_are_in_the_words_of_the_reference() {
    for (state, long, brief) in [
        (State::Up, "UP", "UP"),
        (State::Down, "DOWN", "DOWN"),
        (State::Unknown, "UNKNOWN", "UNKNOWN"),
        (State::OutOfService, "OUT OF SERVICE", "OFS"),
        (State::GoingOutOfService, "GOING OUT OF SERVICE", "TROFS"),
        (
            State::DownWhenGoingOutOfService,
            "DOWN WHEN GOING OUT OF SERVICE",
            "TROFS_DOWN",
        ),
    ] {
        assert_eq!(
            (shown(state).as_str(), short(state).as_str()),
            (long, brief)
        );
    }
}
