//! How far a relay is, for whoever looks at flows from outside.

use sluice_balance::Instant;

use super::way::Source;
use super::{Phase, Relay, Side};
use crate::flow_rows::FlowState;

impl Relay {
    /// Returns how far the flow is.
    pub(crate) fn state(&self) -> FlowState {
        match self.phase {
            Phase::Open => {}
            Phase::Failing(_) | Phase::Ending(_) | Phase::Over => return FlowState::Closing,
        }
        let is_open = |side: Side| self.ways[side as usize].source == Source::Open;
        match (is_open(Side::Client), is_open(Side::Service)) {
            (true, true) => FlowState::Established,
            (false, true) => FlowState::ClientFinished,
            (true, false) => FlowState::ServiceFinished,
            (false, false) => FlowState::Closing,
        }
    }

    /// Returns when something last moved in either direction.
    pub(crate) fn moved_at(&self) -> Instant {
        self.moved_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relay::{Op, Outcome, Ready};

    const NOW: Instant = Instant::from_nanos(0);

    /// Lets a side finish.
    fn finish(relay: &mut Relay, side: Side) {
        let ready = Ready {
            readable: true,
            ended: true,
            ..Ready::default()
        };
        relay.handle_ready(side, ready, NOW);
        relay.handle_done(Op::Receive(side), Outcome::Ended, NOW);
    }

    #[test]
    fn state_says_which_side_has_finished() {
        let new = || Relay::new(None, NOW);
        assert_eq!(new().state(), FlowState::Established);
        let mut relay = new();
        finish(&mut relay, Side::Client);
        assert_eq!(relay.state(), FlowState::ClientFinished);
        finish(&mut relay, Side::Service);
        assert_eq!(relay.state(), FlowState::Closing);
        let mut relay = new();
        finish(&mut relay, Side::Service);
        assert_eq!(relay.state(), FlowState::ServiceFinished);
        let mut relay = new();
        let failed = Ready {
            failed: true,
            ..Ready::default()
        };
        relay.handle_ready(Side::Client, failed, NOW);
        assert_eq!(relay.state(), FlowState::Closing);
    }
}
