//! The model: settings, open flows and bytes by the second, and the rules as the manual says them.

use std::collections::{BTreeMap, BTreeSet};

use sluice_balance::{
    Bind, Diversion, Order, Refusal, Reservation, ServiceSettings, SpilloverAction,
    SpilloverMethod, State, VserverSettings,
};

/// What is known of a virtual server.
pub(super) struct Front {
    pub(super) settings: VserverSettings,
    pub(super) bindings: Vec<Bind>,
    pub(super) state: State,
    pub(super) is_held_down: bool,
    pub(super) hits: u64,
    pub(super) active: u64,
    pub(super) refused: u64,
    /// Because it was DOWN, and because it had no room.
    pub(super) passed_on: [u64; 2],
    /// Who keeps to whom, and when it came last.
    keeps: BTreeMap<u8, (u32, u64)>,
}

#[derive(Default)]
pub(super) struct Model {
    pub(super) second: u64,
    pub(super) services: BTreeMap<u32, ServiceSettings>,
    pub(super) vservers: BTreeMap<u32, Front>,
    active: BTreeMap<u32, u64>,
    /// Second, virtual server, service and bytes.
    log: Vec<(u64, u32, u32, u64)>,
}

/// Who has to serve a flow: one virtual server, by one of some services.
#[derive(Debug)]
pub(super) struct Expected {
    pub(super) by: u32,
    pub(super) able: BTreeSet<u32>,
    pub(super) diversion: Option<Diversion>,
}

/// Which thresholds a question goes by.
#[derive(Clone, Copy, PartialEq)]
enum Thresholds {
    All,
    ThoseThatDrop,
    None,
}

impl Model {
    pub(super) fn add_vserver(&mut self, number: u32, settings: VserverSettings) {
        let front = Front {
            settings,
            bindings: Vec::new(),
            state: State::Down,
            is_held_down: false,
            hits: 0,
            active: 0,
            refused: 0,
            passed_on: [0; 2],
            keeps: BTreeMap::new(),
        };
        self.vservers.insert(number, front);
    }

    pub(super) fn bound(&self, v: u32, s: u32) -> Option<&Bind> {
        let mut bindings = self.vservers[&v].bindings.iter();
        bindings.find(|bind| bind.service.0 == s)
    }

    pub(super) fn bind(&mut self, bind: Bind) {
        let front = self.vservers.get_mut(&bind.vserver.0).unwrap();
        front.bindings.push(bind);
    }

    pub(super) fn weigh(&mut self, bind: Bind) {
        let front = self.vservers.get_mut(&bind.vserver.0).unwrap();
        let mut bindings = front.bindings.iter_mut();
        *bindings
            .find(|known| known.service == bind.service)
            .unwrap() = bind;
    }

    pub(super) fn unbind(&mut self, v: u32, s: u32) {
        let front = self.vservers.get_mut(&v).unwrap();
        front.bindings.retain(|bind| bind.service.0 != s);
    }

    pub(super) fn set(&mut self, v: u32, change: impl FnOnce(&mut VserverSettings)) {
        let second = self.second;
        let front = self.vservers.get_mut(&v).unwrap();
        let former = front.keeping();
        change(&mut front.settings);
        if !front.settings.enabled || !front.stays_down() {
            front.is_held_down = false;
        }
        match (former, front.keeping()) {
            (_, None) => front.keeps.clear(),
            (Some(former), Some(now)) if former != now => {
                front.keeps.retain(|_, (_, last)| *last + former > second);
            }
            (None | Some(_), Some(_)) => {}
        }
    }

    /// Brings the states in line, as after each change.
    pub(super) fn update_states(&mut self) {
        let states: Vec<_> = self.vservers.keys().map(|v| (*v, self.state(*v))).collect();
        for (v, state) in states {
            let front = self.vservers.get_mut(&v).unwrap();
            if front.state == State::Up && state == State::Down {
                front.is_held_down = front.stays_down();
            }
            front.state = state;
        }
    }

    fn state(&self, v: u32) -> State {
        let front = &self.vservers[&v];
        let (up, bound) = self.weights(v);
        let is_healthy = up > 0 && 100 * up >= front.settings.health_threshold.value() * bound;
        match (front.settings.enabled, is_healthy && !front.is_held_down) {
            (false, _) => State::OutOfService,
            (true, true) => State::Up,
            (true, false) => State::Down,
        }
    }

    pub(super) fn effective(&self, v: u32) -> State {
        let is_up = |v: &u32| self.vservers[v].state == State::Up;
        if self.chain(v).iter().any(is_up) {
            State::Up
        } else {
            self.vservers[&v].state
        }
    }

