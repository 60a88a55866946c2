//! A worker: one thread with its own loop. Borrows its listening sockets, owns its flows.
//!
//! Messages of the controller come through a mailbox, each with a place to answer; the controller
//! waits for the answers, so at most one message is in a mailbox.

use core::net::SocketAddr;
use std::io;
use std::net::{TcpListener, UdpSocket};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use mio::Waker;
use sluice_balance::{CloseFlows, Instant, VserverId};

use crate::clock;
use crate::driver::Driver;
use crate::flow_rows::{Part, Place};
use crate::reactor::{Reactor, Round};
use crate::shared::Shared;
use crate::tcp::TcpSide;
use crate::token::{UDP_LISTENER, UDP_SESSION, WAKER, tag, token};
use crate::udp::UdpSide;

/// A socket to listen at.
#[derive(Clone, Debug)]
pub(crate) enum Socket {
    /// Connections queue here.
    Tcp(Arc<TcpListener>),
    /// Datagrams arrive here.
    Udp(Arc<UdpSocket>),
}

/// What the controller asks of a worker.
#[derive(Clone, Debug)]
pub(crate) enum Message {
    /// Serve this address.
    Open(VserverId, SocketAddr, Socket),
    /// Let the sockets of this virtual server go.
    Close(VserverId),
    /// Show the flows from a place on.
    List(Place, Sender<Part>),
    /// Reset these flows.
    CloseFlows(CloseFlows),
    /// Let these UDP sessions leave their service.
    MoveFlows(CloseFlows),
    /// Let all TCP listening sockets go.
    Drain,
    /// Reset all flows and end the thread.
    Stop,
}

/// The controller's end of a worker.
#[derive(Debug)]
pub(crate) struct Handle {
    mailbox: Sender<(Message, Sender<()>)>,
    waker: Waker,
    flows: Arc<AtomicUsize>,
    thread: JoinHandle<()>,
}

impl Handle {
    /// Posts `message`; the worker answers through `done` when it has done it.
    pub(crate) fn post(&self, message: Message, done: Sender<()>) {
        // Neither fails while the thread lives, and its panic ends the process.
        if self.mailbox.send((message, done)).is_err() {
            tracing::error!("a worker has ended before its controller");
        }
        if let Err(error) = self.waker.wake() {
            tracing::error!(%error, "cannot wake a worker");
        }
    }

    /// Returns how many flows the worker had at the end of its last round.
    pub(crate) fn flows(&self) -> usize {
        self.flows.load(Ordering::Relaxed)
    }

    /// Waits for the thread to end, after `Stop`.
    pub(crate) fn join(self) {
        // A worker that panics ends the process, so there is no other result.
        let _ = self.thread.join();
    }
}

/// Starts the worker with the number `number`.
///
/// # Errors
/// When the thread, its poll or its waker cannot be made.
pub(crate) fn start(shared: &Arc<Shared>, driver: Driver, number: usize) -> io::Result<Handle> {
    let (mailbox, messages) = channel();
    let flows = Arc::new(AtomicUsize::new(0));
    let (shared, counted) = (Arc::clone(shared), Arc::clone(&flows));
    let (report, made) = channel();
    let thread = std::thread::Builder::new()
        .name(format!("worker-{number}"))
        .spawn(move || {
            let (mut worker, waker) = match make(&shared, driver, number, messages, counted) {
                Ok(made) => made,
                Err(error) => {
                    // `start` waits for it.
                    let _ = report.send(Err(error));
                    return;
                }
            };
            let _ = report.send(Ok(waker));
            run_or_abort(number, || worker.run());
        })?;
    let waker = made.recv().map_err(io::Error::other)??;
    Ok(Handle {
        mailbox,
        waker,
        flows,
        thread,
    })
}

/// Makes a worker on its own thread: when a ring is closed, the kernel interrupts the calls of the thread that has
/// made it.
fn make(
    shared: &Arc<Shared>,
    driver: Driver,
    number: usize,
    messages: Receiver<(Message, Sender<()>)>,
    flows: Arc<AtomicUsize>,
) -> io::Result<(Worker, Waker)> {
    let reactor = Reactor::new(driver)?;
    reactor.enable()?;
    let waker = Waker::new(reactor.registry(), token(0, WAKER))?;
    let worker = Worker {
        reactor,
        messages,
        flows,
        tcp: TcpSide::new(Arc::clone(shared)),
        udp: UdpSide::new(Arc::clone(shared), number)?,
        stopping: false,
    };
    Ok((worker, waker))
}

/// Without one worker the kernel would go on giving it its share of the clients, which then wait for
/// ever; a process that ends is restarted.
fn run_or_abort(number: usize, run: impl FnOnce() -> io::Result<()>) {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(())) => return,
        Ok(Err(error)) => tracing::error!(number, %error, "a worker cannot wait for events"),
        Err(_) => tracing::error!(number, "a worker has panicked"),
    }
    std::process::abort();
}

struct Worker {
    reactor: Reactor,
    messages: Receiver<(Message, Sender<()>)>,
    flows: Arc<AtomicUsize>,
    tcp: TcpSide,
    udp: UdpSide,
    stopping: bool,
}

