//! What the configuration says about the backups of a virtual server.

use crate::{Percent, PersistenceTimeout, VserverId};

/// Who serves the flows of a virtual server that cannot take them itself.
///
/// Shape: `vserver` and its own backups form a chain, in which nobody is twice. A virtual server
/// that is DOWN, disabled or spilling, or all of whose services are full or were tried, passes the flow on to
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
    /// Whether it stays DOWN once it went from UP to DOWN, so that its backup goes on serving, until
    /// [`Change::EnableVserver`](crate::Change::EnableVserver). To disable it, or to take this
    /// setting or the backup away, ends that too. Without a backup it does nothing.
    pub disable_primary_on_down: bool,
    /// When it passes flows on although it could take them.
    pub spillover: Option<Spillover>,
}

/// When a virtual server that is UP spills: passes new flows on to its backups.
///
/// It is asked anew for each flow of a client that keeps to nobody, so that the first flow after the load has fallen is its own
/// again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Spillover {
    /// What is compared with what.
    pub method: SpilloverMethod,
    /// For how long after its last flow a client keeps to the virtual server, primary or backup, by
    /// which its first flow was served, whatever the thresholds say; `None` is not at all.
    ///
    /// A client is its address. It moves when that virtual server cannot take a flow for another
    /// reason; but while the primary is DOWN or disabled who comes to a backup keeps to nothing, and
    /// who keeps to the primary goes on doing so.
    pub persistence: Option<PersistenceTimeout>,
    /// What becomes of a flow that no backup can take either.
    pub action: SpilloverAction,
}

/// When a virtual server has enough.
///
/// Source: NetScaler docs, "Configure spillover". What "exceeds" means there is settled here so that
/// a threshold is the most that a virtual server has, not one more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpilloverMethod {
    /// It serves so many flows now.
    Connections(u32),
    /// It serves as many flows now as its services that are UP may have together by their
    /// `maxClient`. With one among them that has no limit it never spills.
    DynamicConnections,
    /// Its traffic, both ways, exceeded so many kbit/s over the last second, or up to two: samples
    /// are a second apart.
    Bandwidth(u32),
    /// Less than this part of its bound weight is UP.
    Health(Percent),
}

/// What becomes of a flow that a spilling virtual server and its backups cannot take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SpilloverAction {
    /// It is refused.
    #[default]
    Drop,
    /// The virtual server takes it although it has enough.
    Accept,
}
