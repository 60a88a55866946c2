//! The closed lists and the bounds of `ns tcpProfile`.

use crate::table::{Choices, Kind};

pub(super) const FLAVORS: Choices = Choices {
    allowed: &[
        ("Default", "as the system is set up"),
        ("Westwood", "Westwood"),
        ("BIC", "BIC"),
        ("CUBIC", "CUBIC"),
        ("Nile", "Nile"),
        ("BBR", "BBR"),
    ],
    aliases: &[],
    elsewhere: &[],
};

pub(super) const OFFLOAD: Choices = Choices {
    allowed: &[("AUTOMATIC", "where it can"), ("DISABLED", "off")],
    aliases: &[],
    elsewhere: &[],
};

pub(super) const ESTABLISH: Choices = Choices {
    allowed: &[
        ("AUTOMATIC", "by the type"),
        ("CONN_ESTABLISHED", "when it is"),
        ("ON_FIRST_DATA", "with its first data"),
    ],
    aliases: &[],
    elsewhere: &[],
};

pub(super) const MODES: Choices = Choices {
    allowed: &[("TRANSPARENT", "tied"), ("ENDPOINT", "each by itself")],
    aliases: &[],
    elsewhere: &[],
};

pub(super) const BURSTS: Choices = Choices {
    allowed: &[
        ("DISABLED", "off"),
        ("FIXED", "at a rate"),
        ("DYNAMIC", "at a rate that follows the traffic"),
    ],
    aliases: &[],
    elsewhere: &[],
};

pub(super) const MSS: Kind = Kind::Integer {
    min: 0,
    max: 9176,
    unit: "bytes",
};
pub(super) const BUFFER: Kind = Kind::Integer {
    min: 8190,
    max: 20_971_520,
    unit: "bytes",
};
pub(super) const KEEP_ALIVE_SECONDS: Kind = Kind::Integer {
    min: 1,
    max: 4095,
    unit: "seconds",
};
pub(super) const KEEP_ALIVE_PROBES: Kind = Kind::Integer {
    min: 1,
    max: 254,
    unit: "",
};
