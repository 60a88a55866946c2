//! Sessions of a real core, listed and forgotten by typed commands.

use std::net::SocketAddr;
use std::time::Duration;

use sluice_balance::{Engine, FlowKey, Instant};
use sluice_command::parse;
use sluice_config::plan_line;

use super::*;

struct World {
    config: Config,
    engine: Engine,
    now: Instant,
}

impl World {
    fn new() -> Self {
        let mut world = Self {
            config: Config::new(),
            engine: Engine::new(),
            now: Instant::from_nanos(0),
        };
        for line in [
            "add service s1 10.0.0.1 TCP 80",
            "add service s2 10.0.0.2 TCP 80",
            "add lb vserver v1 TCP 10.0.0.10 80 -persistenceType SOURCEIP -lbMethod ROUNDROBIN",
            "add lb vserver v2 TCP 10.0.0.10 81 -persistenceType SRCIPDESTIP -timeout 5",
            "add lb vserver v3 TCP 10.0.0.10 82 -persistenceType DESTIP",
            "add lb vserver v4 TCP 10.0.0.10 83",
            "bind lb vserver v1 s1",
            "bind lb vserver v1 s2",
            "bind lb vserver v2 s1",
            "bind lb vserver v3 s1",
        ] {
            let plan = plan_line(&world.config, line).unwrap().unwrap();
            for change in &plan.changes {
                world.engine.apply(change, world.now);
            }
            world.config.commit(plan);
        }
        world
    }

    /// Lets a client connect and leave.
    fn visit(&mut self, vserver: &str, client: [u8; 4]) {
        let id = self.config.vserver(vserver).unwrap().id();
        let flow = FlowKey {
            src: SocketAddr::from((client, 40_000)),
            dst: SocketAddr::from(([10, 0, 0, 10], 80)),
            token: None,
        };
        let selection = self.engine.select(id, &flow, &[], self.now).unwrap();
        self.engine.handle_unused(selection.reservation, self.now);
    }

    fn shown(&mut self, line: &str) -> Result<Vec<PersistentSession>, Fault> {
        let command = parse(line).unwrap().unwrap();
        let Self {
            config,
            engine,
            now,
        } = self;
        let listing = show(config, &command, |filter, from| {
            engine.persistence_rows(filter, from, *now)
        })?;
        assert_eq!(listing.warning, None);
        let mut rows: Vec<_> = listing
            .rows
            .into_iter()
            .map(|row| match row {
                Row::PersistentSession(session) => session,
                other => panic!("{other:?}"),
            })
            .collect();
        rows.sort_by(|a, b| (&a.vserver, &a.parameter).cmp(&(&b.vserver, &b.parameter)));
        Ok(rows)
    }

    fn parameters(&mut self, line: &str) -> Vec<String> {
        let rows = self.shown(line).unwrap();
        rows.into_iter().map(|row| row.parameter).collect()
    }

    fn cleared(&mut self, line: &str) -> Result<u64, Fault> {
        let command = parse(line).unwrap().unwrap();
        let Self {
            config,
            engine,
            now,
        } = self;
        clear(config, &command, |vserver, key| {
            engine.clear_persistence(vserver, key, *now)
        })
    }
}

fn session(kind: &str, vserver: &str, service: &str, timeout_s: u64) -> PersistentSession {
    PersistentSession {
        persistence_type: kind.to_owned(),
        source: None,
        destination: None,
        vserver: vserver.to_owned(),
        service: service.to_owned(),
        timeout_s,
        parameter: String::new(),
    }
}

