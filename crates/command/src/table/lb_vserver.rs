//! The table of `lb vserver`: where clients connect, and how a service is chosen for them.

mod chains;
mod choices;
mod layer7;
mod listening;

use std::net::Ipv4Addr;

use choices::{BACKUP_METHODS, METHODS, PERSISTENCE, SKIP, TYPES, UNITS};

use super::{
    ArgSpec, CommandSpec, Default, ENABLED_DISABLED, IDLE_SECONDS, Kind, MASK_LENGTH,
    MINUTES_OR_COOKIE, NounSpec, Positional, STAT_OPTIONS, Then, Times, appflow_log, comment,
    devno, many, once, optional, row, state,
};
use super::{accepted, rows};
use crate::{Key, Noun, Verb};

pub(super) static LB_VSERVER: NounSpec = NounSpec {
    noun: Noun::LbVserver,
    group: Some("lb"),
    object: "vserver",
    commands: &[
        CommandSpec {
            verb: Verb::Add,
            noun: Noun::LbVserver,
            positionals: &[once(NEW_NAME), once(SERVICE_TYPE), ADDRESS, PORT],
            own: &[],
            help: "Adds a virtual server; without address and port, or with 0.0.0.0 0, clients \
                   cannot reach it directly",
        },
        CommandSpec {
            verb: Verb::Set,
            noun: Noun::LbVserver,
            positionals: &[once(NAME)],
            own: &[IP_ADDRESS, SET_WEIGHT, chains::SET_ORDER],
            help: "Changes a virtual server",
        },
        CommandSpec {
            verb: Verb::Unset,
            noun: Noun::LbVserver,
            positionals: &[once(NAME)],
            own: &[],
            help: "Returns options of a virtual server to their defaults",
        },
        CommandSpec {
            verb: Verb::Rm,
            noun: Noun::LbVserver,
            positionals: &[many(NAME)],
            own: &[],
            help: "Removes virtual servers and their bindings",
        },
        CommandSpec {
            verb: Verb::Enable,
            noun: Noun::LbVserver,
            positionals: &[once(NAME)],
            own: &[],
            help: "Lets a virtual server take clients",
        },
        CommandSpec {
            verb: Verb::Disable,
            noun: Noun::LbVserver,
            positionals: &[once(NAME)],
            own: &[],
            help: "Stops a virtual server from taking clients",
        },
        CommandSpec {
            verb: Verb::Bind,
            noun: Noun::LbVserver,
            positionals: &[once(NAME), once(SERVICE_NAME)],
            own: &[BIND_WEIGHT, chains::BIND_ORDER],
            help: "Binds a service or service group to a virtual server",
        },
        CommandSpec {
            verb: Verb::Unbind,
            noun: Noun::LbVserver,
            positionals: &[once(NAME), once(SERVICE_NAME)],
            own: &[],
            help: "Unbinds a service or service group from a virtual server",
        },
        CommandSpec {
            verb: Verb::Rename,
            noun: Noun::LbVserver,
            positionals: &[once(NAME), once(OTHER_NAME)],
            own: &[],
            help: "Gives a virtual server another name; its flows and bindings go on",
        },
        CommandSpec {
            verb: Verb::Show,
            noun: Noun::LbVserver,
            positionals: &[optional(NAME)],
            own: &[],
            help: "Shows all virtual servers, or one with its services",
        },
        CommandSpec {
            verb: Verb::Stat,
            noun: Noun::LbVserver,
            positionals: &[optional(NAME)],
            own: STAT_OPTIONS,
            help: "Shows the statistics of all virtual servers, or of one with its services",
        },
        CommandSpec {
            verb: Verb::Explain,
            noun: Noun::LbVserver,
            positionals: &[once(NAME)],
            own: &[
                row(
                    Key::SrcIp,
                    "srcIP",
                    Kind::Address,
                    "The client's address, where persistence or a hash looks at it",
                ),
                row(
                    Key::SrcPort,
                    "srcPort",
                    Kind::Port,
                    "The client's port, where a hash looks at it",
                ),
                row(
                    Key::DestIp,
                    "destIP",
                    Kind::Address,
                    "The address the client dials, where the virtual server serves more than one",
                ),
            ],
            help: "Shows which service the next client would get and why, changing nothing",
        },
    ],
    options: &[
        row(
            Key::PersistenceType,
            "persistenceType",
            Kind::Choice(&PERSISTENCE),
            "How a client stays with its service",
        )
        .default(Default::Choice("NONE"))
        .set()
        .unset()
        .always(),
        row(
            Key::Timeout,
            "timeout",
            MINUTES_OR_COOKIE,
            "How long a client stays with its service after its last new connection",
        )
        .default(Default::Integer(2))
        .set()
        .unset(),
        layer7::PERSISTENCE_BACKUP,
        layer7::BACKUP_TIMEOUT,
        row(
            Key::LbMethod,
            "lbMethod",
            Kind::Choice(&METHODS),
            "How a service is chosen",
        )
        .default(Default::Choice("LEASTCONNECTION"))
        .set()
        .unset(),
        row(
            Key::HashLength,
            "hashLength",
            HASH_LENGTH,
            "How many bytes of a URL or a domain are hashed",
        )
        .default(Default::Integer(80))
        .set()
        .unset()
        .no_effect("URLs and domains are not looked at"),
        row(
            Key::Netmask,
            "netmask",
            Kind::Netmask,
            "Which bits of an IPv4 address are hashed by SOURCEIPHASH and DESTINATIONIPHASH",
        )
        .default(Default::Netmask(Ipv4Addr::BROADCAST))
        .set()
        .unset(),
        row(
            Key::V6NetmaskLen,
            "v6netmasklen",
            MASK_LENGTH,
            "How many leading bits of an IPv6 address are hashed by SOURCEIPHASH and \
             DESTINATIONIPHASH",
        )
        .default(Default::Integer(128))
        .set()
        .unset(),
        row(
            Key::BackupLbMethod,
            "backupLBMethod",
            Kind::Choice(&BACKUP_METHODS),
            "The method in place of one that looks into what clients send",
        )
        .default(Default::Choice("ROUNDROBIN"))
        .set()
        .unset(),
        layer7::COOKIE_NAME,
        layer7::RULE,
        listening::LISTEN_POLICY,
        listening::LISTEN_PRIORITY,
        layer7::RES_RULE,
        row(
            Key::PersistMask,
            "persistMask",
            Kind::Netmask,
            "Which bits of IPv4 addresses tell one client from another for persistence",
        )
        .default(Default::Netmask(Ipv4Addr::BROADCAST))
        .set()
        .unset(),
        row(
            Key::V6PersistMaskLen,
            "v6persistmasklen",
            MASK_LENGTH,
            "How many leading bits of IPv6 addresses tell one client from another for persistence",
        )
        .default(Default::Integer(128))
        .set()
        .unset(),
        listening::RTSP_NAT,
        listening::MODE,
        listening::TOS_ID,
        row(
            Key::DataLength,
            "dataLength",
            DATA_LENGTH,
            "How long the token is; needs -lbMethod TOKEN",
        )
        .set()
        .unset(),
        row(
            Key::DataOffset,
            "dataOffset",
            DATA_OFFSET,
            "How many bytes the client sends before the token; needs -lbMethod TOKEN",
        )
        .default(Default::Integer(0))
        .set()
        .unset(),
        listening::SESSIONLESS,
        row(
            Key::TrofsPersistence,
            "trofsPersistence",
            Kind::Choice(&ENABLED_DISABLED),
            "Whether clients stay with a service that is going out of service",
        )
        .default(Default::Choice("ENABLED"))
        .set()
        .unset(),
        listening::CONN_FAILOVER,
        layer7::REDIRECT_URL,
        accepted::CACHEABLE,
        row(
            Key::CltTimeout,
            "cltTimeout",
            IDLE_SECONDS,
            "How long the client's side may be idle; 0 is for ever",
        )
        .default(Default::IntegerByType {
            tcp: 9000,
            udp: 120,
            web: 180,
        })
        .set()
        .unset()
        .always(),
        state("Whether it takes clients at first"),
        chains::METHOD,
        chains::PERSISTENCE,
        chains::PERSISTENCE_TIMEOUT,
        chains::HEALTH,
        chains::THRESHOLD,
        chains::ACTION,
        layer7::REDIRECT_PORT,
        row(
            Key::DownStateFlush,
            "downStateFlush",
            Kind::Choice(&ENABLED_DISABLED),
            "Whether its connections end when it goes down",
        )
        .default(Default::Choice("ENABLED"))
        .set()
        .unset(),
        chains::BACKUP,
        chains::DISABLE_PRIMARY,
        layer7::INSERT_IP_PORT,
        layer7::AUTHENTICATION_HOST,
        layer7::AUTHENTICATION,
        layer7::AUTHN_401,
        layer7::AUTHN_VSERVER,
        layer7::PUSH,
        layer7::PUSH_VSERVER,
        layer7::PUSH_LABEL,
        layer7::PUSH_MULTI,
        rows::TCP_PROFILE,
        accepted::HTTP_PROFILE,
        layer7::DB_PROFILE,
        row(
            Key::NewServiceRequest,
            "newServiceRequest",
            RATE,
            "Slow start: the requests a new service gets at first, and the step by which they \
             grow; 0 is off",
        )
        .aliases(&["newServiceRequestRate"])
        .then(Then {
            spelling: "newServiceRequestUnit",
            kind: Kind::Choice(&UNITS),
            required: false,
            key: Some(Key::NewServiceRequestUnit),
        })
        .default(Default::Integer(0))
        .set()
        .unset(),
        row(
            Key::NewServiceRequestUnit,
            "newServiceRequestUnit",
            Kind::Choice(&UNITS),
            "What newServiceRequest counts; written as its second value",
        )
        .aliases(&["unit"])
        .default(Default::Choice("PER_SECOND"))
        .set()
        .unset(),
        row(
            Key::NewServiceRequestIncrementInterval,
            "newServiceRequestIncrementInterval",
            Kind::Integer {
                min: 0,
                max: 3600,
                unit: "seconds",
            },
            "Slow start: the time between two steps; 0 leaves the limit until it is changed",
        )
        .aliases(&["incrementInterval"])
        .default(Default::Integer(0))
        .set()
        .unset(),
        comment(),
        appflow_log(),
        listening::L2_CONN,
        layer7::ORACLE_VERSION,
        layer7::MSSQL_VERSION,
        layer7::MYSQL_PROTOCOL,
        layer7::MYSQL_VERSION,
        layer7::MYSQL_CHARSET,
        layer7::MYSQL_CAPABILITIES,
        rows::NET_PROFILE,
        listening::ICMP_RESPONSE,
        listening::RHI_STATE,
        listening::MIN_MEMBERS,
        listening::MAX_MEMBERS,
        layer7::PERSIST_AVP,
        row(
            Key::SkipPersistency,
            "skippersistency",
            Kind::Choice(&SKIP),
            "What happens when the service that a client stays with is at maxClient",
        )
        .default(Default::Choice("None"))
        .set()
        .unset(),
        accepted::TRAFFIC_DOMAIN,
        layer7::AUTHN_PROFILE,
        listening::MAC_MODE_VLAN,
        layer7::DBS_LB,
        layer7::DNS64,
        layer7::BYPASS_AAAA,
        layer7::RECURSION,
        accepted::PROCESS_LOCAL,
        accepted::DNS_PROFILE,
        rows::LB_PROFILE,
        listening::REDIRECT_FROM_PORT,
        listening::HTTPS_REDIRECT_URL,
        listening::RETAIN_CONNECTIONS,
        listening::RANGE,
        listening::IPSET,
        listening::PROBE_PROTOCOL,
        listening::PROBE_PORT,
        listening::TCP_PROBE_PORT,
        listening::PROBE_RESPONSE,
        listening::OWNER_GROUP,
        layer7::DNS_OVER_HTTPS,
        layer7::ADFS_PROFILE,
        layer7::QUIC_BRIDGE_PROFILE,
        layer7::API_PROFILE,
        accepted::QUIC_PROFILE,
        chains::ORDER_THRESHOLD,
        chains::TOGGLE_ORDER,
        devno(),
    ],
    help: "An address where clients connect, and how a service is chosen for them",
};

