//! The engine: one value that holds all balancing state and answers `select`.

use crate::{
    Change, CloseReason, FlowKey, Instant, Output, Refusal, Reservation, Selection, ServiceId,
    ServiceStatus, Snapshot, VserverId, VserverStatus,
};

/// All balancing state of the process.
///
/// Time never goes back: every call uses the later of its `now` and the last one seen, because
/// callers read the clock before they hold the lock.
#[derive(Debug, Default)]
pub struct Engine {}

impl Engine {
    /// Makes an engine without objects.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes one step of a configuration change into effect.
    pub fn apply(&mut self, _change: &Change, _now: Instant) {
        todo!()
    }

    /// Chooses a service for a new flow and takes a place on it.
    ///
    /// `tried` are services that already failed this flow; they are left out.
    ///
    /// # Errors
    /// [`Refusal`] says why no service could be chosen.
    pub fn select(
        &mut self,
        _vserver: VserverId,
        _flow: &FlowKey,
        _tried: &[ServiceId],
        _now: Instant,
    ) -> Result<Selection, Refusal> {
        todo!()
    }

    /// Takes a place back: the flow has ended for `reason`.
    pub fn handle_close(&mut self, _reservation: Reservation, _reason: CloseReason, _now: Instant) {
        todo!()
    }

    /// Takes a place back that was never used; it counts nowhere, as if it had not been given.
    pub fn handle_unused(&mut self, _reservation: Reservation, _now: Instant) {
        todo!()
    }

    /// Does what is due at `now`: samples the traffic windows.
    pub fn handle_timeout(&mut self, _now: Instant) {
        todo!()
    }

    /// Returns when `handle_timeout` wants to be called next.
    pub fn poll_timeout(&self) -> Option<Instant> {
        todo!()
    }

    /// Returns the next thing to do, in the order it came up.
    pub fn poll_output(&mut self) -> Option<Output> {
        todo!()
    }

    /// Whether `poll_output` would return something.
    pub fn has_output(&self) -> bool {
        todo!()
    }

    /// Shows everything.
    pub fn snapshot(&mut self, _now: Instant) -> Snapshot {
        todo!()
    }

    /// Shows one service.
    pub fn service_status(&mut self, _id: ServiceId, _now: Instant) -> Option<ServiceStatus> {
        todo!()
    }

    /// Shows one virtual server.
    pub fn vserver_status(&mut self, _id: VserverId, _now: Instant) -> Option<VserverStatus> {
        todo!()
    }
}
