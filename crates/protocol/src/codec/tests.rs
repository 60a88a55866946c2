//! Every message survives the wire; nothing hostile gets further than an error.

mod connection;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;
use sluice_command::{Arg, Command, Fault, FaultKind, Key, Noun, Value, Verb};

use super::*;
use crate::{
    BoundService, BoundStat, ConfigStatus, Drain, DrainClient, ExplainOutcome, ExplainService,
    ExplainVserver, GroupMember, GroupRow, Hello, ParameterRow, PersistenceStat, PersistentSession,
    Reply, Request, Row, ServerRow, ServerService, ServiceRow, ServiceStat, SlowStart,
    StartupRoundRobin, TcpInline, VERSION, VserverRow, VserverStat,
};

fn round_trip<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(message: &T) {
    let body = encode(message).unwrap();
    assert_eq!(&decode::<T>(&body).unwrap(), message);
    assert_trimmed_body_fails::<T>(&body);
    let mut longer = body.clone();
    longer.push(0);
    match decode::<T>(&longer) {
        Err(DecodeError::Trailing { used, trailing }) => {
            assert_eq!((used, trailing), (body.len(), 1));
        }
        other => panic!("a trailing byte must be refused, got {other:?}"),
    }
}

fn assert_trimmed_body_fails<T: DeserializeOwned + std::fmt::Debug>(body: &[u8]) {
    for length in 0..body.len() {
        let result = decode::<T>(&body[..length]);
        assert!(
            matches!(result, Err(DecodeError::Codec { .. })),
            "{length} of {} bytes gave {result:?}",
            body.len()
        );
    }
}

fn command() -> Command {
    let values = vec![
        Value::Text("s 1".to_owned()),
        Value::Integer(u64::MAX),
        Value::Address(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1))),
        Value::Address(IpAddr::V6(Ipv6Addr::LOCALHOST)),
        Value::AnyAddress,
        Value::Port(65535),
        Value::AnyPort,
        Value::Choice("ENABLED".to_owned()),
    ];
    let args = vec![
        Arg {
            key: Key::Name,
            values,
        },
        Arg {
            key: Key::DevNo,
            values: Vec::new(),
        },
    ];
    Command {
        verb: Verb::Add,
        noun: Noun::LbVserver,
        args,
    }
}

#[test]
fn hello_and_requests_survive_the_wire() {
    round_trip(&Hello {
        version: VERSION,
        product: "0.1.0".to_owned(),
    });
    round_trip(&Request::Run(command()));
    round_trip(&Request::Names(Noun::Service));
}

#[test]
fn replies_without_a_row_survive_the_wire() {
    round_trip(&Reply::Warning("-cip has no effect".to_owned()));
    round_trip(&Reply::Done);
    round_trip(&Reply::Error(Fault {
        code: 258,
        text: "No such resource".to_owned(),
        details: Some("name, nope".to_owned()),
        hints: vec!["show service".to_owned()],
        kind: FaultKind::Missing,
    }));
}

#[test]
fn every_kind_of_row_survives_the_wire() {
    for row in rows() {
        round_trip(&Reply::Row(Box::new(row)));
    }
}