    pub(super) fn is_spilling(&self, v: u32) -> bool {
        self.vservers[&v].state == State::Up && self.has_enough(v)
    }

    /// Says who has to serve a flow.
    pub(super) fn serve(&self, v: u32, host: u8, tried: &[u32]) -> Result<Expected, Refusal> {
        if let Some(by) = self.kept(v, host)
            && let Ok(able) = self.able(by, tried, Thresholds::None)
        {
            let is_up = self.vservers[&v].state == State::Up;
            let diversion = if is_up {
                Diversion::Spillover
            } else {
                Diversion::Down
            };
            let diversion = (by != v).then_some(diversion);
            return Ok(Expected {
                by,
                able,
                diversion,
            });
        }
        let own = self.able(v, tried, Thresholds::All);
        let Err(refusal) = own else {
            let (by, diversion) = (v, None);
            return own.map(|able| Expected {
                by,
                able,
                diversion,
            });
        };
        let diversion = match refusal {
            Refusal::Down | Refusal::OutOfService => Diversion::Down,
            Refusal::Full | Refusal::Spilling | Refusal::NoVserver => Diversion::Spillover,
        };
        for thresholds in [Thresholds::All, Thresholds::ThoseThatDrop] {
            for by in self.chain(v) {
                if let Ok(able) = self.able(by, tried, thresholds) {
                    let diversion = (by != v).then_some(diversion);
                    return Ok(Expected {
                        by,
                        able,
                        diversion,
                    });
                }
            }
        }
        Err(refusal)
    }

    /// Notes that a place was given; returns whether that is a hit of the virtual server.
    pub(super) fn serves(&mut self, reservation: &Reservation, host: u8, tried: &[u32]) -> bool {
        let (v, by, s) = names(reservation);
        let had_it = tried.iter().any(|s| self.bound(by, *s).is_some());
        let is_first = tried.is_empty() || by != v && !had_it;
        let second = self.second;
        let hits = u64::from(is_first);
        *self.active.entry(s).or_default() += 1;
        let server = self.vservers.get_mut(&by).unwrap();
        server.active += 1;
        server.hits += hits;
        let is_kept = self.kept(v, host) == Some(by);
        let front = self.vservers.get_mut(&v).unwrap();
        match reservation.diversion() {
            Some(Diversion::Down) => front.passed_on[0] += hits,
            Some(Diversion::Spillover) => front.passed_on[1] += hits,
            None => {}
        }
        let has_spilled = reservation.diversion() != Some(Diversion::Down);
        if front.keeping().is_some() && (is_kept || has_spilled) {
            front.keeps.insert(host, (by, second));
        }
        is_first
    }

    /// Notes the end of a flow.
    pub(super) fn close(&mut self, reservation: &Reservation) {
        let (_, by, s) = names(reservation);
        *self.active.get_mut(&s).unwrap() -= 1;
        self.vservers.get_mut(&by).unwrap().active -= 1;
    }

    /// Says that a place was never used.
    pub(super) fn take_back(&mut self, reservation: &Reservation, is_first: bool) {
        let (v, by, _) = names(reservation);
        self.close(reservation);
        let hits = u64::from(is_first);
        self.vservers.get_mut(&by).unwrap().hits -= hits;
        let passed_on = &mut self.vservers.get_mut(&v).unwrap().passed_on;
        match reservation.diversion() {
            Some(Diversion::Down) => passed_on[0] -= hits,
            Some(Diversion::Spillover) => passed_on[1] -= hits,
            None => {}
        }
    }

    pub(super) fn flowed(&mut self, reservation: &Reservation, bytes: u64) {
        let (_, by, s) = names(reservation);
        self.log.push((self.second, by, s, bytes));
    }

    fn chain(&self, v: u32) -> Vec<u32> {
        let next = |v: &u32| Some(self.vservers[v].settings.backup.vserver?.0);
        std::iter::successors(Some(v), next).collect()
    }

    fn kept(&self, v: u32, host: u8) -> Option<u32> {
        let front = &self.vservers[&v];
        let (by, last) = *front.keeps.get(&host)?;
        let is_alive = last + front.keeping()? > self.second;
        (is_alive && self.chain(v).contains(&by)).then_some(by)
    }

