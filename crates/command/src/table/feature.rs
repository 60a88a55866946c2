//! The tables of `ns feature` and `ns mode`: what an appliance switches on and off as a whole.
//!
//! Here the one feature is always on, and so are the modes that hold of every host; the others are
//! told apart from words nobody knows, so that a line of an appliance is refused in clear words.

use super::{ArgSpec, Choices, CommandSpec, Kind, NounSpec, many, row};
use crate::{Key, Noun, Verb};

pub(super) static FEATURE: NounSpec = NounSpec {
    noun: Noun::NsFeature,
    group: Some("ns"),
    object: "feature",
    commands: &[
        CommandSpec {
            verb: Verb::Enable,
            noun: Noun::NsFeature,
            positionals: &[many(FEATURES)],
            own: &[],
            help: "Is refused for all but load balancing, which is always on",
        },
        CommandSpec {
            verb: Verb::Disable,
            noun: Noun::NsFeature,
            positionals: &[many(FEATURES)],
            own: &[],
            help: "Is refused for load balancing; the others are off",
        },
        CommandSpec {
            verb: Verb::Show,
            noun: Noun::NsFeature,
            positionals: &[],
            own: &[],
            help: "Shows which features of the reference are here",
        },
    ],
    options: &[],
    help: "The features of an appliance",
};

pub(super) static MODE: NounSpec = NounSpec {
    noun: Noun::NsMode,
    group: Some("ns"),
    object: "mode",
    commands: &[
        CommandSpec {
            verb: Verb::Enable,
            noun: Noun::NsMode,
            positionals: &[many(MODES)],
            own: &[],
            help: "Is refused for a mode that does not hold here",
        },
        CommandSpec {
            verb: Verb::Disable,
            noun: Noun::NsMode,
            positionals: &[many(MODES)],
            own: &[],
            help: "Is refused for a mode that always holds here",
        },
        CommandSpec {
            verb: Verb::Show,
            noun: Noun::NsMode,
            positionals: &[],
            own: &[],
            help: "Shows which modes of the reference hold here",
        },
    ],
    options: &[],
    help: "The ways an appliance forwards packets",
};

const FEATURES: ArgSpec = row(
    Key::Feature,
    "feature",
    Kind::Choice(&FEATURE_WORDS),
    "A feature, by its short word",
);

const MODES: ArgSpec = row(
    Key::NsMode,
    "mode",
    Kind::Choice(&MODE_WORDS),
    "A mode, by its short word",
);

static FEATURE_WORDS: Choices = Choices {
    allowed: &[
        ("WL", "Web Logging"),
        ("SP", "Surge Protection"),
        ("LB", "Load Balancing"),
        ("CS", "Content Switching"),
        ("CR", "Cache Redirection"),
        ("SC", "Sure Connect"),
        ("CMP", "Compression Control"),
        ("PQ", "Priority Queuing"),
        ("SSL", "SSL Offloading"),
        ("GSLB", "Global Server Load Balancing"),
        ("HDOSP", "Http DoS Protection"),
        ("CF", "Content Filter"),
        ("IC", "Integrated Caching"),
        ("SSLVPN", "SSL VPN"),
        ("AAA", "AAA"),
        ("OSPF", "OSPF Routing"),
        ("RIP", "RIP Routing"),
        ("BGP", "BGP Routing"),
        ("REWRITE", "Rewrite"),
        ("IPv6PT", "IPv6 protocol translation"),
        ("AppFw", "Application Firewall"),
        ("RESPONDER", "Responder"),
        ("HTMLInjection", "HTML Injection"),
        ("push", "NetScaler Push"),
        ("AppFlow", "AppFlow"),
        ("CloudBridge", "CloudBridge"),
        ("ISIS", "ISIS Routing"),
        ("CH", "Call Home"),
        ("AppQoE", "AppQoE"),
        ("ContentAccelerator", "Content Accelerator"),
        ("FEO", "Front End Optimization"),
        ("RISE", "RISE"),
        ("LSN", "Large Scale NAT"),
        ("RDPProxy", "RDP Proxy"),
        ("Rep", "Reputation"),
    ],
    aliases: &[("LoadBalancing", "LB")],
    elsewhere: &[],
};

static MODE_WORDS: Choices = Choices {
    allowed: &[
        ("FR", "Fast Ramp"),
        ("L2", "Layer 2 mode"),
        ("USIP", "Use Source IP"),
        ("CKA", "Client Keep-alive"),
        ("TCPB", "TCP Buffering"),
        ("MBF", "MAC-based forwarding"),
        ("Edge", "Edge configuration"),
        ("USNIP", "Use Subnet IP"),
        ("L3", "Layer 3 mode (ip forwarding)"),
        ("PMTUD", "Path MTU Discovery"),
        ("SRADV", "Static Route Advertisement"),
        ("DRADV", "Direct Route Advertisement"),
        ("IRADV", "Intranet Route Advertisement"),
        ("SRADV6", "Ipv6 Static Route Advertisement"),
        ("DRADV6", "Ipv6 Direct Route Advertisement"),
        ("BridgeBPDUs", "Bridge BPDUs"),
        ("ULFD", "Unified Logging Format"),
    ],
    aliases: &[],
    elsewhere: &[],
};
