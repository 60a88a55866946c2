//! The balancing core: which service, how much, until when.
//!
//! Owns every decision of the balancer and the state these need: method cursors, the 14 s traffic
//! window, active connections, object states. Knows nothing of names, sockets, threads or clocks:
//! `now` is an argument, what to do comes out as values. Same inputs, same outputs, on any machine.
//!
//! Inputs are [`Engine::apply`] (configuration) and `handle_*` (what happened to a connection); the
//! question is [`Engine::select`]; outputs are `poll_*`.
//!
//! # The life of a flow
//!
//! ```
//! use std::net::{Ipv4Addr, SocketAddr};
//! use std::time::Duration;
//!
//! use sluice_balance::{
//!     Backup, Bind, Change, CloseReason, Engine, FlowKey, HashSettings, Instant, Method, Orders, Percent, Protocol,
//!     ServiceId, ServiceSettings, SlowStart, VserverId, VserverSettings, Weight,
//! };
//!
//! let mut engine = Engine::new();
//! let start = Instant::from_nanos(0);
//! let address = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
//!
//! // Configuration goes in as changes.
//! let vserver = VserverId(1);
//! let settings = VserverSettings {
//!     protocol: Protocol::Tcp,
//!     listen: Some(address(9000)),
//!     enabled: true,
//!     method: Method::LeastBandwidth,
//!     hash: HashSettings::default(),
//!     idle: None,
//!     flush_on_down: false,
//!     backup: Backup::default(),
//!     health_threshold: Percent::ZERO,
//!     orders: Orders::default(),
//!     slow_start: SlowStart::default(),
//!     persistence: None,
//! };
//! engine.apply(&Change::AddVserver(vserver, settings), start);
//! for (service, port) in [(ServiceId(1), 8001), (ServiceId(2), 8002)] {
//!     let settings = ServiceSettings {
//!         protocol: Protocol::Tcp,
//!         address: address(port),
//!         enabled: true,
//!         max_client: None,
//!         max_bandwidth: None,
//!         hash_id: None,
//!         health_monitor: true,
//!         monitor_threshold: 0,
//!         idle: None,
//!         flush_on_down: false,
//!         is_one_way: false,
//!     };
//!     engine.apply(&Change::AddService(service, settings), start);
//!     let weight = Weight::DEFAULT;
//!     engine.apply(&Change::Bind(Bind { vserver, service, weight, order: None }), start);
//! }
//! // What has to be done comes out: here, open a listener, and a state to record.
//! while let Some(output) = engine.poll_output() {
//!     println!("{output:?}");
//! }
//!
//! // A client connects: the engine takes a place for it.
//! let now = start + Duration::from_millis(10);
//! let flow = FlowKey { src: address(40_000), dst: address(9000), token: None };
//! let first = engine.select(vserver, &flow, &[], now).expect("both services are UP");
//! assert_eq!(first.address, address(8001));
//!
//! // Its bytes are counted while they flow, without the engine, and the next choice sees them.
//! first.service_counters.add_out(1_000, 1);
//! let second = engine.select(vserver, &flow, &[], now).expect("both services are UP");
//! assert_eq!(second.address, address(8002));
//!
//! // Each place is given back once.
//! engine.handle_close(first.reservation, CloseReason::Finished, now);
//! engine.handle_unused(second.reservation, now);
//!
//! // 14 s later the bytes are forgotten. The engine says when it wants to be called.
//! while let Some(due) = engine.poll_timeout().filter(|due| *due <= now + Duration::from_secs(15)) {
//!     engine.handle_timeout(due);
//! }
//! let shown = engine.service_status(ServiceId(1), now).expect("the service exists");
//! assert_eq!((shown.window_bytes, shown.bytes_out), (0, 1_000));
//! ```
//!
//! # States
//!
//! ```text
//! service   enabled:  UP without monitors that decide; else what they say, and UNKNOWN before
//!                     they have said it the first time
//!           disabled: OUT OF SERVICE, by way of GOING OUT OF SERVICE if it is told to wait
//! vserver   disabled: OUT OF SERVICE
//!           enabled:  UP while a bound service is UP, and as much of the bound weight as its
//!                     health threshold asks for; else DOWN, and if told to, until enabled again
//! ```
//!
//! Leaving UP ends the flows of an object that flushes; disabling ends those of a UDP object in any
//! case; removing and unbinding always end what they remove.
//!
//! A service that is GOING OUT OF SERVICE ([`Change::DisableService`]) takes no new flow but those of
//! clients that stick to it, if their persistence says so; then also while the virtual server is DOWN
//! for nothing but that. Its flows go on, UDP sessions only where they have nowhere else to go or their
//! clients stick to it. It is OUT OF SERVICE at its deadline, or with its last flow if it waits for that.
//! It is not UP to its virtual servers; where one goes DOWN by it and flushes, its flows are spared until then.
//!
//! # Backups
//!
//! A flow that the dialled virtual server cannot take goes to the first of its chain of backups
//! that can; see [`Backup`]. Who serves it counts it, in all numbers but these: refusals, and how
//! many flows were passed on, are with the virtual server that was dialled.
//!
//! # Slow start
//!
//! A service that is bound, enabled or comes UP while the rate of the virtual server's
//! [`SlowStart`] is not 0 is new there and has a limit of its own, which grows by steps; see there
//! for what a change of the settings does. Others share by the method what it does not take. Nobody
//! is refused for it: where only services at their limit are left, the limits are lifted. It needs
//! no deadline: a choice, a change and a status first go through the time that has passed. After a
//! start, [`Engine::handle_booted`] says that what was loaded is not new.
//!
//! # Start-up round robin
//!
//! Apart from that, [`Change::SetStartupFactor`] lets virtual servers whose method compares a number
//! begin in turn after a change; see [`StartupStatus`].
//!
//! # Persistence
//!
//! Where clients stick to a service, what they stick to decides before the method; see
//! [`Persistence`], [`SkipPersistence`] and [`Engine::persistence_rows`].
//!
//! # Answers
//!
//! [`Engine::handle_client_data`] and [`Engine::handle_first_answer`] report the first exchange of a
//! flow. From them, and from how flows end, come response times and what keeps a service that fails
//! fast or swallows traffic from looking free. Who reports nothing loses that, and nothing else.
//!
//! # Monitors
//!
//! Monitors that are bound to services decide by probes whether these are UP. [`Output::StartProbe`]
//! asks for one, [`Engine::handle_probe`] hands in how it ended. When probes start is decided here; what
//! they send and expect is known outside. What they measure is what LRTM and CUSTOMLOAD compare;
//! [`Engine::handle_monitor_response`] and [`Engine::handle_load`] hand in the same from elsewhere.
//!
//! # Connections
//!
//! The connections of TCP services decide as well, unless [`Change::SetPassive`] says otherwise: who
//! fails too often is DOWN for a while and comes back by a trial; see [`PassiveSettings`]. It goes by
//! what is reported as above: ends of flows, client data and first answers.
//!
//! # Why there
//!
//! [`Engine::explain`] says who would get the next flow, what each service counts and why it is left
//! out, and what decides; without any effect.
//!
//! # Where things are
//!
//! `engine` ties all together; `service` and `vserver` are the objects; `monitor` says which probes
//! are due and what a service is by what they find; `inline` is what the connections of one service
//! say of it; `method` has a small file per method; `drain` is how one service goes out of service;
//! `ramp` is the slow start of one bound service; `hash` is what never changes: how clients and
//! services are hashed; `persistence` has the entries of all clients that stick to a service;
//! `token` is what a client says of itself; `answers` is the record of one service, `waiting` says
//! which flows wait for an answer, `fading` lets the past count less; `timeline` says when counters
//! are sampled, `window` and `rate` keep the samples.

