//! The table of `service`: a port of a server, and how it is used.
//!
//! The options are those an appliance writes for every service, in its order, so that saved files
//! load and are written back the same.

pub(super) mod unused;

use super::{
    ArgSpec, COMMENT_TEXT, Choices, CommandSpec, DELAY, Default, ENABLED_DISABLED, GRACEFUL,
    IDLE_SECONDS, Kind, NounSpec, ON_OFF, STAT_OPTIONS, Then, YES_NO, appflow_log, comment, devno,
    once, optional, row, state,
};
use super::{accepted, rows};
use crate::service_type::{self, Side};
use crate::{Key, Noun, Verb};

pub(super) static SERVICE: NounSpec = NounSpec {
    noun: Noun::Service,
    group: None,
    object: "service",
    commands: &[
        CommandSpec {
            verb: Verb::Add,
            noun: Noun::Service,
            positionals: &[
                once(NEW_NAME),
                once(SERVER_NAME),
                once(SERVICE_TYPE),
                once(PORT),
            ],
            own: &[],
            help: "Adds a service on a server, or on an address, which then becomes a server",
        },
        CommandSpec {
            verb: Verb::Set,
            noun: Noun::Service,
            positionals: &[once(NAME)],
            own: &[IP_ADDRESS],
            help: "Changes a service",
        },
        CommandSpec {
            verb: Verb::Unset,
            noun: Noun::Service,
            positionals: &[once(NAME)],
            own: &[],
            help: "Returns options of a service to their defaults",
        },
        CommandSpec {
            verb: Verb::Rm,
            noun: Noun::Service,
            positionals: &[once(NAME)],
            own: &[],
            help: "Removes a service and unbinds it everywhere",
        },
        CommandSpec {
            verb: Verb::Enable,
            noun: Noun::Service,
            positionals: &[once(NAME)],
            own: &[],
            help: "Enables a service",
        },
        CommandSpec {
            verb: Verb::Disable,
            noun: Noun::Service,
            positionals: &[once(NAME), optional(DELAY)],
            own: &[GRACEFUL],
            help: "Takes a service out of service, at once or gradually",
        },
        CommandSpec {
            verb: Verb::Rename,
            noun: Noun::Service,
            positionals: &[once(NAME), once(OTHER_NAME)],
            own: &[],
            help: "Gives a service another name; its flows and bindings go on",
        },
        CommandSpec {
            verb: Verb::Show,
            noun: Noun::Service,
            positionals: &[optional(NAME)],
            own: &[],
            help: "Shows all services, or one",
        },
        CommandSpec {
            verb: Verb::Stat,
            noun: Noun::Service,
            positionals: &[optional(NAME)],
            own: STAT_OPTIONS,
            help: "Shows the statistics of all services, or of one",
        },
    ],
    options: &[
        row(
            Key::Gslb,
            "gslb",
            Kind::Choice(&GSLB),
            "Global load balancing",
        )
        .default(Default::Choice("NONE"))
        .always()
        .no_effect("there is no global load balancing"),
        unused::CLEAR_TEXT_PORT,
        unused::CACHE_TYPE,
        row(
            Key::MaxClient,
            "maxClient",
            MAX_CLIENT,
            "The most simultaneous connections; 0 is no limit",
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
            "The client's address as the source of the connection to the service",
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
            "Surge protection: clients wait while the service is full",
        )
        .default(Default::Choice("OFF"))
        .set()
        .unset()
        .always()
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
            "How long the service's side may be idle; 0 is for ever",
        )
        .default(SERVICE_IDLE)
        .set()
        .unset()
        .always(),
        row(
            Key::CustomServerId,
            "CustomServerID",
            COMMENT_TEXT,
            "An identifier for persistence",
        )
        .default(Default::Text("\"None\""))
        .set()
        .unset()
        .no_effect("there is no persistence by identifier"),
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
            "Buffering of the service's answers",
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
            "Compression of the service's answers",
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
            "The most traffic both ways at which it gets another connection; 0 is no limit",
        )
        .default(Default::Integer(0))
        .set()
        .unset(),
        unused::ACCESS_DOWN,
        state("Whether it takes part at first"),
        row(
            Key::DownStateFlush,
            "downStateFlush",
            Kind::Choice(&ENABLED_DISABLED),
            "Whether its connections end when it goes down",
        )
        .default(Default::Choice("ENABLED"))
        .set()
        .unset(),
        rows::TCP_PROFILE,
        accepted::HTTP_PROFILE,
        row(
            Key::HashId,
            "hashId",
            HASH_ID,
            "What identifies it to the hash methods in place of its address and port",
        )
        .set()
        .unset(),
        comment(),
        appflow_log(),
        rows::NET_PROFILE,
        accepted::TRAFFIC_DOMAIN,
        accepted::PROCESS_LOCAL,
        accepted::DNS_PROFILE,
        accepted::QUIC_PROFILE,
        devno(),
    ],
    help: "A port of a server, and how it is used",
};

pub(super) const HASH_ID: Kind = Kind::Integer {
    min: 1,
    max: u32::MAX as u64,
    unit: "",
};

const OTHER_NAME: ArgSpec = row(
    Key::NewName,
    "newName",
    Kind::NewName(Noun::Service),
    "Its other name",
);
const NEW_NAME: ArgSpec = row(
    Key::Name,
    "name",
    Kind::NewName(Noun::Service),
    "The name of the new service",
);
const NAME: ArgSpec = row(
    Key::Name,
    "name",
    Kind::Name(Noun::Service),
    "The name of the service",
);
pub(super) const SERVER_NAME: ArgSpec = row(
    Key::ServerName,
    "serverName",
    Kind::AddressOrName(Noun::Server),
    "The name of its server, or its IPv4 or IPv6 address",
);
pub(super) const SERVICE_TYPE: ArgSpec = row(
    Key::ServiceType,
    "serviceType",
    Kind::Choice(&TYPES),
    "What it speaks",
);
const PORT: ArgSpec = row(Key::Port, "port", Kind::Port, "The port it listens on");
const IP_ADDRESS: ArgSpec = row(
    Key::IpAddress,
    "IPAddress",
    Kind::Address,
    "Its new address; a server of that address comes into being where there is none",
);

pub(super) const CIP_HEADER: Then = Then {
    spelling: "cipHeader",
    kind: Kind::Text { min: 1, max: 255 },
    required: false,
    key: None,
};

pub(super) const MAX_CLIENT: Kind = Kind::Integer {
    min: 0,
    max: 4_294_967_294,
    unit: "connections",
};
pub(super) const MAX_BANDWIDTH: Kind = Kind::Integer {
    min: 0,
    max: 4_294_967_287,
    unit: "kbit/s",
};
pub(super) const MAX_REQ: Kind = Kind::Integer {
    min: 0,
    max: 65_535,
    unit: "requests",
};

pub(super) const CLIENT_IDLE: Default = Default::IntegerByType {
    tcp: 9000,
    udp: 120,
    web: 180,
};
pub(super) const SERVICE_IDLE: Default = Default::IntegerByType {
    tcp: 9000,
    udp: 120,
    web: 360,
};

const GSLB: Choices = Choices {
    allowed: &[("NONE", "none")],
    aliases: &[],
    elsewhere: &["LOCAL", "REMOTE"],
};

const TYPES: Choices = Choices {
    allowed: &TYPE_NAMES,
    aliases: &[],
    elsewhere: &["ANY", "DHCPRA", "GRE", "PPTP", "RADIUSListener"],
};
static TYPE_NAMES: [(&str, &str); service_type::count(Side::Service)] =
    service_type::choices(Side::Service);
