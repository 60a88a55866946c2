//! The limit of open files, and the few that only the control socket may open.
//!
//! Clients of virtual servers can use up every descriptor there is; an operator must still get in to
//! see why. So the soft limit, which holds for the whole process, stays a little below the hard one and
//! is raised for the moment in which a client of the control socket is accepted. Only the main thread
//! changes it.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit as far as it goes, but for the reserve: every flow needs two descriptors and
/// more, and the soft limit is usually set for programs that use select(2).
pub(crate) fn raise_limit() {
    let limit = getrlimit(Resource::Nofile);
    let current = limit.maximum.map(|hard| hard - reserve(hard));
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current, ..limit }) {
        tracing::warn!("cannot raise the limit of open files: {error}");
    }
}

/// Calls `open` with the reserve at hand.
pub(crate) fn with_reserve<T>(open: impl FnOnce() -> T) -> T {
    let limit = getrlimit(Resource::Nofile);
    let current = limit.maximum;
    // Where a sandbox forbids this, `open` has to do with what is there, and says so if it cannot.
    let _ = setrlimit(Resource::Nofile, Rlimit { current, ..limit });
    let opened = open();
    let _ = setrlimit(Resource::Nofile, limit);
    opened
}

/// Returns how many of `hard` descriptors are kept: enough for some shells and scripts at a time, and
/// never much of a small limit.
const fn reserve(hard: u64) -> u64 {
    let part = hard / 8;
    if part < RESERVE_MAX {
        part
    } else {
        RESERVE_MAX
    }
}

const RESERVE_MAX: u64 = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reserve_is_small_and_an_eighth_at_most() {
        let reserves = [0, 7, 64, 128, 1024, u64::MAX].map(reserve);
        assert_eq!(reserves, [0, 0, 8, 16, 16, 16]);
    }
}
