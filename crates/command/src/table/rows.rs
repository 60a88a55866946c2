//! The building blocks of rows: how one is written down, and those that several nouns share.

use super::{ArgSpec, Choices, Default, Effect, Kind, Positional, Saved, Then, Times};
use crate::{Key, Noun};

pub(super) const ENABLED_DISABLED: Choices = Choices {
    allowed: &[("ENABLED", "on"), ("DISABLED", "off")],
    aliases: &[],
    elsewhere: &[],
};

pub(super) const YES_NO: Choices = Choices {
    allowed: &[("YES", "on"), ("NO", "off")],
    aliases: &[],
    elsewhere: &[],
};

pub(super) const ON_OFF: Choices = Choices {
    allowed: &[("ON", "on"), ("OFF", "off")],
    aliases: &[],
    elsewhere: &[],
};

/// 31536000 seconds are a year of 365 days.
pub(super) const IDLE_SECONDS: Kind = Kind::Integer {
    min: 0,
    max: 31_536_000,
    unit: "seconds",
};

/// 1440 minutes are a day.
pub(super) const PERSISTENCE_MINUTES: Kind = Kind::Integer {
    min: 2,
    max: 1440,
    unit: "minutes",
};

/// The same for a kind of persistence, where 0 is as long as the client keeps its cookie.
pub(super) const MINUTES_OR_COOKIE: Kind = Kind::Integer {
    min: 0,
    max: 1440,
    unit: "minutes",
};

/// As many seconds as the reference counts, some 136 years.
const DELAY_SECONDS: Kind = Kind::Integer {
    min: 0,
    max: 4_294_967_295,
    unit: "seconds",
};

pub(super) const MASK_LENGTH: Kind = Kind::Integer {
    min: 1,
    max: 128,
    unit: "bits",
};

pub(super) const COMMENT_TEXT: Kind = Kind::Text { min: 0, max: 255 };

/// Starts a row: an option of `add` that works and is saved when it is not the default.
pub(super) const fn row(
    key: Key,
    spelling: &'static str,
    kind: Kind,
    help: &'static str,
) -> ArgSpec {
    ArgSpec {
        key,
        spelling,
        aliases: &[],
        kind,
        then: None,
        required: false,
        default: Default::None,
        settable: false,
        unsettable: false,
        secret: false,
        effect: Effect::Works,
        saved: Saved::NotDefault,
        help,
    }
}

impl ArgSpec {
    pub(super) const fn aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    pub(super) const fn then(mut self, then: Then) -> Self {
        self.then = Some(then);
        self
    }

    pub(super) const fn default(mut self, default: Default) -> Self {
        self.default = default;
        self
    }

    pub(super) const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    pub(super) const fn set(mut self) -> Self {
        self.settable = true;
        self
    }

    pub(super) const fn unset(mut self) -> Self {
        self.unsettable = true;
        self
    }

    pub(super) const fn secret(mut self) -> Self {
        self.secret = true;
        self
    }

    pub(super) const fn always(mut self) -> Self {
        self.saved = Saved::Always;
        self
    }

    pub(super) const fn no_effect(mut self, why: &'static str) -> Self {
        self.effect = Effect::NoEffect(why);
        self
    }
}

pub(super) const fn once(arg: ArgSpec) -> Positional {
    Positional {
        arg,
        times: Times::Once,
    }
}

pub(super) const fn optional(arg: ArgSpec) -> Positional {
    Positional {
        arg,
        times: Times::Optional,
    }
}

pub(super) const fn together(arg: ArgSpec) -> Positional {
    Positional {
        arg,
        times: Times::Together,
    }
}

pub(super) const fn many(arg: ArgSpec) -> Positional {
    Positional {
        arg,
        times: Times::Many,
    }
}

pub(super) const fn comment() -> ArgSpec {
    row(Key::Comment, "comment", COMMENT_TEXT, "A note for people")
        .set()
        .unset()
}

pub(super) const fn state(help: &'static str) -> ArgSpec {
    row(Key::State, "state", Kind::Choice(&ENABLED_DISABLED), help)
        .default(Default::Choice("ENABLED"))
}

pub(super) const fn devno() -> ArgSpec {
    let number = Kind::Integer {
        min: 0,
        max: u32::MAX as u64,
        unit: "",
    };
    row(
        Key::DevNo,
        "devno",
        number,
        "The number an appliance gave the object in its saved file",
    )
    .no_effect("it is an appliance's internal number")
}

pub(super) const fn appflow_log() -> ArgSpec {
    row(
        Key::AppflowLog,
        "appflowLog",
        Kind::Choice(&ENABLED_DISABLED),
        "Export of flow records",
    )
    .default(Default::Choice("ENABLED"))
    .set()
    .unset()
    .no_effect("flow records are not exported")
}

/// How long services go out of service at most.
pub(super) const DELAY: ArgSpec = row(
    Key::Delay,
    "delay",
    DELAY_SECONDS,
    "How long it goes out of service at most, without newcomers; 0 is at once",
);

/// Whether services are out of service with their last client.
pub(super) const GRACEFUL: ArgSpec = row(
    Key::GraceFul,
    "graceFul",
    Kind::Choice(&YES_NO),
    "Whether it is out of service as soon as its last client has left",
)
.default(Default::Choice("NO"));

/// What every `stat` of the reference takes beside a name.
pub(super) static STAT_OPTIONS: &[ArgSpec] = &[
    row(
        Key::Detail,
        "detail",
        Kind::Flag,
        "Shows all there is, which is what is shown without it too",
    ),
    row(
        Key::FullValues,
        "fullValues",
        Kind::Flag,
        "Shortens no name and no number, which is never done here",
    ),
    row(
        Key::NTimes,
        "ntimes",
        Kind::Integer {
            min: 1,
            max: u32::MAX as u64,
            unit: "times",
        },
        "How often the statistics are shown, every 7 seconds",
    )
    .default(Default::Integer(1)),
    row(
        Key::ClearStats,
        "clearstats",
        Kind::Choice(&STATISTICS),
        "Is refused: counters only ever rise here, and rates come from their differences",
    ),
];

static STATISTICS: Choices = Choices {
    allowed: &[
        ("basic", "those of the object alone"),
        ("full", "those of what is bound to it too"),
    ],
    aliases: &[],
    elsewhere: &[],
};

pub(super) const TCP_PROFILE: ArgSpec = profile(
    Key::TcpProfileName,
    "tcpProfileName",
    Noun::NsTcpProfile,
    "What its TCP sockets are like; nstcp_default_profile holds otherwise",
);

pub(super) const NET_PROFILE: ArgSpec = profile(
    Key::NetProfile,
    "netProfile",
    Noun::NetProfile,
    "From which address services are connected to; that of the service goes before",
);

pub(super) const LB_PROFILE: ArgSpec = profile(
    Key::LbProfileName,
    "lbprofilename",
    Noun::LbProfile,
    "What holds for it in place of lb parameter",
);

const fn profile(key: Key, spelling: &'static str, noun: Noun, help: &'static str) -> ArgSpec {
    row(key, spelling, Kind::Name(noun), help).set().unset()
}
