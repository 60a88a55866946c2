//! Seeded sequences against a model of the kernel: bytes are counts, events are edges.

use super::super::*;

/// One socket of the relay and the peer behind it, as Linux keeps them.
#[derive(Default)]
struct Socket {
    /// What the peer has sent in all, and what waits to be read.
    sent: usize,
    inbox: usize,
    fin: bool,
    /// Set by a reset, used up by the call that reports it.
    error: Option<Failure>,
    is_reset: bool,
    /// What the relay has written and the peer has not taken, and what the peer has taken.
    outbox: usize,
    taken: usize,
    fin_written: bool,
    fin_taken: bool,
    /// A write found the outbox full: taking raises an event.
    no_space: bool,
    edge: Ready,
}

impl Socket {
    fn send(&mut self, bytes: usize) {
        if !self.fin && !self.is_reset {
            self.sent += bytes;
            self.inbox += bytes;
            self.edge.readable = true;
        }
    }

    fn finish(&mut self) {
        if !self.is_reset {
            self.fin = true;
            self.edge.merge(Ready {
                readable: true,
                ended: true,
                ..Ready::default()
            });
        }
    }

    fn reset(&mut self) {
        if !self.is_reset {
            self.is_reset = true;
            self.error = Some(if self.fin {
                Failure::Broken
            } else {
                Failure::Reset
            });
            self.outbox = 0;
            self.edge = Ready {
                readable: true,
                writable: true,
                ended: true,
                failed: true,
                urgent: false,
            };
        }
    }

    fn take(&mut self, bytes: usize) {
        let bytes = bytes.min(self.outbox);
        self.outbox -= bytes;
        self.taken += bytes;
        self.fin_taken |= self.fin_written && self.outbox == 0;
        if self.no_space && bytes > 0 {
            self.no_space = false;
            self.edge.writable = true;
        }
    }

    fn read(&mut self, most: usize) -> Outcome {
        if self.inbox > 0 {
            let bytes = self.inbox.min(most);
            self.inbox -= bytes;
            return Outcome::Moved(bytes);
        }
        if self.fin {
            return Outcome::Ended;
        }
        match self.error.take() {
            Some(failure) => Outcome::Failed(failure),
            None if self.is_reset => Outcome::Ended,
            None => Outcome::Again,
        }
    }

    fn write(&mut self, bytes: usize) -> Outcome {
        assert!(!self.fin_written, "write after FIN");
        if self.is_reset {
            return Outcome::Failed(self.error.take().unwrap_or(Failure::Broken));
        }
        let bytes = bytes.min(OUTBOX - self.outbox);
        if bytes == 0 {
            self.no_space = true;
            return Outcome::Again;
        }
        self.outbox += bytes;
        Outcome::Moved(bytes)
    }
}

struct Model {
    relay: Relay,
    sockets: [Socket; 2],
    /// What the driver holds for each direction, and whether it is in a pipe.
    held: [usize; 2],
    piped: [bool; 2],
    now: Instant,
    last: Option<Op>,
    pipes: bool,
    seed: u64,
}

impl Model {
    fn new(seed: u64, idle: Option<Duration>) -> Self {
        let now = Instant::from_nanos(1_000_000_000);
        Self {
            relay: Relay::new(idle, now),
            sockets: Default::default(),
            held: [0; 2],
            piped: [false; 2],
            now,
            last: None,
            pipes: !seed.is_multiple_of(5),
            seed,
        }
    }

    fn deliver_events(&mut self) {
        for side in Side::BOTH {
            let edge = std::mem::take(&mut self.sockets[side as usize].edge);
            if edge != Ready::default() {
                self.relay.handle_ready(side, edge, self.now);
            }
        }
    }

    /// Carries out at most `budget` operations.
    fn run(&mut self, budget: usize) -> usize {
        for done in 0..budget {
            let Some(op) = self.relay.poll_op() else {
                return done;
            };
            assert_eq!(
                self.last, None,
                "seed {}: {op:?} after the last one",
                self.seed
            );
            let outcome = self.carry_out(op);
            self.relay.handle_done(op, outcome, self.now);
        }
        budget
    }

