//! Finding the least loaded of many services without going through all of them.
//!
//! Owns a lower bound of each service's load, in a [`Tournament`]. A load may rise at any time and
//! nobody has to say so: counters grow without the engine. What makes one fall is known beforehand, or
//! said: bounds hold until [`Basis::until`], but for services whose flows ended or were answered.
//!
//! A choice takes the service with the least bound and reads its load. Is the load its bound, then nobody
//! has less, and it is found; is it more, then the bound rises and the next one is looked at. Nearly
//! always these are two or three services. The choice is that of the scan, exactly: in debug builds
//! each one is compared with it.
//!
//! Some services have a bound that their load does not reach, or cannot take the flow: they are put
//! aside for the choice. So many services of that kind in front cost a choice as much as a scan of them:
//! those that stand behind for their silence, are over `maxBandwidth`, or failed the flow.
//!
//! Invariants: while there is a basis, no service that may take a flow has less than its bound, but
//! for those in `fallen`; whatever changes bindings, states or settings drops the basis.

use super::choice::Search;
use super::{Binding, Vserver};
use crate::Instant;
use crate::method::{Gauge, Horizon, Rule, Tournament, Value};
use crate::services::Slot;

/// The lower bounds of one virtual server's services.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    basis: Option<Basis>,
    bounds: Tournament,
    /// Positions by slot, in the order of slots; empty if bindings have changed.
    slots: Vec<(Slot, u32)>,
    /// Services whose load has fallen since the last choice.
    fallen: Vec<Slot>,
    /// Room for what a choice puts aside.
    aside: Vec<(usize, Value)>,
}

/// What bounds were made for.
#[derive(Clone, Copy, Debug)]
struct Basis {
    rule: Rule,
    /// The slot of the windows' baseline.
    base: usize,
    /// How far the bounds look ahead.
    until: Instant,
    horizon: Horizon,
}

/// What a choice sees of one service.
struct Sight {
    bound: Value,
    /// Its load, and whether it stands behind; none if it cannot take the flow.
    now: Option<(Value, bool)>,
}

/// The best of those that were put aside.
#[derive(Clone, Copy)]
struct Best {
    position: usize,
    value: Value,
    behind: bool,
}

impl Index {
    /// Forgets what is known of the services: bindings, states or settings have changed.
    pub(crate) fn reset(&mut self) {
        self.basis = None;
        self.slots.clear();
        self.fallen.clear();
    }

    /// Notes that a flow of a service has ended; `is_limited` says whether that may give it room.
    pub(crate) fn note_end(&mut self, slot: Slot, is_limited: bool) {
        let counts = |basis: Basis| is_limited || basis.rule.counts_connections();
        if self.basis.is_some_and(counts) {
            self.note_fall(slot);
        }
    }

    /// Notes that a service has answered: what it is expected to take has changed.
    pub(crate) fn note_answer(&mut self, slot: Slot) {
        let counts = |basis: Basis| basis.rule.counts_times();
        if self.basis.is_some_and(counts) {
            self.note_fall(slot);
        }
    }

    /// Notes that monitors report something else of a service.
    pub(crate) fn note_values(&mut self, slot: Slot) {
        if self.basis.is_some_and(|basis| basis.rule.is_monitored()) {
            self.note_fall(slot);
        }
    }

    fn note_fall(&mut self, slot: Slot) {
        if self.fallen.len() < self.slots.len() {
            self.fallen.push(slot);
        } else {
            self.basis = None;
        }
    }

    /// Whether the bounds hold.
    fn is_current(&self, gauge: &Gauge) -> bool {
        self.basis.is_some_and(|basis| {
            basis.rule == gauge.rule
                && basis.base == gauge.base
                && gauge.now <= basis.until
                && (!basis.rule.counts_times() || gauge.usual >= basis.horizon.least_usual)
        })
    }

    /// Makes all bounds anew.
    fn rebuild(&mut self, bindings: &[Binding], bound: impl Fn(&Binding) -> Value) {
        self.fallen.clear();
        if self.slots.is_empty() {
            let slots = (0..).zip(bindings).map(|(position, b)| (b.slot, position));
            self.slots.extend(slots);
            self.slots.sort_unstable();
        }
        self.bounds.fill(bindings.iter().map(bound));
    }

    /// Brings in what has fallen.
    fn lower(&mut self, bindings: &[Binding], bound: impl Fn(&Binding) -> Value) {
        while let Some(slot) = self.fallen.pop() {
            let found = self.slots.binary_search_by_key(&slot, |&(slot, _)| slot);
            if let Ok(found) = found {
                let position = self.slots[found].1 as usize;
                self.bounds.set(position, bound(&bindings[position]));
            }
        }
    }

