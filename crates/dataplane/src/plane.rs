//! The handle by which the daemon's controller drives the data plane.
//!
//! Owns the table of listening sockets and the workers' mailboxes.

use core::net::SocketAddr;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use sluice_balance::{
    Change, Client, Explanation, Instant, Output, PersistenceCursor, PersistenceFilter,
    PersistenceKey, PersistencePage, PersistenceTotals, Protocol, Snapshot, VserverId,
};

use crate::clock;
use crate::driver::Driver;
use crate::flow_rows::{FlowCursor, FlowPage, Place};
use crate::listeners::{Listeners, Prepared};
use crate::shared::{Arm, Shared};
use crate::udp::UdpStatus;
use crate::worker::{self, Handle, Message};

/// How to start.
#[derive(Clone)]
pub struct Options {
    /// How many workers; each one has its own thread.
    pub workers: usize,
    /// How they talk to the system.
    pub driver: Driver,
    /// Called from any worker when the controller should call [`Dataplane::handle_wake`].
    pub wake: Arc<dyn Fn() + Send + Sync>,
}

/// Why a plan cannot be carried out. Nothing has changed.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// Somebody else, or another virtual server, listens there.
    #[error("{address} is in use")]
    AddressInUse {
        /// For this virtual server.
        vserver: VserverId,
        /// The address.
        address: SocketAddr,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// For this virtual server.
        vserver: VserverId,
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
}

/// The running data plane. All methods are called by one controller; `commit`, `handle_wake`, `drain`
/// and `shutdown` wait until every worker has done its part, a few milliseconds at most.
///
/// A panic of a worker is logged and ends the process: see the worker.
pub struct Dataplane {
    shared: Arc<Shared>,
    listeners: Listeners,
    workers: Vec<Handle>,
    driver: Driver,
}

impl Dataplane {
    /// Starts the workers, at least one.
    ///
    /// # Errors
    /// When a thread, poll, waker or ring cannot be made.
    pub fn start(options: Options) -> io::Result<Self> {
        let count = options.workers.max(1);
        let mut plane = Self {
            shared: Arc::new(Shared::new(options.wake)),
            listeners: Listeners::new(count),
            workers: Vec::with_capacity(count),
            driver: options.driver,
        };
        for number in 0..count {
            plane
                .workers
                .push(worker::start(&plane.shared, options.driver, number)?);
        }
        plane.shared.descriptors.set_base(open_descriptors(count));
        Ok(plane)
    }

    /// Returns what the workers talk to the system with.
    pub fn driver(&self) -> Driver {
        self.driver
    }

    /// Reads the product's clock.
    pub fn now(&self) -> Instant {
        clock::now()
    }

    /// Opens every socket that `changes` need, and changes nothing else.
    ///
    /// # Errors
    /// [`PrepareError`] names the first address that cannot be listened on.
    pub fn prepare(&mut self, changes: &[Change]) -> Result<Prepared, PrepareError> {
        self.listeners.prepare(changes)
    }

    /// Takes `changes`, for which `prepared` was made, into effect. Cannot fail. When it returns,
    /// closed listeners no longer accept.
    pub fn commit(&mut self, prepared: Prepared, changes: &[Change]) {
        // First of all, so that no flow of a new object goes without.
        self.shared.apply(changes);
        let now = clock::now();
        self.shared.with_engine_as_controller(|engine| {
            for change in changes {
                engine.apply(change, now);
            }
        });
        // The caller learns of a new deadline by the wake that follows if there is one.
        self.drain_outputs(prepared, Arm::Later);
        for change in changes {
            if let Change::SetVserverSockets(vserver, sockets) = change {
                self.listeners.tell(*vserver, &sockets.tcp);
            }
        }
        self.shared.with_engine(|_| ());
    }

    /// Keeps the addresses that virtual servers give up from now on, so that they can have them again
    /// whatever other programs do; or lets all of them go. Clients are refused there meanwhile.
    pub fn keep_addresses(&mut self, keep: bool) {
        self.listeners.keep_addresses(keep);
    }

    /// Says that the configuration of the start is loaded: what it bound is not new to anybody.
    pub fn handle_booted(&self) {
        let now = self.now();
        self.shared
            .with_engine_as_controller(|engine| engine.handle_booted(now));
    }

    /// Drains the engine's outputs and does what is due; returns when to call it next.
    pub fn handle_wake(&mut self) -> Option<Duration> {
        let now = clock::now();
        self.shared
            .with_engine_as_controller(|engine| engine.handle_timeout(now));
        let next = self.drain_outputs(Prepared::default(), Arm::Now)?;
        Some(next.duration_since(clock::now()))
    }

    /// Shows everything.
    pub fn snapshot(&self) -> Snapshot {
        let now = clock::now();
        self.shared
            .with_engine_as_controller(|engine| engine.snapshot(now))
    }

    /// Says who would get the next flow of a client, and why; see `Engine::explain`.
    pub fn explain(&self, vserver: VserverId, client: &Client) -> Option<Explanation> {
        let now = clock::now();
        self.shared
            .with_engine_as_controller(|engine| engine.explain(vserver, client, now))
    }

    /// Shows a part of the open flows; flows go on between one part and the next.
    pub fn flow_rows(&self, from: FlowCursor) -> FlowPage {
        let Some(worker) = self.workers.get(from.worker) else {
            return FlowPage::default();
        };
        let ((to, parts), (done, answers)) = (channel(), channel());
        worker.post(Message::List(from.place, to), done);
        for () in answers {}
        let (rows, next) = parts.recv().unwrap_or_default();
        let (worker, place) = match next {
            Some(place) => (from.worker, place),
            None => (from.worker + 1, Place::default()),
        };
        let next = (worker < self.workers.len()).then_some(FlowCursor { worker, place });
        FlowPage { rows, next }
    }

