//! What the configuration says about the backups of a virtual server.

use crate::VserverId;

/// Who serves the flows of a virtual server that cannot take them itself.
///
/// Shape: `vserver` and its own backups form a chain, in which nobody is twice. A virtual server
/// that is DOWN or disabled, or all of whose services are full or were tried, passes the flow on to
/// the next; the first that can take it serves it, with its own method, persistence and settings.
/// Nothing passes a flow back: what was opened on a backup stays there until it ends.
///
/// Source: NetScaler docs, "Configure a backup load balancing virtual server"; own choice: a
/// virtual server that the operator has disabled has its flows served by its backup too, because
/// clients gain nothing from a refusal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Backup {
    /// The first of the chain; one that does not exist ends it.
    pub vserver: Option<VserverId>,
}
