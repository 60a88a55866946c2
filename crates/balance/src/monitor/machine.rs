//! What one monitor makes of one service: the state machine, without time.
//!
//! ```text
//!              passed                     failures_to_down of the last `retries` failed
//!   Unknown ------------> Up <---------+  +-------------------------------------------+
//!      |                  |            |  |                                           v
//!      |                  +-- goes out |  +--- from Unknown, Up, GoingOut ---------> Down
//!      +-- goes out --> GoingOut ------+                                              |
//!                           ^   passed         success_retries in a row passed: Up    |
//!                           +------------------- goes out ----------------------------+
//! ```
//!
//! Invariants: `recent` has a bit for each probe since the finding began, the newest lowest, set
//! for a failed one, and is 0 in Down; `successes` is 0 except in Down.

use super::settings::MonitorSettings;

/// What a monitor has found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Finding {
    /// Nothing yet.
    #[default]
    Unknown,
    /// The service answers as it should.
    Up,
    /// It does not.
    Down,
    /// It answers that it goes out of service.
    GoingOut,
}

/// What a probe says, a reversed one the other way round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Answer {
    Passed,
    Failed,
    GoesOut,
}

/// The state of one monitor of one service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Machine {
    finding: Finding,
    recent: u128,
    successes: u8,
}

impl Machine {
    /// Returns what has been found.
    pub(crate) fn finding(&self) -> Finding {
        self.finding
    }

    /// Takes the answer to a probe.
    pub(crate) fn handle(&mut self, answer: Answer, settings: &MonitorSettings) {
        let former = self.finding;
        let next = match (former, answer) {
            (Finding::Unknown | Finding::Up | Finding::GoingOut, Answer::Passed) => Finding::Up,
            (Finding::Unknown | Finding::Up | Finding::GoingOut, Answer::Failed) => {
                if self.would_be_down(settings) {
                    Finding::Down
                } else {
                    former
                }
            }
            (Finding::Down, Answer::Passed) => {
                if self.successes + 1 >= settings.successes_to_up() {
                    Finding::Up
                } else {
                    Finding::Down
                }
            }
            (Finding::Down, Answer::Failed) => Finding::Down,
            (_, Answer::GoesOut) => Finding::GoingOut,
        };
        self.note(answer, next, settings);
    }

    /// Whether one more failed probe makes the service DOWN.
    fn would_be_down(&self, settings: &MonitorSettings) -> bool {
        let failed = self.shifted(Answer::Failed, settings).count_ones();
        failed >= settings.failures_to_down()
    }

    fn note(&mut self, answer: Answer, next: Finding, settings: &MonitorSettings) {
        let stays = next == self.finding;
        (self.recent, self.successes) = match next {
            Finding::Down if stays && answer == Answer::Passed => (0, self.successes + 1),
            Finding::Unknown | Finding::Up | Finding::GoingOut if stays => {
                (self.shifted(answer, settings), 0)
            }
            Finding::Unknown | Finding::Up | Finding::GoingOut | Finding::Down => (0, 0),
        };
        self.finding = next;
    }

    /// Returns the last probes with one more.
    fn shifted(&self, answer: Answer, settings: &MonitorSettings) -> u128 {
        let newest = u128::from(answer == Answer::Failed);
        let kept = (1 << settings.looked_at()) - 1;
        (self.recent << 1 | newest) & kept
    }
}

#[cfg(test)]
mod tests;
