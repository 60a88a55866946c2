//! `show lb vserver`.

use jiff::tz::TimeZone;
use sluice_protocol::{BoundService, SlowStart, VserverRow};
use std::collections::BTreeMap;

use sluice_command::quote;

use super::layout::{option, push_parts};
use super::time::{age, ctime};

/// Adds a virtual server and, when it was asked for alone, its bound services.
pub(crate) fn push(text: &mut String, head: &str, row: &VserverRow, zone: &TimeZone) {
    let (name, address, port) = (&row.name, &row.address, &row.port);
    text.push_str(&format!(
        "{head}{name} ({address}:{port}) - {}\tType: ADDRESS \n",
        row.service_type,
    ));
    for line in lines(row, zone) {
        push_parts(text, &line);
    }
    let bound = row.bound.as_deref().unwrap_or_default();
    let groups = row.bound_groups.as_deref().unwrap_or_default();
    let members = groups.iter().flat_map(|group| &group.members);
    let mut all = bound.iter().chain(members);
    let has_orders = all.any(|service| service.order.is_some());
    for (index, service) in bound.iter().enumerate() {
        push_bound(text, index, service, has_orders);
    }
    if !groups.is_empty() {
        text.push_str("\nBound Service Groups:\n");
    }
    for (index, group) in groups.iter().enumerate() {
        text.push_str(&format!("{})\tGroup Name: {}\n\n", index + 1, group.name));
        for (index, member) in group.members.iter().enumerate() {
            text.push_str("\t\t");
            push_bound(text, index, member, has_orders);
        }
    }
}

fn lines(row: &VserverRow, zone: &TimeZone) -> Vec<Vec<Option<String>>> {
    let settings = &row.settings;
    let line = |label: &str, key: &str| vec![option(settings, label, key)];
    let asks_names = matches!(row.service_type.as_str(), "DNS" | "DNS_TCP");
    let for_names = |label: &str, key: &str| {
        let line = option(settings, label, key);
        vec![line.filter(|_| asks_names)]
    };
    vec![
        vec![Some(format!("State: {}", row.state))],
        vec![Some(format!(
            "Last state change was at {}",
            ctime(row.state_change_unix_ms, zone)
        ))],
        vec![Some(format!(
            "Time since last state change: {}",
            age(row.state_age_ms)
        ))],
        vec![Some(effective_state(row))],
        vec![held_down(row)],
        vec![row.spilling_over.then(|| "Spilling Over: YES".to_owned())],
        vec![option(settings, "Client Idle Timeout: ", "cltTimeout").map(|line| line + " sec")],
        line("Down state flush: ", "downStateFlush"),
        line("Disable Primary Vserver On Down : ", "disablePrimaryOnDown"),
        vec![comment(settings)],
        line("Appflow logging: ", "appflowLog"),
        vec![
            Some(format!(
                "No. of Bound Services :  {} (Total) ",
                row.services_total
            )),
            Some(format!(" {} (Active)", row.services_active)),
        ],
        configured_method(row),
        method(row),
        startup(row),
        hashed(settings),
        vec![Some(
            option(settings, "Mode: ", "m").unwrap_or_else(|| "Mode: IP".to_owned()),
        )],
        persistence(settings),
        vec![
            row.group
                .as_ref()
                .map(|group| format!("Persistence Group: {group}")),
        ],
        line("Backup: ", "backupVServer"),
        spillover(settings),
        vec![health_threshold(settings)],
        vec![connection_failover(row)],
        line("L2Conn: ", "l2Conn"),
        line("Skip Persistency: ", "skippersistency"),
        vec![listen_policy(settings)],
        line("IcmpResponse: ", "icmpVsrResponse"),
        line("RHIstate: ", "RHIstate"),
        vec![slow_start(settings)],
        line("Mac mode Retain Vlan: ", "macmodeRetainvlan"),
        line("DBS_LB: ", "dbsLb"),
        for_names("DNS64 Synthesis: ", "dns64"),
        for_names("Bypass AAAA: ", "bypassAAAA"),
        for_names("Recursion Available: ", "RecursionAvailable"),
        line("Process Local: ", "processLocal"),
        line("Traffic Domain: ", "td"),
        line("TROFS Persistence honored: ", "trofsPersistence"),
        line(
            "Retain Connections on Cluster: ",
            "retainConnectionsOnCluster",
        ),
        line("Order Sequence: ", "toggleOrder"),
        vec![order_threshold(settings)],
        vec![active_order(row)],
    ]
}

