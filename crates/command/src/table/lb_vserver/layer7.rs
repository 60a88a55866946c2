//! Options of a virtual server that look into what clients send: read, kept and written back, without
//! effect here but for what takes their place.

use super::super::accepted::{NAME, accepted};
use super::super::rows::row;
use super::super::{
    ArgSpec, Choices, Default, ENABLED_DISABLED, Kind, PERSISTENCE_MINUTES, Then, YES_NO,
};
use crate::Key;

/// Counts where a kind of persistence is not here.
pub(in crate::table) const PERSISTENCE_BACKUP: ArgSpec = row(
    Key::PersistenceBackup,
    "persistenceBackup",
    Kind::Choice(&BACKUPS),
    "The persistence in place of one that looks into what clients send",
)
.default(Default::Choice("NONE"))
.set()
.unset();

pub(in crate::table) const BACKUP_TIMEOUT: ArgSpec = row(
    Key::BackupPersistenceTimeout,
    "backupPersistenceTimeout",
    PERSISTENCE_MINUTES,
    "How long a client stays with its service by that persistence",
)
.default(Default::Integer(2))
.set()
.unset();

pub(in crate::table) const COOKIE_NAME: ArgSpec = accepted(
    Key::CookieName,
    "cookieName",
    TEXT,
    "The name of persistence cookies",
    "there are no cookies",
)
.set()
.unset();

pub(in crate::table) const RES_RULE: ArgSpec = accepted(
    Key::ResRule,
    "resRule",
    EXPRESSION,
    "What of an answer tells one client from another",
    "there are no rules",
)
.set()
.unset();

pub(in crate::table) const RULE: ArgSpec = accepted(
    Key::Rule,
    "rule",
    EXPRESSION,
    "What of a request tells one client from another",
    "there are no rules",
)
.set()
.unset();

pub(in crate::table) const PERSIST_AVP: ArgSpec = accepted(
    Key::PersistAvpNo,
    "persistAVPno",
    Kind::Integer {
        min: 1,
        max: u32::MAX as u64,
        unit: "",
    },
    "The attribute of a message that tells one client from another",
    "messages are not looked at",
)
.set()
.unset();

pub(in crate::table) const REDIRECT_URL: ArgSpec = accepted(
    Key::RedirectUrl,
    "redirectURL",
    Kind::Text { min: 1, max: 1024 },
    "Where clients are sent while it is DOWN",
    "there are no redirects: clients are refused",
)
.set()
.unset();

pub(in crate::table) const REDIRECT_PORT: ArgSpec = accepted(
    Key::RedirectPortRewrite,
    "redirectPortRewrite",
    Kind::Choice(&ENABLED_DISABLED),
    "Whether ports in redirects are changed",
    "answers are not changed",
)
.default(Default::Choice("DISABLED"))
.set()
.unset();

pub(in crate::table) const INSERT_IP_PORT: ArgSpec = accepted(
    Key::InsertVserverIpPort,
    "insertVserverIPPort",
    Kind::Choice(&INSERTIONS),
    "Whether requests carry its address and port",
    "HTTP headers are not touched",
)
.default(Default::Choice("OFF"))
.set()
.unset()
.then(Then {
    spelling: "vipHeader",
    kind: TEXT,
    required: false,
    key: None,
});

pub(in crate::table) const AUTHENTICATION_HOST: ArgSpec = accepted(
    Key::AuthenticationHost,
    "AuthenticationHost",
    TEXT,
    "The host that asks who a client is",
    "nobody is asked who a client is",
)
.set()
.unset();

/// To let everybody in where somebody was asked is no loss of a feature: it is refused.
pub(in crate::table) const AUTHENTICATION: ArgSpec = row(
    Key::Authentication,
    "Authentication",
    Kind::Choice(&NEVER),
    "Whether clients are asked who they are",
)
.default(Default::Choice("OFF"))
.set()
.unset();

pub(in crate::table) const AUTHN_401: ArgSpec = row(
    Key::Authn401,
    "authn401",
    Kind::Choice(&NEVER),
    "Whether clients are asked who they are by an HTTP answer",
)
.default(Default::Choice("OFF"))
.set()
.unset();

pub(in crate::table) const AUTHN_VSERVER: ArgSpec = accepted(
    Key::AuthnVsName,
    "authnVsName",
    NAME,
    "The virtual server that asks who a client is",
    "nobody is asked who a client is",
)
.set()
.unset();

pub(in crate::table) const AUTHN_PROFILE: ArgSpec = accepted(
    Key::AuthnProfile,
    "authnProfile",
    NAME,
    "How clients are asked who they are",
    "nobody is asked who a client is",
)
.set()
.unset();

pub(in crate::table) const PUSH: ArgSpec = accepted(
    Key::Push,
    "push",
    Kind::Choice(&ENABLED_DISABLED),
    "Whether services push to clients",
    "nothing is pushed to clients",
)
.default(Default::Choice("DISABLED"))
.set()
.unset();

pub(in crate::table) const PUSH_VSERVER: ArgSpec = accepted(
    Key::PushVserver,
    "pushVserver",
    NAME,
    "The virtual server that services push through",
    "nothing is pushed to clients",
)
.set()
.unset();

pub(in crate::table) const PUSH_LABEL: ArgSpec = accepted(
    Key::PushLabel,
    "pushLabel",
    EXPRESSION,
    "Which clients are pushed to",
    "nothing is pushed to clients",
)
.set()
.unset();

