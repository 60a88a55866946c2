//! Commands of features of the reference that are not here, as a saved configuration is full of them: they
//! are told from typing errors, so that a file can be loaded without one error for each.
//!
//! What changes how Layer-4 traffic is balanced is not listed: to pass over it in silence would be wrong.

use crate::parse;

/// Returns the object of a command that configures a feature which is not here, such as `cs vserver`; `None`
/// for every other line.
/// Shape: a line that is not in order otherwise (an open quote, a byte that is no text) counts too, since
/// it is not run anyway.
pub fn foreign(line: &str) -> Option<String> {
    let mut words = line
        .split([' ', '\t', '\r'])
        .filter(|word| !word.is_empty());
    let verb = words.next()?;
    if !is_in(VERBS, verb) {
        return None;
    }
    let (first, second) = (words.next()?, words.next().unwrap_or_default());
    let found = noun(first, second).or_else(|| policy_of_vserver(verb, first, second, words))?;
    // What the table knows by now is not foreign any more, but for what is known to be refused.
    let is_switch = SWITCHES
        .iter()
        .any(|switch| found.eq_ignore_ascii_case(switch));
    (is_switch || parse(line).is_err()).then_some(found)
}

fn noun(first: &str, second: &str) -> Option<String> {
    let of = |list: &'static [&'static str], word: &str| {
        let mut list = list.iter();
        list.find(|known| known.eq_ignore_ascii_case(word)).copied()
    };
    if let Some(object) = of(OBJECTS, first) {
        return Some(object.to_owned());
    }
    if let Some(group) = of(GROUPS, first) {
        let is_word = !second.is_empty() && second.chars().all(|c| c.is_ascii_alphanumeric());
        return Some(if is_word {
            format!("{group} {second}")
        } else {
            group.to_owned()
        });
    }
    let objects = match of(&["ns", "lb"], first)? {
        "ns" => OF_NS,
        _ => OF_LB,
    };
    let object = of(objects, second)?;
    Some(format!("{} {object}", first.to_ascii_lowercase()))
}

/// What is bound to a virtual server that looks into what clients send; services are balanced the same
/// without it.
fn policy_of_vserver<'a>(
    verb: &str,
    first: &str,
    second: &str,
    mut rest: impl Iterator<Item = &'a str>,
) -> Option<String> {
    let binds = is_in(&["bind", "unbind"], verb) && is_in(&["lb"], first);
    let option = rest.find(|word| is_in(&["-policyName", "-analyticsProfile"], word))?;
    let option = option.trim_start_matches('-');
    (binds && is_in(&["vserver"], second)).then(|| format!("lb vserver {option}"))
}

