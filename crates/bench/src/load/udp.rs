//! Datagrams that an echo sends back, in batches of system calls.
//!
//! Every datagram begins with when it was sent, in nanoseconds of the run, so that its answer tells
//! its time. With a window, each flow has so many under way, and what has no answer after 0.1 s is
//! lost; at a rate, what has no answer 0.2 s after the end is lost.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use nix::sys::socket::{MsgFlags, MultiHeaders, SockaddrStorage, recvmmsg, sendmmsg};
use socket2::SockRef;

use super::Period;
use super::poll::{Interest, Poll};
use super::sample::{Sample, Times};

/// What to send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) flows: usize,
    /// Bytes of a datagram, at least 8.
    pub(crate) size: usize,
    pub(crate) seconds: f64,
    pub(crate) pace: Pace,
}

/// How fast.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pace {
    /// So many datagrams of each flow under way.
    Window(usize),
    /// So many datagrams per second over all flows.
    Rate(u64),
}

/// Runs the plan.
///
/// # Errors
/// When a socket cannot be made.
pub(crate) fn run(address: SocketAddr, plan: &Plan) -> io::Result<Sample> {
    let mut client = Client::new(address, plan)?;
    match plan.pace {
        Pace::Window(window) => client.run_window(window)?,
        Pace::Rate(rate) => client.run_rate(rate)?,
    }
    Ok(client.sample())
}

/// Lets a socket hold what a burst brings, as far as the system allows.
pub(crate) fn set_buffers(socket: &socket2::Socket) {
    // As root beyond the system's limit; else up to it. Less is a slower peer, not an error.
    use nix::sys::socket::{setsockopt, sockopt};
    if setsockopt(socket, sockopt::RcvBufForce, &SOCKET_BUFFER).is_err() {
        let _ = socket.set_recv_buffer_size(SOCKET_BUFFER);
    }
    if setsockopt(socket, sockopt::SndBufForce, &SOCKET_BUFFER).is_err() {
        let _ = socket.set_send_buffer_size(SOCKET_BUFFER);
    }
}

/// Room for a batch of datagrams.
pub(crate) struct Batch {
    buffers: Vec<Vec<u8>>,
    /// One for each way: sending leaves pointers behind that receiving must not follow.
    receiving: MultiHeaders<SockaddrStorage>,
    sending: MultiHeaders<SockaddrStorage>,
}

impl Batch {
    pub(crate) fn new() -> Self {
        Self {
            buffers: vec![vec![0; 2048]; BATCH],
            receiving: MultiHeaders::preallocate(BATCH, None),
            sending: MultiHeaders::preallocate(BATCH, None),
        }
    }

    /// Receives what is there; returns length and sender of each.
    fn receive(&mut self, socket: &UdpSocket) -> Vec<(usize, Option<SockaddrStorage>)> {
        let mut slices: Vec<_> = self
            .buffers
            .iter_mut()
            .map(|b| [IoSliceMut::new(b)])
            .collect();
        let fd = socket.as_raw_fd();
        let flags = MsgFlags::MSG_DONTWAIT;
        match recvmmsg(fd, &mut self.receiving, slices.iter_mut(), flags, None) {
            Ok(messages) => messages.map(|m| (m.bytes, m.address)).collect(),
            Err(_) => Vec::new(),
        }
    }

    /// Sends the buffers, each with its length and receiver; returns how many the system took.
    fn send(&mut self, socket: &UdpSocket, to: &[(usize, Option<SockaddrStorage>)]) -> usize {
        let filled = self.buffers.iter().zip(to);
        let slices: Vec<_> = filled
            .map(|(b, (len, _))| [IoSlice::new(&b[..*len])])
            .collect();
        let addresses: Vec<_> = to.iter().map(|(_, address)| *address).collect();
        let (fd, flags) = (socket.as_raw_fd(), MsgFlags::MSG_DONTWAIT);
        let sent = sendmmsg(fd, &mut self.sending, &slices, addresses, [], flags);
        sent.map_or(0, Iterator::count)
    }

    /// Sends back one batch of what has come; what does not fit is lost, as datagrams are.
    pub(crate) fn echo(&mut self, socket: &UdpSocket) {
        let received = self.receive(socket);
        if !received.is_empty() {
            self.send(socket, &received);
        }
    }
}

/// One flow.
struct Flow {
    socket: UdpSocket,
    under_way: usize,
    last: Instant,
}

struct Client {
    plan: Plan,
    poll: Poll,
    flows: Vec<Flow>,
    batch: Batch,
    period: Period,
    times: Times,
    sent: u64,
    sent_counted: u64,
    answered: u64,
    lost: u64,
    errors: u64,
}

impl Client {
    fn new(address: SocketAddr, plan: &Plan) -> io::Result<Self> {
        let poll = Poll::new()?;
        let mut flows = Vec::with_capacity(plan.flows);
        for number in 0..plan.flows {
            let socket = UdpSocket::bind("0.0.0.0:0")?;
            if plan.flows <= 16 {
                let _ = SockRef::from(&socket).set_recv_buffer_size(SOCKET_BUFFER);
            }
            socket.connect(address)?;
            socket.set_nonblocking(true)?;
            poll.add(&socket, number as u64, Interest::Read)?;
            flows.push(Flow {
                socket,
                under_way: 0,
                last: Instant::now(),
            });
        }
        Ok(Self {
            plan: *plan,
            poll,
            flows,
            batch: Batch::new(),
            period: Period::begin(plan.seconds),
            times: Times::new(),
            sent: 0,
            sent_counted: 0,
            answered: 0,
            lost: 0,
            errors: 0,
        })
    }

