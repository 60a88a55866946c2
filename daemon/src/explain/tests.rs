//! Explanations of a real core, asked by typed commands.

use sluice_balance::{Engine, FlowKey};
use sluice_command::parse;
use sluice_config::plan_line;

use super::*;

struct World {
    config: Config,
    engine: Engine,
}

impl World {
    fn new(lines: &[&str]) -> Self {
        let mut world = Self {
            config: Config::new(),
            engine: Engine::new(),
        };
        let site = [
            "add service s1 10.0.0.1 TCP 80",
            "add service s2 10.0.0.2 TCP 80",
            "add lb vserver v1 TCP 10.0.0.10 80",
            "bind lb vserver v1 s1 -weight 2",
            "bind lb vserver v1 s2",
        ];
        for line in site.iter().chain(lines) {
            let plan = plan_line(&world.config, line).unwrap().unwrap();
            for change in &plan.changes {
                world.engine.apply(change, NOW);
            }
            world.config.commit(plan);
        }
        world
    }

    fn visit(&mut self, client: [u8; 4]) {
        let id = self.config.vserver("v1").unwrap().id();
        let flow = FlowKey {
            src: (client, 40_000).into(),
            dst: ([10, 0, 0, 10], 80).into(),
            token: None,
        };
        let _ = self.engine.select(id, &flow, &[], NOW).unwrap().reservation;
    }

    fn ask(&mut self, line: &str) -> Result<Vec<Row>, Fault> {
        let command = parse(line).unwrap().unwrap();
        let Self { config, engine } = self;
        rows(config, &command, NOW, |vserver, client| {
            engine.explain(vserver, client, NOW)
        })
    }

    fn outcome(&mut self, line: &str) -> ExplainOutcome {
        match self.ask(line).unwrap().pop() {
            Some(Row::ExplainOutcome(outcome)) => outcome,
            other => panic!("{other:?}"),
        }
    }
}

const NOW: Instant = Instant::from_nanos(0);

#[test]
fn the_rows_name_the_numbers_and_who_is_next() {
    let mut world = World::new(&["set lb vserver v1 -lbMethod LEASTCONNECTION"]);
    world.visit([192, 0, 2, 1]);
    let rows = world.ask("explain lb vserver v1").unwrap();
    let vserver = ExplainVserver {
        vserver: "v1".to_owned(),
        verdict: "SERVES".to_owned(),
        method: "LEASTCONNECTION".to_owned(),
        persistence: None,
        rule: Some("the least value for its weight".to_owned()),
        unit: Some("connections now".to_owned()),
    };
    let first = ExplainService {
        service: "s1".to_owned(),
        state: "UP".to_owned(),
        weight: 2,
        order: None,
        value: Some(1),
        value_for_weight: Some(5_000),
        stands_behind: false,
        slow_start: None,
        excluded: Vec::new(),
        next: false,
    };
    let second = ExplainService {
        service: "s2".to_owned(),
        weight: 1,
        value: Some(0),
        value_for_weight: Some(0),
        next: true,
        ..first.clone()
    };
    let outcome = ExplainOutcome {
        outcome: "SERVICE".to_owned(),
        vserver: Some("v1".to_owned()),
        service: Some("s2".to_owned()),
        diversion: None,
        refusal: None,
        missing: Vec::new(),
        assumed_without: Vec::new(),
    };
    let expected = [
        Row::ExplainVserver(vserver),
        Row::ExplainService(first),
        Row::ExplainService(second),
        Row::ExplainOutcome(outcome),
    ];
    assert_eq!(rows, expected);
}

#[test]
fn what_has_to_be_given_is_named_by_its_option() {
    let mut world = World::new(&["set lb vserver v1 -lbMethod SRCIPSRCPORTHASH"]);
    let outcome = world.outcome("explain lb vserver v1");
    assert_eq!(
        (outcome.outcome.as_str(), outcome.service),
        ("UNKNOWN", None)
    );
    assert_eq!(outcome.missing, ["-srcIP", "-srcPort"]);
    let line = "explain lb vserver v1 -srcIP 192.0.2.1 -srcPort 40000";
    assert_eq!(world.outcome(line).outcome, "SERVICE");

    let mut world = World::new(&["set lb vserver v1 -persistenceType SOURCEIP"]);
    world.visit([192, 0, 2, 1]);
    let outcome = world.outcome("explain lb vserver v1");
    assert_eq!(outcome.assumed_without, ["-srcIP"]);
    assert_eq!(outcome.service.as_deref(), Some("s2"));
    let rows = world.ask("explain lb vserver v1 -srcIP 192.0.2.1").unwrap();
    let [Row::ExplainVserver(vserver), ..] = &rows[..] else {
        panic!("{rows:?}");
    };
    assert_eq!(vserver.rule.as_deref(), Some("persistence"));
    assert_eq!(
        vserver.persistence.as_deref(),
        Some("the client stays with s1")
    );
}

#[test]
fn nobody_left_is_a_refusal_and_an_unknown_name_an_error() {
    let mut world = World::new(&["disable service s1", "disable service s2"]);
    let outcome = world.outcome("explain lb vserver v1");
    assert_eq!(outcome.outcome, "REFUSED");
    assert_eq!(outcome.refusal.as_deref(), Some("no service is UP"));
    let fault = world.ask("explain lb vserver nope").unwrap_err();
    assert_eq!(fault.to_string(), "No such resource [name, nope]");
}
