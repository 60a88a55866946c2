//! What a probe does: the typed form of one `lb monitor`, as far as the wire is concerned.

use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// One probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// What it looks at.
    pub check: Check,
    /// `-secure YES`: TLS inside TCP. Of no effect on a check without TCP.
    pub secure: bool,
    /// How its TCP connection ends.
    pub close: Close,
    /// The address it is sent from; the kernel's choice if none. Of no effect on a program.
    pub source: Option<IpAddr>,
}

/// How a probe ends its TCP connection (`-monConnectionClose`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Close {
    /// As everybody does.
    Fin,
    /// By a reset, which leaves nothing to wait for on either side.
    Reset,
}

/// What a probe looks at, by the type of its monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// TCP: whether a connection is accepted.
    Tcp,
    /// PING: whether an echo request is answered.
    Ping,
    /// TCP-ECV: what is answered to a text.
    TcpEcv(TcpEcv),
    /// UDP-ECV: what is answered to a datagram.
    UdpEcv(UdpEcv),
    /// DNS: what is answered to a question, over UDP.
    Dns(DnsQuery),
    /// DNS-TCP: the same over TCP.
    DnsTcp(DnsQuery),
    /// HTTP: with which status a request is answered.
    Http(Http),
    /// HTTP-ECV: with which body a request is answered.
    HttpEcv(HttpEcv),
    /// USER: how a program ends.
    User(Program),
    /// LOAD: what an agent on the server says of it.
    Load,
}

/// A text to send and what to look for in the answer.
///
/// Nothing to send and nothing to look for: a connection is enough. Nothing to look for: any answer
/// is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TcpEcv {
    /// Sent as it is, once connected.
    pub send: Vec<u8>,
    /// Looked for in the answer; empty is anything.
    pub recv: Vec<u8>,
    /// Takes the service out of service when it is found before or together with `recv`.
    pub trofs: Vec<u8>,
}

/// A datagram to send and what to look for in the answer.
///
/// Nothing to look for: an answer passes, silence until the deadline passes as well.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UdpEcv {
    /// Sent as one datagram.
    pub send: Vec<u8>,
    /// Looked for in each answer; empty is anything.
    pub recv: Vec<u8>,
}

/// A question to a name server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DnsQuery {
    /// The name asked for; empty asks for the root, and any answer but SERVFAIL passes.
    pub name: String,
    /// What is asked of it.
    pub query_type: QueryType,
    /// Of these at least one must be in the answer; none accepts any record.
    pub addresses: Vec<IpAddr>,
}

/// What is asked of a name, in the words of `-queryType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryType {
    /// Its IPv4 addresses.
    Address,
    /// Its IPv6 addresses.
    Aaaa,
    /// The start of authority of the zone.
    Zone,
}

/// A request and the statuses that pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Http {
    /// Such as `HEAD /`; what a whole request needs is added.
    pub request: String,
    /// More lines of the head.
    pub headers: String,
    /// The statuses that pass.
    pub codes: Vec<RangeInclusive<u16>>,
}

/// A request and what to look for in the body of the answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpEcv {
    /// Such as `GET /`; what a whole request needs is added, one with an empty line is whole.
    pub send: String,
    /// More lines of the head.
    pub headers: String,
    /// Looked for in the body; empty is any answer.
    pub recv: Vec<u8>,
    /// The status that takes the service out of service.
    pub trofs_code: Option<u16>,
    /// Found in the body, takes the service out of service.
    pub trofs: Vec<u8>,
}

/// A program: run without a shell, with the service's address and port as its first two arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The file.
    pub path: PathBuf,
    /// Further arguments, word by word.
    pub args: Vec<String>,
}