fn rows() -> Vec<Row> {
    vec![
        Row::Name("s1".to_owned()),
        Row::Line("add server s1 10.0.0.1".to_owned()),
        Row::Server(server_row()),
        Row::Service(service_row()),
        Row::Vserver(vserver_row()),
        Row::ServiceStat(service_stat()),
        Row::VserverStat(vserver_stat()),
        Row::Group(GroupRow {
            name: "g1".to_owned(),
            settings: settings(),
            members_total: 1,
            members: Some(vec![GroupMember {
                name: "v1".to_owned(),
                address: "10.0.0.9".to_owned(),
                port: "80".to_owned(),
                service_type: "TCP".to_owned(),
                state: "UP".to_owned(),
            }]),
        }),
        Row::PersistentSession(PersistentSession {
            persistence_type: "SOURCEIP".to_owned(),
            source: Some("192.0.2.1".to_owned()),
            destination: None,
            vserver: "v1".to_owned(),
            service: "s1".to_owned(),
            timeout_s: 120,
            parameter: "192.0.2.1".to_owned(),
        }),
        connection::row(),
        Row::ExplainVserver(ExplainVserver {
            vserver: "v1".to_owned(),
            verdict: "SERVES".to_owned(),
            method: "LEASTCONNECTION".to_owned(),
            persistence: None,
            rule: Some("persistence".to_owned()),
            unit: None,
        }),
        Row::ExplainService(ExplainService {
            service: "s1".to_owned(),
            state: "UP".to_owned(),
            weight: 1,
            order: Some(2),
            value: Some(u64::MAX),
            value_for_weight: None,
            stands_behind: true,
            slow_start: None,
            excluded: vec!["disabled".to_owned()],
            next: false,
        }),
        Row::ExplainOutcome(ExplainOutcome {
            outcome: "UNKNOWN".to_owned(),
            vserver: Some("v1".to_owned()),
            service: None,
            diversion: None,
            refusal: None,
            missing: vec!["-srcIP".to_owned()],
            assumed_without: Vec::new(),
        }),
        Row::Profile(crate::ProfileRow {
            name: "p".to_owned(),
            settings: [("nagle".to_owned(), "ENABLED".to_owned())].into(),
        }),
        Row::Parameter(ParameterRow {
            settings: settings(),
            persistence: persistence_stat(),
        }),
        Row::Config(ConfigStatus {
            path: "/etc/sluice/ns.conf".to_owned(),
            system_unix_ms: 1,
            changed_unix_ms: Some(2),
            saved_unix_ms: None,
            unsaved: true,
            boot_failures: vec!["ns.conf:3: ERROR: No such command".to_owned()],
            skipped: [("cs vserver".to_owned(), u64::MAX)].into(),
            provisional_s: Some(u64::MAX),
            not_undone: vec!["not undone: x".to_owned()],
        }),
    ]
}

fn persistence_stat() -> PersistenceStat {
    PersistenceStat {
        sessions: 12,
        sessions_max: 13,
        table_full: 14,
    }
}

fn server_row() -> ServerRow {
    ServerRow {
        name: "web01".to_owned(),
        address: "10.0.0.1".to_owned(),
        state: "ENABLED".to_owned(),
        comment: Some("first site".to_owned()),
        services: vec![ServerService {
            name: "s1".to_owned(),
            address: "10.0.0.1".to_owned(),
            port: "80".to_owned(),
            service_type: "TCP".to_owned(),
            state: "UP".to_owned(),
            drain: None,
        }],
    }
}

fn settings() -> BTreeMap<String, String> {
    BTreeMap::from([("cltTimeout".to_owned(), "9000".to_owned())])
}

fn service_row() -> ServiceRow {
    ServiceRow {
        name: "s1".to_owned(),
        server: "web01".to_owned(),
        address: "10.0.0.1".to_owned(),
        port: "80".to_owned(),
        service_type: "TCP".to_owned(),
        state: "UP".to_owned(),
        state_change_unix_ms: 1_700_000_000_000,
        state_age_ms: 12,
        drain: Some(Drain {
            graceful: true,
            age_ms: 1,
            left_ms: Some(u64::MAX),
            clients: 2,
            last_client_ms: None,
            oldest: None,
            idlest: Some(DrainClient {
                address: "192.0.2.1:1".to_owned(),
                age_ms: 3,
                idle_ms: 2,
            }),
        }),
        tcp_inline: Some(TcpInline {
            state: "DOWN".to_owned(),
            on_trial: false,
            reason: Some("9 failures in a row".to_owned()),
            trial_ms: Some(7_001),
            connections: 412,
            failed_total: 11,
            failed_current: 0,
            failed_lately: 2,
            sample: 100,
            times_down: 1,
            last_response: Some("Failure - TCP connection failed".to_owned()),
            last_response_age_ms: Some(2_999),
        }),
        settings: settings(),
    }
}

