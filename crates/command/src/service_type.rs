//! The types of services and virtual servers: what carries each, and what of it is not done here.
//!
//! Every type runs as plain connections or plain datagrams. The table is the one place that knows
//! for which of them this loses something, and which take an encrypted stream through unopened.

/// A type.
#[derive(Debug, PartialEq, Eq)]
pub struct TypeSpec {
    /// Its word.
    pub name: &'static str,
    /// What carries it.
    pub carrier: Carrier,
    /// What remains of it at Layer 4.
    pub meaning: Meaning,
    /// Which idle limits it has by default.
    pub idle: IdleDefaults,
    /// Which kinds of objects can be of this type.
    sides: Sides,
    /// What it is, for lists of choices.
    help: &'static str,
}

/// What carries a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// TCP.
    Connections,
    /// UDP.
    Datagrams,
}

/// What remains of a type at Layer 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// All of it.
    Whole,
    /// Balanced by connection or by client; what is lost, as a clause.
    Lost(&'static str),
    /// Passed through encrypted: it reaches only services that decrypt it themselves.
    Encrypted,
    /// Passed through encrypted, which is all it promises.
    Bridged,
}

/// Which idle limits hold by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleDefaults {
    /// 9000 s on both sides.
    Stream,
    /// 120 s on both sides.
    Datagram,
    /// 180 s on the client's side, 360 s on the service's.
    Web,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sides {
    Both,
    Service,
    Vserver,
}

/// Which list of choices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// That of services.
    Service,
    /// That of virtual servers.
    Vserver,
}

impl TypeSpec {
    /// Returns the type of this exact name.
    pub fn named(name: &str) -> Option<&'static Self> {
        TYPES.iter().find(|known| known.name == name)
    }

    /// Returns whether what it carries is encrypted from end to end.
    pub fn is_encrypted(&self) -> bool {
        match self.meaning {
            Meaning::Encrypted | Meaning::Bridged => true,
            Meaning::Whole | Meaning::Lost(_) => false,
        }
    }

    /// Returns whether clients only ever send, so that no answer says nothing.
    pub fn is_one_way(&self) -> bool {
        ONE_WAY.contains(&self.name)
    }

    /// Returns what an operator who uses it is to know, if anything.
    pub fn warning(&self) -> Option<String> {
        let carrier = match self.carrier {
            Carrier::Connections => "TCP",
            Carrier::Datagrams => "UDP",
        };
        let why = match self.meaning {
            Meaning::Whole | Meaning::Bridged => return None,
            Meaning::Lost(why) => why,
            Meaning::Encrypted => "it is not decrypted and needs services of an encrypted type",
        };
        Some(format!("{} runs as {carrier} here [{why}]", self.name))
    }

    const fn is_on(&self, side: Side) -> bool {
        match (self.sides, side) {
            (Sides::Both, _)
            | (Sides::Service, Side::Service)
            | (Sides::Vserver, Side::Vserver) => true,
            (Sides::Service, Side::Vserver) | (Sides::Vserver, Side::Service) => false,
        }
    }

    const fn for_services(self) -> Self {
        Self {
            sides: Sides::Service,
            ..self
        }
    }

    const fn for_vservers(self) -> Self {
        Self {
            sides: Sides::Vserver,
            ..self
        }
    }

    const fn web(self) -> Self {
        Self {
            idle: IdleDefaults::Web,
            ..self
        }
    }
}

/// Returns how many types a side has.
pub(crate) const fn count(side: Side) -> usize {
    let (mut count, mut at) = (0, 0);
    while at < TYPES.len() {
        if TYPES[at].is_on(side) {
            count += 1;
        }
        at += 1;
    }
    count
}

/// Returns the types of a side and what they are; `N` is [`count`].
pub(crate) const fn choices<const N: usize>(side: Side) -> [(&'static str, &'static str); N] {
    let mut choices = [("", ""); N];
    let (mut count, mut at) = (0, 0);
    while at < TYPES.len() {
        if TYPES[at].is_on(side) {
            choices[count] = (TYPES[at].name, TYPES[at].help);
            count += 1;
        }
        at += 1;
    }
    choices
}

const fn tcp(name: &'static str, meaning: Meaning, help: &'static str) -> TypeSpec {
    TypeSpec {
        name,
        carrier: Carrier::Connections,
        meaning,
        idle: IdleDefaults::Stream,
        sides: Sides::Both,
        help,
    }
}

const fn udp(name: &'static str, meaning: Meaning, help: &'static str) -> TypeSpec {
    TypeSpec {
        carrier: Carrier::Datagrams,
        idle: IdleDefaults::Datagram,
        ..tcp(name, meaning, help)
    }
}

const REQUESTS: Meaning = Meaning::Lost("requests inside a connection are not looked at");
const MESSAGES: Meaning = Meaning::Lost("messages inside a connection are not looked at");
const DATA: Meaning = Meaning::Lost("data connections of their own are not followed");
const WHOLE: Meaning = Meaning::Whole;
const ENCRYPTED: Meaning = Meaning::Encrypted;

