//! How a virtual server chooses: one small file per method, and what they share.
//!
//! A method sees weights and loads, never names, sockets or time. It is given the candidates: the
//! bound services that are UP, below `maxClient` and `maxBandwidth`, not held back by a slow start and
//! not excluded by the caller, in bind order, as a contiguous slice that is never empty. It returns an index of it.
//! A hash with a table finds a service without looking at all of them; that is in `hash`.
//!
//! Shared are the [`Cursor`] (whose turn it is, which also breaks ties) and the comparison of
//! weighted loads in [`least`]. A method that compares a number has a file with that number alone.

mod cursor;
mod least;
mod least_bandwidth;
mod least_connection;
mod least_load;
mod least_monitor_time;
mod least_packets;
mod least_response_time;
mod random;
mod rendezvous;
mod round_robin;
mod tournament;

use std::time::Duration;

use crate::dice::Dice;
use crate::fading::Moment;
use crate::hash::Key;
use crate::service::Service;
use crate::window::WINDOW_STEP;
use crate::{FlowKey, Grounds, Instant, Method, Token, VserverSettings, Weight};

use cursor::Cursor;
pub(crate) use least::is_less;
pub(crate) use rendezvous::{precedes, read as score};
use round_robin::Round;
pub(crate) use tournament::{Tournament, Value};

/// One service that could be chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    /// Its place in bind order, over all bound services.
    pub(crate) position: usize,
    pub(crate) weight: Weight,
    /// The number that the method compares, the less the better; see [`Gauge`].
    pub(crate) load: u64,
    /// What decides between equal loads of a hash.
    pub(crate) tie: u64,
    /// Whether it is worse than every other that does not, whatever the loads.
    pub(crate) behind: bool,
    /// Whether it is in its slow start, and the limit of that is in force.
    pub(crate) is_new: bool,
}

impl Candidate {
    /// Makes the candidate for the service bound at `position`.
    pub(crate) fn new(position: usize, weight: Weight, reading: Reading, is_new: bool) -> Self {
        let Reading { load, tie, behind } = reading;
        Self {
            position,
            weight,
            load,
            tie,
            behind,
            is_new,
        }
    }
}

impl Candidate {
    /// Whether it has less load for its weight than one of `load` and `weight`.
    #[inline]
    pub(crate) fn is_below(&self, load: u64, weight: Weight) -> bool {
        let own = u128::from(self.load) * u128::from(weight.value());
        own < u128::from(load) * u128::from(self.weight.value())
    }
}

/// What a method sees of one service.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reading {
    pub(crate) load: u64,
    pub(crate) tie: u64,
    pub(crate) behind: bool,
}

/// How one flow is given a service: its virtual server's method, applied to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    InTurn,
    AtRandom,
    LeastConnection,
    LeastBandwidth,
    LeastPackets,
    LeastResponseTime,
    LeastMonitorTime,
    LeastLoad,
    Hash(Key),
}

impl Rule {
    /// Returns the rule for `flow`.
    pub(crate) fn new(settings: &VserverSettings, flow: &FlowKey) -> Self {
        match settings.method {
            Method::RoundRobin => Self::InTurn,
            Method::LeastConnection | Method::LeastRequest => Self::LeastConnection,
            Method::LeastBandwidth => Self::LeastBandwidth,
            Method::LeastPackets => Self::LeastPackets,
            Method::LeastResponseTime => Self::LeastResponseTime,
            Method::LeastMonitorTime => Self::LeastMonitorTime,
            Method::CustomLoad => Self::LeastLoad,
            Method::Random => Self::AtRandom,
            Method::SourceIpHash => Self::Hash(Key::of_address(flow.src, &settings.hash)),
            Method::DestinationIpHash => Self::Hash(Key::of_address(flow.dst, &settings.hash)),
            Method::SrcIpDestIpHash => Self::Hash(Key::of_addresses(flow.src, flow.dst)),
            Method::SrcIpSrcPortHash => Self::Hash(Key::of_address_and_port(flow.src)),
            Method::Token(_) => {
                let hash = |token: Token| Self::Hash(token.key());
                flow.token.map_or(Self::LeastConnection, hash)
            }
        }
    }

    /// Whether loads are compared, for their weights.
    pub(crate) fn compares(self) -> bool {
        match self {
            Self::InTurn | Self::AtRandom => false,
            Self::LeastConnection
            | Self::LeastBandwidth
            | Self::LeastPackets
            | Self::LeastResponseTime
            | Self::LeastMonitorTime
            | Self::LeastLoad
            | Self::Hash(_) => true,
        }
    }

