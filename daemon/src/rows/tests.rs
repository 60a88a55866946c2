//! Every field of a row comes from where it should: each number here is a different one.

mod chains;
mod drain;
mod service_groups;
mod states;

use std::time::{Duration, UNIX_EPOCH};

use super::*;
use sluice_balance::{Engine, PersistenceStatus, RampStatus};
use sluice_command::parse;
use sluice_config::plan_line;
use sluice_protocol::{
    BoundService, BoundStat, GroupMember, GroupRow, PersistenceStat, ServerRow, ServerService,
    ServiceRow, ServiceStat, TcpInline, VserverRow, VserverStat,
};

/// What connections say of a service that has had none.
fn watched() -> Option<TcpInline> {
    Some(TcpInline {
        state: text("UP"),
        on_trial: false,
        reason: None,
        trial_ms: None,
        connections: 0,
        failed_total: 0,
        failed_current: 0,
        failed_lately: 0,
        sample: 0,
        times_down: 0,
        last_response: None,
        last_response_age_ms: None,
    })
}

/// A configuration and what the core says of it.
struct World {
    config: Config,
    engine: Engine,
}

impl World {
    fn new() -> Self {
        let mut world = Self {
            config: Config::new(),
            engine: Engine::new(),
        };
        for line in [
            "add server h1 10.0.0.1 -comment \"first host\"",
            "add server h2 2001:db8::2 -state DISABLED",
            "add service s1 h1 TCP 8001",
            "add service s2 h1 TCP 8002",
            "add service s3 h2 TCP 8003",
            "add lb vserver v1 TCP 127.0.0.1 9000 -lbMethod LEASTBANDWIDTH",
            "add lb vserver v2 UDP",
            "bind lb vserver v1 s2 -weight 3",
            "bind lb vserver v1 s3 -weight 2",
            "add lb group g1 -persistenceType SOURCEIP -timeout 9",
            "bind lb group g1 v2 v1",
            "add lb group g2",
        ] {
            world.run(line);
        }
        world
    }

    fn run(&mut self, line: &str) {
        let plan = plan_line(&self.config, line).unwrap().unwrap();
        for change in &plan.changes {
            self.engine.apply(change, at_ms(1_000));
        }
        self.config.commit(plan);
    }

    /// The snapshot with numbers in place of the zeros of a core without traffic.
    fn snapshot(&mut self) -> Snapshot {
        let mut snapshot = self.engine.snapshot(at_ms(5_000));
        for (status, base) in snapshot.services.iter_mut().zip([100, 200, 300]) {
            status.since = at_ms(3_500);
            status.active = base + 1;
            status.hits = base + 2;
            status.hits_per_s = base + 3;
            status.bytes_in = base + 4;
            status.bytes_out = base + 5;
            status.bytes_in_per_s = base + 6;
            status.bytes_out_per_s = base + 7;
            status.packets_in = base + 8;
            status.packets_out = base + 9;
            status.window_bytes = base + 10;
            status.window_packets = base + 11;
            status.connect_failures = base + 12;
            status.service_resets = base + 13;
            status.client_resets = base + 14;
            status.idle_closes = base + 15;
            status.local_failures = base + 20;
            status.service_closes = base + 16;
            status.response_time = Some(Duration::from_micros(base + 17));
            status.longest_wait = Some(Duration::from_micros(base + 18));
            status.recent_failures = base + 19;
            status.stands_behind = true;
        }
        let first = &mut snapshot.vservers[0];
        first.since = at_ms(4_000);
        first.active = 401;
        first.hits = 402;
        first.hits_per_s = 403;
        first.refused = 404;
        first.aborted = 499;
        first.down_backup_hits = 416;
        first.spillover_hits = 417;
        first.bytes_in = 405;
        first.bytes_out = 406;
        first.bytes_in_per_s = 407;
        first.bytes_out_per_s = 408;
        first.packets_in = 409;
        first.packets_out = 410;
        first.persistence = Some(PersistenceStatus {
            entries: 413,
            limit: 414,
            overflows: 415,
        });
        first.bindings[0].hits = 411;
        first.bindings[0].active = 412;
        first.bindings[0].ramp = Some(RampStatus {
            unit: RampUnit::Percent,
            limit: 50,
            chosen: 421,
            requests: 422,
            since: at_ms(4_500),
            next_step: Some(at_ms(6_500)),
            end: None,
        });
        snapshot
    }

    fn rows(&mut self, line: &str) -> Result<Vec<Row>, Fault> {
        let snapshot = self.snapshot();
        let wall = UNIX_EPOCH + Duration::from_secs(1_000);
        let view = View::new(&self.config, &snapshot, at_ms(5_000), wall);
        view.rows(&parse(line).unwrap().unwrap())
    }
}

