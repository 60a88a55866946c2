//! What is read as what, and every refusal with its text and its place.

use super::*;
use crate::{Noun, render};

/// Reads `line`, writes it back in full words.
fn full(line: &str) -> String {
    match parse(line) {
        Ok(Some(command)) => render(&command),
        Ok(None) => String::new(),
        Err(refusal) => format!("ERROR: {refusal}"),
    }
}

/// Returns the text of the refusal, and the part of the line it points at.
fn refusal(line: &str) -> (String, &str) {
    let refusal = parse(line).expect_err("the line is refused");
    let at = &line[refusal.span.clone()];
    (refusal.to_string(), at)
}

#[track_caller]
fn assert_refused(line: &str, text: &str, place: &str) {
    assert_eq!(refusal(line), (text.to_owned(), place), "{line}");
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
fn wrong_words_of_a_command_are_named() {
    assert_refused("frobnicate", "No such command [frobnicate]", "frobnicate");
    assert_refused("shwo server", "No such command [shwo]", "shwo");
    assert_refused("show sever", "No such command [show sever]", "sever");
    assert_refused(
        "show lb vsrever",
        "No such command [show lb vsrever]",
        "vsrever",
    );
    assert_refused("add cs vserver v", "No such command [add cs]", "cs");
    assert_refused("-add server", "No such command [-add]", "-add");
    assert_refused("s server", "Ambiguous command name [s]", "s");
    assert_refused("show s", "Ambiguous command name [s]", "s");
    assert_refused("show v", "Ambiguous command name [v]", "v");
    assert_refused("add", "Incomplete command", "");
    assert_refused("add lb", "Incomplete command", "");
    let hint = |line: &str| parse(line).expect_err("refused").fault.hints;
    assert_eq!(hint("shwo server"), ["did you mean show?"]);
    assert_eq!(hint("show sever"), ["did you mean show server?"]);
    assert_eq!(hint("show lb vsrever"), ["did you mean show lb vserver?"]);
    assert_eq!(hint("add lb"), ["next comes vserver"]);
    assert_eq!(hint("add"), ["next comes server, service or lb vserver"]);
    assert_eq!(hint("s server"), ["it could be set, show, stat or save"]);
}

#[test]
fn wrong_options_are_named() {
    assert_refused(
        "set server s -nosuch 1",
        "No such argument [-nosuch]",
        "-nosuch",
    );
    assert_refused(
        "add service s a TCP 80 -c 1",
        "Ambiguous argument name [-c]",
        "-c",
    );
    assert_refused(
        "set lb vserver v -newS 1",
        "Ambiguous argument name [-newS]",
        "-newS",
    );
    assert_refused(
        "set service s -cltTimeout",
        "Required argument value missing [cltTimeout]",
        "",
    );
    assert_refused(
        "set service s -cltTimeout -comment x",
        "Required argument value missing [cltTimeout]",
        "-comment",
    );
    assert_refused(
        "set lb vserver v -weight 3",
        "Required argument value missing [weight, serviceName]",
        "",
    );
    assert_refused(
        "set service s -cltTimeout 1 -clt 2",
        "Argument specified more than once [cltTimeout]",
        "-clt",
    );
    assert_refused(
        "set lb vserver v -newServiceRequest 1 PERCENT -unit PERCENT",
        "Argument specified more than once [newServiceRequestUnit]",
        "-unit",
    );
    assert_refused(
        "set lb vserver v -unit PERCENT -newServiceRequest 1 PERCENT",
        "Argument specified more than once [newServiceRequestUnit]",
        "PERCENT",
    );
    assert_refused(
        "set server s -comment a b",
        "Argument has too many values [comment, b]",
        "b",
    );
    assert_refused(
        "unset server s -comment a",
        "Argument has too many values [comment, a]",
        "a",
    );
    assert_refused(
        "save ns config -force now",
        "Argument has too many values [force, now]",
        "now",
    );
    assert_refused("set server s", "No arguments to set", "");
    assert_refused("unset server s", "Too few arguments", "");
    assert_refused("batch", "Required argument missing [fileName]", "");
    assert_refused(
        "batch -ntimes 2",
        "Required argument missing [fileName]",
        "",
    );
    assert_refused("set server s -=x", "No such argument [-=x]", "-=x");
    assert_refused("set server s -", "No such argument [-]", "-");
    let hint = |line: &str| parse(line).expect_err("refused").fault.hints;
    assert_eq!(
        hint("add lb vserver v TCP -lbMehtod X"),
        ["did you mean -lbMethod?"]
    );
    assert_eq!(
        hint("set service s -state ENABLED"),
        ["-state is an option of add service"]
    );
    assert_eq!(
        hint("set server s -comment -x"),
        [
            "comment is a text of 0-255 bytes",
            "a value that begins with '-' stands in quotes"
        ]
    );
}

#[test]
fn missing_extra_and_misplaced_words_are_named() {
    assert_refused("add server", "Required argument missing [name]", "");
    assert_refused("add server s1", "Required argument missing [IPAddress]", "");
    assert_refused(
        "add service s1 10.0.0.1 TCP",
        "Required argument missing [port]",
        "",
    );
    assert_refused(
        "add lb vserver v TCP 10.0.0.1",
        "Required argument missing [port]",
        "",
    );
    assert_refused(
        "add server -comment x",
        "Required argument missing [name]",
        "",
    );
    assert_refused(
        "add server s1 -comment x 10.0.0.1",
        "Argument(s) out of order [10.0.0.1]",
        "10.0.0.1",
    );
    assert_refused(
        "bind lb vserver v -weight 3 s1",
        "Argument(s) out of order [s1]",
        "s1",
    );
    assert_refused(
        "add server s1 10.0.0.1 x",
        "Argument has too many values [IPAddress, x]",
        "x",
    );
    assert_refused(
        "rm service a b",
        "Argument has too many values [name, b]",
        "b",
    );
    assert_refused("show ns version 1", "Argument has too many values [1]", "1");
    assert_refused(
        "add lb vserver v TCP 10.0.0.1 80 -lbMethod ROUNDROBIN x",
        "Argument has too many values [lbMethod, x]",
        "x",
    );
    assert_refused("rm server", "Required argument missing [name]", "");
    let missing = parse("add lb vserver v TCP 10.0.0.1 -lbMethod ROUNDROBIN").expect_err("no port");
    assert_eq!(missing.span, 30..30);
}

#[test]
fn numbers_and_ports_out_of_range_are_refused() {
    for (port, text) in [
        ("0", "Integer not in range [port, 0]"),
        ("65536", "Integer not in range [port, 65536]"),
        ("-1", "Integer not in range [port, -1]"),
        ("080", "Invalid argument value [port, 080]"),
        ("8e3", "Invalid argument value [port, 8e3]"),
        ("\"\"", "Invalid argument value [port, ]"),
        ("+80", "Invalid argument value [port, +80]"),
        ("*", "Invalid argument value [port, *]"),
    ] {
        assert_refused(&format!("add service s 10.0.0.1 TCP {port}"), text, port);
        assert_refused(&format!("add lb vserver v TCP 10.0.0.1 {port}"), text, port);
    }
    for (weight, text) in [
        ("0", "Integer not in range [weight, 0]"),
        ("101", "Integer not in range [weight, 101]"),
        (
            "99999999999999999999999",
            "Integer not in range [weight, 99999999999999999999999]",
        ),
        ("-5", "Integer not in range [weight, -5]"),
        ("\"-5\"", "Integer not in range [weight, -5]"),
        ("1e400", "Invalid argument value [weight, 1e400]"),
    ] {
        assert_refused(
            &format!("bind lb vserver v s -weight {weight}"),
            text,
            weight,
        );
    }
    let weight = parse("bind lb vserver v s -weight 101").expect_err("too heavy");
    assert_eq!(weight.fault.hints, ["weight is 1-100"]);
    assert_eq!(weight.fault.code, 1161);
    assert_refused(
        "set service s -maxClient 4294967295",
        "Integer not in range [maxClient, 4294967295]",
        "4294967295",
    );
    assert_eq!(
        full("set service s -maxClient 4294967294"),
        "set service s -maxClient 4294967294"
    );
    assert_refused(
        "set service s -cltTimeout 31536001",
        "Integer not in range [cltTimeout, 31536001]",
        "31536001",
    );
    assert_refused(
        "set lb vserver v -incrementInterval 3601",
        "Integer not in range [newServiceRequestIncrementInterval, 3601]",
        "3601",
    );
}

#[test]
fn wrong_addresses_are_refused() {
    for (address, text) in [
        ("1.2.3", "Invalid IP address"),
        ("010.0.0.1", "Invalid IP address"),
        ("1.2.3.4.5", "Invalid IP address"),
        ("10.0.0.300", "Invalid IP address"),
        ("::1%", "Invalid IPv6 address"),
        ("fe80::1%eth0", "Invalid IPv6 address"),
        ("fe80::1", "Invalid IPv6 address"),
        (
            "1::2::3",
            "Double-colon can appear only once in an IPv6 address",
        ),
        ("224.0.0.1", "Invalid IP address"),
        ("255.255.255.255", "Invalid IP address"),
        ("ff02::1", "Invalid IPv6 address"),
        ("::ffff:10.0.0.1", "Invalid IPv6 address"),
    ] {
        let text = format!("{text} [IPAddress, {address}]");
        assert_refused(&format!("add server s {address}"), &text, address);
        assert_refused(&format!("add service s {address} TCP 80"), &text, address);
        assert_refused(
            &format!("add lb vserver v TCP {address} 80"),
            &text,
            address,
        );
    }
    assert_refused(
        "add server s 0.0.0.0",
        "Invalid IP address [IPAddress, 0.0.0.0]",
        "0.0.0.0",
    );
    assert_refused(
        "add server s ::",
        "Invalid IPv6 address [IPAddress, ::]",
        "::",
    );
    assert_refused("add server s *", "Invalid IP address [IPAddress, *]", "*");
    assert_refused(
        "add lb vserver v TCP 0.0.0.0 80",
        "Invalid IP address [IPAddress, 0.0.0.0]",
        "0.0.0.0",
    );
    assert_refused(
        "add server s www.example.com",
        "Invalid IP address [IPAddress, www.example.com]",
        "www.example.com",
    );
    let names = parse("add server s www.example.com").expect_err("no names");
    assert_eq!(
        names.fault.hints,
        ["IPAddress is an IPv4 or IPv6 address; names that DNS resolves are not supported yet"]
    );
}

#[test]
fn wrong_choices_are_refused_with_what_is_allowed() {
    assert_refused(
        "add lb vserver v TCP 10.0.0.1 80 -lbMethod TOKEN",
        "Invalid argument value [lbMethod, TOKEN]",
        "TOKEN",
    );
    assert_refused(
        "set lb vserver v -lbMethod LEAST",
        "Ambiguous argument value [lbMethod, LEAST]",
        "LEAST",
    );
    assert_refused(
        "add service s a HTTP 80",
        "Invalid argument value [serviceType, HTTP]",
        "HTTP",
    );
    assert_refused(
        "add lb vserver v 192.0.2.1 80",
        "Invalid argument value [serviceType, 192.0.2.1]",
        "192.0.2.1",
    );
    assert_refused(
        "add lb vserver v TCP-cltTimeout 9000",
        "Invalid argument value [serviceType, TCP-cltTimeout]",
        "TCP-cltTimeout",
    );
    assert_refused(
        "add lb vserver v TCP 10.0.0.1 80 -lbMethod ROUNDROBIN-cltTimeout 9000",
        "Invalid argument value [lbMethod, ROUNDROBIN-cltTimeout]",
        "ROUNDROBIN-cltTimeout",
    );
    assert_refused(
        "set service s -usip ENABLED",
        "Invalid argument value [usip, ENABLED]",
        "ENABLED",
    );
    let hint = |line: &str| parse(line).expect_err("refused").fault.hints;
    assert_eq!(
        hint("set lb vserver v -lbMethod sourceiphash"),
        [
            "SOURCEIPHASH is not supported here; lbMethod is ROUNDROBIN, LEASTCONNECTION, \
          LEASTBANDWIDTH or LEASTPACKETS"
        ]
    );
    assert_eq!(
        hint("set lb vserver v -lbMethod LEASTBANDWITH"),
        [
            "lbMethod is ROUNDROBIN, LEASTCONNECTION, LEASTBANDWIDTH or LEASTPACKETS",
            "did you mean LEASTBANDWIDTH?"
        ]
    );
    assert_eq!(
        hint("add service s a ANY 80"),
        ["ANY is not supported here; serviceType is TCP or UDP"]
    );
}

#[test]
fn wrong_names_and_texts_are_refused() {
    let invalid = catalogue::INVALID_NAME.text;
    for name in [
        "a/b",
        "<IP>",
        "${VAR}",
        ".a",
        "\"\"",
        "s[1-3]",
        "é",
        "\"a\\nb\"",
    ] {
        let refused = parse(&format!("add server {name} 10.0.0.1")).expect_err("no name");
        assert_eq!(refused.fault.text, invalid, "{name}");
        assert_eq!(refused.span, 11..11 + name.len(), "{name}");
    }
    for name in ["_a", "0a", "a#.:@=-_", "10.0.0.9", "::1", "\"a b\""] {
        let line = format!("add server {name} 10.0.0.1");
        assert_eq!(full(&line), line);
    }
    let long = "n".repeat(127);
    assert_eq!(
        full(&format!("rm service {long}")),
        format!("rm service {long}")
    );
    let refused = parse(&format!("rm service {long}n")).expect_err("too long");
    assert_eq!(refused.fault.code, 1106);
    let refused = parse(&format!("set server s -comment {}", "c".repeat(256))).expect_err("long");
    assert_eq!(refused.fault.code, 1106);
    assert_refused(
        "set server s -comment \"a\u{1b}[2J\"",
        "Invalid character [comment, a\\u{1b}[2J]",
        "\"a\u{1b}[2J\"",
    );
    assert_refused(
        "batch -fileName a -outfile b/c",
        "Character '/' not allowed in outfilename [outfile, b/c]",
        "b/c",
    );
    assert_refused(
        "batch -fileName \"\"",
        "String too short [fileName, ]",
        "\"\"",
    );
    assert_refused(
        "show server 1.2.3",
        "Invalid IP address [name, 1.2.3]",
        "1.2.3",
    );
}

#[test]
fn words_that_do_not_end_are_refused() {
    assert_refused(
        "set server s -comment \"abc",
        "Unmatched quote [\"]",
        "\"abc",
    );
    assert_refused("set server s -comment a'b c", "Unmatched quote [']", "'b c");
    assert_refused("set server s -comment f(x", "Unmatched character [(]", "(");
    assert_refused("set server s -comment x)", "Unmatched character [)]", ")");
    assert_refused(
        "show\u{a0}server",
        "Invalid character [column 5, U+00A0]",
        "\u{a0}",
    );
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
