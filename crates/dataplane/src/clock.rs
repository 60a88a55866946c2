//! The only clock of the product.

use std::sync::LazyLock;

use sluice_balance::Instant;

/// Reads the monotonic clock.
pub(crate) fn now() -> Instant {
    static ORIGIN: LazyLock<std::time::Instant> = LazyLock::new(std::time::Instant::now);
    let nanos = ORIGIN.elapsed().as_nanos();
    Instant::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}