impl Worker {
    fn run(&mut self) -> io::Result<()> {
        let mut round = Round::new(EVENTS);
        while !self.stopping {
            self.reactor.wait(self.timeout(), &mut round)?;
            self.handle_round(&mut round, clock::now());
        }
        // What is in flight keeps sockets open, and a reset is sent when they close.
        for _ in 0..LAST_ROUNDS {
            if self.tcp.is_empty() {
                break;
            }
            self.reactor.wait(Some(LAST_ROUND), &mut round)?;
            self.handle_round(&mut round, clock::now());
        }
        Ok(())
    }

    fn timeout(&self) -> Option<Duration> {
        let next = [self.tcp.poll_timeout(), self.udp.poll_timeout()];
        let next = next.into_iter().flatten().min()?;
        if next == Instant::from_nanos(0) {
            return Some(Duration::ZERO);
        }
        Some(sleep_for(next.duration_since(clock::now())))
    }

    fn handle_round(&mut self, round: &mut Round, now: Instant) {
        let mut mail = false;
        for ended in round.ended.drain(..) {
            self.tcp.handle_completion(&mut self.reactor, ended, now);
        }
        for event in &round.events {
            match tag(event.token()) {
                WAKER => mail = true,
                UDP_LISTENER | UDP_SESSION => {
                    self.udp
                        .handle_event(self.reactor.registry(), event.token(), now);
                }
                _ => self.tcp.handle_event(&mut self.reactor, event, now),
            }
        }
        let mut answers = Vec::new();
        if mail {
            while let Ok((message, done)) = self.messages.try_recv() {
                self.handle_message(message, now);
                answers.push(done);
            }
        }
        self.tcp.handle_timeout(&mut self.reactor, now);
        self.udp.handle_timeout(self.reactor.registry(), now);
        self.flows
            .store(self.tcp.flows() + self.udp.flows(), Ordering::Relaxed);
        for done in answers {
            // A controller that no longer waits needs no answer.
            let _ = done.send(());
        }
    }

    fn handle_message(&mut self, message: Message, now: Instant) {
        let reactor = &mut self.reactor;
        match message {
            Message::Open(vserver, address, socket) => {
                let opened = match socket {
                    Socket::Tcp(socket) => {
                        self.tcp.open_listener(reactor, vserver, address, socket)
                    }
                    Socket::Udp(socket) => {
                        self.udp
                            .open_listener(reactor.registry(), vserver, address, socket)
                    }
                };
                if let Err(error) = opened {
                    tracing::error!(vserver = vserver.0, %address, %error, "cannot serve");
                }
            }
            Message::Close(vserver) => {
                self.tcp.close_listener(reactor, vserver);
                self.udp.close_listener(reactor.registry(), vserver, now);
            }
            Message::List(place, to) => {
                // A controller that no longer waits needs no rows.
                let _ = to.send(self.list(place, now));
            }
            Message::CloseFlows(which) => self.close_flows(which, now),
            Message::MoveFlows(which) => self.udp.move_flows(which, now),
            Message::Drain => {
                self.tcp.drain(reactor, now);
                self.udp.drain(now);
            }
            Message::Stop => {
                self.close_flows(ALL, now);
                self.stopping = true;
            }
        }
    }

    /// Shows a part of the flows: connections first, then sessions.
    fn list(&self, place: Place, now: Instant) -> Part {
        match place {
            Place::Tcp(from) => {
                let (rows, next) = self.tcp.list(from, now);
                (rows, Some(next.map_or(Place::Udp(0), Place::Tcp)))
            }
            Place::Udp(from) => {
                let (rows, next) = self.udp.list(from, now);
                (rows, next.map(Place::Udp))
            }
        }
    }

    fn close_flows(&mut self, which: CloseFlows, now: Instant) {
        self.tcp.close_flows(&mut self.reactor, which, now);
        self.udp.close_flows(self.reactor.registry(), which, now);
    }
}

/// Returns how long to sleep when something is due after `wait`: thousands of timers that are due one after the
/// other, as 5 s after thousands of connects, are not to wake the worker for each.
fn sleep_for(wait: Duration) -> Duration {
    if wait.is_zero() {
        wait
    } else {
        wait.max(LEAST_SLEEP)
    }
}

const ALL: CloseFlows = CloseFlows {
    vserver: None,
    dialled: None,
    service: None,
};

/// How long the flows that `Stop` resets have to end what they have in flight; they take one round.
const LAST_ROUNDS: usize = 20;
const LAST_ROUND: Duration = Duration::from_millis(50);

/// The shortest limit of a flow is a second, and acknowledgements are asked for every 5 ms at most.
const LEAST_SLEEP: Duration = Duration::from_millis(5);

/// Enough that a busy worker asks for events seldom; a round of all of them stays in the milliseconds.
const EVENTS: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worker_sleeps_past_timers_that_are_close_to_each_other() {
        let millis = Duration::from_millis;
        let sleeps = [0, 1, 5, 6, 1000].map(|wait| sleep_for(millis(wait)));
        assert_eq!(sleeps, [0, 5, 5, 6, 1000].map(millis));
    }
}
