//! Which order of services takes the traffic of one virtual server.
//!
//! Invariant: `sequence` is in line with the states of the services, with the bindings and with the
//! settings; it is brought so with the virtual server's own state.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{Binding, Vserver};
use crate::services::Services;
use crate::{Order, State};

/// Which of the bound services are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Among {
    All,
    /// Those of this order, or those without one.
    Order(Option<Order>),
}

impl Among {
    pub(super) fn includes(self, binding: &Binding) -> bool {
        match self {
            Self::All => true,
            Self::Order(order) => binding.order == order,
        }
    }
}

impl Vserver {
    /// Returns the services that take the traffic as long as they can.
    pub(super) fn in_force(&self) -> Among {
        self.sequence
            .first()
            .copied()
            .map_or(Among::All, Among::Order)
    }

    /// Brings the sequence of orders up to date.
    pub(super) fn update_sequence(&mut self, services: &Services) {
        self.sequence.clear();
        if self.bindings.iter().all(|binding| binding.order.is_none()) {
            return;
        }
        let mut up: BTreeMap<Option<Order>, u64> = BTreeMap::new();
        for binding in &self.bindings {
            if services.at(binding.slot).state == State::Up {
                *up.entry(binding.order).or_default() += 1;
            }
        }
        let orders = self.settings.orders;
        let rank = |order: &Option<Order>| {
            let is_short = up[order] < u64::from(orders.threshold);
            let ascending = order.filter(|_| !orders.descending);
            let descending = order.filter(|_| orders.descending);
            (is_short, order.is_none(), ascending, Reverse(descending))
        };
        self.sequence.extend(up.keys().copied());
        self.sequence.sort_by_key(rank);
    }
}
