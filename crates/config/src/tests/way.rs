//! The way from one configuration to another, command by command.

use super::{SITE, configured, run};
use crate::{Config, Difference, load_file};

/// The commands that lead from what `lines` make of the site back to the site.
fn way_back(lines: &[&str]) -> Vec<String> {
    let site = configured(SITE);
    let mut changed = site.clone();
    for line in lines {
        run(&mut changed, line);
    }
    let way = changed.way_to(&site);
    assert!(way.arrives, "{lines:?}");
    way.commands.iter().map(sluice_command::render).collect()
}

#[test]
fn an_option_whose_default_is_refused_is_unset() {
    let lines = [
        "add lb vserver v TCP",
        "set lb vserver v -lbMethod ROUNDROBIN",
    ];
    let site = configured(&lines);
    let mut changed = site.clone();
    run(
        &mut changed,
        "set lb vserver v -lbMethod RANDOM -backupLBMethod LEASTPACKETS",
    );
    let way = changed.way_to(&site);
    let lines: Vec<String> = way.commands.iter().map(sluice_command::render).collect();
    assert_eq!(
        lines,
        [
            "set lb vserver v -lbMethod ROUNDROBIN",
            "unset lb vserver v -backupLBMethod"
        ]
    );
}

#[test]
fn what_can_be_changed_in_place_keeps_its_number() {
    let cases: &[(&[&str], &[&str])] = &[
        (&[], &[]),
        (
            &["set lb vserver v1 -lbMethod RANDOM -cltTimeout 5 -comment c"],
            &[
                "set lb vserver v1 -lbMethod LEASTCONNECTION -cltTimeout 9000",
                "unset lb vserver v1 -comment",
            ],
        ),
        (
            &[
                "set lb vserver v1 -weight 9 s2",
                "set lb vserver v1 -weight 9 s1",
            ],
            &[
                "set lb vserver v1 -weight 1 s1",
                "set lb vserver v1 -weight 3 s2",
            ],
        ),
        (
            &["set server web1 -IPAddress 10.0.0.7"],
            &["set server web1 -IPAddress 10.0.0.1"],
        ),
        (
            &["set lb vserver v1 -IPAddress *"],
            &["set lb vserver v1 -IPAddress 10.0.0.10"],
        ),
        (
            &["disable service s1", "disable server web2"],
            &["enable server web2", "enable service s1"],
        ),
        (
            &["set lb parameter -lbHashAlgorithm PRAC"],
            &["set lb parameter -lbHashAlgorithm DEFAULT"],
        ),
        (
            &[
                "add server n 10.0.0.9",
                "add service n n TCP 1",
                "bind lb vserver v3 n",
                "add lb group g",
                "bind lb group g v3",
            ],
            &[
                "unbind lb group g v3",
                "unbind lb vserver v3 n",
                "rm service n",
                "rm server n",
            ],
        ),
        (&["unbind lb vserver v1 s1"], &["bind lb vserver v1 s1"]),
    ];
    for (lines, way) in cases {
        assert_eq!(way_back(lines), *way, "{lines:?}");
    }
}

#[test]
fn what_is_gone_is_made_again_with_what_hung_on_it() {
    let train = "-gslb NONE -maxClient 0 -maxReq 0 -cip DISABLED -usip NO -useproxyport YES \
                 -sp OFF -cltTimeout 9000 -svrTimeout 9000 -CKA NO -TCPB NO -CMP NO";
    assert_eq!(
        way_back(&["rm service s2"]),
        [
            &format!("add service s2 web2 TCP 80 {train}"),
            "bind lb vserver v1 s2 -weight 3"
        ]
    );
}