fn effective_state(row: &VserverRow) -> String {
    let has_address = row.address != "0.0.0.0";
    let arp = if has_address { "" } else { "  ARP:DISABLED" };
    format!("Effective State: {}{arp}", row.effective_state)
}

/// The device has the line for what is not of the web and not of names.
fn connection_failover(row: &VserverRow) -> Option<String> {
    let line = option(&row.settings, "Connection Failover: ", "connfailover");
    line.filter(|_| {
        !matches!(
            row.service_type.as_str(),
            "HTTP" | "SSL" | "DNS" | "DNS_TCP"
        )
    })
}

/// The device saves `None` and shows `NONE`.
fn listen_policy(settings: &BTreeMap<String, String>) -> Option<String> {
    let policy = settings.get("Listenpolicy")?;
    let policy = if policy == "None" { "NONE" } else { policy };
    Some(format!("Listen Policy: {policy}"))
}

/// The lines on what is held down, spills over and has thresholds are our own.
fn held_down(row: &VserverRow) -> Option<String> {
    row.held_down
        .then(|| format!("Held Down: until enable lb vserver {}", quote(&row.name)))
}

fn spillover(settings: &BTreeMap<String, String>) -> Vec<Option<String>> {
    let kind = option(settings, "Spill Over Method: ", "soMethod");
    if settings.get("soMethod").is_none_or(|kind| kind == "NONE") {
        return Vec::new();
    }
    let timeout = option(settings, "Persistence Timeout: ", "soPersistenceTimeOut");
    let keeps = settings
        .get("soPersistence")
        .is_some_and(|word| word == "ENABLED");
    vec![
        kind,
        option(settings, "Threshold: ", "soThreshold"),
        option(settings, "Persistence: ", "soPersistence"),
        timeout.filter(|_| keeps).map(|part| part + " min"),
        option(settings, "Backup Action: ", "soBackupAction"),
    ]
}

fn health_threshold(settings: &BTreeMap<String, String>) -> Option<String> {
    let line = option(settings, "Health Threshold: ", "healthThreshold");
    let is_set = settings
        .get("healthThreshold")
        .is_some_and(|part| part != "0");
    line.filter(|_| is_set)
}

fn order_threshold(settings: &BTreeMap<String, String>) -> Option<String> {
    let line = option(settings, "Order Threshold: ", "orderThreshold");
    let is_set = settings
        .get("orderThreshold")
        .is_some_and(|count| count != "0");
    line.filter(|_| is_set)
}

fn active_order(row: &VserverRow) -> Option<String> {
    row.settings.get("toggleOrder")?;
    let order = row.active_order;
    let order = order.map_or_else(|| "None".to_owned(), |order| order.to_string());
    Some(format!("Current Active Order: {order}"))
}

/// Returns the comment in quotes, which is how the device tells an empty one from none.
pub(crate) fn comment(settings: &BTreeMap<String, String>) -> Option<String> {
    settings
        .get("comment")
        .filter(|comment| !comment.is_empty())
        .map(|comment| format!("Comment: \"{comment}\""))
}

/// The configured method has a line of its own while another one is in force.
fn configured_method(row: &VserverRow) -> Vec<Option<String>> {
    let method = option(&row.settings, "Configured Method: ", "lbMethod");
    vec![method.filter(|_| row.startup.is_some())]
}

fn method(row: &VserverRow) -> Vec<Option<String>> {
    let settings = &row.settings;
    let Some(method) = settings.get("lbMethod") else {
        return Vec::new();
    };
    let in_force = row.startup.as_ref().map_or_else(
        || format!("Configured Method: {method}"),
        |startup| format!("Current Method: Round Robin, Reason: {}", startup.reason),
    );
    let backup = match settings.get("backupLBMethod") {
        _ if method == "ROUNDROBIN" => "NONE",
        Some(backup) => backup,
        None => "ROUNDROBIN",
    };
    vec![Some(in_force), Some(format!("BackupMethod: {backup}"))]
}

/// How much of the start-up round robin is left: a line of our own.
fn startup(row: &VserverRow) -> Vec<Option<String>> {
    let left = row.startup.as_ref().map(|startup| startup.requests_left);
    vec![left.map(|left| format!("Requests left of Round Robin: {left}"))]
}

