//! Changes on trial: what was there before them, and until when they may be confirmed.
//!
//! No clock of its own: every call says what time it is. Nothing of it is saved, so that a restart in the
//! middle ends the trial too: what it loads was saved before.
//!
//! ```text
//!            apply                  confirm
//! (none) ───────────> on trial ───────────────> (none), the changes stay
//!                      │   ^ │ apply: a new limit, the same way back
//!                      │   └─┘
//!                      └── rollback, or the limit is over ──> (none), as it was before
//! ```

use std::time::Duration;

use sluice_balance::Instant;
use sluice_command::{Fault, catalogue};
use sluice_config::Config;

use crate::ns_conf::KeptLines;

/// The trial under way, if there is one.
#[derive(Debug, Default)]
pub(crate) struct Provisional {
    trial: Option<Trial>,
}

#[derive(Debug)]
struct Trial {
    earlier: Earlier,
    limit: Instant,
}

/// What was there before a trial.
#[derive(Clone, Debug)]
pub(crate) struct Earlier {
    /// The running configuration.
    pub(crate) config: Config,
    /// The lines of the file that do not run.
    pub(crate) lines: KeptLines,
}

impl Provisional {
    /// Begins a trial of this length; one under way only gets the new limit.
    pub(crate) fn begin(
        &mut self,
        earlier: impl FnOnce() -> Earlier,
        length: Duration,
        now: Instant,
    ) {
        let limit = now + length;
        match &mut self.trial {
            Some(trial) => trial.limit = limit,
            None => {
                let earlier = earlier();
                self.trial = Some(Trial { earlier, limit });
            }
        }
    }

    /// Ends the trial; returns what was there before it.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn end(&mut self) -> Result<Earlier, Fault> {
        let trial = self.trial.take();
        let trial = trial.ok_or_else(|| Fault::new(catalogue::NOTHING_PROVISIONAL));
        trial.map(|trial| trial.earlier)
    }

    /// Returns the configuration before the trial.
    pub(crate) fn confirmed(&self) -> Option<&Config> {
        self.trial.as_ref().map(|trial| &trial.earlier.config)
    }

    /// Returns how long the trial goes on; zero when it is over and nobody has confirmed.
    pub(crate) fn left(&self, now: Instant) -> Option<Duration> {
        let trial = self.trial.as_ref()?;
        Some(trial.limit.duration_since(now))
    }

    /// Refuses what would make provisional changes last.
    ///
    /// # Errors
    /// There is a trial.
    pub(crate) fn check_none(&self, now: Instant) -> Result<(), Fault> {
        match self.left(now) {
            None => Ok(()),
            Some(left) => Err(Fault::new(catalogue::PROVISIONAL)
                .with_details(format!("{} s left", seconds(left)))
                .with_hint("confirm")
                .with_hint("rollback")),
        }
    }
}

/// Returns whole seconds, a begun one included.
pub(crate) fn seconds(left: Duration) -> u64 {
    left.as_secs() + u64::from(left.subsec_nanos() > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_config::load_file;

    fn at(seconds: u64) -> Instant {
        Instant::from_nanos(1_000_000_000 * seconds)
    }

    fn earlier(text: &str) -> Earlier {
        Earlier {
            config: load_file(text.as_bytes()).0,
            lines: KeptLines::default(),
        }
    }

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn a_trial_is_over_at_its_limit_and_not_before() {
        let mut provisional = Provisional::default();
        assert_eq!(provisional.left(at(5)), None);
        provisional.begin(|| earlier(""), MINUTE, at(10));
        assert_eq!(provisional.left(at(10)), Some(MINUTE));
        let just = Instant::from_nanos(70_000_000_000 - 1);
        assert_eq!(provisional.left(just), Some(Duration::from_nanos(1)));
        assert_eq!(provisional.left(at(70)), Some(Duration::ZERO));
        assert_eq!(provisional.left(at(99)), Some(Duration::ZERO));
        assert!(provisional.end().is_ok());
        assert_eq!(provisional.left(at(99)), None);
    }

    #[test]
    fn a_second_apply_moves_the_limit_and_not_the_way_back() {
        let mut provisional = Provisional::default();
        let first = "add server a 10.0.0.1";
        provisional.begin(|| earlier(first), MINUTE, at(0));
        provisional.begin(|| earlier("add server b 10.0.0.2"), MINUTE, at(50));
        assert_eq!(provisional.left(at(60)), Some(Duration::from_secs(50)));
        provisional.begin(|| earlier(""), Duration::from_secs(1), at(60));
        assert_eq!(provisional.left(at(61)), Some(Duration::ZERO));
        let confirmed = provisional.confirmed().map(Config::render);
        assert_eq!(confirmed, Some(vec![first.to_owned()]));
        assert_eq!(provisional.end().unwrap().config.render(), [first]);
    }

    #[test]
    fn what_cannot_be_ended_is_refused_and_what_would_last_waits() {
        let mut provisional = Provisional::default();
        assert_eq!(provisional.end().unwrap_err().code, 10010);
        assert_eq!(provisional.check_none(at(1)), Ok(()));
        provisional.begin(|| earlier(""), MINUTE, at(0));
        let refused = provisional.check_none(Instant::from_nanos(1)).unwrap_err();
        assert_eq!(refused.to_string(), "Changes are provisional [60 s left]");
        let refused = provisional.check_none(at(1)).unwrap_err();
        assert_eq!(refused.to_string(), "Changes are provisional [59 s left]");
        assert_eq!(refused.hints, ["confirm", "rollback"]);
    }
}
