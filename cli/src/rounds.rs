//! `stat ... -ntimes N`: the same command again and again, until it fails or somebody ends it.

use std::time::Duration;

use sluice_command::{Command, Key, Verb};

use crate::output::Output;
use crate::runner::{Place, Runner, Step, print_no_answer};

/// Returns how often a command is to be run.
pub(crate) fn rounds(command: Option<&Command>) -> u64 {
    let command = command.filter(|command| command.verb == Verb::Stat);
    let times = command.and_then(|command| command.integer(Key::NTimes));
    times.unwrap_or(1)
}

impl Runner {
    /// Runs `work` so often, with a pause between two rounds; a round that fails is the last.
    pub(crate) fn repeat(
        &mut self,
        times: u64,
        place: Place<'_>,
        output: &mut Output,
        mut work: impl FnMut(&mut Self, &mut Output) -> Step,
    ) -> Step {
        let mut step = work(self, output);
        for _ in 1..times {
            if step != Step::Done {
                break;
            }
            if let Err(error) = self.session.pause(self.between_rounds) {
                return print_no_answer(&error, place, output);
            }
            step = work(self, output);
        }
        step
    }
}

/// As the reference does it.
pub(crate) const BETWEEN_ROUNDS: Duration = Duration::from_secs(7);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::Local;
    use crate::runner::Mode;
    use crate::session::Session;
    use jiff::tz::TimeZone;

    fn seen(times: u64, fails_at: u64) -> u64 {
        let session = Session::new("/nonexistent/sluice.sock".into());
        let mut runner = Runner::new(session, Mode::default(), TimeZone::UTC, Local::new(None));
        runner.between_rounds = Duration::ZERO;
        let mut rounds = 0;
        runner.repeat(times, Place::Words, &mut Output::standard(), |_, _| {
            rounds += 1;
            if rounds == fails_at {
                Step::Failed
            } else {
                Step::Done
            }
        });
        rounds
    }

    #[test]
    fn it_is_run_so_often_or_until_it_fails() {
        assert_eq!(seen(1, 9), 1);
        assert_eq!(seen(4, 9), 4);
        assert_eq!(seen(4, 2), 2);
    }

    #[test]
    fn only_stat_has_rounds() {
        let of = |line: &str| rounds(sluice_command::parse(line).unwrap().as_ref());
        assert_eq!(of("stat service s1 -ntimes 3"), 3);
        assert_eq!(of("stat lb vserver -detail"), 1);
        assert_eq!(of("batch -fileName f -ntimes 3"), 1);
        assert_eq!(of(""), 1);
    }
}
