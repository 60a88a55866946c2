//! The whole transition table, and what several probes in a row come to.

use super::*;

const RETRIES_2: MonitorSettings = MonitorSettings {
    enabled: true,
    interval: std::time::Duration::ZERO,
    response_timeout: std::time::Duration::ZERO,
    down_time: std::time::Duration::ZERO,
    retries: 2,
    failure_retries: 0,
    success_retries: 2,
    reverse: false,
    learns_response_time: false,
    deviation: std::time::Duration::ZERO,
    silence_passes: false,
};

fn answer(letter: char) -> Answer {
    match letter {
        '.' => Answer::Passed,
        'x' => Answer::Failed,
        'o' => Answer::GoesOut,
        other => panic!("{other} is no answer"),
    }
}

/// Gives a fresh machine these answers; returns what it finds after each.
fn run(settings: &MonitorSettings, answers: &str) -> String {
    let mut machine = Machine::default();
    let mut found = String::new();
    for letter in answers.chars() {
        machine.handle(answer(letter), settings);
        found.push(match machine.finding() {
            Finding::Unknown => '?',
            Finding::Up => 'U',
            Finding::Down => 'D',
            Finding::GoingOut => 'G',
        });
    }
    found
}

#[test]
fn every_transition_is_that_of_the_table() {
    use Answer::{Failed, GoesOut, Passed};
    use Finding::{Down, GoingOut, Unknown, Up};
    // State as (finding, last probes, successes), answer, state.
    let table = [
        ((Unknown, 0, 0), Passed, (Up, 0, 0)),
        ((Unknown, 0, 0), Failed, (Unknown, 1, 0)),
        ((Unknown, 0, 0), GoesOut, (GoingOut, 0, 0)),
        ((Unknown, 1, 0), Passed, (Up, 0, 0)),
        ((Unknown, 1, 0), Failed, (Down, 0, 0)),
        ((Unknown, 1, 0), GoesOut, (GoingOut, 0, 0)),
        ((Up, 0, 0), Passed, (Up, 0, 0)),
        ((Up, 0, 0), Failed, (Up, 1, 0)),
        ((Up, 0, 0), GoesOut, (GoingOut, 0, 0)),
        ((Up, 1, 0), Passed, (Up, 2, 0)),
        ((Up, 1, 0), Failed, (Down, 0, 0)),
        ((Up, 1, 0), GoesOut, (GoingOut, 0, 0)),
        ((Up, 2, 0), Passed, (Up, 0, 0)),
        ((Up, 2, 0), Failed, (Up, 1, 0)),
        ((Up, 2, 0), GoesOut, (GoingOut, 0, 0)),
        ((GoingOut, 0, 0), Passed, (Up, 0, 0)),
        ((GoingOut, 0, 0), Failed, (GoingOut, 1, 0)),
        ((GoingOut, 0, 0), GoesOut, (GoingOut, 0, 0)),
        ((GoingOut, 1, 0), Passed, (Up, 0, 0)),
        ((GoingOut, 1, 0), Failed, (Down, 0, 0)),
        ((GoingOut, 1, 0), GoesOut, (GoingOut, 2, 0)),
        ((GoingOut, 2, 0), Passed, (Up, 0, 0)),
        ((GoingOut, 2, 0), Failed, (GoingOut, 1, 0)),
        ((GoingOut, 2, 0), GoesOut, (GoingOut, 0, 0)),
        ((Down, 0, 0), Passed, (Down, 0, 1)),
        ((Down, 0, 0), Failed, (Down, 0, 0)),
        ((Down, 0, 0), GoesOut, (GoingOut, 0, 0)),
        ((Down, 0, 1), Passed, (Up, 0, 0)),
        ((Down, 0, 1), Failed, (Down, 0, 0)),
        ((Down, 0, 1), GoesOut, (GoingOut, 0, 0)),
    ];
    let state = |(finding, recent, successes)| Machine {
        finding,
        recent,
        successes,
    };
    let mut reached = std::collections::HashSet::from([Machine::default()]);
    for (from, answer, to) in table {
        let mut machine = state(from);
        machine.handle(answer, &RETRIES_2);
        assert_eq!(machine, state(to), "{from:?} and {answer:?}");
        reached.insert(machine);
    }
    // The table is whole: each state that it leads to is in it, with each answer.
    for machine in reached {
        for answer in [Passed, Failed, GoesOut] {
            let row = |row: &((Finding, u128, u8), Answer, _)| (state(row.0), row.1);
            assert!(
                table.iter().any(|one| row(one) == (machine, answer)),
                "{machine:?} and {answer:?} are missing"
            );
        }
    }
}

#[test]
fn service_goes_down_at_the_retries_th_failure_in_a_row() {
    let of = |retries, answers: &str| {
        let settings = MonitorSettings {
            retries,
            ..MonitorSettings::default()
        };
        run(&settings, answers)
    };
    assert_eq!(of(3, ".xx.xxx"), "UUUUUUD");
    assert_eq!(of(1, ".x.x"), "UDUD");
    assert_eq!(of(3, "xxx."), "??DU");
    // One success starts the count again, however often.
    let now_and_then = ".xx".repeat(50);
    assert_eq!(of(3, &now_and_then), "UUU".repeat(50));
    let most = format!(".{}", "x".repeat(127));
    assert_eq!(of(127, &most), format!("{}D", "U".repeat(127)));
    assert_eq!(of(255, &most), format!("{}D", "U".repeat(127)));
    assert_eq!(of(0, ".x"), "UD");
}

#[test]
fn failure_retries_is_how_many_of_the_retries_must_fail() {
    let of = |retries, failure_retries, answers: &str| {
        let settings = MonitorSettings {
            retries,
            failure_retries,
            ..MonitorSettings::default()
        };
        run(&settings, answers)
    };
    assert_eq!(of(5, 3, ".x.x.x"), "UUUUUD");
    // The first of the three is the sixth last: out of sight.
    assert_eq!(of(5, 3, ".x..x..xx"), "UUUUUUUUD");
    assert_eq!(of(5, 3, ".x.x..x..x"), "UUUUUUUUUU");
    assert_eq!(of(5, 3, ".xxx"), "UUUD");
    assert_eq!(of(3, 9, ".xxx"), "UUUD");
}

#[test]
fn success_retries_in_a_row_bring_a_service_back() {
    let settings = MonitorSettings {
        retries: 1,
        success_retries: 3,
        ..MonitorSettings::default()
    };
    // The first success of all is enough where nothing was known.
    assert_eq!(run(&settings, ".x..x..."), "UDDDDDDU");
    let any = MonitorSettings {
        success_retries: 0,
        ..settings
    };
    assert_eq!(run(&any, "x."), "DU");
}

#[test]
fn service_that_says_so_goes_out_until_it_answers_otherwise() {
    let settings = MonitorSettings {
        retries: 2,
        ..MonitorSettings::default()
    };
    assert_eq!(run(&settings, ".oo.oxoxx.o"), "UGGUGGGGDUG");
    assert_eq!(run(&settings, "oxxo"), "GGDG");
}
