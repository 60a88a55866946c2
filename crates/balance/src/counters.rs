//! Cumulative traffic counters, the one state that the data plane writes without the engine's lock.

use std::sync::atomic::{AtomicU64, Ordering};

/// Traffic of one service or one virtual server since it was added; only ever added to.
///
/// Units: payload bytes; packets are datagrams, or for relayed TCP the chunks or segments moved.
/// "In" is from the client towards the service, "out" from the service towards the client.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Counters {
    bytes_in: AtomicU64,
    bytes_out: AtomicU64,
    packets_in: AtomicU64,
    packets_out: AtomicU64,
}

impl Counters {
    /// Adds traffic towards the service.
    pub fn add_in(&self, bytes: u64, packets: u64) {
        self.bytes_in.fetch_add(bytes, Ordering::Relaxed);
        self.packets_in.fetch_add(packets, Ordering::Relaxed);
    }

    /// Adds traffic from the service.
    pub fn add_out(&self, bytes: u64, packets: u64) {
        self.bytes_out.fetch_add(bytes, Ordering::Relaxed);
        self.packets_out.fetch_add(packets, Ordering::Relaxed);
    }

    /// Returns the bytes sent to the service.
    pub fn bytes_in(&self) -> u64 {
        self.bytes_in.load(Ordering::Relaxed)
    }

    /// Returns the bytes received from the service.
    pub fn bytes_out(&self) -> u64 {
        self.bytes_out.load(Ordering::Relaxed)
    }

    /// Returns the packets sent to the service.
    pub fn packets_in(&self) -> u64 {
        self.packets_in.load(Ordering::Relaxed)
    }

    /// Returns the packets received from the service.
    pub fn packets_out(&self) -> u64 {
        self.packets_out.load(Ordering::Relaxed)
    }
}
