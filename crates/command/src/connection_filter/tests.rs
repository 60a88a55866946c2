//! What filters let through, and what is none.

use super::*;

const FACTS: ConnectionFacts<'_> = ConnectionFacts {
    source: SocketAddr::new(IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 7)), 40_000),
    destination: SocketAddr::new(IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 8)), 80),
    idle_s: 9,
    service_type: "HTTP",
    state: "CLOSE_WAIT",
    service: "web 1",
    vservers: ["front", "spare"],
};

fn matches(filter: &str) -> bool {
    ConnectionFilter::parse(filter).unwrap().matches(&FACTS)
}

#[test]
fn term_asks_one_thing_and_its_opposite_asks_the_opposite() {
    for (what, value, other) in [
        ("SRCIP", "192.0.2.7", "192.0.2.8"),
        ("DSTIP", "192.0.2.8", "192.0.2.7"),
        ("IP", "192.0.2.8", "192.0.2.9"),
        ("IPv6", "192.0.2.7", "2001:db8::7"),
        ("SRCPORT", "40000", "80"),
        ("DSTPORT", "80", "40000"),
        ("PORT", "80", "81"),
        ("IDLETIME", "9", "8"),
        ("TCPSTATE", "close_wait", "ESTABLISHED"),
        ("SERVICE_TYPE", "HTTP", "TCP"),
        ("SVCNAME", "web 1", "WEB 1"),
        ("LB_VSERVER.NAME", "\"front\"", "fron"),
        ("LB_VSERVER.NAME", "spare", "web 1"),
    ] {
        assert!(matches(&format!("CONNECTION.{what}.EQ({value})")), "{what}");
        assert!(matches(&format!("connection.{what}.ne({other})")), "{what}");
        assert!(
            !matches(&format!("CONNECTION.{what}.NE({value})")),
            "{what}"
        );
        assert!(
            !matches(&format!("CONNECTION.{what}.EQ({other})")),
            "{what}"
        );
    }
}

#[test]
fn numbers_are_compared_with_their_bounds() {
    for (how, held) in [
        ("GT(8)", true),
        ("GT(9)", false),
        ("GE(9)", true),
        ("GE(10)", false),
        ("LT(10)", true),
        ("LT(9)", false),
        ("LE(9)", true),
        ("LE(8)", false),
        ("BETWEEN(9, 12)", true),
        ("BETWEEN(1,8)", false),
        ("BETWEEN(10,12)", false),
    ] {
        assert_eq!(
            matches(&format!("CONNECTION.IDLETIME.{how}")),
            held,
            "{how}"
        );
    }
}

#[test]
fn names_are_compared_by_their_parts() {
    for (how, held) in [
        ("CONTAINS(eb)", true),
        ("CONTAINS(EB)", false),
        ("STARTSWITH(web)", true),
        ("STARTSWITH(eb)", false),
        ("ENDSWITH(\" 1\")", true),
        ("ENDSWITH(web)", false),
    ] {
        assert_eq!(matches(&format!("CONNECTION.SVCNAME.{how}")), held, "{how}");
    }
    assert!(matches("CONNECTION.LB_VSERVER.NAME.ENDSWITH(are)"));
}

#[test]
fn and_binds_before_or_and_quotes_hide_both() {
    let (yes, no) = ("CONNECTION.PORT.EQ(80)", "CONNECTION.PORT.EQ(1)");
    assert!(!matches(&format!("{yes}&&{no}")));
    assert!(matches(&format!("{no} || {yes}")));
    assert!(matches(&format!("{yes} || {yes} && {no}")));
    assert!(!matches(&format!("{no} || {yes} && {no}")));
    assert!(!matches("CONNECTION.SVCNAME.EQ(\"a && b || c\")"));
    assert!(matches(
        "CONNECTION.SVCNAME.NE(\"a && b\") && CONNECTION.PORT.EQ(80)"
    ));
}

#[test]
fn older_form_means_the_same() {
    for (filter, held) in [
        ("SOURCEIP == 192.0.2.7 && DESTPORT == 80", true),
        ("SOURCEIP == 192.0.2.7 && DESTPORT==81", false),
        ("svcname == \"web 1\"", true),
        ("STATE != ESTABLISHED", true),
        ("IDLETIME >= 10 || IDLETIME<9", false),
        ("SVCTYPE == HTTP && IDLETIME > 8 && IDLETIME <= 9", true),
    ] {
        assert_eq!(matches(filter), held, "{filter}");
    }
}

#[test]
fn what_is_no_filter_is_named() {
    for (filter, named) in [
        ("", "a term is missing"),
        ("CONNECTION.PORT.EQ(80) &&", "a term is missing"),
        ("|| CONNECTION.PORT.EQ(80)", "a term is missing"),
        ("CONNECTION.PORT.EQ(80) && x", "x"),
        ("CONNECTION.PORT.EQ(80", "CONNECTION.PORT.EQ(80"),
        ("CONNECTION.PORT.EQ()", "CONNECTION.PORT.EQ()"),
        ("CONNECTION.PORT.EQ(-1)", "CONNECTION.PORT.EQ(-1)"),
        ("CONNECTION.PORT.CONTAINS(8)", "CONNECTION.PORT.CONTAINS(8)"),
        ("CONNECTION.PORT.BETWEEN(8)", "CONNECTION.PORT.BETWEEN(8)"),
        (
            "CONNECTION.SRCIP.GT(10.0.0.1)",
            "CONNECTION.SRCIP.GT(10.0.0.1)",
        ),
        ("CONNECTION.SRCIP.EQ(web)", "CONNECTION.SRCIP.EQ(web)"),
        ("CONNECTION.SVCNAME.EQ(\"a)", "CONNECTION.SVCNAME.EQ(\"a)"),
        (
            "CONNECTION.TCPSTATE.EQ(TIME_WAIT)",
            "CONNECTION.TCPSTATE.EQ(TIME_WAIT)",
        ),
        (
            "CONNECTION.SERVICE_TYPE.EQ(FOO)",
            "CONNECTION.SERVICE_TYPE.EQ(FOO)",
        ),
        ("CONNECTION.VLANID.EQ(1)", "CONNECTION.VLANID.EQ(1)"),
        ("VLANID == 1", "VLANID == 1"),
        ("CONNECTION", "CONNECTION"),
        ("CONNECTION.\u{df}.EQ(1)", "CONNECTION.\u{df}.EQ(1)"),
    ] {
        let fault = ConnectionFilter::parse(filter).unwrap_err();
        assert_eq!(fault.code, 1097);
        assert_eq!(fault.details, Some(format!("filterexpression, {named}")));
    }
}
