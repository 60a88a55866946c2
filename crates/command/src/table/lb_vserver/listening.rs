//! Options of a virtual server on how it listens, forwards and is kept alive by a second node, that are
//! read, kept and written back and do nothing here.

use super::super::accepted::{NAME, accepted};
use super::super::rows::row;
use super::super::{ArgSpec, Choices, Default, ENABLED_DISABLED, Kind, ON_OFF, YES_NO};
use crate::Key;

pub(in crate::table) const RANGE: ArgSpec = accepted(
    Key::Range,
    "range",
    Kind::Integer {
        min: 1,
        max: 254,
        unit: "addresses",
    },
    "How many addresses it has, one after the other",
    "only the first address is listened on: add a virtual server for each",
)
.default(Default::Integer(1));

pub(in crate::table) const IPSET: ArgSpec = accepted(
    Key::IpSet,
    "ipset",
    NAME,
    "More addresses where clients connect",
    "only IPAddress is listened on: add a virtual server for each address",
)
.set()
.unset();

/// What would be let through that an expression keeps out is no loss of a feature: it is refused.
pub(in crate::table) const LISTEN_POLICY: ArgSpec = row(
    Key::ListenPolicy,
    "Listenpolicy",
    Kind::Choice(&LISTEN_POLICIES),
    "Which clients it takes: all of them",
)
.default(Default::Choice("None"))
.set()
.unset();

pub(in crate::table) const LISTEN_PRIORITY: ArgSpec = accepted(
    Key::ListenPriority,
    "Listenpriority",
    Kind::Integer {
        min: 0,
        max: 101,
        unit: "",
    },
    "Which of several virtual servers at an address is asked first",
    "an address has one virtual server",
)
.default(Default::Integer(101))
.set()
.unset();

pub(in crate::table) const MODE: ArgSpec = accepted(
    Key::Mode,
    "m",
    Kind::Choice(&MODES),
    "How a service is reached",
    "services are connected to at their addresses, and answer this host",
)
.default(Default::Choice("IP"))
.set()
.unset();

pub(in crate::table) const TOS_ID: ArgSpec = accepted(
    Key::TosId,
    "tosId",
    Kind::Integer {
        min: 1,
        max: 63,
        unit: "",
    },
    "The mark of packets that services answer directly",
    "services answer this host",
)
.set()
.unset();

pub(in crate::table) const SESSIONLESS: ArgSpec = accepted(
    Key::Sessionless,
    "sessionless",
    Kind::Choice(&ENABLED_DISABLED),
    "Whether every packet is chosen for on its own",
    "a session keeps its service",
)
.default(Default::Choice("DISABLED"))
.set()
.unset();

pub(in crate::table) const MAC_MODE_VLAN: ArgSpec = accepted(
    Key::MacModeRetainVlan,
    "macmodeRetainvlan",
    Kind::Choice(&ENABLED_DISABLED),
    "Whether packets keep their VLAN",
    "packets are not forwarded",
)
.default(Default::Choice("DISABLED"))
.set()
.unset();

pub(in crate::table) const L2_CONN: ArgSpec = accepted(
    Key::L2Conn,
    "l2Conn",
    Kind::Choice(&ON_OFF),
    "Whether connections are told apart by MAC addresses too",
    "MAC addresses are not looked at",
)
.default(Default::Choice("OFF"))
.set()
.unset();

pub(in crate::table) const RTSP_NAT: ArgSpec = accepted(
    Key::RtspNat,
    "rtspNat",
    Kind::Choice(&ON_OFF),
    "Whether addresses in media sessions are translated",
    "media sessions are not looked at",
)
.default(Default::Choice("OFF"))
.set()
.unset();

pub(in crate::table) const REDIRECT_FROM_PORT: ArgSpec = accepted(
    Key::RedirectFromPort,
    "redirectFromPort",
    Kind::Port,
    "The port whose clients are sent to the encrypted one",
    "there are no redirects: nothing listens on that port",
)
.set()
.unset();

pub(in crate::table) const HTTPS_REDIRECT_URL: ArgSpec = accepted(
    Key::HttpsRedirectUrl,
    "httpsRedirectUrl",
    TEXT,
    "Where clients of that port are sent",
    "there are no redirects",
)
.set()
.unset();

pub(in crate::table) const PROBE_PROTOCOL: ArgSpec = accepted(
    Key::ProbeProtocol,
    "probeProtocol",
    Kind::Choice(&PROBE_PROTOCOLS),
    "How others ask for its state",
    "nothing answers such probes",
)
.set()
.unset();