/// What is hashed of an address, or of what a client sends: a line of our own, with the methods that look
/// at it.
fn hashed(settings: &BTreeMap<String, String>) -> Vec<Option<String>> {
    match settings.get("lbMethod").map(String::as_str) {
        Some("SOURCEIPHASH" | "DESTINATIONIPHASH") => vec![
            option(settings, "Netmask: ", "netmask"),
            option(settings, "v6 Netmask Length: ", "v6netmasklen"),
        ],
        Some("TOKEN") => vec![
            option(settings, "Data Length: ", "dataLength"),
            option(settings, "Data Offset: ", "dataOffset"),
        ],
        Some(_) | None => Vec::new(),
    }
}

/// The mask length for IPv6 is our own part, printed when it is not that of whole addresses. A kind that
/// is not here has its backup in the place of a mask.
pub(crate) fn persistence(settings: &BTreeMap<String, String>) -> Vec<Option<String>> {
    let part = |label: &str, key: &str| option(settings, label, key);
    let minutes = |label: &str, key: &str| part(label, key).map(|part| part + " min");
    let kind = part("Persistence: ", "persistenceType");
    match settings.get("persistenceType").map(String::as_str) {
        None | Some("NONE") => vec![kind],
        Some("SOURCEIP" | "DESTIP" | "SRCIPDESTIP") => {
            let v6 = part("Persistence v6MaskLength: ", "v6persistmasklen");
            let is_whole = settings
                .get("v6persistmasklen")
                .is_none_or(|length| length == "128");
            vec![
                kind,
                part("Persistence Mask: ", "persistMask"),
                v6.filter(|_| !is_whole),
                minutes("Persistence Timeout: ", "timeout"),
            ]
        }
        Some(_) => {
            let backup = settings.get("persistenceBackup");
            let is_set = backup.is_some_and(|backup| backup != "NONE");
            let backup_timeout =
                minutes("Backup Persistence Timeout: ", "backupPersistenceTimeout");
            vec![
                kind,
                minutes("Persistence Timeout: ", "timeout"),
                part("Persistence Backup: ", "persistenceBackup"),
                backup_timeout.filter(|_| is_set),
            ]
        }
    }
}

/// The unit is a setting of its own; where it is not, it is the second word of the rate.
fn slow_start(settings: &BTreeMap<String, String>) -> Option<String> {
    let rate = settings.get("newServiceRequest")?;
    let unit = settings
        .get("newServiceRequestUnit")
        .map_or("PER_SECOND", String::as_str);
    let (rate, unit) = rate.split_once(' ').unwrap_or((rate, unit));
    let interval = settings
        .get("newServiceRequestIncrementInterval")
        .map_or("0", String::as_str);
    Some(format!(
        "New Service Startup Request Rate: {rate} {unit}, Increment Interval: {interval}"
    ))
}

/// The order is printed where a service has one; what stands by is marked by ourselves.
fn push_bound(text: &mut String, index: usize, service: &BoundService, has_orders: bool) {
    let order = match service.order {
        _ if !has_orders => String::new(),
        Some(order) => format!(" Order: {order}"),
        None => " Order: None".to_owned(),
    };
    let standby = if service.standby { " (standby)" } else { "" };
    text.push_str(&format!(
        "{}) {} ({}: {}) - {} State: {}\tWeight: {}{order}{standby}\n",
        index + 1,
        service.name,
        service.address,
        service.port,
        service.service_type,
        service.state,
        service.weight
    ));
    if let Some(ramp) = &service.slow_start {
        text.push_str(&format!("\tSlow start: {}\n", slow_start_now(ramp)));
    }
}

/// Says in one line how a new service is brought in.
pub(crate) fn slow_start_now(ramp: &SlowStart) -> String {
    let mut line = format!(
        "at most {} {}, {} of {} requests in {} s",
        ramp.limit,
        ramp.unit,
        ramp.requests,
        ramp.requests_total,
        ramp.age_ms / 1000,
    );
    match ramp.next_step_ms {
        Some(ms) => line.push_str(&format!(", next step in {} s", ms.div_ceil(1000))),
        None => line.push_str(", until the rate is changed"),
    }
    if let Some(ms) = ramp.end_ms {
        line.push_str(&format!(", full share in about {} s", ms.div_ceil(1000)));
    }
    line
}
