//! Every refusal with its exact text and its place in the line.

use super::full;
use crate::{catalogue, parse};

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
    assert_eq!(hint("add lb"), ["next comes profile, vserver or group"]);
    assert_eq!(
        hint("add"),
        [
            "next comes ns tcpProfile, netProfile, server, service, serviceGroup, lb profile, lb vserver or lb group"
        ]
    );
    assert_eq!(hint("s server"), ["it could be set, show or stat"]);
    assert_eq!(
        hint("s nosuch"),
        ["it could be set, show, stat, save or source"]
    );
    assert_eq!(
        hint("save ns config extra"),
        ["the command is save ns config [-force]"]
    );
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
fn a_mask_is_ones_then_zeros() {
    let full_line = |mask: &str| full(&format!("set lb vserver v -persistMask {mask}"));
    for mask in ["255.255.255.255", "255.255.254.0", "128.0.0.0", "0.0.0.0"] {
        assert_eq!(
            full_line(mask),
            format!("set lb vserver v -persistMask {mask}")
        );
    }
    for mask in [
        "255.0.255.0",
        "0.0.0.255",
        "24",
        "255.255.255",
        "ffff::",
        "x",
    ] {
        assert_eq!(
            full_line(mask),
            format!("ERROR: Invalid netmask [persistMask, {mask}]")
        );
    }
    let line = "set lb vserver v -persistMask 255.0.255.0";
    assert_refused(
        line,
        "Invalid netmask [persistMask, 255.0.255.0]",
        "255.0.255.0",
    );
    assert_eq!(
        parse(line).expect_err("refused").fault.hints,
        ["persistMask is an IPv4 mask such as 255.255.255.0"]
    );
    for minutes in ["1441", "1800"] {
        assert_refused(
            &format!("set lb vserver v -timeout {minutes}"),
            &format!("Integer not in range [timeout, {minutes}]"),
            minutes,
        );
    }
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
        "add lb vserver v TCP 10.0.0.1 80 -lbMethod LRTM",
        "Invalid argument value [lbMethod, LRTM]",
        "LRTM",
    );
    assert_refused(
        "set lb vserver v -lbMethod LEAST",
        "Ambiguous argument value [lbMethod, LEAST]",
        "LEAST",
    );
    assert_refused(
        "add service s a ANY 80",
        "Invalid argument value [serviceType, ANY]",
        "ANY",
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
    let methods = "lbMethod is ROUNDROBIN, LEASTCONNECTION, LEASTBANDWIDTH, LEASTPACKETS, \
                   LEASTREQUEST, LEASTRESPONSETIME, SOURCEIPHASH, DESTINATIONIPHASH, \
                   SRCIPDESTIPHASH, SRCIPSRCPORTHASH, TOKEN, RANDOM, URLHASH, DOMAINHASH, \
                   CALLIDHASH, AUDITLOGHASH, STATICPROXIMITY or USER_TOKEN";
    assert_eq!(
        hint("set lb vserver v -lbMethod lrtm"),
        [format!("LRTM is not supported here; {methods}")]
    );
    assert_eq!(
        hint("set lb vserver v -lbMethod LEASTBANDWITH"),
        [methods, "did you mean LEASTBANDWIDTH?"]
    );
    assert_eq!(
        hint("add service s a ANY 80"),
        ["ANY is not supported here; serviceType is one of 48 words, which ? lists in its place"]
    );
}

#[test]
fn wrong_names_and_texts_are_refused() {
    let invalid = catalogue::INVALID_NAME.text;
    for name in ["a/b", "<IP>", "${VAR}", ".a", "\"\"", "é", "\"a\\nb\""] {
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