#[test]
fn sessions_are_shown_with_what_tells_them_apart_and_what_is_left() {
    let mut world = World::new();
    world.visit("v1", [192, 0, 2, 1]);
    world.visit("v1", [192, 0, 2, 2]);
    world.visit("v2", [192, 0, 2, 1]);
    world.visit("v3", [192, 0, 2, 1]);
    let text = |text: &str| Some(text.to_owned());
    let first = PersistentSession {
        source: text("192.0.2.1"),
        parameter: "192.0.2.1".to_owned(),
        ..session("SOURCEIP", "v1", "s1", 120)
    };
    let second = PersistentSession {
        source: text("192.0.2.2"),
        parameter: "192.0.2.2".to_owned(),
        ..session("SOURCEIP", "v1", "s2", 120)
    };
    let both = PersistentSession {
        source: text("192.0.2.1"),
        destination: text("10.0.0.10"),
        parameter: "192.0.2.1,10.0.0.10".to_owned(),
        ..session("SRCIPDESTIP", "v2", "s1", 300)
    };
    let dialled = PersistentSession {
        destination: text("10.0.0.10"),
        parameter: "10.0.0.10".to_owned(),
        ..session("DESTIP", "v3", "s1", 120)
    };
    let all = [first.clone(), second.clone(), both, dialled];
    assert_eq!(world.shown("show lb persistentSessions").unwrap(), all);
    let of_one = world.shown("show lb persistentSessions v1").unwrap();
    assert_eq!(of_one, [first, second]);
    assert_eq!(world.shown("show lb persistentSessions v4").unwrap(), []);

    // A begun second counts, and nothing is shown that has ended.
    world.now = world.now + Duration::from_millis(119_001);
    let left: Vec<u64> = world
        .shown("show lb persistentSessions v1")
        .unwrap()
        .iter()
        .map(|session| session.timeout_s)
        .collect();
    assert_eq!(left, [1, 1]);
    world.now = world.now + Duration::from_millis(999);
    assert_eq!(world.shown("show lb persistentSessions v1").unwrap(), []);
    assert_eq!(world.shown("show lb persistentSessions").unwrap().len(), 1);
}

#[test]
fn a_client_is_forgotten_where_it_is_one() {
    let mut world = World::new();
    for vserver in ["v1", "v2", "v3"] {
        world.visit(vserver, [10, 0, 0, 10]);
        world.visit(vserver, [192, 0, 2, 1]);
    }
    // The address is a client of v1, and what was dialled at v3.
    let line = "clear lb persistentSessions -persistenceParameter 10.0.0.10";
    assert_eq!(world.cleared(line), Ok(2));
    let rest = ["192.0.2.1", "10.0.0.10,10.0.0.10", "192.0.2.1,10.0.0.10"];
    assert_eq!(world.parameters("show lb persistentSessions"), rest);
    let line = "clear lb persistentSessions v2 -persistenceParameter 192.0.2.1,10.0.0.10";
    assert_eq!(world.cleared(line), Ok(1));
    assert_eq!(world.cleared(line), Ok(0));
    assert_eq!(world.cleared("clear lb persistentSessions v1"), Ok(1));
    assert_eq!(world.cleared("clear lb persistentSessions v4"), Ok(0));
    assert_eq!(world.cleared("clear lb persistentSessions"), Ok(1));
    assert_eq!(world.parameters("show lb persistentSessions"), [""; 0]);
}

#[test]
fn what_is_no_client_is_refused() {
    let mut world = World::new();
    let mut refused = |line: &str| world.cleared(line).unwrap_err();
    let fault = refused("clear lb persistentSessions nope");
    assert_eq!(fault.to_string(), "No such resource [vServer, nope]");
    for parameter in ["x", "1.2.3", "1.2.3.4,5.6.7.8,9.9.9.9", ",", "1.2.3.4,"] {
        let line = format!("clear lb persistentSessions -persistenceParameter {parameter}");
        let text = format!("Invalid argument value [persistenceParameter, {parameter}]");
        assert_eq!(refused(&line).to_string(), text);
    }
    let fault = refused("clear lb persistentSessions v2 -persistenceParameter 192.0.2.1");
    assert_eq!(
        fault.hints,
        ["persistenceParameter is the client's address, a comma, and the one it dialled"]
    );
    let fault = refused("clear lb persistentSessions v1 -persistenceParameter 1.1.1.1,2.2.2.2");
    assert_eq!(fault.hints, ["persistenceParameter is one address"]);
    let fault = world.shown("show lb persistentSessions nope").unwrap_err();
    assert_eq!(fault.hints, ["show lb vserver"]);
}

#[test]
fn a_listing_ends_where_it_would_fill_the_memory_and_says_so() {
    let world = World::new();
    let command = parse("show lb persistentSessions").unwrap().unwrap();
    let row = PersistenceRow {
        vserver: VserverId(1),
        kind: PersistenceKind::SourceIp,
        key: PersistenceKey {
            src: Some([192, 0, 2, 1].into()),
            dst: None,
        },
        service: sluice_balance::ServiceId(1),
        remaining: Duration::from_secs(1),
    };
    let mut parts = 0;
    let listing = show(&world.config, &command, |_, _| {
        parts += 1;
        PersistencePage {
            rows: vec![row; 100_000],
            next: Some(PersistenceCursor::default()),
        }
    });
    let listing = listing.unwrap();
    assert_eq!((parts, listing.rows.len()), (3, 262_144));
    let text = "only the first 262144 sessions are shown";
    assert_eq!(listing.warning.as_deref(), Some(text));
}