mod answers;
mod backup;
mod change;
mod counters;
mod dice;
mod drain;
mod engine;
mod explain;
mod fading;
mod flow;
mod hash;
mod health;
mod ids;
mod inline;
mod method;
mod monitor;
mod monitored;
mod order;
mod output;
mod persistence;
mod ramp;
mod rate;
mod service;
mod services;
mod snapshot;
mod sockets;
mod time;
mod timeline;
mod token;
mod vserver;
mod waiting;
mod window;

pub use backup::{Backup, Spillover, SpilloverAction, SpilloverMethod};
pub use change::{
    Bind, Change, Method, Protocol, RampUnit, ServiceSettings, SlowStart, VserverSettings,
};
pub use counters::Counters;
pub use drain::Leave;
pub use engine::Engine;
pub use explain::{
    Asked, CandidateStatus, Client, DecidedBy, EntryEffect, EntryStatus, Exclusion, Explanation,
    MethodChoice, Missing, Outcome, Unit, Verdict,
};
pub use flow::{
    ChosenBy, CloseReason, Diversion, FlowKey, Grounds, Refusal, Reservation, Selection,
};
pub use hash::{Fingers, FingersError, HashAlgorithm, HashSettings};
pub use health::{Percent, PercentError};
pub use ids::{MonitorId, ProbeId, ServiceId, VserverId, Weight, WeightError};
pub use inline::PassiveSettings;
pub use monitor::{MonitorBind, MonitorSettings, ProbeResult};
pub use order::{Order, OrderError, Orders};
pub use output::{CloseFlows, Output};
pub use persistence::{
    AddressMask, DEFAULT_PERSISTENCE_LIMIT, GroupId, MaskError, Persistence, PersistenceCursor,
    PersistenceFilter, PersistenceKey, PersistenceKind, PersistencePage, PersistenceRow,
    PersistenceStatus, PersistenceTimeout, PersistenceTotals, SkipPersistence, TimeoutError,
};
pub use snapshot::{
    BindingStatus, DrainStatus, InlineFailure, InlineStatus, LastProbe, MonitorStatus, OutBecause,
    RampStatus, ServiceStatus, Snapshot, StartupReason, StartupStatus, State, StateReason,
    VserverStatus,
};
pub use sockets::{KeepAlive, Sockets, TcpOptions};
pub use time::Instant;
pub use token::{Token, TokenRange, TokenRangeError};
