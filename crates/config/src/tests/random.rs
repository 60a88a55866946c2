//! Random sequences of commands: whatever is accepted can be saved and read again, and the changes
//! told to the core always add up to the configuration.

use std::collections::BTreeMap;

use proptest::prelude::*;
use sluice_balance::{
    Change, Order, PassiveSettings, ServiceId, ServiceSettings, Sockets, VserverId,
    VserverSettings, Weight,
};

use super::saved::reloaded;
use crate::{Config, plan_line};

/// What a listener of the changes knows.
#[derive(Debug, PartialEq)]
struct Told {
    sessions: u32,
    startup_factor: u32,
    passive: PassiveSettings,
    connect_tries: u8,
    services: BTreeMap<ServiceId, ServiceSettings>,
    vservers: BTreeMap<VserverId, (VserverSettings, Vec<Bound>)>,
    /// Those that are not as by default.
    service_sockets: BTreeMap<ServiceId, Sockets>,
    vserver_sockets: BTreeMap<VserverId, Sockets>,
}

fn set_sockets<K: Ord>(known: &mut BTreeMap<K, Sockets>, id: K, sockets: Sockets) -> Sockets {
    let before = if sockets == Sockets::default() {
        known.remove(&id)
    } else {
        known.insert(id, sockets)
    };
    before.unwrap_or_default()
}

/// A bound service.
type Bound = (ServiceId, Weight, Option<Order>);

impl Told {
    fn hear(&mut self, change: Change) {
        match change {
            Change::AddService(id, settings) => {
                assert_eq!(self.services.insert(id, settings), None);
            }
            Change::SetService(id, settings) => {
                let before = self.services.insert(id, settings.clone());
                assert!(before.is_some_and(|before| before != settings));
            }
            Change::DisableService(id, _) => {
                self.services.get_mut(&id).unwrap().enabled = false;
            }
            Change::RemoveService(id) => {
                let bound = self.vservers.values().flat_map(|(_, bindings)| bindings);
                assert!(bound.into_iter().all(|(service, ..)| *service != id));
                self.service_sockets.remove(&id);
                assert!(self.services.remove(&id).is_some());
            }
            Change::AddVserver(id, settings) => {
                assert_eq!(self.vservers.insert(id, (settings, Vec::new())), None);
            }
            Change::SetVserver(id, settings) => {
                let known = &mut self.vservers.get_mut(&id).unwrap().0;
                assert_ne!(*known, settings);
                *known = settings;
            }
            Change::RemoveVserver(id) => {
                self.vserver_sockets.remove(&id);
                assert!(self.vservers.remove(&id).is_some());
            }
            Change::EnableService(id) => assert!(self.services.contains_key(&id)),
            change @ (Change::AddMonitor(..)
            | Change::SetMonitor(..)
            | Change::RemoveMonitor(_)
            | Change::BindMonitor(_)
            | Change::SetMonitorBinding(_)
            | Change::UnbindMonitor(..)) => panic!("no command makes {change:?}"),
            Change::EnableVserver(id) => assert!(self.vservers.contains_key(&id)),
            Change::SetServiceSockets(id, sockets) => {
                assert!(self.services.contains_key(&id));
                let before = set_sockets(&mut self.service_sockets, id, sockets);
                assert_ne!(before, sockets);
            }
            Change::SetVserverSockets(id, sockets) => {
                assert!(self.vservers.contains_key(&id));
                let before = set_sockets(&mut self.vserver_sockets, id, sockets);
                assert_ne!(before, sockets);
            }
            Change::SetPersistenceLimit(sessions) => {
                assert_ne!(self.sessions, sessions);
                self.sessions = sessions;
            }
            Change::SetStartupFactor(factor) => {
                assert_ne!(self.startup_factor, factor);
                self.startup_factor = factor;
            }
            Change::SetPassive(passive) => {
                assert_ne!(self.passive, passive);
                self.passive = passive;
            }
            Change::SetConnectTries(tries) => {
                assert_ne!(self.connect_tries, tries);
                self.connect_tries = tries;
            }
            Change::Bind(bind) => {
                assert!(self.services.contains_key(&bind.service));
                self.bindings(bind.vserver)
                    .push((bind.service, bind.weight, bind.order));
            }
            Change::SetWeight(bind) => {
                let mut bindings = self.bindings(bind.vserver).iter_mut();
                let known = bindings.find(|(service, ..)| *service == bind.service);
                let known = known.unwrap();
                let told = (bind.service, bind.weight, bind.order);
                assert_ne!(*known, told);
                *known = told;
            }
            Change::Unbind(vserver, service) => {
                let bindings = self.bindings(vserver);
                let place = bindings.iter().position(|(bound, ..)| *bound == service);
                bindings.remove(place.unwrap());
            }
        }
    }

