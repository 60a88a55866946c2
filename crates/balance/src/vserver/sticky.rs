//! What a persistence entry means for a flow of a virtual server.
//!
//! Owns nothing: entries are in `persistence`, where the rules are written down too.

use super::{Binding, Question, Vserver};
use crate::persistence::{Held, StickTo, TableKey};
use crate::services::Services;
use crate::{SkipPersistence, State, VserverId};

/// What follows from the entry of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Honour {
    /// The binding at this position takes the flow.
    Take(usize),
    /// Nobody takes the flow.
    Refuse,
    /// The method chooses, and the entry stays as it is.
    Bypass,
    /// The method chooses, and the client sticks to what it chooses.
    Rebind,
}

impl Vserver {
    /// Returns the table of the virtual server, whose id is given, if clients stick to services.
    pub(crate) fn table(&self, id: VserverId) -> Option<TableKey> {
        let persistence = self.settings.persistence.as_ref()?;
        Some(TableKey::of(id, persistence))
    }

    /// Returns the table of who keeps to which of the chain of the virtual server, whose id is given,
    /// if clients do.
    pub(crate) fn keeps(&self, id: VserverId) -> Option<TableKey> {
        let spillover = self.settings.backup.spillover?;
        spillover.persistence.map(|_| TableKey::Spillover(id))
    }

    /// Returns what the entry of a client means now.
    ///
    /// A slow start holds nobody back who sticks to the service.
    pub(super) fn honour(
        &self,
        held: &Held,
        services: &Services,
        question: &Question<'_>,
    ) -> Honour {
        let (Some(persistence), Some(position)) = (
            &self.settings.persistence,
            self.heir(held, services, question),
        ) else {
            return Honour::Rebind;
        };
        match (
            self.usability(&self.bindings[position], services, question),
            persistence.skip,
        ) {
            (Usability::Free, _) => Honour::Take(position),
            (Usability::Full, SkipPersistence::None) => Honour::Refuse,
            (Usability::Full, SkipPersistence::Bypass) => Honour::Bypass,
            (Usability::Full, SkipPersistence::ReLb) | (Usability::Unusable, _) => Honour::Rebind,
        }
    }

    /// Returns the position of the binding for who sticks to a service: the service itself, or, in a
    /// group, the best one on the same server.
    fn heir(&self, held: &Held, services: &Services, question: &Question<'_>) -> Option<usize> {
        let bindings = &self.bindings;
        // Bind order is the order of serials.
        let own = bindings.binary_search_by_key(&held.binding, |binding| binding.serial);
        let is_in_group = self.settings.persistence.is_some_and(|p| p.group.is_some());
        if !is_in_group {
            return own.ok();
        }
        let StickTo::Service(service) = held.to else {
            return None;
        };
        let address = services.get(service)?.settings.address;
        let ranked = bindings
            .iter()
            .enumerate()
            .filter_map(|(position, binding)| {
                let other = services.at(binding.slot).settings.address;
                let usability = self.usability(binding, services, question);
                let is_other = binding.service != service;
                let rank = (
                    usability,
                    is_other,
                    services.at(binding.slot).state != State::Up,
                    other.port() != address.port(),
                    position,
                );
                (other.ip() == address.ip()).then_some(rank)
            });
        ranked.min().map(|(.., position)| position)
    }

    /// Whether a binding can take a flow of a client that sticks to it.
    fn usability(
        &self,
        binding: &Binding,
        services: &Services,
        question: &Question<'_>,
    ) -> Usability {
        let service = services.at(binding.slot);
        let is_open = match service.state {
            State::Up => service.takes_flows(),
            State::GoingOutOfService => self.honours_trofs(),
            State::Down
            | State::Unknown
            | State::OutOfService
            | State::DownWhenGoingOutOfService => false,
        };
        if !is_open || question.tried.contains(&binding.service) {
            Usability::Unusable
        } else if service.has_room(&question.recent) {
            Usability::Free
        } else {
            Usability::Full
        }
    }

    /// Whether clients are taken to services that are going out of service if they stick to them.
    pub(super) fn honours_trofs(&self) -> bool {
        self.settings.persistence.is_some_and(|own| own.trofs)
    }
}

/// Whether a binding can take a flow, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Usability {
    Free,
    Full,
    Unusable,
}
