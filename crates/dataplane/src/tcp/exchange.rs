//! What the engine is to hear of a flow: its first exchange, whether its service left unheard, and
//! whether it cut a later exchange off.
//!
//! Owns no socket and makes no call: it watches the relay's operations end. Costs some flags for each
//! of them, and news only until the first answer.
//!
//! ```text
//!   nothing -- client bytes taken by the service's socket --> news: client data, and more of it at intervals
//!      |                                                             |
//!      +---------- bytes read from the service -------------> news: first answer, and no more
//!      +---------- the service's end, before the client's --> abandoned: it closed first
//! ```
//!
//! Before the service's end is passed on to a client that has not finished: the service is done with the flow.

use std::time::Duration;

use sluice_balance::{CloseReason, Instant};

use crate::relay::{Op, Outcome, Side};

/// How far the exchanges of a flow are.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    asked: bool,
    answered: bool,
    /// Whether the service's socket has taken bytes since the service last sent some.
    unanswered: bool,
    /// When client data was last told.
    told: Instant,
    client_ended: bool,
    service_ended: bool,
    /// The service closed first, without having sent a byte.
    abandoned: bool,
}

/// What the engine has not heard yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum News {
    /// The first bytes of the client are with the service.
    ClientData,
    /// More of them are, and the service has not said anything yet.
    MoreClientData,
    /// The first bytes of the service have come.
    FirstAnswer,
}

impl Exchange {
    /// Takes the end of an operation; returns what it is news of.
    pub(super) fn handle_done(&mut self, op: Op, outcome: Outcome, now: Instant) -> Option<News> {
        match (op, outcome) {
            (Op::Send(Side::Client) | Op::SpliceOut(Side::Client), Outcome::Moved(_)) => {
                self.unanswered = true;
                let first = !std::mem::replace(&mut self.asked, true);
                if self.answered || !first && now < self.told + TELL_AGAIN {
                    return None;
                }
                self.told = now;
                Some(if first {
                    News::ClientData
                } else {
                    News::MoreClientData
                })
            }
            (Op::Receive(Side::Service) | Op::SpliceIn(Side::Service), Outcome::Moved(_)) => {
                self.unanswered = false;
                let first = !std::mem::replace(&mut self.answered, true);
                first.then_some(News::FirstAnswer)
            }
            (Op::Receive(Side::Client) | Op::SpliceIn(Side::Client), Outcome::Ended) => {
                self.client_ended = true;
                None
            }
            (Op::Receive(Side::Service) | Op::SpliceIn(Side::Service), Outcome::Ended) => {
                self.service_ended = true;
                self.abandoned = !self.client_ended && !self.answered;
                None
            }
            _ => None,
        }
    }

    /// Whether the service is done with the flow once `op` is carried out, while the client is not: its
    /// end is passed on, after all that it has sent.
    ///
    /// To be told before that is done: a client that sees the end and calls again at once is not to find
    /// its last call still there, however late this thread gets to go on.
    pub(super) fn is_done_by(&self, op: Op) -> bool {
        op == Op::Finish(Side::Client) && !self.client_ended
    }

    /// Whether a reset by the service, for which the relay ends the flow, has left client data
    /// unanswered after the first exchange, while neither side had finished.
    ///
    /// Once the client has finished it may not wait for anything, and what it sends to a service that
    /// has finished comes too late.
    pub(super) fn is_cut_off(&self, reason: CloseReason) -> bool {
        reason == CloseReason::ServiceReset
            && self.answered
            && self.unanswered
            && !self.client_ended
            && !self.service_ended
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

/// How often the engine hears of a client that goes on sending before its first answer: often enough for
/// the shortest time after which silence is a failure, seldom enough to cost nothing.
const TELL_AGAIN: Duration = Duration::from_millis(250);

#[cfg(test)]
mod tests {
    use super::*;

    use Op::{Receive, Send, SpliceIn, SpliceOut};
    use Outcome::{Again, Ended, Moved};
    use Side::{Client, Service};

    /// Plays `steps`; returns the news of each, and the exchange after them.
    fn play<const N: usize>(steps: [(Op, Outcome); N]) -> ([Option<News>; N], Exchange) {
        let mut exchange = Exchange::default();
        let now = Instant::default();
        let news = steps.map(|(op, outcome)| exchange.handle_done(op, outcome, now));
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
    fn reset_cuts_a_later_exchange_off_that_is_not_answered_and_that_nobody_has_finished() {
        let first = [(Send(Client), Moved(1)), (Receive(Service), Moved(1))];
        let asks = (Send(Client), Moved(1));
        let table: [(&[(Op, Outcome)], bool); 6] = [
            (&[], false),
            (&[asks], true),
            (&[(SpliceOut(Client), Moved(1))], true),
            (&[asks, (SpliceIn(Service), Moved(1))], false),
            (&[asks, (Receive(Client), Ended)], false),
            (&[(Receive(Service), Ended), asks], false),
        ];
        for (then, expected) in table {
            let mut exchange = Exchange::default();
            // The first exchange is reported as such.
            for (op, outcome) in first {
                exchange.handle_done(op, outcome, Instant::default());
                assert!(!exchange.is_cut_off(CloseReason::ServiceReset));
            }
            for (op, outcome) in then {
                let news = exchange.handle_done(*op, *outcome, Instant::default());
                assert_eq!(news, None);
            }
            let cut_off = REASONS.map(|reason| exchange.is_cut_off(reason));
            assert_eq!(cut_off, [false, false, expected, false, false, false]);
        }
    }

    #[test]
    fn service_that_finishes_first_is_done_when_its_end_is_passed_on() {
        let (_, first) = play([(Receive(Service), Moved(1)), (Receive(Service), Ended)]);
        assert!(first.is_done_by(Op::Finish(Client)));
        assert!(!first.is_done_by(Op::Finish(Service)) && !first.is_done_by(Send(Service)));
        // The flow ends with it.
        let (_, last) = play([(Receive(Client), Ended), (Receive(Service), Ended)]);
        assert!(!last.is_done_by(Op::Finish(Client)));
    }

    #[test]
    fn client_that_goes_on_before_its_answer_is_told_of_four_times_a_second() {
        let mut exchange = Exchange::default();
        let mut told = Vec::new();
        for ms in (1_000..2_000).step_by(50) {
            let now = Instant::from_nanos(ms * 1_000_000);
            let news = exchange.handle_done(Send(Client), Moved(1), now);
            told.extend(news.map(|news| (ms, news)));
        }
        let more = News::MoreClientData;
        let expected = [
            (1_000, News::ClientData),
            (1_250, more),
            (1_500, more),
            (1_750, more),
        ];
        assert_eq!(told, expected);
        let later = Instant::from_nanos(9_000_000_000);
        exchange.handle_done(Receive(Service), Moved(1), later);
        let later = Instant::from_nanos(10_000_000_000);
        assert_eq!(exchange.handle_done(Send(Client), Moved(1), later), None);
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