    /// Whether the service is found by comparing loads that change with what happens, and not with the
    /// flow.
    pub(crate) fn is_indexed(self) -> bool {
        match self {
            Self::LeastConnection
            | Self::LeastBandwidth
            | Self::LeastPackets
            | Self::LeastResponseTime
            | Self::LeastMonitorTime
            | Self::LeastLoad => true,
            Self::InTurn | Self::AtRandom | Self::Hash(_) => false,
        }
    }

    /// Returns by what it finds a service; `has_table` says whether hashes are looked up.
    pub(crate) fn grounds(self, has_table: bool) -> Grounds {
        match self {
            Self::InTurn => Grounds::Turn,
            Self::AtRandom => Grounds::Chance,
            Self::LeastConnection
            | Self::LeastBandwidth
            | Self::LeastPackets
            | Self::LeastResponseTime
            | Self::LeastMonitorTime
            | Self::LeastLoad => Grounds::Least,
            Self::Hash(_) if has_table => Grounds::HashTable,
            Self::Hash(_) => Grounds::Hash,
        }
    }

    /// Whether the service may be found without making candidates of all.
    pub(crate) fn has_short_way(self) -> bool {
        self != Self::AtRandom
    }

    /// How far ahead lower bounds of loads are made: far enough to be made seldom, near enough to be
    /// close to the loads.
    ///
    /// Source: own choice: response times fade by 2 % in 250 ms, which is much among many services that
    /// are alike; connections that failures count as go on in whole numbers.
    pub(crate) fn outlook(self) -> Duration {
        match self {
            Self::LeastResponseTime => Duration::from_millis(16),
            Self::InTurn
            | Self::AtRandom
            | Self::LeastConnection
            | Self::LeastBandwidth
            | Self::LeastPackets
            | Self::LeastMonitorTime
            | Self::LeastLoad
            | Self::Hash(_) => WINDOW_STEP,
        }
    }

    /// Whether the load is less when a flow ends.
    pub(crate) fn counts_connections(self) -> bool {
        self == Self::LeastConnection || self.counts_times()
    }

    /// Whether the load is less when a flow is answered.
    pub(crate) fn counts_times(self) -> bool {
        matches!(self, Self::LeastResponseTime | Self::LeastMonitorTime)
    }

    /// Whether the load is what monitors report, or made of it.
    pub(crate) fn is_monitored(self) -> bool {
        matches!(self, Self::LeastMonitorTime | Self::LeastLoad)
    }

    /// Whether a service that takes traffic in and gives none back would look idle.
    fn counts_traffic(self) -> bool {
        matches!(self, Self::LeastBandwidth | Self::LeastPackets)
    }
}

/// Reads the number that a rule compares from one service after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gauge {
    pub(crate) rule: Rule,
    pub(crate) now: Instant,
    /// `now`, for what fades.
    pub(crate) moment: Moment,
    /// The slot of the windows' baseline.
    pub(crate) base: usize,
    /// How long an answer takes on the virtual server, to clients or to monitors, in nanoseconds; 0
    /// before the first.
    pub(crate) usual: u64,
    /// Whether a service's port is part of what identifies it.
    pub(crate) use_port: bool,
}

impl Gauge {
    /// Returns what the rule sees of a service.
    pub(crate) fn read(&self, service: &Service) -> Reading {
        self.read_by(self.rule, service)
    }

    /// Returns what `rule`, which is the gauge's, sees of a service.
    #[inline(always)]
    pub(crate) fn read_by(&self, rule: Rule, service: &Service) -> Reading {
        let load = match rule {
            Rule::InTurn | Rule::AtRandom => 0,
            Rule::LeastConnection => least_connection::load(service, self.moment),
            Rule::LeastBandwidth => least_bandwidth::load(service, self.base),
            Rule::LeastPackets => least_packets::load(service, self.base),
            Rule::LeastResponseTime => {
                least_response_time::load(service, self.usual, self.moment, self.now)
            }
            Rule::LeastMonitorTime => {
                least_monitor_time::load(service, self.usual, self.moment, self.now)
            }
            Rule::LeastLoad => least_load::load(service),
            Rule::Hash(key) => return rendezvous::read(service.identity, key, self.use_port),
        };
        Reading {
            load,
            tie: 0,
            behind: rule.counts_traffic() && service.stands_behind(self.now),
        }
    }
}

/// How far the future of a load is known, if nothing happens that makes one fall.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Horizon {
    /// The end of it.
    moment: Moment,
    /// What a usual answer takes at least until then, in nanoseconds.
    pub(crate) least_usual: u64,
}

impl Horizon {
    /// Makes the horizon that ends with `until`; `usual` is what an answer takes now.
    pub(crate) fn new(usual: u64, until: Instant) -> Self {
        Self {
            moment: Moment::of(until),
            least_usual: usual - usual / 256,
        }
    }
}

