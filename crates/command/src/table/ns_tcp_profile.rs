//! The table of `ns tcpProfile`: what the TCP sockets of clients and services are like.
//!
//! What a socket can be told works; what the whole system has is kept.

mod choices;

use choices::{
    BUFFER, BURSTS, ESTABLISH, FLAVORS, KEEP_ALIVE_PROBES, KEEP_ALIVE_SECONDS, MODES, MSS, OFFLOAD,
};

use super::accepted::accepted;
use super::{
    ArgSpec, Choices, CommandSpec, Default, ENABLED_DISABLED, Kind, NounSpec, once, optional, row,
};
use crate::{Key, Noun, Verb};

pub(super) static NS_TCP_PROFILE: NounSpec = NounSpec {
    noun: Noun::NsTcpProfile,
    group: Some("ns"),
    object: "tcpProfile",
    commands: &[
        CommandSpec {
            verb: Verb::Add,
            noun: Noun::NsTcpProfile,
            positionals: &[once(NEW_NAME)],
            own: &[],
            help: "Adds a TCP profile",
        },
        CommandSpec {
            verb: Verb::Set,
            noun: Noun::NsTcpProfile,
            positionals: &[once(NAME)],
            own: &[],
            help: "Changes a TCP profile",
        },
        CommandSpec {
            verb: Verb::Unset,
            noun: Noun::NsTcpProfile,
            positionals: &[once(NAME)],
            own: &[],
            help: "Returns options of a TCP profile to their defaults",
        },
        CommandSpec {
            verb: Verb::Rm,
            noun: Noun::NsTcpProfile,
            positionals: &[once(NAME)],
            own: &[],
            help: "Removes a TCP profile that nothing uses",
        },
        CommandSpec {
            verb: Verb::Show,
            noun: Noun::NsTcpProfile,
            positionals: &[optional(NAME)],
            own: &[],
            help: "Shows all, or one",
        },
    ],
    options: &[
        switch(Key::Ws, "WS", "DISABLED", "Window scaling"),
        switch(
            Key::TcpSack,
            "SACK",
            "DISABLED",
            "Selective acknowledgements",
        ),
        number(
            Key::WsVal,
            "WSVal",
            (0, 14, ""),
            Default::Integer(4),
            "How much the window is scaled",
        ),
        row(
            Key::Nagle,
            "nagle",
            Kind::Choice(&ENABLED_DISABLED),
            "Small segments wait for each other",
        )
        .default(Default::Choice("DISABLED"))
        .set()
        .unset(),
        switch(
            Key::AckOnPush,
            "ackOnPush",
            "ENABLED",
            "An acknowledgement at once for a segment that is marked so",
        ),
        row(
            Key::Mss,
            "mss",
            MSS,
            "The greatest segment; 0 is what the way allows",
        )
        .default(Default::Integer(0))
        .set()
        .unset(),
        number(
            Key::MaxBurst,
            "maxBurst",
            (1, 255, "segments"),
            Default::Integer(6),
            "The most segments at one time",
        ),
        number(
            Key::InitialCwnd,
            "initialCwnd",
            (1, 44, "segments"),
            Default::Integer(4),
            "The first congestion window",
        ),
        number(
            Key::DelayedAck,
            "delayedAck",
            (10, 300, "ms"),
            Default::Integer(100),
            "How long an acknowledgement waits",
        ),
        number(
            Key::OooQSize,
            "oooQSize",
            (0, 65535, "segments"),
            Default::Integer(64),
            "The most segments that wait for one before them",
        ),
        number(
            Key::MaxPktPerMss,
            "maxPktPerMss",
            (0, 1460, "segments"),
            Default::Integer(0),
            "The most segments for one of full size",
        ),
        number(
            Key::PktPerRetx,
            "pktPerRetx",
            (1, 512, "segments"),
            Default::Integer(1),
            "The most segments that are sent again at one time",
        ),
        number(
            Key::MinRto,
            "minRTO",
            (10, 64000, "ms"),
            Default::Integer(1000),
            "The least time until a segment is sent again",
        ),
        number(
            Key::SlowStartIncr,
            "slowStartIncr",
            (1, 100, ""),
            Default::Integer(2),
            "By what the window grows at first",
        ),
        row(
            Key::BufferSize,
            "bufferSize",
            BUFFER,
            "The receive buffer; the default lets the system choose",
        )
        .default(Default::Integer(8190))
        .set()
        .unset(),
        switch(
            Key::SynCookie,
            "synCookie",
            "ENABLED",
            "Cookies in place of connections that are half open",
        ),
        row(
            Key::Ka,
            "KA",
            Kind::Choice(&ENABLED_DISABLED),
            "Idle connections are probed",
        )
        .default(Default::Choice("DISABLED"))
        .set()
        .unset(),
        switch(
            Key::KaProbeUpdateLastActivity,
            "KAprobeUpdateLastactivity",
            "ENABLED",
            "Whether a probe that is answered counts as traffic",
        ),
        row(
            Key::KaConnIdleTime,
            "KAconnIdleTime",
            KEEP_ALIVE_SECONDS,
            "How long a connection is idle before it is probed; needs KA",
        )
        .set()
        .unset(),
        row(
            Key::KaMaxProbes,
            "KAmaxProbes",
            KEEP_ALIVE_PROBES,
            "How many probes without an answer end it; needs KA",
        )
        .set()
        .unset(),
        row(
            Key::KaProbeInterval,
            "KAprobeInterval",
            KEEP_ALIVE_SECONDS,
            "The time between two probes; needs KA",
        )
        .set()
        .unset(),
        choice(
            Key::Flavor,
            "flavor",
            &FLAVORS,
            "Default",
            "How congestion is met",
        ),
        switch(
            Key::DynamicReceiveBuffering,
            "dynamicReceiveBuffering",
            "DISABLED",
            "Buffers that grow with the traffic",
        ),
        switch(
            Key::Mptcp,
            "mptcp",
            "DISABLED",
            "Connections over several paths",
        ),
        switch(
            Key::MptcpDropData,
            "mptcpDropDataOnPreEstSF",
            "DISABLED",
            "What a path carries before it is established is dropped",
        ),
        switch(
            Key::MptcpFastOpen,
            "mptcpFastOpen",
            "DISABLED",
            "Data on a path before it is established",
        ),
        number(
            Key::MptcpSessionTimeout,
            "mptcpSessionTimeout",
            (0, 86400, "seconds"),
            Default::Integer(0),
            "How long a connection without a path lasts",
        ),
        row(
            Key::SendBuffSize,
            "sendBuffsize",
            BUFFER,
            "The send buffer; the default lets the system choose",
        )
        .default(Default::Integer(8190))
        .set()
        .unset(),
        choice(
            Key::TcpSegOffload,
            "tcpSegOffload",
            &OFFLOAD,
            "AUTOMATIC",
            "Whether the network card cuts segments",
        ),
        switch(
            Key::RstWindowAttenuate,
            "rstWindowAttenuate",
            "DISABLED",
            "Resets out of the window are held back",
        ),
        switch(
            Key::RstMaxAck,
            "rstMaxAck",
            "DISABLED",
            "Resets that acknowledge the last segment are taken",
        ),
        switch(
            Key::SpoofSynDrop,
            "spoofSynDrop",
            "ENABLED",
            "Opening segments out of nowhere are dropped",
        ),
        switch(
            Key::Ecn,
            "ecn",
            "DISABLED",
            "Explicit congestion notification",
        ),
        switch(Key::TimeStamp, "TimeStamp", "DISABLED", "Time stamps"),
        choice(
            Key::EstablishClientConn,
            "EstablishClientConn",
            &ESTABLISH,
            "AUTOMATIC",
            "When a connection counts as established",
        ),
        switch(
            Key::AckAggregation,
            "ackAggregation",
            "DISABLED",
            "One acknowledgement for several segments",
        ),
        switch(
            Key::Frto,
            "frto",
            "DISABLED",
            "A segment that was sent again for nothing is noticed",
        ),
        number(
            Key::MaxCwnd,
            "maxcwnd",
            (8190, 20971520, "bytes"),
            Default::Integer(524288),
            "The greatest congestion window",
        ),
        switch(Key::Fack, "fack", "DISABLED", "Forward acknowledgements"),
        choice(
            Key::TcpMode,
            "tcpmode",
            &MODES,
            "TRANSPARENT",
            "Whether the two connections of a client are tied",
        ),
        switch(
            Key::TcpFastOpen,
            "tcpFastOpen",
            "DISABLED",
            "Data in the opening segment",
        ),
        switch(
            Key::Hystart,
            "Hystart",
            "DISABLED",
            "The window stops growing before segments are lost",
        ),
        number(
            Key::DupAckThresh,
            "dupackthresh",
            (1, 15, ""),
            Default::Integer(3),
            "How many equal acknowledgements mean a loss",
        ),
        choice(
            Key::BurstRateControl,
            "burstRateControl",
            &BURSTS,
            "DISABLED",
            "Whether the sending rate is kept",
        ),
        number(
            Key::TcpRate,
            "tcprate",
            (0, 10000000, "kbit/s"),
            Default::Integer(0),
            "The most that a connection sends",
        ),
        number(
            Key::RateQMax,
            "rateqmax",
            (0, 1000000000, "bytes"),
            Default::Integer(0),
            "The most that waits for that",
        ),
        switch(
            Key::DropHalfClosed,
            "DropHalfClosedConnOnTimeout",
            "DISABLED",
            "Connections that end half-closed end without a reset",
        ),
        switch(
            Key::DropEstablished,
            "DropEstConnOnTimeout",
            "DISABLED",
            "Connections that are idle end without a reset",
        ),
        switch(Key::Dsack, "dsack", "ENABLED", "What came twice is named"),
        switch(
            Key::ApplyAdaptiveTcp,
            "applyAdaptiveTCP",
            "DISABLED",
            "Options that follow the traffic",
        ),
        switch(
            Key::ClientIpTcpOption,
            "clientIpTcpOption",
            "DISABLED",
            "The client's address in an option",
        ),
        number(
            Key::ClientIpTcpOptionNumber,
            "clientIpTcpOptionNumber",
            (1, 254, ""),
            Default::None,
            "Which option that is",
        ),
        switch(
            Key::MpCapableCbit,
            "mpCapableCbit",
            "DISABLED",
            "Checksums of what goes over several paths",
        ),
        switch(
            Key::Rfc5961Compliance,
            "rfc5961Compliance",
            "DISABLED",
            "Resets out of nowhere are asked back",
        ),
        switch(
            Key::SendClientPort,
            "sendClientPortInTcpOption",
            "DISABLED",
            "The client's port in an option",
        ),
        number(
            Key::SlowStartThreshold,
            "slowStartThreshold",
            (8190, 524288, "bytes"),
            Default::None,
            "Where the window stops growing fast",
        ),
        switch(
            Key::TailLossProbe,
            "tailLossProbe",
            "DISABLED",
            "The last segment is sent again early",
        ),
        number(
            Key::TcpFastOpenCookieSize,
            "tcpFastOpenCookieSize",
            (4, 16, "bytes"),
            Default::Integer(8),
            "How long the cookie of such an opening is",
        ),
    ],
    help: "What TCP sockets are like; nstcp_default_profile holds where no other is named",
};

const NEW_NAME: ArgSpec = row(
    Key::Name,
    "name",
    Kind::NewName(Noun::NsTcpProfile),
    "The name of the new TCP profile",
);
const NAME: ArgSpec = row(
    Key::Name,
    "name",
    Kind::Name(Noun::NsTcpProfile),
    "The name of the TCP profile",
);

const fn switch(
    key: Key,
    spelling: &'static str,
    default: &'static str,
    help: &'static str,
) -> ArgSpec {
    choice(key, spelling, &ENABLED_DISABLED, default, help)
}

const fn choice(
    key: Key,
    spelling: &'static str,
    choices: &'static Choices,
    default: &'static str,
    help: &'static str,
) -> ArgSpec {
    accepted(key, spelling, Kind::Choice(choices), help, SYSTEM)
        .default(Default::Choice(default))
        .set()
        .unset()
}

const fn number(
    key: Key,
    spelling: &'static str,
    (min, max, unit): (u64, u64, &'static str),
    default: Default,
    help: &'static str,
) -> ArgSpec {
    accepted(
        key,
        spelling,
        Kind::Integer { min, max, unit },
        help,
        SYSTEM,
    )
    .default(default)
    .set()
    .unset()
}

const SYSTEM: &str = "the system decides for all sockets";