    fn bindings(&mut self, vserver: VserverId) -> &mut Vec<Bound> {
        &mut self.vservers.get_mut(&vserver).unwrap().1
    }

    /// Every chain of backups ends, and is there to its end.
    fn check_chains(&self) {
        for (settings, _) in self.vservers.values() {
            let mut next = settings.backup.vserver;
            let mut steps = 0;
            while let Some(id) = next {
                let backup = &self.vservers[&id].0;
                assert_eq!(backup.protocol, settings.protocol);
                steps += 1;
                assert!(steps < self.vservers.len(), "a chain is a circle");
                next = backup.backup.vserver;
            }
        }
    }

    fn of(config: &Config) -> Self {
        let services = config.services();
        let vservers = config.vservers().map(|vserver| {
            let bindings = vserver.bindings().iter();
            let bindings = bindings.map(|binding| (binding.service, binding.weight, binding.order));
            (
                vserver.id(),
                (config.core_of_vserver(vserver), bindings.collect()),
            )
        });
        Self {
            sessions: config.objects.parameter.sessions(),
            startup_factor: config.objects.parameter.startup_factor(),
            passive: config.objects.parameter.passive(),
            connect_tries: config.objects.parameter.connect_tries(),
            services: services
                .map(|service| (service.id(), config.core_of(service)))
                .collect(),
            vservers: vservers.collect(),
            service_sockets: config
                .services()
                .map(|service| (service.id(), config.sockets_of(service)))
                .filter(|(_, sockets)| *sockets != Sockets::default())
                .collect(),
            vserver_sockets: config
                .vservers()
                .map(|vserver| (vserver.id(), config.sockets_of_vserver(vserver)))
                .filter(|(_, sockets)| *sockets != Sockets::default())
                .collect(),
        }
    }
}

