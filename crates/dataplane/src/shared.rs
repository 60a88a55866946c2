//! What all workers and the controller share: the engine behind its lock, and what wakes the
//! controller. Nothing of one TCP connection is here.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use rustix::process::{Resource, getrlimit};
use sluice_balance::{Change, Engine, Instant, Output};

use crate::descriptors::Descriptors;
use crate::sockets::SocketTable;
use crate::udp::Sessions;

/// The state that more than one thread needs.
pub(crate) struct Shared {
    /// Guards the engine and what the controller has armed. Held over plain calls only.
    engine: Mutex<Guarded>,
    wake: Arc<dyn Fn() + Send + Sync>,
    draining: AtomicBool,
    /// When a shortage was logged last, in nanoseconds; 0 is never.
    complained: AtomicU64,
    /// The descriptors that clients may take.
    pub(crate) descriptors: Arc<Descriptors>,
    /// What new sockets are to be like.
    pub(crate) sockets: SocketTable,
    /// How many services are tried for one client while connects fail.
    pub(crate) connect_tries: AtomicUsize,
    /// The UDP sessions of all workers.
    pub(crate) udp: Sessions,
}

/// Whether the controller knows the engine's deadline from now on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Arm {
    /// It comes by then.
    Now,
    /// It comes when it is woken.
    Later,
}

struct Guarded {
    engine: Engine,
    /// When the controller will call by itself.
    armed: Option<Instant>,
    /// Whether the controller has been woken and has not come yet: one wake is enough.
    woken: bool,
}

impl Shared {
    /// Makes the state around a new engine, with the descriptors that the process may have now.
    pub(crate) fn new(wake: Arc<dyn Fn() + Send + Sync>) -> Self {
        let limit = getrlimit(Resource::Nofile).current;
        let descriptors = Arc::new(Descriptors::new(limit));
        // The only randomness that the standard library gives away: the keys of a hash.
        let seed = RandomState::new().build_hasher().finish();
        Self {
            engine: Mutex::new(Guarded {
                engine: Engine::with_seed(seed),
                armed: None,
                woken: false,
            }),
            wake,
            draining: AtomicBool::new(false),
            complained: AtomicU64::new(0),
            sockets: SocketTable::default(),
            connect_tries: AtomicUsize::new(CONNECT_TRIES),
            udp: Sessions::new(limit, Arc::clone(&descriptors)),
            descriptors,
        }
    }

    /// Calls `ask` with the engine locked; wakes the controller afterwards when the engine has
    /// something for it, or an earlier deadline. `ask` must be plain calls: no I/O, no waiting.
    pub(crate) fn with_engine<R>(&self, ask: impl FnOnce(&mut Engine) -> R) -> R {
        let mut guarded = self.engine.lock();
        let answer = ask(&mut guarded.engine);
        let wake = guarded.wants_controller();
        guarded.woken |= wake;
        drop(guarded);
        if wake {
            (self.wake)();
        }
        answer
    }

    /// Calls `ask` with the engine locked, for the controller, which drains the outputs itself.
    pub(crate) fn with_engine_as_controller<R>(&self, ask: impl FnOnce(&mut Engine) -> R) -> R {
        ask(&mut self.engine.lock().engine)
    }

    /// Takes what the engine wants done, and returns when it wants to be asked next. With
    /// [`Arm::Now`] the controller promises to come then. Both are one step, so that no output is
    /// added in between without a wake.
    pub(crate) fn take_outputs(&self, arm: Arm) -> (Vec<Output>, Option<Instant>) {
        let mut guarded = self.engine.lock();
        let outputs = std::iter::from_fn(|| guarded.engine.poll_output()).collect();
        let next = guarded.engine.poll_timeout();
        match arm {
            Arm::Now => {
                guarded.armed = next;
                guarded.woken = false;
            }
            Arm::Later => {}
        }
        (outputs, next)
    }

    /// Whether no new flow may begin any more; flows that exist go on. TCP listeners are closed
    /// then, UDP listeners stay open because replies leave through them.
    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// Whether a shortage may be logged now: at most once a second in the whole process.
    pub(crate) fn may_complain(&self, now: Instant) -> bool {
        let last = self.complained.load(Ordering::Relaxed);
        let quiet = last == 0 || now >= Instant::from_nanos(last) + COMPLAINT_INTERVAL;
        quiet
            && self
                .complained
                .compare_exchange(
                    last,
                    now.as_nanos().max(1),
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                )
                .is_ok()
    }

    /// Takes what changes say of new connections to services.
    pub(crate) fn apply(&self, changes: &[Change]) {
        self.sockets.apply(changes);
        for change in changes {
            if let Change::SetConnectTries(tries) = change {
                let tries = usize::from(*tries).max(1);
                self.connect_tries.store(tries, Ordering::Relaxed);
            }
        }
    }

    /// Begins the drain; it cannot be taken back.
    pub(crate) fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }
}

impl Guarded {
    fn wants_controller(&self) -> bool {
        if self.woken {
            return false;
        }
        let earlier = match (self.engine.poll_timeout(), self.armed) {
            (Some(next), Some(armed)) => next < armed,
            (Some(_), None) => true,
            (None, _) => false,
        };
        earlier || self.engine.has_output()
    }
}

/// What is tried unless the operator says otherwise.
const CONNECT_TRIES: usize = 3;

/// A shortage lasts; one line a second says so without filling the log.
const COMPLAINT_INTERVAL: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortage_is_logged_at_most_once_a_second() {
        let shared = Shared::new(Arc::new(|| {}));
        let at = |millis: u64| Instant::from_nanos(millis * 1_000_000);
        let logged =
            [5, 6, 1_004, 1_005, 1_500, 2_006].map(|millis| shared.may_complain(at(millis)));
        assert_eq!(logged, [true, false, false, true, false, true]);
    }
}