/// All types, in the order of the reference.
static TYPES: &[TypeSpec] = &[
    tcp("HTTP", REQUESTS, "web, as connections").web(),
    tcp("FTP", DATA, "file transfer, its control connection"),
    tcp("TCP", WHOLE, "connections"),
    udp("UDP", WHOLE, "datagrams"),
    tcp("SSL", ENCRYPTED, "encrypted web, not decrypted").web(),
    tcp("SSL_BRIDGE", Meaning::Bridged, "encrypted connections").web(),
    tcp("SSL_TCP", ENCRYPTED, "encrypted connections, not decrypted"),
    udp("DTLS", ENCRYPTED, "encrypted datagrams, not decrypted"),
    tcp("NNTP", WHOLE, "news"),
    tcp("RPCSVR", MESSAGES, "remote procedure calls").for_services(),
    udp("DNS", WHOLE, "names"),
    udp("ADNS", WHOLE, "names").for_services(),
    udp("SNMP", WHOLE, "network management").for_services(),
    tcp("RTSP", DATA, "media, its control connection"),
    udp(
        "SIP_UDP",
        Meaning::Lost("calls are not looked at"),
        "telephony",
    ),
    tcp("SIP_TCP", MESSAGES, "telephony"),
    tcp("SIP_SSL", ENCRYPTED, "encrypted telephony, not decrypted"),
    tcp("DNS_TCP", WHOLE, "names").web(),
    tcp("ADNS_TCP", WHOLE, "names").for_services().web(),
    tcp("MYSQL", WHOLE, "a database"),
    tcp("MSSQL", WHOLE, "a database"),
    tcp("ORACLE", WHOLE, "a database"),
    udp("RADIUS", WHOLE, "authentication"),
    tcp("RDP", WHOLE, "remote desktops"),
    tcp("DIAMETER", MESSAGES, "authentication"),
    tcp(
        "SSL_DIAMETER",
        ENCRYPTED,
        "encrypted authentication, not decrypted",
    ),
    udp(
        "TFTP",
        Meaning::Lost("answers from another port of the service are not followed"),
        "file transfer",
    ),
    tcp("SMPP", MESSAGES, "short messages"),
    tcp("SYSLOGTCP", WHOLE, "logs"),
    udp("SYSLOGUDP", WHOLE, "logs"),
    tcp("FIX", MESSAGES, "trading"),
    tcp("SSL_FIX", ENCRYPTED, "encrypted trading, not decrypted"),
    tcp("USER_TCP", MESSAGES, "a protocol of one's own"),
    tcp(
        "USER_SSL_TCP",
        ENCRYPTED,
        "an encrypted protocol of one's own, as it is",
    ),
    tcp("MONGO", WHOLE, "a database"),
    tcp(
        "MONGO_TLS",
        ENCRYPTED,
        "an encrypted database, not decrypted",
    ),
    udp("QUIC", ENCRYPTED, "encrypted web over UDP, not decrypted"),
    udp("IPFIX", WHOLE, "flow records"),
    tcp("LOGSTREAM", WHOLE, "logs"),
    tcp("LOGSTREAM_SSL", ENCRYPTED, "encrypted logs, not decrypted").for_services(),
    tcp("MQTT", MESSAGES, "telemetry"),
    tcp("MQTT_TLS", ENCRYPTED, "encrypted telemetry, not decrypted"),
    udp(
        "QUIC_BRIDGE",
        Meaning::Lost("connection identifiers are not read, so a client that moves is a new one"),
        "encrypted web over UDP",
    ),
    tcp("DOT", ENCRYPTED, "encrypted names, not decrypted").web(),
    tcp("ADNS_DOT", ENCRYPTED, "encrypted names, not decrypted")
        .for_services()
        .web(),
    udp(
        "HTTP_QUIC",
        ENCRYPTED,
        "encrypted web over UDP, not decrypted",
    ),
    tcp("ADNS_DOH", ENCRYPTED, "encrypted names, not decrypted")
        .for_services()
        .web(),
    tcp("KAFKA_BROKER", MESSAGES, "a message queue").for_services(),
    tcp("KAFKA_PRODUCER", MESSAGES, "a message queue").for_vservers(),
];

/// Types that carry logs and records, which nobody answers.
const ONE_WAY: [&str; 5] = [
    "SYSLOGTCP",
    "SYSLOGUDP",
    "IPFIX",
    "LOGSTREAM",
    "LOGSTREAM_SSL",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_occur_once_and_have_a_meaning() {
        for (at, known) in TYPES.iter().enumerate() {
            assert_eq!(TypeSpec::named(known.name), Some(&TYPES[at]));
            assert!(!known.help.is_empty(), "{}", known.name);
        }
    }

    #[test]
    fn datagrams_have_the_short_idle_limit_and_connections_never() {
        for known in TYPES {
            let short = known.idle == IdleDefaults::Datagram;
            assert_eq!(short, known.carrier == Carrier::Datagrams, "{}", known.name);
        }
    }

    #[test]
    fn a_type_that_loses_something_says_what() {
        let warning = |name| TypeSpec::named(name).and_then(TypeSpec::warning);
        assert_eq!(warning("TCP"), None);
        assert_eq!(warning("SSL_BRIDGE"), None);
        assert_eq!(
            warning("HTTP").as_deref(),
            Some("HTTP runs as TCP here [requests inside a connection are not looked at]")
        );
        assert_eq!(
            warning("DTLS").as_deref(),
            Some(
                "DTLS runs as UDP here [it is not decrypted and needs services of an encrypted \
                 type]"
            )
        );
    }

    #[test]
    fn sides_differ_where_the_reference_does() {
        let names = |side| {
            let of_side = TYPES.iter().filter(move |known| known.is_on(side));
            of_side.map(|known| known.name)
        };
        assert!(names(Side::Service).any(|name| name == "ADNS"));
        assert!(!names(Side::Vserver).any(|name| name == "ADNS"));
        assert!(names(Side::Vserver).any(|name| name == "KAFKA_PRODUCER"));
        assert!(!names(Side::Service).any(|name| name == "KAFKA_PRODUCER"));
    }
}
