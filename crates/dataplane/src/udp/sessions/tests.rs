//! The table without a worker: its bound, one session a key, and the end of a session.

use sluice_balance::{
    Backup, Bind, Change, Engine, FlowKey, HashSettings, Method, Orders, Percent, Protocol,
    ServiceId, ServiceSettings, SlowStart, VserverSettings, Weight,
};

use super::*;

const VSERVER: VserverId = VserverId(1);

const fn at(milliseconds: u64) -> Instant {
    Instant::from_nanos(milliseconds * 1_000_000)
}

fn key(port: u16) -> SessionKey {
    SessionKey {
        vserver: VSERVER,
        client: ([192, 0, 2, 7], port).into(),
        dialled: ([127, 0, 0, 1], 53).into(),
    }
}

/// A selection of the only service of the only virtual server.
fn selection() -> Selection {
    let mut engine = Engine::new();
    let service = ServiceId(1);
    let address = ([127, 0, 0, 1], 9).into();
    for change in [
        Change::AddService(
            service,
            ServiceSettings {
                protocol: Protocol::Udp,
                address,
                enabled: true,
                max_client: None,
                max_bandwidth: None,
                hash_id: None,
                health_monitor: true,
                monitor_threshold: 0,
                is_one_way: false,
                idle: None,
                flush_on_down: true,
            },
        ),
        Change::AddVserver(
            VSERVER,
            VserverSettings {
                protocol: Protocol::Udp,
                listen: None,
                enabled: true,
                method: Method::RoundRobin,
                hash: HashSettings::default(),
                idle: None,
                flush_on_down: true,
                health_threshold: Percent::ZERO,
                backup: Backup::default(),
                orders: Orders::default(),
                slow_start: SlowStart::default(),
                persistence: None,
            },
        ),
        Change::Bind(Bind {
            vserver: VSERVER,
            service,
            weight: Weight::DEFAULT,
            order: None,
        }),
    ] {
        engine.apply(&change, at(0));
    }
    let flow = FlowKey {
        src: address,
        dst: address,
        token: None,
    };
    engine.select(VSERVER, &flow, &[], at(0)).unwrap()
}

fn sessions_within(limit: usize) -> Sessions {
    let sessions = Sessions::new(None, Arc::new(Descriptors::new(None)));
    sessions.set_limit(limit);
    sessions
}

fn session(sessions: &Sessions, now: Instant) -> Arc<Session> {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let place = sessions.claim().unwrap();
    Arc::new(Session::new(socket, &selection(), place, now))
}

#[test]
fn place_beyond_the_limit_is_refused_until_one_is_given_back() {
    let sessions = sessions_within(2);
    let first = sessions.claim().unwrap();
    let _second = sessions.claim().unwrap();
    assert!(sessions.claim().is_none());
    assert_eq!(
        (sessions.status().sessions, sessions.status().limit),
        (2, 2)
    );
    drop(first);
    assert!(sessions.claim().is_some());
}

#[test]
fn lower_limit_takes_no_place_away() {
    let sessions = sessions_within(2);
    let held = [sessions.claim().unwrap(), sessions.claim().unwrap()];
    sessions.set_limit(1);
    assert!(sessions.claim().is_none());
    assert_eq!(sessions.status().sessions, 2);
    drop(held);
    assert!(sessions.claim().is_some());
}

#[test]
fn limit_is_half_of_the_descriptors_and_has_a_ceiling() {
    assert_eq!(limit_for(Some(1024)), 512);
    assert_eq!(limit_for(Some(1_000_000)), LIMIT_MAX);
    assert_eq!(limit_for(None), LIMIT_MAX);
}

#[test]
fn second_session_of_a_key_gets_the_first() {
    let sessions = sessions_within(9);
    let (first, second) = (session(&sessions, at(0)), session(&sessions, at(0)));
    assert!(sessions.enter(key(1), &first, at(0)).is_none());
    let found = sessions.enter(key(1), &second, at(5)).unwrap();
    assert!(Arc::ptr_eq(&found, &first));
    assert_eq!(first.last_activity(), at(5));
    assert!(sessions.enter(key(2), &second, at(5)).is_none());
}

#[test]
fn workers_that_begin_one_session_at_a_time_agree_on_one() {
    let sessions = sessions_within(99);
    let made: Vec<_> = (0..8).map(|_| session(&sessions, at(0))).collect();
    let barrier = std::sync::Barrier::new(made.len());
    let agreed: Vec<_> = std::thread::scope(|scope| {
        let enter = |mine| {
            let (sessions, barrier) = (&sessions, &barrier);
            scope.spawn(move || {
                barrier.wait();
                sessions
                    .enter(key(1), mine, at(1))
                    .unwrap_or_else(|| Arc::clone(mine))
            })
        };
        let workers: Vec<_> = made.iter().map(enter).collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .collect()
    });
    assert!(
        agreed
            .iter()
            .all(|session| Arc::ptr_eq(session, &agreed[0]))
    );
    assert!(Arc::ptr_eq(
        &sessions.find(&key(1), at(2)).unwrap(),
        &agreed[0]
    ));
}

#[test]
fn session_used_meanwhile_does_not_run_out() {
    let sessions = sessions_within(9);
    let session = session(&sessions, at(0));
    let seen = session.last_activity();
    assert!(session.touch(at(7)));
    assert!(!session.end_if_unused_since(seen));
    assert!(session.touch(at(3)));
    assert_eq!(session.last_activity(), at(7), "time does not go back");
    assert!(session.end_if_unused_since(at(7)));
    assert!(!session.touch(at(8)));
}

#[test]
fn ended_session_is_not_found_and_gives_way_to_a_new_one() {
    let sessions = sessions_within(9);
    let (old, new) = (session(&sessions, at(0)), session(&sessions, at(0)));
    sessions.enter(key(1), &old, at(0));
    old.end();
    assert!(sessions.find(&key(1), at(1)).is_none());
    assert!(sessions.enter(key(1), &new, at(1)).is_none());
    // The owner of the old one removes it late.
    sessions.remove(&key(1), &old);
    assert!(Arc::ptr_eq(&sessions.find(&key(1), at(2)).unwrap(), &new));
    sessions.remove(&key(1), &new);
    assert!(sessions.find(&key(1), at(3)).is_none());
}

#[test]
fn complaint_is_logged_once_a_second_at_most() {
    let sessions = sessions_within(0);
    assert!(sessions.may_complain(at(0)));
    assert!(!sessions.may_complain(at(999)));
    assert!(sessions.may_complain(at(1_001)));
    assert!(!sessions.may_complain(at(1_500)));
}