    /// Returns the least loaded service, in turn from `from` on; none if none can take the flow.
    fn find(&mut self, from: usize, see: impl Fn(usize) -> Sight) -> Option<usize> {
        let mut best: Option<Best> = None;
        // Whose bound is its load.
        let mut exact = None;
        loop {
            let head = self.bounds.first(from);
            let former = self.bounds.value(head);
            if former.is_never() || best.is_some_and(|best| best.beats(former, head, from)) {
                break;
            }
            if exact == Some(head) {
                best = Some(Best::new(head, former, false));
                break;
            }
            let Sight { bound, now } = see(head);
            debug_assert!(!bound.is_less(former), "a load fell and nobody said so");
            match now {
                Some((value, false)) if !bound.is_less(value) => {
                    exact = Some(head);
                    if former.is_less(bound) {
                        self.bounds.set(head, bound);
                    }
                }
                Some((value, behind)) => {
                    self.put_aside(head, bound);
                    let own = Best::new(head, value, behind);
                    best = Some(best.map_or(own, |best| best.or(own, from)));
                }
                None => self.put_aside(head, bound),
            }
        }
        for (position, bound) in self.aside.drain(..) {
            self.bounds.set(position, bound);
        }
        best.map(|best| best.position)
    }

    /// Takes a service out for this choice; for good if nothing but an event brings it back.
    fn put_aside(&mut self, position: usize, bound: Value) {
        self.bounds.set(position, Value::NEVER);
        if !bound.is_never() {
            self.aside.push((position, bound));
        }
    }
}

impl Basis {
    fn new(gauge: &Gauge) -> Self {
        let until = gauge.now + gauge.rule.outlook();
        Self {
            rule: gauge.rule,
            base: gauge.base,
            until,
            horizon: Horizon::new(gauge.usual, until),
        }
    }
}

impl Best {
    fn new(position: usize, value: Value, behind: bool) -> Self {
        Self {
            position,
            value,
            behind,
        }
    }

    /// Whether one at `position` that has at least `bound` is not chosen before this one.
    fn beats(self, bound: Value, position: usize, from: usize) -> bool {
        let is_first = turn(self.position, from) < turn(position, from);
        !self.behind && (self.value.is_less(bound) || is_first && !bound.is_less(self.value))
    }

    /// Returns the one that is chosen before the other.
    fn or(self, other: Self, from: usize) -> Self {
        let is_first = turn(self.position, from) < turn(other.position, from);
        let is_better = if self.behind == other.behind {
            self.value.is_less(other.value) || is_first && !other.value.is_less(self.value)
        } else {
            other.behind
        };
        if is_better { self } else { other }
    }
}

/// Returns how a position compares in turn from `from` on.
fn turn(position: usize, from: usize) -> (bool, usize) {
    (position < from, position)
}

impl Vserver {
    /// Finds a service by the index, if that is how it is done: for a method that compares loads, on a
    /// virtual server with many services of which none is new.
    pub(super) fn find_in_index(&mut self, search: &Search<'_>) -> Option<Option<usize>> {
        if self.bindings.len() < search.question.indexing.from
            || !search.rule.is_indexed()
            || search.terms.is_some()
            || search.among != self.in_force()
        {
            return None;
        }
        let found = self.find_by_bounds(search);
        if let Some(position) = found {
            self.chooser.pass(position);
        }
        Some(found)
    }

    fn find_by_bounds(&mut self, search: &Search<'_>) -> Option<usize> {
        let gauge = self.gauge(search.rule, search.question);
        let Self {
            index,
            bindings,
            chooser,
            ..
        } = self;
        if !index.is_current(&gauge) {
            index.basis = None;
        }
        let is_new = index.basis.is_none();
        let basis = *index.basis.get_or_insert_with(|| Basis::new(&gauge));
        let bound = |binding: &Binding| search.bound(binding, &gauge, &basis.horizon);
        if is_new {
            index.rebuild(bindings, bound);
        } else {
            index.lower(bindings, bound);
        }
        let see = |position: usize| {
            let binding = &bindings[position];
            Sight {
                bound: bound(binding),
                now: search.load(binding, &gauge),
            }
        };
        index.find(chooser.turn(bindings.len()), see)
    }
}

impl Search<'_> {
    /// Returns what the load of a service is not below, as long as the basis holds.
    fn bound(&self, binding: &Binding, gauge: &Gauge, horizon: &Horizon) -> Value {
        let service = self.services.at(binding.slot);
        if self.among.includes(binding) && service.takes_flows() && !service.is_full() {
            Value::new(gauge.bound(service, horizon), binding.weight)
        } else {
            Value::NEVER
        }
    }

    /// Returns the load of a service and whether it stands behind; none if it cannot take the flow.
    fn load(&self, binding: &Binding, gauge: &Gauge) -> Option<(Value, bool)> {
        if !self.among.includes(binding) || !self.admits(binding) {
            return None;
        }
        let reading = gauge.read(self.services.at(binding.slot));
        Some((Value::new(reading.load, binding.weight), reading.behind))
    }
}

/// When choices are made by the index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Indexing {
    /// The fewest bound services.
    pub(crate) from: usize,
    /// Whether each choice is compared with a scan.
    pub(crate) is_checked: bool,
}

impl Default for Indexing {
    fn default() -> Self {
        Self {
            from: MANY,
            is_checked: false,
        }
    }
}

/// How many services are many.
///
/// Source: own choice, measured: with fewer a scan is as fast.
const MANY: usize = 32;
