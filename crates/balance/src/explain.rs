//! What the core says about who would get the next flow, and why.
//!
//! Owns the words of the answer alone; who gives it is [`Engine::explain`](crate::Engine::explain).

use core::net::{IpAddr, Ipv4Addr, SocketAddr};

use crate::{
    Diversion, FlowKey, Method, Order, RampStatus, Refusal, ServiceId, State, VserverId, Weight,
};

/// A client that may come, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Client {
    /// Its address.
    pub src: Option<IpAddr>,
    /// Its port.
    pub src_port: Option<u16>,
    /// The address it dials; if none is given, that of the virtual server.
    pub dst: Option<IpAddr>,
}

/// What of a client is looked at and not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Missing {
    /// Its address.
    pub src: bool,
    /// Its port.
    pub src_port: bool,
    /// The address it dials.
    pub dst: bool,
    /// The bytes it begins with.
    pub token: bool,
}

/// Who would get the next flow of a client, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The virtual servers that are asked, in turn, beginning with the one that is dialled; or the
    /// one alone that the client keeps to.
    pub asked: Vec<Asked>,
    /// What becomes of the flow.
    pub outcome: Outcome,
    /// What could change the outcome if it were known. Until then it is that of a client without a
    /// persistence entry, and without a token.
    pub assumed_without: Missing,
}

/// What becomes of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// This service gets it.
    Service {
        /// Who serves it.
        vserver: VserverId,
        /// Why that is not the virtual server that is dialled.
        diversion: Option<Diversion>,
        /// Who gets it.
        service: ServiceId,
    },
    /// One of several services of the virtual server gets it by chance, each by its weight.
    Chance {
        /// Who serves it.
        vserver: VserverId,
        /// Why that is not the virtual server that is dialled.
        diversion: Option<Diversion>,
    },
    /// The virtual server serves it by something of the client that is not known.
    Unknown {
        /// Who serves it.
        vserver: VserverId,
        /// Why that is not the virtual server that is dialled.
        diversion: Option<Diversion>,
        /// What it has to be told.
        missing: Missing,
    },
    /// Nobody takes it.
    Refused(Refusal),
}

/// One virtual server that is asked to take the flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Which.
    pub vserver: VserverId,
    /// What it says.
    pub verdict: Verdict,
    /// Its method.
    pub method: Method,
    /// What decides if it serves the flow.
    pub rule: Option<DecidedBy>,
    /// What the client's persistence entry says, if it has one.
    pub entry: Option<EntryStatus>,
    /// What the values of its services count; none if nothing is compared.
    pub unit: Option<Unit>,
    /// Its services in bind order.
    pub candidates: Vec<CandidateStatus>,
}

/// What a virtual server says to a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It serves it.
    Serves,
    /// It serves it because the client keeps to it since a spillover.
    Keeps,
    /// It serves it although it spills, since nobody else can.
    Accepts,
    /// It is disabled.
    OutOfService,
    /// It is DOWN.
    Down,
    /// It spills.
    Spilling,
    /// All its services that are UP are at a limit.
    Full,
    /// The service that the client sticks to is at a limit, and persistence is not to be skipped.
    Sticky,
}

impl Verdict {
    /// Whether it serves the flow.
    pub fn serves(self) -> bool {
        match self {
            Self::Serves | Self::Keeps | Self::Accepts => true,
            Self::OutOfService | Self::Down | Self::Spilling | Self::Full | Self::Sticky => false,
        }
    }
}

/// What decides between the services of one virtual server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DecidedBy {
    /// The client sticks to the service.
    Persistence,
    /// The method does.
    Method {
        /// By what.
        choice: MethodChoice,
        /// Whether only services at the limit of their slow start were left, and the limits were
        /// lifted.
        limits_lifted: bool,
    },
}

/// By what a method decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MethodChoice {
    /// The service's turn.
    Turn,
    /// A new service is served out of turn as soon as its slow start allows it.
    NewOutOfTurn,
    /// The least value for its weight. Of several services that have it, so many `ties`, the first
    /// in bind order after the service chosen last is taken.
    Least {
        /// Services with the least value, the chosen one included.
        ties: usize,
    },
    /// Chance.
    Chance,
    /// The hash of the client with each service.
    Hash,
    /// The place of the client's hash in a table.
    HashTable,
}

