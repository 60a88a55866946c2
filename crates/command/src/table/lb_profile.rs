//! The table of `lb profile`: what several virtual servers have in common in place of `lb parameter`.

use super::accepted::accepted;
use super::lb_parameter::{FINGERS, HASH_ALGORITHMS};
use super::{ArgSpec, CommandSpec, Default, ENABLED_DISABLED, Kind, NounSpec, once, optional, row};
use crate::{Key, Noun, Verb};

pub(super) static LB_PROFILE: NounSpec = NounSpec {
    noun: Noun::LbProfile,
    group: Some("lb"),
    object: "profile",
    commands: &[
        CommandSpec {
            verb: Verb::Add,
            noun: Noun::LbProfile,
            positionals: &[once(NEW_NAME)],
            own: &[],
            help: "Adds a profile",
        },
        CommandSpec {
            verb: Verb::Set,
            noun: Noun::LbProfile,
            positionals: &[once(NAME)],
            own: &[],
            help: "Changes a profile",
        },
        CommandSpec {
            verb: Verb::Unset,
            noun: Noun::LbProfile,
            positionals: &[once(NAME)],
            own: &[],
            help: "Returns options of a profile to their defaults",
        },
        CommandSpec {
            verb: Verb::Rm,
            noun: Noun::LbProfile,
            positionals: &[once(NAME)],
            own: &[],
            help: "Removes a profile that nothing uses",
        },
        CommandSpec {
            verb: Verb::Show,
            noun: Noun::LbProfile,
            positionals: &[optional(NAME)],
            own: &[],
            help: "Shows all, or one",
        },
    ],
    options: &[
        switch(
            Key::DbsLb,
            "dbsLb",
            "DISABLED",
            "Whether statements to a database are balanced one by one",
            "databases are not looked into",
        ),
        switch(
            Key::ProcessLocal,
            "processLocal",
            "DISABLED",
            "Whether a node of a cluster keeps what reaches it",
            "there is no cluster",
        ),
        switch(
            Key::HttpOnlyCookieFlag,
            "httpOnlyCookieFlag",
            "ENABLED",
            "Whether scripts cannot read persistence cookies",
            NO_COOKIES,
        ),
        accepted(
            Key::CookiePassphrase,
            "cookiePassphrase",
            Kind::Text { min: 1, max: 31 },
            "What persistence cookies are encrypted with",
            NO_COOKIES,
        )
        .secret()
        .set()
        .unset(),
        switch(
            Key::UseEncryptedPersistenceCookie,
            "useEncryptedPersistenceCookie",
            "DISABLED",
            "Whether persistence cookies are encrypted",
            NO_COOKIES,
        ),
        switch(
            Key::UseSecuredPersistenceCookie,
            "useSecuredPersistenceCookie",
            "DISABLED",
            "Whether persistence cookies are sent over TLS alone",
            NO_COOKIES,
        ),
        row(
            Key::LbHashAlgorithm,
            "lbHashAlgorithm",
            Kind::Choice(&HASH_ALGORITHMS),
            "How the hash methods choose",
        )
        .default(Default::Choice("DEFAULT"))
        .set()
        .unset(),
        row(
            Key::LbHashFingers,
            "lbHashFingers",
            FINGERS,
            "How many points of PRAC and JARH a service has",
        )
        .default(Default::Integer(256))
        .set()
        .unset(),
    ],
    help: "What virtual servers that name it have in place of lb parameter",
};

const NEW_NAME: ArgSpec = row(
    Key::Name,
    "name",
    Kind::NewName(Noun::LbProfile),
    "The name of the new profile",
);
const NAME: ArgSpec = row(
    Key::Name,
    "name",
    Kind::Name(Noun::LbProfile),
    "The name of the profile",
);

const fn switch(
    key: Key,
    spelling: &'static str,
    default: &'static str,
    help: &'static str,
    why: &'static str,
) -> ArgSpec {
    accepted(key, spelling, Kind::Choice(&ENABLED_DISABLED), help, why)
        .default(Default::Choice(default))
        .set()
        .unset()
}

const NO_COOKIES: &str = "there are no cookies";
