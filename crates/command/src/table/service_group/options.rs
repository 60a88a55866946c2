//! The options of a service group and of its members, in the order in which appliances save them.

use super::super::accepted;
use super::super::service::{
    CIP_HEADER, CLIENT_IDLE, HASH_ID, MAX_BANDWIDTH, MAX_CLIENT, MAX_REQ, SERVICE_IDLE, unused,
};
use super::super::{
    ArgSpec, COMMENT_TEXT, Choices, Default, ENABLED_DISABLED, IDLE_SECONDS, Kind, ON_OFF, YES_NO,
    appflow_log, comment, devno, row, state,
};
use crate::Key;

pub(super) const OPTIONS: &[ArgSpec] = &[
    unused::CACHE_TYPE,
    accepted::TRAFFIC_DOMAIN,
    row(
        Key::MaxClient,
        "maxClient",
        MAX_CLIENT,
        "The most simultaneous connections of each member; 0 is no limit",
    )
    .default(Default::Integer(0))
    .set()
    .unset()
    .always(),
    row(
        Key::MaxReq,
        "maxReq",
        MAX_REQ,
        "The most requests on one persistent connection",
    )
    .default(Default::Integer(0))
    .set()
    .unset()
    .always()
    .no_effect("requests inside a connection are not looked at"),
    accepted::CACHEABLE,
    row(
        Key::Cip,
        "cip",
        Kind::Choice(&ENABLED_DISABLED),
        "The client's address in an HTTP header",
    )
    .then(CIP_HEADER)
    .default(Default::Choice("DISABLED"))
    .set()
    .unset()
    .always()
    .no_effect("HTTP headers are not touched"),
    row(
        Key::Usip,
        "usip",
        Kind::Choice(&YES_NO),
        "The client's address as the source of the connection to a member",
    )
    .default(Default::Choice("NO"))
    .set()
    .unset()
    .always()
    .no_effect("connections to a service always use an address of this host"),
    unused::PATH_MONITOR,
    unused::PATH_MONITOR_INDV,
    row(
        Key::UseProxyPort,
        "useproxyport",
        Kind::Choice(&YES_NO),
        "A port of this host, not the client's, as the source port",
    )
    .default(Default::ChoiceByType {
        tcp: "YES",
        udp: "NO",
    })
    .set()
    .unset()
    .always()
    .no_effect("connections to a service always use a port of this host"),
    row(
        Key::Sp,
        "sp",
        Kind::Choice(&ON_OFF),
        "Surge protection: clients wait while a member is full",
    )
    .default(Default::Choice("OFF"))
    .set()
    .unset()
    .no_effect("clients do not wait for a full service"),
    unused::RTSP_REMAP,
    row(
        Key::CltTimeout,
        "cltTimeout",
        IDLE_SECONDS,
        "How long the client's side may be idle; 0 is for ever",
    )
    .default(CLIENT_IDLE)
    .set()
    .unset()
    .always()
    .no_effect("cltTimeout of the virtual server decides"),
    row(
        Key::SvrTimeout,
        "svrTimeout",
        IDLE_SECONDS,
        "How long a member's side may be idle; 0 is for ever",
    )
    .default(SERVICE_IDLE)
    .set()
    .unset()
    .always(),
    row(
        Key::Cka,
        "CKA",
        Kind::Choice(&YES_NO),
        "Keep-alive towards HTTP clients",
    )
    .default(Default::Choice("NO"))
    .set()
    .unset()
    .always()
    .no_effect("HTTP is not looked at"),
    row(
        Key::Tcpb,
        "TCPB",
        Kind::Choice(&YES_NO),
        "Buffering of the answers of members",
    )
    .default(Default::Choice("NO"))
    .set()
    .unset()
    .always()
    .no_effect("answers are passed on as they come"),
    row(
        Key::Cmp,
        "CMP",
        Kind::Choice(&YES_NO),
        "Compression of the answers of members",
    )
    .default(Default::Choice("NO"))
    .set()
    .unset()
    .always()
    .no_effect("bytes are passed on unchanged"),
    row(
        Key::MaxBandwidth,
        "maxBandwidth",
        MAX_BANDWIDTH,
        "The most traffic both ways at which a member gets another connection; 0 is no limit",
    )
    .default(Default::Integer(0))
    .set()
    .unset(),
    state("Whether its members take part at first"),
    row(
        Key::DownStateFlush,
        "downStateFlush",
        Kind::Choice(&ENABLED_DISABLED),
        "Whether the connections of a member end when it goes down",
    )
    .default(Default::Choice("ENABLED"))
    .set()
    .unset(),
    accepted::HTTP_PROFILE,
    comment(),
    appflow_log(),
    accepted::QUIC_PROFILE,
    row(
        Key::AutoScale,
        "autoScale",
        Kind::Choice(&AUTO_SCALE),
        "What adds and removes members by itself",
    )
    .default(Default::Choice("DISABLED")),
    row(
        Key::MemberPort,
        "memberPort",
        Kind::Port,
        "The port of members that come by themselves",
    )
    .no_effect(NO_AUTO_SCALE),
    row(
        Key::AutoDisableGraceful,
        "autoDisablegraceful",
        Kind::Choice(&YES_NO),
        "Whether members that go by themselves wait for their clients",
    )
    .default(Default::Choice("NO"))
    .set()
    .unset()
    .no_effect(NO_AUTO_SCALE),
    row(
        Key::AutoDisableDelay,
        "autoDisabledelay",
        IDLE_SECONDS,
        "How long members that go by themselves stay for their clients",
    )
    .set()
    .unset()
    .no_effect(NO_AUTO_SCALE),
    row(
        Key::AutoDelayedTrofs,
        "autoDelayedTrofs",
        Kind::Choice(&YES_NO),
        "Whether members wait to go by themselves until others are UP",
    )
    .default(Default::Choice("NO"))
    .set()
    .unset()
    .no_effect(NO_AUTO_SCALE),
    devno(),
];

