//! What is read as what; the carets; commands off the wire. Refusals are in `refusals.rs`.

use super::*;
use crate::{Noun, Verb, render};

mod refusals;

/// Reads `line`, writes it back in full words.
fn full(line: &str) -> String {
    match parse(line) {
        Ok(Some(command)) => render(&command),
        Ok(None) => String::new(),
        Err(refusal) => format!("ERROR: {refusal}"),
    }
}

#[test]
fn words_may_be_cut_and_written_in_any_case() {
    for (line, expected) in [
        ("sh lb vs v", "show lb vserver v"),
        ("SHOW LB VSERVER v", "show lb vserver v"),
        (
            "add vserver v tcp 10.0.0.1 80",
            "add lb vserver v TCP 10.0.0.1 80",
        ),
        (
            "add lb vserver \"my vs\" tcp 10.0.0.1 80",
            "add lb vserver \"my vs\" TCP 10.0.0.1 80",
        ),
        ("add lb vs v tcp * 80", "add lb vserver v TCP * 80"),
        ("clear c -for basic", "clear ns config basic -force"),
        (
            "clear ns config -force",
            "ERROR: Required argument missing [level]",
        ),
        (
            "diff config ns.conf RUNNING",
            "diff ns config saved running",
        ),
        ("add lbvserver v TCP", "add lb vserver v TCP 0.0.0.0 0"),
        ("add lbvs v TCP 0.0.0.0 0", "add lb vserver v TCP 0.0.0.0 0"),
        (
            "add lb vserver v TCP 10.0.0.1 80 -lbm ROUNDROBIN",
            "add lb vserver v TCP 10.0.0.1 80 -lbMethod ROUNDROBIN",
        ),
        (
            "add lb vserver v TCP 10.0.0.1 80 -LBMETHOD leastb",
            "add lb vserver v TCP 10.0.0.1 80 -lbMethod LEASTBANDWIDTH",
        ),
        ("add lb vserver v UDP :: 53", "add lb vserver v UDP :: 53"),
        (
            "add lb vserver v UDP 2001:DB8::1 53",
            "add lb vserver v UDP 2001:db8::1 53",
        ),
        ("save config", "save ns config"),
        ("save c -f", "save ns config -force"),
        ("sa n c", "save ns config"),
        ("sh run", "show ns runningConfig"),
        ("show ns runningconfig", "show ns runningConfig"),
        ("show version", "show ns version"),
        ("show config", "show ns config"),
        ("sta lb vs", "stat lb vserver"),
        ("batch -f cmds.txt", "batch -fileName cmds.txt"),
        ("rm server a b c", "rm server a b c"),
        ("rm vs a b", "rm lb vserver a b"),
        ("bind lb vs v s1", "bind lb vserver v s1"),
        (
            "bind lb vserver v s1 -weight 100",
            "bind lb vserver v s1 -weight 100",
        ),
        (
            "set lb vserver v -weight 10 s1",
            "set lb vserver v -weight 10 s1",
        ),
        (
            "set lb par -sess 300000 -lbhasha jarh",
            "set lb parameter -sessionsThreshold 300000 -lbHashAlgorithm JARH",
        ),
        ("sh parameter", "show lb parameter"),
        ("bind group g v1 v2", "bind lb group g v1 v2"),
        (
            "add lb gr g -persistencet sourceip",
            "add lb group g -persistenceType SOURCEIP",
        ),
        ("cl lb pers v", "clear lb persistentSessions v"),
        (
            "unset lb parameter -useport",
            "unset lb parameter -usePortForHashLb",
        ),
        ("quit", "quit"),
        ("help add lb vserver", "help add lb vserver"),
        ("help", "help"),
    ] {
        assert_eq!(full(line), expected, "{line}");
    }
}

#[test]
fn blank_lines_and_comments_are_no_commands() {
    for line in [
        "",
        "   ",
        "\t",
        "# comment",
        "  # comment",
        "#NS13.1 Build 37.29",
        "\r",
    ] {
        assert_eq!(parse(line), Ok(None), "{line:?}");
    }
    assert_eq!(full("show server # all of them"), "show server");
    assert_eq!(full("show server vs#1"), "show server vs#1");
}

#[test]
fn every_spelling_of_slow_start_gives_the_same_command() {
    let expected =
        "set lb vserver v -newServiceRequest 25 PERCENT -newServiceRequestIncrementInterval 5";
    for line in [
        "set lb vserver v -newServiceRequest 25 PERCENT -newServiceRequestIncrementInterval 5",
        "set lb vserver v -newServiceRequestRate 25 percent -incrementInterval 5",
        "set lb vserver v -newServiceRequest 25 -newServiceRequestUnit PERCENT -incrementInterval 5",
        "set lb vserver v -newServiceRequestRate 25 -unit Percent -newServiceRequestIncr 5",
    ] {
        assert_eq!(full(line), expected, "{line}");
    }
    assert_eq!(
        full("set lb vserver v -newServiceRequest 4 requests"),
        "set lb vserver v -newServiceRequest 4 PER_SECOND"
    );
    assert_eq!(
        full("set lb vserver v -newServiceRequest 25"),
        "set lb vserver v -newServiceRequest 25"
    );
    assert_eq!(
        full("set lb vserver v -unit PERCENT -newServiceRequest 25"),
        "set lb vserver v -newServiceRequestUnit PERCENT -newServiceRequest 25"
    );
    let command = parse(expected)
        .expect("it is right")
        .expect("it is a command");
    assert_eq!(command.integer(Key::NewServiceRequest), Some(25));
    assert_eq!(command.text(Key::NewServiceRequestUnit), Some("PERCENT"));
    assert_eq!(
        command.integer(Key::NewServiceRequestIncrementInterval),
        Some(5)
    );
}