/// A command over few names, addresses and ports, so that many of them meet.
fn line() -> impl Strategy<Value = String> {
    let server = || prop::sample::select(vec!["h1", "h2", "\"h 3\"", "10.0.0.1", "2001:db8::1"]);
    let service = || prop::sample::select(vec!["s1", "s2", "s3", "\"s 4\"", "s_5"]);
    let vserver = || prop::sample::select(vec!["v1", "v2", "v#3", "v4"]);
    let address = || prop::sample::select(vec!["10.0.0.1", "10.0.0.2", "2001:db8::1"]);
    let listen = || prop::sample::select(vec!["", "0.0.0.0 0", "* 80", ":: 80", "10.0.0.9 80"]);
    let protocol = || prop::sample::select(vec!["TCP", "UDP"]);
    let port = || 1_u16..4;
    let switch = || prop::sample::select(vec!["enable", "disable"]);
    let server_option =
        prop::sample::select(vec!["", "-comment \"a \\\"b\\\" c\"", "-comment \"\""]);
    prop_oneof![
        3 => (server(), address(), server_option.clone(), state())
            .prop_map(|(s, a, o, state)| format!("add server {s} {a} {o} {state}")),
        4 => (service(), server(), protocol(), port(), service_option(), state())
            .prop_map(|(n, s, t, p, o, state)| format!("add service {n} {s} {t} {p} {o} {state}")),
        3 => (vserver(), protocol(), listen(), vserver_option(), state())
            .prop_map(|(v, t, l, o, state)| format!("add lb vserver {v} {t} {l} {o} {state}")),
        6 => (vserver(), service(), 1_u8..=100)
            .prop_map(|(v, s, w)| format!("bind lb vserver {v} {s} -weight {w}")),
        3 => (vserver(), service(), 1_u8..=3)
            .prop_map(|(v, s, o)| format!("bind lb vserver {v} {s} -order {o}")),
        1 => (vserver(), service(), service(), 1_u8..=3)
            .prop_map(|(v, a, b, o)| format!("set lb vserver {v} -order {o} {a} -weight {o} {b}")),
        3 => (vserver(), vserver(), protocol(), chain_option())
            .prop_map(|(v, b, t, o)| format!("add lb vserver {v} {t} -backupVServer {b} {o}")),
        4 => (vserver(), vserver(), chain_option())
            .prop_map(|(v, b, o)| format!("set lb vserver {v} -backupVServer {b} {o}")),
        3 => (vserver(), chain_option())
            .prop_map(|(v, o)| format!("set lb vserver {v} {o}")),
        1 => vserver().prop_map(|v| format!("unset lb vserver {v} -backupVServer -soMethod")),
        1 => vserver().prop_map(|v| format!("rm lb vserver {v}")),
        2 => (vserver(), service()).prop_map(|(v, s)| format!("unbind lb vserver {v} {s}")),
        1 => (vserver(), service(), 1_u8..=100)
            .prop_map(|(v, s, w)| format!("set lb vserver {v} -weight {w} {s}")),
        1 => (server(), address()).prop_map(|(s, a)| format!("set server {s} -IPAddress {a}")),
        1 => (server(), server_option).prop_map(|(s, o)| format!("set server {s} {o}")),
        1 => (service(), address()).prop_map(|(s, a)| format!("set service {s} -IPAddress {a}")),
        2 => (service(), service_option()).prop_map(|(s, o)| format!("set service {s} {o}")),
        2 => (vserver(), vserver_option()).prop_map(|(v, o)| format!("set lb vserver {v} {o}")),
        1 => service().prop_map(|s| format!("unset service {s} -maxClient -comment -usip")),
        1 => vserver().prop_map(|v| format!("unset lb vserver {v} -lbMethod -timeout -newServiceRequest")),
        1 => server().prop_map(|s| format!("rm server {s}")),
        1 => service().prop_map(|s| format!("rm service {s}")),
        1 => (vserver(), vserver()).prop_map(|(a, b)| format!("rm lb vserver {a} {b}")),
        2 => (group(), group_option()).prop_map(|(g, o)| format!("add lb group {g} {o}")),
        2 => (group(), group_option()).prop_map(|(g, o)| format!("set lb group {g} {o}")),
        1 => group().prop_map(|g| format!("unset lb group {g} -persistenceType -cookieName")),
        3 => (group(), vserver(), vserver())
            .prop_map(|(g, a, b)| format!("bind lb group {g} {a} {b}")),
        3 => (group(), vserver()).prop_map(|(g, v)| format!("bind lb group {g} {v}")),
        1 => (group(), vserver()).prop_map(|(g, v)| format!("unbind lb group {g} {v}")),
        1 => group().prop_map(|g| format!("rm lb group {g}")),
        5 => super::service_groups::line(),
        3 => super::rename::line(),
        2 => (verb_of_profile(), tcp_profile(), tcp_option())
            .prop_map(|(v, p, o)| format!("{v} ns tcpProfile {p} {o}")),
        2 => (verb_of_profile(), net_profile(), net_option())
            .prop_map(|(v, p, o)| format!("{v} netProfile {p} {o}")),
        2 => (verb_of_profile(), lb_option())
            .prop_map(|(v, o)| format!("{v} lb profile l1 {o}")),
        1 => tcp_profile().prop_map(|p| format!("unset ns tcpProfile {p} -nagle -mss -KA")),
        1 => Just("rm ns tcpProfile t1".to_owned()),
        1 => net_profile().prop_map(|p| format!("rm netProfile {p}")),
        1 => Just("rm lb profile l1".to_owned()),
        2 => (service(), tcp_profile(), net_profile())
            .prop_map(|(s, t, n)| format!("set service {s} -tcpProfileName {t} -netProfile {n}")),
        2 => (vserver(), tcp_profile(), net_profile())
            .prop_map(|(v, t, n)| format!("set lb vserver {v} -tcpProfileName {t} -netProfile {n}")),
        2 => (vserver(), net_profile())
            .prop_map(|(v, n)| format!("set lb vserver {v} -netProfile {n} -lbprofilename l1")),
        1 => service().prop_map(|s| format!("unset service {s} -tcpProfileName -netProfile")),
        1 => vserver().prop_map(|v| format!("unset lb vserver {v} -netProfile -lbprofilename")),
        1 => parameter_option().prop_map(|o| format!("set lb parameter {o}")),
        1 => Just("unset lb parameter -sessionsThreshold -usePortForHashLb".to_owned()),
        1 => (server(), leave()).prop_map(|(s, o)| format!("disable server {s} {o}")),
        1 => (service(), leave()).prop_map(|(s, o)| format!("disable service {s} {o}")),
        1 => (switch(), server()).prop_map(|(word, s)| format!("{word} server {s}")),
        1 => (switch(), service()).prop_map(|(word, s)| format!("{word} service {s}")),
        1 => (switch(), vserver()).prop_map(|(word, v)| format!("{word} lb vserver {v}")),
    ]
}

