//! The interactive shell: a prompt, a line, what came of it, until the end.

use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::process::ExitCode;

use rustix::termios::{QueueSelector, tcflush};
use rustyline::error::ReadlineError;
use rustyline::history::{FileHistory, History as _, MemHistory};
use rustyline::{CompletionType, Config, Editor, EventHandler, KeyEvent};
use sluice_command::{Command, Noun, Verb};
use sluice_protocol::{ConfigStatus, Row};

use crate::complete::Assistant;
use crate::folder;
use crate::history::{HISTORY_MAX, Log, is_kept};
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::prompt::Facts;
use crate::question::{Question, print_help_at};
use crate::runner::{Runner, Step, unreachable_text};

/// Runs the shell to its end.
pub(crate) fn run(runner: &mut Runner, output: &mut Output) -> ExitCode {
    let interrupt = Interrupt::default();
    if let Err(error) = interrupt.catch() {
        output.err(&format!("ERROR: Ctrl-C cannot be handled: {error}\n"));
        return ExitCode::from(2);
    }
    runner.session.obey(interrupt.clone());
    if let Err(error) = runner.session.connect() {
        output.err(&unreachable_text(&error));
        return ExitCode::from(2);
    }
    let mut shell = match Shell::new(runner, interrupt) {
        Ok(shell) => shell,
        Err(error) => {
            output.err(&format!("ERROR: the terminal cannot be used: {error}\n"));
            return ExitCode::from(2);
        }
    };
    shell.greet(output);
    shell.talk(output)
}

struct Shell<'a> {
    runner: &'a mut Runner,
    editor: Editor<Assistant, MemHistory>,
    question: Question,
    interrupt: Interrupt,
    /// Where earlier commands are kept, and what the file has of them.
    history: Option<PathBuf>,
    kept: FileHistory,
    /// Whether the running configuration differs from the saved one, as far as is known.
    unsaved: bool,
    /// Whether changes are provisional, as far as is known.
    provisional: bool,
}

impl<'a> Shell<'a> {
    fn new(runner: &'a mut Runner, interrupt: Interrupt) -> rustyline::Result<Self> {
        let question = Question::default();
        let mut kept = FileHistory::with_config(&config()?);
        let history = folder::history().filter(|path| folder::prepare(path).is_ok());
        if let Some(path) = &history {
            // A damaged history is no reason not to start.
            let _ = kept.load(path);
        }
        runner.local.log = Some(Log::of(&kept));
        let editor = editor(runner, &question)?;
        Ok(Self {
            runner,
            editor,
            question,
            interrupt,
            history,
            kept,
            unsaved: false,
            provisional: false,
        })
    }

    fn greet(&mut self, output: &mut Output) {
        output.out(concat!(
            "Sluice ",
            env!("CARGO_PKG_VERSION"),
            ". Press ? for what can be typed, Tab to complete, Ctrl-D to leave.\n"
        ));
        let failures = self
            .look_at_config()
            .map_or(0, |status| status.boot_failures.len());
        if failures > 0 {
            output.err(&format!(
                "Warning: {failures} lines of the configuration failed at boot; \
                 show ns config lists them\n"
            ));
        }
    }

    fn talk(&mut self, output: &mut Output) -> ExitCode {
        let mut initial = (String::new(), String::new());
        loop {
            let prompt = self.prompt();
            let prompt = prompt.as_str();
            let (left, right) = std::mem::take(&mut initial);
            // While keys are read there is no signal: from here on it is meant for what they say.
            self.interrupt.clear();
            match self.editor.readline_with_initial(prompt, (&left, &right)) {
                Ok(text) => {
                    if let Some(cursor) = self.question.take() {
                        initial = self.answer_question(&text, cursor, output);
                    } else if self.run_lines(&text, prompt, output) == Step::Quit {
                        break;
                    }
                }
                Err(ReadlineError::Interrupted) => {}
                Err(ReadlineError::Io(error)) if error.kind() == ErrorKind::InvalidData => {
                    self.forget_typed();
                    output.err(NOT_UTF8);
                }
                Err(ReadlineError::Eof) => break,
                Err(error) => {
                    output.err(&format!("ERROR: the terminal cannot be read: {error}\n"));
                    return ExitCode::from(2);
                }
            }
        }
        if self.unsaved {
            output.err(
                "Warning: the configuration has changes that are not saved; \
                 save ns config keeps them\n",
            );
        }
        ExitCode::SUCCESS
    }