impl Gauge {
    /// Returns what the load of a service is not below until the horizon, if no flow of it ends or is
    /// answered. For what counts traffic it is the load itself: within a window it only grows.
    #[inline]
    pub(crate) fn bound(&self, service: &Service, horizon: &Horizon) -> u64 {
        match self.rule {
            Rule::InTurn | Rule::AtRandom | Rule::Hash(_) => 0,
            Rule::LeastConnection => least_connection::load(service, horizon.moment),
            Rule::LeastBandwidth => least_bandwidth::load(service, self.base),
            Rule::LeastPackets => least_packets::load(service, self.base),
            Rule::LeastResponseTime => {
                let span = (self.moment, horizon.moment);
                least_response_time::bound(service, horizon.least_usual, span, self.now)
            }
            Rule::LeastMonitorTime => {
                let usual = horizon.least_usual;
                least_monitor_time::load(service, usual, horizon.moment, self.now)
            }
            Rule::LeastLoad => least_load::load(service),
        }
    }
}

/// The method of one virtual server with its state.
///
/// The cursor belongs to the virtual server and outlives a change of method, so that a change does
/// not send the next client to the first service again.
#[derive(Clone, Debug)]
pub(crate) struct Chooser {
    method: Method,
    cursor: Cursor,
    round: Round,
}

impl Chooser {
    /// Makes the chooser of a virtual server without bound services.
    pub(crate) fn new(method: Method) -> Self {
        Self {
            method,
            cursor: Cursor::default(),
            round: Round::default(),
        }
    }

    /// Returns the method.
    pub(crate) fn method(&self) -> Method {
        self.method
    }

    /// Returns how many requests of the round the service at `position` has had.
    pub(crate) fn served(&self, position: usize) -> u64 {
        self.round.served(position)
    }

    /// Changes the method. A round that was under way is dropped, the cursor stays.
    pub(crate) fn set_method(&mut self, method: Method) {
        if method != self.method {
            self.method = method;
            self.round.restart();
        }
    }

    /// Begins a new round.
    pub(crate) fn restart_round(&mut self) {
        self.round.restart();
    }

    /// Notes that a service joined, last in bind order.
    pub(crate) fn bind(&mut self) {
        self.round.bind();
    }

    /// Notes that the service at `position` left.
    pub(crate) fn unbind(&mut self, position: usize) {
        self.cursor.unbind(position);
        self.round.unbind(position);
    }

    /// Notes that the service at `position` is no longer new; `existing` are the others that are
    /// not, by position and weight.
    pub(crate) fn end_ramp(
        &mut self,
        position: usize,
        weight: u64,
        existing: impl Iterator<Item = (usize, u64)>,
    ) {
        self.round.catch_up(position, weight, existing);
    }

    /// Returns whose turn it is among so many bound services.
    pub(crate) fn turn(&self, bound: usize) -> usize {
        self.cursor.position(bound)
    }

    /// Notes that a service was found in turn, without [`Self::select`].
    pub(crate) fn pass(&mut self, position: usize) {
        self.cursor.pass(position);
    }

    /// Whether the service at `position`, of this weight, may be served once more in the round.
    pub(crate) fn has_quota(&self, position: usize, weight: Weight) -> bool {
        self.round.has_quota(position, weight)
    }

    /// Serves the service at `position` in turn; `is_first` says whether a new round begins with it.
    pub(crate) fn serve_in_turn(&mut self, position: usize, is_first: bool) {
        if is_first {
            self.round.restart();
        }
        self.round.serve(position);
        self.cursor.pass(position);
    }

    /// Chooses one of `candidates`, of which there is at least one; `ramping` says whether some may
    /// be new.
    pub(crate) fn select(
        &mut self,
        rule: Rule,
        candidates: &[Candidate],
        ramping: bool,
        dice: &mut Dice,
    ) -> usize {
        if ramping
            && rule == Rule::InTurn
            && let Some(index) = self.round.select_new(candidates)
        {
            return index;
        }
        let from = self.cursor.start(candidates);
        let index = match rule {
            Rule::InTurn => self.round.select(candidates, from),
            Rule::LeastConnection
            | Rule::LeastBandwidth
            | Rule::LeastPackets
            | Rule::LeastResponseTime
            | Rule::LeastMonitorTime
            | Rule::LeastLoad => least::select(candidates, from),
            Rule::AtRandom => return random::select(candidates, dice),
            Rule::Hash(_) => return rendezvous::select(candidates),
        };
        self.cursor.pass(candidates[index].position);
        index
    }
}