/// What the persistence entry of a client says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EntryStatus {
    /// The service that the entry names.
    pub service: ServiceId,
    /// What follows from it.
    pub effect: EntryEffect,
}

/// What follows from a persistence entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntryEffect {
    /// It decides.
    Decides,
    /// Its service is at a limit, and the client may not go elsewhere.
    Refuses,
    /// Its service is at a limit: the method decides this time.
    Bypassed,
    /// Its service cannot take the flow: the client sticks to what the method chooses.
    Moves,
}

/// What a value counts that a method looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Requests of the round under way; each service gets as many as its weight in one round.
    RoundRequests,
    /// Connections now, with those that lately failed.
    Connections,
    /// Bytes of the last 14 s.
    Bytes,
    /// Packets of the last 14 s.
    Packets,
    /// Connections times nanoseconds to the first byte of an answer.
    ConnectionNanoseconds,
    /// The load that monitors report.
    Load,
    /// The score of the hash, the less the better.
    HashScore,
    /// The weight, of all weights together.
    Weight,
}

/// One service of a virtual server that is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CandidateStatus {
    /// The service.
    pub service: ServiceId,
    /// Its state.
    pub state: State,
    /// Its share.
    pub weight: Weight,
    /// Who takes traffic before it.
    pub order: Option<Order>,
    /// What the method looks at.
    pub value: Option<u64>,
    /// `value * 10000 / weight`, rounded down, where values are compared by it; the method compares
    /// the exact fractions.
    pub weighted: Option<u128>,
    /// Whether it stands behind all others because it takes traffic in and gives none back.
    pub stands_behind: bool,
    /// Its slow start, while it is new here.
    pub ramp: Option<RampStatus>,
    /// Why the method leaves it out; empty if it takes part.
    pub exclusions: Vec<Exclusion>,
    /// Whether it gets the flow.
    pub is_chosen: bool,
}

/// Why a service is left out of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exclusion {
    /// It is DOWN.
    Down,
    /// It has not been probed yet.
    Unknown,
    /// It is disabled.
    OutOfService,
    /// It is being disabled.
    GoingOutOfService,
    /// It was DOWN because of its connections, and one that it has now is to show whether it is well.
    OnTrial,
    /// It has as many connections as it may have.
    MaxClient(u32),
    /// Its traffic of the last second exceeded so many kbit/s.
    MaxBandwidth(u32),
    /// It is new and has had what its slow start allows so far.
    SlowStart,
    /// Those of a better order can take the flow.
    Standby,
}

impl Missing {
    /// Whether nothing is missing.
    pub fn is_nothing(self) -> bool {
        self == Self::default()
    }

    /// Returns what is missing here or there.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            src: self.src || other.src,
            src_port: self.src_port || other.src_port,
            dst: self.dst || other.dst,
            token: self.token || other.token,
        }
    }
}

impl Client {
    /// Returns the flow of such a client to a virtual server that listens at an address; no address
    /// and no port stand for what is not known.
    pub(crate) fn flow(&self, listen: Option<SocketAddr>) -> FlowKey {
        let none = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        let dialled = self.dst.or_else(|| listen.map(|address| address.ip()));
        FlowKey {
            src: SocketAddr::new(self.src.unwrap_or(none), self.src_port.unwrap_or(0)),
            dst: SocketAddr::new(
                dialled.unwrap_or(none),
                listen.map_or(0, |address| address.port()),
            ),
            token: None,
        }
    }

    /// Returns what is not known of the client.
    pub(crate) fn unknown(&self, listen: Option<SocketAddr>) -> Missing {
        let is_known = listen.is_some_and(|address| !address.ip().is_unspecified());
        Missing {
            src: self.src.is_none(),
            src_port: self.src_port.is_none(),
            dst: self.dst.is_none() && !is_known,
            token: true,
        }
    }
}