fn vserver_row() -> VserverRow {
    VserverRow {
        name: "v1".to_owned(),
        address: "0.0.0.0".to_owned(),
        port: "0".to_owned(),
        service_type: "UDP".to_owned(),
        state: "DOWN".to_owned(),
        effective_state: "UP".to_owned(),
        held_down: false,
        spilling_over: false,
        active_order: None,
        state_change_unix_ms: 5,
        state_age_ms: 6,
        services_total: 2,
        services_active: 1,
        settings: settings(),
        group: Some("g1".to_owned()),
        startup: Some(StartupRoundRobin {
            reason: "A new service is bound".to_owned(),
            requests_left: 7,
        }),
        bound: Some(vec![BoundService {
            name: "s1".to_owned(),
            address: "10.0.0.1".to_owned(),
            port: "80".to_owned(),
            service_type: "UDP".to_owned(),
            state: "OUT OF SERVICE".to_owned(),
            weight: 100,
            order: None,
            standby: false,
            slow_start: None,
        }]),
        bound_groups: Some(Vec::new()),
    }
}

fn service_stat() -> ServiceStat {
    ServiceStat {
        name: "s1".to_owned(),
        address: "10.0.0.1".to_owned(),
        port: "80".to_owned(),
        service_type: "TCP".to_owned(),
        state: "OFS".to_owned(),
        active: 1,
        hits: 2,
        hits_per_s: 3,
        request_bytes: 4,
        request_bytes_per_s: 5,
        response_bytes: u64::MAX,
        response_bytes_per_s: 7,
        packets_received: 8,
        packets_sent: 9,
        window_bytes: 10,
        window_packets: 11,
        connect_failures: 12,
        service_resets: 13,
        client_resets: 14,
        idle_closes: 15,
        local_failures: 20,
        service_closes: 16,
        response_time_us: Some(12_345),
        longest_wait_us: None,
        recent_failures: 17,
        stands_behind: true,
        tcp_inline: None,
    }
}

fn vserver_stat() -> VserverStat {
    VserverStat {
        name: "v1".to_owned(),
        address: "10.0.0.9".to_owned(),
        port: "80".to_owned(),
        service_type: "TCP".to_owned(),
        state: "UP".to_owned(),
        health: 50,
        services_active: 1,
        services_inactive: 1,
        active: 2,
        hits: 3,
        hits_per_s: 4,
        refused: 5,
        aborted: 6,
        held_down: false,
        spilling_over: false,
        spillover_threshold: 0,
        spillover_hits: 0,
        down_backup_hits: 0,
        request_bytes: 6,
        request_bytes_per_s: 7,
        response_bytes: 8,
        response_bytes_per_s: 9,
        packets_received: 10,
        packets_sent: 11,
        persistence: Some(persistence_stat()),
        bound: Some(vec![BoundStat {
            name: "s1".to_owned(),
            address: "10.0.0.1".to_owned(),
            port: "80".to_owned(),
            service_type: "TCP".to_owned(),
            state: "UP".to_owned(),
            weight: 3,
            order: None,
            standby: false,
            hits: 4,
            active: 5,
            window_bytes: 6,
            window_packets: 7,
            slow_start: Some(SlowStart {
                limit: 50,
                unit: "PERCENT".to_owned(),
                requests: 12,
                requests_total: 340,
                age_ms: 7_000,
                next_step_ms: Some(3_000),
                end_ms: None,
            }),
        }]),
    }
}

#[test]
fn a_claimed_length_of_two_to_the_63_is_an_error_and_allocates_nothing() {
    // 253 announces a u64: the length of a text, a list, or a map.
    let mut bomb = vec![253];
    bomb.extend_from_slice(&(1_u64 << 63).to_le_bytes());
    assert_eq!(bomb.len(), 9);
    assert!(matches!(
        decode::<String>(&bomb),
        Err(DecodeError::Codec { .. })
    ));
    assert!(matches!(
        decode::<Vec<u8>>(&bomb),
        Err(DecodeError::Codec { .. })
    ));
    assert!(matches!(
        decode::<Vec<String>>(&bomb),
        Err(DecodeError::Codec { .. })
    ));
    assert!(matches!(
        decode::<BTreeMap<String, String>>(&bomb),
        Err(DecodeError::Codec { .. })
    ));
    for variant in 0..4 {
        let mut message = vec![variant];
        message.extend_from_slice(&bomb);
        assert!(decode::<Reply>(&message).is_err());
        assert!(decode::<Request>(&message).is_err());
        assert!(decode::<Hello>(&message).is_err());
    }
}

