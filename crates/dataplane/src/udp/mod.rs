//! UDP: sessions and their datagrams.

use core::net::SocketAddr;
use std::io;
use std::sync::Arc;

use mio::{Registry, Token};
use sluice_balance::{CloseFlows, Instant, VserverId};

use crate::shared::Shared;

/// The sessions of all workers.
#[derive(Default)]
pub(crate) struct Sessions;

/// One worker's share of the UDP side.
pub(crate) struct UdpSide;

impl UdpSide {
    pub(crate) fn new(_shared: Arc<Shared>, _worker: usize) -> io::Result<Self> {
        Ok(Self)
    }

    pub(crate) fn open_listener(
        &mut self,
        _registry: &Registry,
        _vserver: VserverId,
        _address: SocketAddr,
        _socket: Arc<std::net::UdpSocket>,
    ) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn close_listener(
        &mut self,
        _registry: &Registry,
        _vserver: VserverId,
        _now: Instant,
    ) {
    }

    pub(crate) fn handle_event(&mut self, _registry: &Registry, _token: Token, _now: Instant) {}

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    pub(crate) fn handle_timeout(&mut self, _registry: &Registry, _now: Instant) {}

    pub(crate) fn close_flows(&mut self, _registry: &Registry, _which: CloseFlows, _now: Instant) {}

    pub(crate) fn flows(&self) -> usize {
        0
    }
}
