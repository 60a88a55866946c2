//! A line with ranges: the commands it stands for are run one after the other, and answer as one.

use sluice_command::{Command, masked, render, summed_up};
use sluice_protocol::{Outcome, Row};

use crate::output::Output;
use crate::runner::{Place, Runner, Step, print_no_answer};

impl Runner {
    /// Runs the commands that a line with ranges stands for, and answers as to one. Those that are
    /// refused do not keep the others from running.
    pub(crate) fn run_several(
        &mut self,
        commands: &[Command],
        place: Place<'_>,
        output: &mut Output,
    ) -> Step {
        let mut text = String::new();
        let mut rows = Vec::new();
        let mut failed = Vec::new();
        for command in commands {
            let answer = match self.session.run(command) {
                Ok(answer) => answer,
                Err(error) => {
                    self.print_rows(commands, &rows, &text, output);
                    return print_no_answer(&error, place, output);
                }
            };
            self.print_warnings(&answer.warnings, place, output);
            match answer.outcome {
                Outcome::Done if self.mode.json => rows.extend(answer.rows),
                Outcome::Done => text.push_str(&self.answer_text(command, &answer.rows)),
                Outcome::Error(fault) => {
                    failed.push((masked(&render(command)).into_owned(), fault));
                }
            }
        }
        self.print_rows(commands, &rows, &text, output);
        let ended = if failed.is_empty() {
            Ok(())
        } else {
            Err(summed_up(commands.len(), &failed))
        };
        self.done(ended, place, output)
    }

    /// Prints what several commands have answered, as one answer.
    fn print_rows(&self, commands: &[Command], rows: &[Row], text: &str, output: &mut Output) {
        match commands.first().filter(|_| self.mode.json) {
            Some(first) => output.out(&self.answer_text(first, rows)),
            None => output.out(text),
        }
    }
}