#[test]
fn a_message_that_just_fits_is_carried_and_one_byte_more_is_refused() {
    // A variant byte and five bytes of length stand before the text.
    let text = "x".repeat(FRAME_MAX - 6);
    let message = Reply::Warning(text.clone());
    let frame = frame(&message).unwrap();
    assert_eq!(frame.len(), FRAME_MAX + 4);
    let mut buffer = FrameBuffer::new();
    buffer.push(&frame);
    let body = buffer.next().unwrap().unwrap();
    assert_eq!(decode::<Reply>(&body).unwrap(), message);

    match encode(&Reply::Warning(text + "x")) {
        Err(EncodeError::TooLong { length }) => assert_eq!(length, FRAME_MAX + 1),
        other => panic!("must be refused, got {other:?}"),
    }
}

#[test]
fn a_full_frame_of_the_smallest_numbers_decodes() {
    let numbers = vec![1_u64; FRAME_MAX - 5];
    let body = encode(&numbers).unwrap();
    assert_eq!(body.len(), FRAME_MAX);
    assert_eq!(decode::<Vec<u64>>(&body).unwrap(), numbers);
}

#[test]
fn frames_come_out_whole_however_the_stream_is_cut() {
    let messages = [
        Reply::Warning("one".to_owned()),
        Reply::Row(Box::new(Row::Name("two".to_owned()))),
        Reply::Done,
    ];
    let mut stream = Vec::new();
    for message in &messages {
        stream.extend_from_slice(&frame(message).unwrap());
    }
    for size in 1..=stream.len() {
        let mut buffer = FrameBuffer::new();
        let mut seen = Vec::new();
        for chunk in stream.chunks(size) {
            buffer.push(chunk);
            while let Some(body) = buffer.next().unwrap() {
                seen.push(decode::<Reply>(&body).unwrap());
            }
        }
        assert_eq!(seen, messages, "cut into chunks of {size}");
        assert!(buffer.is_empty());
    }
}

#[test]
fn a_hostile_length_is_refused_at_its_fourth_byte_and_for_good() {
    let too_long = u32::try_from(FRAME_MAX).unwrap() + 1;
    for (length, error) in [
        (0, FrameError::Empty),
        (too_long, FrameError::TooLong { length: too_long }),
        (u32::MAX, FrameError::TooLong { length: u32::MAX }),
    ] {
        let mut buffer = FrameBuffer::new();
        let prefix: [u8; 4] = length.to_be_bytes();
        buffer.push(&prefix[..3]);
        assert_eq!(buffer.next(), Ok(None));
        buffer.push(&prefix[3..]);
        assert_eq!(buffer.next(), Err(error));
        buffer.push(&frame(&Reply::Done).unwrap());
        assert_eq!(buffer.next(), Err(error));
        assert_eq!(buffer.bytes.capacity(), 0);
    }
}

#[test]
fn a_claimed_body_reserves_nothing_before_it_arrives() {
    let mut buffer = FrameBuffer::new();
    buffer.push(&u32::try_from(FRAME_MAX).unwrap().to_be_bytes());
    assert_eq!(buffer.next(), Ok(None));
    assert!(buffer.bytes.capacity() < 64);
    assert!(!buffer.is_empty());
}

#[test]
fn a_long_frame_does_not_keep_its_memory() {
    let mut buffer = FrameBuffer::new();
    buffer.push(&frame(&Reply::Warning("x".repeat(FRAME_MAX / 2))).unwrap());
    assert!(buffer.next().unwrap().is_some());
    assert!(buffer.bytes.capacity() <= KEEP);
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = decode::<Hello>(&bytes);
        let _ = decode::<Request>(&bytes);
        let _ = decode::<Reply>(&bytes);
        let mut buffer = FrameBuffer::new();
        buffer.push(&bytes);
        while let Ok(Some(body)) = buffer.next() {
            let _ = decode::<Reply>(&body);
        }
    }

    #[test]
    fn a_damaged_message_never_panics(at in 0_usize..4096, byte in any::<u8>()) {
        for row in rows() {
            let mut body = encode(&Reply::Row(Box::new(row))).unwrap();
            let at = at % body.len();
            body[at] = byte;
            let _ = decode::<Reply>(&body);
        }
        let mut body = encode(&Request::Run(command())).unwrap();
        let at = at % body.len();
        body[at] = byte;
        let _ = decode::<Request>(&body);
    }
}