#[test]
fn objects_in_each_others_way_are_taken_away_first() {
    let lines = [
        "add server a 10.0.1.1",
        "add server b 10.0.1.2",
        "add service sa a TCP 80",
        "add service sb b TCP 80",
        "add lb vserver va TCP 10.0.2.1 80",
        "add lb vserver vb TCP 10.0.2.2 80",
        "bind lb vserver va sa",
        "bind lb vserver vb sb",
    ];
    let before = configured(&lines);
    let swapped: Vec<String> = lines
        .iter()
        .map(|line| {
            let line = line
                .replace("10.0.1.1", "x")
                .replace("10.0.1.2", "10.0.1.1");
            let line = line.replace('x', "10.0.1.2");
            let line = line
                .replace("10.0.2.1", "x")
                .replace("10.0.2.2", "10.0.2.1");
            line.replace('x', "10.0.2.2")
        })
        .collect();
    let swapped: Vec<&str> = swapped.iter().map(String::as_str).collect();
    let after = configured(&swapped);
    let way = before.way_to(&after);
    assert!(way.arrives);
    let mut reached = before;
    reached.commit(way.plan);
    assert_eq!(reached.differences(&after), []);
}

#[test]
fn differences_are_lines_of_the_one_and_of_the_other() {
    let first = configured(&["add server a 10.0.0.1", "add server b 10.0.0.2"]);
    let second = configured(&["add server c 10.0.0.3", "add server b 10.0.0.9"]);
    assert_eq!(
        first.differences(&second),
        [
            Difference::First("add server a 10.0.0.1".to_owned()),
            Difference::First("add server b 10.0.0.2".to_owned()),
            Difference::Second("add server b 10.0.0.9".to_owned()),
            Difference::Second("add server c 10.0.0.3".to_owned()),
        ]
    );
    let order = configured(&["add server b 10.0.0.2", "add server a 10.0.0.1"]);
    assert_eq!(first.differences(&order), []);
    assert_eq!(Config::new().differences(&Config::new()), []);
}

#[test]
fn backups_spillovers_and_orders_change_in_place() {
    let lines = |rest: &[&str]| {
        let objects = [
            "add service s1 10.0.0.1 TCP 80",
            "add lb vserver v1 TCP",
            "add lb vserver v2 TCP",
            "add lb vserver v3 TCP",
        ];
        configured(&[&objects, rest].concat())
    };
    let from = lines(&[
        "set lb vserver v1 -backupVServer v2 -disablePrimaryOnDown ENABLED",
        "set lb vserver v2 -backupVServer v3 -soMethod CONNECTION -soThreshold 50",
        "set lb vserver v3 -soMethod BANDWIDTH -soThreshold 7",
        "bind lb vserver v1 s1 -order 1 -weight 2",
    ]);
    let to = lines(&[
        "set lb vserver v3 -backupVServer v2 -soMethod DYNAMICCONNECTION",
        "set lb vserver v2 -backupVServer v1 -soMethod HEALTH -soThreshold 50",
        "bind lb vserver v1 s1 -order 2 -weight 3",
    ]);
    for (from, to) in [(&from, &to), (&to, &from), (&from, &lines(&[]))] {
        let way = from.way_to(to);
        assert!(way.arrives);
        let commands: Vec<String> = way.commands.iter().map(sluice_command::render).collect();
        let remakes = |line: &String| line.starts_with("rm") || line.starts_with("add");
        assert!(!commands.iter().any(remakes), "{commands:?}");
        let mut walked = from.clone();
        walked.commit(way.plan);
        assert_eq!(walked.differences(to), []);
    }
}

#[test]
fn ten_thousand_services_are_reached_and_left_line_by_line() {
    let mut lines = Vec::new();
    for number in 0..10_000_u32 {
        let (high, low) = (number / 250, number % 250 + 1);
        lines.push(format!("add server h{number} 10.1.{high}.{low}"));
        lines.push(format!("add service s{number} h{number} TCP 80"));
        if number % 10 == 0 {
            lines.push(format!("add lb vserver v{number} TCP 10.2.{high}.{low} 80"));
        }
        lines.push(format!("bind lb vserver v{} s{number}", number / 10 * 10));
    }
    let (nothing, all) = (Config::new(), load_file(lines.join("\n").as_bytes()).0);
    for (from, to) in [(&nothing, &all), (&all, &nothing)] {
        let way = from.way_to(to);
        assert!(way.arrives);
        assert_eq!(way.commands.len(), lines.len());
    }
    assert_eq!(all.differences(&all.clone()), []);
}
