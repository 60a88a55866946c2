//! The table of `lb parameter`: what holds for all virtual servers. There is one, and it is always
//! there; the options are saved in the order of the reference's synopsis. Those after it are our own.

use super::{Choices, CommandSpec, Default, ENABLED_DISABLED, Kind, NounSpec, ON_OFF, YES_NO, row};
use crate::{Key, Noun, Verb};

pub(super) static LB_PARAMETER: NounSpec = NounSpec {
    noun: Noun::LbParameter,
    group: Some("lb"),
    object: "parameter",
    commands: &[
        CommandSpec {
            verb: Verb::Set,
            noun: Noun::LbParameter,
            positionals: &[],
            own: &[],
            help: "Changes what holds for all virtual servers",
        },
        CommandSpec {
            verb: Verb::Unset,
            noun: Noun::LbParameter,
            positionals: &[],
            own: &[],
            help: "Returns options of all virtual servers to their defaults",
        },
        CommandSpec {
            verb: Verb::Show,
            noun: Noun::LbParameter,
            positionals: &[],
            own: &[],
            help: "Shows what holds for all virtual servers, and how full the persistence table is",
        },
    ],
    options: &[
        row(
            Key::HttpOnlyCookieFlag,
            "httpOnlyCookieFlag",
            Kind::Choice(&ENABLED_DISABLED),
            "The HttpOnly flag of persistence cookies",
        )
        .default(Default::Choice("ENABLED"))
        .set()
        .unset()
        .no_effect(NO_COOKIES),
        row(
            Key::UseEncryptedPersistenceCookie,
            "useEncryptedPersistenceCookie",
            Kind::Choice(&ENABLED_DISABLED),
            "Encryption of persistence cookies",
        )
        .default(Default::Choice("DISABLED"))
        .set()
        .unset()
        .no_effect(NO_COOKIES),
        row(
            Key::UseSecuredPersistenceCookie,
            "useSecuredPersistenceCookie",
            Kind::Choice(&ENABLED_DISABLED),
            "The Secure flag of persistence cookies",
        )
        .default(Default::Choice("DISABLED"))
        .set()
        .unset()
        .no_effect(NO_COOKIES),
        row(
            Key::CookiePassphrase,
            "cookiePassphrase",
            Kind::Text { min: 1, max: 31 },
            "The passphrase of encrypted persistence cookies",
        )
        .secret()
        .set()
        .unset()
        .no_effect(NO_COOKIES),
        row(
            Key::ConsolidatedLConn,
            "consolidatedLConn",
            Kind::Choice(&YES_NO),
            "Whether LEASTCONNECTION counts the connections of all threads together",
        )
        .default(Default::Choice("YES"))
        .set()
        .unset()
        .no_effect("they are always counted together"),
        row(
            Key::UsePortForHashLb,
            "usePortForHashLb",
            Kind::Choice(&YES_NO),
            "Whether the hash methods tell services of one address apart by their ports",
        )
        .default(Default::Choice("YES"))
        .set()
        .unset(),
        row(
            Key::PreferDirectRoute,
            "preferDirectRoute",
            Kind::Choice(&YES_NO),
            "Direct routes for virtual servers of any address",
        )
        .default(Default::Choice("YES"))
        .set()
        .unset()
        .no_effect("the system routes"),
        row(
            Key::StartupRrFactor,
            "startupRRFactor",
            COUNT,
            "The requests per service that are given out in turn after a change",
        )
        .default(Default::Integer(0))
        .set()
        .unset(),
        row(
            Key::MonitorSkipMaxClient,
            "monitorSkipMaxClient",
            Kind::Choice(&ENABLED_DISABLED),
            "Whether probes count for maxClient",
        )
        .default(Default::Choice("DISABLED"))
        .set()
        .unset()
        .no_effect(NO_MONITORS),
        row(
            Key::MonitorConnectionClose,
            "monitorConnectionClose",
            Kind::Choice(&RESET_FIN),
            "How a probe ends its connection",
        )
        .default(Default::Choice("FIN"))
        .set()
        .unset()
        .no_effect(NO_MONITORS),
        row(
            Key::VServerSpecificMac,
            "vServerSpecificMac",
            Kind::Choice(&ENABLED_DISABLED),
            "Hardware addresses of their own for virtual servers",
        )
        .default(Default::Choice("DISABLED"))
        .set()
        .unset()
        .no_effect("hardware addresses are the system's"),
        row(
            Key::AllowBoundSvcRemoval,
            "allowBoundSvcRemoval",
            Kind::Choice(&ENABLED_DISABLED),
            "Whether a service that is bound can be removed",
        )
        .default(Default::Choice("ENABLED"))
        .set()
        .unset(),
        row(
            Key::RetainServiceState,
            "retainservicestate",
            Kind::Choice(&ON_OFF),
            "Whether enabling a server gives its services their own states back",
        )
        .default(Default::Choice("OFF"))
        .set()
        .unset()
        .no_effect("it always does"),
        row(
            Key::DbsTtl,
            "dbsttl",
            Kind::Integer {
                min: 0,
                max: u32::MAX as u64,
                unit: "seconds",
            },
            "How long an address stands for a server's name",
        )
        .default(Default::Integer(0))
        .set()
        .unset()
        .no_effect("servers have addresses"),
        row(
            Key::MaxPipelineNat,
            "maxPipelineNat",
            COUNT,
            "The most requests of one client at one time, of UDP and of any protocol",
        )
        .default(Default::Integer(255))
        .set()
        .unset()
        .no_effect("requests of a session are not counted"),
        row(
            Key::LiteralAdcCookieAttribute,
            "literalADCCookieAttribute",
            Kind::Text { min: 1, max: 255 },
            "A literal attribute of cookies",
        )
        .set()
        .unset()
        .no_effect(NO_COOKIES),
        row(
            Key::ComputedAdcCookieAttribute,
            "computedADCCookieAttribute",
            Kind::Text { min: 1, max: 255 },
            "A computed attribute of cookies",
        )
        .set()
        .unset()
        .no_effect(NO_COOKIES),
        row(
            Key::StoreMqttClientIdAndUsername,
            "storeMqttClientIdAndUsername",
            Kind::Choice(&YES_NO),
            "Whether names of MQTT clients are kept",
        )
        .default(Default::Choice("NO"))
        .set()
        .unset()
        .no_effect(NO_MQTT),
        row(
            Key::DropMqttJumboMessage,
            "dropMqttJumboMessage",
            Kind::Choice(&YES_NO),
            "Whether long MQTT messages are dropped",
        )
        .default(Default::Choice("YES"))
        .set()
        .unset()
        .no_effect(NO_MQTT),
        row(
            Key::LbHashAlgorithm,
            "lbHashAlgorithm",
            Kind::Choice(&HASH_ALGORITHMS),
            "How the hash methods find a service",
        )
        .default(Default::Choice("DEFAULT"))
        .set()
        .unset(),
        row(
            Key::LbHashFingers,
            "lbHashFingers",
            FINGERS,
            "The points of a service in the table of PRAC or JARH, times its weight",
        )
        .default(Default::Integer(256))
        .set()
        .unset(),
        row(
            Key::ProximityFromSelf,
            "proximityFromSelf",
            Kind::Choice(&YES_NO),
            "Whether the location of this host counts, not that of the client",
        )
        .default(Default::Choice("NO"))
        .set()
        .unset()
        .no_effect("locations are not known"),
        row(
            Key::UndefAction,
            "undefAction",
            Kind::Choice(&UNDEF_ACTIONS),
            "What happens when a rule has no value",
        )
        .default(Default::Choice("NOLBACTION"))
        .set()
        .unset()
        .no_effect("there are no rules"),
        row(
            Key::SessionsThreshold,
            "sessionsThreshold",
            Kind::Integer {
                min: 1,
                max: 16_000_000,
                unit: "sessions",
            },
            "The most clients of all virtual servers together that stay with a service",
        )
        .default(Default::Integer(150_000))
        .set()
        .unset(),
        row(
            Key::TcpInline,
            "tcpInline",
            Kind::Choice(&ENABLED_DISABLED),
            "Whether TCP services are DOWN that their own connections show to be",
        )
        .default(Default::Choice("ENABLED"))
        .set()
        .unset(),
        row(
            Key::TcpInlineRetries,
            "tcpInlineRetries",
            Kind::Integer {
                min: 1,
                max: 127,
                unit: "connections",
            },
            "The connections that fail one after the other until a service is DOWN",
        )
        .default(Default::Integer(9))
        .set()
        .unset(),
        row(
            Key::TcpInlineShare,
            "tcpInlineShare",
            Kind::Integer {
                min: 0,
                max: 100,
                unit: "percent",
            },
            "The share of failed connections from which on a service is DOWN; 0 is none",
        )
        .default(Default::Integer(30))
        .set()
        .unset(),
        row(
            Key::TcpInlineSample,
            "tcpInlineSample",
            Kind::Integer {
                min: 10,
                max: 100,
                unit: "connections",
            },
            "The last connections of which tcpInlineShare is a share",
        )
        .default(Default::Integer(100))
        .set()
        .unset(),
        row(
            Key::TcpInlineRespTimeout,
            "tcpInlineResptimeout",
            Kind::Integer {
                min: 1,
                max: 3600,
                unit: "seconds",
            },
            "How long a client waits for its first answer until that is a failure",
        )
        .default(Default::Integer(5))
        .set()
        .unset(),
        row(
            Key::TcpInlineDownTime,
            "tcpInlineDownTime",
            DOWN_TIME,
            "How long a service is DOWN before a connection tries it; twice as long each further time",
        )
        .default(Default::Integer(10))
        .set()
        .unset(),
        row(
            Key::TcpInlineMaxDownTime,
            "tcpInlineMaxDownTime",
            DOWN_TIME,
            "How long a service is DOWN at most before a connection tries it",
        )
        .default(Default::Integer(300))
        .set()
        .unset(),
        row(
            Key::ConnectTries,
            "connectTries",
            Kind::Integer {
                min: 1,
                max: 16,
                unit: "services",
            },
            "The services that are tried for a client one after the other while connects fail",
        )
        .default(Default::Integer(3))
        .set()
        .unset(),
    ],
    help: "What holds for all virtual servers",
};

