//! The handle by which the daemon's controller drives the data plane.

use core::net::SocketAddr;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use sluice_balance::{Change, Instant, Snapshot, VserverId};

/// How to start.
#[derive(Clone)]
pub struct Options {
    /// How many workers; each one has its own thread.
    pub workers: usize,
    /// Called from any worker when the controller should call [`Dataplane::handle_wake`].
    pub wake: Arc<dyn Fn() + Send + Sync>,
}

/// Sockets opened for a plan that has not been committed. Dropping it closes them.
#[derive(Debug)]
pub struct Prepared {}

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

/// The running data plane. All methods are called by one controller; only calls that say so block.
pub struct Dataplane {}

impl Dataplane {
    /// Starts the workers.
    ///
    /// # Errors
    /// When a thread, poll or waker cannot be made.
    pub fn start(_options: Options) -> io::Result<Self> {
        todo!()
    }

    /// Reads the product's clock.
    pub fn now(&self) -> Instant {
        crate::clock::now()
    }

    /// Opens every socket that `changes` need, and changes nothing else.
    ///
    /// # Errors
    /// [`PrepareError`] names the first address that cannot be listened on.
    pub fn prepare(&mut self, _changes: &[Change]) -> Result<Prepared, PrepareError> {
        todo!()
    }

    /// Takes `changes`, for which `prepared` was made, into effect. Cannot fail. When it returns,
    /// closed listeners no longer accept.
    pub fn commit(&mut self, _prepared: Prepared, _changes: &[Change]) {
        todo!()
    }

    /// Drains the engine's outputs and does what is due; returns when to call it next.
    pub fn handle_wake(&mut self) -> Option<Duration> {
        todo!()
    }

    /// Shows everything.
    pub fn snapshot(&self) -> Snapshot {
        todo!()
    }

    /// Stops accepting: listening sockets close, flows go on.
    pub fn drain(&mut self) {
        todo!()
    }

    /// Returns how many flows are open.
    pub fn flows(&self) -> usize {
        todo!()
    }

    /// Ends all flows and joins the workers.
    pub fn shutdown(self) {
        todo!()
    }
}