    fn run_window(&mut self, window: usize) -> io::Result<()> {
        for number in 0..self.flows.len() {
            self.fill(number, window);
        }
        let mut looked = Instant::now();
        while Instant::now() < self.period.until {
            for ready in self.poll.wait(Duration::from_millis(5))? {
                let number = usize::try_from(ready.number).expect("a flow's number");
                self.receive(number);
                self.fill(number, window);
            }
            if looked.elapsed() > LOST_AFTER / 2 {
                looked = Instant::now();
                self.replace_lost(window);
            }
        }
        Ok(())
    }

    fn run_rate(&mut self, rate: u64) -> io::Result<()> {
        let mut next: u64 = 0;
        let due = |next: u64| Duration::from_nanos(next.saturating_mul(1_000_000_000) / rate);
        while Instant::now() < self.period.until {
            let passed = self.period.start.elapsed();
            let mut now_due = 0;
            while due(next + now_due) <= passed && now_due < 256 {
                now_due += 1;
            }
            self.send_paced(next, now_due);
            next += now_due;
            let left = due(next).saturating_sub(self.period.start.elapsed());
            let limit = if left < Duration::from_millis(1) {
                Duration::ZERO
            } else {
                left
            };
            self.receive_ready(limit)?;
        }
        while Instant::now() < self.period.until + LOST_AFTER * 2 {
            self.receive_ready(Duration::from_millis(20))?;
        }
        self.lost = self.sent_counted.saturating_sub(self.times.count());
        Ok(())
    }

    /// Sends the datagrams from number `first` on, each on the flow whose turn it is.
    fn send_paced(&mut self, first: u64, count: u64) {
        if self.flows.len() == 1 {
            let mut left = usize::try_from(count).expect("at most 256");
            while left > 0 {
                let part = left.min(BATCH);
                self.send(0, part);
                left -= part;
            }
            return;
        }
        for turn in first..first + count {
            let flows = self.flows.len() as u64;
            self.send(
                usize::try_from(turn % flows).expect("less than the flows"),
                1,
            );
        }
    }

    fn receive_ready(&mut self, limit: Duration) -> io::Result<()> {
        for ready in self.poll.wait(limit)? {
            self.receive(usize::try_from(ready.number).expect("a flow's number"));
        }
        Ok(())
    }

    /// Sends until `window` datagrams of the flow are under way, one batch at most.
    fn fill(&mut self, number: usize, window: usize) {
        let missing = window.saturating_sub(self.flows[number].under_way);
        self.send(number, missing.min(BATCH));
    }

    fn send(&mut self, number: usize, count: usize) {
        if count == 0 {
            return;
        }
        let now = Instant::now();
        let nanos = u64::try_from((now - self.period.start).as_nanos()).unwrap_or(u64::MAX);
        for buffer in &mut self.batch.buffers[..count] {
            buffer[..8].copy_from_slice(&nanos.to_be_bytes());
        }
        let flow = &mut self.flows[number];
        let to = vec![(self.plan.size, None); count];
        let sent = self.batch.send(&flow.socket, &to);
        flow.under_way += sent;
        flow.last = now;
        self.errors += (count - sent) as u64;
        self.sent += sent as u64;
        if self.period.counts(now) {
            self.sent_counted += sent as u64;
        }
    }

    fn receive(&mut self, number: usize) {
        let flow = &mut self.flows[number];
        let received = self.batch.receive(&flow.socket);
        let passed = self.period.start.elapsed();
        flow.under_way = flow.under_way.saturating_sub(received.len());
        self.answered += received.len() as u64;
        for ((len, _), buffer) in received.iter().zip(&self.batch.buffers) {
            let Some(stamp) = buffer[..*len].first_chunk() else {
                self.errors += 1;
                continue;
            };
            let sent = Duration::from_nanos(u64::from_be_bytes(*stamp));
            if self.period.counts(self.period.start + sent) {
                self.times.add(passed.saturating_sub(sent));
            }
        }
    }

    /// Gives up what has had no answer for long, and sends others in its place.
    fn replace_lost(&mut self, window: usize) {
        for number in 0..self.flows.len() {
            let flow = &mut self.flows[number];
            if flow.under_way > 0 && flow.last.elapsed() > LOST_AFTER {
                self.lost += flow.under_way as u64;
                flow.under_way = 0;
                self.fill(number, window);
            }
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of a few seconds")]
    fn sample(&self) -> Sample {
        let sent = match self.plan.pace {
            Pace::Window(_) => self.sent,
            Pace::Rate(_) => self.sent_counted,
        };
        Sample {
            rate: self.times.count() as f64 / self.period.seconds(),
            operations: self.answered,
            p50_us: self.times.quantile_us(0.5),
            p99_us: self.times.quantile_us(0.99),
            errors: self.errors,
            loss_percent: 100.0 * self.lost as f64 / sent.max(1) as f64,
        }
    }
}

/// Datagrams per system call.
const BATCH: usize = 64;
/// When an answer is taken as lost.
const LOST_AFTER: Duration = Duration::from_millis(100);
/// Bytes of a socket's buffer.
const SOCKET_BUFFER: usize = 8 << 20;
