//! The control socket: accepts clients, one task each, and carries frames between them and the
//! controller.
//!
//! A client cannot hold up the controller or another client: its task alone waits for it, a frame or an
//! answer that stands half finished has a time limit, and the number of clients is bounded. Whatever it
//! sends that is not the protocol gets an error frame and ends the connection.

use std::future::poll_fn;
use std::time::Duration;

use sluice_command::{Fault, catalogue};
use sluice_protocol::{
    DecodeError, FrameBuffer, FrameError, Hello, Reply, Request, VERSION, decode, frame,
};
use thiserror::Error;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::time::{Instant, timeout, timeout_at};

use crate::clients::{Client, Clients};
use crate::descriptors::with_reserve;
use crate::faults;
use crate::queue::Handle;

/// Accepts clients for ever.
pub(crate) async fn serve(listener: UnixListener, controller: Handle) {
    let clients = Clients::default();
    let mut complained: Option<Instant> = None;
    loop {
        // Without a free descriptor the system does not even say whether somebody waits, so the
        // reserve is there from the first try.
        match poll_fn(|context| with_reserve(|| listener.poll_accept(context))).await {
            Ok((stream, _)) => admit(stream, &clients, &controller),
            Err(error) => {
                if complained.is_none_or(|at| at.elapsed() >= COMPLAINT_INTERVAL) {
                    complained = Some(Instant::now());
                    tracing::warn!("cannot accept a client on the control socket: {error}");
                }
                // The waiting client would make this loop spin.
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

fn admit(stream: UnixStream, clients: &Clients, controller: &Handle) {
    let place = clients.admit();
    let controller = controller.clone();
    tokio::spawn(async move {
        let mut conversation = Conversation::new(stream);
        let Some(client) = place else {
            return conversation.refuse(End::Full).await;
        };
        let end = tokio::select! {
            end = conversation.run(&client, &controller) => end,
            () = client.ended() => End::Replaced,
        };
        conversation.refuse(end).await;
    });
}

/// Why a conversation ended.
#[derive(Debug, Error)]
enum End {
    #[error("the client left")]
    Left,
    #[error("the connection failed: {0}")]
    Socket(#[from] std::io::Error),
    #[error("the daemon is shutting down")]
    Shutdown,
    #[error("all clients wait for an answer; try again")]
    Full,
    #[error("another client needed the place of the one that was idle longest")]
    Replaced,
    #[error("user {uid} is neither root nor the user of the daemon")]
    User { uid: u32 },
    #[error("the client speaks version {theirs}, the daemon version {ours}; install the same")]
    Version { theirs: String, ours: &'static str },
    #[error("{0}")]
    Frame(#[from] FrameError),
    #[error("{0}")]
    Message(#[from] DecodeError),
    #[error("the rest of a message did not come within {} s", .0.as_secs())]
    HalfFrame(Duration),
    #[error("the client did not read its answer for {} s", .0.as_secs())]
    NotReading(Duration),
}

impl End {
    /// Returns what the client is told, if it can be told something.
    fn fault(&self) -> Option<Fault> {
        let code = match self {
            Self::Left | Self::Socket(_) | Self::Replaced | Self::NotReading(_) => return None,
            Self::Shutdown => faults::SHUTTING_DOWN,
            Self::Full => catalogue::TOO_MANY_CLIENTS,
            Self::User { .. } => catalogue::NOT_AUTHORIZED,
            Self::Version { .. } | Self::Frame(_) | Self::Message(_) | Self::HalfFrame(_) => {
                faults::PROTOCOL
            }
        };
        Some(Fault::new(code).with_details(self.to_string()))
    }
}

/// The connection of one client.
#[derive(Debug)]
struct Conversation {
    stream: UnixStream,
    received: FrameBuffer,
    /// When the frame that has begun must be whole.
    frame_deadline: Option<Instant>,
}

impl Conversation {
    fn new(stream: UnixStream) -> Self {
        Self {
            stream,
            received: FrameBuffer::new(),
            frame_deadline: None,
        }
    }

    /// Talks until somebody ends it.
    async fn run(&mut self, client: &Client, controller: &Handle) -> End {
        match self.talk(client, controller).await {
            Ok(never) => match never {},
            Err(end) => end,
        }
    }

    async fn talk(
        &mut self,
        client: &Client,
        controller: &Handle,
    ) -> Result<std::convert::Infallible, End> {
        let uid = self.stream.peer_cred()?.uid();
        if uid != 0 && uid != rustix::process::geteuid().as_raw() {
            return Err(End::User { uid });
        }
        self.exchange_hello().await?;
        loop {
            let request: Request = decode(&self.next_frame().await?)?;
            client.is_answered();
            let answer = controller.ask(request, uid).await.ok_or(End::Shutdown)?;
            client.is_waited_for();
            self.send_all(&answer).await?;
        }
    }

    async fn exchange_hello(&mut self) -> Result<(), End> {
        let hello = Hello {
            version: VERSION,
            product: PRODUCT.to_owned(),
        };
        let hello = frame(&hello).expect("a version is far shorter than a frame");
        self.send(&hello).await?;
        self.frame_deadline = Some(Instant::now() + FRAME_LIMIT);
        let theirs: Hello = decode(&self.next_frame().await?)?;
        if theirs.version != VERSION {
            return Err(End::Version {
                theirs: theirs.product.chars().take(PRODUCT_MAX).collect(),
                ours: PRODUCT,
            });
        }
        Ok(())
    }

    /// Reads on until a whole frame is there.
    async fn next_frame(&mut self) -> Result<Vec<u8>, End> {
        let mut chunk = vec![0; CHUNK];
        loop {
            if let Some(body) = self.received.next()? {
                self.frame_deadline = None;
                return Ok(body);
            }
            if !self.received.is_empty() && self.frame_deadline.is_none() {
                self.frame_deadline = Some(Instant::now() + FRAME_LIMIT);
            }
            let read = self.stream.read(&mut chunk);
            let length = match self.frame_deadline {
                Some(deadline) => timeout_at(deadline, read)
                    .await
                    .map_err(|_| End::HalfFrame(FRAME_LIMIT))??,
                None => read.await?,
            };
            if length == 0 {
                return Err(End::Left);
            }
            self.received.push(&chunk[..length]);
        }
    }

    /// Sends a whole answer, many small rows in one write.
    async fn send_all(&mut self, answer: &[Reply]) -> Result<(), End> {
        let mut bytes = Vec::new();
        for reply in answer {
            match frame(reply) {
                Ok(frame) => bytes.extend_from_slice(&frame),
                Err(error) => {
                    let fault = Fault::new(faults::ANSWER_TOO_LONG).with_details(error.to_string());
                    bytes.extend_from_slice(&error_frame(fault));
                    break;
                }
            }
            if bytes.len() >= CHUNK {
                self.send(&bytes).await?;
                bytes.clear();
            }
        }
        self.send(&bytes).await
    }

    async fn send(&mut self, bytes: &[u8]) -> Result<(), End> {
        for piece in bytes.chunks(CHUNK) {
            timeout(WRITE_LIMIT, self.stream.write_all(piece))
                .await
                .map_err(|_| End::NotReading(WRITE_LIMIT))??;
        }
        Ok(())
    }

    /// Logs why the conversation ends, tells the client if that makes sense, and closes.
    async fn refuse(&mut self, end: End) {
        match &end {
            End::Left | End::Shutdown => tracing::debug!("control socket: {end}"),
            End::Socket(_) | End::Replaced => tracing::info!("control socket: {end}"),
            End::Full
            | End::User { .. }
            | End::Version { .. }
            | End::Frame(_)
            | End::Message(_)
            | End::HalfFrame(_)
            | End::NotReading(_) => tracing::warn!("control socket: {end}"),
        }
        if let Some(fault) = end.fault() {
            let error = error_frame(fault);
            // It is told once and not waited for: the connection is over either way.
            let _ = timeout(FAREWELL_LIMIT, self.stream.write_all(&error)).await;
        }
    }
}

fn error_frame(fault: Fault) -> Vec<u8> {
    frame(&Reply::Error(fault)).expect("the texts of this file are far shorter than a frame")
}

/// The daemon's version as a person reads it.
const PRODUCT: &str = env!("CARGO_PKG_VERSION");

/// The longest version of the other side that is repeated in messages.
const PRODUCT_MAX: usize = 64;

/// What is read or written at once.
const CHUNK: usize = 64 * 1024;

/// How long a message may take from its first byte to its last, and the hello from the connect. A
/// machine under full load sends 1 MiB over a Unix socket in well under a second.
const FRAME_LIMIT: Duration = Duration::from_secs(10);

/// How long a client may leave an answer unread; longer than somebody leaves a pager alone by accident
/// would be a leak, since the shell reads answers whole.
const WRITE_LIMIT: Duration = Duration::from_secs(30);

/// How long the last message to a client may take.
const FAREWELL_LIMIT: Duration = Duration::from_secs(1);

/// How long not to accept after accepting failed.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A failure that lasts is logged once in so long.
const COMPLAINT_INTERVAL: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests;
