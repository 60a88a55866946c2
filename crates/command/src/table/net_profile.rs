//! The table of `netProfile`: from which address services are connected to.

use super::accepted::{TRAFFIC_DOMAIN, accepted};
use super::{
    ArgSpec, Choices, CommandSpec, Default, ENABLED_DISABLED, Kind, NounSpec, once, optional, row,
};
use crate::{Key, Noun, Verb};

pub(super) static NET_PROFILE: NounSpec = NounSpec {
    noun: Noun::NetProfile,
    group: None,
    object: "netProfile",
    commands: &[
        CommandSpec {
            verb: Verb::Add,
            noun: Noun::NetProfile,
            positionals: &[once(NEW_NAME)],
            own: &[],
            help: "Adds a net profile",
        },
        CommandSpec {
            verb: Verb::Set,
            noun: Noun::NetProfile,
            positionals: &[once(NAME)],
            own: &[],
            help: "Changes a net profile",
        },
        CommandSpec {
            verb: Verb::Unset,
            noun: Noun::NetProfile,
            positionals: &[once(NAME)],
            own: &[],
            help: "Returns options of a net profile to their defaults",
        },
        CommandSpec {
            verb: Verb::Rm,
            noun: Noun::NetProfile,
            positionals: &[once(NAME)],
            own: &[],
            help: "Removes a net profile that nothing uses",
        },
        CommandSpec {
            verb: Verb::Show,
            noun: Noun::NetProfile,
            positionals: &[optional(NAME)],
            own: &[],
            help: "Shows all, or one",
        },
    ],
    options: &[
        TRAFFIC_DOMAIN,
        row(
            Key::SrcIp,
            "srcIP",
            Kind::Address,
            "The address of this host that services see as the client's",
        )
        .set()
        .unset(),
        switch(
            Key::SrcIpPersistency,
            "srcippersistency",
            "Whether clients keep their source address",
            "there is one source address",
        ),
        switch(
            Key::OverrideLsn,
            "overrideLsn",
            "Whether it goes before large-scale address translation",
            "there is no large-scale address translation",
        ),
        switch(
            Key::Mbf,
            "MBF",
            "Whether answers go to the MAC address that asked",
            "MAC addresses are not looked at",
        ),
        switch(
            Key::ProxyProtocol,
            "proxyProtocol",
            "Whether connections begin with a line on the client",
            "no such line is added, and one that comes is passed on",
        ),
        accepted(
            Key::ProxyProtocolTxVersion,
            "proxyProtocolTxVersion",
            Kind::Choice(&VERSIONS),
            "Which line that is",
            "no such line is added",
        )
        .default(Default::Choice("V1"))
        .set()
        .unset(),
        switch(
            Key::ProxyProtocolAfterTls,
            "proxyProtocolAfterTLSHandshake",
            "Whether it comes behind the TLS handshake",
            "no such line is added",
        ),
    ],
    help: "From which address services are connected to",
};

const NEW_NAME: ArgSpec = row(
    Key::Name,
    "name",
    Kind::NewName(Noun::NetProfile),
    "The name of the new net profile",
);
const NAME: ArgSpec = row(
    Key::Name,
    "name",
    Kind::Name(Noun::NetProfile),
    "The name of the net profile",
);

const fn switch(
    key: Key,
    spelling: &'static str,
    help: &'static str,
    why: &'static str,
) -> ArgSpec {
    accepted(key, spelling, Kind::Choice(&ENABLED_DISABLED), help, why)
        .default(Default::Choice("DISABLED"))
        .set()
        .unset()
}

const VERSIONS: Choices = Choices {
    allowed: &[("V1", "text"), ("V2", "binary")],
    aliases: &[],
    elsewhere: &[],
};