fn leave() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "60",
        "-graceFul YES",
        "0 -graceFul NO",
        "1998 -graceFul YES",
    ])
}

fn verb_of_profile() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["add", "set"])
}

fn tcp_profile() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["t1", "nstcp_default_profile", "nstcp_internal_apps"])
}

fn tcp_option() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "-nagle ENABLED",
        "-nagle DISABLED -mss 1460",
        "-KA ENABLED -KAconnIdleTime 60 -KAmaxProbes 3",
        "-WS ENABLED -flavor CUBIC -bufferSize 65536",
        "-mss 0 -bufferSize 8190 -KA DISABLED",
    ])
}

fn net_profile() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["n1", "\"n 2\""])
}

fn net_option() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "-srcIP 10.0.0.7",
        "-srcIP 2001:db8::7",
        "-MBF ENABLED",
    ])
}

fn lb_option() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "-lbHashAlgorithm PRAC",
        "-lbHashFingers 9",
        "-dbsLb ENABLED",
    ])
}

fn state() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["", "-state ENABLED", "-state DISABLED", "-devno 7"])
}

fn service_option() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "",
        "-maxClient 5",
        "-maxClient 0 -svrTimeout 9000",
        "-svrTimeout 0 -cltTimeout 120",
        "-usip YES -useproxyport NO",
        "-cip ENABLED X-Forwarded-For",
        "-downStateFlush DISABLED -comment \"#not a comment\"",
        "-CustomServerID \"\\\"None\\\"\"",
        "-appflowLog DISABLED",
        "-hashId 12",
        "-maxBandwidth 1000",
        "-accessDown YES -cacheable YES -httpProfileName p",
    ])
}

fn vserver_option() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "",
        "-lbMethod LEASTBANDWIDTH",
        "-lbMethod LEASTCONNECTION -persistenceType NONE",
        "-lbMethod SOURCEIPHASH -netmask 255.255.255.0 -v6netmasklen 64",
        "-lbMethod RANDOM -backupLBMethod LEASTPACKETS -hashLength 9",
        "-lbMethod LEASTPACKETS",
        "-lbMethod ROUNDROBIN",
        "-lbMethod ROUNDROBIN -backupLBMethod LEASTPACKETS",
        "-lbMethod LEASTRESPONSETIME",
        "-lbMethod TOKEN -dataLength 16 -dataOffset 25400",
        "-persistenceType SOURCEIP -timeout 60",
        "-persistenceType COOKIEINSERT -timeout 0 -persistenceBackup SOURCEIP",
        "-persistenceType SSLSESSION -backupPersistenceTimeout 9",
        "-lbMethod URLHASH -backupLBMethod LEASTBANDWIDTH",
        "-lbMethod TOKEN -rule CLIENT.TCP.PAYLOAD(4)",
        "-m MAC -RHIstate ACTIVE -redirectFromPort 80 -insertVserverIPPort VIPADDR hdr",
        "-probeProtocol TCP -probePort 0 -ipset a -Listenpolicy NONE -connfailover STATEFUL",
        "-persistenceType SRCIPDESTIP -persistMask 255.255.255.0 -v6persistmasklen 64",
        "-timeout 5 -skippersistency Bypass -trofsPersistence DISABLED",
        "-cltTimeout 0",
        "-cltTimeout 120",
        "-newServiceRequest 25 PERCENT -newServiceRequestIncrementInterval 5",
        "-newServiceRequest 4",
        "-newServiceRequestUnit PERCENT",
        "-downStateFlush DISABLED -comment q{a \"b\"}",
    ])
}

fn chain_option() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "",
        "-disablePrimaryOnDown ENABLED",
        "-soMethod CONNECTION -soThreshold 9 -soPersistence ENABLED -soPersistenceTimeOut 60",
        "-soMethod CONNECTION",
        "-soMethod DYNAMICCONNECTION -soBackupAction ACCEPT",
        "-soMethod BANDWIDTH -soThreshold 100000 -soBackupAction REDIRECT",
        "-soMethod HEALTH -soThreshold 50",
        "-soMethod NONE -soBackupAction DROP",
        "-soThreshold 7",
        "-healthThreshold 40 -toggleOrder DESCENDING",
        "-orderThreshold 2",
    ])
}

