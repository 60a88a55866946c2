//! The ramps of one virtual server's new services: starting, charging, ending them.
//!
//! Owns what a single [`Ramp`] cannot know: which services are new, the weights of the others, and
//! whose requests count. Without a new service all of it is one comparison a choice.
//!
//! Invariants: `ramps` is the number of bindings with a ramp; a binding has one only while its
//! service is UP and the virtual server's slow start is on. Time is made good with
//! [`Vserver::settle_ramps`] before anything that a ramp depends on is read or changed.

use super::{Binding, Vserver};
use crate::method::{Candidate, Gauge, is_less};
use crate::ramp::{Ramp, Terms};
use crate::services::Services;
use crate::{Instant, Reservation, ServiceId, SlowStart, State, VserverSettings};

impl Vserver {
    /// Starts the ramp of a service that was bound or came UP, if slow start is on.
    pub(crate) fn start_ramp(&mut self, service: ServiceId, services: &Services, now: Instant) {
        let choices = self.choices;
        let is_on = slow_start(&self.settings).is_some();
        let Some(binding) = self.binding_mut(service) else {
            return;
        };
        if is_on && services.at(binding.slot).state == State::Up {
            let former = binding.ramp.replace(Box::new(Ramp::new(choices, now)));
            self.ramps += usize::from(former.is_none());
        }
    }

    /// Drops the ramp of a service that left UP or is unbound.
    pub(crate) fn drop_ramp(&mut self, service: ServiceId) {
        let former = self.binding_mut(service).and_then(|b| b.ramp.take());
        self.ramps -= usize::from(former.is_some());
    }

    /// Ends all ramps: no service is new any more.
    pub(crate) fn end_ramps(&mut self, services: &Services) {
        for position in 0..self.bindings.len() {
            if self.bindings[position].ramp.is_some() {
                self.end_ramp(position, services);
            }
        }
    }

    /// Moves all ramps on to `now` and ends those that are over, in the order of their ends, as if
    /// somebody had called at each of them. Returns what the others have in common, if any go on.
    pub(crate) fn settle_ramps(&mut self, services: &Services, now: Instant) -> Option<Terms> {
        let terms = self.terms(services)?;
        let advance = |(position, binding): (usize, &mut Binding)| {
            let ramp = binding.ramp.as_mut()?;
            let end = ramp.advance(binding.weight.value(), &terms, now)?;
            Some((end, position))
        };
        let bindings = self.bindings.iter_mut().enumerate();
        let mut over: Vec<_> = bindings.filter_map(advance).collect();
        if over.is_empty() {
            return Some(terms);
        }
        over.sort_unstable();
        for (_, position) in over {
            self.end_ramp(position, services);
        }
        self.terms(services)
    }

    /// Ends a ramp: the service goes on as one of the others.
    fn end_ramp(&mut self, position: usize, services: &Services) {
        let Binding { weight, order, .. } = self.bindings[position];
        let weight = weight.value();
        let existing = self.bindings.iter().enumerate().filter(|(_, other)| {
            let is_up = services.at(other.slot).state == State::Up;
            other.ramp.is_none() && other.order == order && is_up
        });
        let existing = existing.map(|(position, other)| (position, other.weight.value()));
        self.chooser.end_ramp(position, weight, existing);
        self.bindings[position].ramp = None;
        self.ramps -= 1;
    }

    /// Takes a change of settings from `old` on into the ramps that run.
    pub(super) fn retune_ramps(
        &mut self,
        old: &VserverSettings,
        services: &Services,
        now: Instant,
    ) {
        let Some(old) = slow_start(old) else {
            return;
        };
        if slow_start(&self.settings).is_none() {
            self.end_ramps(services);
        }
        let Some(terms) = self.terms(services) else {
            return;
        };
        for ramp in self.bindings.iter_mut().filter_map(|b| b.ramp.as_mut()) {
            ramp.retune(&old, &terms, now);
        }
    }

    /// Notes which new services are not below the lowest existing one.
    ///
    /// `found` are the candidates, of the order that takes the traffic. Where no existing service is UP, none is below one; where those
    /// that are UP cannot take a flow, nothing is compared.
    pub(super) fn note_levels(
        &mut self,
        terms: &Terms,
        services: &Services,
        gauge: Gauge,
        found: &[Candidate],
    ) {
        if !terms.compares_load {
            return;
        }
        let is_existing = |candidate: &&Candidate| self.bindings[candidate.position].ramp.is_none();
        let existing = found.iter().filter(is_existing);
        let lowest = existing.reduce(|best, other| if is_less(other, best) { other } else { best });
        if lowest.is_none() && terms.existing_weight > 0 {
            return;
        }
        for (position, binding) in self.bindings.iter_mut().enumerate() {
            if let Some(ramp) = &mut binding.ramp {
                let reading = gauge.read(services.at(binding.slot));
                let own = Candidate::new(position, binding.weight, reading, true);
                if lowest.is_none_or(|lowest| !is_less(&own, lowest)) {
                    ramp.note_level();
                }
            }
        }
    }

    /// Charges the choice of the binding at `position`; returns what it paid, if it is new.
    pub(super) fn charge(&mut self, position: usize, terms: &Terms) -> Option<u32> {
        let is_existing = self.bindings[position].ramp.is_none();
        for binding in &mut self.bindings {
            if let Some(ramp) = &mut binding.ramp {
                ramp.count_request();
                if is_existing {
                    ramp.earn(binding.weight.value(), terms);
                }
            }
        }
        self.bindings[position].ramp.as_mut().map(|ramp| ramp.pay())
    }

    /// Takes a choice that came to nothing out of all ramps that it touched.
    pub(crate) fn uncharge(&mut self, reservation: &Reservation, terms: &Terms) {
        let Reservation { choice, paid, .. } = *reservation;
        for binding in &mut self.bindings {
            let Some(ramp) = &mut binding.ramp else {
                continue;
            };
            ramp.uncount(choice, paid.is_none(), binding.weight.value(), terms);
            if let Some(paid) = paid.filter(|_| binding.serial == reservation.binding) {
                ramp.return_unused(choice, paid);
            }
        }
    }

    /// Returns what all ramps have in common now; none without a ramp.
    pub(super) fn terms(&self, services: &Services) -> Option<Terms> {
        if self.ramps == 0 {
            return None;
        }
        let slow_start = slow_start(&self.settings)?;
        let in_force = self.in_force();
        let is_usable = |binding: &&Binding| {
            in_force.includes(binding) && services.at(binding.slot).state == State::Up
        };
        let usable = self.bindings.iter().filter(is_usable);
        let weigh = |binding: &Binding| (binding.weight.value(), binding.ramp.is_none());
        let (usable_weight, existing_weight) = usable.map(weigh).fold((0, 0), |sum, one| {
            (sum.0 + one.0, sum.1 + if one.1 { one.0 } else { 0 })
        });
        Some(Terms {
            slow_start,
            compares_load: self.chooser.method().compares_load(),
            usable_weight,
            existing_weight,
            choices: self.choices,
        })
    }
}

/// Returns the slow start, if it is on.
fn slow_start(settings: &VserverSettings) -> Option<SlowStart> {
    let is_on = settings.slow_start.rate > 0 && settings.method.has_slow_start();
    is_on.then_some(settings.slow_start)
}
