//! What the engine is to hear of a flow: its first exchange, and whether its service left unheard.
//!
//! Owns no socket and makes no call: it watches the relay's operations end. Costs one look at a flag
//! once the service has answered, which is for nearly all of a flow's life.
//!
//! ```text
//!   nothing -- client bytes taken by the service's socket --> news: client data
//!      |                                                             |
//!      +---------- bytes read from the service -------------> news: first answer, and no more
//!      +---------- the service's end, before the client's --> abandoned: it closed first
//! ```

use sluice_balance::CloseReason;

use crate::relay::{Op, Outcome, Side};

/// How far the first exchange of a flow is.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    asked: bool,
    answered: bool,
    client_ended: bool,
    /// The service closed first, without having sent a byte.
    abandoned: bool,
}

/// What the engine has not heard yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum News {
    /// The first bytes of the client are with the service.
    ClientData,
    /// The first bytes of the service have come.
    FirstAnswer,
}

impl Exchange {
    /// Takes the end of an operation; returns what it is news of.
    pub(super) fn handle_done(&mut self, op: Op, outcome: Outcome) -> Option<News> {
        if self.answered {
            return None;
        }
        match (op, outcome) {
            (Op::Send(Side::Client) | Op::SpliceOut(Side::Client), Outcome::Moved(_)) => {
                let first = !std::mem::replace(&mut self.asked, true);
                first.then_some(News::ClientData)
            }
            (Op::Receive(Side::Service) | Op::SpliceIn(Side::Service), Outcome::Moved(_)) => {
                self.answered = true;
                Some(News::FirstAnswer)
            }
            (Op::Receive(Side::Client), Outcome::Ended) => {
                self.client_ended = true;
                None
            }
            (Op::Receive(Side::Service), Outcome::Ended) => {
                self.abandoned = !self.client_ended;
                None
            }
            _ => None,
        }
    }

    /// Returns why a flow ended that the relay ends for `reason`.
    ///
    /// Whatever the client does about a service that has left, the service is the reason.
    pub(super) fn reason(&self, reason: CloseReason) -> CloseReason {
        match reason {
            CloseReason::Finished
            | CloseReason::ClientReset
            | CloseReason::ServiceReset
            | CloseReason::IdleLimit
                if self.abandoned =>
            {
                CloseReason::ServiceClosed
            }
            CloseReason::Finished
            | CloseReason::ConnectFailed
            | CloseReason::ClientReset
            | CloseReason::ServiceReset
            | CloseReason::ServiceClosed
            | CloseReason::IdleLimit
            | CloseReason::Flushed
            | CloseReason::Local => reason,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use Op::{Receive, Send, SpliceIn, SpliceOut};
    use Outcome::{Again, Ended, Moved};
    use Side::{Client, Service};

    /// Plays `steps`; returns the news of each, and the exchange after them.
    fn play<const N: usize>(steps: [(Op, Outcome); N]) -> ([Option<News>; N], Exchange) {
        let mut exchange = Exchange::default();
        let news = steps.map(|(op, outcome)| exchange.handle_done(op, outcome));
        (news, exchange)
    }

    const REASONS: [CloseReason; 6] = [
        CloseReason::Finished,
        CloseReason::ClientReset,
        CloseReason::ServiceReset,
        CloseReason::IdleLimit,
        CloseReason::Flushed,
        CloseReason::Local,
    ];

    #[test]
    fn only_the_first_bytes_of_either_side_are_news() {
        for (sent, came) in [
            (Send(Client), Receive(Service)),
            (SpliceOut(Client), SpliceIn(Service)),
        ] {
            let (news, _) = play([
                (Receive(Client), Moved(3)),
                (sent, Again),
                (sent, Moved(1)),
                (sent, Moved(2)),
                (came, Again),
                (came, Moved(5)),
                (sent, Moved(1)),
                (came, Moved(5)),
            ]);
            let (asked, answered) = (Some(News::ClientData), Some(News::FirstAnswer));
            let expected = [None, None, asked, None, None, answered, None, None];
            assert_eq!(news, expected);
        }
    }

    #[test]
    fn client_has_nothing_to_wait_for_once_the_service_has_spoken() {
        let (news, _) = play([(Receive(Service), Moved(6)), (Send(Client), Moved(1))]);
        assert_eq!(news, [Some(News::FirstAnswer), None]);
    }

    #[test]
    fn service_that_leaves_first_without_a_byte_is_why_the_flow_ends() {
        let (_, unasked) = play([(Receive(Service), Ended)]);
        let (_, asked) = play([
            (Send(Client), Moved(1)),
            (Receive(Service), Ended),
            (Receive(Client), Ended),
        ]);
        for exchange in [unasked, asked] {
            let expected = [
                CloseReason::ServiceClosed,
                CloseReason::ServiceClosed,
                CloseReason::ServiceClosed,
                CloseReason::ServiceClosed,
                CloseReason::Flushed,
                CloseReason::Local,
            ];
            assert_eq!(REASONS.map(|reason| exchange.reason(reason)), expected);
        }
    }

    #[test]
    fn service_that_has_spoken_or_closes_after_the_client_is_not_to_blame() {
        let (_, spoke) = play([(Receive(Service), Moved(1)), (Receive(Service), Ended)]);
        let (_, followed) = play([(Receive(Client), Ended), (Receive(Service), Ended)]);
        for exchange in [spoke, followed] {
            assert_eq!(REASONS.map(|reason| exchange.reason(reason)), REASONS);
        }
    }
}
