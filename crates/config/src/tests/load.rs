//! A file, line by line: one bad line spoils nothing but itself.

use crate::{LineFault, Verdict, check_file, load_file};

#[test]
fn each_line_gets_its_verdict_and_the_rest_goes_on() {
    let file = b"#NS13.1 Build 37.29\n\
        \n\
        add server web1 10.0.0.1\r\n\
        add server web1 10.0.0.2\n\
        add service s1 web1 TCP 80 -usip YES\n\
        add nonsense\n\
        add lb vserver \xff TCP\n\
        show server\n\
        add lb vserver v1 TCP 10.0.0.10 80\n\
        bind lb vserver v1 s1\n\
        add cs vserver c1 HTTP\n\
        bind CS vserver c1 \xff\n\
        set ns config -IPAddress 10.0.0.9 -netmask 255.0.0.0\n\
        enable ns feature LB CS\n\
        enable ns mode FR L3";
    let report = check_file(file);
    let seen: Vec<(usize, String)> = report
        .lines
        .iter()
        .map(|line| {
            let verdict = match &line.verdict {
                Verdict::Done(warnings) => format!("done, {} warnings", warnings.len()),
                Verdict::Skipped(feature) => format!("skipped, {feature}"),
                Verdict::Error(LineFault::Unreadable(fault)) => {
                    format!("unreadable, {}", fault.code)
                }
                Verdict::Error(LineFault::Parse(refused)) => {
                    format!("parse, {} at {:?}", refused.fault.code, refused.span)
                }
                Verdict::Error(LineFault::Refused(fault)) => format!("refused, {}", fault.code),
            };
            (line.number, verdict)
        })
        .collect();
    let expected = [
        (3, "done, 0 warnings"),
        (4, "refused, 273"),
        (5, "done, 1 warnings"),
        (6, "parse, 1088 at 4..12"),
        (7, "unreadable, 10002"),
        (8, "refused, 1129"),
        (9, "done, 0 warnings"),
        (10, "done, 0 warnings"),
        (11, "skipped, cs vserver"),
        (12, "skipped, cs vserver"),
        (13, "skipped, ns config"),
        (14, "skipped, ns feature"),
        (15, "skipped, ns mode"),
    ];
    let expected = expected.map(|(number, verdict)| (number, verdict.to_owned()));
    assert_eq!(seen, expected);
    assert_eq!((report.failed(), report.warned()), (4, 1));
    assert_eq!(
        report.skipped().summary().as_deref(),
        Some(
            "5 skipped, of features that are not here: cs vserver 2, ns config 1, ns feature 1, \
             ns mode 1"
        )
    );
    assert_eq!(report.lines[0].text, "add server web1 10.0.0.1");
}

#[test]
fn an_empty_file_is_an_empty_configuration() {
    assert_eq!(check_file(b"").lines, []);
    assert_eq!(check_file(b"# nothing\n\n").lines, []);
}

#[test]
fn a_line_with_ranges_gets_one_verdict() {
    let file = b"add server s2 10.0.0.9\n\
        add server s[1-3] 10.0.0.[1-3]\n\
        add service w[1-2] s[1-2] TCP 80 -usip YES\n\
        add lb vserver v[1-2] TCP 10.0.0.[11-12] 80 -backupVServer b\n\
        add lb vserver b TCP 10.0.0.10 80\n";
    let (config, report) = load_file(file);
    let numbers: Vec<usize> = report.lines.iter().map(|line| line.number).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
    let Verdict::Error(fault) = &report.lines[1].verdict else {
        panic!("s2 is there: {report:?}");
    };
    assert_eq!(fault.to_string(), "Some commands failed [1 of 3]");
    assert_eq!(
        fault.fault().hints,
        ["add server s2 10.0.0.2: Resource already exists"]
    );
    let Verdict::Done(warnings) = &report.lines[2].verdict else {
        panic!("both are added: {report:?}");
    };
    assert_eq!(warnings.len(), 2);
    // The backup that stands further down has reached both.
    let saved = config.render().join("\n");
    assert_eq!(saved.matches("-backupVServer b").count(), 2, "{saved}");
}
