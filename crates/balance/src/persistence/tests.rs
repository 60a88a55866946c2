//! Shared by the unit tests of the folder.

use super::{AddressMask, Persistence, PersistenceKind, PersistenceTimeout, SkipPersistence};

/// Each client address for itself, for two minutes.
pub(super) fn settings() -> Persistence {
    Persistence {
        kind: PersistenceKind::SourceIp,
        mask: AddressMask::ALL,
        timeout: PersistenceTimeout::DEFAULT,
        skip: SkipPersistence::None,
        trofs: true,
        group: None,
    }
}