fn at_ms(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

/// That of the first binding of the snapshot.
fn slow_start() -> SlowStart {
    SlowStart {
        limit: 50,
        unit: text("PERCENT"),
        requests: 421,
        requests_total: 422,
        age_ms: 500,
        next_step_ms: Some(1_500),
        end_ms: None,
    }
}

fn text(word: &str) -> String {
    word.to_owned()
}

#[test]
fn show_server_lists_all_and_one_with_its_services() {
    let mut world = World::new();
    let first = ServerRow {
        name: text("h1"),
        address: text("10.0.0.1"),
        state: text("ENABLED"),
        comment: Some(text("first host")),
        services: Vec::new(),
    };
    let second = ServerRow {
        name: text("h2"),
        address: text("2001:db8::2"),
        state: text("DISABLED"),
        comment: None,
        services: Vec::new(),
    };
    assert_eq!(
        world.rows("show server").unwrap(),
        [Row::Server(first), Row::Server(second.clone())]
    );

    let service = ServerService {
        name: text("s3"),
        address: text("2001:db8::2"),
        port: text("8003"),
        service_type: text("TCP"),
        state: text("OUT OF SERVICE"),
        drain: None,
    };
    let detailed = ServerRow {
        services: vec![service],
        ..second
    };
    assert_eq!(
        world.rows("show server h2").unwrap(),
        [Row::Server(detailed)]
    );
}

#[test]
fn show_service_gives_state_age_and_options_in_force() {
    let mut world = World::new();
    let rows = world.rows("show service s2").unwrap();
    let [Row::Service(row)] = rows.as_slice() else {
        panic!("{rows:?}");
    };
    assert_eq!(
        row.settings.get("svrTimeout").map(String::as_str),
        Some("9000")
    );
    assert_eq!(
        row.clone(),
        ServiceRow {
            name: text("s2"),
            server: text("h1"),
            address: text("10.0.0.1"),
            port: text("8002"),
            service_type: text("TCP"),
            state: text("UP"),
            state_change_unix_ms: 998_500,
            state_age_ms: 1_500,
            drain: None,
            tcp_inline: watched(),
            settings: row.settings.clone(),
        }
    );
    assert_eq!(world.rows("show service").unwrap().len(), 3);
}

#[test]
fn show_lb_vserver_has_its_services_only_when_named() {
    let mut world = World::new();
    let bound = |name: &str, address: &str, port: &str, state: &str, weight| BoundService {
        name: text(name),
        address: text(address),
        port: text(port),
        service_type: text("TCP"),
        state: text(state),
        weight,
        order: None,
        standby: false,
        slow_start: None,
    };
    let rows = world.rows("show lb vserver v1").unwrap();
    let [Row::Vserver(row)] = rows.as_slice() else {
        panic!("{rows:?}");
    };
    assert_eq!(
        row.settings.get("lbMethod").map(String::as_str),
        Some("LEASTBANDWIDTH")
    );
    assert_eq!(row.settings["timeout"], "9", "that of the group");
    let detailed = VserverRow {
        name: text("v1"),
        address: text("127.0.0.1"),
        port: text("9000"),
        service_type: text("TCP"),
        state: text("UP"),
        effective_state: text("UP"),
        held_down: false,
        spilling_over: false,
        active_order: None,
        state_change_unix_ms: 999_000,
        state_age_ms: 1_000,
        services_total: 2,
        services_active: 1,
        settings: row.settings.clone(),
        group: Some(text("g1")),
        startup: None,
        bound: Some(vec![
            BoundService {
                slow_start: Some(slow_start()),
                ..bound("s2", "10.0.0.1", "8002", "UP", 3)
            },
            bound("s3", "2001:db8::2", "8003", "OUT OF SERVICE", 2),
        ]),
        bound_groups: Some(Vec::new()),
    };
    assert_eq!(*row, detailed);

    let all = world.rows("show lb vserver").unwrap();
    let [Row::Vserver(first), Row::Vserver(second)] = all.as_slice() else {
        panic!("{all:?}");
    };
    assert_eq!(
        *first,
        VserverRow {
            bound: None,
            bound_groups: None,
            ..detailed
        }
    );
    assert_eq!(
        (
            second.address.as_str(),
            second.port.as_str(),
            second.state.as_str()
        ),
        ("0.0.0.0", "0", "DOWN")
    );
}

fn stat(name: &str, port: &str, base: u64) -> ServiceStat {
    ServiceStat {
        name: text(name),
        address: text("10.0.0.1"),
        port: text(port),
        service_type: text("TCP"),
        state: text("UP"),
        active: base + 1,
        hits: base + 2,
        hits_per_s: base + 3,
        request_bytes: base + 4,
        response_bytes: base + 5,
        request_bytes_per_s: base + 6,
        response_bytes_per_s: base + 7,
        packets_received: base + 8,
        packets_sent: base + 9,
        window_bytes: base + 10,
        window_packets: base + 11,
        connect_failures: base + 12,
        service_resets: base + 13,
        client_resets: base + 14,
        idle_closes: base + 15,
        local_failures: base + 20,
        service_closes: base + 16,
        response_time_us: Some(base + 17),
        longest_wait_us: Some(base + 18),
        recent_failures: base + 19,
        stands_behind: true,
        tcp_inline: watched(),
    }
}

#[test]
fn stat_service_and_stat_server_give_each_counter_its_field() {
    let mut world = World::new();
    let first = Row::ServiceStat(stat("s1", "8001", 100));
    let second = Row::ServiceStat(stat("s2", "8002", 200));
    assert_eq!(
        world.rows("stat service s2").unwrap(),
        std::slice::from_ref(&second)
    );
    assert_eq!(world.rows("stat server h1").unwrap(), [first, second]);
    assert_eq!(
        world.rows("stat server").unwrap(),
        world.rows("stat service").unwrap()
    );
    let rows = world.rows("stat service s3").unwrap();
    let [Row::ServiceStat(disabled)] = rows.as_slice() else {
        panic!("{rows:?}");
    };
    assert_eq!(disabled.state, "OFS");
}

#[test]
fn stat_lb_vserver_gives_each_counter_its_field_and_health_by_weight() {
    let mut world = World::new();
    let bound = |name: &str, address: &str, port: &str, state: &str, weight| BoundStat {
        name: text(name),
        address: text(address),
        port: text(port),
        service_type: text("TCP"),
        state: text(state),
        weight,
        order: None,
        standby: false,
        hits: 0,
        active: 0,
        window_bytes: 310,
        window_packets: 311,
        slow_start: None,
    };
    let expected = VserverStat {
        name: text("v1"),
        address: text("127.0.0.1"),
        port: text("9000"),
        service_type: text("TCP"),
        state: text("UP"),
        health: 60,
        services_active: 1,
        services_inactive: 1,
        active: 401,
        hits: 402,
        hits_per_s: 403,
        refused: 404,
        aborted: 499,
        held_down: false,
        spilling_over: false,
        spillover_threshold: 0,
        spillover_hits: 417,
        down_backup_hits: 416,
        request_bytes: 405,
        response_bytes: 406,
        request_bytes_per_s: 407,
        response_bytes_per_s: 408,
        packets_received: 409,
        packets_sent: 410,
        persistence: Some(PersistenceStat {
            sessions: 413,
            sessions_max: 414,
            table_full: 415,
        }),
        bound: Some(vec![
            BoundStat {
                hits: 411,
                active: 412,
                window_bytes: 210,
                window_packets: 211,
                slow_start: Some(slow_start()),
                ..bound("s2", "10.0.0.1", "8002", "UP", 3)
            },
            bound("s3", "2001:db8::2", "8003", "OFS", 2),
        ]),
    };
    assert_eq!(
        world.rows("stat lb vserver v1").unwrap(),
        [Row::VserverStat(expected)]
    );
    let all = world.rows("stat lb vserver").unwrap();
    let [Row::VserverStat(_), Row::VserverStat(empty)] = all.as_slice() else {
        panic!("{all:?}");
    };
    assert_eq!((empty.health, empty.bound.as_ref()), (0, None));
    let shared = empty
        .persistence
        .as_ref()
        .map(|persistence| persistence.sessions_max);
    assert_eq!(shared, Some(150_000));
}

#[test]
fn show_lb_group_has_its_virtual_servers_only_when_named() {
    let mut world = World::new();
    let member =
        |name: &str, address: &str, port: &str, service_type: &str, state: &str| GroupMember {
            name: text(name),
            address: text(address),
            port: text(port),
            service_type: text(service_type),
            state: text(state),
        };
    let named = GroupRow {
        name: text("g1"),
        settings: world.config.group("g1").unwrap().options(),
        members_total: 2,
        members: Some(vec![
            member("v2", "0.0.0.0", "0", "UDP", "DOWN"),
            member("v1", "127.0.0.1", "9000", "TCP", "UP"),
        ]),
    };
    let rows = world.rows("show lb group g1").unwrap();
    assert_eq!(rows, [Row::Group(named.clone())]);
    let all = world.rows("show lb group").unwrap();
    let [first, Row::Group(second)] = all.as_slice() else {
        panic!("{all:?}");
    };
    let listed = GroupRow {
        members: None,
        ..named
    };
    assert_eq!(*first, Row::Group(listed));
    assert_eq!((&*second.name, second.members_total), ("g2", 0));
}

#[test]
fn show_lb_parameter_gives_options_and_the_persistence_of_all() {
    let world = World::new();
    let totals = PersistenceTotals {
        entries: 501,
        limit: 502,
        overflows: 503,
    };
    let expected = ParameterRow {
        settings: world.config.parameter_options(),
        persistence: PersistenceStat {
            sessions: 501,
            sessions_max: 502,
            table_full: 503,
        },
    };
    assert_eq!(parameter(&world.config, totals), Row::Parameter(expected));
}

#[test]
fn a_name_that_does_not_exist_is_named_in_the_refusal() {
    let mut world = World::new();
    for line in [
        "show server",
        "show service",
        "show lb vserver",
        "show lb group",
        "stat server",
        "stat service",
    ] {
        let refused = world.rows(&format!("{line} nope")).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "No such resource [name, nope]",
            "{line}"
        );
    }
}

#[test]
fn an_empty_configuration_has_no_rows() {
    let config = Config::new();
    let snapshot = Snapshot::default();
    let view = View::new(&config, &snapshot, at_ms(0), UNIX_EPOCH);
    let command = parse("stat lb vserver").unwrap().unwrap();
    assert_eq!(view.rows(&command), Ok(Vec::new()));
}
