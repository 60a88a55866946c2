//! The client's side of the control socket, blocking.
//!
//! A [`Client`] whose call failed with a [`ClientError`] is of no further use: what of the answer
//! is still under way cannot be told from the next one, so the connection is closed at once.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use sluice_command::{Command, Fault, Noun};
use thiserror::Error;

use crate::codec::{self, DecodeError, EncodeError, FrameBuffer, FrameError};
use crate::{Hello, Reply, Request, Row, VERSION};

/// Why the daemon could not be asked. All texts name the socket and say what to do about it.
#[derive(Debug, Error)]
pub enum ClientError {
    /// There is no socket, or nobody behind it.
    #[error(
        "no daemon listens on {}; start sluiced, or name its socket with --socket",
        .path.display()
    )]
    NoDaemon {
        /// The socket.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// The socket belongs to somebody else.
    #[error("{} belongs to another user; run as the user that runs sluiced", .path.display())]
    NotAllowed {
        /// The socket.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// Reading or writing the socket failed.
    #[error("cannot talk to the daemon on {}: {source}", .path.display())]
    Socket {
        /// The socket.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// The other side ended the connection.
    #[error("the daemon on {} closed the connection; its log says why", .path.display())]
    Closed {
        /// The socket.
        path: PathBuf,
    },
    /// No answer came.
    #[error("the daemon on {} did not answer for {} s", .path.display(), .waited.as_secs())]
    Silent {
        /// The socket.
        path: PathBuf,
        /// How long it was waited for.
        waited: Duration,
    },
    /// The two sides speak different versions of the protocol.
    #[error(
        "this is version {client} and the daemon on {} is version {daemon}; \
         install the same version of sluice and sluiced", .path.display()
    )]
    Version {
        /// The socket.
        path: PathBuf,
        /// The product version of this side.
        client: String,
        /// The product version of the daemon.
        daemon: String,
    },
    /// The other side speaks something else.
    #[error("what listens on {} does not speak the control protocol: {reason}", .path.display())]
    Foreign {
        /// The socket.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        reason: Foreign,
    },
    /// The request does not fit.
    #[error("the command cannot be sent: {0}")]
    Request(#[source] EncodeError),
}

/// What is wrong with an answer.
#[derive(Debug, Error)]
pub enum Foreign {
    /// Not a frame.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// Not a message.
    #[error(transparent)]
    Message(#[from] DecodeError),
    /// A row that does not answer the question.
    #[error("a row is not what was asked for")]
    Row,
}

/// A part of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A row.
    Row(Box<Row>),
    /// `Warning: text`.
    Warning(String),
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It succeeded.
    Done,
    /// It was refused and changed nothing.
    Error(Fault),
}

/// A connection to the daemon.
#[derive(Debug)]
pub struct Client {
    path: PathBuf,
    stream: UnixStream,
    frames: FrameBuffer,
    daemon: String,
}

impl Client {
    /// Connects and exchanges versions.
    ///
    /// # Errors
    /// Nobody listens, the socket is not ours, the versions differ, or what listens is no daemon.
    pub fn connect(path: impl AsRef<Path>) -> Result<Self, ClientError> {
        let path = path.as_ref().to_owned();
        let stream = UnixStream::connect(&path).map_err(|error| connect_error(&path, error))?;
        let mut client = Self {
            path,
            stream,
            frames: FrameBuffer::new(),
            daemon: String::new(),
        };
        client.greet()?;
        Ok(client)
    }

    /// Returns the daemon's product version.
    pub fn daemon(&self) -> &str {
        &self.daemon
    }

    /// Runs a command; rows and warnings go to `on` as they arrive.
    ///
    /// # Errors
    /// The connection failed, and whether the command took effect is not known. A refused command
    /// is no error but [`Outcome::Error`].
    pub fn run(
        &mut self,
        command: &Command,
        on: &mut dyn FnMut(Event),
    ) -> Result<Outcome, ClientError> {
        self.ask(&Request::Run(command.clone()), on)
    }

    /// Lists the names of all objects of a noun, for completion. A daemon that refuses has none.
    ///
    /// # Errors
    /// The connection failed.
    pub fn names(&mut self, noun: Noun) -> Result<Vec<String>, ClientError> {
        let mut names = Vec::new();
        let mut strange = false;
        self.ask(&Request::Names(noun), &mut |event| match event {
            Event::Row(row) => {
                if let Row::Name(name) = *row {
                    names.push(name);
                } else {
                    strange = true;
                }
            }
            Event::Warning(_) => {}
        })?;
        if strange {
            return Err(self.foreign(Foreign::Row));
        }
        Ok(names)
    }

    fn greet(&mut self) -> Result<(), ClientError> {
        self.wait_at_most(HELLO_WAIT)?;
        let hello = Hello {
            version: VERSION,
            product: PRODUCT.to_owned(),
        };
        self.send(&hello)?;
        let theirs: Hello = self.receive(HELLO_WAIT)?;
        if theirs.version != VERSION {
            return Err(ClientError::Version {
                path: self.path.clone(),
                client: PRODUCT.to_owned(),
                daemon: theirs.product,
            });
        }
        self.daemon = theirs.product;
        self.wait_at_most(ANSWER_WAIT)
    }

    fn ask(
        &mut self,
        request: &Request,
        on: &mut dyn FnMut(Event),
    ) -> Result<Outcome, ClientError> {
        let outcome = self.send(request).and_then(|()| self.answer(on));
        // A request that was never written leaves the connection in step.
        if outcome
            .as_ref()
            .is_err_and(|error| !matches!(error, ClientError::Request(_)))
        {
            self.close();
        }
        outcome
    }

    fn answer(&mut self, on: &mut dyn FnMut(Event)) -> Result<Outcome, ClientError> {
        loop {
            match self.receive(ANSWER_WAIT)? {
                Reply::Row(row) => on(Event::Row(row)),
                Reply::Warning(text) => on(Event::Warning(text)),
                Reply::Done => return Ok(Outcome::Done),
                Reply::Error(fault) => return Ok(Outcome::Error(fault)),
            }
        }
    }

    fn send<T: Serialize>(&mut self, message: &T) -> Result<(), ClientError> {
        let frame = codec::frame(message).map_err(ClientError::Request)?;
        self.stream
            .write_all(&frame)
            .map_err(|error| self.socket_error(error, ANSWER_WAIT))
    }

    fn receive<T: DeserializeOwned>(&mut self, wait: Duration) -> Result<T, ClientError> {
        let mut chunk = [0; READ];
        loop {
            match self.frames.next() {
                Ok(Some(body)) => {
                    return codec::decode(&body).map_err(|error| self.foreign(error.into()));
                }
                Ok(None) => {}
                Err(error) => return Err(self.foreign(error.into())),
            }
            match self.stream.read(&mut chunk) {
                Ok(0) => return Err(self.closed()),
                Ok(length) => self.frames.push(&chunk[..length]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.socket_error(error, wait)),
            }
        }
    }

    fn wait_at_most(&self, wait: Duration) -> Result<(), ClientError> {
        self.stream
            .set_read_timeout(Some(wait))
            .and_then(|()| self.stream.set_write_timeout(Some(wait)))
            .map_err(|error| self.socket_error(error, wait))
    }

    fn close(&mut self) {
        // Closing what the daemon has closed already fails, and is just as closed.
        let _ = self.stream.shutdown(Shutdown::Both);
        self.frames = FrameBuffer::new();
    }

    fn closed(&self) -> ClientError {
        ClientError::Closed {
            path: self.path.clone(),
        }
    }

    fn foreign(&mut self, reason: Foreign) -> ClientError {
        self.close();
        ClientError::Foreign {
            path: self.path.clone(),
            reason,
        }
    }

    fn socket_error(&self, error: io::Error, waited: Duration) -> ClientError {
        let path = self.path.clone();
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                ClientError::Silent { path, waited }
            }
            io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::NotConnected => ClientError::Closed { path },
            _ => ClientError::Socket {
                path,
                source: error,
            },
        }
    }
}

fn connect_error(path: &Path, source: io::Error) -> ClientError {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
            ClientError::NoDaemon { path, source }
        }
        io::ErrorKind::PermissionDenied => ClientError::NotAllowed { path, source },
        _ => ClientError::Socket { path, source },
    }
}

/// The product version of this side.
const PRODUCT: &str = env!("CARGO_PKG_VERSION");

/// A daemon answers the greeting from a task that does nothing else.
const HELLO_WAIT: Duration = Duration::from_secs(5);

/// The longest silence in an answer: a save to a slow disk behind a queue of other commands.
const ANSWER_WAIT: Duration = Duration::from_secs(60);

const READ: usize = 16 * 1024;

#[cfg(test)]
mod tests;