#[test]
fn the_options_an_appliance_saves_for_a_service_are_read() {
    let line = "add service u1 srv1 UDP 53 -gslb NONE -maxClient 0 -maxReq 0 -cip ENABLED X-Forwarded-For \
                -usip NO -useproxyport NO -sp OFF -cltTimeout 120 -svrTimeout 120 -CustomServerID \
                \"\\\"None\\\"\" -CKA NO -TCPB NO -CMP NO -devno 30703616";
    assert_eq!(full(line), line);
}

#[test]
fn the_server_of_a_service_is_a_name_or_an_address() {
    let command = |line: &str| parse(line).expect("it is right").expect("it is a command");
    let by_name = command("add service s1 web1 TCP 80");
    assert_eq!(by_name.text(Key::ServerName), Some("web1"));
    assert_eq!(by_name.arg(Key::Address), None);
    let by_address = command("add service s1 10.0.0.1 TCP 80");
    assert_eq!(
        by_address.value(Key::Address),
        Some(&Value::Address([10, 0, 0, 1].into()))
    );
    assert_eq!(by_address.arg(Key::ServerName), None);
    assert_eq!(by_address.value(Key::Port), Some(&Value::Port(80)));
}

#[test]
fn arguments_of_a_program_are_one_token_each() {
    let words = |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        parse_words(&words)
    };
    let text = |given: &[&str]| render(&words(given).expect("right").expect("a command"));
    assert_eq!(
        text(&["show", "lb", "vserver", "my vs"]),
        "show lb vserver \"my vs\""
    );
    assert_eq!(text(&["show lb vserver v"]), "show lb vserver v");
    assert_eq!(
        text(&["set", "server", "s", "-comment", "it's #1 (of 2)"]),
        "set server s -comment \"it's #1 (of 2)\""
    );
    assert_eq!(
        text(&["set", "server", "s", "-comment", "- a"]),
        "set server s -comment \"- a\""
    );
    assert_eq!(
        text(&["set", "server", "s", "-comment", ""]),
        "set server s -comment \"\""
    );
    assert_eq!(words(&[]), Ok(None));
    assert_eq!(text(&["exit"]), "exit");
    let refused = words(&["set", "server", "s", "-nosuch", "1"]).expect_err("no such option");
    assert_eq!(refused.to_string(), "No such argument [-nosuch]");
    assert_eq!(&"set server s -nosuch 1"[refused.span], "-nosuch");
}

#[test]
fn the_caret_stands_under_the_word() {
    let line = "add\tserver é -nosuch 1";
    let refused = parse("add\tserver é 10.0.0.1 -nosuch 1").expect_err("a bad name");
    assert_eq!(
        refused.caret("add\tserver é 10.0.0.1"),
        "add server é 10.0.0.1\n           ^"
    );
    let at_option = ParseFault {
        fault: refused.fault,
        span: 14..21,
    };
    assert_eq!(
        at_option.caret(line),
        "add server é -nosuch 1\n             ^^^^^^^"
    );
    let at_end = parse("add server s1").expect_err("no address");
    assert_eq!(
        at_end.caret("add server s1"),
        "add server s1\n             ^"
    );
}

#[test]
fn a_command_off_the_wire_must_obey_the_table() {
    let command = |line: &str| parse(line).expect("right").expect("a command");
    let good = command("bind lb vserver v s1 -weight 3");
    assert_eq!(check(&good), Ok(()));
    let mut heavy = good.clone();
    heavy.args[2].values = vec![Value::Integer(101)];
    assert_eq!(check(&heavy).expect_err("too heavy").code, 1161);
    let mut swapped = good.clone();
    swapped.args.swap(0, 2);
    assert!(check(&swapped).is_err());
    let mut twice = good.clone();
    twice.args.push(good.args[2].clone());
    assert_eq!(check(&twice).expect_err("twice").code, 10_001);
    let mut nameless = good.clone();
    nameless.args.remove(0);
    assert!(check(&nameless).is_err());
    let mut wrong_type = good.clone();
    wrong_type.args[0].values = vec![Value::Integer(5)];
    assert_eq!(check(&wrong_type).expect_err("a name is text").code, 278);
    let mut injected = good.clone();
    injected.args[0].values = vec![Value::Text("v s1 -weight 9".to_owned())];
    assert_eq!(
        check(&injected),
        Ok(()),
        "blanks are legal in names, and stay inside one"
    );
    let mut foreign = good.clone();
    foreign.args[2].key = Key::Force;
    assert_eq!(check(&foreign).expect_err("no such option").code, 1090);
    let mut no_such = good;
    no_such.noun = Noun::NsConfig;
    assert_eq!(check(&no_such).expect_err("no such command").code, 1088);
}

#[test]
fn a_cut_verb_with_an_object_comes_before_one_without() {
    let verb = |line: &str| parse(line).expect("in order").expect("a command").verb;
    assert_eq!(verb("a server s 10.0.0.1"), Verb::Add);
    assert_eq!(verb("b lb vs v s"), Verb::Bind);
    assert_eq!(verb("sh server"), Verb::Show);
    assert_eq!(verb("SHELL ls"), Verb::Shell);
    assert_eq!(verb("al info x"), Verb::Alias);
    assert_eq!(verb("una info"), Verb::Unalias);
    assert_eq!(verb("so f"), Verb::Source);
    let refused = parse("she ls").expect_err("shell is typed in full").fault;
    assert_eq!(refused.code, catalogue::NO_SUCH_COMMAND.number);
}
