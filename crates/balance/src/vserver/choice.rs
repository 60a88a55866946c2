//! The choice of one virtual server among its services.
//!
//! Owns who may be chosen, which is decided in one place for all methods, and the order of steps: the
//! state, what the client sticks to, a table if the method has one, then all candidates.

use super::sticky::Honour;
use super::{Binding, Vserver};
use crate::dice::Dice;
use crate::hash::{Member, Table};
use crate::method::{Candidate, Gauge, Rule};
use crate::persistence::Held;
use crate::ramp::Terms;
use crate::rate::Recent;
use crate::services::Services;
use crate::{ChosenBy, Diversion, FlowKey, Instant, Refusal, ServiceId, SpilloverAction, State};

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question<'a> {
    pub(crate) flow: &'a FlowKey,
    /// Services that already failed this flow.
    pub(crate) tried: &'a [ServiceId],
    pub(crate) now: Instant,
    /// The slot of the windows' baseline.
    pub(crate) base: usize,
    /// The baseline of bandwidth limits.
    pub(crate) recent: Recent,
    /// Whether one that spills takes the flow if its settings say so.
    pub(crate) accepts: bool,
}

/// What a choice took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chosen {
    /// The position of the binding.
    pub(crate) position: usize,
    /// What a new service paid; none if it is not new.
    pub(crate) paid: Option<u32>,
    /// What decided.
    pub(crate) rule: ChosenBy,
    /// Whether the client's entry stays with the service it names.
    pub(crate) keeps_entry: bool,
}

/// Why a virtual server cannot take a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Denial {
    OutOfService,
    Down,
    /// It has enough.
    Spilling,
    /// Nobody has room, or all failed this flow.
    Full,
    /// The service that the client sticks to has no room, and only there is what it needs.
    Sticky,
}

impl Denial {
    /// Returns why the flow goes to a backup; none if no backup may serve it.
    pub(crate) fn diversion(self) -> Option<Diversion> {
        match self {
            Self::OutOfService | Self::Down => Some(Diversion::Down),
            Self::Spilling | Self::Full => Some(Diversion::Spillover),
            Self::Sticky => None,
        }
    }

    /// Returns what is said of it if nobody takes the flow.
    pub(crate) fn refusal(self) -> Refusal {
        match self {
            Self::OutOfService => Refusal::OutOfService,
            Self::Down => Refusal::Down,
            Self::Spilling => Refusal::Spilling,
            Self::Full | Self::Sticky => Refusal::Full,
        }
    }
}

impl Vserver {
    /// Chooses a binding for a flow whose client has the entry `held`; `scratch` is room for the
    /// candidates.
    ///
    /// Slow start refuses nobody: where only services at their limit are left, the limits are
    /// lifted for this choice.
    ///
    /// # Errors
    /// Why none can be chosen.
    pub(crate) fn choose(
        &mut self,
        services: &Services,
        question: &Question<'_>,
        held: Option<Held>,
        dice: &mut Dice,
        scratch: &mut Vec<Candidate>,
    ) -> Result<Chosen, Denial> {
        match self.state {
            State::OutOfService => return Err(Denial::OutOfService),
            State::Down => return Err(Denial::Down),
            State::Up => {}
        }
        if let Some(spillover) = &self.settings.backup.spillover
            && !(question.accepts && spillover.action == SpilloverAction::Accept)
            && self.spills(spillover, services, question.recent)
        {
            return Err(Denial::Spilling);
        }
        let terms = self.settle_ramps(services, question.now);
        let mut keeps_entry = false;
        match held.map(|held| self.honour(&held, services, question.tried)) {
            Some(Honour::Take(position)) => {
                return Ok(self.take(position, ChosenBy::Persistence, true, terms));
            }
            Some(Honour::Refuse) => return Err(Denial::Sticky),
            Some(Honour::Bypass) => keeps_entry = true,
            Some(Honour::Rebind) | None => {}
        }
        let rule = Rule::new(&self.settings, question.flow);
        let found = self.find_in_table(rule, services, question.tried);
        let position = match found {
            Some(position) => position,
            None => {
                self.find_candidates(rule, terms.as_ref(), services, question, scratch)?;
                scratch[self.chooser.select(rule, scratch, terms.is_some(), dice)].position
            }
        };
        Ok(self.take(position, ChosenBy::Method, keeps_entry, terms))
    }