    /// Returns which services of a virtual server may take a flow.
    fn able(
        &self,
        v: u32,
        tried: &[u32],
        thresholds: Thresholds,
    ) -> Result<BTreeSet<u32>, Refusal> {
        let front = &self.vservers[&v];
        match front.state {
            State::Up => {}
            State::Down
            | State::Unknown
            | State::GoingOutOfService
            | State::DownWhenGoingOutOfService => return Err(Refusal::Down),
            State::OutOfService => return Err(Refusal::OutOfService),
        }
        let spillover = front.settings.backup.spillover;
        let drops = spillover.is_some_and(|own| own.action == SpilloverAction::Drop);
        let counts = match thresholds {
            Thresholds::All => true,
            Thresholds::ThoseThatDrop => drops,
            Thresholds::None => false,
        };
        if counts && self.has_enough(v) {
            return Err(Refusal::Spilling);
        }
        let has_room = |bind: &&Bind| {
            let s = bind.service.0;
            self.is_up(s) && !tried.contains(&s) && self.has_room(s)
        };
        for order in self.orders(v) {
            let of_order = front.bindings.iter().filter(|bind| bind.order == order);
            let able: BTreeSet<_> = of_order
                .filter(has_room)
                .map(|bind| bind.service.0)
                .collect();
            if !able.is_empty() {
                return Ok(able);
            }
        }
        Err(Refusal::Full)
    }

    /// Returns the orders that have a service that is UP, the best first.
    fn orders(&self, v: u32) -> Vec<Option<Order>> {
        let front = &self.vservers[&v];
        let orders = front.settings.orders;
        let up = |order| {
            let of_order = front.bindings.iter().filter(|bind| bind.order == order);
            of_order.filter(|bind| self.is_up(bind.service.0)).count() as u64
        };
        let mut numbers: Vec<_> = (1..=3).collect();
        if orders.descending {
            numbers.reverse();
        }
        let mut all: Vec<_> = numbers
            .into_iter()
            .map(|number| Order::new(number).ok())
            .collect();
        all.push(None);
        let (enough, short): (Vec<_>, Vec<_>) = all
            .into_iter()
            .partition(|order| up(*order) >= u64::from(orders.threshold.max(1)));
        enough
            .into_iter()
            .chain(short)
            .filter(|order| up(*order) > 0)
            .collect()
    }

    fn has_enough(&self, v: u32) -> bool {
        let front = &self.vservers[&v];
        let Some(spillover) = front.settings.backup.spillover else {
            return false;
        };
        match spillover.method {
            SpilloverMethod::Connections(most) => front.active >= u64::from(most),
            SpilloverMethod::DynamicConnections => {
                let up = front
                    .bindings
                    .iter()
                    .filter(|bind| self.is_up(bind.service.0));
                let limits = up.map(|bind| self.services[&bind.service.0].max_client);
                let limits: Option<Vec<_>> = limits.collect();
                limits.is_some_and(|all| front.active >= all.into_iter().map(u64::from).sum())
            }
            SpilloverMethod::Bandwidth(kbit) => {
                self.recent(|by, _| by == v) * 8 > u64::from(kbit) * 1_000
            }
            SpilloverMethod::Health(part) => {
                let (up, bound) = self.weights(v);
                100 * up < part.value() * bound
            }
        }
    }

    fn weights(&self, v: u32) -> (u64, u64) {
        let bindings = &self.vservers[&v].bindings;
        let up = bindings.iter().filter(|bind| self.is_up(bind.service.0));
        let sum = |weights: &mut dyn Iterator<Item = &Bind>| {
            weights.map(|bind| bind.weight.value()).sum::<u64>()
        };
        (sum(&mut up.into_iter()), sum(&mut bindings.iter()))
    }

    fn is_up(&self, s: u32) -> bool {
        self.services[&s].enabled
    }

    fn has_room(&self, s: u32) -> bool {
        let settings = &self.services[&s];
        let active = self.active.get(&s).copied().unwrap_or_default();
        let is_free = settings
            .max_client
            .is_none_or(|most| active < u64::from(most));
        let bits = 8 * self.recent(|_, service| service == s);
        is_free
            && settings
                .max_bandwidth
                .is_none_or(|kbit| bits <= u64::from(kbit) * 1_000)
    }

    /// Returns the bytes of this second and the last one.
    fn recent(&self, is_meant: impl Fn(u32, u32) -> bool) -> u64 {
        let recent = self
            .log
            .iter()
            .filter(|(second, ..)| *second + 1 >= self.second);
        let meant = recent.filter(|(_, v, s, _)| is_meant(*v, *s));
        meant.map(|(.., bytes)| bytes).sum()
    }
}

impl Front {
    /// Returns for how many seconds clients keep to whom.
    fn keeping(&self) -> Option<u64> {
        let spillover = self.settings.backup.spillover?;
        Some(spillover.persistence?.duration().as_secs())
    }

    fn stays_down(&self) -> bool {
        let backup = &self.settings.backup;
        backup.disable_primary_on_down && backup.vserver.is_some()
    }
}

fn names(reservation: &Reservation) -> (u32, u32, u32) {
    let dialled = reservation.dialled().0;
    (dialled, reservation.vserver().0, reservation.service().0)
}
