//! The orders of bound services: who takes traffic before whom.

/// The order of a bound service: those with the smallest number come first, unless the virtual
/// server turns the orders round.
///
/// Units: 1–8192.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Order(u16);

impl Order {
    /// Makes an order.
    ///
    /// # Errors
    /// [`OrderError`] when `order` is not in 1–8192.
    pub fn new(order: u64) -> Result<Self, OrderError> {
        match u16::try_from(order) {
            Ok(order @ 1..=8192) => Ok(Self(order)),
            _ => Err(OrderError(order)),
        }
    }

    /// Returns the order as a number.
    pub const fn value(self) -> u64 {
        self.0 as u64
    }
}

/// An order outside 1–8192.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderError(pub u64);

impl std::fmt::Display for OrderError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "order {} is out of range 1–8192", self.0)
    }
}

impl std::error::Error for OrderError {}

/// Which orders of a virtual server take traffic.
///
/// Only the services of one order do: the first one with at least `threshold` services that are
/// UP, or, if there is none, the first one with any. Services without an order come last. Where all
/// of an order are full or failed a flow, the next order takes it, so that nobody is refused while a
/// service has room.
///
/// A client sticks to a service of whatever order. A slow start counts with the services of the
/// order that takes the traffic; one that begins to take it because others went is not new.
///
/// Source: NetScaler docs, "Priority order for services"; own choice: services without an order,
/// and what becomes of a flow when an order is full or no order reaches the threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Orders {
    /// How many services of an order have to be UP; 0 is as 1.
    pub threshold: u32,
    /// Whether the largest number comes first.
    pub descending: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_1_to_8192() {
        for order in [1, 8192] {
            assert_eq!(Order::new(order).map(Order::value), Ok(order));
        }
        for order in [0, 8193, 65_537, u64::MAX] {
            assert_eq!(Order::new(order), Err(OrderError(order)));
        }
    }
}
