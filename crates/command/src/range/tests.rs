use crate::{Fault, catalogue, parse, parse_all, parse_words_all, render, summed_up};

fn lines(text: &str) -> Vec<String> {
    let commands = parse_all(text).unwrap_or_else(|refused| panic!("{text}: {refused}"));
    commands.iter().map(render).collect()
}

#[track_caller]
fn assert_refused(line: &str, text: &str, place: &str) {
    let refused = parse_all(line).expect_err("it is refused");
    let found = (refused.to_string(), &line[refused.span.clone()]);
    assert_eq!(found, (text.to_owned(), place), "{line}");
    // Where one command can stand the same is said.
    assert_eq!(parse(line), Err(refused));
}

#[test]
fn ranges_of_a_line_are_walked_in_parallel() {
    assert_eq!(
        lines("add server s[1-3] 10.0.0.[9-11]"),
        [
            "add server s1 10.0.0.9",
            "add server s2 10.0.0.10",
            "add server s3 10.0.0.11"
        ]
    );
    assert_eq!(
        lines("add lb vs v[1-2] tcp 10.102.27.[115-116] 80 -lbmethod ROUNDROBIN"),
        [
            "add lb vserver v1 TCP 10.102.27.115 80 -lbMethod ROUNDROBIN",
            "add lb vserver v2 TCP 10.102.27.116 80 -lbMethod ROUNDROBIN"
        ]
    );
    assert_eq!(
        lines("set service s[3-4] -IPAddress 10.0.0.[5-6] -comment \"x[1-9]\""),
        [
            "set service s3 -IPAddress 10.0.0.5 -comment x[1-9]",
            "set service s4 -IPAddress 10.0.0.6 -comment x[1-9]"
        ]
    );
}

#[test]
fn what_has_no_range_is_the_same_in_each_command() {
    assert_eq!(
        lines("bind lb vs vip svc[1-2] -weight 3"),
        [
            "bind lb vserver vip svc1 -weight 3",
            "bind lb vserver vip svc2 -weight 3"
        ]
    );
    assert_eq!(
        lines("bind lb vs vip[1-2] svc"),
        ["bind lb vserver vip1 svc", "bind lb vserver vip2 svc"]
    );
    assert_eq!(
        lines("unset service s[1-2] -comment -maxClient"),
        [
            "unset service s1 -comment -maxClient",
            "unset service s2 -comment -maxClient"
        ]
    );
    assert_eq!(
        lines("set lb vserver v -weight 2 s[1-2]"),
        [
            "set lb vserver v -weight 2 s1",
            "set lb vserver v -weight 2 s2"
        ]
    );
    assert_eq!(lines("show server s[7-7]"), ["show server s7"]);
    assert_eq!(lines("show server"), ["show server"]);
    assert!(lines("# s[1-3]").is_empty());
}

#[test]
fn each_word_of_a_list_is_a_command_of_its_own() {
    assert_eq!(
        lines("rm server a[1-2] x b[7-9]"),
        [
            "rm server a1",
            "rm server a2",
            "rm server x",
            "rm server b7",
            "rm server b8",
            "rm server b9"
        ]
    );
    assert_eq!(
        lines("bind lb group g v[1-2]"),
        ["bind lb group g v1", "bind lb group g v2"]
    );
    assert_eq!(
        lines("bind lb group g[1-2] v[1-2]"),
        ["bind lb group g1 v1", "bind lb group g2 v2"]
    );
    assert_eq!(lines("rm server a b"), ["rm server a b"]);
}

#[test]
fn the_width_is_kept_where_an_end_begins_with_a_zero() {
    let names = |range: &str| -> Vec<String> {
        let lines = lines(&format!("show server {range}"));
        let names = lines
            .iter()
            .map(|line| line["show server ".len()..].to_owned());
        names.collect()
    };
    assert_eq!(names("s[08-10]"), ["s08", "s09", "s10"]);
    assert_eq!(names("s[9-010]x"), ["s009x", "s010x"]);
    assert_eq!(names("s[0-2]"), ["s0", "s1", "s2"]);
    assert_eq!(names("s[9-11]"), ["s9", "s10", "s11"]);
}

