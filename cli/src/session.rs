//! The connection to the daemon: made when first needed, made anew after it was lost.
//!
//! In the shell every wait for the daemon ends when Ctrl-C is pressed; the connection is then given
//! up, since what of the answer is still to come cannot be told from the next one.
//!
//! A command whose answer was lost is never sent again: it may have taken effect.

use std::io;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use sluice_command::{Command, Noun, Verb};
use sluice_protocol::{Client, ClientError, Event, Outcome, Row};
use thiserror::Error;

use crate::interrupt::Interrupt;
use crate::names::Names;

/// What the daemon answered.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The rows, in order.
    pub(crate) rows: Vec<Row>,
    /// The warnings, in order.
    pub(crate) warnings: Vec<String>,
    /// How the command ended.
    pub(crate) outcome: Outcome,
}

/// Why there is no answer.
#[derive(Debug, Error)]
pub(crate) enum SessionError {
    /// There is no daemon to ask; nothing was sent.
    #[error(transparent)]
    Unreachable(ClientError),
    /// The connection was lost on the way.
    #[error("{0}; whether the command took effect is not known")]
    Lost(#[source] ClientError),
    /// The command is too long; the connection is as good as before.
    #[error(transparent)]
    TooLong(ClientError),
    /// Ctrl-C came before the command was sent.
    #[error("interrupted; the command was not sent")]
    NotSent,
    /// Ctrl-C came before the answer to a question.
    #[error("interrupted")]
    Unanswered,
    /// Ctrl-C came before the answer to a change.
    #[error("interrupted; whether the command took effect is not known")]
    Unknown,
    /// There is no thread to wait for the daemon; nothing was sent.
    #[error("the command was not sent: {0}")]
    Thread(#[source] io::Error),
}

/// A connection to one daemon.
#[derive(Debug)]
pub(crate) struct Session {
    socket: PathBuf,
    client: Option<Client>,
    names: Names,
    /// What ends a wait; `None` where the signal ends the process.
    interrupt: Option<Interrupt>,
}

impl Session {
    /// Names the daemon; nothing is connected yet.
    pub(crate) fn new(socket: PathBuf) -> Self {
        Self {
            names: Names::new(socket.clone()),
            socket,
            client: None,
            interrupt: None,
        }
    }

    /// Lets `interrupt` end every wait from now on.
    pub(crate) fn obey(&mut self, interrupt: Interrupt) {
        self.interrupt = Some(interrupt);
    }

    /// Returns what asks the same daemon for names.
    pub(crate) fn names(&self) -> &Names {
        &self.names
    }

    /// Connects, if there is no connection.
    ///
    /// # Errors
    /// There is no daemon to talk to, or it was not waited for.
    pub(crate) fn connect(&mut self) -> Result<(), SessionError> {
        if self.client.is_none() {
            let socket = self.socket.clone();
            let client = self.wait(move || Client::connect(socket))?;
            let client = client.ok_or(SessionError::NotSent)?;
            self.client = Some(client.map_err(SessionError::Unreachable)?);
        }
        Ok(())
    }

    /// Drops a connection whose daemon has gone while nobody asked anything, so that the next
    /// command meets the new daemon instead of the end of the old one.
    pub(crate) fn refresh(&mut self) {
        if let Some(mut client) = self.client.take() {
            let asked = self.wait(move || client.names(Noun::None).is_ok().then_some(client));
            self.client = asked.ok().flatten().flatten();
        }
    }

    /// Runs a command.
    ///
    /// # Errors
    /// There is no daemon, or it did not answer. A refused command is an answer.
    pub(crate) fn run(&mut self, command: &Command) -> Result<Answer, SessionError> {
        self.connect()?;
        let Some(mut client) = self.client.take() else {
            return Err(SessionError::NotSent);
        };
        let sent = command.clone();
        let ended = self.wait(move || {
            let answer = ask(&mut client, &sent);
            (client, answer)
        })?;
        let Some((client, answer)) = ended else {
            return Err(interrupted(command.verb));
        };
        match answer {
            Err(error @ ClientError::Request(_)) => {
                self.client = Some(client);
                Err(SessionError::TooLong(error))
            }
            Err(error) => Err(SessionError::Lost(error)),
            Ok(answer) => {
                self.client = Some(client);
                Ok(answer)
            }
        }
    }

    /// Waits, where nothing is to be asked for a while.
    ///
    /// # Errors
    /// It was interrupted, or there is no thread to wait in.
    pub(crate) fn pause(&self, length: Duration) -> Result<(), SessionError> {
        let waited = self.wait(move || thread::sleep(length))?;
        waited.ok_or(SessionError::Unanswered)
    }

    /// Returns what `work` does; `None` if it was interrupted.
    fn wait<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Option<T>, SessionError> {
        match &self.interrupt {
            None => Ok(Some(work())),
            Some(interrupt) => interrupt.unless_pressed(work).map_err(SessionError::Thread),
        }
    }
}

fn ask(client: &mut Client, command: &Command) -> Result<Answer, ClientError> {
    let mut rows = Vec::new();
    let mut warnings = Vec::new();
    let outcome = client.run(command, &mut |event| match event {
        Event::Row(row) => rows.push(*row),
        Event::Warning(text) => warnings.push(text),
    })?;
    Ok(Answer {
        rows,
        warnings,
        outcome,
    })
}

fn interrupted(verb: Verb) -> SessionError {
    match verb {
        Verb::Show
        | Verb::Stat
        | Verb::Explain
        | Verb::Diff
        | Verb::Help
        | Verb::Exit
        | Verb::Quit
        | Verb::Man
        | Verb::History
        | Verb::Alias
        | Verb::Unalias
        | Verb::Source
        | Verb::Whoami
        | Verb::Cls
        | Verb::Shell
        | Verb::Config => SessionError::Unanswered,
        Verb::Add
        | Verb::Set
        | Verb::Unset
        | Verb::Rm
        | Verb::Enable
        | Verb::Disable
        | Verb::Bind
        | Verb::Unbind
        | Verb::Rename
        | Verb::Clear
        | Verb::Save
        | Verb::Apply
        | Verb::Confirm
        | Verb::Rollback
        | Verb::Batch => SessionError::Unknown,
    }
}
