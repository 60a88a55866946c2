//! Explanations as a person reads them.

use super::{Form, Row, show};
use sluice_protocol::{ExplainOutcome, ExplainService, ExplainVserver, SlowStart};

fn vserver(name: &str, verdict: &str) -> ExplainVserver {
    ExplainVserver {
        vserver: name.to_owned(),
        verdict: verdict.to_owned(),
        method: "LEASTCONNECTION".to_owned(),
        persistence: None,
        rule: None,
        unit: Some("connections now".to_owned()),
    }
}

fn service(name: &str) -> ExplainService {
    ExplainService {
        service: name.to_owned(),
        state: "UP".to_owned(),
        weight: 1,
        order: None,
        value: Some(3),
        value_for_weight: Some(30_000),
        stands_behind: false,
        slow_start: None,
        excluded: Vec::new(),
        next: false,
    }
}

fn outcome(word: &str) -> ExplainOutcome {
    ExplainOutcome {
        outcome: word.to_owned(),
        vserver: Some("v2".to_owned()),
        service: None,
        diversion: None,
        refusal: None,
        missing: Vec::new(),
        assumed_without: Vec::new(),
    }
}

#[test]
fn an_explanation_goes_from_one_virtual_server_to_the_next_and_ends_with_who_is_next() {
    let down = ExplainService {
        state: "OUT OF SERVICE".to_owned(),
        excluded: vec!["disabled".to_owned(), "at maxClient 3".to_owned()],
        ..service("s1")
    };
    let new = ExplainService {
        order: Some(7),
        slow_start: Some(SlowStart {
            limit: 25,
            unit: "PER_SECOND".to_owned(),
            requests: 3,
            requests_total: 40,
            age_ms: 1,
            next_step_ms: None,
            end_ms: None,
        }),
        next: true,
        ..service("s2")
    };
    let serves = ExplainVserver {
        rule: Some("the least value for its weight".to_owned()),
        persistence: Some("the client stayed with s9, which cannot take it: it moves".to_owned()),
        ..vserver("v2", "SERVES")
    };
    let end = ExplainOutcome {
        service: Some("s2".to_owned()),
        diversion: Some("DOWN".to_owned()),
        assumed_without: vec!["-srcIP".to_owned(), "token".to_owned()],
        ..outcome("SERVICE")
    };
    let rows = [
        Row::ExplainVserver(vserver("v1", "DOWN")),
        Row::ExplainService(down),
        Row::ExplainVserver(serves),
        Row::ExplainService(new),
        Row::ExplainOutcome(end),
    ];
    let expected = "\
\tv1: down, does not serve the flow
\tMethod: LEASTCONNECTION
\tValue: connections now
  SERVICE  STATE           WEIGHT  ORDER  VALUE  VALUE*10000/WEIGHT  SLOW-START  LEFT OUT
  s1       OUT OF SERVICE  1       -      3      30000               -           disabled, at maxClient 3
\tv2: serves the flow
\tMethod: LEASTCONNECTION
\tPersistence: the client stayed with s9, which cannot take it: it moves
\tDecided by: the least value for its weight
\tValue: connections now
    SERVICE  STATE  WEIGHT  ORDER  VALUE  VALUE*10000/WEIGHT  SLOW-START            LEFT OUT
->  s2       UP     1       7      3      30000               25/s, 3 of 40 so far
\tNext client: s2 (backup v2, primary down)
\tOf a client without a persistence entry; give -srcIP to ask about one that may have it
\tOf a client whose token does not come in time
";
    assert_eq!(show(&rows, Form::Single), expected);
}

#[test]
fn what_is_not_one_service_is_said_in_words() {
    let text = |outcome| show(&[Row::ExplainOutcome(outcome)], Form::Single);
    assert_eq!(
        text(outcome("CHANCE")),
        "\tNext client: by chance, by weight, one of those that are not left out\n"
    );
    let unknown = ExplainOutcome {
        missing: vec!["-srcIP".to_owned(), "-srcPort".to_owned()],
        ..outcome("UNKNOWN")
    };
    assert_eq!(
        text(unknown),
        "\tNext client: depends on -srcIP, -srcPort\n"
    );
    let refused = ExplainOutcome {
        refusal: Some("no service is UP".to_owned()),
        ..outcome("REFUSED")
    };
    assert_eq!(text(refused), "\tNext client: refused: no service is UP\n");
}