    fn carry_out(&mut self, op: Op) -> Outcome {
        match op {
            Op::Receive(side) | Op::SpliceIn(side) => {
                let splice = matches!(op, Op::SpliceIn(_));
                assert_eq!(
                    self.held[side as usize], 0,
                    "seed {}: read over bytes",
                    self.seed
                );
                if splice && !self.pipes {
                    return Outcome::NoPipe;
                }
                let most = if splice { PIPE } else { READ_SIZE };
                let outcome = self.sockets[side as usize].read(most);
                if let Outcome::Moved(bytes) = outcome {
                    self.held[side as usize] = bytes;
                    self.piped[side as usize] = splice;
                }
                outcome
            }
            Op::Send(side) | Op::SpliceOut(side) => {
                let held = self.held[side as usize];
                assert!(held > 0, "seed {}: nothing to write", self.seed);
                assert_eq!(self.piped[side as usize], matches!(op, Op::SpliceOut(_)));
                let outcome = self.sockets[side.other() as usize].write(held);
                if let Outcome::Moved(bytes) = outcome {
                    self.held[side as usize] -= bytes;
                }
                outcome
            }
            Op::Finish(side) => {
                assert_eq!(
                    self.held[side.other() as usize],
                    0,
                    "seed {}: FIN too early",
                    self.seed
                );
                let socket = &mut self.sockets[side as usize];
                if socket.is_reset {
                    return Outcome::Failed(Failure::Reset);
                }
                socket.fin_written = true;
                socket.fin_taken |= socket.outbox == 0;
                Outcome::Ended
            }
            Op::Measure(side) => Outcome::Unacknowledged(self.sockets[side as usize].outbox),
            Op::Close(_) => {
                assert_eq!(self.held, [0; 2], "seed {}: closed over bytes", self.seed);
                self.sockets
                    .iter_mut()
                    .for_each(|socket| socket.fin_written = true);
                self.last = Some(op);
                Outcome::Ended
            }
            Op::Reset(_) => {
                for socket in &mut self.sockets {
                    socket.outbox = 0;
                }
                self.last = Some(op);
                Outcome::Ended
            }
        }
    }

    /// Lets both peers take all there is until the relay is over.
    fn settle(&mut self) -> Op {
        for _ in 0..10_000 {
            for socket in &mut self.sockets {
                socket.take(50_000);
            }
            self.deliver_events();
            let done = self.run(usize::MAX);
            if let Some(op) = self.last {
                return op;
            }
            if done == 0
                && let Some(at) = self.relay.poll_timeout()
            {
                self.now = self.now.max(at);
                self.relay.handle_timeout(self.now);
            }
        }
        panic!(
            "seed {}: the relay does not end: {:?}",
            self.seed, self.relay
        );
    }
}

/// A small generator, so that a seed means the same for ever.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit
    }
}

fn shuffle(model: &mut Model, random: &mut Random, may_reset: bool) {
    for _ in 0..random.below(120) {
        let side = Side::BOTH[random.below(2)];
        let socket = &mut model.sockets[side as usize];
        match random.below(100) {
            0..=29 => socket.send(1 + random.below(3_000)),
            30..=49 => socket.send(1 + random.below(300_000)),
            50..=79 => socket.take(random.below(200_000)),
            80..=81 => socket.finish(),
            82 if may_reset => socket.reset(),
            _ => {}
        }
        if random.below(3) > 0 {
            model.deliver_events();
        }
        model.run(random.below(12));
        model.now = model.now + Duration::from_millis(random.below(20) as u64);
        model.relay.handle_timeout(model.now);
    }
}

#[test]
fn all_bytes_and_both_ends_arrive_whatever_the_order_of_events() {
    for seed in 0..3_000 {
        let mut model = Model::new(seed, None);
        shuffle(&mut model, &mut Random(seed), false);
        for socket in &mut model.sockets {
            socket.finish();
        }
        assert_eq!(
            model.settle(),
            Op::Close(CloseReason::Finished),
            "seed {seed}"
        );
        for side in Side::BOTH {
            let (from, to) = (
                &model.sockets[side as usize],
                &model.sockets[side.other() as usize],
            );
            // The kernel delivers what a closed socket has not.
            let arrived = to.taken + to.outbox;
            assert_eq!(arrived, from.sent, "seed {seed}");
            assert!(to.fin_written, "seed {seed}");
        }
    }
}

#[test]
fn reset_arrives_after_all_that_was_sent_before_it() {
    for seed in 0..3_000 {
        let mut model = Model::new(seed, None);
        let mut random = Random(seed);
        shuffle(&mut model, &mut random, false);
        let side = Side::BOTH[random.below(2)];
        if matches!(model.relay.phase, Phase::Ending(_) | Phase::Over) {
            continue;
        }
        model.sockets[side as usize].reset();
        assert_eq!(
            model.settle(),
            Op::Reset(side.reset_reason()),
            "seed {seed}"
        );
        let sent = model.sockets[side as usize].sent;
        assert_eq!(
            model.sockets[side.other() as usize].taken,
            sent,
            "seed {seed}"
        );
    }
}

#[test]
fn relay_ends_and_never_invents_bytes_when_both_may_reset_at_any_time() {
    for seed in 0..3_000 {
        let mut model = Model::new(seed, Some(Duration::from_secs(5)));
        shuffle(&mut model, &mut Random(seed), true);
        if model.last.is_none() {
            model.settle();
        }
        for side in Side::BOTH {
            let sent = model.sockets[side as usize].sent;
            let to = &model.sockets[side.other() as usize];
            assert!(to.taken + to.outbox <= sent, "seed {seed}");
            assert!(model.held[side as usize] <= PIPE, "seed {seed}");
        }
    }
}

const OUTBOX: usize = 150_000;
const PIPE: usize = 256 << 10;