/// What `bind` says of a member, in saved order.
pub(super) const MEMBER_OPTIONS: &[ArgSpec] = &[
    WEIGHT,
    SERVER_ID,
    HASH,
    state("Whether the member takes part at first"),
    ORDER,
    DBS_TTL,
    NAME_SERVER,
    devno(),
];

/// What `set` and `unset` change of a member.
pub(super) const OF_MEMBER: &[ArgSpec] = &[WEIGHT, SERVER_ID, HASH, ORDER, DBS_TTL, NAME_SERVER];

pub(super) const INCLUDE_MEMBERS: ArgSpec = row(
    Key::IncludeMembers,
    "includeMembers",
    Kind::Flag,
    "Shows the members of every service group",
);

const WEIGHT: ArgSpec = row(
    Key::Weight,
    "weight",
    Kind::Integer {
        min: 1,
        max: 100,
        unit: "",
    },
    "The share of the member on every virtual server of the group",
)
.default(Default::Integer(1))
.set()
.unset();
const SERVER_ID: ArgSpec = row(
    Key::CustomServerId,
    "CustomServerID",
    COMMENT_TEXT,
    "An identifier for persistence",
)
.default(Default::Text("\"None\""))
.set()
.unset()
.no_effect("there is no persistence by identifier");
const HASH: ArgSpec = row(
    Key::HashId,
    "hashId",
    HASH_ID,
    "What identifies the member to the hash methods in place of its address and port",
)
.set()
.unset();
const ORDER: ArgSpec = row(
    Key::Order,
    "order",
    Kind::Integer {
        min: 1,
        max: 8192,
        unit: "",
    },
    "The rank of the member: the lowest that is usable takes the traffic",
)
.set()
.unset();
const DBS_TTL: ArgSpec = row(
    Key::DbsTtl,
    "dbsTTL",
    IDLE_SECONDS,
    "How long an address of the member's name counts",
)
.default(Default::Integer(0))
.set()
.unset()
.no_effect(NO_NAMES);
const NAME_SERVER: ArgSpec = row(
    Key::NameServer,
    "nameServer",
    Kind::Address,
    "Who is asked for the address of the member's name",
)
.set()
.unset()
.no_effect(NO_NAMES);

const AUTO_SCALE: Choices = Choices {
    allowed: &[("DISABLED", "members are bound by hand")],
    aliases: &[],
    elsewhere: &["DNS", "POLICY", "CLOUD", "API"],
};

const NO_AUTO_SCALE: &str = "members do not come and go by themselves";
const NO_NAMES: &str = "members have addresses, not names";