pub(in crate::table) const PROBE_PORT: ArgSpec = accepted(
    Key::ProbePort,
    "probePort",
    PORT_OR_NONE,
    "Where others ask for its state",
    "nothing answers such probes",
)
.default(Default::Integer(0))
.set()
.unset();

pub(in crate::table) const TCP_PROBE_PORT: ArgSpec = accepted(
    Key::TcpProbePort,
    "tcpProbePort",
    Kind::Port,
    "Where others ask for its state by TCP",
    "nothing answers such probes",
)
.set()
.unset();

pub(in crate::table) const PROBE_RESPONSE: ArgSpec = accepted(
    Key::ProbeSuccessResponseCode,
    "probeSuccessResponseCode",
    TEXT,
    "What they are answered while it is UP",
    "nothing answers such probes",
)
.set()
.unset();

pub(in crate::table) const CONN_FAILOVER: ArgSpec = accepted(
    Key::ConnFailover,
    "connfailover",
    Kind::Choice(&FAILOVERS),
    "Whether a second node goes on with its connections",
    "there is no second node",
)
.default(Default::Choice("DISABLED"))
.set()
.unset();

pub(in crate::table) const ICMP_RESPONSE: ArgSpec = accepted(
    Key::IcmpVsrResponse,
    "icmpVsrResponse",
    Kind::Choice(&PASSIVE_ACTIVE),
    "Whether its address answers pings by its state",
    "the system answers pings",
)
.default(Default::Choice("PASSIVE"))
.set()
.unset();

pub(in crate::table) const RHI_STATE: ArgSpec = accepted(
    Key::RhiState,
    "RHIstate",
    Kind::Choice(&PASSIVE_ACTIVE),
    "Whether the route to its address follows its state",
    "routes are not announced",
)
.default(Default::Choice("PASSIVE"))
.set()
.unset();

pub(in crate::table) const RETAIN_CONNECTIONS: ArgSpec = accepted(
    Key::RetainConnectionsOnCluster,
    "retainConnectionsOnCluster",
    Kind::Choice(&YES_NO),
    "Whether connections outlive a node of a cluster",
    "there is no cluster",
)
.default(Default::Choice("NO"))
.set()
.unset();

pub(in crate::table) const MIN_MEMBERS: ArgSpec = accepted(
    Key::MinAutoscaleMembers,
    "minAutoscaleMembers",
    MEMBERS,
    "The fewest services that scaling leaves",
    "services are not scaled",
)
.default(Default::Integer(0))
.set()
.unset();

pub(in crate::table) const MAX_MEMBERS: ArgSpec = accepted(
    Key::MaxAutoscaleMembers,
    "maxAutoscaleMembers",
    MEMBERS,
    "The most services that scaling adds",
    "services are not scaled",
)
.default(Default::Integer(0))
.set()
.unset();

pub(in crate::table) const OWNER_GROUP: ArgSpec = accepted(
    Key::OwnerGroup,
    "ownerGroup",
    NAME,
    "The nodes of a cluster that have it",
    "there is no cluster",
)
.set()
.unset();

const LISTEN_POLICIES: Choices = Choices {
    allowed: &[("None", "every client")],
    aliases: &[],
    elsewhere: &[],
};

const MODES: Choices = Choices {
    allowed: &[
        ("IP", "at its address"),
        ("MAC", "at its MAC address"),
        ("IPTUNNEL", "through an IP tunnel"),
        ("TOS", "by a mark in packets"),
    ],
    aliases: &[],
    elsewhere: &[],
};

const PROBE_PROTOCOLS: Choices = Choices {
    allowed: &[("TCP", "by a connection"), ("HTTP", "by a request")],
    aliases: &[],
    elsewhere: &[],
};

const FAILOVERS: Choices = Choices {
    allowed: &[
        ("DISABLED", "off"),
        ("STATEFUL", "with their state"),
        ("STATELESS", "without their state"),
    ],
    aliases: &[],
    elsewhere: &[],
};

const PASSIVE_ACTIVE: Choices = Choices {
    allowed: &[
        ("PASSIVE", "as one of several"),
        ("ACTIVE", "by its own state"),
    ],
    aliases: &[],
    elsewhere: &[],
};

const TEXT: Kind = Kind::Text { min: 1, max: 255 };

const PORT_OR_NONE: Kind = Kind::Integer {
    min: 0,
    max: 65_535,
    unit: "",
};

const MEMBERS: Kind = Kind::Integer {
    min: 0,
    max: 5000,
    unit: "services",
};