fn is_in(list: &[&str], word: &str) -> bool {
    list.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// The verbs of a saved configuration.
const VERBS: &[&str] = &[
    "add", "set", "unset", "rm", "bind", "unbind", "enable", "disable", "link", "unlink", "create",
    "import", "apply", "sync", "force", "install", "switch", "rename",
];

/// What an appliance switches as a whole: a file that does so is kept as it is.
const SWITCHES: &[&str] = &["ns feature", "ns mode"];

/// First words of two: whatever stands behind them.
const GROUPS: &[&str] = &[
    "aaa",
    "adm",
    "analytics",
    "api",
    "app",
    "appalgorithm",
    "appflow",
    "appfw",
    "appqoe",
    "audit",
    "authentication",
    "authorization",
    "autoscale",
    "bot",
    "ca",
    "cache",
    "cloud",
    "cloudtunnel",
    "cluster",
    "cmp",
    "contentInspection",
    "cr",
    "cs",
    "db",
    "dns",
    "dos",
    "endpoint",
    "feo",
    "filter",
    "gslb",
    "HA",
    "ica",
    "ipsec",
    "ipsecalg",
    "lldp",
    "lsn",
    "metrics",
    "nslaslicense",
    "ntp",
    "policy",
    "pq",
    "push",
    "qos",
    "quic",
    "quicbridge",
    "rdp",
    "reputation",
    "responder",
    "rewrite",
    "router",
    "sc",
    "smpp",
    "snmp",
    "ssl",
    "stream",
    "subscriber",
    "system",
    "tm",
    "transform",
    "tunnel",
    "urlfiltering",
    "videooptimization",
    "vpn",
    "wi",
];

/// Objects of one word.
const OBJECTS: &[&str] = &[
    "arp",
    "arpparam",
    "bridgegroup",
    "bridgetable",
    "channel",
    "ci",
    "fis",
    "forwardingSession",
    "inat",
    "inatparam",
    "interface",
    "ip6Tunnel",
    "ip6TunnelParam",
    "ipTunnel",
    "ipTunnelParam",
    "ipset",
    "ipv6",
    "L2Param",
    "L3Param",
    "L4Param",
    "lacp",
    "linkset",
    "location",
    "locationFile",
    "locationFile6",
    "locationParameter",
    "MapBmr",
    "MapDomain",
    "mapdmr",
    "nat64",
    "nat64param",
    "nd6",
    "nd6RAvariables",
    "netbridge",
    "node",
    "onLinkIPv6Prefix",
    "ptp",
    "rnat",
    "rnat6",
    "rnatglobal",
    "rnatparam",
    "rnatsession",
    "route",
    "route6",
    "rsskeytype",
    "vPathParam",
    "vlan",
    "vrID",
    "vrID6",
    "vrIDParam",
    "vxlan",
    "vxlanVlanMap",
];

const OF_NS: &[&str] = &[
    "acl",
    "acl6",
    "acls",
    "acls6",
    "aptlicense",
    "assignment",
    "capacity",
    "centralManagementServer",
    "config",
    "consoleloginprompt",
    "cqaparam",
    "dhcpIp",
    "dhcpParams",
    "diameter",
    "encryptionKey",
    "encryptionParams",
    "extension",
    "feature",
    "hmacKey",
    "hostName",
    "httpParam",
    "httpProfile",
    "icapProfile",
    "ip",
    "ip6",
    "job",
    "license",
    "licenseparameters",
    "licenseserver",
    "limitIdentifier",
    "limitSelector",
    "mgmtparam",
    "migration",
    "mode",
    "param",
    "parameter",
    "partition",
    "pbr",
    "pbr6",
    "pbrs",
    "rateControl",
    "rpcNode",
    "savedconfig",
    "serviceFunction",
    "servicePath",
    "simpleacl",
    "simpleacl6",
    "sourceroutecachetable",
    "spParams",
    "stats",
    "surgeQ",
    "tcpbufParam",
    "tcpParam",
    "timeout",
    "timer",
    "trafficDomain",
    "variable",
    "vpxparam",
    "weblogparam",
    "xmlnamespace",
    "xmlProfile",
];

const OF_LB: &[&str] = &[
    "action",
    "global",
    "metricTable",
    "policy",
    "policylabel",
    "sipParameters",
    "wlm",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_that_are_not_here_are_named_in_the_words_of_the_reference() {
        for (line, noun) in [
            ("add cs vserver v SSL 10.0.0.1 443", "cs vserver"),
            ("  BIND\tSSL  vserver v -certkeyName \"a b\"", "SSL vserver"),
            (
                "set ns config -IPAddress 10.0.0.1 -netmask 255.0.0.0",
                "ns config",
            ),
            ("enable ns feature LB CS", "ns feature"),
            ("add route 0.0.0.0 0.0.0.0 10.0.0.1", "route"),
            ("set interface 0/1 -throughput 0", "interface"),
            ("set HA node -hellointerval 200", "HA node"),
            (
                "add responder action a respondwith \"open",
                "responder action",
            ),
            ("set rsskeytype -rsstype ASYMMETRIC", "rsskeytype"),
            ("set snmp alarm CPU", "snmp alarm"),
            ("bind cmp global p", "cmp global"),
            (
                "bind lb vserver \"v 1\" -policyName p -priority 100 -type REQUEST",
                "lb vserver policyName",
            ),
            (
                "Bind LB vserver v -analyticsProfile a",
                "lb vserver analyticsProfile",
            ),
        ] {
            let found = foreign(line).unwrap_or_default();
            assert!(found.eq_ignore_ascii_case(noun), "{line}: {found}");
        }
    }

    #[test]
    fn what_is_ours_or_nonsense_or_balances_is_not_foreign() {
        for line in [
            "",
            "# add cs vserver v",
            "add server cs 10.0.0.1",
            "add",
            "add lb vserver v1 TCP",
            "add lb vserver v1 NONSENSE",
            "set lb vserver v1",
            "set lb vserver v1 -policyName p",
            "bind lb vserver v1",
            "bind lb group g -policyName p",
            "save ns config",
            "show ssl vserver",
            "frobnicate cs vserver",
            "add lb monitor m TCP",
            "add serviceGroup g TCP",
            "add frobnicate x",
            "ssl vserver",
        ] {
            assert_eq!(foreign(line), None, "{line}");
        }
    }

    #[test]
    fn lists_hold_no_word_twice() {
        for list in [VERBS, GROUPS, OBJECTS, OF_NS, OF_LB] {
            let mut words: Vec<String> = list.iter().map(|word| word.to_lowercase()).collect();
            words.sort();
            words.dedup();
            assert_eq!(words.len(), list.len());
        }
    }
}
