//! The connection to the daemon: made when first needed, made anew after it was lost.
//!
//! A command whose answer was lost is never sent again: it may have taken effect.

use std::path::PathBuf;

use sluice_command::{Command, Noun};
use sluice_protocol::{Client, ClientError, Event, Outcome, Row};
use thiserror::Error;

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
}

/// A connection to one daemon.
#[derive(Debug)]
pub(crate) struct Session {
    socket: PathBuf,
    client: Option<Client>,
    names: Names,
}

impl Session {
    /// Names the daemon; nothing is connected yet.
    pub(crate) fn new(socket: PathBuf) -> Self {
        Self {
            names: Names::new(socket.clone()),
            socket,
            client: None,
        }
    }

    /// Returns what asks the same daemon for names.
    pub(crate) fn names(&self) -> &Names {
        &self.names
    }

    /// Connects, if there is no connection.
    ///
    /// # Errors
    /// There is no daemon to talk to.
    pub(crate) fn connect(&mut self) -> Result<&mut Client, ClientError> {
        let client = match self.client.take() {
            Some(client) => client,
            None => Client::connect(&self.socket)?,
        };
        Ok(self.client.insert(client))
    }

    /// Drops a connection whose daemon has gone while nobody asked anything, so that the next
    /// command meets the new daemon instead of the end of the old one.
    pub(crate) fn refresh(&mut self) {
        if let Some(mut client) = self.client.take()
            && client.names(Noun::None).is_ok()
        {
            self.client = Some(client);
        }
    }

    /// Runs a command.
    ///
    /// # Errors
    /// There is no daemon, or it did not answer. A refused command is an answer.
    pub(crate) fn run(&mut self, command: &Command) -> Result<Answer, SessionError> {
        let client = self.connect().map_err(SessionError::Unreachable)?;
        let mut rows = Vec::new();
        let mut warnings = Vec::new();
        let ended = client.run(command, &mut |event| match event {
            Event::Row(row) => rows.push(*row),
            Event::Warning(text) => warnings.push(text),
        });
        match ended {
            Ok(outcome) => Ok(Answer {
                rows,
                warnings,
                outcome,
            }),
            Err(error @ ClientError::Request(_)) => Err(SessionError::TooLong(error)),
            Err(error) => {
                self.client = None;
                Err(SessionError::Lost(error))
            }
        }
    }
}