pub(in crate::table) const PUSH_MULTI: ArgSpec = accepted(
    Key::PushMultiClients,
    "pushMultiClients",
    Kind::Choice(&YES_NO),
    "Whether several clients share what is pushed",
    "nothing is pushed to clients",
)
.default(Default::Choice("NO"))
.set()
.unset();

pub(in crate::table) const DB_PROFILE: ArgSpec = accepted(
    Key::DbProfileName,
    "dbProfileName",
    NAME,
    "The database profile",
    "databases are not looked into",
)
.set()
.unset();

pub(in crate::table) const ORACLE_VERSION: ArgSpec = accepted(
    Key::OracleServerVersion,
    "oracleServerVersion",
    Kind::Choice(&ORACLE),
    "The version that clients see",
    "databases are not looked into",
)
.default(Default::Choice("10G"))
.set()
.unset();

pub(in crate::table) const MSSQL_VERSION: ArgSpec = accepted(
    Key::MssqlServerVersion,
    "mssqlServerVersion",
    TEXT,
    "The version that clients see",
    "databases are not looked into",
)
.set()
.unset();

pub(in crate::table) const MYSQL_PROTOCOL: ArgSpec = accepted(
    Key::MysqlProtocolVersion,
    "mysqlProtocolVersion",
    NUMBER,
    "The protocol that clients see",
    "databases are not looked into",
)
.set()
.unset();

pub(in crate::table) const MYSQL_VERSION: ArgSpec = accepted(
    Key::MysqlServerVersion,
    "mysqlServerVersion",
    TEXT,
    "The version that clients see",
    "databases are not looked into",
)
.set()
.unset();

pub(in crate::table) const MYSQL_CHARSET: ArgSpec = accepted(
    Key::MysqlCharacterSet,
    "mysqlCharacterSet",
    NUMBER,
    "The character set that clients see",
    "databases are not looked into",
)
.set()
.unset();

pub(in crate::table) const MYSQL_CAPABILITIES: ArgSpec = accepted(
    Key::MysqlServerCapabilities,
    "mysqlServerCapabilities",
    NUMBER,
    "The capabilities that clients see",
    "databases are not looked into",
)
.set()
.unset();

pub(in crate::table) const DBS_LB: ArgSpec = accepted(
    Key::DbsLb,
    "dbsLb",
    Kind::Choice(&ENABLED_DISABLED),
    "Whether statements to a database are balanced one by one",
    "databases are not looked into",
)
.default(Default::Choice("DISABLED"))
.set()
.unset();

pub(in crate::table) const DNS64: ArgSpec = accepted(
    Key::Dns64,
    "dns64",
    Kind::Choice(&ENABLED_DISABLED),
    "Whether IPv6 addresses are made of IPv4 ones in answers",
    "names are not looked at",
)
.default(Default::Choice("DISABLED"))
.set()
.unset();

pub(in crate::table) const BYPASS_AAAA: ArgSpec = accepted(
    Key::BypassAaaa,
    "bypassAAAA",
    Kind::Choice(&YES_NO),
    "Whether questions for IPv6 addresses are passed on",
    "names are not looked at",
)
.default(Default::Choice("NO"))
.set()
.unset();

pub(in crate::table) const RECURSION: ArgSpec = accepted(
    Key::RecursionAvailable,
    "RecursionAvailable",
    Kind::Choice(&YES_NO),
    "Whether answers promise recursion",
    "names are not looked at",
)
.default(Default::Choice("NO"))
.set()
.unset();

pub(in crate::table) const DNS_OVER_HTTPS: ArgSpec = accepted(
    Key::DnsOverHttps,
    "dnsOverHttps",
    Kind::Choice(&ENABLED_DISABLED),
    "Whether names are asked for over HTTPS",
    "names are not looked at",
)
.default(Default::Choice("DISABLED"))
.set()
.unset();

pub(in crate::table) const ADFS_PROFILE: ArgSpec = accepted(
    Key::AdfsProxyProfile,
    "adfsProxyProfile",
    NAME,
    "The profile of a federation proxy",
    "requests are not looked at",
)
.set()
.unset();

pub(in crate::table) const QUIC_BRIDGE_PROFILE: ArgSpec = accepted(
    Key::QuicBridgeProfileName,
    "quicBridgeProfilename",
    NAME,
    "The QUIC bridge profile",
    "QUIC is not looked at",
)
.set()
.unset();

pub(in crate::table) const API_PROFILE: ArgSpec = accepted(
    Key::ApiProfile,
    "apiProfile",
    NAME,
    "The API profile",
    "requests are not looked at",
)
.set()
.unset();

const BACKUPS: Choices = Choices {
    allowed: &[
        ("SOURCEIP", "a client is its address"),
        ("NONE", "every connection is chosen for on its own"),
    ],
    aliases: &[],
    elsewhere: &[],
};

const INSERTIONS: Choices = Choices {
    allowed: &[
        ("OFF", "off"),
        ("VIPADDR", "its address"),
        ("V6TOV4MAPPING", "its address as one of IPv4"),
    ],
    aliases: &[],
    elsewhere: &[],
};

const ORACLE: Choices = Choices {
    allowed: &[("10G", "10g"), ("11G", "11g")],
    aliases: &[],
    elsewhere: &[],
};

const NEVER: Choices = Choices {
    allowed: &[("OFF", "nobody is asked")],
    aliases: &[],
    elsewhere: &["ON"],
};

const TEXT: Kind = Kind::Text { min: 1, max: 255 };

/// The longest expression of the reference.
const EXPRESSION: Kind = Kind::Text { min: 1, max: 1499 };

const NUMBER: Kind = Kind::Integer {
    min: 0,
    max: u32::MAX as u64,
    unit: "",
};