    /// Shows how many persistence entries there are and may be.
    pub fn persistence_totals(&self) -> PersistenceTotals {
        let now = clock::now();
        self.shared
            .with_engine_as_controller(|engine| engine.persistence_totals(now))
    }

    /// Shows a part of the persistence entries; flows go on between one part and the next.
    pub fn persistence_rows(
        &self,
        filter: &PersistenceFilter,
        from: PersistenceCursor,
    ) -> PersistencePage {
        let now = clock::now();
        self.shared
            .with_engine_as_controller(|engine| engine.persistence_rows(filter, from, now))
    }

    /// Forgets persistence entries; returns how many there were. See `Engine::clear_persistence`.
    pub fn clear_persistence(
        &self,
        vserver: Option<VserverId>,
        key: Option<&PersistenceKey>,
    ) -> u64 {
        let now = clock::now();
        // Freeing their places is a deadline that the controller does not know yet.
        self.shared
            .with_engine(|engine| engine.clear_persistence(vserver, key, now))
    }

    /// Shows the UDP sessions and what was dropped.
    pub fn udp_status(&self) -> UdpStatus {
        self.shared.udp.status()
    }

    /// Sets the most UDP sessions of the process; those beyond it go on. Half of the file
    /// descriptors unless set.
    pub fn set_udp_session_limit(&self, sessions: usize) {
        self.shared.udp.set_limit(sessions);
    }

    /// Stops accepting: TCP listening sockets close, and no UDP session begins; flows go on, UDP
    /// sessions until nothing has passed over them for 2 s. Clients that were queued at a listener
    /// are still served.
    pub fn drain(&mut self) {
        self.shared.drain();
        self.listeners.drop_tcp();
        self.tell(&Message::Drain);
    }

    /// Returns how many flows are open.
    pub fn flows(&self) -> usize {
        self.workers.iter().map(Handle::flows).sum()
    }

    /// Ends all flows and joins the workers.
    pub fn shutdown(self) {
        drop(self);
    }

    /// Carries out what the engine wants; returns when it wants to be asked again.
    fn drain_outputs(&mut self, mut prepared: Prepared, arm: Arm) -> Option<Instant> {
        let (outputs, next) = self.shared.take_outputs(arm);
        // A socket can be handed from one virtual server to another within a plan, and a worker
        // cannot have it twice: so all that close go first.
        for output in &outputs {
            if let Output::CloseListener(vserver) = output {
                self.tell(&Message::Close(*vserver));
                self.listeners.remove(*vserver);
            }
        }
        for (place, output) in outputs.iter().enumerate() {
            match *output {
                Output::OpenListener {
                    vserver,
                    protocol,
                    address,
                } => {
                    if !outputs[place..].contains(&Output::CloseListener(vserver)) {
                        self.open(vserver, protocol, address, &mut prepared);
                    }
                }
                Output::CloseFlows(which) => self.tell(&Message::CloseFlows(which)),
                Output::MoveFlows(which) => self.tell(&Message::MoveFlows(which)),
                Output::ServiceState(service, state, _) => {
                    tracing::debug!(service = service.0, ?state, "service has changed state");
                }
                Output::VserverState(vserver, state, _) => {
                    tracing::debug!(
                        vserver = vserver.0,
                        ?state,
                        "virtual server has changed state"
                    );
                }
                // Nobody probes yet, and nobody can bind a monitor.
                Output::StartProbe { probe, .. } | Output::CancelProbe(probe) => {
                    tracing::debug!(probe = probe.0, ?output, "no prober");
                }
                Output::PersistenceFull { limit, .. } => {
                    tracing::warn!(
                        limit,
                        "no room for more persistence entries: new clients do not stick to a service"
                    );
                }
                Output::CloseListener(_) => {}
            }
        }
        self.shared
            .descriptors
            .set_listening(self.listeners.sockets());
        next
    }

    fn open(
        &mut self,
        vserver: VserverId,
        protocol: Protocol,
        address: SocketAddr,
        prepared: &mut Prepared,
    ) {
        if self.shared.is_draining() && protocol == Protocol::Tcp {
            return;
        }
        let sockets = match self.listeners.open(vserver, protocol, address, prepared) {
            Ok(sockets) => sockets,
            Err(error) => {
                return tracing::error!(vserver = vserver.0, %address, %error, "cannot listen");
            }
        };
        if let Some(options) = self.shared.sockets.of_client(vserver) {
            self.listeners.tell(vserver, &options);
        }
        let (done, answers) = channel();
        for (worker, socket) in self.workers.iter().zip(sockets) {
            worker.post(Message::Open(vserver, address, socket), done.clone());
        }
        drop(done);
        for () in answers {}
    }

    /// Posts `message` to all workers and waits until all have done it.
    fn tell(&self, message: &Message) {
        let (done, answers) = channel();
        for worker in &self.workers {
            worker.post(message.clone(), done.clone());
        }
        drop(done);
        for () in answers {}
    }
}

/// Counts what the process has open; estimated where /proc is not mounted.
fn open_descriptors(workers: usize) -> usize {
    let listed = std::fs::read_dir("/proc/self/fd").map(Iterator::count);
    listed.unwrap_or(OPEN_WITHOUT_WORKERS + OPEN_PER_WORKER * workers)
}

impl Drop for Dataplane {
    fn drop(&mut self) {
        self.tell(&Message::Stop);
        self.workers.drain(..).for_each(Handle::join);
    }
}

/// The daemon's own: standard streams, event loop, signals, control socket and its lock.
const OPEN_WITHOUT_WORKERS: usize = 16;
/// A worker's poll, waker and ring.
const OPEN_PER_WORKER: usize = 3;