const OTHER_NAME: ArgSpec = row(
    Key::NewName,
    "newName",
    Kind::NewName(Noun::LbVserver),
    "Its other name",
);
const NEW_NAME: ArgSpec = row(
    Key::Name,
    "name",
    Kind::NewName(Noun::LbVserver),
    "The name of the new virtual server",
);
const NAME: ArgSpec = row(
    Key::Name,
    "name",
    Kind::Name(Noun::LbVserver),
    "The name of the virtual server",
);
const SERVICE_TYPE: ArgSpec = row(
    Key::ServiceType,
    "serviceType",
    Kind::Choice(&TYPES),
    "What its clients and services speak",
);
const ADDRESS: Positional = Positional {
    arg: row(
        Key::Address,
        "IPAddress",
        Kind::ListenAddress,
        "Where clients connect: an IPv4 or IPv6 address of this host, * for any IPv4 address, :: \
         for any IPv6 address, 0.0.0.0 for none",
    ),
    times: Times::Else("0.0.0.0"),
};
const PORT: Positional = Positional {
    arg: row(
        Key::Port,
        "port",
        Kind::ListenPort,
        "The port where clients connect; 0 with the address 0.0.0.0",
    ),
    times: Times::Else("0"),
};
const IP_ADDRESS: ArgSpec = row(
    Key::IpAddress,
    "IPAddress",
    Kind::ListenAddress,
    "Where clients connect from now on; the port stays",
);
const SERVICE_NAME: ArgSpec = row(
    Key::ServiceName,
    "serviceName",
    Kind::BoundName,
    "The name of the service or service group",
);

const WEIGHT: Kind = Kind::Integer {
    min: 1,
    max: 100,
    unit: "",
};
const BIND_WEIGHT: ArgSpec = row(
    Key::Weight,
    "weight",
    WEIGHT,
    "The share of the service, in proportion to the weights of the others",
)
.default(Default::Integer(1));
const SET_WEIGHT: ArgSpec = row(
    Key::Weight,
    "weight",
    WEIGHT,
    "The new weight of a bound service",
)
.then(Then {
    spelling: "serviceName",
    kind: Kind::BoundName,
    required: true,
    key: None,
});

const RATE: Kind = Kind::Integer {
    min: 0,
    max: u32::MAX as u64,
    unit: "requests or percent",
};

const DATA_LENGTH: Kind = Kind::Integer {
    min: 1,
    max: 100,
    unit: "bytes",
};

const DATA_OFFSET: Kind = Kind::Integer {
    min: 0,
    max: 25_400,
    unit: "bytes",
};

const HASH_LENGTH: Kind = Kind::Integer {
    min: 1,
    max: 4096,
    unit: "bytes",
};
