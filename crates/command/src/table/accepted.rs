//! Options of the reference that services and virtual servers share and that need what is not here: a
//! look into what is carried, a cluster, traffic domains. They are read, kept and written back.

use super::{ArgSpec, Default, ENABLED_DISABLED, Kind, YES_NO, row};
use crate::Key;

/// Starts the row of an option of `add` that does nothing here.
pub(in crate::table) const fn accepted(
    key: Key,
    spelling: &'static str,
    kind: Kind,
    help: &'static str,
    why: &'static str,
) -> ArgSpec {
    row(key, spelling, kind, help).no_effect(why)
}

pub(in crate::table) const CACHEABLE: ArgSpec = accepted(
    Key::Cacheable,
    "cacheable",
    Kind::Choice(&YES_NO),
    "Whether answers may be kept in a cache",
    "there is no cache",
)
.default(Default::Choice("NO"))
.set()
.unset();

pub(in crate::table) const HTTP_PROFILE: ArgSpec = accepted(
    Key::HttpProfileName,
    "httpProfileName",
    NAME,
    "The HTTP profile",
    "HTTP is not looked at",
)
.set()
.unset();

pub(in crate::table) const DNS_PROFILE: ArgSpec = accepted(
    Key::DnsProfileName,
    "dnsProfileName",
    NAME,
    "The DNS profile",
    "names are not looked at",
)
.set()
.unset();

pub(in crate::table) const QUIC_PROFILE: ArgSpec = accepted(
    Key::QuicProfileName,
    "quicProfileName",
    NAME,
    "The QUIC profile",
    "QUIC is not looked at",
)
.set()
.unset();

pub(in crate::table) const TRAFFIC_DOMAIN: ArgSpec = accepted(
    Key::Td,
    "td",
    TRAFFIC_DOMAINS,
    "The traffic domain",
    "there are no traffic domains: all share the addresses of this host",
)
.default(Default::Integer(0));

pub(in crate::table) const PROCESS_LOCAL: ArgSpec = accepted(
    Key::ProcessLocal,
    "processLocal",
    Kind::Choice(&ENABLED_DISABLED),
    "Whether a node of a cluster keeps what reaches it",
    "there is no cluster",
)
.default(Default::Choice("DISABLED"))
.set()
.unset();

/// The name of an object that is not here.
pub(in crate::table) const NAME: Kind = Kind::Text { min: 1, max: 127 };

const TRAFFIC_DOMAINS: Kind = Kind::Integer {
    min: 0,
    max: 4094,
    unit: "",
};
