//! The rows of `lb vserver` that say who serves what it cannot: backups, spillover, orders.

use crate::table::rows::{ENABLED_DISABLED, PERSISTENCE_MINUTES, row};
use crate::table::{ArgSpec, Choices, Default, Kind, Then};
use crate::{Key, Noun};

pub(super) const BACKUP: ArgSpec = row(
    Key::BackupVserver,
    "backupVServer",
    Kind::Name(Noun::LbVserver),
    "The virtual server that serves new clients while this one cannot",
)
.set()
.unset();

pub(super) const DISABLE_PRIMARY: ArgSpec = row(
    Key::DisablePrimaryOnDown,
    "disablePrimaryOnDown",
    Kind::Choice(&ENABLED_DISABLED),
    "Whether it stays DOWN once it went DOWN, its backup serving, until it is enabled",
)
.default(Default::Choice("DISABLED"))
.set()
.unset();

pub(super) const METHOD: ArgSpec = row(
    Key::SoMethod,
    "soMethod",
    Kind::Choice(&METHODS),
    "What makes it spill over: pass new clients on to its backup although it is UP",
)
.default(Default::Choice("NONE"))
.set()
.unset();

pub(super) const THRESHOLD: ArgSpec = row(
    Key::SoThreshold,
    "soThreshold",
    Kind::Integer {
        min: 1,
        max: 4_294_967_287,
        unit: "connections, kbit/s or percent",
    },
    "How much it takes before it spills over, or with HEALTH how much of it has to be UP not to",
)
.set()
.unset();

pub(super) const PERSISTENCE: ArgSpec = row(
    Key::SoPersistence,
    "soPersistence",
    Kind::Choice(&ENABLED_DISABLED),
    "Whether a client stays with the virtual server, this one or a backup, that served it first",
)
.default(Default::Choice("DISABLED"))
.set()
.unset();

pub(super) const PERSISTENCE_TIMEOUT: ArgSpec = row(
    Key::SoPersistenceTimeOut,
    "soPersistenceTimeOut",
    PERSISTENCE_MINUTES,
    "How long a client stays with that virtual server after its last new connection",
)
.default(Default::Integer(2))
.set()
.unset();

pub(super) const ACTION: ArgSpec = row(
    Key::SoBackupAction,
    "soBackupAction",
    Kind::Choice(&ACTIONS),
    "What becomes of a client when it spills over and no backup can take it",
)
.set()
.unset();

pub(super) const HEALTH: ArgSpec = row(
    Key::HealthThreshold,
    "healthThreshold",
    Kind::Integer {
        min: 0,
        max: 100,
        unit: "percent",
    },
    "How much of the bound weight has to be UP for it to be UP; 0 is one service",
)
.default(Default::Integer(0))
.set()
.unset();

pub(super) const ORDER_THRESHOLD: ArgSpec = row(
    Key::OrderThreshold,
    "orderThreshold",
    Kind::Integer {
        min: 0,
        max: 8192,
        unit: "services",
    },
    "How many services of an order have to be UP for it to take the traffic; 0 is as 1",
)
.default(Default::Integer(0))
.set()
.unset();

pub(super) const TOGGLE_ORDER: ArgSpec = row(
    Key::ToggleOrder,
    "toggleOrder",
    Kind::Choice(&SEQUENCES),
    "Which order comes first",
)
.default(Default::Choice("ASCENDING"))
.set()
.unset();

pub(super) const BIND_ORDER: ArgSpec = row(
    Key::Order,
    "order",
    ORDER,
    "Who takes traffic before it: the others stand by while one of the first order is UP",
);

pub(super) const SET_ORDER: ArgSpec = row(
    Key::Order,
    "order",
    ORDER,
    "The new order of a bound service",
)
.then(Then {
    spelling: "serviceName",
    kind: Kind::Name(Noun::Service),
    required: true,
    key: None,
});

const ORDER: Kind = Kind::Integer {
    min: 1,
    max: 8192,
    unit: "",
};

const METHODS: Choices = Choices {
    allowed: &[
        ("CONNECTION", "as many connections as soThreshold"),
        (
            "DYNAMICCONNECTION",
            "as many as its services may have by maxClient",
        ),
        ("BANDWIDTH", "more kbit/s both ways than soThreshold"),
        (
            "HEALTH",
            "less than soThreshold percent of the weight is UP",
        ),
        ("NONE", "nothing does"),
    ],
    aliases: &[],
    elsewhere: &[],
};

const ACTIONS: Choices = Choices {
    allowed: &[
        ("DROP", "it is refused"),
        ("ACCEPT", "this virtual server takes it all the same"),
        (
            "REDIRECT",
            "it is refused, since there is no redirection here",
        ),
    ],
    aliases: &[],
    elsewhere: &[],
};

const SEQUENCES: Choices = Choices {
    allowed: &[
        ("ASCENDING", "the smallest number"),
        ("DESCENDING", "the greatest number"),
    ],
    aliases: &[],
    elsewhere: &[],
};
