//! Commands in, changes, faults and saved lines out.

mod chains;
mod changes;
mod choosing;
mod faults;
mod groups;
mod layer7;
mod leave;
mod load;
mod parameter;
mod profiles;
mod random;
mod rename;
mod saved;
mod service_groups;
mod types;
mod warnings;
mod way;

use sluice_balance::{
    HashSettings, Method, Protocol, RampUnit, ServiceSettings, SlowStart, VserverSettings, Weight,
};

use crate::{Config, LineFault, Plan, plan_line};

/// Runs lines that must succeed.
fn configured(lines: &[&str]) -> Config {
    let mut config = Config::new();
    for line in lines {
        run(&mut config, line);
    }
    config
}

/// Runs a line that must succeed.
fn run(config: &mut Config, line: &str) -> Plan {
    let plan = planned(config, line);
    config.commit(plan.clone());
    plan
}

/// Plans a line that must be allowed; planning alone changes nothing.
fn planned(config: &Config, line: &str) -> Plan {
    let before = config.clone();
    let plan = plan_line(config, line)
        .unwrap_or_else(|fault| panic!("{line}: {fault}"))
        .unwrap_or_else(|| panic!("{line}: no command"));
    assert_eq!(*config, before, "{line}");
    plan
}

/// Plans a line that must be refused by the configuration, as `code text [details]`.
fn refused(config: &Config, line: &str) -> String {
    let before = config.render();
    let fault = match plan_line(config, line) {
        Err(LineFault::Refused(fault)) => fault,
        other => panic!("{line} must be refused by the configuration: {other:?}"),
    };
    assert_eq!(config.render(), before, "{line}");
    format!("{} {fault}", fault.code)
}

/// Returns what the core knows of the virtual server `v1`.
fn core(config: &Config) -> VserverSettings {
    config.core_of_vserver(config.vserver("v1").unwrap())
}

fn tcp_service(address: &str) -> ServiceSettings {
    ServiceSettings {
        protocol: Protocol::Tcp,
        address: address.parse().unwrap(),
        enabled: true,
        max_client: None,
        max_bandwidth: None,
        hash_id: None,
        health_monitor: true,
        monitor_threshold: 0,
        is_one_way: false,
        idle: Some(std::time::Duration::from_secs(9000)),
        flush_on_down: true,
    }
}

fn tcp_vserver(listen: Option<&str>) -> VserverSettings {
    VserverSettings {
        protocol: Protocol::Tcp,
        listen: listen.map(|address| address.parse().unwrap()),
        enabled: true,
        method: Method::LeastConnection,
        hash: HashSettings::default(),
        idle: Some(std::time::Duration::from_secs(9000)),
        backup: sluice_balance::Backup::default(),
        health_threshold: sluice_balance::Percent::ZERO,
        orders: sluice_balance::Orders::default(),
        flush_on_down: true,
        slow_start: SlowStart {
            rate: 0,
            unit: RampUnit::PerSecond,
            interval: std::time::Duration::ZERO,
        },
        persistence: None,
    }
}

fn weight(weight: u64) -> Weight {
    Weight::new(weight).unwrap()
}

/// Two servers, three TCP services and a UDP one, three virtual servers, two bindings.
const SITE: &[&str] = &[
    "add server web1 10.0.0.1",
    "add server web2 10.0.0.2",
    "add service s1 web1 TCP 80",
    "add service s2 web2 TCP 80",
    "add service s3 web2 TCP 81",
    "add service u1 web1 UDP 53",
    "add lb vserver v1 TCP 10.0.0.10 80",
    "add lb vserver v2 UDP 10.0.0.10 80",
    "add lb vserver v3 TCP",
    "bind lb vserver v1 s1",
    "bind lb vserver v1 s2 -weight 3",
];