#[test]
fn numbers_of_an_ipv6_address_are_hexadecimal() {
    assert_eq!(
        lines("add server s[1-3] 2001:db8::[9-b]"),
        [
            "add server s1 2001:db8::9",
            "add server s2 2001:db8::a",
            "add server s3 2001:db8::b"
        ]
    );
    assert_eq!(
        lines("rm server 2001:db8::[ff-100]"),
        ["rm server 2001:db8::ff", "rm server 2001:db8::100"]
    );
    // A name with a colon that is no address has decimal numbers.
    assert_eq!(
        lines("show service web:[9-10]"),
        ["show service web:9", "show service web:10"]
    );
    assert_refused(
        "add server s[1-2] 2001:db8::[1-2]/64",
        "Prefix length cannot be specified for an IPv6 range [IPAddress, 2001:db8::[1-2]/64]",
        "2001:db8::[1-2]/64",
    );
}

#[test]
fn what_is_no_range_is_named_with_its_place() {
    for range in [
        "s[1-", "s[1]", "s[]", "s[a-b]", "s1-3]", "s[1,3]", "s[1--3]", "s[1-3]]", "s[-1-3]",
    ] {
        assert_refused(
            &format!("add server {range} 10.0.0.1"),
            &format!("Invalid range specification [name, {range}]"),
            range,
        );
    }
    assert_refused(
        "show server s[3-1]",
        "Range minimum exceeds range maximum [name, s[3-1]]",
        "s[3-1]",
    );
    assert_refused(
        "add server s[1-3] 10.0.[1-3].[1-3]",
        "Only one range allowed per argument [IPAddress, 10.0.[1-3].[1-3]]",
        "10.0.[1-3].[1-3]",
    );
    assert_refused(
        "add server s[1-3] 10.0.0.[1-4]",
        "Ranges are different sizes [3 and 4]",
        "10.0.0.[1-4]",
    );
    assert_refused(
        "show server s[1-10001]",
        "Invalid range specification [name, s[1-10001]]",
        "s[1-10001]",
    );
    assert_eq!(lines("show server s[1-10000]").len(), 10_000);
    assert_refused(
        "show server s[0-18446744073709551616]",
        "Invalid range specification [name, s[0-18446744073709551616]]",
        "s[0-18446744073709551616]",
    );
}

#[test]
fn one_element_that_is_wrong_refuses_the_line() {
    assert_refused(
        "add server s[1-7] 10.0.0.[250-256]",
        "Invalid IP address [IPAddress, 10.0.0.256]",
        "10.0.0.[250-256]",
    );
    // What is further left is said first.
    assert_refused("add servr s[1-", "No such command [add servr]", "servr");
    let line = "add service a/b s[1-2 TCP 80";
    assert_eq!(
        parse_all(line).expect_err("both are wrong").fault.code,
        1075
    );
}

#[test]
fn words_of_a_program_have_ranges_too() {
    let words = ["rm", "service", "s[1-2]"].map(str::to_owned);
    let commands = parse_words_all(&words).expect("it is in order");
    let lines: Vec<String> = commands.iter().map(render).collect();
    assert_eq!(lines, ["rm service s1", "rm service s2"]);
}

#[test]
fn what_failed_is_summed_up_and_does_not_flood() {
    let refusal = |number: usize| {
        let fault = Fault::new(catalogue::ALREADY_EXISTS);
        (format!("add server s{number} 10.0.0.1"), fault)
    };
    let some = summed_up(3, &[refusal(2)]);
    assert_eq!(some.to_string(), "Some commands failed [1 of 3]");
    assert_eq!(
        some.hints,
        ["add server s2 10.0.0.1: Resource already exists"]
    );
    let many: Vec<_> = (1..=12).map(refusal).collect();
    let all = summed_up(12, &many);
    assert_eq!(all.to_string(), "All commands failed [12 of 12]");
    assert_eq!(all.hints.len(), 11);
    assert_eq!(all.hints[10], "and 2 more");
}