    /// The mark before the prompt says that something is not saved, or not even confirmed.
    fn prompt(&mut self) -> String {
        let number = self.runner.local.log().next_number();
        let prompt = self.runner.local.prompt.shown(|| Facts::of_now(number));
        let mark = match (self.provisional, self.unsaved) {
            (true, _) => "confirm?",
            (false, true) => "*",
            (false, false) => "",
        };
        format!("{mark}{prompt}")
    }

    fn answer_question(&self, text: &str, cursor: usize, output: &mut Output) -> (String, String) {
        print_help_at(text, cursor, self.runner.session.names(), output);
        let (left, right) = text.split_at_checked(cursor).unwrap_or((text, ""));
        (left.to_owned(), right.to_owned())
    }

    /// Several lines come from a paste; each is a command of its own.
    fn run_lines(&mut self, text: &str, prompt: &str, output: &mut Output) -> Step {
        let is_paste = text.trim_end().contains('\n');
        for line in text.lines() {
            let line = line.trim();
            if line.is_empty() {
                continue;
            }
            self.remember(line);
            if is_paste {
                output.out(&format!("{prompt}{}\n", crate::escape::escape(line)));
            }
            let columns = prompt.chars().count();
            self.runner.session.refresh();
            match self.runner.run_line(line, columns, output) {
                Step::Quit => return Step::Quit,
                Step::Interrupted => {
                    // The daemon may still be silent: what is saved is asked another time.
                    self.forget_typed();
                    return Step::Interrupted;
                }
                Step::Done | Step::Failed | Step::NoDaemon => {}
            }
        }
        let _ = self.look_at_config();
        Step::Done
    }

    /// Drops what was typed or pasted and is not run yet: what the terminal holds, and what the
    /// editor has read ahead, which goes with the editor.
    fn forget_typed(&mut self) {
        // A terminal that cannot be flushed has nothing to drop.
        let _ = tcflush(io::stdin(), QueueSelector::IFlush);
        // The same settings were good for the editor before it.
        if let Ok(editor) = editor(self.runner, &self.question) {
            self.editor = editor;
        }
    }

    fn remember(&mut self, line: &str) {
        if !is_kept(line) {
            return;
        }
        let is_new = self.kept.add(line).unwrap_or(false);
        if !is_new {
            return;
        }
        self.runner.local.log().push(line);
        let _ = recall(&mut self.editor, self.runner);
        if let Some(path) = &self.history {
            // A full disk is no reason to stop.
            let _ = self.kept.append(path);
        }
    }

    /// Asks for the state of the configuration; what is known stays when there is no answer.
    fn look_at_config(&mut self) -> Option<ConfigStatus> {
        let command = Command {
            verb: Verb::Show,
            noun: Noun::NsConfig,
            args: Vec::new(),
        };
        let answer = self.runner.session.run(&command).ok()?;
        let status = answer.rows.into_iter().find_map(|row| {
            if let Row::Config(status) = row {
                Some(status)
            } else {
                None
            }
        })?;
        self.unsaved = status.unsaved;
        self.provisional = status.provisional_s.is_some();
        Some(status)
    }
}

fn editor(
    runner: &mut Runner,
    question: &Question,
) -> rustyline::Result<Editor<Assistant, MemHistory>> {
    let mut editor = Editor::with_history(config()?, MemHistory::with_config(&config()?))?;
    recall(&mut editor, runner)?;
    let names = runner.session.names().clone();
    let shows_hints = runner.local.colourless.is_none();
    editor.set_helper(Some(Assistant::new(names, shows_hints)));
    let handler = EventHandler::Conditional(Box::new(question.clone()));
    editor.bind_sequence(KeyEvent::from('?'), handler);
    Ok(editor)
}

/// Gives the editor's keys the earlier commands.
fn recall(
    editor: &mut Editor<Assistant, MemHistory>,
    runner: &mut Runner,
) -> rustyline::Result<()> {
    editor.clear_history()?;
    for line in runner.local.log().recalled() {
        editor.add_history_entry(line)?;
    }
    Ok(())
}

fn config() -> rustyline::Result<Config> {
    Ok(Config::builder()
        .auto_add_history(false)
        .max_history_size(HISTORY_MAX)?
        .history_ignore_dups(true)?
        .completion_type(CompletionType::List)
        .completion_show_all_if_ambiguous(true)
        .bracketed_paste(true)
        .build())
}

/// The rest of a line that was cut there is no command of its own, so it goes too.
const NOT_UTF8: &str =
    "ERROR: what was typed is not UTF-8; the line and what was pasted with it are dropped\n";