    /// Counts the choice of the binding at `position`.
    fn take(
        &mut self,
        position: usize,
        rule: ChosenBy,
        keeps_entry: bool,
        terms: Option<Terms>,
    ) -> Chosen {
        self.choices += 1;
        Chosen {
            position,
            paid: terms.and_then(|terms| self.charge(position, &terms)),
            rule,
            keeps_entry,
        }
    }

    /// Forgets the table: what it was made of has changed.
    pub(crate) fn drop_hash_table(&mut self) {
        self.hash_table = None;
    }

    /// Fills `found` with the services that may take a flow, in bind order; `terms` are those of the
    /// slow starts that run.
    ///
    /// # Errors
    /// That there are none.
    fn find_candidates(
        &mut self,
        rule: Rule,
        terms: Option<&Terms>,
        services: &Services,
        question: &Question<'_>,
        found: &mut Vec<Candidate>,
    ) -> Result<(), Denial> {
        let gauge = Gauge {
            rule,
            base: question.base,
            use_port: self.settings.hash.use_port,
        };
        if terms.is_some() {
            self.collect::<true>(services, question.tried, gauge, found);
        }
        if terms.is_none() || found.is_empty() {
            self.collect::<false>(services, question.tried, gauge, found);
        }
        if found.is_empty() {
            return Err(Denial::Full);
        }
        if let Some(terms) = terms {
            self.note_levels(terms, services, gauge, found);
        }
        Ok(())
    }

    /// Fills `found`; `LIMITED` says whether slow starts hold services back. It is a constant because
    /// most virtual servers have none, and this loop is most of a choice.
    fn collect<const LIMITED: bool>(
        &self,
        services: &Services,
        tried: &[ServiceId],
        gauge: Gauge,
        found: &mut Vec<Candidate>,
    ) {
        found.clear();
        found.reserve(self.bindings.len());
        // A plain loop: an iterator would hand each candidate on in pieces, for five times as long.
        for (position, binding) in self.bindings.iter().enumerate() {
            let ramp = binding.ramp.as_ref().filter(|_| LIMITED);
            if admits(binding, services, tried) && !ramp.is_some_and(|ramp| ramp.holds_back()) {
                let reading = gauge.read(services.at(binding.slot));
                let is_new = ramp.is_some();
                found.push(Candidate::new(position, binding.weight, reading, is_new));
            }
        }
    }

    /// Finds a position for a hash that has a table; none if it has none, or the table gives up.
    fn find_in_table(
        &mut self,
        rule: Rule,
        services: &Services,
        tried: &[ServiceId],
    ) -> Option<usize> {
        let Rule::Hash(key) = rule else {
            return None;
        };
        if self.hash_table.is_none() {
            self.hash_table = self.make_hash_table(services);
        }
        let admits = |position: usize| admits(&self.bindings[position], services, tried);
        self.hash_table.as_ref()?.find(key, admits)
    }

    fn make_hash_table(&self, services: &Services) -> Option<Table> {
        let member = |binding: &Binding| Member {
            identity: services.at(binding.slot).identity,
            weight: binding.weight,
        };
        let members = || self.bindings.iter().map(member).collect::<Vec<_>>();
        Table::new(&self.settings.hash, members)
    }
}

/// Whether a service may take a flow, its slow start apart.
#[inline]
fn admits(binding: &Binding, services: &Services, tried: &[ServiceId]) -> bool {
    let service = services.at(binding.slot);
    service.state == State::Up && service.has_room() && !tried.contains(&binding.service)
}