const COUNT: Kind = Kind::Integer {
    min: 0,
    max: u32::MAX as u64,
    unit: "requests",
};

const DOWN_TIME: Kind = Kind::Integer {
    min: 1,
    max: 86_400,
    unit: "seconds",
};

const RESET_FIN: Choices = Choices {
    allowed: &[("RESET", "with a reset"), ("FIN", "in order")],
    aliases: &[],
    elsewhere: &[],
};

pub(super) const HASH_ALGORITHMS: Choices = Choices {
    allowed: &[
        ("DEFAULT", "rendezvous, with exact shares"),
        ("PRAC", "a table over a prime number of places"),
        ("JARH", "a ring with a jump table"),
    ],
    aliases: &[],
    elsewhere: &[],
};

const UNDEF_ACTIONS: Choices = Choices {
    allowed: &[
        ("NOLBACTION", "as without the rule"),
        ("RESET", "the connection is reset"),
        ("DROP", "the request is dropped"),
    ],
    aliases: &[],
    elsewhere: &[],
};

const NO_COOKIES: &str = "there are no cookies";
const NO_MONITORS: &str = "there are no monitors";
const NO_MQTT: &str = "MQTT is not looked at";

pub(super) const FINGERS: Kind = Kind::Integer {
    min: 1,
    max: 1024,
    unit: "",
};
