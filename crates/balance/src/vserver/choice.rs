//! The choice of one virtual server among its services.
//!
//! Owns who may be chosen, which is decided in one place for all methods, and the order of steps: the
//! state, what the client sticks to, a table if the method has one, then all candidates.

use std::sync::Arc;

use super::orders::Among;
use super::sticky::Honour;
use super::{Binding, Indexing, Vserver};
use crate::dice::Dice;
use crate::fading::Moment;
use crate::hash::{Member, Table};
use crate::method::{Candidate, Gauge, Reading, Rule};
use crate::persistence::Held;
use crate::ramp::Terms;
use crate::rate::Recent;
use crate::service::Service;
use crate::services::Services;
use crate::{
    ChosenBy, Diversion, FlowKey, Grounds, Instant, Refusal, ServiceId, Spillover, SpilloverAction,
    State,
};

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
    pub(crate) thresholds: Thresholds,
    pub(crate) indexing: Indexing,
}

/// What the thresholds of spillovers mean for a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thresholds {
    /// Who spills takes no flow.
    Hold,
    /// Who spills takes the flow if its settings say so.
    Accept,
    /// Nobody spills.
    Ignore,
}

impl Thresholds {
    fn hold(self, spillover: &Spillover) -> bool {
        match self {
            Self::Hold => true,
            Self::Accept => spillover.action != SpilloverAction::Accept,
            Self::Ignore => false,
        }
    }
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
    /// By what the method did; none if it did not.
    pub(crate) grounds: Option<Grounds>,
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
        if self.lingers {
            return self.choose_lingering(services, question, held);
        }
        match self.state {
            State::OutOfService => return Err(Denial::OutOfService),
            State::Down
            | State::Unknown
            | State::GoingOutOfService
            | State::DownWhenGoingOutOfService => return Err(Denial::Down),
            State::Up => {}
        }
        if let Some(spillover) = &self.settings.backup.spillover
            && question.thresholds.hold(spillover)
            && self.spills(spillover, services, question.recent)
        {
            return Err(Denial::Spilling);
        }
        let terms = self.settle_ramps(services, question.now);
        let mut keeps_entry = false;
        match held.map(|held| self.honour(&held, services, question)) {
            Some(Honour::Take(position)) => {
                return Ok(self.take(position, ChosenBy::Persistence, true, terms));
            }
            Some(Honour::Refuse) => return Err(Denial::Sticky),
            Some(Honour::Bypass) => keeps_entry = true,
            Some(Honour::Rebind) | None => {}
        }
        let rule = self.rule(question.flow);
        let mut search = Search {
            rule,
            terms,
            services,
            question,
            among: self.in_force(),
        };
        let mut position = self.find(&search, dice, scratch);
        let mut next = 1;
        while position.is_none() && next < self.sequence.len() {
            search.among = Among::Order(self.sequence[next]);
            position = self.find(&search, dice, scratch);
            next += 1;
        }
        let position = position.ok_or(Denial::Full)?;
        self.count_startup();
        Ok(Chosen {
            grounds: Some(rule.grounds(self.has_table())),
            ..self.take(position, ChosenBy::Method, keeps_entry, terms)
        })
    }

    /// Chooses while it is DOWN for nothing but services that are going out of service: who sticks to
    /// one of them is taken there.
    #[cold]
    fn choose_lingering(
        &mut self,
        services: &Services,
        question: &Question<'_>,
        held: Option<Held>,
    ) -> Result<Chosen, Denial> {
        let terms = self.settle_ramps(services, question.now);
        match held.map(|held| self.honour(&held, services, question)) {
            Some(Honour::Take(position)) => {
                Ok(self.take(position, ChosenBy::Persistence, true, terms))
            }
            Some(Honour::Refuse) => Err(Denial::Sticky),
            Some(Honour::Bypass | Honour::Rebind) | None => Err(Denial::Down),
        }
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
            grounds: None,
            keeps_entry,
        }
    }

    /// Forgets the table: what it was made of has changed.
    pub(crate) fn drop_hash_table(&mut self) {
        self.hash_table = None;
    }

    /// Finds who takes a flow by the method; none if none of those meant can.
    fn find(
        &mut self,
        search: &Search<'_>,
        dice: &mut Dice,
        scratch: &mut Vec<Candidate>,
    ) -> Option<usize> {
        let found = self.find_in_table(search);
        if found.is_some() {
            return found;
        }
        if search.terms.is_none() && search.rule.has_short_way() {
            let is_checked = search.question.indexing.is_checked;
            let expected = is_checked.then(|| self.scan(search, dice, scratch));
            let shorter = self.find_in_turn(search);
            let shorter = shorter.or_else(|| self.find_in_index(search));
            if let Some(found) = shorter.or_else(|| self.find_by_score(search)) {
                assert!(
                    expected.is_none_or(|expected| expected == found),
                    "{found:?} was found, {expected:?} by a scan"
                );
                return found;
            }
        }
        self.find_candidates(search, scratch);
        (!scratch.is_empty()).then(|| {
            let ramping = search.terms.is_some();
            let index = self.chooser.select(search.rule, scratch, ramping, dice);
            scratch[index].position
        })
    }

    /// Returns who takes a flow if all are gone through, and has no effect: what shorter ways have to
    /// find.
    fn scan(
        &mut self,
        search: &Search<'_>,
        dice: &Dice,
        scratch: &mut Vec<Candidate>,
    ) -> Option<usize> {
        self.find_candidates(search, scratch);
        let (mut chooser, mut dice) = (self.chooser.clone(), dice.clone());
        (!scratch.is_empty()).then(|| {
            let index = chooser.select(search.rule, scratch, false, &mut dice);
            scratch[index].position
        })
    }

    /// Fills `found` with the services that may take a flow, in bind order.
    fn find_candidates(&mut self, search: &Search<'_>, found: &mut Vec<Candidate>) {
        let gauge = self.gauge(search.rule, search.question);
        match (search.terms.is_some(), search.among) {
            (false, Among::All) => self.collect_by::<false, false>(search, gauge, found),
            (false, Among::Order(_)) => self.collect_by::<false, true>(search, gauge, found),
            (true, _) => {
                self.collect_by::<true, true>(search, gauge, found);
                if found.is_empty() {
                    self.collect_by::<false, true>(search, gauge, found);
                }
            }
        }
        if let Some(terms) = &search.terms
            && !found.is_empty()
            && search.among == self.in_force()
        {
            self.note_levels(terms, search.services, gauge, found);
        }
    }

    /// Returns what reads the numbers that a rule compares.
    pub(super) fn gauge(&self, rule: Rule, question: &Question<'_>) -> Gauge {
        Gauge {
            rule,
            now: question.now,
            moment: Moment::of(question.now),
            base: question.base,
            usual: if rule.is_monitored() {
                self.monitored.mean_time()
            } else {
                self.times.average().unwrap_or(0)
            },
            use_port: self.settings.hash.use_port,
        }
    }

    /// Fills `found`; `LIMITED` says whether slow starts hold services back, `ORDERED` whether only
    /// some are meant. These, as most virtual servers have neither, and the rule are constants to the
    /// loop, which is most of a choice.
    fn collect_by<const LIMITED: bool, const ORDERED: bool>(
        &self,
        search: &Search<'_>,
        gauge: Gauge,
        found: &mut Vec<Candidate>,
    ) {
        match gauge.rule {
            Rule::InTurn | Rule::AtRandom => {
                self.collect::<LIMITED, ORDERED>(search, |_| Reading::default(), found);
            }
            Rule::LeastConnection => {
                let read = |service: &Service| gauge.read_by(Rule::LeastConnection, service);
                self.collect::<LIMITED, ORDERED>(search, read, found);
            }
            Rule::LeastBandwidth => {
                let read = |service: &Service| gauge.read_by(Rule::LeastBandwidth, service);
                self.collect::<LIMITED, ORDERED>(search, read, found);
            }
            Rule::LeastPackets => {
                let read = |service: &Service| gauge.read_by(Rule::LeastPackets, service);
                self.collect::<LIMITED, ORDERED>(search, read, found);
            }
            Rule::LeastResponseTime => {
                let read = |service: &Service| gauge.read_by(Rule::LeastResponseTime, service);
                self.collect::<LIMITED, ORDERED>(search, read, found);
            }
            Rule::LeastMonitorTime => {
                let read = |service: &Service| gauge.read_by(Rule::LeastMonitorTime, service);
                self.collect::<LIMITED, ORDERED>(search, read, found);
            }
            Rule::LeastLoad => {
                let read = |service: &Service| gauge.read_by(Rule::LeastLoad, service);
                self.collect::<LIMITED, ORDERED>(search, read, found);
            }
            Rule::Hash(key) => {
                let read = |service: &Service| gauge.read_by(Rule::Hash(key), service);
                self.collect::<LIMITED, ORDERED>(search, read, found);
            }
        }
    }

    fn collect<const LIMITED: bool, const ORDERED: bool>(
        &self,
        search: &Search<'_>,
        read: impl Fn(&Service) -> Reading,
        found: &mut Vec<Candidate>,
    ) {
        found.clear();
        found.reserve(self.bindings.len());
        // A plain loop: an iterator would hand each candidate on in pieces, for five times as long.
        for (position, binding) in self.bindings.iter().enumerate() {
            let ramp = binding.ramp.as_ref().filter(|_| LIMITED);
            if (!ORDERED || search.among.includes(binding))
                && search.admits(binding)
                && !ramp.is_some_and(|ramp| ramp.holds_back())
            {
                let reading = read(search.services.at(binding.slot));
                let is_new = ramp.is_some();
                found.push(Candidate::new(position, binding.weight, reading, is_new));
            }
        }
    }

    /// Finds a position for a hash that has a table; none if it has none, or the table gives up.
    fn find_in_table(&mut self, search: &Search<'_>) -> Option<usize> {
        let Rule::Hash(key) = search.rule else {
            return None;
        };
        if self.hash_table.is_none() {
            self.hash_table = self.make_hash_table(search.services).map(Arc::new);
        }
        let admits = |position: usize| {
            let binding = &self.bindings[position];
            search.among.includes(binding) && search.admits(binding)
        };
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

/// What the search for a service goes by.
pub(super) struct Search<'a> {
    pub(super) rule: Rule,
    /// Those of the slow starts that run.
    pub(super) terms: Option<Terms>,
    pub(super) services: &'a Services,
    pub(super) question: &'a Question<'a>,
    pub(super) among: Among,
}

impl Search<'_> {
    /// Whether a service may take a flow, its slow start and its order apart.
    #[inline]
    pub(super) fn admits(&self, binding: &Binding) -> bool {
        let service = self.services.at(binding.slot);
        let Question { tried, recent, .. } = self.question;
        service.takes_flows() && service.has_room(recent) && !tried.contains(&binding.service)
    }
}
