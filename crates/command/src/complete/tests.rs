//! What is offered where.

use super::*;

fn names(noun: Noun) -> Vec<String> {
    let names: &[&str] = match noun {
        Noun::Server => &["web1", "web2", "10.0.0.9"],
        Noun::Service => &["s1", "s2", "my svc"],
        Noun::LbVserver => &["v1", "v2"],
        Noun::ServiceGroup => &["sg_1"],
        Noun::None
        | Noun::ServiceGroupMember
        | Noun::ServiceGroupBindings
        | Noun::LbParameter
        | Noun::LbGroup
        | Noun::LbPersistentSessions
        | Noun::NsConfig
        | Noun::NsRunningConfig
        | Noun::NsSavedConfig
        | Noun::NsConf
        | Noun::NsRollbackCommand
        | Noun::NsVersion
        | Noun::NsConnectionTable
        | Noun::NsInfo
        | Noun::NsFeature
        | Noun::NsMode
        | Noun::ProtocolUdp
        | Noun::CliMode
        | Noun::CliPrompt
        | Noun::CliAttribute
        | Noun::LbProfile
        | Noun::NetProfile
        | Noun::NsTcpProfile => &[],
    };
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Completes at the end of `line`.
fn at_end(line: &str) -> Completion {
    complete(line, line.len(), &names)
}

#[track_caller]
fn assert_offers(line: &str, expected: &[&str]) {
    let texts: Vec<String> = at_end(line)
        .candidates
        .into_iter()
        .map(|candidate| candidate.text)
        .collect();
    assert_eq!(texts, expected, "{line}");
}

#[test]
fn verbs_and_objects_are_offered_by_prefix() {
    assert_offers("s", &["set", "show", "stat", "save", "source", "shell"]);
    assert_offers("sh", &["show", "shell"]);
    assert_offers("UN", &["unset", "unbind", "unalias"]);
    assert_offers("x", &[]);
    assert_offers("-s", &[]);
    assert_eq!(at_end("").candidates.len(), VERBS.len());
    assert_offers(
        "add ",
        &[
            "ns",
            "netProfile",
            "server",
            "service",
            "serviceGroup",
            "lb",
        ],
    );
    assert_offers("add s", &["server", "service", "serviceGroup"]);
    assert_offers("add lb ", &["profile", "vserver", "group"]);
    assert_offers("add lb v", &["vserver"]);
    assert_offers("add v", &["vserver"]);
    let objects = [
        "ns",
        "netProfile",
        "server",
        "service",
        "serviceGroup",
        "servicegroupbindings",
        "lb",
        "cli",
    ];
    assert_offers("show ", &objects);
    let ns = [
        "config",
        "runningConfig",
        "savedConfig",
        "ns.conf",
        "rollbackcmd",
        "version",
        "connectiontable",
        "info",
        "feature",
        "mode",
        "tcpProfile",
    ];
    assert_offers("show ns ", &ns);
    assert_offers("sh run", &["runningConfig"]);
    assert_offers("frobnicate ", &[]);
    assert_offers("s ", &[]);
}

#[test]
fn names_of_what_exists_are_offered() {
    assert_offers("rm server ", &["web1", "web2", "10.0.0.9"]);
    assert_offers("rm server web1 w", &["web2"]);
    assert_offers("show service m", &["\"my svc\""]);
    assert_offers("show service \"my", &["\"my svc\""]);
    assert_offers("bind lb vserver ", &["v1", "v2"]);
    assert_offers("bind lb group g v", &["v1", "v2"]);
    assert_offers("bind lb group g v1 v", &["v2"]);
    assert_offers("show lb persistentSessions ", &["v1", "v2"]);
    assert_offers("bind lb vserver v1 ", &["s1", "s2", "\"my svc\"", "sg_1"]);
    assert_offers("bind serviceGroup s", &["sg_1"]);
    assert_offers("bind serviceGroup sg_1 w", &["web1", "web2"]);
    assert_offers("bind serviceGroup sg_1 web1 ", &[]);
    assert_offers("unset serviceGroup sg_1 web1 80 -o", &["-order"]);
    assert_offers("bind lb vs v1 s", &["s1", "s2", "sg_1"]);
    assert_offers("set lb vserver v1 -weight 3 s", &["s1", "s2", "sg_1"]);
    assert_offers("add service x w", &["web1", "web2"]);
    assert_offers("add service ", &[]);
    assert_offers("rm service s1 ", &[]);
}

#[test]
fn options_not_given_yet_are_offered() {
    assert_offers("bind lb vserver v1 s1 ", &["-weight", "-order"]);
    assert_offers("bind lb vserver v1 s1 -weight 3 -order 1 ", &[]);
    assert_offers("set server web1 ", &["-IPAddress", "-comment"]);
    assert_offers("set server web1 -comment x -", &["-IPAddress"]);
    assert_offers("unset server web1 -c", &["-comment"]);
    assert_offers("unset server web1 -comment ", &[]);
    assert_offers("save config -f", &["-force"]);
    assert_offers("set lb vserver v1 -lbM", &["-lbMethod"]);
    assert_offers(
        "set lb vserver v1 -inc",
        &["-newServiceRequestIncrementInterval"],
    );
    assert_offers(
        "set lb vserver v1 -newServiceRequest 5 PERCENT -newS",
        &["-newServiceRequestIncrementInterval"],
    );
    assert_offers("add server ", &[]);
    assert_offers("add server s1 10.0.0.1 -s", &["-state"]);
    assert_offers("add lb vserver v TCP -st", &["-state"]);
    assert_offers("set server web1 -nosuch x -", &[]);
}

#[test]
fn values_of_closed_lists_are_offered() {
    assert_offers("add lb vserver v t", &["TCP", "TFTP"]);
    assert_offers("add lb vserver v u", &["UDP", "USER_TCP", "USER_SSL_TCP"]);
    assert_offers(
        "set lb vserver v1 -lbMethod ",
        &[
            "ROUNDROBIN",
            "LEASTCONNECTION",
            "LEASTBANDWIDTH",
            "LEASTPACKETS",
            "LEASTREQUEST",
            "LEASTRESPONSETIME",
            "SOURCEIPHASH",
            "DESTINATIONIPHASH",
            "SRCIPDESTIPHASH",
            "SRCIPSRCPORTHASH",
            "TOKEN",
            "RANDOM",
            "URLHASH",
            "DOMAINHASH",
            "CALLIDHASH",
            "AUDITLOGHASH",
            "STATICPROXIMITY",
            "USER_TOKEN",
        ],
    );
    assert_offers("set lb vserver v1 -lbMethod LEASTB", &["LEASTBANDWIDTH"]);
    assert_offers("set lb vserver v1 -lbMethod -", &[]);
    assert_offers("set lb vserver v1 -cltTimeout ", &[]);
    let second = at_end("set lb vserver v1 -newServiceRequest 5 ");
    let texts: Vec<&str> = second.candidates.iter().map(|c| c.text.as_str()).collect();
    assert_eq!(texts[..3], ["PER_SECOND", "PERCENT", "-IPAddress"]);
    assert_offers("set lb vserver v1 -newServiceRequest 5 PERC", &["PERCENT"]);
}

#[test]
fn the_word_at_the_cursor_is_replaced_and_what_follows_it_is_not_read() {
    let line = "show lb vserver v1";
    let completion = complete(line, 6, &names);
    assert_eq!(completion.start, 5);
    assert_eq!(completion.candidates[0].text, "lb");
    assert_eq!(at_end("add s").start, 4);
    assert_eq!(at_end("add ").start, 4);
    assert_eq!(at_end("show service \"my s").start, 13);
    assert_eq!(complete("é", 1, &names).start, 0);
    assert_eq!(complete("show", 99, &names).candidates[0].text, "show");
}

#[test]
fn nothing_is_offered_in_a_comment() {
    assert_offers("# s", &[]);
    assert_offers("show server # w", &[]);
}

#[test]
fn descriptions_come_from_the_table() {
    let methods = at_end("set lb vserver v1 -lbMethod LEASTB");
    assert_eq!(
        methods.candidates[0].description,
        "fewest bytes both ways over the last 14 seconds"
    );
    assert_eq!(
        at_end("add lb v").candidates[0].description,
        table::noun(Noun::LbVserver).help
    );
    assert_eq!(
        at_end("add s").candidates[0].description,
        table::noun(Noun::Server).help
    );
    assert_eq!(at_end("rm server web1").candidates[0].description, "");
    assert_eq!(at_end("unz").candidates.len(), 0);
    assert_eq!(
        at_end("rm").candidates[0].description,
        "ns tcpProfile, netProfile, server, service, serviceGroup, lb profile, lb vserver, lb group"
    );
}

#[test]
fn topics_of_help_are_commands_and_objects() {
    assert_offers("help ad", &["add"]);
    assert_offers("help l", &["lb"]);
    assert_offers("help add lb ", &["profile", "vserver", "group"]);
    assert_offers("help lb v", &["vserver"]);
    assert_offers("help add server x ", &[]);
}

#[test]
fn a_free_value_is_explained_alone() {
    let at = |line: &str| explain_value(line, line.len());
    let weight = at("bind lb vserver v s -weight ").expect("a number is expected");
    assert!(weight.starts_with("   -weight <n>\n"), "{weight}");
    assert!(weight.contains("Value: 1-100."), "{weight}");
    assert_eq!(at("bind lb vserver v s -weight 5"), Some(weight));
    let port = at("add service x h TCP ").expect("a port is expected");
    assert!(port.starts_with("   <port>\n"), "{port}");
    assert_eq!(at("bind lb vserver v s -weight 5 -order 1 "), None);
    assert_eq!(at("bind lb vserver v s -we"), None);
    assert_eq!(at("bind nosuch "), None);
}
