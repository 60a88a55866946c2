//! The closed lists of `lb vserver`: types, methods, kinds of persistence.

use crate::service_type::{self, Side};
use crate::table::Choices;

pub(super) const UNITS: Choices = Choices {
    allowed: &[
        ("PER_SECOND", "requests per second"),
        ("PERCENT", "percent of what an existing service gets"),
    ],
    aliases: &[("REQUESTS", "PER_SECOND")],
    elsewhere: &[],
};

pub(super) const METHODS: Choices = Choices {
    allowed: &[
        ("ROUNDROBIN", "in turn, by weight"),
        ("LEASTCONNECTION", "fewest active connections"),
        (
            "LEASTBANDWIDTH",
            "fewest bytes both ways over the last 14 seconds",
        ),
        (
            "LEASTPACKETS",
            "fewest packets both ways over the last 14 seconds",
        ),
        (
            "LEASTREQUEST",
            "fewest requests, which are connections here",
        ),
        (
            "LEASTRESPONSETIME",
            "fewest connections, times their response time",
        ),
        ("SOURCEIPHASH", "by the client's address"),
        ("DESTINATIONIPHASH", "by the address the client dials"),
        ("SRCIPDESTIPHASH", "by both addresses"),
        ("SRCIPSRCPORTHASH", "by the client's address and port"),
        ("TOKEN", "by some of the first bytes the client sends"),
        ("RANDOM", "at random, by weight"),
        ("URLHASH", INSTEAD),
        ("DOMAINHASH", INSTEAD),
        ("CALLIDHASH", INSTEAD),
        ("AUDITLOGHASH", INSTEAD),
        ("STATICPROXIMITY", INSTEAD),
        ("USER_TOKEN", INSTEAD),
    ],
    aliases: &[],
    elsewhere: &["LRTM", "CUSTOMLOAD"],
};

pub(super) const BACKUP_METHODS: Choices = Choices {
    allowed: &[
        ("ROUNDROBIN", "in turn, by weight"),
        ("LEASTCONNECTION", "fewest active connections"),
        ("LEASTRESPONSETIME", "fastest answers"),
        ("SOURCEIPHASH", "by the client's address"),
        (
            "LEASTBANDWIDTH",
            "fewest bytes both ways over the last 14 seconds",
        ),
        (
            "LEASTPACKETS",
            "fewest packets both ways over the last 14 seconds",
        ),
        ("CUSTOMLOAD", "least load as monitors report it"),
    ],
    aliases: &[],
    elsewhere: &[],
};

pub(super) const PERSISTENCE: Choices = Choices {
    allowed: &[
        ("SOURCEIP", "a client is its address"),
        ("DESTIP", "a client is the address it dials"),
        ("SRCIPDESTIP", "a client is both addresses"),
        ("NONE", "every connection is chosen for on its own"),
        ("COOKIEINSERT", BACKUP),
        ("SSLSESSION", BACKUP),
        ("RULE", BACKUP),
        ("URLPASSIVE", BACKUP),
        ("CUSTOMSERVERID", BACKUP),
        ("CALLID", BACKUP),
        ("RTSPSID", BACKUP),
        ("DIAMETER", BACKUP),
        ("FIXSESSION", BACKUP),
        ("USERSESSION", BACKUP),
    ],
    aliases: &[],
    elsewhere: &[],
};

/// What becomes of a method that is not here.
const INSTEAD: &str = "not here: as backupLBMethod says";

/// What becomes of a kind of persistence that is not here.
const BACKUP: &str = "not here: as persistenceBackup says";

pub(super) const SKIP: Choices = Choices {
    allowed: &[
        ("Bypass", "another service takes this connection alone"),
        ("ReLb", "the client stays with another service from now on"),
        ("None", "the connection is refused"),
    ],
    aliases: &[],
    elsewhere: &[],
};

pub(super) const TYPES: Choices = Choices {
    allowed: &TYPE_NAMES,
    aliases: &[],
    elsewhere: &["ANY", "DHCPRA", "PROXY", "PUSH", "SSL_PROXY", "SSL_PUSH"],
};
static TYPE_NAMES: [(&str, &str); service_type::count(Side::Vserver)] =
    service_type::choices(Side::Vserver);
