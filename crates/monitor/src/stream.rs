//! Connects for a probe: from which address, with or without TLS, and how the connection ends.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::seen::{Ended, Seen};
use crate::{Close, LOOKED_AT, Probe, sys, tls};

/// A connection of a probe.
pub(crate) struct Stream {
    inner: Box<dyn ReadWrite>,
    /// How much more of the answer is looked at.
    room: usize,
}

/// What a connection is with TLS and without.
trait ReadWrite: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> ReadWrite for T {}

impl Stream {
    /// Connects as the probe says.
    ///
    /// # Errors
    /// How the probe has ended.
    pub(crate) async fn connect(
        probe: &Probe,
        service: SocketAddr,
        seen: &mut Seen,
    ) -> Result<Self, Ended> {
        let late = "Time out during TCP connection establishment stage";
        seen.waits_for(Ended::failed(late));
        let tcp = open(probe.source, service).await;
        let tcp = tcp.map_err(|error| Ended::failed(refused(&error)))?;
        let lingering = match probe.close {
            Close::Fin => Ok(()),
            // Closing with no time to linger sends a reset. Said now, so that it holds however the
            // probe ends.
            Close::Reset => SockRef::from(&tcp).set_linger(Some(Duration::ZERO)),
        };
        lingering.map_err(|error| Ended::failed(failed(&error)))?;
        let inner: Box<dyn ReadWrite> = if probe.secure {
            seen.waits_for(Ended::failed("Time out during SSL handshake stage"));
            let shaken = tls::shake_hands(tcp, service.ip()).await;
            Box::new(
                shaken.map_err(|error| Ended::failed(format!("SSL handshake failed: {error}")))?,
            )
        } else {
            Box::new(tcp)
        };
        let room = LOOKED_AT;
        Ok(Self { inner, room })
    }

    /// Sends all of it; the time of the probe counts from here.
    ///
    /// # Errors
    /// How the probe has ended.
    pub(crate) async fn send(&mut self, bytes: &[u8], seen: &mut Seen) -> Result<(), Ended> {
        seen.begin();
        seen.sent.add(bytes);
        let written = async {
            self.inner.write_all(bytes).await?;
            self.inner.flush().await
        };
        let written: io::Result<()> = written.await;
        written.map_err(|error| Ended::failed(failed(&error)))
    }

    /// Waits for some of the answer and returns it; empty is its end.
    ///
    /// # Errors
    /// How the probe has ended: the connection failed, or this would be more than is looked at.
    pub(crate) async fn receive<'b>(
        &mut self,
        buffer: &'b mut [u8; PIECE],
        seen: &mut Seen,
    ) -> Result<&'b [u8], Ended> {
        let length = match self.inner.read(buffer).await {
            Ok(length) => length,
            // The other side of TLS may end without saying so.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => 0,
            Err(error) => return Err(Ended::failed(failed(&error))),
        };
        let Some(room) = self.room.checked_sub(length) else {
            let text = format!("Nothing expected in the first {LOOKED_AT} bytes of the answer");
            return Err(Ended::failed(text));
        };
        self.room = room;
        seen.received.add(&buffer[..length]);
        Ok(&buffer[..length])
    }
}

async fn open(source: Option<IpAddr>, service: SocketAddr) -> io::Result<TcpStream> {
    let socket = match service {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    if let Some(source) = source {
        // The port is chosen when the other side is known, so that they do not run out.
        sys::choose_port_when_connecting(&socket)?;
        socket.bind(SocketAddr::new(source, 0))?;
    }
    // What is sent is small and must go at once.
    socket.set_nodelay(true)?;
    socket.connect(service).await
}

fn refused(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::ConnectionRefused => "TCP connection refused".to_owned(),
        ErrorKind::TimedOut => "Time out during TCP connection establishment stage".to_owned(),
        _ => format!("TCP connection failed: {}", reason(error)),
    }
}

fn failed(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => "TCP connection reset".to_owned(),
        _ => format!("TCP connection failed: {}", reason(error)),
    }
}

/// Returns why, without the number that the system has for it.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((text, _)) => text.to_lowercase(),
        None => text,
    }
}

/// What is read at once.
pub(crate) const PIECE: usize = 4096;
