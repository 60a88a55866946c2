//! Waits for a client's first bytes, where its service is chosen by a token in them.
//!
//! Owns how long a client is waited for, and what its bytes mean. They are looked at where they are, in
//! the client's socket, and stay there for the service. A client that is waited for has no service yet,
//! takes no worker's time and holds nobody up.
//!
//! ```text
//!   Unasked -- the method looks at no bytes -----------------------------> Settled: choose
//!      |
//!      +--> Awaited -- the token is there -------------------------------> Settled: choose by it
//!             |  ^  +- no more will come, or TOKEN_LIMIT has passed -----> Settled: choose without
//!             +--+  +- the client has left without a byte, or reset -----> closed
//! ```

use std::os::fd::AsFd;
use std::time::Duration;

use rustix::io::Errno;
use sluice_balance::{CloseReason, Instant, Token, TokenRange};

use super::TcpSide;
use super::completion::IN;
use super::connect::register;
use super::flow::Stage;
use super::in_flight::Started;
use crate::reactor::Reactor;
use crate::token::TCP_CLIENT;

/// Whether a choice waits for the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirstBytes {
    /// The engine has not said yet whether it has to.
    Unasked,
    /// It does.
    Awaited(Wait),
    /// Not any more, or never.
    Settled,
}

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wait {
    range: TokenRange,
    until: Instant,
}

/// What the bytes that are there mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// They say who the client is.
    Token(Token),
    /// They never will.
    Without,
    /// They may yet.
    Wait,
    /// The client wants nothing.
    Gone,
}

impl Wait {
    fn new(range: TokenRange, now: Instant) -> Self {
        Self {
            range,
            until: now + TOKEN_LIMIT,
        }
    }

    /// Judges `bytes`, all that the client has sent so far; `ended` says that it will send no more.
    fn judge(&self, bytes: &[u8], ended: bool, now: Instant) -> Verdict {
        match self.range.find(bytes) {
            Some(token) => Verdict::Token(token),
            None if ended && bytes.is_empty() => Verdict::Gone,
            None if ended || now >= self.until => Verdict::Without,
            None => Verdict::Wait,
        }
    }
}

impl TcpSide {
    /// Begins to wait for the token of a flow that was accepted just now; returns whether its service
    /// can be chosen at once.
    pub(super) fn await_token(
        &mut self,
        reactor: &mut Reactor,
        index: usize,
        range: TokenRange,
        now: Instant,
    ) -> bool {
        let flow = &mut self.flows[index];
        let Stage::Connecting(connecting) = &mut flow.stage else {
            return false;
        };
        let wait = Wait::new(range, now);
        connecting.first_bytes = FirstBytes::Awaited(wait);
        if self.look_for_token(reactor, index, now) {
            return true;
        }
        let flow = &mut self.flows[index];
        let Stage::Connecting(connecting) = &mut flow.stage else {
            return false;
        };
        // What came between the look and this raises an event.
        if let Some(ring) = &mut reactor.ring {
            // Each change is told once, as by epoll.
            if let Some(key) = flow.in_flight.start(Started::FirstBytes, index) {
                ring.poll(connecting.client.as_fd(), IN, true, key);
            }
        } else if register(reactor, &connecting.client, index, TCP_CLIENT).is_err() {
            self.pause_accepting(Errno::NOMEM, now);
            self.close(reactor, index, true, CloseReason::Local, now);
            return false;
        }
        connecting.registered = reactor.ring.is_none();
        self.timers.arm(&mut flow.timer, index, wait.until);
        false
    }

    /// Looks at what a client that is waited for has sent, and chooses its service if that can be.
    pub(super) fn handle_first_bytes(&mut self, reactor: &mut Reactor, index: usize, now: Instant) {
        if self.look_for_token(reactor, index, now) {
            self.connect(reactor, index, now);
        }
    }

    /// Settles whether a flow has a token, if that shows by now; returns whether it has settled it.
    fn look_for_token(&mut self, reactor: &mut Reactor, index: usize, now: Instant) -> bool {
        let Stage::Connecting(connecting) = &mut self.flows[index].stage else {
            return false;
        };
        let FirstBytes::Awaited(wait) = connecting.first_bytes else {
            return false;
        };
        let ended = connecting.client_ready.ended;
        let verdict = match self.io.peek(&connecting.client, wait.range.needs()) {
            Ok([]) => wait.judge(&[], true, now),
            Ok(bytes) => wait.judge(bytes, ended, now),
            Err(Errno::AGAIN) => wait.judge(&[], false, now),
            Err(_) => Verdict::Gone,
        };
        match verdict {
            Verdict::Token(token) => connecting.key.token = Some(token),
            Verdict::Without => {}
            Verdict::Wait => return false,
            Verdict::Gone => {
                self.close(reactor, index, true, CloseReason::ClientReset, now);
                return false;
            }
        }
        connecting.first_bytes = FirstBytes::Settled;
        true
    }
}

/// How long a client is waited for.
///
/// Source: own choice: clients that speak first do so within a round trip; one that waits for the
/// service's first word loses this once.
const TOKEN_LIMIT: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(milliseconds: u64) -> Instant {
        Instant::from_nanos(milliseconds * 1_000_000)
    }

    #[test]
    fn token_is_waited_for_until_it_is_there_or_cannot_come() {
        let wait = Wait::new(TokenRange::new(1, 2).unwrap(), at(10));
        let (last, over) = (at(1_009), at(1_010));
        let token = Verdict::Token(Token::of(b"bc"));
        for (bytes, ended, now, verdict) in [
            (&b""[..], false, at(10), Verdict::Wait),
            (b"ab", false, last, Verdict::Wait),
            (b"abc", false, at(10), token),
            (b"abcd", true, over, token),
            (b"ab", true, at(10), Verdict::Without),
            (b"ab", false, over, Verdict::Without),
            (b"", false, over, Verdict::Without),
            (b"", true, at(10), Verdict::Gone),
            (b"", true, over, Verdict::Gone),
        ] {
            assert_eq!(wait.judge(bytes, ended, now), verdict, "{bytes:?} {ended}");
        }
    }
}