fn group() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["g1", "\"g 2\""])
}

fn group_option() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "-persistenceType SOURCEIP",
        "-persistenceType SOURCEIP -timeout 9 -persistMask 255.0.0.0",
        "-persistenceType NONE -v6persistmasklen 64",
        "-persistenceType COOKIEINSERT -persistenceBackup SOURCEIP -timeout 0",
        "-cookieName \"a b\" -rule x -useVserverPersistency ENABLED",
    ])
}

fn parameter_option() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "-sessionsThreshold 5",
        "-sessionsThreshold 150000 -lbHashAlgorithm PRAC",
        "-lbHashAlgorithm JARH -lbHashFingers 1024",
        "-usePortForHashLb NO -dbsttl 7",
        "-allowBoundSvcRemoval DISABLED",
        "-allowBoundSvcRemoval ENABLED",
        "-cookiePassphrase \"a b\" -startupRRFactor 9",
        "-tcpInline DISABLED -connectTries 1",
        "-tcpInline ENABLED -tcpInlineRetries 3 -tcpInlineShare 0",
    ])
}

/// Types lines; those that are refused do nothing.
fn typed(mut config: Config, lines: &[String]) -> Config {
    for line in lines {
        if let Ok(Some(plan)) = plan_line(&config, line) {
            config.commit(plan);
        }
    }
    config
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn what_is_saved_and_read_again_is_the_same(lines in prop::collection::vec(line(), 0..60)) {
        let mut config = Config::new();
        let mut told = Told::of(&config);
        for line in &lines {
            let before = config.render();
            let planned = plan_line(&config, line);
            prop_assert_eq!(&config.render(), &before);
            if let Ok(Some(plan)) = planned {
                for change in plan.changes.clone() {
                    told.hear(change);
                }
                config.commit(plan);
                prop_assert_eq!(&told, &Told::of(&config), "after {}", line);
                told.check_chains();
            }
        }
        prop_assert_eq!(reloaded(&config), config);
    }

    #[test]
    fn every_configuration_can_be_reached_from_every_other_and_the_way_back_too(
        before in prop::collection::vec(line(), 0..50),
        after in prop::collection::vec(line(), 0..50),
        on in any::<bool>(),
    ) {
        let earlier = typed(Config::new(), &before);
        let start = if on { earlier.clone() } else { Config::new() };
        let present = typed(start, &after);
        let way = present.way_to(&earlier);
        prop_assert!(way.arrives, "{:?}", way.commands);
        let mut told = Told::of(&present);
        for change in way.plan.changes.clone() {
            told.hear(change);
        }
        let mut reached = present.clone();
        reached.commit(way.plan);
        prop_assert_eq!(reached.differences(&earlier), []);
        prop_assert_eq!(told, Told::of(&reached));
        let mut typed = present;
        for command in &way.commands {
            let line = sluice_command::render(command);
            let plan = plan_line(&typed, &line).map_err(|fault| fault.to_string());
            prop_assert!(matches!(plan, Ok(Some(_))), "{}: {:?}", line, plan);
            typed.commit(plan.unwrap().unwrap());
        }
        prop_assert_eq!(typed, reached);
    }

    #[test]
    fn defaults_that_are_written_out_change_nothing(lines in prop::collection::vec(line(), 0..50)) {
        let config = typed(Config::new(), &lines);
        let mut reloaded = Config::new();
        for line in config.render_with_defaults() {
            let plan = plan_line(&reloaded, &line).map_err(|fault| fault.to_string());
            prop_assert!(matches!(plan, Ok(Some(_))), "{}: {:?}", line, plan);
            reloaded.commit(plan.unwrap().unwrap());
        }
        prop_assert_eq!(reloaded, config);
    }

    #[test]
    fn most_random_lines_are_accepted_somewhere(line in line()) {
        // A generator whose lines never parse would make the other test empty.
        let parsed = sluice_command::parse(&line);
        let empty_set = line.starts_with("set") && line.ends_with(' ');
        prop_assert!(parsed.is_ok() || empty_set, "{}: {:?}", line, parsed);
    }
}
