//! Options of a service that are read, kept and written back and do nothing here.

use super::super::accepted::accepted;
use super::super::{ArgSpec, Choices, Default, Kind, ON_OFF, YES_NO};
use crate::Key;

pub(in crate::table) const CLEAR_TEXT_PORT: ArgSpec = accepted(
    Key::ClearTextPort,
    "clearTextPort",
    Kind::Port,
    "Where clear text goes after decryption",
    "nothing is decrypted",
);

pub(in crate::table) const CACHE_TYPE: ArgSpec = accepted(
    Key::CacheType,
    "cacheType",
    Kind::Choice(&CACHE_TYPES),
    "What kind of cache it is",
    "there is no cache redirection",
)
.default(Default::Choice("SERVER"));

pub(in crate::table) const PATH_MONITOR: ArgSpec = accepted(
    Key::PathMonitor,
    "pathMonitor",
    Kind::Choice(&YES_NO),
    "Whether the way to it is watched",
    "there is no cluster",
)
.set()
.unset();

pub(in crate::table) const PATH_MONITOR_INDV: ArgSpec = accepted(
    Key::PathMonitorIndv,
    "pathMonitorIndv",
    Kind::Choice(&YES_NO),
    "Whether each node watches the way to it",
    "there is no cluster",
)
.set()
.unset();

pub(in crate::table) const RTSP_REMAP: ArgSpec = accepted(
    Key::RtspSessionIdRemap,
    "rtspSessionidRemap",
    Kind::Choice(&ON_OFF),
    "Whether identifiers of media sessions are mapped",
    "media sessions are not looked at",
)
.default(Default::Choice("OFF"))
.set()
.unset();

pub(in crate::table) const ACCESS_DOWN: ArgSpec = accepted(
    Key::AccessDown,
    "accessDown",
    Kind::Choice(&YES_NO),
    "Whether packets are bridged to it while it is DOWN",
    "packets are not bridged: a service that is DOWN gets nothing",
)
.default(Default::Choice("NO"))
.set()
.unset();

const CACHE_TYPES: Choices = Choices {
    allowed: &[
        ("SERVER", "none"),
        ("TRANSPARENT", "a transparent cache"),
        ("REVERSE", "a reverse proxy cache"),
        ("FORWARD", "a forward proxy cache"),
    ],
    aliases: &[],
    elsewhere: &[],
};
