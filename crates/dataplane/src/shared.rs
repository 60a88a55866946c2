//! What all workers and the controller share: the engine behind its lock, and what wakes the
//! controller. Nothing of one TCP connection is here.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use sluice_balance::{Engine, Instant};

/// The state that more than one thread needs.
pub(crate) struct Shared {
    /// Guards the engine and what the controller has armed. Held over plain calls only.
    engine: Mutex<Guarded>,
    wake: Arc<dyn Fn() + Send + Sync>,
    draining: AtomicBool,
    /// The UDP sessions of all workers.
    pub(crate) udp: crate::udp::Sessions,
}

struct Guarded {
    engine: Engine,
    /// When the controller will call by itself.
    armed: Option<Instant>,
    /// Whether the controller has been woken and has not come yet: one wake is enough.
    woken: bool,
}

impl Shared {
    /// Makes the state around a new engine.
    pub(crate) fn new(wake: Arc<dyn Fn() + Send + Sync>) -> Self {
        Self {
            engine: Mutex::new(Guarded {
                engine: Engine::new(),
                armed: None,
                woken: false,
            }),
            wake,
            draining: AtomicBool::new(false),
            udp: crate::udp::Sessions::default(),
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

    /// Notes that the controller has drained all outputs; returns when it must call next.
    pub(crate) fn arm_controller(&self) -> Option<Instant> {
        let mut guarded = self.engine.lock();
        guarded.woken = false;
        guarded.armed = guarded.engine.poll_timeout();
        guarded.armed
    }

    /// Whether no new flow may begin any more; flows that exist go on. TCP listeners are closed
    /// then, UDP listeners stay open because replies leave through them.
    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
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
